"""The exported page, in a real browser: it computes the right bytes, and it notices wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.wgsl.browser import Browser
from vyre.backends.reference import execute
from vyre.backends.wgsl.targets import PORTABLE
from vyre.backends.wgsl.web_export import export_web
from vyre.ir import Program

pytestmark = pytest.mark.device

SOURCE = """program workgroup(64, 1, 1) op "demo.mixed"

buffer x: read_only f32[200] @0
buffer bytes: read_only u8[200] @1
buffer wide: read_write i64[200] @2
buffer out: read_write f32[200] @3 output live_out
buffer small: read_write i16[200] @4 output live_out
buffer total: read_write u64[1] @5 output live_out
buffer tile: workgroup f32[64]

tile[lid.x] = x[gid.x] * 0.5f32
barrier seq_cst
out[gid.x] = sin(tile[63u32 - lid.x]) + f32(bytes[gid.x])
small[gid.x] = i16(bytes[gid.x]) * 300i16
let old = atomic_max(total[0], u64(gid.x) << 33u64)
wide[gid.x] = wide[gid.x] / (i64(gid.x) - 100i64)
if gid.x > 300u32 { trap "too far" }
"""

READ = """vyre.finished.then((outcome) => ({
    passed: outcome.passed, problem: outcome.problem,
    outputs: Object.fromEntries(Object.entries(outcome.outputs || {}).map(
        ([name, bytes]) => [name, Array.from(bytes)])),
}))"""


def export(directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    program = Program.parse(SOURCE)
    rng = np.random.default_rng(1)
    inputs = {
        "x": rng.standard_normal(200).astype(np.float32),
        "bytes": rng.integers(0, 256, 200).astype(np.uint8),
        "wide": rng.integers(-(1 << 62), 1 << 62, 200).astype(np.int64),
    }
    grid = (4, 1, 1)
    width = PORTABLE.subgroup_width
    expected = dict(execute(program, inputs, grid, subgroup_width=width).outputs)
    export_web(program, directory, inputs, expected, grid, {"out": 5})
    return inputs, expected


def test_the_page_computes_the_right_bytes(tmp_path: Path) -> None:
    _, expected = export(tmp_path)
    with Browser() as browser:
        browser.open(tmp_path / "index.html", 60.0)
        found = browser.evaluate(READ, 60.0)
        assert found["passed"], found["problem"]
        for name in ("wide", "small", "total"):
            assert bytes(found["outputs"][name]) == expected[name].tobytes(), name
        out = np.frombuffer(bytes(found["outputs"]["out"]), np.float32)
        np.testing.assert_allclose(out, expected["out"], rtol=1e-6)
        shown = browser.evaluate("document.getElementById('state').textContent", 30.0)
        assert shown.startswith("Passed")


def test_the_page_notices_wrong_outputs_and_names_no_other_host(tmp_path: Path) -> None:
    export(tmp_path)
    for file in tmp_path.iterdir():
        assert "http" not in file.read_text(), file
    data = tmp_path / "program.js"
    text = data.read_text()
    place = text.index('"expected": "') + len('"expected": "')
    data.write_text(text[:place] + ("B" if text[place] != "B" else "C") + text[place + 1 :])
    with Browser() as browser:
        browser.open(tmp_path / "index.html", 60.0)
        found = browser.evaluate(READ, 60.0)
    assert not found["passed"]
    assert "should be" in found["problem"]
