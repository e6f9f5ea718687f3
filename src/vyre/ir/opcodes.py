"""The opcodes of the language, one row each.

Inference, text, wire, conformance cases and the reference page follow from these rows. A row says
how the opcode is spelled, which operand types it takes, what it gives, which laws it obeys, and
its tag in the wire format (never reused).
"""

from __future__ import annotations

from enum import Enum

from vyre.ir.types import ARITHMETIC_FLOATS, INTEGER_TYPES, SCALAR_TYPES, DataType
from vyre.record import dataclass


class Result(Enum):
    """The type of a result, given that all operands have the same type."""

    OPERAND = "operand"
    BOOL = "bool"


# Every row is itself alone: an enumeration compares each of its values with all before it.
@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """What is known of one opcode."""

    tag: int
    spelling: str
    """An infix or prefix symbol, or the name of a function in program text."""
    operands: frozenset[DataType]
    meaning: str
    result: Result = Result.OPERAND
    commutative: bool = False
    associative: bool = False
    """Exactly so; floating-point addition is not."""
    idempotent: bool = False
    approximate: bool = False
    """Results carry an ULP bound instead of being correctly rounded."""


_INTS = frozenset(INTEGER_TYPES)
_FLOATS = frozenset(ARITHMETIC_FLOATS)
_NUMBERS = _INTS | _FLOATS
_BITS = _INTS | {DataType.BOOL}
_ALL = frozenset(SCALAR_TYPES)
_ORDERED = _ALL - {DataType.BOOL, DataType.BF16}


def _compare(tag: int, spelling: str, operands: frozenset[DataType], meaning: str) -> Row:
    commutes = spelling in ("==", "!=")
    return Row(tag, spelling, operands, meaning, Result.BOOL, commutative=commutes)


def _function(tag: int, spelling: str, meaning: str) -> Row:
    return Row(tag, spelling, _FLOATS, meaning, approximate=True)


class Opcode(Enum):
    """Base of the tables below: a member's value is its row."""

    @property
    def row(self) -> Row:
        """What is known of this opcode."""
        return self._value_  # `value` goes through two more calls, and this is asked everywhere

    def __repr__(self) -> str:
        return str(self)

    __hash__ = object.__hash__

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return getattr, (type(self), self.name)


class BinOp(Opcode):
    """Opcodes of two operands of one type."""

    ADD = Row(1, "+", _NUMBERS, "sum, wrapping", commutative=True)
    SUB = Row(2, "-", _NUMBERS, "difference, wrapping")
    MUL = Row(3, "*", _NUMBERS, "product, wrapping", commutative=True)
    DIV = Row(4, "/", _NUMBERS, "quotient, toward zero for integers; x/0 is all ones")
    REM = Row(5, "%", _INTS, "remainder with the sign of the dividend; x%0 is 0")
    AND = Row(6, "&", _BITS, "and", commutative=True, associative=True, idempotent=True)
    OR = Row(7, "|", _BITS, "or", commutative=True, associative=True, idempotent=True)
    XOR = Row(8, "^", _BITS, "exclusive or", commutative=True, associative=True)
    SHL = Row(9, "<<", _INTS, "shift left, amount masked to the width")
    SHR = Row(10, ">>", _INTS, "shift right, arithmetic if signed, amount masked to the width")
    ROTL = Row(11, "rotl", _INTS, "rotate left, amount masked to the width")
    ROTR = Row(12, "rotr", _INTS, "rotate right, amount masked to the width")
    MIN = Row(13, "min", _NUMBERS, "lesser; a NaN operand is ignored", commutative=True)
    MAX = Row(14, "max", _NUMBERS, "greater; a NaN operand is ignored", commutative=True)
    EQ = _compare(15, "==", _ALL, "equal")
    NE = _compare(16, "!=", _ALL, "not equal")
    LT = _compare(17, "<", _ORDERED, "less")
    LE = _compare(18, "<=", _ORDERED, "less or equal")
    GT = _compare(19, ">", _ORDERED, "greater")
    GE = _compare(20, ">=", _ORDERED, "greater or equal")
    ADD_SAT = Row(21, "add_sat", _INTS, "sum, held at the type's ends", commutative=True)
    SUB_SAT = Row(22, "sub_sat", _INTS, "difference, held at the type's ends")
    MUL_HI = Row(23, "mul_hi", _INTS, "upper half of the double-width product", commutative=True)
    POW = _function(24, "pow", "x to the power of y")
    ATAN2 = _function(25, "atan2", "angle of the point (y, x)")
    COPYSIGN = Row(26, "copysign", _FLOATS, "magnitude of x with the sign of y")
    MINIMUM = Row(27, "minimum", _FLOATS, "lesser; NaN if an operand is NaN", commutative=True)
    MAXIMUM = Row(28, "maximum", _FLOATS, "greater; NaN if an operand is NaN", commutative=True)


COMPARISONS = frozenset({BinOp.EQ, BinOp.NE, BinOp.LT, BinOp.LE, BinOp.GT, BinOp.GE})
NEGATED = {
    BinOp.EQ: BinOp.NE,
    BinOp.NE: BinOp.EQ,
    BinOp.LT: BinOp.GE,
    BinOp.GE: BinOp.LT,
    BinOp.GT: BinOp.LE,
    BinOp.LE: BinOp.GT,
}
"""`not (a OP b)` is `a NEGATED[OP] b`; of floats only for EQ and NE, because NaN is unordered."""
MIRRORED = {
    BinOp.EQ: BinOp.EQ,
    BinOp.NE: BinOp.NE,
    BinOp.LT: BinOp.GT,
    BinOp.GT: BinOp.LT,
    BinOp.LE: BinOp.GE,
    BinOp.GE: BinOp.LE,
}
"""`a OP b` is `b MIRRORED[OP] a`."""


class UnOp(Opcode):
    """Opcodes of one operand."""

    NEG = Row(1, "-", _NUMBERS, "negation, wrapping")
    NOT = Row(2, "~", _BITS, "complement; logical not of a bool")
    ABS = Row(3, "abs", _NUMBERS, "magnitude, wrapping: abs(MIN) is MIN", idempotent=True)
    POPCOUNT = Row(4, "popcount", _INTS, "number of one bits")
    CLZ = Row(5, "clz", _INTS, "leading zero bits; the width for 0")
    CTZ = Row(6, "ctz", _INTS, "trailing zero bits; the width for 0")
    REVERSE_BITS = Row(7, "reverse_bits", _INTS, "bits in the opposite order")
    BYTE_SWAP = Row(8, "byte_swap", _INTS, "bytes in the opposite order")
    FLOOR = Row(9, "floor", _FLOATS, "greatest integer not above", idempotent=True)
    CEIL = Row(10, "ceil", _FLOATS, "least integer not below", idempotent=True)
    TRUNC = Row(11, "trunc", _FLOATS, "integer part", idempotent=True)
    ROUND = Row(12, "round", _FLOATS, "nearest integer, half away from zero", idempotent=True)
    ROUND_EVEN = Row(13, "round_even", _FLOATS, "nearest integer, half to even", idempotent=True)
    SQRT = Row(14, "sqrt", _FLOATS, "square root, correctly rounded")
    RSQRT = _function(15, "rsqrt", "1 / square root")
    EXP = _function(16, "exp", "e to the power of x")
    EXP2 = _function(17, "exp2", "2 to the power of x")
    EXPM1 = _function(18, "expm1", "e to the power of x, minus 1")
    LOG = _function(19, "log", "natural logarithm")
    LOG2 = _function(20, "log2", "logarithm to base 2")
    LOG10 = _function(21, "log10", "logarithm to base 10")
    LOG1P = _function(22, "log1p", "natural logarithm of 1 + x")
    SIN = _function(23, "sin", "sine")
    COS = _function(24, "cos", "cosine")
    TAN = _function(25, "tan", "tangent")
    ASIN = _function(26, "asin", "arc sine")
    ACOS = _function(27, "acos", "arc cosine")
    ATAN = _function(28, "atan", "arc tangent")
    SINH = _function(29, "sinh", "hyperbolic sine")
    COSH = _function(30, "cosh", "hyperbolic cosine")
    TANH = _function(31, "tanh", "hyperbolic tangent")
    IS_NAN = Row(32, "is_nan", _FLOATS, "whether it is not a number", Result.BOOL)
    IS_INF = Row(33, "is_inf", _FLOATS, "whether it is infinite", Result.BOOL)
    IS_FINITE = Row(34, "is_finite", _FLOATS, "whether it is neither", Result.BOOL)


ATOMIC_INTEGERS = frozenset({DataType.U32, DataType.I32, DataType.U64, DataType.I64})
_ATOMIC_NUMBERS = ATOMIC_INTEGERS | {DataType.F32}


class AtomicOp(Opcode):
    """Indivisible read-modify-write operations; each returns the old value."""

    ADD = Row(1, "atomic_add", _ATOMIC_NUMBERS, "old + value", commutative=True)
    SUB = Row(2, "atomic_sub", ATOMIC_INTEGERS, "old - value")
    AND = Row(3, "atomic_and", ATOMIC_INTEGERS, "old & value", commutative=True)
    OR = Row(4, "atomic_or", ATOMIC_INTEGERS, "old | value", commutative=True)
    XOR = Row(5, "atomic_xor", ATOMIC_INTEGERS, "old ^ value", commutative=True)
    MIN = Row(6, "atomic_min", _ATOMIC_NUMBERS, "lesser of old and value", commutative=True)
    MAX = Row(7, "atomic_max", _ATOMIC_NUMBERS, "greater of old and value", commutative=True)
    EXCHANGE = Row(8, "atomic_exchange", _ATOMIC_NUMBERS, "value")
    COMPARE_EXCHANGE = Row(
        9, "atomic_compare_exchange", ATOMIC_INTEGERS, "value if old is as expected, else old"
    )


class ReduceOp(Opcode):
    """How a subgroup or a collective joins values."""

    ADD = Row(1, "add", _NUMBERS, "sum", commutative=True)
    MUL = Row(2, "mul", _NUMBERS, "product", commutative=True)
    MIN = Row(3, "min", _NUMBERS, "least", commutative=True)
    MAX = Row(4, "max", _NUMBERS, "greatest", commutative=True)
    AND = Row(5, "and", _BITS, "and", commutative=True, associative=True)
    OR = Row(6, "or", _BITS, "or", commutative=True, associative=True)
    XOR = Row(7, "xor", _BITS, "exclusive or", commutative=True, associative=True)


class BuiltinKind(Enum):
    """Values that every invocation is given; all are `u32`."""

    GLOBAL_ID = "gid"
    LOCAL_ID = "lid"
    WORKGROUP_ID = "wid"
    NUM_WORKGROUPS = "num_workgroups"
    SUBGROUP_SIZE = "subgroup_size"
    SUBGROUP_LANE = "subgroup_lane"

    @property
    def has_axis(self) -> bool:
        """Whether it exists along x, y and z."""
        return self not in (BuiltinKind.SUBGROUP_SIZE, BuiltinKind.SUBGROUP_LANE)


class MemoryOrdering(Enum):
    """How strongly an atomic or a barrier orders memory around it."""

    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SEQ_CST = "seq_cst"
    GRID_SYNC = "grid_sync"
    """Barriers only: all invocations of the whole grid."""
