"""Shrinking: what is left is small, valid, and still fails."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from statistics import median

import numpy as np
import pytest

from vyre.backends.reference import execute
from vyre.conform import GeneratedCase, generate, shrink
from vyre.conform.shrink.order import is_ordered
from vyre.ir import Atomic, Barrier, Binary, BinOp, Load, Program, Unary, UnOp, While
from vyre.ir.walk import walk_all_exprs, walk_stmts


def has_op(op: BinOp | UnOp) -> Callable[[GeneratedCase], bool]:
    def fails(case: GeneratedCase) -> bool:
        exprs = walk_all_exprs(case.program.entry)
        return any(isinstance(e, (Unary, Binary)) and e.op is op for e in exprs)

    return fails


def first_failing(fails: Callable[[GeneratedCase], bool], profile: str) -> GeneratedCase:
    return next(case for seed in range(200) if fails(case := generate(seed, profile)))


@pytest.mark.parametrize(
    ("op", "profile"),
    [(BinOp.ROTL, "integers"), (UnOp.SQRT, "floats_exact"), (UnOp.POPCOUNT, "barriers")],
)
def test_an_opcode_is_left_almost_alone(op: BinOp | UnOp, profile: str) -> None:
    fails = has_op(op)
    cases = (case for seed in range(200) if fails(case := generate(seed, profile)))
    found = [shrink(case, fails) for case in islice(cases, 5)]
    for small in found:
        assert fails(small)
        assert small.program.check() == []
        assert small.grid == (1, 1, 1)
        assert small.program.workgroup_size == (1, 1, 1)
    assert median(small.program.stats().node_count for small in found) <= 3
    assert median(len(small.program.buffers) for small in found) <= 1


def test_only_valid_and_ordered_programs_are_tried() -> None:
    tried: list[Program] = []

    def fails(case: GeneratedCase) -> bool:
        tried.append(case.program)
        loads = (e for e in walk_all_exprs(case.program.entry) if isinstance(e, Load))
        return any(load.buffer.startswith("tile") for load in loads)

    small = shrink(first_failing(fails, "barriers"), fails, attempts=150)
    tried = tried[:150]
    assert all(program.check() == [] for program in tried)
    assert all(is_ordered(program) for program in tried)
    assert small.program.stats().node_count < 40


def test_a_barrier_that_orders_accesses_stays() -> None:
    def fails(case: GeneratedCase) -> bool:
        exprs = list(walk_all_exprs(case.program.entry))
        read = any(isinstance(e, Load) and e.buffer.startswith("tally") for e in exprs)
        return read and any(isinstance(e, Atomic) and e.buffer.startswith("tally") for e in exprs)

    small = shrink(first_failing(fails, "barriers"), fails)
    assert any(isinstance(s, Barrier) for s in walk_stmts(small.program.entry)), small


def test_loops_still_end() -> None:
    def fails(case: GeneratedCase) -> bool:
        execute(case.program, case.inputs, case.grid, fuel=10_000_000)
        return any(isinstance(s, While) for s in walk_stmts(case.program.entry))

    small = shrink(first_failing(fails, "default"), fails, attempts=120)
    assert fails(small)


def test_inputs_are_made_plain() -> None:
    case = next(case for seed in range(50) if (case := generate(seed, "integers")).inputs)
    name = next(iter(case.inputs))

    def fails(case: GeneratedCase) -> bool:
        return name in case.inputs and bool(np.any(case.inputs[name].view(np.uint8)))

    small = shrink(case, fails, attempts=600)
    assert fails(small)
    assert np.count_nonzero(small.inputs[name]) <= max(1, len(case.inputs[name]) // 8)
    assert small.program.stats().node_count <= 1


def test_a_case_that_cannot_be_smaller_is_left_alone() -> None:
    case = generate(3, "tiny")
    assert shrink(case, lambda smaller: False) is case
