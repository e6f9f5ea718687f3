"""Exported pages, in a real browser: they compute the right bytes, and they notice wrong ones."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.wgsl.browser import Browser
from vyre.backends.reference import execute
from vyre.backends.wgsl.targets import PORTABLE
from vyre.cli import main
from vyre.conform.generate import generate
from vyre.ir import Program
from vyre.runtime.host_types import as_host_arrays
from vyre.wire import load

pytestmark = [pytest.mark.device, pytest.mark.xdist_group("browser")]

MIXED = """program workgroup(64, 1, 1) op "demo.mixed"

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

ROUNDS = """program workgroup(32, 1, 1) op "demo.rounds"

buffer limits: uniform u32[2] @0
buffer now: read_write u16[64] @1
buffer next: read_write u16[64] @2 output live_out
buffer rounds: read_write u32[1] @3 output live_out

let mine = 0u32
for i in limits[0]..limits[1] {
    next[gid.x] = now[(gid.x + 1u32) % 64u32] + u16(i)
    barrier grid_sync
    now[gid.x] = next[gid.x]
    mine = mine + u32(now[gid.x])
    barrier grid_sync
}
let k = 0u32
while k < limits[1] {
    barrier grid_sync
    if gid.x == 0u32 { rounds[0] = rounds[0] + 1u32 }
    k = k + 1u32
    if k == limits[0] + 2u32 { break }
}
next[gid.x] = next[gid.x] + u16(mine)
"""

TRAP = """program workgroup(8, 1, 1) op "demo.trap"

buffer out: read_write u32[8] @0 output live_out

out[gid.x] = gid.x
if gid.x == 5u32 { trap "five" }
"""

LONG = """program workgroup(1, 1, 1) op "demo.long"

buffer out: read_write u32[4] @0 output live_out

if gid.x % 20000u32 == 19999u32 { out[gid.x / 20000u32] = gid.x }
"""

READ = """vyre.finished.then((outcome) => ({
    passed: outcome.passed, problem: outcome.problem, launches: outcome.launches,
    outputs: Object.fromEntries(Object.entries(outcome.outputs).map(
        ([name, bytes]) => [name, Array.from(bytes)])),
}))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


def export(folder: Path, source: str, *options: str) -> Path:
    file = folder / "program.vy"
    file.write_text(source)
    page = folder / "page"
    assert main(["export", str(file), "--web", "-o", str(page), *options]) == 0
    return page / "index.html"


def opened(browser: Browser, page: Path) -> Any:
    browser.open(page, 60.0)
    return browser.evaluate(READ, 60.0)


def data_of(page: Path) -> dict[str, Any]:
    text = (page.parent / "program.js").read_text()
    return json.loads(text.removeprefix("const program = ").rstrip(";\n"))


def expected_of(page: Path) -> dict[str, bytes]:
    return {o["name"]: base64.b64decode(o["expected"]) for o in data_of(page)["outputs"]}


def test_a_page_computes_the_right_bytes(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    inputs = {
        "x": rng.standard_normal(200).astype(np.float32),
        "bytes": rng.integers(0, 256, 200).astype(np.uint8),
        "wide": rng.integers(-(1 << 62), 1 << 62, 200),
    }
    options = ["--grid", "4"]
    for name, array in inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
        options += ["--in", f"{name}={tmp_path / name}.npy"]
    page = export(tmp_path, MIXED, *options)
    found = opened(browser, page)
    assert found["passed"], found["problem"]
    program = main_program(tmp_path)
    width = PORTABLE.subgroup_width
    expected = execute(program, inputs, (4, 1, 1), subgroup_width=width).outputs
    for name in ("wide", "small", "total"):
        assert bytes(found["outputs"][name]) == expected[name].tobytes(), name
    out = np.frombuffer(bytes(found["outputs"]["out"]), np.float32)
    np.testing.assert_allclose(out, expected["out"], rtol=1e-6)
    shown = browser.evaluate("document.getElementById('state').textContent", 30.0)
    assert shown == "Passed: every output agrees with the reference."


def main_program(folder: Path) -> Program:
    return load(str(folder / "program.vy"))


def test_grid_barriers_in_loops_run_segment_by_segment(browser: Browser, tmp_path: Path) -> None:
    limits = tmp_path / "limits.npy"
    np.save(limits, np.array([2, 7], np.uint32))
    page = export(tmp_path, ROUNDS, "--in", f"limits={limits}")
    found = opened(browser, page)
    assert found["passed"], found["problem"]
    assert found["launches"] > 15
    for name, expected in expected_of(page).items():
        assert bytes(found["outputs"][name]) == expected, name
    assert bytes(found["outputs"]["rounds"]) == b"\4\0\0\0"


def test_a_trap_is_an_outcome_like_others(browser: Browser, tmp_path: Path) -> None:
    found = opened(browser, export(tmp_path, TRAP))
    assert found["passed"], found["problem"]
    shown = browser.evaluate("document.getElementById('state').textContent", 30.0)
    assert "invocation (5, 0, 0) trapped: five" in shown


def test_a_trap_that_nobody_expects_fails(browser: Browser, tmp_path: Path) -> None:
    page = export(tmp_path, TRAP)
    data = page.parent / "program.js"
    data.write_text(data.read_text().replace('"trap": "five"', '"trap": "six"'))
    found = opened(browser, page)
    assert not found["passed"]
    assert "trapped: five; it should have been: six" in found["problem"]


def test_a_grid_that_no_browser_launches_is_folded(browser: Browser, tmp_path: Path) -> None:
    page = export(tmp_path, LONG, "--grid", "80000")
    found = opened(browser, page)
    assert found["passed"], found["problem"]
    out = np.frombuffer(bytes(found["outputs"]["out"]), np.uint32)
    assert out.tolist() == [19999, 39999, 59999, 79999]


@pytest.mark.parametrize("number", range(8))
def test_random_programs(browser: Browser, tmp_path: Path, number: int) -> None:
    case = generate(number, "webgpu_tiny")
    options = ["--grid", ",".join(map(str, case.grid))]
    for name, array in as_host_arrays(case.program, case.inputs).items():
        np.save(tmp_path / f"{name}.npy", array)
        options += ["--in", f"{name}={tmp_path / name}.npy"]
    found = opened(browser, export(tmp_path, str(case.program), *options))
    assert found["passed"], f"{case.label}: {found['problem']}"


def test_a_page_notices_wrong_outputs(browser: Browser, tmp_path: Path) -> None:
    page = export(tmp_path, MIXED)
    data = data_of(page)
    output = data["outputs"][2]
    assert output["name"] == "small"
    wrong = bytearray(base64.b64decode(output["expected"]))
    wrong[14] ^= 1
    output["expected"] = base64.b64encode(wrong).decode()
    (page.parent / "program.js").write_text(f"const program = {json.dumps(data)};\n")
    found = opened(browser, page)
    assert not found["passed"]
    assert found["problem"].startswith("small: element 7 is ")
    assert "(1 of 200 differ)" in found["problem"]
    shown = browser.evaluate("document.getElementById('state').className", 30.0)
    assert shown == "failed"


def test_the_backend_is_found_after_its_modules_were_imported() -> None:
    code = "import vyre.backends.wgsl.web_export; from vyre.driver import registry; "
    code += "print(registry.backend('wgpu').name)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "wgpu\n"


def test_a_page_refers_to_nothing_outside_its_folder(tmp_path: Path) -> None:
    page = export(tmp_path, MIXED)
    for file in page.parent.iterdir():
        text = file.read_text()
        assert "http" not in text, file
        assert "fetch(" not in text, file


@pytest.mark.parametrize(
    ("buffers", "body", "code"),
    [
        (
            "buffer out: read_write f64[8] @0 output live_out",
            "out[gid.x] = 1.0f64",
            "V410",
        ),
        (
            "\n".join(f"buffer b{k}: read_write u32[8] @{k}" for k in range(12)),
            "\n".join(f"b{k}[gid.x] = 1u32" for k in range(12)),
            "V411",
        ),
        (
            "buffer out: read_write u32[] @0 output live_out",
            "out[gid.x] = len(out)",
            "too large",
        ),
    ],
)
def test_what_a_browser_cannot_hold_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], buffers: str, body: str, code: str
) -> None:
    file = tmp_path / "program.vy"
    file.write_text(f"program workgroup(64, 1, 1)\n\n{buffers}\n\n{body}\n")
    command = ["export", str(file), "--web", "-o", str(tmp_path / "page")]
    command += ["--size", "out=40000000", "--grid", "1"] if code == "too large" else []
    assert main(command) == 1
    assert code in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


PIPELINE = """import vyre as vy


@vy.kernel
def scale(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i]


@vy.kernel
def blur(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[max(i, 1) - 1] + x[i]


@vy.kernel
def every_third(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i % 3 == 0:
        y[i] = x[i]


@vy.kernel
def tally(x: vy.In[vy.f32], counts: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        counts.atomic_add(vy.u32(x[i] * 8.0) % 4, 1)


@vy.pipeline
def chain(x: vy.InOut[vy.f32], counts: vy.InOut[vy.u32], steps: vy.u32) -> vy.Array[vy.f32]:
    t, kept = vy.scratch_like(x), vy.scratch_like(x)
    scale(0.5, x, t)
    a, b = t, kept
    for _ in range(steps):
        blur(a, b)
        a, b = b, a
    every_third(a, b)
    scale(2.0, b, x)
    tally(a, counts)
    result = vy.scratch_like(x)
    vy.copy(a, result)
    return result
"""


def test_a_page_runs_the_launches_of_a_pipeline(browser: Browser, tmp_path: Path) -> None:
    import importlib.util

    file = tmp_path / "stages.py"
    file.write_text(PIPELINE)
    x = np.random.default_rng(5).random(200, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    given = ["--in", f"x={tmp_path / 'x.npy'}", "--in", "counts=zeros:4", "--in", "steps=3"]
    command = ["export", f"{file}:chain", "--web", "-o", str(tmp_path / "page"), *given]
    assert main(command) == 0
    page = tmp_path / "page" / "index.html"
    outcome = opened(browser, page)
    assert outcome["passed"], outcome["problem"]
    spec = importlib.util.spec_from_file_location("stages_of_a_page", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    counts = np.zeros(4, np.uint32)
    result = module.chain(x, counts, 3, device="cpu")
    found = {name: bytes(value) for name, value in outcome["outputs"].items()}
    assert found["x"] == x.tobytes()
    assert found["counts"] == counts.tobytes()
    assert result.tobytes() in found.values()
    # The eight stages are launched as three, in workgroups that every browser runs.
    assert outcome["launches"] == 3
    text = (page.parent / "program.js").read_text()
    expected = next(o["expected"] for o in data_of(page)["outputs"] if o["name"] == "x")
    spoiled = base64.b64encode(bytes([1]) + base64.b64decode(expected)[1:]).decode()
    (page.parent / "program.js").write_text(text.replace(expected, spoiled))
    assert not opened(browser, page)["passed"]
