"""The second definition of every opcode: plain Python integers and fractions, one value at a time.

Nothing here uses numpy or the definitions in the source. Floats are bits; a finite one stands for
an exact fraction, and every rounding is done here by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from vyre.ir import BinOp, DataType, UnOp


@dataclass(frozen=True)
class Format:
    """A binary float: digits of the significand (the hidden one included) and exponent bits."""

    digits: int
    exponent_bits: int

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def width(self) -> int:
        return self.digits + self.exponent_bits

    @property
    def sign_bit(self) -> int:
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << (self.digits - 1)

    @property
    def nan(self) -> int:
        return self.infinity | 1 << (self.digits - 2)


FORMATS = {
    DataType.F16: Format(11, 5),
    DataType.BF16: Format(8, 8),
    DataType.F32: Format(24, 8),
    DataType.F64: Format(53, 11),
}


def is_nan(form: Format, bits: int) -> bool:
    return bits & (form.sign_bit - 1) > form.infinity


def is_inf(form: Format, bits: int) -> bool:
    return bits & (form.sign_bit - 1) == form.infinity


def is_zero(form: Format, bits: int) -> bool:
    return bits & (form.sign_bit - 1) == 0


def negative(form: Format, bits: int) -> bool:
    return bool(bits & form.sign_bit)


def fraction(form: Format, bits: int) -> Fraction:
    """The exact value of finite bits."""
    magnitude = bits & (form.sign_bit - 1)
    exponent, mantissa = magnitude >> (form.digits - 1), magnitude & ((1 << (form.digits - 1)) - 1)
    if exponent:
        mantissa |= 1 << (form.digits - 1)
    scale = max(exponent, 1) - form.bias - (form.digits - 1)
    value = Fraction(mantissa) * Fraction(2) ** scale
    return -value if negative(form, bits) else value


def rounded(form: Format, value: Fraction, zero_sign: bool = False) -> int:
    """To nearest even; beyond the greatest value it is an infinity."""
    if value == 0:
        return form.sign_bit if zero_sign else 0
    sign = form.sign_bit if value < 0 else 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - form.bias)
    unit = Fraction(2) ** (exponent - form.digits + 1)
    steps = round(size / unit)
    # Whole steps of the unit count straight into the bits, carries included.
    bits = ((exponent + form.bias - 1) << (form.digits - 1)) + steps
    return sign | min(bits, form.infinity)


# --- integers -------------------------------------------------------------------------------------


def wrap(dtype: DataType, value: int) -> int:
    bits = dtype.bits or 0
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.is_signed and value >> (bits - 1) else value


def saturate(dtype: DataType, value: int) -> int:
    low, high = dtype.integer_range
    return min(max(value, low), high)


def _truncated(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def integer_binary(op: BinOp, dtype: DataType, a: int, b: int) -> int | bool:
    bits = dtype.bits or 0
    mask, amount = (1 << bits) - 1, b % bits
    raw = a & mask
    table = {
        BinOp.ADD: lambda: a + b,
        BinOp.SUB: lambda: a - b,
        BinOp.MUL: lambda: a * b,
        BinOp.DIV: lambda: _truncated(a, b) if b else -1,
        BinOp.REM: lambda: a - b * _truncated(a, b) if b else 0,
        BinOp.AND: lambda: a & b,
        BinOp.OR: lambda: a | b,
        BinOp.XOR: lambda: a ^ b,
        BinOp.SHL: lambda: a << amount,
        BinOp.SHR: lambda: a >> amount,
        BinOp.ROTL: lambda: raw << amount | raw >> (bits - amount),
        BinOp.ROTR: lambda: raw >> amount | raw << (bits - amount),
        BinOp.MIN: lambda: min(a, b),
        BinOp.MAX: lambda: max(a, b),
        BinOp.ADD_SAT: lambda: saturate(dtype, a + b),
        BinOp.SUB_SAT: lambda: saturate(dtype, a - b),
        BinOp.MUL_HI: lambda: (a * b) >> bits,
    }
    if op in COMPARISONS:
        return COMPARISONS[op](a, b)
    return wrap(dtype, table[op]())


COMPARISONS = {
    BinOp.EQ: lambda a, b: a == b,
    BinOp.NE: lambda a, b: a != b,
    BinOp.LT: lambda a, b: a < b,
    BinOp.LE: lambda a, b: a <= b,
    BinOp.GT: lambda a, b: a > b,
    BinOp.GE: lambda a, b: a >= b,
}


def integer_unary(op: UnOp, dtype: DataType, a: int) -> int:
    bits = dtype.bits or 0
    raw = a & ((1 << bits) - 1)
    digits = f"{raw:0{bits}b}"
    table = {
        UnOp.NEG: lambda: -a,
        UnOp.NOT: lambda: ~a,
        UnOp.ABS: lambda: abs(a),
        UnOp.POPCOUNT: lambda: digits.count("1"),
        UnOp.CLZ: lambda: bits - len(digits.lstrip("0")),
        UnOp.CTZ: lambda: bits - len(digits.rstrip("0")),
        UnOp.REVERSE_BITS: lambda: int(digits[::-1], 2),
        UnOp.BYTE_SWAP: lambda: int.from_bytes(raw.to_bytes(bits // 8, "little"), "big"),
    }
    return wrap(dtype, table[op]())


# --- floats ---------------------------------------------------------------------------------------


def _order(form: Format, bits: int) -> int:
    """A number that grows with the value; -0 comes before +0."""
    magnitude = bits & (form.sign_bit - 1)
    return -magnitude - 1 if negative(form, bits) else magnitude


def float_compare(op: BinOp, form: Format, a: int, b: int) -> bool:
    if is_nan(form, a) or is_nan(form, b):
        return op is BinOp.NE
    if is_zero(form, a) and is_zero(form, b):
        return COMPARISONS[op](0, 0)
    return COMPARISONS[op](_order(form, a), _order(form, b))


def float_binary(op: BinOp, form: Format, a: int, b: int) -> int:
    if op is BinOp.COPYSIGN:
        return a & (form.sign_bit - 1) | b & form.sign_bit
    if op in (BinOp.MIN, BinOp.MAX):
        if is_nan(form, a) or is_nan(form, b):
            return b if is_nan(form, a) else a
        pick = min if op is BinOp.MIN else max
        return pick(a, b, key=lambda bits: _order(form, bits))
    if is_nan(form, a) or is_nan(form, b):
        return form.nan
    if op in (BinOp.MINIMUM, BinOp.MAXIMUM):
        pick = min if op is BinOp.MINIMUM else max
        return pick(a, b, key=lambda bits: _order(form, bits))
    if op is BinOp.SUB:
        return float_binary(BinOp.ADD, form, a, b ^ form.sign_bit)
    if op is BinOp.ADD:
        return _add(form, a, b)
    return _multiply(form, a, b) if op is BinOp.MUL else _divide(form, a, b)


def _add(form: Format, a: int, b: int) -> int:
    if is_inf(form, a) or is_inf(form, b):
        clash = is_inf(form, a) and is_inf(form, b) and a != b
        return form.nan if clash else a if is_inf(form, a) else b
    both_negative = negative(form, a) and negative(form, b)
    return rounded(form, fraction(form, a) + fraction(form, b), zero_sign=both_negative)


def _multiply(form: Format, a: int, b: int) -> int:
    sign = (a ^ b) & form.sign_bit
    if is_inf(form, a) or is_inf(form, b):
        none = is_zero(form, a) or is_zero(form, b)
        return form.nan if none else form.infinity | sign
    return rounded(form, fraction(form, a) * fraction(form, b), zero_sign=bool(sign)) | sign


def _divide(form: Format, a: int, b: int) -> int:
    sign = (a ^ b) & form.sign_bit
    if is_inf(form, a):
        return form.nan if is_inf(form, b) else form.infinity | sign
    if is_inf(form, b):
        return sign
    if is_zero(form, b):
        return form.nan if is_zero(form, a) else form.infinity | sign
    return rounded(form, fraction(form, a) / fraction(form, b), zero_sign=bool(sign)) | sign


def float_fma(form: Format, a: int, b: int, c: int) -> int:
    if is_nan(form, a) or is_nan(form, b) or is_nan(form, c):
        return form.nan
    sign = (a ^ b) & form.sign_bit
    if is_inf(form, a) or is_inf(form, b):
        if is_zero(form, a) or is_zero(form, b):
            return form.nan
        product = form.infinity | sign
        return form.nan if is_inf(form, c) and c != product else product
    if is_inf(form, c):
        return c
    exact = fraction(form, a) * fraction(form, b)
    both_negative = bool(sign) and negative(form, c)
    return rounded(form, exact + fraction(form, c), zero_sign=both_negative)


def _whole(op: UnOp, value: Fraction) -> int:
    if op is UnOp.FLOOR:
        return value.numerator // value.denominator
    if op is UnOp.CEIL:
        return -((-value.numerator) // value.denominator)
    if op is UnOp.ROUND_EVEN:
        return round(value)
    size = abs(value) + (Fraction(1, 2) if op is UnOp.ROUND else 0)
    whole = size.numerator // size.denominator
    return -whole if value < 0 else whole


def float_unary(op: UnOp, form: Format, a: int) -> int | bool:
    if op is UnOp.NEG:
        return a ^ form.sign_bit
    if op is UnOp.ABS:
        return a & (form.sign_bit - 1)
    if op in (UnOp.IS_NAN, UnOp.IS_INF, UnOp.IS_FINITE):
        nan, inf = is_nan(form, a), is_inf(form, a)
        return {UnOp.IS_NAN: nan, UnOp.IS_INF: inf, UnOp.IS_FINITE: not (nan or inf)}[op]
    if is_nan(form, a):
        return form.nan
    if op is UnOp.SQRT:
        return _root(form, a)
    if is_inf(form, a):
        return a
    # What rounds to zero keeps the sign of what it was.
    return rounded(form, Fraction(_whole(op, fraction(form, a))), negative(form, a))


def _root(form: Format, a: int) -> int:
    if is_zero(form, a):
        return a
    if negative(form, a):
        return form.nan
    if is_inf(form, a):
        return a
    value = fraction(form, a)
    # The root of a large multiple of the value, with a last digit that says "and a bit more".
    scale = 4 ** (form.digits + 2 * form.bias)
    scaled = value * scale
    floor = isqrt(scaled.numerator // scaled.denominator)
    sticky = 0 if floor * floor == scaled else 1
    return rounded(form, Fraction(2 * floor + sticky, 2 * 2 ** (form.digits + 2 * form.bias)))


# --- conversions ----------------------------------------------------------------------------------


def convert(source: DataType, target: DataType, bits: int) -> int:
    """Bits of one scalar type to the bits of the value in another."""
    if source is target:
        return bits
    form = FORMATS.get(source)
    into = FORMATS.get(target)
    if target.is_bool:
        return int(not is_zero(form, bits)) if form else int(bits != 0)
    mask = (1 << (target.bits or 0)) - 1
    if form is None:
        number = bits if source.is_bool else wrap(source, bits)
        return rounded(into, Fraction(number)) if into else number & mask
    if into is None:
        return saturated_integer(form, target, bits) & mask
    sign = into.sign_bit if negative(form, bits) else 0
    if is_nan(form, bits):
        return into.nan
    if is_inf(form, bits):
        return into.infinity | sign
    return rounded(into, fraction(form, bits), zero_sign=bool(sign)) | sign


def saturated_integer(form: Format, target: DataType, bits: int) -> int:
    if is_nan(form, bits):
        return 0
    if is_inf(form, bits):
        low, high = target.integer_range
        return low if negative(form, bits) else high
    return saturate(target, _whole(UnOp.TRUNC, fraction(form, bits)))
