"""One function decides about the grid: for calls, recalled ones, programs, checks and files."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.analysis.default_grid.extents import (
    Axis,
    Constant,
    Length,
    Number,
    Operation,
    from_row,
    to_row,
)
from vyre.analysis.default_grid.needs import find_plan
from vyre.analysis.default_grid.plan import Plan, from_rows, plan_of, to_rows
from vyre.config import config
from vyre.diagnostics import DispatchError
from vyre.driver import grid as grids
from vyre.examples import bfs, life, mandelbrot, matmul, nbody, prefix_sum, saxpy, sha256
from vyre.ir import Program
from vyre.runtime import dispatch
from vyre.runtime import kernel_arguments as arguments
from vyre.text import parse


def words(*shape: int) -> Any:
    return np.zeros(shape, np.uint32)


@vy.kernel
def first(n: vy.u32, y: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < n:
        y[i] += 1


@vy.kernel
def first_of_output(n: vy.u32, y: vy.Out[vy.u32], t: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < n:
        y[i] = 7
        t.atomic_add(0, 1)


@vy.kernel(workgroup=(8, 4))
def marked(y: vy.InOut[vy.u32, 2]):
    y[vy.gid(1), vy.gid(0)] += 1


PLANE = """
program workgroup(8, 4, 1)
buffer w: uniform u32[1] @0
buffer y: read_write u32[] @1
region "mark" { y[gid.y * w[0] + gid.x] = 1u32 }
"""


# --- numbers in calls like one before -------------------------------------------------------------


def test_the_grid_follows_numbers_in_calls_like_one_before() -> None:
    rng = np.random.default_rng(4)
    y, t = words(300), words(1)
    for n in [300, 0, 64, 65, *rng.integers(0, 301, 60).tolist(), 0, 0, 300]:
        y[:] = 0
        first(n, y, device="cpu")
        assert y.sum() == n
        y[:], t[:] = 9, 0
        first_of_output(n, y, t, device="cpu")
        assert (y[:n] == 7).all()
        assert not y[n:].any()
        assert t[0] == n


def test_it_follows_them_on_other_lengths() -> None:
    for k in range(40):
        y = words(40 + 7 * k)
        for n in (k, 2 * k, 40):
            y[:] = 0
            first(n, y, device="cpu")
            assert y.sum() == n


def test_and_in_several_threads() -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        rng, y = np.random.default_rng(seed), words(200)
        for n in rng.integers(0, 201, 100).tolist():
            y[:] = 0
            first(n, y, device="cpu")
            if y.sum() != n:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_numbers_that_no_grid_fits_are_refused_before_anything_is_done() -> None:
    @vy.kernel
    def moved(n: vy.u32, by: vy.u32, y: vy.InOut[vy.u32]):
        i = vy.gid()
        if i + by < n // by:
            y.atomic_add(0, 1)

    y = words(100)
    moved(100, 1, y, device="cpu")
    assert y.sum() == 99
    moved(1, 1, y, device="cpu")
    assert y.sum() == 99  # fewer than none are none
    for n, by in ((100, 0), (100, (1 << 32) - 10)):
        with pytest.raises(DispatchError) as caught:
            moved(n, by, y, device="cpu")
        assert caught.value.code == "D026"
        assert f"by: {by}, n: {n}" in caught.value.fix
    assert y.sum() == 99


def test_a_bound_that_no_guard_is_does_not_blame_guards_alone() -> None:
    @vy.kernel
    def shifted(m: vy.u32, y: vy.InOut[vy.u32]):
        y[vy.gid() + m] = 1

    with pytest.raises(DispatchError) as caught:
        shifted((1 << 32) - 4, words(300), device="cpu")
    assert caught.value.code == "D026"
    assert "the ends of its arrays" in str(caught.value)


# --- elements along several axes ------------------------------------------------------------------


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("elements", [(17, 9), [17, 9], np.array([17, 9]), (np.int64(17), 9, 1)])
def test_elements_along_several_axes(device: str, elements: Any) -> None:
    for _ in range(3):
        y = words(20, 40)
        marked(y, elements=elements, device=device)
        assert (y[:12, :24] == 1).all()
        assert y.sum() == 12 * 24


def test_elements_of_programs_compiled_ones_and_the_reference() -> None:
    program = Program.parse(PLANE)
    for call in (
        lambda y: vy.run(program, {"w": np.array([40], np.uint32), "y": y}, elements=(17, 9)),
        lambda y: dispatch(
            vy.compile(program, device="cpu"),
            {"w": np.array([40], np.uint32), "y": y},
            elements=(17, 9),
        ),
    ):
        found = call(words(800))["y"].reshape(20, 40)
        assert found[:12, :24].all()
        assert found.sum() == 12 * 24
    y = words(20, 40)
    marked.reference(y, elements=(17, 9))
    assert y.sum() == 12 * 24


def test_open_outputs_of_a_program_have_as_many_elements() -> None:
    program = Program.parse(PLANE.replace("read_write u32[] @1", "write_only u32[] @1"))
    found = vy.run(program, {"w": np.array([6], np.uint32)}, elements=(6, 5))
    assert found["y"].size == 30


@pytest.mark.parametrize("again", [False, True])
def test_both_are_refused_everywhere(again: bool) -> None:
    y, program = words(20, 40), Program.parse(PLANE)
    given = {"w": np.array([40], np.uint32), "y": words(800)}
    if again:
        marked(y, elements=64, device="cpu")
    for call in (
        lambda: marked(y, grid=1, elements=64, device="cpu"),
        lambda: marked.reference(y, grid=1, elements=64),
        lambda: vy.run(program, given, grid=1, elements=64),
        lambda: dispatch(vy.compile(program, device="cpu"), given, 1, 64),
    ):
        with pytest.raises(DispatchError) as caught:
            call()
        assert caught.value.code == "D025"


def test_floats_that_equal_a_grid_before_are_still_refused() -> None:
    y = words(20, 40)
    every: list[dict[str, Any]] = [
        {"elements": 64},
        {"elements": (64,)},
        {"grid": (1,)},
        {"grid": 1},
    ]
    for given in every:
        marked(y, device="cpu", **given)
        marked(y, device="cpu", **given)
        [(name, value)] = given.items()
        wrong: Any = tuple(map(float, value)) if isinstance(value, tuple) else float(value)
        with pytest.raises(DispatchError):
            marked(y, device="cpu", **{name: wrong})


# --- views, device arrays, checks, programs -------------------------------------------------------


def test_views_and_device_arrays_have_the_grid_of_their_shape() -> None:
    base = words(60, 90)
    marked(base.T[::2, 1:], device="cpu")
    assert base.sum() == base.T[::2, 1:].size == base.T[::2, 1:].sum()
    there = vy.array(words(33, 21), "cpu")
    marked(there)
    assert (there.numpy() == 1).all()


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("VYRE_CHECK", "1")
    config.cache_clear()
    yield
    monkeypatch.undo()
    config.cache_clear()


@pytest.mark.usefixtures("checking")
def test_checks_run_the_same_grid() -> None:
    y = words(33, 21)
    marked(y, device="cpu")
    assert (y == 1).all()
    y = words(300)
    for n in (0, 65, 300):
        y[:] = 0
        first(n, y, device="cpu")
        assert y.sum() == n


def test_the_program_of_a_kernel_keeps_the_rule_of_programs() -> None:
    program = first.program()
    given = {"n": np.array([10], np.uint32), "y": words(1000)}
    assert vy.run(program, given, device="cpu")["y"].sum() == 10
    # 1000 elements of y are 16 workgroups, whatever n is: the rule for programs knows no guards.
    assert grids.resolve(program, {"n": 1, "y": 1000}, None, None) == (16, 1, 1)


# --- plans as data --------------------------------------------------------------------------------


def test_a_plan_is_data() -> None:
    extent = Operation(
        "min",
        Operation("ceil", Operation("-", Number("n", True), Constant(3)), Axis("x", 1)),
        Length("y"),
    )
    assert from_row(to_row(extent)) == extent
    plan = Plan.of([(extent, None, Constant(4)), (extent, None, Constant(4))])
    assert plan.needs is not None
    assert len(plan.needs) == 1
    assert plan.numbers == {"n"}
    assert from_rows(to_rows(plan)) == plan
    assert from_rows(to_rows(Plan(None))) == Plan(None)
    for wrong in ([["^", 1, 2]], [[True, None, None]], 3, [[["length", 4], None, None]], [[1, 2]]):
        with pytest.raises((ValueError, TypeError)):
            from_rows(wrong)


def test_a_remembered_kernel_knows_its_plan_without_statements(tmp_path: Path) -> None:
    script = tmp_path / "remembered.py"
    script.write_text(
        "import sys\nimport numpy as np\nimport vyre as vy\n"
        "@vy.kernel\ndef k(n: vy.u32, y: vy.InOut[vy.u32]):\n"
        "    i = vy.gid()\n    if i + 1 < n:\n        y[i] += 1\n"
        "y = np.zeros(500, np.uint32)\nk(401, y, device='cpu')\n"
        "parts = [f'vyre.{name}' for name in ('front.lower', 'front.context',"
        " 'analysis.default_grid.needs')]\n"
        "print(y.sum(), *(part in sys.modules for part in parts))"
    )
    env = {**os.environ, "VYRE_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, str(script)], env=env, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert said == [["400", *["True"] * 3], ["400", *["False"] * 3]]


# --- the examples ---------------------------------------------------------------------------------


def invocations(kernel: Any, *args: Any) -> tuple[int, int, int]:
    given = arguments.by_parameter(kernel.source, args, {}, partial=False)
    plan = plan_of(kernel.program())
    assert plan is not None
    return plan.invocations(arguments.prepare(kernel.source, given))


def test_the_grids_of_the_examples() -> None:
    """Those that they always had; where another one follows now, the reason stands beside it."""
    f = np.float32
    assert invocations(saxpy.saxpy, 2.0, np.zeros(77, f), np.zeros(77, f)) == (77, 1, 1)
    plane = np.zeros((20, 30), np.uint32)
    assert invocations(mandelbrot.mandelbrot, 0.0, 0.0, 0.1, 9, plane) == (30, 20, 1)
    a, b, c = np.zeros((20, 7), f), np.zeros((7, 30), f), np.zeros((20, 30), f)
    assert invocations(matmul.matmul, a, b, c) == (30, 20, 1)
    distance = np.zeros(99, np.uint32)
    assert invocations(bfs.distances, 3, words(100), words(400), distance) == (99, 1, 1)
    # Its guards end with the board, not with the longest array: it needs no grid any more.
    board = np.zeros(22 * 32, np.uint8)
    assert invocations(life.life, 20, 30, board, board.copy()) == (30, 20, 1)
    # One per body, where it was one per coordinate.
    places = np.zeros((3, 50), f)
    mass = np.zeros(50, f)
    assert invocations(nbody.step, 0.1, mass, places, places, places) == (50, 1, 1)
    # One per block, where it was one per word of a digest.
    assert invocations(sha256.sha256, words(64), words(8), words(5, 16), words(5, 8))[0] == 5
    # One per block of elements.
    x = words(50_000)
    assert invocations(prefix_sum.prefix_sum, x, words(196), x)[0] == 196


# --- the programs of the benchmarks ---------------------------------------------------------------

BENCHMARKS = sorted((Path(__file__).parents[3] / "benchmarks" / "kernels").glob("*.vy"))
TOLD = {
    "histogram": "workgroups share the data",
    "matmul_tiled": "no guard: its matrix is square, and its side a multiple of the tile",
    "sort_scatter": "no guard: places are read from memory, and their number is a multiple",
    "sum_f32": "workgroups share the data",
    "sum_u32": "workgroups share the data",
}
"""Programs of which only a call can say how many workgroups there are, and why."""


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_the_programs_of_the_benchmarks_have_a_grid_or_a_reason(path: Path) -> None:
    plan = find_plan(parse(path.read_text(encoding="utf-8")))
    assert (plan.needs is None) == (path.stem in TOLD)
