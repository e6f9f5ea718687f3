"""What is known to hold at a place of a kernel: which values are less than which.

Guards (`if i < x.shape[0]`), loop bounds, remainders and workgroup sizes prove that the index of
an axis is inside of it; where nothing proves it, the index is checked.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import field, fields
from typing import Any

from vyre import ir
from vyre.ir.buffer import is_layout
from vyre.ir.opcodes import NEGATED
from vyre.record import dataclass

_NEIGHBOURS = 8
"""How many sums are known to be less where a greater one is."""


@dataclass(slots=True)
class Facts:
    """Facts by scope, and the definitions of variables that never change."""

    workgroup: tuple[int, int, int] = (1, 1, 1)
    less: set[tuple[ir.AnyExpr, ir.AnyExpr]] = field(
        default_factory=set[tuple[ir.AnyExpr, ir.AnyExpr]]
    )
    definitions: dict[str, ir.AnyExpr] = field(default_factory=dict[str, ir.AnyExpr])
    """What variables hold that are assigned once."""
    constants: set[str] = field(default_factory=set[str])
    """Variables of the program that never change once they have a value."""

    at_least: set[tuple[ir.AnyExpr, int]] = field(default_factory=set[tuple[ir.AnyExpr, int]])
    """Unsigned values that never change, and numbers that they are not less than."""
    sums_fit: bool = False
    """Whether a small number that is added to an id or a length does not overflow."""
    natural: set[str] = field(default_factory=set[str])
    """Variables of the program that hold an index that is never negative."""
    counters: set[str] = field(default_factory=set[str])
    """Those that a loop counts, up to an id or a length."""

    implied: dict[str, tuple[bool, ir.AnyExpr, ir.AnyExpr]] = field(
        default_factory=dict[str, tuple[bool, ir.AnyExpr, ir.AnyExpr]]
    )
    """Variables that hold a junction: if one is true (or false), so are both conditions."""

    @contextmanager
    def scope(self) -> Generator[None]:
        """Facts learned inside end with the block."""
        before = self.less, self.at_least
        self.less, self.at_least = set(self.less), set(self.at_least)
        try:
            yield
        finally:
            self.less, self.at_least = before

    def state(self) -> dict[str, Any]:
        """A copy of all that is known."""
        return {one.name: copy(getattr(self, one.name)) for one in fields(self)}

    def put_back(self, state: Mapping[str, Any]) -> None:
        """Know what was known, and no more; blocks around may have hold of these facts."""
        for name, value in state.items():
            setattr(self, name, copy(value))

    def define(self, name: str, value: ir.AnyExpr) -> None:
        """A variable that keeps this value."""
        self.constants.add(name)
        self.definitions[name] = value

    def is_fixed(self, expr: ir.AnyExpr) -> bool:
        """Whether nothing that a kernel does changes the value of an expression."""
        match expr:
            case ir.Lit() | ir.Builtin() | ir.BufLen():
                return True
            case ir.Var(name):
                return name in self.constants
            case ir.Load(buffer):
                return is_layout(buffer)
            case _:
                return False

    def assume(self, condition: ir.AnyExpr, holds: bool = True) -> None:
        """Learn from a condition that holds, or does not hold, from here on."""
        match condition:
            case ir.Unary(ir.UnOp.NOT, operand):
                self.assume(operand, not holds)
            case ir.Var(name) if name in self.implied and self.implied[name][0] == holds:
                for part in self.implied[name][1:]:
                    self.assume(part, holds)
            case ir.Binary(ir.BinOp.AND, left, right) if holds:
                self.assume(left)
                self.assume(right)
            case ir.Binary(ir.BinOp.OR, left, right) if not holds:
                self.assume(left, holds=False)
                self.assume(right, holds=False)
            case ir.Binary(op, left, right) if op in NEGATED:
                self._compare(op if holds else NEGATED[op], left, right)
            case _:
                return

    def _compare(self, op: ir.BinOp, left: ir.AnyExpr, right: ir.AnyExpr) -> None:
        if op is ir.BinOp.LT:
            self.know_less(left, right)
        elif op is ir.BinOp.GT:
            self.know_less(right, left)
        elif op is ir.BinOp.GE:
            self._know_at_least(left, right, 0)
        elif op is ir.BinOp.LE:
            self._know_at_least(right, left, 0)

    def _know_at_least(self, value: ir.AnyExpr, number: ir.AnyExpr, more: int) -> None:
        """A value that never changes is a literal or more."""
        value = self.plain(value)
        if isinstance(number, ir.Lit) and number.dtype.is_integer and self.lasts(value):
            self.at_least.add((value, int(number.value) + more))

    def know_less(self, left: ir.AnyExpr, right: ir.AnyExpr) -> None:
        """Both never change, and the left one is less, as numbers of their type."""
        left, right = self.plain(left), self.plain(right)
        if self.lasts(left) and self.lasts(right):
            self.less.add((left, right))
            self._know_at_least(right, left, 1)
            match left:
                case ir.Binary(ir.BinOp.ADD, value, ir.Lit(_, number)) if self.sums_fit:
                    self._know_sums_less(value, number, right)
                case _:
                    pass

    def _know_sums_less(self, value: ir.AnyExpr, number: int, right: ir.AnyExpr) -> None:
        """With `i + 2`, also `i + 1` and `i` are less, where none of them overflows."""
        self.less.add((value, right))
        for lesser in range(1, min(number, _NEIGHBOURS)):
            self.less.add((ir.Binary(ir.BinOp.ADD, value, ir.Expr.u32(lesser)), right))

    def proves_less(self, left: ir.AnyExpr, right: ir.AnyExpr) -> bool:
        """Whether an unsigned value is certainly less than another."""
        left, right = self.plain(left), self.plain(right)
        if (left, right) in self.less or self._is_less_by_sign(left, right):
            return True
        top = self._top(left)
        return top is not None and isinstance(right, ir.Lit) and top < right.bits

    def _is_less_by_sign(self, left: ir.AnyExpr, right: ir.AnyExpr) -> bool:
        """Whether a difference is less because it is not negative, and its sign was looked at."""
        match left:
            case ir.Binary(ir.BinOp.SUB, value, ir.Lit(ir.DataType.U32, number)):
                above = any(v == value and least >= number for v, least in self.at_least)
                return above and (value, right) in self.less
            case _:
                sign, end = ir.Cast(left, ir.DataType.I32), ir.Cast(right, ir.DataType.I32)
                return (sign, end) in self.less and any(
                    value == sign and least >= 0 for value, least in self.at_least
                )

    def plain(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """The expression with variables that never change replaced by what they hold."""
        match expr:
            case ir.Var(name) if name in self.definitions:
                meaning = self.plain(self.definitions[name])
                return meaning if self.lasts(meaning) else expr
            case ir.Binary(op, left, right):
                return ir.Binary(op, self.plain(left), self.plain(right))
            case ir.Cast(value, dtype):
                return ir.Cast(self.plain(value), dtype)
            case _:
                return expr

    def lasts(self, expr: ir.AnyExpr) -> bool:
        """Whether an expression has the same value from here on."""
        match expr:
            case ir.Binary(_, left, right):
                return self.lasts(left) and self.lasts(right)
            case ir.Cast(value):
                return self.lasts(value)
            case _:
                return self.is_fixed(expr)

    def _top(self, expr: ir.AnyExpr) -> int | None:
        """The greatest value an unsigned expression can have, where that is easy to see."""
        match expr:
            case ir.Lit(dtype, bits) if not dtype.is_signed:
                return bits
            case ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis):
                return self.workgroup[axis] - 1
            case ir.Binary(ir.BinOp.REM, _, ir.Lit(dtype, bits)) if not dtype.is_signed and bits:
                return bits - 1
            case ir.Binary(ir.BinOp.AND, _, ir.Lit(dtype, bits)) if not dtype.is_signed:
                return bits
            case ir.Binary(ir.BinOp.DIV, left, ir.Lit(dtype, bits)) if not dtype.is_signed and bits:
                inner = self._top(left)
                return None if inner is None else inner // bits
            case _:
                bounds = [b.bits - 1 for a, b in self.less if a == expr and isinstance(b, ir.Lit)]
                return min((bound for bound in bounds if bound >= 0), default=None)
