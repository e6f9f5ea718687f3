"""Arithmetic on bytes in 16 bits where 32 were written: twice as many lanes in a vector.

Sums and differences of a few bytes fit into 16 bits. Where the least and the greatest value of a
result, and of operands where they count, do, the narrow operation gives the very same number. What
would have to be made wide again for the rest of its expression stays wide. Ranges come from what
bytes and literals are; a variable that is assigned again has none. Indices, loops and accesses stay
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre.backends.llvm.rewrites.partition_rows import Peeling
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Binary,
    BinOp,
    Body,
    Cast,
    DataType,
    If,
    Let,
    Lit,
    Load,
    Program,
    Select,
    Store,
    Unary,
    UnOp,
    Var,
)
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import expr_children, map_bodies, map_body, map_exprs, walk_stmts

_SHORT = {DataType.I16: (1 - (1 << 15), (1 << 15) - 1), DataType.U16: (0, (1 << 16) - 1)}
"""Types and what may be in them; of the least number of 16 bits, the magnitude is not one."""
_MODULAR = (BinOp.ADD, BinOp.SUB, BinOp.MUL, BinOp.SHL)
"""Operators whose low bits depend on low bits only: a result that fits is right."""
_WORDS = (DataType.U32, DataType.I32)
_BYTES = (DataType.U8, DataType.I8)
_ORDERS = (BinOp.LT, BinOp.LE, BinOp.GT, BinOp.GE, BinOp.EQ, BinOp.NE)

Interval = tuple[int, int]
Found = tuple[AnyExpr, Interval | None]


def narrow(program: Program, peeling: Peeling, proven: frozenset[int]) -> frozenset[int]:
    """Do a peeled body's arithmetic in 16 bits where that is the same; gives what is proven."""
    made = _Narrowing(program, peeling.types, peeling.simplified)
    peeling.simplified = map_body(peeling.simplified, made.statement)
    for new, old in made.remade.items():
        for known in (peeling.inside, peeling.by_facts, peeling.apart):
            known |= {new} if old in known else set()
        if old in peeling.strided:
            peeling.strided[new] = peeling.strided[old]
        if old in peeling.wide:
            peeling.wide[new] = peeling.wide[old]
    also = {new for new, old in made.remade.items() if old in proven}
    return proven | also if also else proven


class _Narrowing:
    def __init__(self, program: Program, types: Mapping[str, DataType], body: Body) -> None:
        buffers = {decl.name: decl for decl in program.buffers}
        self._env = TypeEnv(buffers, types)
        self._assigned = {s.name for s in walk_stmts(body) if isinstance(s, Assign)}
        self._intervals: dict[str, Interval] = {}
        self.remade: dict[int, int] = {}
        """Stores that were made anew, by identity, and which ones they stand for."""
        self._mixed = False
        """Whether something narrow became part of something wide."""

    def statement(self, statement: AnyStmt) -> AnyStmt:
        made = statement
        match statement:
            case Let(name, value):
                found, interval = self._value(value)
                if interval is not None and name not in self._assigned:
                    self._intervals[name] = interval
                made = statement if found is value else Let(name, found)
            case Assign(name, value):
                found = self._value(value)[0]
                made = statement if found is value else Assign(name, found)
            case Store(buffer, index, value):
                found = self._value(value)[0]
                if found is not value:
                    made = Store(buffer, index, found)
                    self.remade[id(made)] = id(statement)
            case If(cond, then, otherwise):
                found = self._value(cond)[0]
                made = statement if found is cond else If(found, then, otherwise)
            case _:
                pass
        return map_bodies(made, lambda body: map_body(body, self.statement))

    def _value(self, expr: AnyExpr) -> Found:
        """A whole value: narrow throughout or as it was."""
        self._mixed = False
        found, interval = self._visit(expr)
        return expr if self._mixed else found, interval

    def _visit(self, expr: AnyExpr) -> Found:
        match expr:
            case Lit(dtype, _):
                value = int(expr.value) if dtype.is_integer else 0
                return expr, (value, value) if dtype.is_integer else None
            case Var(name):
                return expr, self._intervals.get(name)
            case Load() | Atomic():
                return expr, _of_type(type_of(expr, self._env))
            case Cast(value, dtype):
                return self._cast(expr, value, dtype)
            case Binary():
                return self._binary(expr)
            case Unary(UnOp.ABS | UnOp.NEG as op, value):
                return self._unary(expr, op, value)
            case Select():
                return self._select(expr)
            case _:
                return map_exprs(expr, lambda child: self._visit(child)[0]), None

    def _cast(self, expr: Cast, value: AnyExpr, dtype: DataType) -> Found:
        found, interval = self._visit(value)
        made = expr if found is value else Cast(found, dtype)
        source = type_of(value, self._env)
        if not isinstance(source, DataType) or not (source.is_integer and dtype.is_integer):
            return made, None
        if interval is not None and _holds(dtype, interval):
            return made, interval
        return made, _of_type(dtype)

    def _binary(self, expr: Binary) -> Found:
        op = expr.op
        (left, a), (right, b) = self._visit(expr.left), self._visit(expr.right)
        dtype = type_of(expr.left, self._env)
        interval = None if a is None or b is None else _interval(op, a, b)
        short = None
        words = isinstance(dtype, DataType) and dtype in _WORDS
        if words and a is not None and b is not None:
            if op in _ORDERS:
                short = _short_type(a, b)
            elif interval is not None and _holds(dtype, interval):
                short = _short_type(interval) if op in _MODULAR else _short_type(a, b, interval)
            else:
                interval = None
        if short is None or not words:
            known = interval if words else None
            return self._kept(expr, Binary(op, left, right), (left, right)), known
        made = Binary(op, self._short(left, short), self._short(right, short))
        return (made, None) if op in _ORDERS else (Cast(made, dtype), interval)

    def _kept(self, expr: AnyExpr, made: AnyExpr, parts: tuple[AnyExpr, ...]) -> AnyExpr:
        """What stays as wide as it was, around parts that may have changed."""
        olds = expr_children(expr)
        if all(new is old for new, old in zip(parts, olds, strict=True)):
            return expr
        self._mixed = self._mixed or any(self._is_narrowed(part) for part in parts)
        return made

    def _is_narrowed(self, expr: AnyExpr) -> bool:
        return isinstance(expr, Cast) and type_of(expr.value, self._env) in _SHORT

    def _unary(self, expr: Unary, op: UnOp, value: AnyExpr) -> Found:
        found, a = self._visit(value)
        dtype = type_of(value, self._env)
        if a is None or dtype is not DataType.I32 or _short_type(a) is not DataType.I16:
            return self._kept(expr, Unary(op, found), (found,)), None
        ends = (-a[1], -a[0]) if op is UnOp.NEG else (abs(a[0]), abs(a[1]))
        least = 0 if op is UnOp.ABS and a[0] <= 0 <= a[1] else min(ends)
        return Cast(Unary(op, self._short(found, DataType.I16)), dtype), (least, max(ends))

    def _select(self, expr: Select) -> Found:
        cond = self._visit(expr.cond)[0]
        (left, a), (right, b) = self._visit(expr.if_true), self._visit(expr.if_false)
        dtype = type_of(expr.if_true, self._env)
        if a is None or b is None or not isinstance(dtype, DataType) or dtype not in _WORDS:
            return self._kept(expr, Select(cond, left, right), (cond, left, right)), None
        interval = (min(a[0], b[0]), max(a[1], b[1]))
        short = _short_type(interval)
        if short is None:
            return self._kept(expr, Select(cond, left, right), (cond, left, right)), interval
        made = Select(cond, self._short(left, short), self._short(right, short))
        return Cast(made, dtype), interval

    def _short(self, expr: AnyExpr, short: DataType) -> AnyExpr:
        """The low 16 bits of a number."""
        if isinstance(expr, Lit):
            return Lit(short, int(expr.value) & 0xFFFF)
        if isinstance(expr, Cast):
            source = type_of(expr.value, self._env)
            if source is short:
                return expr.value
            if source in _BYTES or source in _SHORT:
                return Cast(expr.value, short)
        return Cast(expr, short)


def _interval(op: BinOp, a: Interval, b: Interval) -> Interval | None:
    match op:
        case BinOp.ADD:
            return a[0] + b[0], a[1] + b[1]
        case BinOp.SUB:
            return a[0] - b[1], a[1] - b[0]
        case BinOp.MUL:
            ends = [x * y for x in a for y in b]
            return min(ends), max(ends)
        case BinOp.MIN:
            return min(a[0], b[0]), min(a[1], b[1])
        case BinOp.MAX:
            return max(a[0], b[0]), max(a[1], b[1])
        case BinOp.SHL if b[0] == b[1] and 0 <= b[0] < 16:
            return a[0] << b[0], a[1] << b[0]
        case BinOp.SHR if b[0] == b[1] and 0 <= b[0] < 16:
            return a[0] >> b[0], a[1] >> b[0]
        case _:
            return None


def _short_type(*intervals: Interval) -> DataType | None:
    """A type of 16 bits that holds all of some intervals."""
    for dtype, (least, most) in _SHORT.items():
        if all(least <= low and high <= most for low, high in intervals):
            return dtype
    return None


def _holds(dtype: DataType, interval: Interval) -> bool:
    half = 1 << (dtype.bits or 1) - 1
    least, most = (-half, half - 1) if dtype.is_signed else (0, 2 * half - 1)
    return least <= interval[0] and interval[1] <= most


def _of_type(dtype: object) -> Interval | None:
    if dtype is DataType.U8:
        return 0, 255
    return (-128, 127) if dtype is DataType.I8 else None


__all__ = ["narrow"]
