"""Lowers opcodes to instructions, scalar or vector; no result is undefined in LLVM."""

from __future__ import annotations

from vyre.backends.llvm.emit.builder import (
    Builder,
    constant,
    known_integer,
    mangled,
    register_type,
    widened,
)
from vyre.backends.llvm.emit.division import (
    emit_quotient,
    emit_remainder,
    emit_shared,
)
from vyre.ir import BinOp, DataType, UnOp

_COMPARE_INT = {
    BinOp.EQ: ("eq", "eq"),
    BinOp.NE: ("ne", "ne"),
    BinOp.LT: ("ult", "slt"),
    BinOp.LE: ("ule", "sle"),
    BinOp.GT: ("ugt", "sgt"),
    BinOp.GE: ("uge", "sge"),
}
_COMPARE_FLOAT = {
    BinOp.EQ: "oeq",
    BinOp.NE: "une",
    BinOp.LT: "olt",
    BinOp.LE: "ole",
    BinOp.GT: "ogt",
    BinOp.GE: "oge",
}
_PLAIN_INT = {
    BinOp.ADD: "add",
    BinOp.SUB: "sub",
    BinOp.MUL: "mul",
    BinOp.AND: "and",
    BinOp.OR: "or",
    BinOp.XOR: "xor",
}
_PLAIN_FLOAT = {
    BinOp.ADD: "fadd",
    BinOp.SUB: "fsub",
    BinOp.MUL: "fmul",
    BinOp.DIV: "fdiv",
}
_FLOAT_INTRINSICS = {
    UnOp.ABS: "fabs",
    UnOp.FLOOR: "floor",
    UnOp.CEIL: "ceil",
    UnOp.TRUNC: "trunc",
    UnOp.ROUND: "round",
    UnOp.ROUND_EVEN: "roundeven",
    UnOp.SQRT: "sqrt",
}
_EXTREMES = frozenset({BinOp.MIN, BinOp.MAX, BinOp.MINIMUM, BinOp.MAXIMUM})
_BIT_INTRINSICS = {UnOp.POPCOUNT: "ctpop", UnOp.REVERSE_BITS: "bitreverse"}


class Arithmetic:
    """Emits opcodes into a builder."""

    def __init__(self, writer: Builder, fast_math: bool) -> None:
        self.w = writer
        self.flags = "fast " if fast_math else ""

    def binary(self, op: BinOp, dtype: DataType, lanes: int, a: str, b: str) -> str:
        """Emit a binary opcode; returns its result."""
        if op in _COMPARE_INT:
            return self.compare(op, dtype, lanes, a, b)
        if dtype.is_float:
            return self._binary_float(op, dtype, lanes, a, b)
        return self._binary_int(op, dtype, lanes, a, b)

    def compare(self, op: BinOp, dtype: DataType, lanes: int, a: str, b: str) -> str:
        """Emit a comparison; the result is an i1 or one per lane."""
        if dtype.is_float:
            if dtype is DataType.BF16:
                a, b = self.bf16_to_f32(lanes, a), self.bf16_to_f32(lanes, b)
                dtype = DataType.F32
            type_ = register_type(dtype, lanes)
            return self.w.emit(f"fcmp {self.flags}{_COMPARE_FLOAT[op]} {type_} {a}, {b}")
        predicate = _COMPARE_INT[op][dtype.is_signed]
        return self.w.emit(f"icmp {predicate} {register_type(dtype, lanes)} {a}, {b}")

    def _binary_float(self, op: BinOp, dtype: DataType, lanes: int, a: str, b: str) -> str:
        type_ = register_type(dtype, lanes)
        if op in _PLAIN_FLOAT:
            return self.w.emit(f"{_PLAIN_FLOAT[op]} {self.flags}{type_} {a}, {b}")
        if op is BinOp.COPYSIGN:
            return self.w.intrinsic("copysign", type_, a, b)
        if op in _EXTREMES:
            return self._extreme(op, dtype, lanes, a, b)
        raise AssertionError(op)

    def _extreme(self, op: BinOp, dtype: DataType, lanes: int, a: str, b: str) -> str:
        """Emit a minimum or maximum; -0 is less than +0.

        Comparing the bits as integers orders the zeros. Every comparison with a NaN is false, so
        that the second operand is taken, even if the first is the right one.
        """
        least = op in (BinOp.MIN, BinOp.MINIMUM)
        type_ = register_type(dtype, lanes)
        if self.flags:
            return self.w.intrinsic("minnum" if least else "maxnum", type_, a, b)
        w = self.w
        bits = widened(f"i{dtype.bits}", lanes)
        order = "olt" if least else "ogt"
        first = w.emit(f"fcmp {order} {type_} {a}, {b}")
        # A NaN yields to the other operand, or is propagated.
        wrong = b if op in (BinOp.MIN, BinOp.MAX) else a
        is_nan = w.emit(f"fcmp uno {type_} {wrong}, {wrong}")
        equal = w.emit(f"fcmp oeq {type_} {a}, {b}")
        a_bits = w.emit(f"bitcast {type_} {a} to {bits}")
        b_bits = w.emit(f"bitcast {type_} {b} to {bits}")
        joined = w.emit(f"{'or' if least else 'and'} {bits} {a_bits}, {b_bits}")
        same = w.emit(f"bitcast {bits} {joined} to {type_}")
        flag = widened("i1", lanes)
        take_a = w.emit(f"or {flag} {first}, {is_nan}")
        picked = w.emit(f"select {flag} {take_a}, {type_} {a}, {type_} {b}")
        return w.emit(f"select {flag} {equal}, {type_} {same}, {type_} {picked}")

    def _binary_int(self, op: BinOp, dtype: DataType, lanes: int, a: str, b: str) -> str:
        type_ = register_type(dtype, lanes)
        w = self.w
        if op in _PLAIN_INT:
            return w.emit(f"{_PLAIN_INT[op]} {type_} {a}, {b}")
        if op in (BinOp.DIV, BinOp.REM):
            return self._divide(op, dtype, lanes, a, b)
        bits = dtype.bits or 0
        sign = "s" if dtype.is_signed else "u"
        if op in (BinOp.SHL, BinOp.SHR):
            known = known_integer(b)
            if known is not None:
                amount = constant(f"i{bits}", known & (bits - 1), lanes)
            else:
                amount = w.emit(f"and {type_} {b}, {constant(f'i{bits}', bits - 1, lanes)}")
            shift = "shl" if op is BinOp.SHL else "ashr" if dtype.is_signed else "lshr"
            return w.emit(f"{shift} {type_} {a}, {amount}")
        if op in (BinOp.ROTL, BinOp.ROTR):
            return w.intrinsic("fshl" if op is BinOp.ROTL else "fshr", type_, a, a, b)
        if op in (BinOp.MIN, BinOp.MAX):
            return w.intrinsic(f"{sign}{'min' if op is BinOp.MIN else 'max'}", type_, a, b)
        if op is BinOp.ADD_SAT:
            return w.intrinsic(f"{sign}add.sat", type_, a, b)
        if op is BinOp.SUB_SAT:
            return w.intrinsic(f"{sign}sub.sat", type_, a, b)
        if op is BinOp.MUL_HI:
            return self._high_half(dtype, lanes, a, b)
        raise AssertionError(op)

    def _divide(self, op: BinOp, dtype: DataType, lanes: int, a: str, b: str) -> str:
        """Emit division that never traps: x/0 is all ones, x%0 is 0, MIN/-1 is MIN."""
        w = self.w
        scalar = f"i{dtype.bits}"
        type_ = widened(scalar, lanes)
        flag = widened("i1", lanes)
        sign = "s" if dtype.is_signed else "u"
        known = known_integer(b)
        if known is not None and known % (1 << (dtype.bits or 0)) not in _odd_divisors(dtype):
            return w.emit(f"{sign}{'rem' if op is BinOp.REM else 'div'} {type_} {a}, {b}")
        zero = w.emit(f"icmp eq {type_} {b}, {constant(scalar, 0, lanes)}")
        unsafe = zero
        if dtype.is_signed:
            least = constant(scalar, dtype.integer_range[0], lanes)
            is_least = w.emit(f"icmp eq {type_} {a}, {least}")
            is_minus = w.emit(f"icmp eq {type_} {b}, {constant(scalar, -1, lanes)}")
            overflow = w.emit(f"and {flag} {is_least}, {is_minus}")
            unsafe = w.emit(f"or {flag} {zero}, {overflow}")
        one = constant(scalar, 1, lanes)
        divisor = w.emit(f"select {flag} {unsafe}, {type_} {one}, {type_} {b}")
        as_floats = lanes > 0 and (dtype.bits or 0) <= 32
        if op is BinOp.REM:
            if as_floats:
                return emit_remainder(w, dtype, lanes, a, divisor)
            return w.emit(f"{sign}rem {type_} {a}, {divisor}")
        if as_floats:
            quotient = emit_quotient(w, dtype, lanes, a, divisor)
        else:
            quotient = w.emit(f"{sign}div {type_} {a}, {divisor}")
        ones = constant(scalar, -1, lanes)
        return w.emit(f"select {flag} {zero}, {type_} {ones}, {type_} {quotient}")

    def divide_by_shared(self, op: BinOp, lanes: int, a: str, divisor: str) -> str:
        """Emit vector division of `u64`s by a uniform divisor; same rules."""
        return emit_shared(self.w, op, lanes, a, divisor)

    def _high_half(self, dtype: DataType, lanes: int, a: str, b: str) -> str:
        bits = dtype.bits or 0
        type_ = widened(f"i{bits}", lanes)
        wide = widened(f"i{2 * bits}", lanes)
        extend = "sext" if dtype.is_signed else "zext"
        w = self.w
        x = w.emit(f"{extend} {type_} {a} to {wide}")
        y = w.emit(f"{extend} {type_} {b} to {wide}")
        product = w.emit(f"mul {wide} {x}, {y}")
        upper = w.emit(f"lshr {wide} {product}, {constant(f'i{2 * bits}', bits, lanes)}")
        return w.emit(f"trunc {wide} {upper} to {type_}")

    def unary(self, op: UnOp, dtype: DataType, lanes: int, a: str) -> str:
        """Emit a unary opcode that is not approximate."""
        w = self.w
        type_ = register_type(dtype, lanes)
        scalar = register_type(dtype)
        if op is UnOp.NOT:
            return w.emit(f"xor {type_} {a}, {constant(scalar, -1, lanes)}")
        if dtype.is_float:
            return self._unary_float(op, dtype, lanes, a)
        if op is UnOp.NEG:
            return w.emit(f"sub {type_} {constant(scalar, 0, lanes)}, {a}")
        if op is UnOp.ABS:
            return w.intrinsic("abs", type_, a, extra="i1 false") if dtype.is_signed else a
        if op in _BIT_INTRINSICS:
            return w.intrinsic(_BIT_INTRINSICS[op], type_, a)
        if op in (UnOp.CLZ, UnOp.CTZ):
            name = "ctlz" if op is UnOp.CLZ else "cttz"
            return w.intrinsic(name, type_, a, extra="i1 false")
        if op is UnOp.BYTE_SWAP:
            return a if dtype.bits == 8 else w.intrinsic("bswap", type_, a)
        raise AssertionError(op)

    def _unary_float(self, op: UnOp, dtype: DataType, lanes: int, a: str) -> str:
        w = self.w
        type_ = register_type(dtype, lanes)
        if op is UnOp.NEG:
            return w.emit(f"fneg {type_} {a}")
        if op in _FLOAT_INTRINSICS:
            return w.intrinsic(_FLOAT_INTRINSICS[op], type_, a)
        if op is UnOp.IS_NAN:
            return w.emit(f"fcmp uno {type_} {a}, {a}")
        scalar = register_type(dtype)
        infinity = constant(scalar, float("inf"), lanes)
        size = w.intrinsic("fabs", type_, a)
        predicate = "oeq" if op is UnOp.IS_INF else "olt"
        return w.emit(f"fcmp {predicate} {type_} {size}, {infinity}")

    def fma(self, dtype: DataType, lanes: int, a: str, b: str, c: str) -> str:
        """Emit a * b + c, rounded once."""
        if dtype is DataType.F16:
            return self._fma_half(lanes, a, b, c)
        return self.w.intrinsic("fma", register_type(dtype, lanes), a, b, c)

    def _fma_half(self, lanes: int, a: str, b: str, c: str) -> str:
        """Emit an fma of halves through doubles.

        The product of two halves is exact in double; the sum is rounded to odd, then to half.
        """
        w = self.w
        half, wide = widened("half", lanes), widened("double", lanes)
        x, y, z = (w.emit(f"fpext {half} {v} to {wide}") for v in (a, b, c))
        exact = w.emit(f"fmul {wide} {x}, {y}")
        total = w.emit(f"fadd {wide} {exact}, {z}")
        # The rounding error of the sum, by Knuth: total was rounded unless it is zero.
        back = w.emit(f"fsub {wide} {total}, {exact}")
        rest = w.emit(f"fsub {wide} {total}, {back}")
        left = w.emit(f"fsub {wide} {exact}, {rest}")
        right = w.emit(f"fsub {wide} {z}, {back}")
        error = w.emit(f"fadd {wide} {left}, {right}")
        return self.double_to_half(lanes, self._to_odd(lanes, total, error))

    def _to_odd(self, lanes: int, value: str, error: str) -> str:
        w = self.w
        wide, bits = widened("double", lanes), widened("i64", lanes)
        flag = widened("i1", lanes)
        zero = constant("double", 0.0, lanes)
        inexact = w.emit(f"fcmp one {wide} {error}, {zero}")
        up = w.emit(f"fcmp ogt {wide} {error}, {zero}")
        positive = w.emit(f"fcmp ogt {wide} {value}, {zero}")
        outward = w.emit(f"icmp eq {flag} {up}, {positive}")
        raw = w.emit(f"bitcast {wide} {value} to {bits}")
        inward = w.emit(f"sub {bits} {raw}, {constant('i64', 1, lanes)}")
        cut = w.emit(f"select {flag} {outward}, {bits} {raw}, {bits} {inward}")
        odd = w.emit(f"or {bits} {cut}, {constant('i64', 1, lanes)}")
        chosen = w.emit(f"select {flag} {inexact}, {bits} {odd}, {bits} {raw}")
        return w.emit(f"bitcast {bits} {chosen} to {wide}")

    def double_to_float_odd(self, lanes: int, value: str) -> str:
        """Emit a double as a float rounded to odd.

        That makes a second rounding harmless.
        """
        w = self.w
        wide, narrow, bits = (widened(t, lanes) for t in ("double", "float", "i32"))
        flag = widened("i1", lanes)
        rounded = w.emit(f"fptrunc {wide} {value} to {narrow}")
        back = w.emit(f"fpext {narrow} {rounded} to {wide}")
        inexact = w.emit(f"fcmp one {wide} {back}, {value}")
        size_back = w.intrinsic("fabs", wide, back)
        size = w.intrinsic("fabs", wide, value)
        away = w.emit(f"fcmp ogt {wide} {size_back}, {size}")
        raw = w.emit(f"bitcast {narrow} {rounded} to {bits}")
        inward = w.emit(f"sub {bits} {raw}, {constant('i32', 1, lanes)}")
        cut = w.emit(f"select {flag} {away}, {bits} {inward}, {bits} {raw}")
        odd = w.emit(f"or {bits} {cut}, {constant('i32', 1, lanes)}")
        chosen = w.emit(f"select {flag} {inexact}, {bits} {odd}, {bits} {raw}")
        return w.emit(f"bitcast {bits} {chosen} to {narrow}")

    def double_to_half(self, lanes: int, value: str) -> str:
        """Emit a double as a half, rounded once."""
        narrow = widened("float", lanes)
        odd = self.double_to_float_odd(lanes, value)
        return self.w.emit(f"fptrunc {narrow} {odd} to {widened('half', lanes)}")

    def bf16_to_f32(self, lanes: int, value: str) -> str:
        """Emit the bits of a bf16 as a float."""
        w = self.w
        short, bits = widened("i16", lanes), widened("i32", lanes)
        wide = w.emit(f"zext {short} {value} to {bits}")
        moved = w.emit(f"shl {bits} {wide}, {constant('i32', 16, lanes)}")
        return w.emit(f"bitcast {bits} {moved} to {widened('float', lanes)}")

    def f32_to_bf16(self, lanes: int, value: str) -> str:
        """Emit a float as bf16 bits, rounded to nearest even; NaN stays NaN."""
        w = self.w
        narrow, bits = widened("float", lanes), widened("i32", lanes)
        flag = widened("i1", lanes)
        raw = w.emit(f"bitcast {narrow} {value} to {bits}")
        upper = w.emit(f"lshr {bits} {raw}, {constant('i32', 16, lanes)}")
        odd = w.emit(f"and {bits} {upper}, {constant('i32', 1, lanes)}")
        bias = w.emit(f"add {bits} {odd}, {constant('i32', 0x7FFF, lanes)}")
        summed = w.emit(f"add {bits} {raw}, {bias}")
        rounded = w.emit(f"lshr {bits} {summed}, {constant('i32', 16, lanes)}")
        nan = w.emit(f"fcmp uno {narrow} {value}, {value}")
        quiet = constant("i32", 0x7FC0, lanes)
        chosen = w.emit(f"select {flag} {nan}, {bits} {quiet}, {bits} {rounded}")
        return w.emit(f"trunc {bits} {chosen} to {widened('i16', lanes)}")


def _odd_divisors(dtype: DataType) -> tuple[int, ...]:
    """Bits of divisors undefined in LLVM's division: 0, and -1 for signed types."""
    return (0, (1 << (dtype.bits or 0)) - 1) if dtype.is_signed else (0,)


def reduce_any(writer: Builder, type_: str, value: str) -> str:
    """Emit whether any bit of any lane is set, an i1."""
    element = type_.partition(" x ")[2][:-1]
    joined = writer.call(f"llvm.vector.reduce.or.{mangled(type_)}", element, (type_, value))
    return writer.emit(f"icmp ne {element} {joined}, 0")
