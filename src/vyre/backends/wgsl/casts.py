"""Conversions by value and by bits in WGSL."""

from __future__ import annotations

from dataclasses import replace

from vyre.backends.wgsl.context import Context, spell
from vyre.backends.wgsl.literals import signed, unsigned
from vyre.backends.wgsl.operators import from_u32, wrapped
from vyre.backends.wgsl.types import is_half, is_narrow, is_wide, word
from vyre.backends.wgsl.value import Seen, Value
from vyre.emit import Level
from vyre.ir import DataType


def cast(ctx: Context, value: Value, target: DataType) -> Value:
    """The value converted to another scalar type."""
    source = value.dtype
    if source is target:
        return value
    value = ctx.runtime(value)
    if target.is_bool:
        return _to_bool(value)
    if source.is_bool:
        return ctx.runtime(_from_bool(value, target))
    if target.is_float:
        return _to_float(ctx, value, target)
    if source.is_float:
        return _float_to_integer(ctx, value, target)
    return _integer_to_integer(ctx, value, target)


def _to_bool(value: Value) -> Value:
    if is_wide(value.dtype):
        return spell(f"any({value.at(Level.UNARY)} != vec2<u32>())", DataType.BOOL)
    if value.dtype.is_float:
        # By bits, so that a subnormal is not taken for zero.
        return spell(f"(bitcast<u32>({value.text}) << 1u) != 0u", DataType.BOOL, Level.LOOSE)
    zero = "0i" if value.dtype.is_signed else "0u"
    return spell(f"{value.at(Level.UNARY)} != {zero}", DataType.BOOL, Level.LOOSE)


def _from_bool(value: Value, target: DataType) -> Value:
    if is_wide(target):
        return Value(f"vec2<u32>(u32({value.text}), 0u)", target, constant=value.constant)
    held = "f32" if target.is_float else word(target)
    seen = Seen.NUMBER if target.is_float else Seen.NOTHING
    return Value(f"{held}({value.text})", target, constant=value.constant, seen=seen)


def _to_float(ctx: Context, value: Value, target: DataType) -> Value:
    source = value.dtype
    if source.is_float:
        # Every half is a single; only the way down rounds.
        if is_half(target):
            return spell(ctx.call(f"{target}_round", value.text), target)
        return replace(value, dtype=target)
    # A driver that knows the integer knows the float.
    seen = Seen.NOTHING if value.opaque else Seen.NUMBER
    if target is DataType.BF16 and (source.bits or 0) >= 32:
        wide = _integer_to_integer(ctx, value, _widest(source))
        return Value(ctx.call(f"bf16_from_{word(wide.dtype)}", wide.text), target, seen=seen)
    if is_wide(source) or source is DataType.U32:
        single = ctx.call(f"f32_from_{source}", value.text)
    else:
        single = f"f32({value.text})"
    text = ctx.call(f"{target}_round", single) if is_half(target) else single
    return Value(text, target, seen=seen)


def _widest(dtype: DataType) -> DataType:
    return DataType.I64 if dtype.is_signed else DataType.U64


def _float_to_integer(ctx: Context, value: Value, target: DataType) -> Value:
    if not is_narrow(target):
        return spell(ctx.call(f"{word(target)}_from_f32", value.text), target)
    low, high = target.integer_range
    whole = ctx.call(f"{word(target)}_from_f32", value.text)
    if target.is_signed:
        return spell(f"clamp({whole}, {signed(low)}, {signed(high)})", target)
    return spell(f"min({whole}, {unsigned(high)})", target)


def _integer_to_integer(ctx: Context, value: Value, target: DataType) -> Value:
    source = value.dtype
    if is_wide(source) and is_wide(target):
        return spell(value.text, target, value.level)
    if is_wide(target):
        if source.is_signed:
            return spell(ctx.call("i64_from_i32", value.text), target)
        return spell(f"vec2<u32>({value.text}, 0u)", target)
    if is_wide(source):
        value = spell(f"{value.at(Level.PRIMARY)}.x", DataType.U32)
    converted = _same_bits(value, target)
    fits = not is_narrow(target) or _contains(target, source)
    return converted if fits else wrapped(converted)


def _same_bits(value: Value, target: DataType) -> Value:
    """The 32 bits a value is held in, in the type that `target` is held in."""
    if value.dtype.is_signed == target.is_signed:
        return spell(value.text, target, value.level)
    return spell(f"bitcast<{word(target)}>({value.text})", target)


def _contains(target: DataType, source: DataType) -> bool:
    low, high = target.integer_range
    least, greatest = source.integer_range
    return low <= least and greatest <= high


def bitcast(ctx: Context, value: Value, target: DataType) -> Value:
    """The same bits read as another type of the same width."""
    source = value.dtype
    if source is target or is_wide(target):
        return replace(value, dtype=target)
    value = ctx.runtime(value)
    if is_half(source) and not is_half(target):
        return wrapped(from_u32(ctx.call(f"{source}_from_f32", value.text), target))
    if is_half(source):
        bits = ctx.call(f"{source}_from_f32", value.text)
        return spell(ctx.call(f"f32_from_{target}", bits), target)
    seen = Seen.NUMBER if target.is_float and not value.opaque else Seen.NOTHING
    if is_half(target):
        pattern = f"bitcast<u32>({value.text}) & 0xffffu" if source.is_signed else value.text
        return Value(ctx.call(f"f32_from_{target}", pattern), target, seen=seen)
    if is_narrow(target):
        return wrapped(_same_bits(value, target))
    return Value(f"bitcast<{target}>({value.text})", target, seen=seen)
