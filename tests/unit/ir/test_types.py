"""Types: one object each, spelled uniquely, with the sizes the specification says."""

from __future__ import annotations

import gc
import pickle

import pytest

from tests.unit.ir.samples import ALL_TYPES
from vyre.diagnostics import BuildError
from vyre.ir import DataType
from vyre.ir.types import SCALAR_TYPES

SIZES = {
    **{"bool": 1, "u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8},
    **{"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "bytes": 1, "f8e4m3": 1, "f8e5m2": 1},
    **{"i4": 1, "fp4": 1, "nf4": 1, "vec2<u32>": 8, "array<1>": 1, "array<65536>": 65536},
    **{"vec16<bool>": 16, "vec3<bf16>": 6, "tensor": None, "csr<f16>": None, "coo<i8>": None},
    **{"tensor<f32, 1, 2, 4294967295>": None, "bsr<f64, 4, 8>": None},
    "opaque<vendor.kind_2>": None,
}


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_a_type_is_its_spelling(dtype: DataType) -> None:
    assert DataType.parse(str(dtype)) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype  # noqa: S301
    assert dtype.size_bytes == SIZES[str(dtype)]


def test_values_of_storage_types() -> None:
    values = {
        str(dtype): str(dtype.value_type) for dtype in ALL_TYPES if dtype.value_type is not dtype
    }
    assert values == {
        **{"bytes": "u8", "i4": "i32"},
        **dict.fromkeys(("f8e4m3", "f8e5m2", "fp4", "nf4"), "f32"),
    }


def test_what_variables_can_hold() -> None:
    holdable = {dtype for dtype in ALL_TYPES if dtype.is_value}
    vectors = {dtype for dtype in ALL_TYPES if dtype.is_vector}
    assert holdable == {*SCALAR_TYPES, *vectors}


@pytest.mark.parametrize(
    "spelling",
    [
        *("u33", "", "U32", "vec1<u32>", "vec17<u32>", "vec2<vec2<u32>>", "vec2<bytes>", "vec2<>"),
        *("array<0>", "array<65537>", "array<x>", "array<1, 2>", "tensor<f32>", "tensor<f32, 0>"),
        *("bsr<f32>", "bsr<f32, 1>", "bsr<f32, 1, 2, 3>", "csr<f32, 1>", "csr<>", "opaque<>"),
        *("opaque<a b>", "tensor<f32, 4294967296>", "tensor<f32, 99999999999>", "vec2<u32> "),
        "tensor<u8, 1, 1, 1, 1, 1, 1, 1, 1, 1>",
    ],
)
def test_what_is_no_type_is_refused(spelling: str) -> None:
    with pytest.raises(BuildError) as caught:
        DataType.parse(spelling)
    assert caught.value.code == "I008"


def test_types_nobody_uses_leave_nothing_behind() -> None:
    known = len(DataType._interned)
    for size in range(1000, 3000):
        DataType.array(size)
    gc.collect()
    assert len(DataType._interned) == known
