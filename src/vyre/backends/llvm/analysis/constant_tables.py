"""Chains of selects over constants, recognised as tables.

    select(i == 0, 65, select(i == 1, 66, ... 0))  is  table[i], and 0 beyond its entries

A table that a kernel writes as a tuple or as bytes arrives as such a chain. Exact for integer
indices that the chain compares with 0, 1, 2, ... in order, and constant values.
"""

from __future__ import annotations

from vyre import ir
from vyre.record import dataclass

_INDEX = frozenset({ir.DataType.U32, ir.DataType.I32, ir.DataType.U16, ir.DataType.U8})
_ELEMENTS = frozenset(
    {
        *(ir.DataType.U8, ir.DataType.I8, ir.DataType.U16, ir.DataType.I16),
        *(ir.DataType.U32, ir.DataType.I32, ir.DataType.U64, ir.DataType.I64),
        *(ir.DataType.F32, ir.DataType.F64),
    }
)


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """A chain of selects as a table."""

    index: ir.AnyExpr
    entries: tuple[ir.Lit, ...]
    default: ir.Lit
    """The value where the index is beyond the entries."""

    @property
    def element(self) -> ir.DataType:
        """The type of its entries."""
        return self.default.dtype


def constant_table_of(expr: ir.Select) -> ConstantTable | None:
    """The table that a chain of selects stands for; None if it is none."""
    index: ir.AnyExpr | None = None
    entries: list[ir.Lit] = []
    rest: ir.AnyExpr = expr
    while isinstance(rest, ir.Select):
        match rest:
            case ir.Select(ir.Binary(ir.BinOp.EQ, tested, ir.Lit() as number), ir.Lit() as entry):
                pass
            case _:
                return None
        if number.dtype not in _INDEX or number.bits != len(entries):
            return None
        # Equal expressions need not be one object, and comparing deep ones is slow.
        if index is not None and tested is not index and tested != index:
            return None
        index = tested
        entries.append(entry)
        rest = rest.if_false
    if index is None or not isinstance(rest, ir.Lit) or rest.dtype not in _ELEMENTS:
        return None
    return ConstantTable(index, tuple(entries), rest)


__all__ = ["ConstantTable", "constant_table_of"]
