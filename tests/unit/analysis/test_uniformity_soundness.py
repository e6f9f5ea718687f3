"""Uniformity against an oracle: what it calls alike is alike in every run of random programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

import pytest

from tests.unit.analysis.lanes import Instance, Lane, Maker, TooLong, run_all
from vyre.analysis import Level, ProgramFacts, Uniformity
from vyre.ir import AnyExpr, AnyStmt, Assign, If, Let, Program, Var

LENGTHS = {"ro": 3, "rw": 5, "tile": 8}
PROGRAMS = 800
BLOCKS = 8


def disagreements(program: Program, groups: list[list[Lane]]) -> Iterator[str]:
    """Where invocations that are said to agree do not."""
    yield from among(program, list(chain.from_iterable(groups)), Level.GRID)
    for group in groups:
        yield from among(program, group, Level.WORKGROUP)


def among(program: Program, team: list[Lane], level: Level) -> Iterator[str]:
    uniformity, facts = Uniformity.of(program), ProgramFacts.of(program)
    present: defaultdict[tuple[int, Instance], list[Lane]] = defaultdict(list)
    for lane in team:
        for key in lane.visits:
            present[key].append(lane)
    for (position, rounds), lanes in present.items():
        where = f"{facts.path(position)} in round {rounds}"
        if len(lanes) < len(team):
            missing = [lane for lane in team if (position, rounds) not in lane.visits]
            if uniformity.convergence(position) <= level:
                yield f"{where} is missed, but called {level.name}"
            if uniformity.control(position) <= level and not all(m.returned for m in missing):
                yield f"{where} is missed by some that did not return, but called {level.name}"
        visits = [lane.visits[position, rounds] for lane in lanes]
        expr = judged(facts.statements[position])
        differs = len({visit.value for visit in visits}) > 1
        if differs and expr is not None and uniformity.level_of(expr, position) <= level:
            yield f"{where} differs, but is called {level.name}"
        for name in visits[0].variables:
            differs = len({visit.variables[name] for visit in visits}) > 1
            if differs and uniformity.level_of(Var(name), position) <= level:
                yield f"{name} differs at {where}, but is called {level.name}"


def judged(statement: AnyStmt) -> AnyExpr | None:
    match statement:
        case Let(_, value) | Assign(_, value):
            return value
        case If(cond):
            return cond
        case _:
            return None


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_is_called_alike_is_alike(block: int) -> None:
    checked = alike = differing = 0
    for seed in range(block, PROGRAMS, BLOCKS):
        program = Maker(seed).program()
        try:
            groups = run_all(program, seed, LENGTHS)
        except TooLong:
            continue
        assert list(disagreements(program, groups)) == [], f"seed {seed}\n{program}"
        checked += 1
        for position in range(len(ProgramFacts.of(program))):
            convergent = Uniformity.of(program).convergence(position) <= Level.WORKGROUP
            alike += convergent
            differing += not convergent
    # The programs are not trivial: some places are reached by all, some are not.
    assert checked > PROGRAMS // BLOCKS // 2
    assert alike > 200
    assert differing > 200
