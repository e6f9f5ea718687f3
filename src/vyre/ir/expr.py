"""Expressions: the closed family of values a kernel computes, and how they are built.

`Expr` is the base and the front door (`Expr.u32(1)`, `a + b`, `a < b`); the classes below it are
what passes and backends match on, and `AnyExpr` is their union. Operands are evaluated left to
right, in the order of the fields, and always all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never, cast

from vyre.diagnostics import BuildError
from vyre.diagnostics.codes import build as codes
from vyre.ir import literal
from vyre.ir.names import checked_name
from vyre.ir.node import MAX_EXPR_DEPTH, Tree, node
from vyre.ir.opcodes import AtomicOp, BinOp, BuiltinKind, MemoryOrdering, ReduceOp, UnOp
from vyre.ir.types import DataType


def as_expr(value: object, what: str) -> AnyExpr:
    """`value`, if it is an expression."""
    if isinstance(value, Expr):
        return cast("AnyExpr", value)
    raise BuildError(codes.NOT_AN_EXPRESSION.at(what=what, found=_describe(value)))


def as_index(value: object, what: str) -> AnyExpr:
    """`value` as an index: an expression, or a Python integer taken as `u32`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Lit(DataType.U32, literal.encode(value, DataType.U32))
    return as_expr(value, what)


def _describe(value: object) -> str:
    return f"{type(value).__name__} {value!r}"[:80]


class Expr(Tree):
    """An expression. The class methods build every kind; operators build the usual ones."""

    __slots__ = ()

    max_depth = MAX_EXPR_DEPTH

    @classmethod
    def lit(cls, value: float, dtype: DataType) -> Lit:
        """A literal of any scalar type."""
        return Lit(dtype, literal.encode(value, dtype))

    @classmethod
    def bool_(cls, value: bool) -> Lit:
        """A `bool` literal."""
        return cls.lit(value, DataType.BOOL)

    @classmethod
    def u8(cls, value: int) -> Lit:
        """A `u8` literal."""
        return cls.lit(value, DataType.U8)

    @classmethod
    def i8(cls, value: int) -> Lit:
        """An `i8` literal."""
        return cls.lit(value, DataType.I8)

    @classmethod
    def u16(cls, value: int) -> Lit:
        """A `u16` literal."""
        return cls.lit(value, DataType.U16)

    @classmethod
    def i16(cls, value: int) -> Lit:
        """An `i16` literal."""
        return cls.lit(value, DataType.I16)

    @classmethod
    def u32(cls, value: int) -> Lit:
        """A `u32` literal."""
        return cls.lit(value, DataType.U32)

    @classmethod
    def i32(cls, value: int) -> Lit:
        """An `i32` literal."""
        return cls.lit(value, DataType.I32)

    @classmethod
    def u64(cls, value: int) -> Lit:
        """A `u64` literal."""
        return cls.lit(value, DataType.U64)

    @classmethod
    def i64(cls, value: int) -> Lit:
        """An `i64` literal."""
        return cls.lit(value, DataType.I64)

    @classmethod
    def f16(cls, value: float) -> Lit:
        """An `f16` literal."""
        return cls.lit(value, DataType.F16)

    @classmethod
    def bf16(cls, value: float) -> Lit:
        """A `bf16` literal."""
        return cls.lit(value, DataType.BF16)

    @classmethod
    def f32(cls, value: float) -> Lit:
        """An `f32` literal."""
        return cls.lit(value, DataType.F32)

    @classmethod
    def f64(cls, value: float) -> Lit:
        """An `f64` literal."""
        return cls.lit(value, DataType.F64)

    @classmethod
    def var(cls, name: str) -> Var:
        """The value of a variable."""
        return Var(checked_name(name, "a variable"))

    @classmethod
    def load(cls, buffer: str, index: Expr | int) -> Load:
        """An element of a buffer; zero when `index` is out of bounds."""
        return Load(checked_name(buffer, "a buffer"), as_index(index, "an index"))

    @classmethod
    def buf_len(cls, buffer: str) -> BufLen:
        """The number of elements of a buffer, as `u32`."""
        return BufLen(checked_name(buffer, "a buffer"))

    @classmethod
    def gid(cls, axis: int = 0) -> Builtin:
        """The invocation's position in the grid."""
        return Builtin(BuiltinKind.GLOBAL_ID, _axis(axis))

    @classmethod
    def local_id(cls, axis: int = 0) -> Builtin:
        """The invocation's position in its workgroup."""
        return Builtin(BuiltinKind.LOCAL_ID, _axis(axis))

    @classmethod
    def workgroup_id(cls, axis: int = 0) -> Builtin:
        """The workgroup's position in the grid."""
        return Builtin(BuiltinKind.WORKGROUP_ID, _axis(axis))

    @classmethod
    def num_workgroups(cls, axis: int = 0) -> Builtin:
        """The number of workgroups along an axis."""
        return Builtin(BuiltinKind.NUM_WORKGROUPS, _axis(axis))

    @classmethod
    def unary(cls, op: UnOp, operand: Expr) -> Unary:
        """An opcode of one operand."""
        return Unary(op, as_expr(operand, "an operand"))

    @classmethod
    def binary(cls, op: BinOp, left: Expr, right: Expr) -> Binary:
        """An opcode of two operands."""
        return Binary(op, as_expr(left, "an operand"), as_expr(right, "an operand"))

    @classmethod
    def min_(cls, left: Expr, right: Expr) -> Binary:
        """The lesser."""
        return cls.binary(BinOp.MIN, left, right)

    @classmethod
    def max_(cls, left: Expr, right: Expr) -> Binary:
        """The greater."""
        return cls.binary(BinOp.MAX, left, right)

    @classmethod
    def fma(cls, a: Expr, b: Expr, c: Expr) -> Fma:
        """a * b + c, rounded once."""
        return Fma(as_expr(a, "an operand"), as_expr(b, "an operand"), as_expr(c, "an operand"))

    @classmethod
    def select(cls, cond: Expr, if_true: Expr, if_false: Expr) -> Select:
        """One of two values; both are evaluated."""
        return Select(
            as_expr(cond, "a condition"),
            as_expr(if_true, "an operand"),
            as_expr(if_false, "an operand"),
        )

    @classmethod
    def cast(cls, value: Expr, dtype: DataType) -> Cast:
        """The value converted to another scalar type."""
        return Cast(as_expr(value, "an operand"), dtype)

    @classmethod
    def bitcast(cls, value: Expr, dtype: DataType) -> Bitcast:
        """The same bits read as another type of the same width."""
        return Bitcast(as_expr(value, "an operand"), dtype)

    @classmethod
    def vec(cls, element: DataType, *lanes: Expr) -> MakeVec:
        """A vector from its lanes."""
        dtype = DataType.vec(element, len(lanes))
        return MakeVec(dtype, tuple(as_expr(lane, "a lane") for lane in lanes))

    @classmethod
    def lane(cls, value: Expr, index: int) -> Lane:
        """One lane of a vector."""
        return Lane(as_expr(value, "a vector"), index)

    @classmethod
    def atomic(
        cls,
        op: AtomicOp,
        buffer: str,
        index: Expr | int,
        value: Expr,
        expected: Expr | None = None,
        ordering: MemoryOrdering = MemoryOrdering.RELAXED,
    ) -> Atomic:
        """An indivisible read-modify-write of one element; gives the old value."""
        return Atomic(
            op,
            checked_name(buffer, "a buffer"),
            as_index(index, "an index"),
            as_expr(value, "an operand"),
            None if expected is None else as_expr(expected, "an operand"),
            ordering,
        )

    @classmethod
    def atomic_add(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically add; gives the old value."""
        return cls.atomic(AtomicOp.ADD, buffer, index, value)

    @classmethod
    def atomic_sub(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically subtract; gives the old value."""
        return cls.atomic(AtomicOp.SUB, buffer, index, value)

    @classmethod
    def atomic_and(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically and; gives the old value."""
        return cls.atomic(AtomicOp.AND, buffer, index, value)

    @classmethod
    def atomic_or(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically or; gives the old value."""
        return cls.atomic(AtomicOp.OR, buffer, index, value)

    @classmethod
    def atomic_xor(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically exclusive-or; gives the old value."""
        return cls.atomic(AtomicOp.XOR, buffer, index, value)

    @classmethod
    def atomic_min(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically keep the lesser; gives the old value."""
        return cls.atomic(AtomicOp.MIN, buffer, index, value)

    @classmethod
    def atomic_max(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically keep the greater; gives the old value."""
        return cls.atomic(AtomicOp.MAX, buffer, index, value)

    @classmethod
    def atomic_exchange(cls, buffer: str, index: Expr | int, value: Expr) -> Atomic:
        """Atomically replace; gives the old value."""
        return cls.atomic(AtomicOp.EXCHANGE, buffer, index, value)

    @classmethod
    def atomic_compare_exchange(
        cls, buffer: str, index: Expr | int, expected: Expr, value: Expr
    ) -> Atomic:
        """Atomically replace if the old value is `expected`; gives the old value."""
        return cls.atomic(AtomicOp.COMPARE_EXCHANGE, buffer, index, value, expected)

    @classmethod
    def subgroup_size(cls) -> Builtin:
        """How many lanes the subgroup has."""
        return Builtin(BuiltinKind.SUBGROUP_SIZE, 0)

    @classmethod
    def subgroup_lane(cls) -> Builtin:
        """The invocation's lane in its subgroup."""
        return Builtin(BuiltinKind.SUBGROUP_LANE, 0)

    @classmethod
    def subgroup_ballot(cls, cond: Expr) -> Ballot:
        """A bit per lane of the subgroup, as `vec4<u32>`."""
        return Ballot(as_expr(cond, "a condition"))

    @classmethod
    def subgroup_shuffle(cls, value: Expr, lane: Expr | int) -> Shuffle:
        """The value that another lane holds; zero when there is no such lane."""
        return Shuffle(as_expr(value, "an operand"), as_index(lane, "a lane"))

    @classmethod
    def subgroup_reduce(cls, op: ReduceOp, value: Expr) -> SubgroupReduce:
        """All values of the subgroup joined, the same in every lane."""
        return SubgroupReduce(op, as_expr(value, "an operand"))

    @classmethod
    def subgroup_add(cls, value: Expr) -> SubgroupReduce:
        """The sum over the subgroup."""
        return cls.subgroup_reduce(ReduceOp.ADD, value)

    @classmethod
    def subgroup_min(cls, value: Expr) -> SubgroupReduce:
        """The least value of the subgroup."""
        return cls.subgroup_reduce(ReduceOp.MIN, value)

    @classmethod
    def subgroup_max(cls, value: Expr) -> SubgroupReduce:
        """The greatest value of the subgroup."""
        return cls.subgroup_reduce(ReduceOp.MAX, value)

    def __bool__(self) -> Never:
        raise BuildError(codes.NO_TRUTH_VALUE.at())

    def __add__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.ADD, self, other)

    def __sub__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.SUB, self, other)

    def __mul__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.MUL, self, other)

    def __truediv__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.DIV, self, other)

    def __mod__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.REM, self, other)

    def __and__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.AND, self, other)

    def __or__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.OR, self, other)

    def __xor__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.XOR, self, other)

    def __lshift__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.SHL, self, other)

    def __rshift__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.SHR, self, other)

    def __lt__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.LT, self, other)

    def __le__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.LE, self, other)

    def __gt__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.GT, self, other)

    def __ge__(self, other: Expr) -> Binary:
        return Expr.binary(BinOp.GE, self, other)

    def __neg__(self) -> Unary:
        return Expr.unary(UnOp.NEG, self)

    def __invert__(self) -> Unary:
        return Expr.unary(UnOp.NOT, self)

    def __abs__(self) -> Unary:
        return Expr.unary(UnOp.ABS, self)

    def eq(self, other: Expr) -> Binary:
        """Whether both are equal, in the kernel; `==` compares the trees."""
        return Expr.binary(BinOp.EQ, self, other)

    def ne(self, other: Expr) -> Binary:
        """Whether both differ, in the kernel."""
        return Expr.binary(BinOp.NE, self, other)


def _axis(axis: int) -> int:
    if axis in (0, 1, 2):
        return axis
    raise BuildError(
        codes.BAD_FIELD.at(
            what="an id", field="the axis", found=axis, expected="use 0 for x, 1 for y, 2 for z"
        )
    )


@node
class Lit(Expr):
    """A literal: a type and the bits of the value."""

    dtype: DataType
    bits: int

    @property
    def value(self) -> int | float | bool:
        """The value as a Python number."""
        return literal.decode(self.bits, self.dtype)


@node
class Var(Expr):
    """The value of a variable or of a loop variable."""

    name: str


@node
class Load(Expr):
    """An element of a buffer; zero when out of bounds."""

    buffer: str
    index: AnyExpr


@node
class BufLen(Expr):
    """The number of elements of a buffer, as `u32`."""

    buffer: str


@node
class Builtin(Expr):
    """An id or a size that the invocation is given, as `u32`."""

    kind: BuiltinKind
    axis: int


@node
class Unary(Expr):
    """An opcode of one operand."""

    op: UnOp
    operand: AnyExpr


@node
class Binary(Expr):
    """An opcode of two operands of one type."""

    op: BinOp
    left: AnyExpr
    right: AnyExpr


@node
class Fma(Expr):
    """a * b + c, rounded once."""

    a: AnyExpr
    b: AnyExpr
    c: AnyExpr


@node
class Select(Expr):
    """`if_true` where `cond` holds, else `if_false`; every operand is evaluated."""

    cond: AnyExpr
    if_true: AnyExpr
    if_false: AnyExpr


@node
class Cast(Expr):
    """The value converted to another scalar type."""

    value: AnyExpr
    dtype: DataType


@node
class Bitcast(Expr):
    """The same bits read as another type of the same width."""

    value: AnyExpr
    dtype: DataType


@node
class MakeVec(Expr):
    """A vector from its lanes."""

    dtype: DataType
    lanes: tuple[AnyExpr, ...]


@node
class Lane(Expr):
    """One lane of a vector, counted from zero."""

    value: AnyExpr
    index: int


@node
class Atomic(Expr):
    """An indivisible read-modify-write of one element; gives the old value.

    Out of bounds it does nothing and gives zero. `expected` is there for compare-exchange only.
    """

    op: AtomicOp
    buffer: str
    index: AnyExpr
    value: AnyExpr
    expected: AnyExpr | None
    ordering: MemoryOrdering


@node
class Ballot(Expr):
    """A bit per lane of the subgroup, as `vec4<u32>`."""

    cond: AnyExpr


@node
class Shuffle(Expr):
    """The value that another lane of the subgroup holds; zero when there is no such lane."""

    value: AnyExpr
    source: AnyExpr


@node
class SubgroupReduce(Expr):
    """All values of the subgroup joined in lane order, the same in every lane."""

    op: ReduceOp
    value: AnyExpr


AnyExpr = (
    Lit
    | Var
    | Load
    | BufLen
    | Builtin
    | Unary
    | Binary
    | Fma
    | Select
    | Cast
    | Bitcast
    | MakeVec
    | Lane
    | Atomic
    | Ballot
    | Shuffle
    | SubgroupReduce
)
"""Every kind of expression: `match` over it and end with `assert_never`."""


def as_exprs(values: Sequence[Expr], what: str) -> tuple[AnyExpr, ...]:
    """`values`, if all of them are expressions."""
    return tuple(as_expr(value, what) for value in values)
