"""Opcodes in WGSL: an operator where WGSL means the same, a function of the prelude elsewhere.

Values of narrow integers are kept extended to 32 bits, so most of their operations are the 32-bit
ones followed by `wrapped`. Floats in strict programs are hidden from the driver where WGSL would
let it fuse, reassociate or cancel: see `f32_hide`.
"""

from __future__ import annotations

from vyre.backends.wgsl.context import Context, spell
from vyre.backends.wgsl.literals import signed, unsigned
from vyre.backends.wgsl.types import is_half, is_narrow, is_wide, word
from vyre.backends.wgsl.value import Seen, Value
from vyre.emit import Level
from vyre.ir import BinOp, DataType, UnOp
from vyre.ir.opcodes import COMPARISONS

_SYMBOLS = {
    BinOp.ADD: ("+", Level.SUM),
    BinOp.SUB: ("-", Level.SUM),
    BinOp.MUL: ("*", Level.PRODUCT),
    BinOp.DIV: ("/", Level.PRODUCT),
    BinOp.REM: ("%", Level.PRODUCT),
    BinOp.AND: ("&", Level.LOOSE),
    BinOp.OR: ("|", Level.LOOSE),
    BinOp.XOR: ("^", Level.LOOSE),
    BinOp.EQ: ("==", Level.LOOSE),
    BinOp.NE: ("!=", Level.LOOSE),
    BinOp.LT: ("<", Level.LOOSE),
    BinOp.LE: ("<=", Level.LOOSE),
    BinOp.GT: (">", Level.LOOSE),
    BinOp.GE: (">=", Level.LOOSE),
}
_BITWISE = frozenset({BinOp.AND, BinOp.OR, BinOp.XOR})
_SIGNED_DIFFERS = frozenset(
    {BinOp.DIV, BinOp.REM, BinOp.SHR, BinOp.MIN, BinOp.MAX, BinOp.MUL_HI}
    | {BinOp.ADD_SAT, BinOp.SUB_SAT}
)
"""Opcodes whose 64-bit function depends on the sign; the others share one."""
_FUNCTIONS = {
    BinOp.ADD: "add",
    BinOp.SUB: "sub",
    BinOp.MUL: "mul",
    BinOp.DIV: "div",
    BinOp.REM: "rem",
    BinOp.SHL: "shl",
    BinOp.SHR: "shr",
    BinOp.ROTL: "rotl",
    BinOp.ROTR: "rotr",
    BinOp.MIN: "min",
    BinOp.MAX: "max",
    BinOp.ADD_SAT: "add_sat",
    BinOp.SUB_SAT: "sub_sat",
    BinOp.MUL_HI: "mulhi",
    BinOp.POW: "pow",
    BinOp.ATAN2: "atan2",
    BinOp.COPYSIGN: "copysign",
    BinOp.MINIMUM: "minimum",
    BinOp.MAXIMUM: "maximum",
}
_SHIFTS = frozenset({BinOp.SHL, BinOp.SHR, BinOp.ROTL, BinOp.ROTR})


def infix(op: BinOp, left: Value, right: Value, dtype: DataType) -> Value:
    """`left op right` with the parentheses it needs."""
    symbol, level = _SYMBOLS[op]
    around = Level.UNARY if level is Level.LOOSE else level
    # The right side of - and / must hold together more tightly than the operator itself.
    tighter = Level(min(around + 1, Level.UNARY))
    text = f"{left.at(around)} {symbol} {right.at(tighter)}"
    constant = left.constant and right.constant
    if op is BinOp.LT:
        # Between commas, WGSL takes `a < b, c > d` for a list of template arguments.
        return Value(f"({text})", dtype, Level.PRIMARY, constant)
    return Value(text, dtype, level, constant)


def binary(ctx: Context, op: BinOp, left: Value, right: Value) -> Value:
    """An opcode of two operands."""
    dtype = left.dtype
    if dtype.is_bool:
        return infix(BinOp.NE if op is BinOp.XOR else op, left, right, DataType.BOOL)
    if dtype.is_float:
        return _float_binary(ctx, op, left, right)
    if left.constant and right.constant:
        left = ctx.runtime(left)
    if is_wide(dtype):
        return _wide_binary(ctx, op, left, right)
    if op in COMPARISONS:
        return infix(op, left, right, DataType.BOOL)
    if is_narrow(dtype):
        return _narrow_binary(ctx, op, left, right)
    return _word_binary(ctx, op, left, right)


def _word_binary(ctx: Context, op: BinOp, left: Value, right: Value) -> Value:
    """32-bit integers."""
    dtype = left.dtype
    if op is BinOp.DIV and not (right.constant and right.text not in ("0u", "0i")):
        return spell(ctx.call(f"{word(dtype)}_div", left.text, right.text), dtype)
    if op in _SYMBOLS:
        # The remainder of a division by zero is zero in WGSL too.
        return infix(op, left, right, dtype)
    if op in (BinOp.MIN, BinOp.MAX):
        return spell(f"{_FUNCTIONS[op]}({left.text}, {right.text})", dtype)
    if op in (BinOp.SHL, BinOp.SHR):
        amount = _masked(right, 31)
        symbol = "<<" if op is BinOp.SHL else ">>"
        return spell(f"{left.at(Level.UNARY)} {symbol} {amount}", dtype, Level.LOOSE)
    if op in (BinOp.ROTL, BinOp.ROTR):
        bits = as_u32(left)
        turned = ctx.call(f"u32_{_FUNCTIONS[op]}", bits.text, as_u32(right).text)
        return from_u32(turned, dtype)
    return spell(ctx.call(f"{word(dtype)}_{_FUNCTIONS[op]}", left.text, right.text), dtype)


def _narrow_binary(ctx: Context, op: BinOp, left: Value, right: Value) -> Value:
    """8- and 16-bit integers, held in 32 bits."""
    dtype, bits = left.dtype, left.dtype.bits or 0
    low, high = dtype.integer_range
    number = signed if dtype.is_signed else unsigned
    if op in _BITWISE or op in (BinOp.MIN, BinOp.MAX, BinOp.REM):
        return _word_binary(ctx, op, left, right)
    if op in (BinOp.SHL, BinOp.SHR):
        symbol = "<<" if op is BinOp.SHL else ">>"
        text = f"{left.at(Level.UNARY)} {symbol} {_masked(right, bits - 1)}"
        shifted = spell(text, dtype, Level.LOOSE)
        return wrapped(shifted) if op is BinOp.SHL else shifted
    if op in (BinOp.ROTL, BinOp.ROTR):
        pattern, amount = as_pattern(left), as_u32(right).text
        turned = ctx.call(f"narrow_{_FUNCTIONS[op]}", pattern.text, amount, f"{bits}u")
        return wrapped(from_u32(turned, dtype))
    if op is BinOp.MUL_HI:
        product = infix(BinOp.MUL, left, right, dtype)
        return spell(f"({product.text}) >> {bits}u", dtype, Level.LOOSE)
    if op is BinOp.ADD_SAT:
        total = infix(BinOp.ADD, left, right, dtype).text
        return spell(f"clamp({total}, {number(low)}, {number(high)})", dtype)
    if op is BinOp.SUB_SAT and not dtype.is_signed:
        return spell(ctx.call("u32_sub_sat", left.text, right.text), dtype)
    if op is BinOp.SUB_SAT:
        rest = infix(BinOp.SUB, left, right, dtype).text
        return spell(f"clamp({rest}, {number(low)}, {number(high)})", dtype)
    return wrapped(_word_binary(ctx, op, left, right))


def _wide_binary(ctx: Context, op: BinOp, left: Value, right: Value) -> Value:
    """64-bit integers, held as pairs."""
    dtype = left.dtype
    if op in _BITWISE:
        return infix(op, left, right, dtype)
    if op is BinOp.EQ:
        return spell(f"all({infix(op, left, right, dtype).text})", DataType.BOOL)
    if op is BinOp.NE:
        return spell(f"any({infix(op, left, right, dtype).text})", DataType.BOOL)
    if op in COMPARISONS:
        swapped = op in (BinOp.GT, BinOp.LE)
        first, second = (right, left) if swapped else (left, right)
        less = ctx.call(f"{word(dtype)}_lt", first.text, second.text)
        if op in (BinOp.LT, BinOp.GT):
            return spell(less, DataType.BOOL)
        return spell(f"!{less}", DataType.BOOL, Level.UNARY)
    if op is BinOp.MUL and left.number is not None:
        left, right = right, left
    prefix = word(dtype) if op in _SIGNED_DIFFERS else "u64"
    if right.number is not None:
        short = _wide_by_number(ctx, op, prefix, left, right.number)
        if short is not None:
            return short
    amount = f"{right.at(Level.PRIMARY)}.x" if op in _SHIFTS else right.text
    return spell(ctx.call(f"{prefix}_{_FUNCTIONS[op]}", left.text, amount), dtype)


def _wide_by_number(ctx: Context, op: BinOp, prefix: str, left: Value, number: int) -> Value | None:
    """A product or shift by a number that makes it simpler than the general one."""
    if op is BinOp.MUL and number < 1 << 16:
        return spell(ctx.call("u64_mul_short", left.text, unsigned(number)), left.dtype)
    amount = number & 63
    if op in (BinOp.SHL, BinOp.SHR) and 0 < amount < 32:
        function = f"{prefix}_{_FUNCTIONS[op]}_short"
        return spell(ctx.call(function, left.text, unsigned(amount)), left.dtype)
    return None


def _float_binary(ctx: Context, op: BinOp, left: Value, right: Value) -> Value:
    dtype = left.dtype
    if dtype is DataType.BF16:
        # By bits: devices that flush subnormals of f32 would flush those of bf16 too.
        same = ctx.call("f32_same", left.text, right.text)
        different = op is BinOp.NE
        return spell(f"!{same}" if different else same, DataType.BOOL, Level.UNARY)
    if op in COMPARISONS:
        # Not != itself: drivers take it for "ordered and different", which NaN is not.
        test = BinOp.EQ if op is BinOp.NE else op
        compared = infix(test, *_separated(ctx, op, left, right), DataType.BOOL)
        if op is BinOp.NE:
            return spell(f"!({compared.text})", DataType.BOOL, Level.UNARY)
        return compared
    if op not in _SYMBOLS:
        left, right = passed(ctx, left), passed(ctx, right)
        result = spell(ctx.call(f"f32_{_FUNCTIONS[op]}", left.text, right.text), dtype)
        return rounded(ctx, result) if op.row.approximate else result
    result = infix(op, *_separated(ctx, op, left, right), dtype)
    if is_half(dtype):
        return rounded(ctx, result)
    seen = Seen.SUM if op in (BinOp.ADD, BinOp.SUB) else Seen.PRODUCT
    return Value(result.text, dtype, result.level, seen=seen)


def _separated(ctx: Context, op: BinOp, left: Value, right: Value) -> tuple[Value, Value]:
    """The sides of a float operation, such that a driver can only do what it says.

    Otherwise it would reassociate sums and products, cancel equal terms, fuse a product with the
    sum around it, and drop a zero that is added. A number may be seen if nothing else is.
    """
    inexact = op in (BinOp.DIV, BinOp.REM)
    if right.harmless and not inexact:
        return ctx.hidden(left, Seen.ALL), right
    if op in COMPARISONS or (op is BinOp.SUB and left.harmless):
        return left, ctx.apart(right)
    if left.harmless and not inexact:
        return left, ctx.hidden(right, Seen.ALL)
    is_sum = op in (BinOp.ADD, BinOp.SUB)
    harmful = Seen.ALL if is_sum else Seen.PRODUCT | Seen.NUMBER
    hide_right = op in (BinOp.ADD, BinOp.MUL)
    second = ctx.hidden(right, harmful) if hide_right else ctx.apart(right)
    return ctx.hidden(left, harmful), second


def passed(ctx: Context, value: Value) -> Value:
    """A float as an argument of a function: a driver inlines it, and sees the argument there."""
    return ctx.hidden(value, Seen.PRODUCT | Seen.NUMBER)


def fma(ctx: Context, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once."""
    function = "f16_fma" if is_half(a.dtype) else "f32_fma"
    operands = [passed(ctx, value).text for value in (a, b, c)]
    return spell(ctx.call(function, *operands), a.dtype)


def unary(ctx: Context, op: UnOp, operand: Value) -> Value:
    """An opcode of one operand."""
    dtype = operand.dtype
    if dtype.is_bool:
        return Value(f"!{operand.at(Level.UNARY)}", dtype, Level.UNARY, operand.constant)
    if dtype.is_float:
        return _float_unary(ctx, op, operand)
    operand = ctx.runtime(operand)
    if is_wide(dtype):
        return _wide_unary(ctx, op, operand)
    return _word_unary(ctx, op, operand)


_COUNTS = {
    UnOp.POPCOUNT: "countOneBits",
    UnOp.CLZ: "countLeadingZeros",
    UnOp.CTZ: "countTrailingZeros",
}


def _word_unary(ctx: Context, op: UnOp, operand: Value) -> Value:
    """Integers of up to 32 bits."""
    dtype, bits = operand.dtype, operand.dtype.bits or 0
    if op is UnOp.NEG:
        text = (
            f"-{operand.at(Level.PRIMARY)}"
            if dtype.is_signed
            else f"0u - {operand.at(Level.PRODUCT)}"
        )
        level = Level.UNARY if dtype.is_signed else Level.SUM
        return wrapped(spell(text, dtype, level))
    if op is UnOp.NOT:
        return wrapped(spell(f"~{operand.at(Level.UNARY)}", dtype, Level.UNARY))
    if op is UnOp.ABS:
        return wrapped(spell(f"abs({operand.text})", dtype)) if dtype.is_signed else operand
    pattern = as_pattern(operand)
    if op is UnOp.POPCOUNT or (op in _COUNTS and bits == 32):
        return from_u32(f"{_COUNTS[op]}({pattern.text})", dtype)
    if op is UnOp.CTZ:
        return from_u32(f"min(countTrailingZeros({pattern.text}), {bits}u)", dtype)
    if op is UnOp.CLZ:
        return from_u32(f"countLeadingZeros({pattern.text}) - {32 - bits}u", dtype, Level.SUM)
    function = "reverseBits({})" if op is UnOp.REVERSE_BITS else ctx.call("u32_byte_swap", "{}")
    turned = function.format(pattern.text)
    if bits == 32:
        return from_u32(turned, dtype)
    return wrapped(from_u32(f"{turned} >> {32 - bits}u", dtype, Level.LOOSE))


def _wide_unary(ctx: Context, op: UnOp, operand: Value) -> Value:
    dtype = operand.dtype
    if op is UnOp.NOT:
        return spell(f"~{operand.at(Level.UNARY)}", dtype, Level.UNARY)
    if op is UnOp.NEG:
        return spell(ctx.call("u64_neg", operand.text), dtype)
    if op is UnOp.ABS:
        return spell(ctx.call("i64_abs", operand.text), dtype) if dtype.is_signed else operand
    if op in _COUNTS:
        counted = ctx.call(f"u64_{op.row.spelling}", operand.text)
        return spell(f"vec2<u32>({counted}, 0u)", dtype)
    return spell(ctx.call(f"u64_{op.row.spelling}", operand.text), dtype)


_BUILT_IN = {
    UnOp.ABS: "abs",
    UnOp.FLOOR: "floor",
    UnOp.CEIL: "ceil",
    UnOp.TRUNC: "trunc",
    UnOp.ROUND_EVEN: "round",
}
_TESTS = frozenset({UnOp.IS_NAN, UnOp.IS_INF, UnOp.IS_FINITE})


def _float_unary(ctx: Context, op: UnOp, operand: Value) -> Value:
    dtype = operand.dtype
    operand = ctx.runtime(operand)
    if op in _BUILT_IN:
        return Value(f"{_BUILT_IN[op]}({operand.text})", dtype, seen=operand.seen)
    if op is UnOp.NEG and not ctx.strict:
        return spell(f"-{operand.at(Level.PRIMARY)}", dtype, Level.UNARY)
    if op is UnOp.NEG:
        return Value(ctx.call("f32_neg", operand.text), dtype, seen=operand.seen)
    if op is UnOp.SQRT:
        root = Value(f"sqrt({operand.text})", dtype, seen=Seen.PRODUCT)
        return rounded(ctx, root) if is_half(dtype) else root
    operand = passed(ctx, operand)
    if op in _TESTS:
        return spell(ctx.call(f"f32_{op.row.spelling}", operand.text), DataType.BOOL)
    result = spell(ctx.call(f"f32_{op.row.spelling}", operand.text), dtype)
    return result if op is UnOp.ROUND else rounded(ctx, result)


def rounded(ctx: Context, value: Value) -> Value:
    """A float result as a value of its type: 16-bit ones are computed in f32 and then rounded."""
    if not is_half(value.dtype):
        return value
    return spell(ctx.call(f"{value.dtype}_round", value.text), value.dtype)


def wrapped(value: Value) -> Value:
    """A 32-bit result as a value of its narrower type."""
    dtype, bits = value.dtype, value.dtype.bits or 0
    if bits >= 32:
        return value
    if dtype.is_signed:
        shift = 32 - bits
        return spell(f"({value.at(Level.UNARY)} << {shift}u) >> {shift}u", dtype, Level.LOOSE)
    return spell(f"{value.at(Level.UNARY)} & {(1 << bits) - 1:#x}u", dtype, Level.LOOSE)


def as_u32(value: Value) -> Value:
    """The 32 bits a value is held in, as u32."""
    if value.dtype.is_signed:
        return spell(f"bitcast<u32>({value.text})", DataType.U32)
    return value


def as_pattern(value: Value) -> Value:
    """The bits of a value as u32, with zeros above its width."""
    bits = value.dtype.bits or 0
    if value.dtype.is_signed and bits < 32:
        text = f"{as_u32(value).text} & {(1 << bits) - 1:#x}u"
        return spell(text, DataType.U32, Level.LOOSE)
    return as_u32(value)


def from_u32(text: str, dtype: DataType, level: Level = Level.PRIMARY) -> Value:
    """A u32 as the 32 bits that a value is held in."""
    if dtype.is_signed:
        return spell(f"bitcast<i32>({text})", dtype)
    return spell(text, dtype, level)


def _masked(amount: Value, mask: int) -> str:
    """A shift amount modulo the width, as an operand."""
    if amount.number is not None:
        return unsigned(amount.number & mask)
    return f"({as_u32(amount).at(Level.UNARY)} & {mask}u)"
