"""No false alarms on random programs; on broken ones, no missed barrier that the sanitizer sees."""

from __future__ import annotations

import random

import pytest

from vyre.analysis import BufferUse, ProgramFacts, Ranges
from vyre.backends.reference import execute
from vyre.check import check
from vyre.conform.generate import PROFILES, GeneratedCase, generate
from vyre.diagnostics import ExecutionError, Severity
from vyre.ir import Body, Expr, Load, Loop, Node, Program, Store, While
from vyre.ir.expr import Atomic
from vyre.ir.walk import map_bodies

BARRIER_MISSED, OUT_OF_BOUNDS = "X102", "X103"
FLOW = {"V301", "V302", "V303", "V304"}


@pytest.mark.parametrize("profile", PROFILES)
def test_random_programs_have_no_findings(profile: str) -> None:
    for seed in range(12):
        case = generate(seed, profile)
        assert check(case.program) == [], str(case)


def broken(program: Program, dice: random.Random) -> Program:
    """The program with a barrier, or a way to leave, at some place."""
    wanted = dice.randrange(1, program.stats().node_count)
    position = -1

    def body(statements: Body, in_loop: bool) -> Body:
        nonlocal position
        found: list[Node] = []
        for statement in statements:
            position += 1
            if position == wanted:
                found.append(addition(dice, in_loop))
            inside = in_loop or isinstance(statement, (Loop, While))
            found.append(map_bodies(statement, lambda inner, deep=inside: body(inner, deep)))
        return Node.block(found).body

    return program.with_rewritten_entry(body(program.entry, False))


def addition(dice: random.Random, in_loop: bool) -> Node:
    condition = dice.choice(
        (
            Expr.local_id(0) < Expr.u32(dice.randrange(1, 5)),
            Expr.workgroup_id(0) < Expr.u32(1),
            Expr.gid(0).eq(Expr.u32(dice.randrange(8))),
            Expr.num_workgroups(0) > Expr.u32(dice.randrange(3)),
        )
    )
    choices = [Node.barrier(), Node.return_()]
    if in_loop:
        choices += [Node.break_(), Node.continue_()]
    return dice.choice((Node.barrier(), Node.if_(condition, [dice.choice(choices)])))


@pytest.mark.parametrize("profile", ["barriers", "memory", "default", "hostile_indices"])
def test_what_the_sanitizer_finds_was_not_called_impossible(profile: str) -> None:
    dice = random.Random(profile)
    for seed in range(7):
        case = generate(seed, profile)
        program = broken(case.program, dice)
        errors = {d.code for d in check(program) if d.severity is Severity.ERROR}
        assert errors <= FLOW
        try:
            found = execute(program, case.inputs, case.grid, sanitize=True, deadline=5).findings
        except ExecutionError:
            continue
        for finding in found:
            if finding.code == BARRIER_MISSED:
                assert errors, f"{finding}\n{program}"
            elif finding.code == OUT_OF_BOUNDS:
                buffer = finding.message.split("[")[0].split()[-1]
                path = finding.location.path
                assert may_miss(program, case, path, buffer), f"{finding}\n{program}"


def may_miss(program: Program, case: GeneratedCase, path: str, buffer: str) -> bool:
    """Whether an access to the buffer at the statement is not proven to be in bounds."""
    facts = ProgramFacts.of(program)
    lengths = {name: len(contents) for name, contents in case.inputs.items()}
    known = Ranges.under(program, grid=case.grid, lengths=lengths)
    touched = False
    for ref in facts.refs_by_buffer[buffer]:
        if facts.path(ref.position) == path and ref.use is not BufferUse.LENGTH:
            access = facts.statements[ref.position] if ref.expr is None else ref.expr
            if not isinstance(access, (Load, Atomic, Store)):
                return True
            touched = True
            if not known.is_in_bounds(access, ref.position):
                assert not Ranges.of(program).is_in_bounds(access, ref.position)
                return True
    return not touched
