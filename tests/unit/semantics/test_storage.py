"""Types that memory holds otherwise than variables do: every code, and every way to round."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tests.unit.semantics.exact import Format, fraction
from vyre import semantics
from vyre.ir import DataType
from vyre.semantics.packed import NF4_BOUNDARIES, NF4_VALUES

SMALL = {
    DataType.F8E4M3: (Format(4, 4), 0x7F),
    DataType.F8E5M2: (Format(3, 5), 0x7C),
    DataType.FP4: (Format(2, 2), 8),
}
"""The format, and the first code (of the positive ones) that is no finite number."""


def finite_values(element: DataType) -> list[Fraction]:
    form, end = SMALL[element]
    return [fraction(form, code) for code in range(end)]


@pytest.mark.parametrize("element", SMALL, ids=str)
def test_every_finite_code_loads_as_its_value(element: DataType) -> None:
    values = finite_values(element)
    sign = SMALL[element][0].sign_bit
    codes = np.arange(len(values), dtype=np.uint8)
    assert semantics.decode(element, codes).tolist() == [float(v) for v in values]
    negated = semantics.decode(element, codes | np.uint8(sign))
    assert negated.tolist() == [-float(v) for v in values]
    assert np.signbit(negated).all()


def test_codes_that_are_no_numbers() -> None:
    load = semantics.decode(DataType.F8E5M2, np.array([0x7C, 0xFC, 0x7D, 0xFF], np.uint8))
    assert load[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(load[2:]).all()
    assert np.isnan(semantics.decode(DataType.F8E4M3, np.array([0x7F, 0xFF], np.uint8))).all()


@pytest.mark.parametrize("element", SMALL, ids=str)
def test_stores_round_to_nearest_even(element: DataType) -> None:
    form, end = SMALL[element]
    values = finite_values(element)
    sign = form.sign_bit
    for code, (low, high) in enumerate(pairwise(values)):
        middle = np.float32(float((low + high) / 2))
        below, above = np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(1e9))
        given = np.array([low, below, middle, above, high], np.float32)
        even = code if code % 2 == 0 else code + 1
        expected = [code, code, even, code + 1, code + 1]
        assert semantics.encode(element, given).tolist() == expected
        assert semantics.encode(element, -given).tolist() == [c | sign for c in expected]
    assert end == len(values)


def test_what_is_too_large() -> None:
    big = np.array([1e30, -1e30, np.inf, -np.inf, np.nan], np.float32)
    assert semantics.encode(DataType.F8E4M3, big).tolist()[:4] == [0x7E, 0xFE, 0x7E, 0xFE]
    assert np.isnan(semantics.decode(DataType.F8E4M3, semantics.encode(DataType.F8E4M3, big))[4])
    assert semantics.encode(DataType.F8E5M2, big).tolist()[:4] == [0x7C, 0xFC, 0x7C, 0xFC]
    assert np.isnan(semantics.decode(DataType.F8E5M2, semantics.encode(DataType.F8E5M2, big))[4])
    assert semantics.encode(DataType.FP4, big).tolist() == [7, 15, 7, 15, 0]
    assert semantics.encode(DataType.NF4, big).tolist() == [15, 0, 15, 0, 7]
    edge = np.array([448, 463.9, 464, 57344, 61439, 61440], np.float32)
    assert semantics.encode(DataType.F8E4M3, edge[:3]).tolist() == [0x7E, 0x7E, 0x7E]
    assert semantics.encode(DataType.F8E5M2, edge[3:]).tolist() == [0x7B, 0x7B, 0x7C]


def test_nf4_takes_the_nearest_entry() -> None:
    table = [Fraction(value) for value in NF4_VALUES]
    given = [np.float32(v) for v in (*NF4_VALUES, *NF4_BOUNDARIES, -5, 5, 1e-9, -1e-9)]
    given += [
        np.nextafter(np.float32(v), np.float32(side)) for v in NF4_BOUNDARIES for side in (-2, 2)
    ]
    expected = [
        min(range(16), key=lambda code, v=v: (abs(table[code] - Fraction(float(v))), code))
        for v in given
    ]
    assert semantics.encode(DataType.NF4, np.array(given)).tolist() == expected
    assert all(Fraction(float(np.float32(value))) == Fraction(value) for value in NF4_VALUES)


@pytest.mark.parametrize("element", [DataType.I4, DataType.FP4, DataType.NF4], ids=str)
def test_the_upper_half_of_a_byte_is_ignored_and_written_as_zero(element: DataType) -> None:
    codes = np.arange(256, dtype=np.uint8)
    loaded = semantics.decode(element, codes)
    assert (loaded[:16] == loaded.reshape(16, 16)).all()
    assert semantics.encode(element, loaded).tolist() == [c & 15 for c in codes.tolist()]


def test_i4_wraps_nothing_and_saturates() -> None:
    loaded = semantics.decode(DataType.I4, np.arange(16, dtype=np.uint8))
    assert loaded.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1]
    given = np.array([-(2**31), -9, -8, -1, 7, 8, 2**31 - 1], np.int32)
    assert semantics.encode(DataType.I4, given).tolist() == [8, 8, 8, 15, 7, 7, 7]


def test_bool_bytes() -> None:
    assert semantics.decode(DataType.BOOL, np.array([0, 1, 2, 255], np.uint8)).tolist() == [
        *(False, True, True, True)
    ]
    assert semantics.encode(DataType.BOOL, np.array([True, False])).tolist() == [1, 0]


def test_bf16_keeps_the_bits_of_memory() -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    values = semantics.decode(DataType.BF16, every)
    assert (semantics.encode(DataType.BF16, values) == every).all()


@pytest.mark.parametrize(
    "element", [DataType.U8, DataType.F16, DataType.F64, DataType.VEC4_U32], ids=str
)
def test_ordinary_types_are_stored_as_they_are(element: DataType) -> None:
    values = np.arange(4, dtype=semantics.storage_dtype(element))
    assert semantics.decode(element, values) is values
    assert semantics.encode(element, values) is values
