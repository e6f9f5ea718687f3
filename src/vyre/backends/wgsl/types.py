"""How values of each type are held in WGSL, and in what cells memory keeps them.

| type | held as | in memory |
| --- | --- | --- |
| bool | bool | a byte of a word |
| u8 u16, i8 i16 | u32, i32 (extended) | bytes of a word |
| u32 i32 f32 | the same | the same |
| u64 i64 | vec2<u32>, low half first | vec2<u32> |
| f16 bf16 | f32, always a representable value | half a word |
| storage-only formats | f32 or i32 | a byte of a word |
| vectors of 2 to 4 simple lanes | vecN<...> | lanes one after another |
| other vectors and byte arrays | array<..., N> | lanes one after another |
"""

from __future__ import annotations

from vyre.ir import DataType

_HELD = {
    DataType.BOOL: "bool",
    DataType.U8: "u32",
    DataType.U16: "u32",
    DataType.U32: "u32",
    DataType.BYTES: "u32",
    DataType.I8: "i32",
    DataType.I16: "i32",
    DataType.I32: "i32",
    DataType.U64: "vec2<u32>",
    DataType.I64: "vec2<u32>",
    DataType.F16: "f32",
    DataType.BF16: "f32",
    DataType.F32: "f32",
}

_ZERO = {"bool": "false", "u32": "0u", "i32": "0i", "f32": "0.0f"}


def held(dtype: DataType) -> str:
    """The WGSL type of a value; `KeyError` for types that WGSL cannot compute with."""
    if dtype.element is None or not dtype.is_vector:
        return _HELD[dtype]
    lane = _HELD[dtype.element]
    if dtype.lanes <= 4 and not is_wide(dtype.element):
        return f"vec{dtype.lanes}<{lane}>"
    return f"array<{lane}, {dtype.lanes}>"


def is_array(dtype: DataType) -> bool:
    """Whether a value is held as a WGSL array, which no operator and no `select` takes."""
    return held(dtype).startswith("array")


def is_wide(dtype: DataType) -> bool:
    """Whether it is an integer of 64 bits, held as a pair."""
    return dtype is DataType.U64 or dtype is DataType.I64


def is_half(dtype: DataType) -> bool:
    """Whether it is a 16-bit float, held as f32."""
    return dtype is DataType.F16 or dtype is DataType.BF16


def is_narrow(dtype: DataType) -> bool:
    """Whether it is an integer of fewer than 32 bits, held extended."""
    return dtype.is_integer and (dtype.bits or 0) < 32


def zero(dtype: DataType) -> str:
    """The zero of a type."""
    wgsl = held(dtype)
    return _ZERO.get(wgsl, f"{wgsl}()")


def word(dtype: DataType) -> str:
    """The prefix of prelude functions for a type: those of narrow integers are the 32-bit ones."""
    if is_narrow(dtype):
        return "i32" if dtype.is_signed else "u32"
    return dtype.spelling
