"""The types of values and of buffer elements.

A type is one interned object, so types are compared by identity and cost nothing to hash. Its
spelling is unique: text and wire both write it, and `DataType.parse` reads it back.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import ClassVar, final
from weakref import WeakValueDictionary

from vyre.diagnostics import BuildError
from vyre.diagnostics.codes import build as codes


class TypeKind(Enum):
    """What family a type belongs to."""

    BOOL = "bool"
    UNSIGNED = "unsigned"
    SIGNED = "signed"
    FLOAT = "float"
    BYTES = "bytes"
    PACKED = "packed"
    """Storage only: a load converts to the value type, a store converts back."""
    VECTOR = "vector"
    ARRAY = "array"
    UNSIZED = "unsized"


@final
class DataType:
    """A type. Use the constants (`DataType.U32`) and the constructors (`DataType.vec`)."""

    __slots__ = (
        *("__weakref__", "_value_type", "bits", "element", "kind", "lanes"),
        *("parameters", "spelling"),
    )

    BOOL: ClassVar[DataType]
    U8: ClassVar[DataType]
    I8: ClassVar[DataType]
    U16: ClassVar[DataType]
    I16: ClassVar[DataType]
    U32: ClassVar[DataType]
    I32: ClassVar[DataType]
    U64: ClassVar[DataType]
    I64: ClassVar[DataType]
    F16: ClassVar[DataType]
    BF16: ClassVar[DataType]
    F32: ClassVar[DataType]
    F64: ClassVar[DataType]
    BYTES: ClassVar[DataType]
    F8E4M3: ClassVar[DataType]
    F8E5M2: ClassVar[DataType]
    I4: ClassVar[DataType]
    FP4: ClassVar[DataType]
    NF4: ClassVar[DataType]
    VEC2_U32: ClassVar[DataType]
    VEC4_U32: ClassVar[DataType]
    TENSOR: ClassVar[DataType]

    # Weak, so that bytes and texts which name millions of types leave nothing behind.
    _interned: ClassVar[WeakValueDictionary[str, DataType]] = WeakValueDictionary()

    def __init__(
        self,
        spelling: str,
        kind: TypeKind,
        bits: int | None,
        element: DataType | None = None,
        lanes: int = 1,
        parameters: tuple[int, ...] = (),
        value_type: DataType | None = None,
    ) -> None:
        self.spelling = spelling
        self.kind = kind
        self.bits = bits
        """Bits in memory, or None when the type has no size of its own."""
        self.element = element
        self.lanes = lanes
        self.parameters = parameters
        self._value_type = value_type
        DataType._interned[spelling] = self

    def __repr__(self) -> str:
        return f"DataType({self.spelling})"

    def __str__(self) -> str:
        return self.spelling

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (DataType.parse, (self.spelling,))

    @property
    def size_bytes(self) -> int | None:
        """Bytes of one element in memory; None for types without a size."""
        return None if self.bits is None else self.bits // 8

    @property
    def value_type(self) -> DataType:
        """The type that a load of one element has, and that a store takes."""
        return self if self._value_type is None else self._value_type

    @property
    def is_bool(self) -> bool:
        """Whether this is `bool`."""
        return self.kind is TypeKind.BOOL

    @property
    def is_integer(self) -> bool:
        """Whether this is an integer that kernels compute with."""
        return self.kind is TypeKind.UNSIGNED or self.kind is TypeKind.SIGNED

    @property
    def is_signed(self) -> bool:
        """Whether this is a signed integer."""
        return self.kind is TypeKind.SIGNED

    @property
    def is_float(self) -> bool:
        """Whether this is a floating-point number that kernels hold in variables."""
        return self.kind is TypeKind.FLOAT

    @property
    def is_scalar(self) -> bool:
        """Whether a variable can hold it as one number or truth value."""
        return self.kind in _SCALAR_KINDS

    @property
    def is_vector(self) -> bool:
        """Whether it has lanes: a vector, or an array of bytes."""
        return self.kind is TypeKind.VECTOR or self.kind is TypeKind.ARRAY

    @property
    def is_value(self) -> bool:
        """Whether an expression can have this type."""
        return self.is_scalar or self.is_vector

    @property
    def integer_range(self) -> tuple[int, int]:
        """The least and the greatest value of an integer type."""
        bits = self.bits or 0
        if self.is_signed:
            return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        return 0, (1 << bits) - 1

    @staticmethod
    def vec(element: DataType, lanes: int) -> DataType:
        """A vector of 2 to 16 scalars."""
        if not element.is_scalar or element.bits is None:
            raise _bad("vec", "element", element, "give a scalar type such as DataType.U32")
        if not 2 <= lanes <= 16:
            raise _bad("vec", "lanes", lanes, "give a number of lanes from 2 to 16")
        spelling = f"vec{lanes}<{element}>"
        return DataType._interned.get(spelling) or DataType(
            spelling, TypeKind.VECTOR, element.bits * lanes, element, lanes
        )

    @staticmethod
    def array(element_size: int) -> DataType:
        """A block of `element_size` bytes moved as one; its lanes are bytes."""
        if not 1 <= element_size <= 65_536:
            raise _bad("array", "element_size", element_size, "give 1 to 65536 bytes")
        spelling = f"array<{element_size}>"
        return DataType._interned.get(spelling) or DataType(
            spelling, TypeKind.ARRAY, element_size * 8, DataType.U8, element_size
        )

    @staticmethod
    def shaped_tensor(element: DataType, shape: tuple[int, ...]) -> DataType:
        """A tensor of known element and shape; declarable, but of no size of its own."""
        if not shape or any(not 0 < dim < 1 << 32 for dim in shape) or len(shape) > 8:
            raise _bad("shaped_tensor", "shape", shape, "give one to eight positive extents")
        return _unsized("tensor", element, shape)

    @staticmethod
    def sparse_csr(element: DataType) -> DataType:
        """A sparse matrix in compressed row form."""
        return _unsized("csr", element, ())

    @staticmethod
    def sparse_coo(element: DataType) -> DataType:
        """A sparse matrix as coordinates."""
        return _unsized("coo", element, ())

    @staticmethod
    def sparse_bsr(element: DataType, block_rows: int, block_columns: int) -> DataType:
        """A sparse matrix of dense blocks."""
        if not (0 < block_rows < 1 << 32 and 0 < block_columns < 1 << 32):
            raise _bad("sparse_bsr", "block", (block_rows, block_columns), "give positive extents")
        return _unsized("bsr", element, (block_rows, block_columns))

    @staticmethod
    def opaque(name: str) -> DataType:
        """A type that only some extension understands."""
        if not _OPAQUE_NAME.fullmatch(name):
            raise _bad("opaque", "name", name, "use letters, digits, dots and underscores")
        spelling = f"opaque<{name}>"
        return DataType._interned.get(spelling) or DataType(spelling, TypeKind.UNSIZED, None)

    @staticmethod
    def parse(spelling: str) -> DataType:
        """The type with this spelling."""
        known = DataType._interned.get(spelling)
        if known is not None:
            return known
        if match := _VEC.fullmatch(spelling):
            return DataType.vec(DataType.parse(match[2]), int(match[1]))
        if match := _PARAMETRIC.fullmatch(spelling):
            return _parse_parametric(match[1], [part.strip() for part in match[2].split(",")])
        raise _bad("DataType.parse", "spelling", spelling, "write a type such as u32 or vec4<f32>")


_SCALAR_KINDS = frozenset({TypeKind.BOOL, TypeKind.UNSIGNED, TypeKind.SIGNED, TypeKind.FLOAT})
_OPAQUE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,254}", re.ASCII)
_VEC = re.compile(r"vec([0-9]{1,2})<([a-z0-9]+)>", re.ASCII)
_PARAMETRIC = re.compile(r"(array|tensor|csr|coo|bsr|opaque)<([^<>]*)>", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)


def _bad(what: str, field: str, found: object, expected: str) -> BuildError:
    return BuildError(
        codes.BAD_FIELD.at(what=what, field=field, found=str(found), expected=expected)
    )


def _unsized(form: str, element: DataType, parameters: tuple[int, ...]) -> DataType:
    if not element.is_scalar:
        raise _bad(form, "element", element, "give a scalar type such as DataType.F32")
    spelling = f"{form}<{', '.join([str(element), *map(str, parameters)])}>"
    return DataType._interned.get(spelling) or DataType(  # pyright: ignore[reportPrivateUsage]
        spelling, TypeKind.UNSIZED, None, element, 1, parameters
    )


def _parse_parametric(form: str, parts: list[str]) -> DataType:
    if form == "opaque":
        return DataType.opaque(",".join(parts))
    numbers = parts if form == "array" else parts[1:]
    if any(not _NUMBER.fullmatch(number) for number in numbers):
        raise _bad(form, "parameters", ", ".join(parts), "write numbers")
    extents = tuple(int(number) for number in numbers)
    if form == "array" and len(extents) == 1:
        return DataType.array(extents[0])
    element = DataType.parse(parts[0])
    if form == "tensor":
        return DataType.shaped_tensor(element, extents)
    if form == "bsr" and len(extents) == 2:
        return DataType.sparse_bsr(element, *extents)
    if form in ("csr", "coo") and not extents:
        return _unsized(form, element, ())
    raise _bad(form, "parameters", ", ".join(parts), "give as many as the type takes")


DataType.BOOL = DataType("bool", TypeKind.BOOL, 8)
DataType.U8 = DataType("u8", TypeKind.UNSIGNED, 8)
DataType.I8 = DataType("i8", TypeKind.SIGNED, 8)
DataType.U16 = DataType("u16", TypeKind.UNSIGNED, 16)
DataType.I16 = DataType("i16", TypeKind.SIGNED, 16)
DataType.U32 = DataType("u32", TypeKind.UNSIGNED, 32)
DataType.I32 = DataType("i32", TypeKind.SIGNED, 32)
DataType.U64 = DataType("u64", TypeKind.UNSIGNED, 64)
DataType.I64 = DataType("i64", TypeKind.SIGNED, 64)
DataType.F16 = DataType("f16", TypeKind.FLOAT, 16)
DataType.BF16 = DataType("bf16", TypeKind.FLOAT, 16)
DataType.F32 = DataType("f32", TypeKind.FLOAT, 32)
DataType.F64 = DataType("f64", TypeKind.FLOAT, 64)
DataType.BYTES = DataType("bytes", TypeKind.BYTES, 8, value_type=DataType.U8)
DataType.F8E4M3 = DataType("f8e4m3", TypeKind.PACKED, 8, value_type=DataType.F32)
DataType.F8E5M2 = DataType("f8e5m2", TypeKind.PACKED, 8, value_type=DataType.F32)
DataType.I4 = DataType("i4", TypeKind.PACKED, 8, value_type=DataType.I32)
DataType.FP4 = DataType("fp4", TypeKind.PACKED, 8, value_type=DataType.F32)
DataType.NF4 = DataType("nf4", TypeKind.PACKED, 8, value_type=DataType.F32)
DataType.VEC2_U32 = DataType.vec(DataType.U32, 2)
DataType.VEC4_U32 = DataType.vec(DataType.U32, 4)
DataType.TENSOR = DataType("tensor", TypeKind.UNSIZED, None)

UNSIGNED_TYPES = (DataType.U8, DataType.U16, DataType.U32, DataType.U64)
SIGNED_TYPES = (DataType.I8, DataType.I16, DataType.I32, DataType.I64)
INTEGER_TYPES = (
    *(DataType.U8, DataType.I8, DataType.U16, DataType.I16),
    *(DataType.U32, DataType.I32, DataType.U64, DataType.I64),
)
ARITHMETIC_FLOATS = (DataType.F16, DataType.F32, DataType.F64)
"""Floats with arithmetic; `bf16` is held and converted, and computes as `f32`."""
SCALAR_TYPES = (
    DataType.BOOL,
    *INTEGER_TYPES,
    *(DataType.F16, DataType.BF16, DataType.F32, DataType.F64),
)
