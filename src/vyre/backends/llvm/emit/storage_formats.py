"""Encoding and decoding of storage-only types.

They have at most 256 codes, so a load is a look-up in a table made from their definition, and a
store is a binary search among the points where the nearest code changes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from vyre.backends.llvm.emit.builder import Builder, constant
from vyre.ir import DataType
from vyre.semantics.packed import decode, encode

STORAGE_ONLY = frozenset(
    {DataType.F8E4M3, DataType.F8E5M2, DataType.I4, DataType.FP4, DataType.NF4}
)


def memory_type(dtype: DataType) -> str:
    """The LLVM type of one element in memory; lanes of vectors are elements of their own."""
    if dtype.is_vector and dtype.element is not None:
        return memory_type(dtype.element)
    names = {DataType.F16: "half", DataType.F32: "float", DataType.F64: "double"}
    return names.get(dtype, f"i{dtype.bits or 8}")


def table_of(writer: Builder, dtype: DataType) -> str:
    """The global table with the value of each of the 256 bytes."""
    name = f"@vyre.table.{dtype.spelling}"
    if name not in writer.globals:
        values = decode(dtype, np.arange(256, dtype=np.uint8))
        scalar = "i32" if dtype is DataType.I4 else "float"
        items = ", ".join(f"{scalar} {constant(scalar, v.item())}" for v in values)
        writer.globals[name] = f"{name} = internal constant [256 x {scalar}] [{items}]"
    return name


def encoder_of(writer: Builder, dtype: DataType) -> str:
    """The function from a value to the byte that stores it."""
    name = f"@vyre.encode.{dtype.spelling}"
    if name not in writer.globals:
        text = _encode_i4(name) if dtype is DataType.I4 else _encode_float(name, dtype)
        writer.globals[name] = text
    return name


def _encode_i4(name: str) -> str:
    return f"""\
define internal i8 {name}(i32 %value) alwaysinline nounwind {{
  %low = icmp sgt i32 %value, -8
  %at.least = select i1 %low, i32 %value, i32 -8
  %high = icmp slt i32 %at.least, 7
  %clamped = select i1 %high, i32 %at.least, i32 7
  %nibble = and i32 %clamped, 15
  %byte = trunc i32 %nibble to i8
  ret i8 %byte
}}"""


def _encode_float(name: str, dtype: DataType) -> str:
    """A binary search in the order of floats; the code changes at each of the sorted keys."""
    keys, codes = _change_points(dtype)
    size = 1 << (len(keys)).bit_length()
    top = (1 << 31) - 1
    padded = [*keys.tolist(), *[top] * (size - len(keys))]
    sequence = [*codes.tolist(), *[int(codes[-1])] * (size - len(codes) + 1)]
    nan = int(encode(dtype, np.array([np.nan], np.float32))[0])
    steps: list[str] = []
    position = "0"
    step = size // 2
    while step:
        n = step
        steps.append(
            f"  %at.{n} = add i32 {position}, {n - 1}\n"
            f"  %p.{n} = getelementptr [{size} x i32], ptr {name}.keys, i32 0, i32 %at.{n}\n"
            f"  %k.{n} = load i32, ptr %p.{n}, align 4\n"
            f"  %up.{n} = icmp sge i32 %key, %k.{n}\n"
            f"  %far.{n} = add i32 {position}, {n}\n"
            f"  %pos.{n} = select i1 %up.{n}, i32 %far.{n}, i32 {position}\n"
        )
        position = f"%pos.{n}"
        step //= 2
    body = "".join(steps)
    return f"""\
{name}.keys = internal constant [{size} x i32] [{", ".join(f"i32 {k}" for k in padded)}]
{name}.codes = internal constant [{size + 1} x i8] [{", ".join(f"i8 {c}" for c in sequence)}]
define internal i8 {name}(float %value) nounwind {{
  %bits = bitcast float %value to i32
  %sign = ashr i32 %bits, 31
  %flip = lshr i32 %sign, 1
  %key = xor i32 %bits, %flip
{body}  %p = getelementptr [{size + 1} x i8], ptr {name}.codes, i32 0, i32 {position}
  %code = load i8, ptr %p, align 1
  %nan = fcmp uno float %value, %value
  %result = select i1 %nan, i8 {nan}, i8 %code
  ret i8 %result
}}"""


@cache
def _change_points(dtype: DataType) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Keys at which the code changes, and the codes; the least value's first."""
    stored = decode(dtype, np.arange(256, dtype=np.uint8)).astype(np.float32)
    values = np.append(stored[~np.isnan(stored)], np.array([-np.inf, np.inf], np.float32))
    known = np.unique(_keys_of(values))
    codes = _codes_at(known, dtype)
    # Between two neighbours of the table the code changes once; all points are searched for in
    # parallel.
    at = np.flatnonzero(codes[1:] != codes[:-1])
    below, above = known[at], known[at + 1]
    while np.any(above - below > 1):
        middle = (below + above) // 2
        same = _codes_at(middle, dtype) == codes[at]
        below, above = np.where(same, middle, below), np.where(same, above, middle)
    return above, np.append(codes[at], codes[-1])


def _keys_of(values: NDArray[np.float32]) -> NDArray[np.int64]:
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits >= 0, bits, bits ^ 0x7FFF_FFFF)


def _codes_at(keys: NDArray[np.int64], dtype: DataType) -> NDArray[np.uint8]:
    bits = np.where(keys >= 0, keys, keys ^ 0x7FFF_FFFF)
    return encode(dtype, bits.astype(np.int32).view(np.float32)).astype(np.uint8)
