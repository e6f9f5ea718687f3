"""Expressions evaluated with what is known: values, what guards say of them, their accesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from vyre import ir
from vyre.analysis.agreement_levels import is_constant
from vyre.analysis.interval import FALSE, TRUE, Interval, unary
from vyre.analysis.range_state import RangeState
from vyre.analysis.symbolic_bounds import Bounded, binary, cast, narrowed, shifted
from vyre.ir.opcodes import COMPARISONS, MIRRORED, NEGATED, Result
from vyre.ir.walk import expr_children

_IDS = 1 << 32
_WIDEST_SUBGROUP = 128


class RangeValues:
    """Evaluates expressions, and writes down what it finds by position."""

    def __init__(
        self,
        program: ir.Program,
        state: RangeState,
        grid: tuple[int, int, int] | None,
        lengths: Mapping[str, int],
        contents: Mapping[str, Sequence[int]],
    ) -> None:
        self.state = state
        self.position = 0
        self.intervals: dict[tuple[int, int], Interval] = {}
        """By position and identity of an expression: values, when the type does not say it all."""
        self.in_bounds: dict[tuple[int, int], bool] = {}
        """By position and identity of an access: whether it is always inside its buffer."""
        self._recording = True
        self._decls = {decl.name: decl for decl in program.buffers}
        self._counts = {name: decl.count for name, decl in self._decls.items() if decl.count}
        self._counts.update(lengths)
        self._contents = {
            name: values
            for name, values in contents.items()
            if name in self._decls and is_constant(self._decls[name]) and len(values)
        }
        self._counts.update({name: len(values) for name, values in self._contents.items()})
        self._seen: dict[str, Interval] = {}
        self._elements = {name: _element(decl.element) for name, decl in self._decls.items()}
        self._builtins = _builtins(program, grid)
        self._table: dict[type, Callable[[Any], Bounded]] = {
            ir.Lit: self._lit,
            ir.Var: self._var,
            ir.Load: self._load,
            ir.BufLen: self._buf_len,
            ir.Builtin: self._builtin,
            ir.Unary: self._unary,
            ir.Binary: self._binary,
            ir.Fma: self._first,
            ir.Select: self._select,
            ir.Cast: self._cast,
            ir.Bitcast: self._typed,
            ir.MakeVec: self._typed,
            ir.Lane: self._lane,
            ir.Atomic: self._atomic,
            ir.Ballot: self._ballot,
            ir.Shuffle: self._shuffle,
            ir.SubgroupReduce: self._first,
        }

    def value(self, expr: ir.AnyExpr) -> Bounded:
        """What is known of an expression in the present statement."""
        kind = type(expr)
        found = self._table[kind](expr)
        if kind is ir.Lit:
            return found
        if self.state.facts and (expr.depth > 1 or kind is ir.Builtin):
            fact = self.state.fact(expr)
            if fact is not None:
                found = found.meet(fact)
        interval = found.interval
        if self._recording and interval is not None:
            key = (self.position, id(expr))
            whole = Interval.of_type(found.dtype)
            if interval is whole or interval == whole:
                self.intervals.pop(key, None)
            else:
                self.intervals[key] = interval
        return found

    def peek(self, expr: ir.AnyExpr) -> Bounded:
        """The same, without writing anything down."""
        before, self._recording = self._recording, False
        found = self.value(expr)
        self._recording = before
        return found

    def store(self, statement: ir.Store) -> None:
        """Evaluate the operands of a store and judge its index."""
        index = self.value(statement.index)
        self.value(statement.value)
        self._judge(statement, statement.buffer, index)

    def assume(self, condition: ir.AnyExpr, holds: bool) -> None:
        """Learn what follows from a condition that holds, or does not."""
        match condition:
            case ir.Unary(ir.UnOp.NOT, operand):
                self.assume(operand, not holds)
            case ir.Binary(ir.BinOp.AND, left, right) if holds:
                self.assume(left, holds)
                self.assume(right, holds)
            case ir.Binary(ir.BinOp.OR, left, right) if not holds:
                self.assume(left, holds)
                self.assume(right, holds)
            case ir.Binary(op, left, right) if op in COMPARISONS:
                a, b = self.peek(left), self.peek(right)
                narrow_a, narrow_b = narrowed(op if holds else NEGATED[op], a, b)
                self._learn(left, a, narrow_a)
                self._learn(right, b, narrow_b)
            case ir.Var(name):
                meaning = self.state.condition_of(name)
                if meaning is not None:
                    self.assume(meaning, holds)
            case _:
                pass

    def _learn(self, expr: ir.AnyExpr, before: Bounded, after: Bounded) -> None:
        if after == before or isinstance(expr, (ir.Lit, ir.BufLen)):
            return
        self.state.learn(expr, after)
        match expr:
            case ir.Cast(inner, _):
                self._learn_inner(inner, 0, before, after)
            case ir.Binary(ir.BinOp.ADD, inner, ir.Lit() as added) if added.dtype.is_integer:
                self._learn_inner(inner, int(added.value), before, after)
            case _:
                pass

    def _learn_inner(self, inner: ir.AnyExpr, added: int, before: Bounded, after: Bounded) -> None:
        """What follows for an operand, when the result is exactly that much more."""
        value = self.peek(inner)
        if value.interval is None or after.interval is None:
            return
        if before.interval == Interval(value.interval.low + added, value.interval.high + added):
            known = Interval(after.interval.low - added, after.interval.high - added)
            less = Bounded(value.dtype, known, shifted(after.bounds, -added))
            self._learn(inner, value, value.meet(less))

    def _judge(self, access: ir.Load | ir.Atomic | ir.Store, buffer: str, index: Bounded) -> bool:
        inside = False
        if index.interval is not None and index.interval.low >= 0:
            count = self._counts.get(buffer)
            inside = (count is not None and index.interval.high < count) or (
                index.bounds.get(buffer, 0) < 0
            )
        if self._recording:
            self.in_bounds[self.position, id(access)] = inside
        return inside

    def _lit(self, expr: ir.Lit) -> Bounded:
        dtype = expr.dtype
        if not (dtype.is_integer or dtype.is_bool):
            return Bounded.any(dtype)
        value = int(expr.value)
        return Bounded(dtype, Interval(value, value))

    def _var(self, expr: ir.Var) -> Bounded:
        known = self.state.variables.get(expr.name)
        return known[0] if known is not None else Bounded.any(ir.DataType.U32)

    def _load(self, expr: ir.Load) -> Bounded:
        index = self.value(expr.index)
        inside = self._judge(expr, expr.buffer, index)
        known = self._elements[expr.buffer]
        values = self._contents.get(expr.buffer)
        if values is None or known.interval is None or index.interval is None:
            return known
        if inside and index.interval.constant is not None:
            value = int(values[index.interval.constant])
            return Bounded(known.dtype, Interval(value, value))
        seen = self._extremes(expr.buffer, values)
        return Bounded(known.dtype, seen if inside else seen.join(Interval(0, 0)))

    def _extremes(self, buffer: str, values: Sequence[int]) -> Interval:
        known = self._seen.get(buffer)
        if known is None:
            known = self._seen[buffer] = Interval(int(min(values)), int(max(values)))
        return known

    def _buf_len(self, expr: ir.BufLen) -> Bounded:
        count = self._counts.get(expr.buffer)
        known = Interval(0, _IDS - 1) if count is None else Interval(count, count)
        return Bounded(ir.DataType.U32, known, {expr.buffer: 0})

    def _builtin(self, expr: ir.Builtin) -> Bounded:
        return self._builtins[expr.kind, expr.axis]

    def _unary(self, expr: ir.Unary) -> Bounded:
        operand = self.value(expr.operand)
        if expr.op.row.result is Result.BOOL:
            return Bounded.any(ir.DataType.BOOL)
        if operand.interval is None:
            return Bounded.any(operand.dtype)
        return Bounded(operand.dtype, unary(expr.op, operand.interval, operand.dtype))

    def _binary(self, expr: ir.Binary) -> Bounded:
        left = self.value(expr.left)
        right = self.value(expr.right)
        if left.bounds or right.bounds:
            holds = _against_length(expr, left, right)
            if holds is not None:
                return Bounded(ir.DataType.BOOL, TRUE if holds else FALSE)
        return binary(expr.op, left, right)

    def _select(self, expr: ir.Select) -> Bounded:
        condition = self.value(expr.cond)
        if_true, if_false = self.value(expr.if_true), self.value(expr.if_false)
        if condition.interval is not None and condition.interval.constant is not None:
            return if_true if condition.interval.constant else if_false
        return if_true.join(if_false)

    def _cast(self, expr: ir.Cast) -> Bounded:
        return cast(self.value(expr.value), expr.dtype)

    def _typed(self, expr: ir.Bitcast | ir.MakeVec) -> Bounded:
        self._operands(expr)
        return Bounded.any(expr.dtype)

    def _lane(self, expr: ir.Lane) -> Bounded:
        value = self.value(expr.value)
        return Bounded.any(value.dtype.element or value.dtype)

    def _atomic(self, expr: ir.Atomic) -> Bounded:
        index, *_ = self._operands(expr)
        self._judge(expr, expr.buffer, index)
        return self._elements[expr.buffer]

    def _ballot(self, expr: ir.Ballot) -> Bounded:
        self._operands(expr)
        return Bounded.any(ir.DataType.VEC4_U32)

    def _shuffle(self, expr: ir.Shuffle) -> Bounded:
        value, _ = self._operands(expr)
        if value.interval is None:
            return value
        # Another lane's value is of the same expression, but this lane's guards do not hold for it.
        return Bounded.any(value.dtype)

    def _first(self, expr: ir.Fma | ir.SubgroupReduce) -> Bounded:
        return Bounded.any(self._operands(expr)[0].dtype)

    def _operands(self, expr: ir.AnyExpr) -> list[Bounded]:
        return [self.value(child) for child in expr_children(expr)]


_LEAST = {ir.BinOp.LT: -1, ir.BinOp.GE: -1, ir.BinOp.LE: 0, ir.BinOp.GT: 0}
"""By comparison with a length: the bound from which on it is decided."""


def _against_length(expr: ir.Binary, left: Bounded, right: Bounded) -> bool | None:
    """Whether a comparison with a length holds because of a bound known before."""
    op, value, length = expr.op, left, expr.right
    if isinstance(expr.left, ir.BufLen):
        op, value, length = MIRRORED.get(op, op), right, expr.left
    if not isinstance(length, ir.BufLen) or op not in _LEAST or length.buffer not in value.bounds:
        return None
    if value.bounds[length.buffer] > _LEAST[op]:
        return None
    return op in (ir.BinOp.LT, ir.BinOp.LE)


def _element(dtype: ir.DataType) -> Bounded:
    if dtype is ir.DataType.I4:
        return Bounded(ir.DataType.I32, Interval(-8, 7))
    return Bounded.any(dtype.value_type)


def _builtins(
    program: ir.Program, grid: tuple[int, int, int] | None
) -> dict[tuple[ir.BuiltinKind, int], Bounded]:
    found: dict[tuple[ir.BuiltinKind, int], Bounded] = {}

    def put(kind: ir.BuiltinKind, axis: int, low: int, high: int) -> None:
        known = Interval(low, max(low, min(high, _IDS - 1)))
        found[kind, axis] = Bounded(ir.DataType.U32, known)

    invocations = max(prod(program.workgroup_size), 1)
    for axis in range(3):
        extent = max(program.workgroup_size[axis], 1)
        # A launch whose global ids do not fit in 32 bits is refused.
        groups = grid[axis] if grid is not None else _IDS // extent
        put(ir.BuiltinKind.GLOBAL_ID, axis, 0, groups * extent - 1)
        put(ir.BuiltinKind.LOCAL_ID, axis, 0, extent - 1)
        put(ir.BuiltinKind.WORKGROUP_ID, axis, 0, groups - 1)
        put(ir.BuiltinKind.NUM_WORKGROUPS, axis, 1 if grid is None else groups, groups)
        put(ir.BuiltinKind.SUBGROUP_SIZE, axis, 1, _WIDEST_SUBGROUP)
        put(ir.BuiltinKind.SUBGROUP_LANE, axis, 0, min(_WIDEST_SUBGROUP, invocations) - 1)
    return found
