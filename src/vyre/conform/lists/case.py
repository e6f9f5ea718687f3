"""A random list of programs that work on the same few buffers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from vyre import ir
from vyre.conform.generate.case import GeneratedCase
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.values import array
from vyre.conform.lists.kernels import programs
from vyre.conform.renamed import renamed_buffers
from vyre.ir.walk import walk_stmts
from vyre.record import dataclass

_NAMES = {"u32": ("a", "b", "c", "d"), "f32": ("f", "g"), "u8": ("p", "q")}
"""What buffers are called, by their elements: few names, so that arms meet."""
_SCALARS = {"u32": ("n", "m")}
_AWAY = (0, 0, 0, -3, 9)
"""By how much lengths miss the number of invocations."""


@dataclass(frozen=True, eq=False)
class ListCase(GeneratedCase):
    """Programs, and what fusing them is told; `program` is the first one."""

    arms: tuple[ir.Program, ...] = ()
    names: tuple[str, ...] | None = None
    scratch: tuple[str, ...] = ()
    flat_grid: bool = False

    def __str__(self) -> str:
        told = f"// names {self.names}, scratch {self.scratch}, flat grid {self.flat_grid}"
        return "\n".join([super().__str__(), told, *(str(arm) for arm in self.arms[1:])])


@cache
def _pool() -> tuple[ir.Program, ...]:
    return tuple(programs().values())


def list_case(seed: int, pool: Sequence[ir.Program] | None = None) -> ListCase:
    """The list with this seed, of programs that have one workgroup size."""
    label = f"lists {seed}"
    dice = Dice(label)
    chosen = _pool() if pool is None else pool
    grid = (dice.between(1, 4), 1, 1)
    total = grid[0] * chosen[0].workgroup_size[0]
    arms: list[ir.Program] = []
    for _ in range(dice.between(2, 5)):
        again = arms and dice.chance(4)
        arms.append(dice.pick(arms) if again else _with_names(dice, dice.pick(chosen)))
    shared = sorted({decl.name for arm in arms for decl in arm.buffers if decl.binding is not None})
    lengths = {name: max(total + dice.pick(_AWAY), 1) for name in shared}
    scratch = _scratch(dice, arms)
    if scratch or dice.chance(3):
        arms = [_with_counts(arm, lengths) for arm in arms]
    inputs = {
        decl.name: array(dice, decl.element, decl.count or lengths[decl.name], tame=True)
        for arm in arms
        for decl in arm.buffers
        if decl.binding is not None
    }
    names = tuple(dice.pick("rs") for _ in arms) if dice.chance(4) else None
    return ListCase(
        *(arms[0], inputs, grid, frozenset[str](), label),
        arms=tuple(arms),
        names=names,
        scratch=scratch,
        flat_grid=dice.chance(5),
    )


def _with_names(dice: Dice, program: ir.Program) -> ir.Program:
    """The same on buffers that others have, too; those of the arm's own keep their names."""
    taken = _variables(program)
    names: dict[str, str] = {}
    for decl in program.buffers:
        if decl.binding is None:
            names[decl.name] = decl.name
            continue
        element = re.sub(r"\W", "_", str(decl.element))
        known = _SCALARS if decl.count == 1 else _NAMES
        wanted = known.get(element, (f"{element}_0", f"{element}_1"))
        more = tuple(f"{wanted[0]}{number}" for number in range(9))
        free = [name for name in wanted if name not in taken] or [
            name for name in more if name not in taken
        ]
        names[decl.name] = dice.pick(free)
        taken.add(names[decl.name])
    return renamed_buffers(program, names)


def _variables(program: ir.Program) -> set[str]:
    statements = list(walk_stmts(program.entry))
    bound = {s.name for s in statements if isinstance(s, ir.Let)}
    own = {decl.name for decl in program.buffers if decl.binding is None}
    return bound | own | {s.var for s in statements if isinstance(s, ir.Loop)}


def _scratch(dice: Dice, arms: Sequence[ir.Program]) -> tuple[str, ...]:
    """Buffers that begin as zeros in the first arm that has them, as scratch does."""
    first: dict[str, ir.BufferDecl] = {}
    for arm in arms:
        for decl in arm.buffers:
            if decl.binding is not None:
                first.setdefault(decl.name, decl)
    return tuple(n for n, decl in first.items() if decl.is_device_allocated and dice.chance(3))


def _with_counts(program: ir.Program, lengths: Mapping[str, int]) -> ir.Program:
    return program.with_rewritten_buffers(
        decl.with_count(lengths[decl.name]) if decl.name in lengths and not decl.count else decl
        for decl in program.buffers
    )
