"""`VYRE_CHECK=1` compares every dispatch with the reference and saves a reproducer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.config import config
from vyre.diagnostics import BackendError
from vyre.ir import Program
from vyre.runtime.verify import is_inexact, verified


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setenv("VYRE_CHECK", "1")
    monkeypatch.setenv("VYRE_REPRODUCERS", str(tmp_path))
    config.cache_clear()
    yield tmp_path
    config.cache_clear()


@vy.kernel
def waves(x: vy.In[vy.f32], h: vy.InOut[vy.u32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[i] = vy.math.sin(x[i]) * x[i]
        h.atomic_add(i % 3, 1)


def test_a_dispatch_that_agrees_passes() -> None:
    x = np.linspace(0, 30, 500, dtype=np.float32)
    y = np.zeros_like(x)
    waves(x, np.zeros(3, np.uint32), y, device="cpu")
    np.testing.assert_allclose(y, np.sin(x) * x, rtol=1e-5, atol=1e-5)
    outputs = vy.run(waves.program(), {"x": x, "h": np.zeros(3, np.uint32)}, device="cpu")
    assert isinstance(outputs, dict)
    np.testing.assert_array_equal(outputs["y"], y)


@vy.kernel
def doubled(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[i] = 2.0 * x[i]


def test_what_lies_between_the_elements_of_a_view_is_no_difference() -> None:
    x = np.arange(12, dtype=np.float32)
    y = np.full(12, 7, np.float32)
    doubled(x[::3], y[::3], device="cpu")
    assert y.tolist() == [0, 7, 7, 6, 7, 7, 12, 7, 7, 18, 7, 7]


def test_a_difference_is_an_error_with_a_reproducer(checked: Path) -> None:
    def broken(compiled: Any, given: Any, *options: Any, **more: Any) -> dict[str, Any]:
        return {"h": np.array([1, 1, 2], np.uint32), "y": np.zeros(3, np.float32)}

    compiled = vy.compile(waves.program(), device="cpu")
    given = {"x": np.zeros(3, np.float32), "h": np.zeros(3, np.uint32), "y": np.zeros(3, "f4")}
    with pytest.raises(BackendError) as caught:
        verified(broken)(compiled, given)
    assert caught.value.code == "B401"
    assert "h[2] is 2 and should be 1" in str(caught.value)
    (folder,) = checked.iterdir()
    assert f"vyre run {folder} --device cpu" in str(caught.value)
    assert sorted(path.name for path in folder.iterdir()) == [
        "h.npy",
        "launch.json",
        "program.vy",
        "x.npy",
        "y.npy",
    ]


@pytest.mark.parametrize(
    ("statement", "inexact"),
    [
        ("let old = atomic_add(counts[0u32], 1u32)", False),
        ("let old = atomic_add(sums[0u32], 1.0f32)", True),
        ("let old = atomic_max(sums[0u32], 1.0f32)", False),
        ("sums[0u32] = sin(sums[0u32])", True),
        ("sums[0u32] = sums[0u32] * 3.0f32", False),
    ],
)
def test_only_what_rounds_freely_is_granted_a_tolerance(statement: str, inexact: bool) -> None:
    program = Program.parse(
        "program workgroup(1, 1, 1)\n"
        "buffer counts: read_write u32[] @0\nbuffer sums: read_write f32[] @1\n"
        f'region "r" {{ {statement} }}'
    )
    assert is_inexact(program) == inexact
