"""Vector division of integers, which no instruction does.

LLVM would scalarise every vector. Numbers of up to 32 bits are exact as doubles, and a quotient of
two of them, rounded, has the right integer part: where it is not an integer, it is less than the
next one by at least 1 / divisor, and rounding adds less than 2**32 / divisor / 2**53. The same
holds for floats and 16 bits, which are rounded to 24. Numbers of 64 bits with a uniform divisor are
multiplied by its reciprocal.
"""

from __future__ import annotations

from vyre.backends.llvm.emit.builder import Builder, constant, widened
from vyre.ir import BinOp, DataType


def emit_quotient(w: Builder, dtype: DataType, lanes: int, a: str, b: str) -> str:
    """Emit the integer quotient of numbers of at most 32 bits.

    The divisor must be one for which the quotient exists.
    """
    bits = dtype.bits or 0
    type_, wide = widened(f"i{bits}", lanes), widened("float" if bits <= 16 else "double", lanes)
    sign = "s" if dtype.is_signed else "u"
    x, y = (w.emit(f"{sign}itofp {type_} {text} to {wide}") for text in (a, b))
    ratio = w.emit(f"fdiv {wide} {x}, {y}")
    return w.emit(f"fpto{sign}i {wide} {ratio} to {type_}")


def emit_remainder(w: Builder, dtype: DataType, lanes: int, a: str, b: str) -> str:
    """Emit the remainder of such a quotient."""
    type_ = widened(f"i{dtype.bits}", lanes)
    whole = emit_quotient(w, dtype, lanes, a, b)
    return w.emit(f"sub {type_} {a}, {w.emit(f'mul {type_} {whole}, {b}')}")


def emit_shared(w: Builder, op: BinOp, lanes: int, a: str, divisor: str) -> str:
    """Emit a quotient or a remainder of `u64`s by a uniform divisor.

    With `r` the integer part of (2**64 - 1) / d, the upper half of n * r is the quotient n / d or
    less than it by at most 2: n / d - n * r / 2**64 is less than n / 2**64 * (1 / d + 1), that is
    less than 2, and of what is less than that the integer part is taken. Nothing wraps, as the
    product of that and d is at most n.
    """
    type_, flag = widened("i64", lanes), widened("i1", lanes)
    safe = w.intrinsic("umax", "i64", divisor, "1")
    reciprocal = w.emit(f"udiv i64 -1, {safe}")
    factors = [_splat(w, lanes, half) for half in _halves(w, 0, reciprocal)]
    d = _splat(w, lanes, safe)
    whole = _upper_half(w, lanes, a, (factors[0], factors[1]))
    rest = w.emit(f"sub {type_} {a}, {w.emit(f'mul {type_} {whole}, {d}')}")
    for _ in range(2):
        more = w.emit(f"icmp uge {type_} {rest}, {d}")
        less = w.emit(f"sub {type_} {rest}, {d}")
        rest = w.emit(f"select {flag} {more}, {type_} {less}, {type_} {rest}")
        one = w.emit(f"zext {flag} {more} to {type_}")
        whole = w.emit(f"add {type_} {whole}, {one}")
    if op is BinOp.REM:
        return rest
    none = w.emit(f"icmp eq i64 {divisor}, 0")
    return w.emit(f"select i1 {none}, {type_} {constant('i64', -1, lanes)}, {type_} {whole}")


def _splat(w: Builder, lanes: int, text: str) -> str:
    type_ = widened("i64", lanes)
    first = w.emit(f"insertelement {type_} poison, i64 {text}, i64 0")
    return w.emit(f"shufflevector {type_} {first}, {type_} poison, <{lanes} x i32> zeroinitializer")


def _halves(w: Builder, lanes: int, text: str) -> tuple[str, str]:
    type_ = widened("i64", lanes)
    low = w.emit(f"and {type_} {text}, {constant('i64', 0xFFFFFFFF, lanes)}")
    return low, w.emit(f"lshr {type_} {text}, {constant('i64', 32, lanes)}")


def _upper_half(w: Builder, lanes: int, a: str, factor: tuple[str, str]) -> str:
    """Emit the upper 64 bits of a product, from products of halves."""
    type_ = widened("i64", lanes)

    def add(*texts: str) -> str:
        total = texts[0]
        for text in texts[1:]:
            total = w.emit(f"add {type_} {total}, {text}")
        return total

    low, high = _halves(w, lanes, a)
    products = [w.emit(f"mul {type_} {mine}, {its}") for mine in (low, high) for its in factor]
    _, first = _halves(w, lanes, products[0])
    parts = [_halves(w, lanes, product) for product in products[1:3]]
    middle = add(first, parts[0][0], parts[1][0])
    _, carried = _halves(w, lanes, middle)
    return add(products[3], parts[0][1], parts[1][1], carried)


__all__ = ["emit_quotient", "emit_remainder", "emit_shared"]
