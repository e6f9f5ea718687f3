"""Who agrees on ids, lengths and memory: the levels that all other values come from."""

from __future__ import annotations

from enum import IntEnum
from math import prod
from typing import assert_never

from vyre import ir
from vyre.analysis.settled_memory import candidates


class Level(IntEnum):
    """Who agrees on a value, from the most to the fewest."""

    GRID = 0
    WORKGROUP = 1
    SUBGROUP = 2
    DIVERGENT = 3


class LeafLevels:
    """The level of what expressions start from, in one program."""

    def __init__(self, program: ir.Program) -> None:
        size = program.workgroup_size
        alone = prod(size) == 1
        self.worst = Level.WORKGROUP if alone else Level.DIVERGENT
        self.subgroup = Level.WORKGROUP if alone else Level.SUBGROUP
        self.constant_buffers = frozenset(d.name for d in program.buffers if is_constant(d))
        self.settling_buffers = candidates(program)
        self.builtins = {
            (kind, axis): self._builtin(kind, size[axis])
            for kind in ir.BuiltinKind
            for axis in range(3)
        }

    def _builtin(self, kind: ir.BuiltinKind, extent: int) -> Level:
        match kind:
            case ir.BuiltinKind.NUM_WORKGROUPS | ir.BuiltinKind.SUBGROUP_SIZE:
                return Level.GRID
            case ir.BuiltinKind.WORKGROUP_ID:
                return Level.WORKGROUP
            case ir.BuiltinKind.LOCAL_ID:
                return Level.GRID if extent == 1 else self.worst
            case ir.BuiltinKind.GLOBAL_ID:
                return Level.WORKGROUP if extent == 1 else self.worst
            case ir.BuiltinKind.SUBGROUP_LANE:
                return self.worst
        assert_never(kind)


def is_constant(decl: ir.BufferDecl) -> bool:
    """Whether nothing changes the buffer while a dispatch runs."""
    return decl.access in (ir.BufferAccess.READ_ONLY, ir.BufferAccess.UNIFORM)
