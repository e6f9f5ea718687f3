"""What the floats of a whole program are granted when its results are compared."""

from __future__ import annotations

from vyre import ir
from vyre.conform.compare import Tolerance
from vyre.ir.walk import walk_all_exprs
from vyre.semantics.ulp import BOUNDS


def tolerances(program: ir.Program) -> dict[str, Tolerance]:
    """By output, how many units in the last place its floats may be off.

    Exact opcodes give the same bits everywhere. A program with approximate ones is granted the sum
    of their bounds, which is what they add when each stands alone in a sum of like terms.
    """
    granted = sum(_bounds(program))
    return {
        decl.name: Tolerance(ulps=float(granted), zero_signs=True)
        for decl in program.buffers
        if decl.is_host_output
    }


def greatest_bound(program: ir.Program) -> float:
    """The widest bound of the approximate opcodes in a program."""
    return float(max(_bounds(program), default=0))


def _bounds(program: ir.Program) -> list[int]:
    return [_bound(expr) for expr in walk_all_exprs(program.entry)]


def _bound(expr: ir.AnyExpr) -> int:
    match expr:
        case ir.Unary(op) | ir.Binary(op):
            return _WIDEST.get(op, 0)
        case _:
            return 0


_WIDEST: dict[ir.UnOp | ir.BinOp, int] = {}
for (_op, _), _units in BOUNDS.items():
    _WIDEST[_op] = max(_WIDEST.get(_op, 0), _units)
