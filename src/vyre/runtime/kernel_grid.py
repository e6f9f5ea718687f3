"""How many workgroups a call of a kernel runs that says nothing about it."""

from __future__ import annotations

from collections.abc import Sequence

from vyre.ir import Program


def axes_of(program: Program) -> int:
    """How many axes of the grid a program asks about."""
    return program.memo("runtime.axes", _axes)


def covering(program: Program, shape: Sequence[int]) -> tuple[int, ...] | None:
    """The workgroups that cover an array, if the program asks about more than one axis of them."""
    axes = axes_of(program)
    if axes == 1:
        return None
    # Axis x runs along the last axis of the array, whose elements are neighbours.
    extents = [*reversed(shape), 1, 1][:axes]
    return tuple(-(-n // size) for n, size in zip(extents, program.workgroup_size, strict=False))


def _axes(program: Program) -> int:
    from vyre.ir.expr import Builtin
    from vyre.ir.opcodes import BuiltinKind
    from vyre.ir.walk import walk_all_exprs

    spread = (BuiltinKind.GLOBAL_ID, BuiltinKind.WORKGROUP_ID, BuiltinKind.NUM_WORKGROUPS)
    used = [
        expr.axis
        for expr in walk_all_exprs(program.entry)
        if isinstance(expr, Builtin) and expr.kind in spread
    ]
    return max(used, default=0) + 1
