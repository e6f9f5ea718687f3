"""The scalar types of kernels: annotations, casts inside kernels, numpy scalars outside of them.

A type checker sees Python's own numbers, so that `a * x[i]` and `saxpy(2.0, x, y)` check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.ir import DataType

__all__ = [
    "bf16",
    "bool_",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
]


@final
class ScalarType:
    """A scalar type. In a kernel, calling it converts a value; outside, it makes a numpy scalar."""

    def __init__(self, dtype: DataType, numpy_name: str | None, meaning: str) -> None:
        self.dtype: Final = dtype
        self.numpy_name: Final = numpy_name
        self.__doc__ = meaning

    def __call__(self, value: object) -> Any:
        import numpy as np

        if self.numpy_name is None:
            raise FrontError(codes.OUTSIDE.at(name=str(self)))
        return getattr(np, self.numpy_name)(value)

    def __repr__(self) -> str:
        return f"vyre.{self}"

    def __str__(self) -> str:
        return "bool_" if self.dtype is DataType.BOOL else str(self.dtype)


if TYPE_CHECKING:
    bool_ = bool
    u8 = u16 = u32 = u64 = i8 = i16 = i32 = i64 = int
    f16 = bf16 = f32 = f64 = float
else:
    bool_ = ScalarType(DataType.BOOL, "bool_", "A truth value.")
    u8 = ScalarType(DataType.U8, "uint8", "An unsigned integer of 8 bits.")
    u16 = ScalarType(DataType.U16, "uint16", "An unsigned integer of 16 bits.")
    u32 = ScalarType(DataType.U32, "uint32", "An unsigned integer of 32 bits.")
    u64 = ScalarType(DataType.U64, "uint64", "An unsigned integer of 64 bits.")
    i8 = ScalarType(DataType.I8, "int8", "A signed integer of 8 bits.")
    i16 = ScalarType(DataType.I16, "int16", "A signed integer of 16 bits.")
    i32 = ScalarType(DataType.I32, "int32", "A signed integer of 32 bits.")
    i64 = ScalarType(DataType.I64, "int64", "A signed integer of 64 bits.")
    f16 = ScalarType(DataType.F16, "float16", "A float of 16 bits.")
    bf16 = ScalarType(
        DataType.BF16,
        None,
        "The upper half of an f32: loaded, stored and converted, not computed with.",
    )
    f32 = ScalarType(DataType.F32, "float32", "A float of 32 bits.")
    f64 = ScalarType(DataType.F64, "float64", "A float of 64 bits.")

BY_NUMPY_NAME: Final = {
    "bool": DataType.BOOL,
    "uint8": DataType.U8,
    "uint16": DataType.U16,
    "uint32": DataType.U32,
    "uint64": DataType.U64,
    "int8": DataType.I8,
    "int16": DataType.I16,
    "int32": DataType.I32,
    "int64": DataType.I64,
    "float16": DataType.F16,
    "float32": DataType.F32,
    "float64": DataType.F64,
}
"""The type of a kernel for a type of numpy, by its name."""


def scalar_name(dtype: DataType) -> str:
    """How a kernel writes a type: `vy.u32`."""
    return "vy.bool_" if dtype is DataType.BOOL else f"vy.{dtype}"
