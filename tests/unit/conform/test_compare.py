"""When two results count as the same."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.conform.compare import (
    EXACT,
    Tolerance,
    compare,
    compare_outputs,
    matches,
    of_opcode,
)
from vyre.ir import BinOp, DataType, Program, UnOp
from vyre.semantics import Array, from_bits, storage_dtype
from vyre.semantics.ulp import error, spacing

INF, NAN = np.inf, np.nan
FLOATS = (DataType.F16, DataType.F32, DataType.F64)


def floats(dtype: DataType, *values: float) -> Array:
    return np.array(values, storage_dtype(dtype))


def next_up(dtype: DataType, value: float, steps: int) -> Array:
    found = floats(dtype, value)
    for _ in range(abs(steps)):
        found = np.nextafter(found, floats(dtype, INF if steps > 0 else -INF))
    return found


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exact(dtype: DataType) -> None:
    expected = floats(dtype, 1.0, NAN, INF, 0.0, -0.0, 1.0, INF, NAN)
    actual = floats(dtype, 1.0, -NAN, INF, -0.0, 0.0, -1.0, -INF, 1.0)
    assert matches(dtype, expected, actual).tolist() == [*(True,) * 3, *(False,) * 5]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_any_nan_equals_any_nan(dtype: DataType) -> None:
    bits = {DataType.F16: 0x7E00, DataType.F32: 0x7FC00000, DataType.F64: 0x7FF8 << 48}[dtype]
    quiet, other = (from_bits(dtype, np.array([b], np.uint64)) for b in (bits, bits | 5))
    assert matches(dtype, quiet, other).all()
    assert not matches(dtype, quiet, floats(dtype, 1.0), Tolerance(ulps=1e9)).any()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_flushed_subnormals(dtype: DataType) -> None:
    tiny = next_up(dtype, 0.0, 3)
    zero = floats(dtype, 0.0)
    assert matches(dtype, tiny, zero).all()
    assert matches(dtype, zero, tiny).all()
    assert not matches(dtype, tiny, -zero).any()
    assert not matches(dtype, tiny, next_up(dtype, 0.0, 4)).any()
    assert not matches(dtype, tiny, zero, Tolerance(flushed=False)).any()
    normal = floats(dtype, float(np.finfo(storage_dtype(dtype)).tiny))
    assert not matches(dtype, normal, zero).any()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("value", [1.5, -1.5, 1e-3, 40000.0])
def test_units_in_the_last_place(dtype: DataType, value: float) -> None:
    for steps in (1, 2, 3, 4, -3, -4):
        near = next_up(dtype, value, steps)
        allowed = matches(dtype, floats(dtype, value), near, Tolerance(ulps=3))
        assert allowed.tolist() == [abs(steps) <= 3]
        assert error(dtype, floats(dtype, value), near).tolist() == [abs(steps)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_at_a_power_of_two_the_larger_unit_counts(dtype: DataType) -> None:
    """Below 1 numbers lie twice as dense: six steps down are three units of 1."""
    below = next_up(dtype, 1.0, -6)
    assert error(dtype, floats(dtype, 1.0), below).tolist() == [3.0]
    assert spacing(dtype, floats(dtype, 1.0))[0] == np.finfo(storage_dtype(dtype)).eps


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_overflow_by_rounding_is_one_step(dtype: DataType) -> None:
    greatest = floats(dtype, float(np.finfo(storage_dtype(dtype)).max))
    assert error(dtype, greatest, floats(dtype, INF)).tolist() == [1.0]
    assert matches(dtype, greatest, floats(dtype, INF), Tolerance(ulps=1)).all()
    assert not matches(dtype, greatest, floats(dtype, INF)).any()
    assert not matches(dtype, floats(dtype, -INF), floats(dtype, INF), Tolerance(ulps=9)).any()


def test_a_tolerance_does_not_turn_zeros_around() -> None:
    zero = floats(DataType.F32, 0.0)
    assert not matches(DataType.F32, zero, -zero, Tolerance(ulps=4)).any()
    assert matches(DataType.F32, zero, -zero, of_opcode(BinOp.MIN, DataType.F32)).all()


def test_bounds_of_opcodes() -> None:
    assert of_opcode(UnOp.SIN, DataType.F32).ulps == 4
    assert of_opcode(BinOp.ADD, DataType.F32) == EXACT
    assert of_opcode(UnOp.SQRT, DataType.F64) == EXACT


def test_integers_and_truth_values() -> None:
    loose = Tolerance(ulps=100)
    one, two = np.array([1, 5], np.uint32), np.array([1, 6], np.uint32)
    assert matches(DataType.U32, one, two, loose).tolist() == [True, False]
    seven, true = np.array([7, 0, 0], np.uint8), np.array([True, False, True])
    assert matches(DataType.BOOL, seven, true).tolist() == [True, True, False]


def test_bf16_vectors_and_stored_types() -> None:
    nan, other = np.array([0x7FC0], np.uint16), np.array([0x7FC1], np.uint16)
    assert matches(DataType.BF16, nan, other).all()
    step = np.array([0x3F81], np.uint16), np.array([0x3F80], np.uint16)
    assert matches(DataType.BF16, *step, Tolerance(ulps=1)).all()
    assert not matches(DataType.BF16, *step).any()
    pair = DataType.vec(DataType.F32, 2)
    left = np.array([[1, NAN], [2, 3]], np.float32)
    right = np.array([[1, NAN], [2, 4]], np.float32)
    assert matches(pair, left, right).tolist() == [[True, True], [True, False]]
    assert matches(DataType.F8E4M3, np.array([0x7F], np.uint8), np.array([0xFF], np.uint8)).all()
    assert not matches(DataType.FP4, np.array([0], np.uint8), np.array([8], np.uint8)).any()


def test_what_a_difference_says() -> None:
    expected, actual = floats(DataType.F32, 1, 2, 3), floats(DataType.F32, 1, 2.5, 4)
    found = compare("out", DataType.F32, expected, actual)
    assert found is not None
    assert (found.index, found.count, found.total) == (1, 2, 3)
    assert str(found) == (
        "out[1] is 2.5 and should be 2.0 (2 of 3 elements differ, the worst by 2.09715e+06 ULP)"
    )
    shorter = compare("out", DataType.F32, expected, actual[:2])
    assert str(shorter) == "out has 2 elements and should have 3"
    assert compare("out", DataType.F32, expected, expected.copy()) is None
    words = compare("n", DataType.U8, np.array([1], np.uint8), np.array([2], np.uint8))
    assert str(words) == "n[0] is 2 and should be 1 (1 of 1 elements differ)"


def test_one_of_several_expected_results_is_enough() -> None:
    kept, flushed = floats(DataType.F32, 1e-10, 5), floats(DataType.F32, 0, 6)
    mixed = floats(DataType.F32, 0, 5)
    assert compare("out", DataType.F32, [kept, flushed], mixed) is None
    assert compare("out", DataType.F32, [kept], mixed) is not None


def test_all_outputs_of_a_program() -> None:
    program = Program.parse(
        "program workgroup(1, 1, 1)\n\nbuffer a: read_only u32[] @0\n"
        "buffer x: read_write f32[] @1\nbuffer y: read_write u32[] @2\n"
    )
    one = {"x": floats(DataType.F32, 1.0), "y": np.array([1], np.uint32)}
    two = {"x": next_up(DataType.F32, 1.0, 2), "y": np.array([2], np.uint32)}
    assert [d.buffer for d in compare_outputs(program, one, two)] == ["x", "y"]
    loose = compare_outputs(program, one, two, {"x": Tolerance(ulps=2)})
    assert [d.buffer for d in loose] == ["y"]
