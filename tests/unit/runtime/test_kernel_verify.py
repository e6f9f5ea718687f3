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
from vyre.diagnostics.codes.driver import EMIT_FAILED
from vyre.ir import Program
from vyre.runtime.compiled import backend_failure
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


@vy.kernel
def gathered(x: vy.In[vy.u32], count: vy.InOut[vy.u32], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] % 3 == 0:
        out[count.atomic_add(0, 1)] = x[i]


@vy.kernel
def last_wins(x: vy.In[vy.u32], out: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        out.atomic_exchange(0, x[i])


@vy.kernel
def racing(x: vy.In[vy.u32], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        out[i % 4] = x[i]


@vy.kernel
def numbered(x: vy.In[vy.u32], count: vy.InOut[vy.u32], out: vy.Out[vy.u32]):
    """Uses what an atomic gives, in a way that the order cannot change."""
    i = vy.gid()
    if i < len(x):
        out[i] = x[i] + (count.atomic_add(i, 5) & 1)


def _another(outputs: dict[str, Any]) -> Any:
    return lambda compiled, given, *options, **more: outputs


def _said(
    kernel: Any, given: dict[str, Any], outputs: dict[str, Any], elements: int = 300
) -> BackendError:
    compiled = vy.compile(kernel.program(), device="cpu")
    with pytest.raises(BackendError) as caught:
        verified(_another(outputs))(compiled, given, None, elements)
    return caught.value


def test_a_result_that_depends_on_the_order_of_atomics_is_told_from_a_wrong_one() -> None:
    x = np.arange(300, dtype=np.uint32)
    given = {"x": x, "count": np.zeros(1, np.uint32), "out": np.zeros(100, np.uint32)}
    backwards = {"count": np.array([100], np.uint32), "out": x[::3][::-1].copy()}
    error = _said(gathered, given, backwards)
    assert error.code == "B402"
    assert "order of atomics" in str(error)
    error = _said(last_wins, {"x": x, "out": np.zeros(1, "u4")}, {"out": np.array([7], "u4")})
    assert error.code == "B402"


@vy.kernel(workgroup=8)
def in_turn(turn: vy.InOut[vy.u32], out: vy.InOut[vy.u32]):
    i = vy.gid()
    mine = turn.atomic_add(0, 1)
    while mine != i:
        out[i] += 1


def test_an_order_in_which_a_program_does_not_end_is_another_result() -> None:
    given = {"turn": np.zeros(1, np.uint32), "out": np.zeros(8, np.uint32)}
    error = _said(in_turn, given, {"turn": np.array([8], "u4"), "out": np.full(8, 3, "u4")}, 8)
    assert error.code == "B402"
    assert "ends with X" in str(error)


def test_a_result_of_an_atomic_that_no_order_changes_is_still_compared() -> None:
    x = np.arange(300, dtype=np.uint32)
    given = {"x": x, "count": np.zeros(300, np.uint32), "out": np.zeros(300, np.uint32)}
    wrong = {"count": np.full(300, 5, np.uint32), "out": x + 1}
    assert _said(numbered, given, wrong).code == "B401"


def test_a_difference_that_a_race_explains_names_it() -> None:
    x = np.arange(300, dtype=np.uint32)
    given = {"x": x, "out": np.zeros(4, np.uint32)}
    error = _said(racing, given, {"out": np.array([0, 1, 2, 3], np.uint32)})
    assert error.code == "B403"
    assert "out[0] is written by invocation (0, 0, 0)" in str(error)


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


def test_a_difference_is_told_where_no_reproducer_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VYRE_REPRODUCERS", str(_file(tmp_path) / "below"))
    config.cache_clear()
    compiled = vy.compile(doubled.program(), device="cpu")
    x = np.ones(4, np.float32)

    def wrong(*_: Any, **__: Any) -> dict[str, Any]:
        return {"y": np.zeros(4, np.float32)}

    with pytest.raises(BackendError) as told:
        verified(wrong)(compiled, {"x": x}, None, None, {"y": 4})
    assert told.value.code == "B401"
    assert "its reproducer could not be written: NotADirectoryError" in str(told.value)
    assert "vyre run" not in str(told.value)


def test_a_failing_backend_is_told_where_no_reproducer_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VYRE_REPRODUCERS", str(_file(tmp_path) / "below"))
    config.cache_clear()
    failed = backend_failure(EMIT_FAILED, "own", doubled.program(), ValueError("the real problem"))
    assert failed.code == "B002"
    assert "the real problem" in str(failed)
    assert "its reproducer could not be written: NotADirectoryError" in str(failed)


def _file(folder: Path) -> Path:
    path = folder / "file"
    path.write_text("not a folder")
    return path
