"""Large programs: code that is there once, calls in place of copies, work that grows with them."""

from __future__ import annotations

import cProfile
import gc

import numpy as np
import pytest

from benchmarks.shapes import SHAPES
from tests.unit.backends.llvm.running import differences, source
from vyre.backends.llvm import heuristics, jit
from vyre.backends.llvm.compile import pipeline_for
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.host import native
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt import optimize
from vyre.semantics import storage_dtype

MOST_LINES_PER_STATEMENT = 80
MOST_GROWTH = 3.4
"""For three times as many statements."""


def work(program: Program) -> tuple[int, int]:
    """Calls that optimising and emitting takes, and lines of what comes out."""
    profile = cProfile.Profile()

    def compiled() -> str:
        return generate(optimize(program).program, native()).text

    text = profile.runcall(compiled)
    return sum(row.callcount for row in profile.getstats()), text.count("\n")


@pytest.mark.parametrize("shape", ["loops", "accesses", "variables", "barriers"])
def test_work_and_code_grow_with_the_program(shape: str) -> None:
    work(SHAPES[shape](30))
    calls, lines = work(SHAPES[shape](300))
    more_calls, more_lines = work(SHAPES[shape](900))
    assert more_calls / calls <= MOST_GROWTH
    assert more_lines / lines <= MOST_GROWTH
    assert more_lines / 900 <= MOST_LINES_PER_STATEMENT


@pytest.mark.parametrize("shape", ["loops", "barriers"])
def test_what_emits_code_is_gone_without_the_collector(shape: str) -> None:
    program = optimize(SHAPES[shape](400)).program
    generate(program, native())
    gc.collect()
    gc.disable()
    try:
        generate(program, native())
        # Objects in cycles, some of which every program has; not a few for each statement.
        assert gc.collect() < 400
    finally:
        gc.enable()


def test_a_large_program_has_every_loop_once_for_vectors_and_once_for_lanes() -> None:
    program = SHAPES["loops"](2 * heuristics.LARGE_PROGRAM_STATEMENTS)
    assert is_large(program)
    assert source(program).count("\niteration.") == 2 * (heuristics.LARGE_PROGRAM_STATEMENTS - 2)


def side_by_side(accesses: int, element: DataType) -> Program:
    """Accesses side by side at an index that nothing proves, some of them outside."""
    u32 = Expr.u32
    body: list[Node] = []
    for k in range(accesses):
        body.append(Node.let(f"v{k}", Expr.load("x", Expr.gid() + Expr.var("far") + u32(7 * k))))
    for k in range(accesses):
        at = Expr.gid() + Expr.var("far") * u32(3) + u32(150 * k)
        body.append(Node.store("y", at, Expr.var(f"v{k}")))
    body.append(Node.assign("far", Expr.var("far") * u32(5) + u32(1)))
    first = Node.let("far", Expr.load("shift", u32(0)))
    loop = Node.loop("again", 0, Expr.load("shift", u32(1)), body)
    buffers = [
        BufferDecl.read("shift", 0, DataType.U32),
        BufferDecl.read("x", 1, element),
        BufferDecl.read_write("y", 2, element),
    ]
    return Program.wrapped(buffers, (64, 1, 1), [first, loop])


@pytest.mark.parametrize(
    "element", [DataType.U32, DataType.F32, DataType.U8, DataType.I16, DataType.F64, DataType.BOOL]
)
@pytest.mark.parametrize("far", [0, 41, 2**32 - 21])
def test_vectors_at_edges_are_those_of_the_reference(element: DataType, far: int) -> None:
    count = heuristics.MAX_INLINE_SLOW_PATHS + 4
    program = side_by_side(count, element)
    text = source(program)
    assert "call void @vyre.edge.load" in text
    assert "call void @vyre.edge.store" in text
    x = np.arange(1, 91).astype(storage_dtype(element)) % (2 if element is DataType.BOOL else 251)
    y = np.zeros(150 * count - 67, x.dtype)
    given = {"shift": np.array([far, 1], np.uint32), "x": x, "y": y}
    assert not differences(program, given, (2, 1, 1))


def test_few_edges_are_written_out_in_place() -> None:
    assert "@vyre.edge" not in source(side_by_side(2, DataType.U32))


def test_many_functions_are_called() -> None:
    assert "memory(none) alwaysinline" in source(SHAPES["functions"](12))
    assert "memory(none) noinline" in source(SHAPES["functions"](200))


def test_the_more_code_the_cheaper_its_pipeline() -> None:
    small, large = (
        SHAPES["straight"](30),
        SHAPES["straight"](heuristics.LARGE_PROGRAM_STATEMENTS + 50),
    )
    assert pipeline_for("auto", small, "line\n" * 500) is jit.STANDARD
    assert pipeline_for("auto", large, "line\n" * 2_000) is jit.LEAN
    assert pipeline_for("auto", large, "line\n" * 3_000) is jit.QUICK
    assert pipeline_for("auto", small, "add <32 x i32> a, b\n" * 3_000) is jit.QUICK
    assert pipeline_for("auto", SHAPES["loops"](30), "line\n" * 500) is jit.LEAN
    hot = [pipeline_for("hot", large, "line\n" * k) for k in (500, 10_000, 30_000, 99_000)]
    assert hot == [jit.FULL, jit.LEAN, jit.BRISK, jit.QUICK]
