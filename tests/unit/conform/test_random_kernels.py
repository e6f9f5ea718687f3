"""Random kernels in the shapes people write: valid, free of races, and of every shape."""

from __future__ import annotations

from collections import Counter

from vyre.backends.reference import execute
from vyre.conform.generate.kernels import kernel_case
from vyre.diagnostics.codes import execution as codes
from vyre.ir import Barrier, If, Loop, Return, While
from vyre.ir.walk import walk_stmts

COUNT = 150
_UNSOUND = frozenset({codes.DATA_RACE.code, codes.BARRIER_MISSED.code})


def test_kernels_are_valid_and_free_of_races() -> None:
    for seed in range(COUNT):
        case = kernel_case(seed)
        problems = [found for found in case.program.check() if found.severity == "error"]
        assert not problems, f"{case.label}: {problems[0]}"
        run = execute(case.program, case.inputs, case.grid, sanitize=True)
        found = _UNSOUND & {each.code for each in run.findings}
        assert not found, f"{case.label}: {found}"


def test_a_seed_gives_the_same_kernel() -> None:
    assert str(kernel_case(7)) == str(kernel_case(7))
    assert str(kernel_case(7)) != str(kernel_case(8))


def test_every_shape_is_there() -> None:
    """Barriers, loops of both kinds, early returns, several axes."""
    seen: Counter[str] = Counter()
    for seed in range(COUNT):
        case = kernel_case(seed)
        kinds = {type(stmt) for stmt in walk_stmts(case.program.entry)}
        seen.update(kind.__name__ for kind in kinds)
        seen["deep"] += case.program.workgroup_size[1] > 1
        seen["several workgroups"] += case.grid != (1, 1, 1)
    wanted = (Barrier, If, Loop, Return, While)
    rare = [kind.__name__ for kind in wanted if seen[kind.__name__] < COUNT // 20]
    assert not rare, seen
    assert min(seen["deep"], seen["several workgroups"]) > COUNT // 10, seen
