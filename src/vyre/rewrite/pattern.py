"""The language in which rules are written: expressions with holes, built by operators.

`x + 0` is a pattern, and so are both sides and the guard of a rule:

    Rule("add_zero", x + 0, x, INTEGER_TYPES)
    Rule("mul_to_shift", x * c, x << ctz(c), INTEGER_TYPES, when=popcount(c).eq(1))

`x`, `y` and `z` stand for any expression, `c`, `d` and `e` for literals only, `p` and `q` for
truth values. All of them have the rule's type `T`, except truth values and holes made `of` another
type. A number takes the type of what it is combined with.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre.ir import BinOp, DataType, UnOp

TypeName = str | DataType
"""A type variable of the rule (`"T"`, `"S"`, `"U"`), or a type."""


class Pattern:
    """Part of a rule: a value, equal to any other of the same form.

    Classes by hand: there are a thousand of them in the tables, and each process that optimises
    makes them all.
    """

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pattern) or type(self) is not type(other):
            return False
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._fields()))})"

    def _fields(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __add__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.ADD, (self, as_pattern(other)))

    def __radd__(self, other: float) -> Apply:
        return Apply(BinOp.ADD, (as_pattern(other), self))

    def __sub__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.SUB, (self, as_pattern(other)))

    def __rsub__(self, other: float) -> Apply:
        return Apply(BinOp.SUB, (as_pattern(other), self))

    def __mul__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.MUL, (self, as_pattern(other)))

    def __truediv__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.DIV, (self, as_pattern(other)))

    def __rtruediv__(self, other: float) -> Apply:
        return Apply(BinOp.DIV, (as_pattern(other), self))

    def __mod__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.REM, (self, as_pattern(other)))

    def __rmod__(self, other: float) -> Apply:
        return Apply(BinOp.REM, (as_pattern(other), self))

    def __and__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.AND, (self, as_pattern(other)))

    def __or__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.OR, (self, as_pattern(other)))

    def __xor__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.XOR, (self, as_pattern(other)))

    def __lshift__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.SHL, (self, as_pattern(other)))

    def __rlshift__(self, other: float) -> Apply:
        return Apply(BinOp.SHL, (as_pattern(other), self))

    def __rshift__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.SHR, (self, as_pattern(other)))

    def __rrshift__(self, other: float) -> Apply:
        return Apply(BinOp.SHR, (as_pattern(other), self))

    def __lt__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.LT, (self, as_pattern(other)))

    def __le__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.LE, (self, as_pattern(other)))

    def __gt__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.GT, (self, as_pattern(other)))

    def __ge__(self, other: Pattern | float) -> Apply:
        return Apply(BinOp.GE, (self, as_pattern(other)))

    def __neg__(self) -> Apply:
        return Apply(UnOp.NEG, (self,))

    def __invert__(self) -> Apply:
        return Apply(UnOp.NOT, (self,))

    def eq(self, other: Pattern | float) -> Apply:
        """Whether both are equal in the kernel."""
        return Apply(BinOp.EQ, (self, as_pattern(other)))

    def ne(self, other: Pattern | float) -> Apply:
        """Whether both differ in the kernel."""
        return Apply(BinOp.NE, (self, as_pattern(other)))


class Hole(Pattern):
    """Stands for any expression of a type, or for any literal of it."""

    __match_args__ = __slots__ = ("name", "dtype", "constant")

    def __init__(self, name: str, dtype: TypeName = "T", constant: bool = False) -> None:
        self.name = name
        self.dtype = dtype
        self.constant = constant

    def of(self, dtype: TypeName) -> Hole:
        """The same hole with another type."""
        return Hole(self.name, dtype, self.constant)

    def __str__(self) -> str:
        return self.name


class Number(Pattern):
    """A literal whose type follows from what it is combined with."""

    __match_args__ = __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value

    def __str__(self) -> str:
        return repr(self.value)


class Special(Pattern):
    """A literal that depends on the type, such as its least value."""

    __match_args__ = __slots__ = ("label", "bits", "dtype")

    def __init__(
        self, label: str, bits: Callable[[DataType], int], dtype: DataType | None = None
    ) -> None:
        self.label = label
        self.bits = bits
        self.dtype = dtype
        """Its type, when that does not follow from what it is combined with."""

    def __str__(self) -> str:
        return self.label


class Apply(Pattern):
    """An opcode on one or two operands."""

    __match_args__ = __slots__ = ("op", "operands")

    def __init__(self, op: UnOp | BinOp, operands: tuple[Pattern, ...]) -> None:
        self.op = op
        self.operands = operands

    def __str__(self) -> str:
        spelling = self.op.row.spelling
        shown = [str(operand) for operand in self.operands]
        if spelling[0].isalpha():
            return f"{spelling}({', '.join(shown)})"
        if len(shown) == 1:
            return f"{spelling}{shown[0]}"
        return f"({shown[0]} {spelling} {shown[1]})"


class Choose(Pattern):
    """A select."""

    __match_args__ = __slots__ = ("cond", "if_true", "if_false")

    def __init__(self, cond: Pattern, if_true: Pattern, if_false: Pattern) -> None:
        self.cond = cond
        self.if_true = if_true
        self.if_false = if_false

    def __str__(self) -> str:
        return f"select({self.cond}, {self.if_true}, {self.if_false})"


class Fused(Pattern):
    """A fused multiply-add."""

    __match_args__ = __slots__ = ("a", "b", "c")

    def __init__(self, a: Pattern, b: Pattern, c: Pattern) -> None:
        self.a = a
        self.b = b
        self.c = c

    def __str__(self) -> str:
        return f"fma({self.a}, {self.b}, {self.c})"


class Convert(Pattern):
    """A cast, or a bitcast when `keep_bits`."""

    __match_args__ = __slots__ = ("operand", "dtype", "keep_bits")

    def __init__(self, operand: Pattern, dtype: TypeName, keep_bits: bool = False) -> None:
        self.operand = operand
        self.dtype = dtype
        self.keep_bits = keep_bits

    def __str__(self) -> str:
        spelled = f"bitcast<{self.dtype}>" if self.keep_bits else str(self.dtype)
        return f"{spelled}({self.operand})"


def as_pattern(value: Pattern | float) -> Pattern:
    """`value`, or the number that it is."""
    return value if isinstance(value, Pattern) else Number(value)


def binary(op: BinOp) -> Callable[[Pattern | float, Pattern | float], Apply]:
    """A function that writes `op` in rules."""
    return lambda left, right: Apply(op, (as_pattern(left), as_pattern(right)))


def unary(op: UnOp) -> Callable[[Pattern | float], Apply]:
    """A function that writes `op` in rules."""
    return lambda operand: Apply(op, (as_pattern(operand),))


def select(cond: Pattern | float, if_true: Pattern | float, if_false: Pattern | float) -> Choose:
    """One of two values."""
    return Choose(as_pattern(cond), as_pattern(if_true), as_pattern(if_false))


def fma(a: Pattern | float, b: Pattern | float, c: Pattern | float) -> Fused:
    """a * b + c, rounded once."""
    return Fused(as_pattern(a), as_pattern(b), as_pattern(c))


def cast(operand: Pattern, dtype: TypeName) -> Convert:
    """Converted by value."""
    return Convert(operand, dtype)


def bitcast(operand: Pattern, dtype: TypeName) -> Convert:
    """The same bits."""
    return Convert(operand, dtype, keep_bits=True)


def _all_ones(dtype: DataType) -> int:
    return 1 if dtype.is_bool else (1 << _width(dtype)) - 1


def _width(dtype: DataType) -> int:
    return dtype.bits or 0


def _end(dtype: DataType, which: int) -> int:
    return dtype.integer_range[which] & _all_ones(dtype)


x, y, z = Hole("x"), Hole("y"), Hole("z")
c, d, e = Hole("c", constant=True), Hole("d", constant=True), Hole("e", constant=True)
p, q = Hole("p", DataType.BOOL), Hole("q", DataType.BOOL)
s = Hole("s", "S")

ALL_ONES = Special("ALL_ONES", _all_ones)
"""Every bit set: -1 of a signed type, the greatest value of an unsigned one."""
LEAST = Special("LEAST", lambda dtype: _end(dtype, 0))
GREATEST = Special("GREATEST", lambda dtype: _end(dtype, 1))
WIDTH = Special("WIDTH", _width)
TOP_BIT = Special("TOP_BIT", lambda dtype: _width(dtype) - 1)
"""The number of the highest bit; also the mask of shift amounts."""
SIGN = Special("SIGN", lambda dtype: 1 << (_width(dtype) - 1))
"""Only the highest bit."""
TRUE = Special("true", lambda _: 1, DataType.BOOL)
FALSE = Special("false", lambda _: 0, DataType.BOOL)

min_, max_ = binary(BinOp.MIN), binary(BinOp.MAX)
minimum, maximum = binary(BinOp.MINIMUM), binary(BinOp.MAXIMUM)
rotl, rotr = binary(BinOp.ROTL), binary(BinOp.ROTR)
add_sat, sub_sat, mul_hi = binary(BinOp.ADD_SAT), binary(BinOp.SUB_SAT), binary(BinOp.MUL_HI)
copysign = binary(BinOp.COPYSIGN)
neg = unary(UnOp.NEG)
abs_, popcount = unary(UnOp.ABS), unary(UnOp.POPCOUNT)
clz, ctz = unary(UnOp.CLZ), unary(UnOp.CTZ)
reverse_bits, byte_swap = unary(UnOp.REVERSE_BITS), unary(UnOp.BYTE_SWAP)
floor, ceil, trunc = unary(UnOp.FLOOR), unary(UnOp.CEIL), unary(UnOp.TRUNC)
round_, round_even = unary(UnOp.ROUND), unary(UnOp.ROUND_EVEN)
sqrt, rsqrt = unary(UnOp.SQRT), unary(UnOp.RSQRT)
is_nan, is_inf, is_finite = unary(UnOp.IS_NAN), unary(UnOp.IS_INF), unary(UnOp.IS_FINITE)
exp, exp2, log, log2, pow_ = (
    unary(UnOp.EXP),
    unary(UnOp.EXP2),
    unary(UnOp.LOG),
    unary(UnOp.LOG2),
    binary(BinOp.POW),
)
