"""Integer narrowing: 32-bit arithmetic on bytes in 16 bits.

    (u32(a[i]) + u32(b[i])) >> 1    ->    u32((u16(a[i]) + u16(b[i])) >> 1)

Legal when the interval of the result fits into 16 bits, and for operators that are not modular
those of the operands as well: the narrow operation then gives the same value. Intervals come from
bytes and literals; a variable that is reassigned has none.
Profitable when a whole value is narrow: twice as many lanes per vector. An expression that would
need widening in between stays wide.
Indices, loops and accesses are not narrowed.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.backends.llvm.rewrites.rebuilt_accesses import RebuiltAccesses
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import assigned_names, expr_children, map_bodies, map_body, map_exprs

_SHORT = {ir.DataType.I16: (1 - (1 << 15), (1 << 15) - 1), ir.DataType.U16: (0, (1 << 16) - 1)}
"""Narrow types and their intervals; -2^15 is excluded, as its magnitude does not fit."""
_MODULAR = (ir.BinOp.ADD, ir.BinOp.SUB, ir.BinOp.MUL, ir.BinOp.SHL)
"""Modular operators: low bits depend on low bits only, so a result that fits is exact."""
_WORDS = (ir.DataType.U32, ir.DataType.I32)
_BYTES = (ir.DataType.U8, ir.DataType.I8)
_ORDERS = (ir.BinOp.LT, ir.BinOp.LE, ir.BinOp.GT, ir.BinOp.GE, ir.BinOp.EQ, ir.BinOp.NE)

Interval = tuple[int, int]
Narrowed = tuple[ir.AnyExpr, Interval | None]


def narrow(program: ir.Program, peeling: RowPartition, proven: frozenset[int]) -> frozenset[int]:
    """Narrow the arithmetic of a partitioned body; returns the accesses proven in bounds."""
    narrowing = _Narrowing(program, peeling.types, peeling.simplified)
    peeling.simplified = map_body(peeling.simplified, narrowing.statement)
    stores = narrowing.rebuilt
    for known in (peeling.inside, peeling.by_facts, peeling.apart):
        known.update(stores.with_facts(frozenset(known)))
    peeling.strided.update(stores.carry(peeling.strided))
    peeling.wide.update(stores.carry(peeling.wide))
    return stores.with_facts(proven)


class _Narrowing:
    def __init__(
        self, program: ir.Program, types: Mapping[str, ir.DataType], body: ir.Body
    ) -> None:
        buffers = {decl.name: decl for decl in program.buffers}
        self._env = TypeEnv(buffers, types)
        self._assigned = assigned_names(body)
        self._intervals: dict[str, Interval] = {}
        self.rebuilt = RebuiltAccesses()
        self._mixed = False
        """True if a narrow value became an operand of a wide one."""

    def statement(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        made = statement
        match statement:
            case ir.Let(name, value):
                narrowed, interval = self._value(value)
                if interval is not None and name not in self._assigned:
                    self._intervals[name] = interval
                made = statement if narrowed is value else ir.Let(name, narrowed)
            case ir.Assign(name, value):
                narrowed = self._value(value)[0]
                made = statement if narrowed is value else ir.Assign(name, narrowed)
            case ir.Store(buffer, index, value):
                narrowed = self._value(value)[0]
                if narrowed is not value:
                    made = ir.Store(buffer, index, narrowed)
                    self.rebuilt.add(made, statement)
            case ir.If(cond, then, otherwise):
                narrowed = self._value(cond)[0]
                made = statement if narrowed is cond else ir.If(narrowed, then, otherwise)
            case _:
                pass
        return map_bodies(made, lambda body: map_body(body, self.statement))

    def _value(self, expr: ir.AnyExpr) -> Narrowed:
        """Narrow a whole value, or leave it unchanged."""
        self._mixed = False
        narrowed, interval = self._visit(expr)
        return expr if self._mixed else narrowed, interval

    def _visit(self, expr: ir.AnyExpr) -> Narrowed:
        match expr:
            case ir.Lit(dtype, _):
                value = int(expr.value) if dtype.is_integer else 0
                return expr, (value, value) if dtype.is_integer else None
            case ir.Var(name):
                return expr, self._intervals.get(name)
            case ir.Load() | ir.Atomic():
                return expr, _of_type(type_of(expr, self._env))
            case ir.Cast(value, dtype):
                return self._cast(expr, value, dtype)
            case ir.Binary():
                return self._binary(expr)
            case ir.Unary(ir.UnOp.ABS | ir.UnOp.NEG as op, value):
                return self._unary(expr, op, value)
            case ir.Select():
                return self._select(expr)
            case _:
                return map_exprs(expr, lambda child: self._visit(child)[0]), None

    def _cast(self, expr: ir.Cast, value: ir.AnyExpr, dtype: ir.DataType) -> Narrowed:
        narrowed, interval = self._visit(value)
        made = expr if narrowed is value else ir.Cast(narrowed, dtype)
        source = type_of(value, self._env)
        if not isinstance(source, ir.DataType) or not (source.is_integer and dtype.is_integer):
            return made, None
        if interval is not None and _holds(dtype, interval):
            return made, interval
        return made, _of_type(dtype)

    def _binary(self, expr: ir.Binary) -> Narrowed:
        op = expr.op
        (left, a), (right, b) = self._visit(expr.left), self._visit(expr.right)
        dtype = type_of(expr.left, self._env)
        interval = None if a is None or b is None else _interval(op, a, b)
        short = None
        words = isinstance(dtype, ir.DataType) and dtype in _WORDS
        if words and a is not None and b is not None:
            if op in _ORDERS:
                short = _short_type(a, b)
            elif interval is not None and _holds(dtype, interval):
                short = _short_type(interval) if op in _MODULAR else _short_type(a, b, interval)
            else:
                interval = None
        if short is None or not words:
            known = interval if words else None
            return self._keep_wide(expr, ir.Binary(op, left, right), (left, right)), known
        made = ir.Binary(op, self._short(left, short), self._short(right, short))
        return (made, None) if op in _ORDERS else (ir.Cast(made, dtype), interval)

    def _keep_wide(
        self, expr: ir.AnyExpr, made: ir.AnyExpr, parts: tuple[ir.AnyExpr, ...]
    ) -> ir.AnyExpr:
        """Keep an operation wide, with operands that may have been narrowed."""
        olds = expr_children(expr)
        if all(new is old for new, old in zip(parts, olds, strict=True)):
            return expr
        self._mixed = self._mixed or any(self._is_narrowed(part) for part in parts)
        return made

    def _is_narrowed(self, expr: ir.AnyExpr) -> bool:
        return isinstance(expr, ir.Cast) and type_of(expr.value, self._env) in _SHORT

    def _unary(self, expr: ir.Unary, op: ir.UnOp, value: ir.AnyExpr) -> Narrowed:
        narrowed, a = self._visit(value)
        dtype = type_of(value, self._env)
        if a is None or dtype is not ir.DataType.I32 or _short_type(a) is not ir.DataType.I16:
            return self._keep_wide(expr, ir.Unary(op, narrowed), (narrowed,)), None
        ends = (-a[1], -a[0]) if op is ir.UnOp.NEG else (abs(a[0]), abs(a[1]))
        least = 0 if op is ir.UnOp.ABS and a[0] <= 0 <= a[1] else min(ends)
        short = ir.Unary(op, self._short(narrowed, ir.DataType.I16))
        return ir.Cast(short, dtype), (least, max(ends))

    def _select(self, expr: ir.Select) -> Narrowed:
        cond = self._visit(expr.cond)[0]
        (left, a), (right, b) = self._visit(expr.if_true), self._visit(expr.if_false)
        dtype = type_of(expr.if_true, self._env)
        if a is None or b is None or not isinstance(dtype, ir.DataType) or dtype not in _WORDS:
            return self._keep_wide(expr, ir.Select(cond, left, right), (cond, left, right)), None
        interval = (min(a[0], b[0]), max(a[1], b[1]))
        short = _short_type(interval)
        if short is None:
            return self._keep_wide(
                expr, ir.Select(cond, left, right), (cond, left, right)
            ), interval
        made = ir.Select(cond, self._short(left, short), self._short(right, short))
        return ir.Cast(made, dtype), interval

    def _short(self, expr: ir.AnyExpr, short: ir.DataType) -> ir.AnyExpr:
        """Truncate a value to 16 bits."""
        if isinstance(expr, ir.Lit):
            return ir.Lit(short, int(expr.value) & 0xFFFF)
        if isinstance(expr, ir.Cast):
            source = type_of(expr.value, self._env)
            if source is short:
                return expr.value
            if source in _BYTES or source in _SHORT:
                return ir.Cast(expr.value, short)
        return ir.Cast(expr, short)


def _interval(op: ir.BinOp, a: Interval, b: Interval) -> Interval | None:
    match op:
        case ir.BinOp.ADD:
            return a[0] + b[0], a[1] + b[1]
        case ir.BinOp.SUB:
            return a[0] - b[1], a[1] - b[0]
        case ir.BinOp.MUL:
            ends = [x * y for x in a for y in b]
            return min(ends), max(ends)
        case ir.BinOp.MIN:
            return min(a[0], b[0]), min(a[1], b[1])
        case ir.BinOp.MAX:
            return max(a[0], b[0]), max(a[1], b[1])
        case ir.BinOp.SHL if b[0] == b[1] and 0 <= b[0] < 16:
            return a[0] << b[0], a[1] << b[0]
        case ir.BinOp.SHR if b[0] == b[1] and 0 <= b[0] < 16:
            return a[0] >> b[0], a[1] >> b[0]
        case _:
            return None


def _short_type(*intervals: Interval) -> ir.DataType | None:
    """A 16-bit type that contains all of some intervals."""
    for dtype, (least, most) in _SHORT.items():
        if all(least <= low and high <= most for low, high in intervals):
            return dtype
    return None


def _holds(dtype: ir.DataType, interval: Interval) -> bool:
    half = 1 << (dtype.bits or 1) - 1
    least, most = (-half, half - 1) if dtype.is_signed else (0, 2 * half - 1)
    return least <= interval[0] and interval[1] <= most


def _of_type(dtype: object) -> Interval | None:
    if dtype is ir.DataType.U8:
        return 0, 255
    return (-128, 127) if dtype is ir.DataType.I8 else None


__all__ = ["narrow"]
