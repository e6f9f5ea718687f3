"""The table of the host's border (`docs/border.py`): each value in kernels that read and write.

What a kernel gets is compared with what numpy says of the same memory, three times in a row, as
calls like one before look at less.
"""
# Types and the number of axes come from tables here.
# pyright: reportGeneralTypeIssues=false, reportInvalidTypeForm=false

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import vyre as vy
from docs.border import (
    ALSO_HELD,
    CONVERSIONS,
    COUNT,
    DTYPES,
    HELD,
    KINDS,
    LAYOUTS,
    NUMBERS,
    Case,
    array_outcome,
    conversion_outcome,
    number_outcome,
)
from vyre.backends.llvm.device import CpuDevice, HostMemory
from vyre.diagnostics import VyreError
from vyre.ir import DataType
from vyre.semantics import decode

OTHERS = [i.id for i in vy.devices() if i.available and i.id in ("reference", "wgpu:0")]
CALLS = 3


@cache
def copying(element: DataType, rank: int, mode: str) -> Any:
    """A kernel that copies the shorter array to the beginning of the longer one."""
    form = {"Out": vy.Out, "InOut": vy.InOut}[mode]
    if rank == 1:

        @vy.kernel
        def copied(x: vy.In[element], y: form[element]):
            i = vy.gid()
            if i < len(x):
                y[i] = x[i]

        return copied

    @vy.kernel(workgroup=(8, 8))
    def copied2(x: vy.In[element, rank], y: form[element, rank]):
        j, i = vy.gid(0), vy.gid(1)
        if i < x.shape[0] and j < x.shape[1]:
            y[i, j] = x[i, j]

    return copied2


def refusal(call: Callable[[], object]) -> str:
    """The code with which a call is refused; nothing if it is not."""
    try:
        call()
    except VyreError as error:
        return str(error.code) if error.fix else "no fix"
    return ""


@contextmanager
def adoptions() -> Iterator[list[range]]:
    """The addresses of memory that the CPU uses in place."""
    found: list[range] = []
    adopt = CpuDevice.adopt

    def noted(self: Any, array: memoryview) -> HostMemory | None:
        memory = adopt(self, array)
        assert memory is not None
        found.append(range(memory.address, memory.address + memory.nbytes))
        return memory

    with patch.object(CpuDevice, "adopt", noted):
        yield found


def is_among(array: Any, found: list[range]) -> bool:
    low, high = np.lib.array_utils.byte_bounds(array)
    return any(low < one.stop and one.start < high for one in found)


def check_read(element: DataType, case: Case, outcome: str, device: str = "cpu") -> None:
    value = case.make()
    target = np.full(np.shape(case.contents(value)) if outcome[0] in "ic" else COUNT, 0)
    target = target.astype(HELD[element])
    kernel = copying(element, case.rank, "InOut")
    if outcome not in ("in place", "copied"):
        assert refusal(lambda: kernel(value, target, device=device)) == outcome
        return
    for _ in range(CALLS):
        target[...] = 0
        with adoptions() as found:
            kernel(value, target, device=device)
        expected = np.asarray(case.contents(value))
        np.testing.assert_array_equal(target.view(expected.dtype), expected)
        if device == "cpu" and found and expected.size:
            assert is_among(expected, found) == (outcome == "in place")


def check_written(element: DataType, case: Case, mode: str, outcome: str, device: str) -> None:
    value = case.make()
    kernel = copying(element, case.rank, mode)
    if outcome not in ("in place", "copied and back"):
        source = np.ones((COUNT,) * case.rank, HELD[element])
        before = _bytes_of(case, value)
        assert refusal(lambda: kernel(source, value, device=device)) == outcome
        assert _bytes_of(case, value) == before
        return
    own = case.contents(value)
    held = own.view(HELD[element])
    for turn in range(CALLS):
        # All but what is last along the first axis.
        source = np.full(held.shape, turn + 2).astype(held.dtype)[: len(held) - 1]
        last = held[len(held) - 1 :].copy()
        with adoptions() as found:
            kernel(np.ascontiguousarray(source), value, device=device)
        np.testing.assert_array_equal(held[: len(held) - 1], source)
        kept = last if mode == "InOut" else np.zeros_like(last)
        np.testing.assert_array_equal(held[len(held) - 1 :], kept)
        if device == "cpu" and found and own.size:
            assert is_among(own, found) == (outcome == "in place")


def _bytes_of(case: Case, value: Any) -> object:
    try:
        return np.asarray(case.contents(value)).tobytes()
    except (TypeError, ValueError):
        return None


def _of_type(dtype: str) -> Any:
    if dtype in ALSO_HELD.values():
        dtype = getattr(importlib.import_module("ml_dtypes"), dtype)
    kind = np.dtype(dtype)
    return np.arange(COUNT).astype(kind) if kind.names is None else np.zeros(COUNT, kind)


@pytest.mark.parametrize("element", HELD, ids=str)
def test_arrays_of_every_type(element: DataType) -> None:
    for dtype in (*DTYPES, *ALSO_HELD.values()):
        outcome = array_outcome(element, dtype)

        def make(dtype: str = dtype) -> Any:
            return _of_type(dtype)

        check_read(element, Case(make, outcome, outcome), outcome)
        lanes = element.lanes
        for mode in ("Out", "InOut") if lanes == 1 else ():
            check_written(element, Case(make, outcome, outcome), mode, outcome, "cpu")


def test_arrays_of_every_type_for_a_generic_parameter() -> None:
    kind = vy.generic("T")

    @vy.kernel
    def copied(x: vy.In[kind], y: vy.InOut[kind]):
        i = vy.gid()
        if i < len(x):
            y[i] = x[i]

    for dtype in DTYPES:
        value, target = _of_type(dtype), _of_type(dtype)
        taken = any(array_outcome(element, dtype) == "in place" for element in HELD)
        code = refusal(lambda: copied(value, target, device="cpu"))  # noqa: B023
        assert code == ("" if taken else "D005")


@pytest.mark.parametrize("name", [*LAYOUTS, *KINDS])
@pytest.mark.parametrize("device", ["cpu", *OTHERS])
def test_values_of_every_kind(name: str, device: str) -> None:
    case = {**LAYOUTS, **KINDS}[name]
    check_read(DataType.F32, case, case.read, device)
    for mode in ("Out", "InOut"):
        check_written(DataType.F32, case, mode, case.written, device)


@pytest.mark.parametrize("name", [*LAYOUTS, *KINDS])
def test_programs_take_the_same(name: str) -> None:
    """`vyre.run` refuses what kernels refuse, but for axes, which programs do not have."""
    case = {**LAYOUTS, **KINDS}[name]
    program = copying(DataType.F32, 1, "InOut").program()
    for in_place in (False, True):
        value = case.make()
        source = np.full(np.size(case.contents(value)) if case.written[0] in "ic" else 2, 5.0)
        source = source.astype(np.float32)
        given = {"x": source[:-1], "y": value}
        outcome = case.written if in_place else case.read
        if "axes" in name or name == "scalar of numpy":
            continue
        refused = outcome[0] in "DF"
        code = refusal(lambda: vy.run(program, given, device="cpu", in_place=in_place))  # noqa: B023
        assert bool(code) == refused
        if in_place and not refused and source.size:
            assert (np.ravel(case.contents(value))[:-1] == 5).all()


@cache
def storing(element: DataType) -> Any:
    """A kernel that stores a number as what it is when it is loaded."""
    loaded = element.value_type
    if loaded is element:

        @vy.kernel
        def stored(a: element, y: vy.Out[element]):
            y[0] = a

        return stored
    convert = {DataType.F32: vy.f32, DataType.I32: vy.i32, DataType.U8: vy.u8}[loaded]

    @vy.kernel
    def decoded(a: element, y: vy.Out[loaded]):
        y[0] = convert(a)

    return decoded


@pytest.mark.parametrize("element", [e for e in HELD if e.lanes == 1], ids=str)
def test_numbers_of_every_kind(element: DataType) -> None:
    """Twice in turns with another number, so that calls like one before come by all of them."""
    for _ in range(2):
        for value in NUMBERS.values():
            y = np.full(1, 1).astype(HELD[element.value_type])
            before = y.copy()
            kernel = storing(element)
            outcome = number_outcome(element, value)
            code = refusal(lambda: kernel(value, y, device="cpu"))  # noqa: B023
            assert code == ("" if outcome in ("taken", "rounded") else outcome), (value, element)
            if code:
                np.testing.assert_array_equal(y, before)
            else:
                _check_number(element, value, y)


def _check_number(element: DataType, value: Any, stored: Any) -> None:
    """What is stored is the number, or the nearest one that the type has."""
    found = decode(element.value_type, stored)[0]
    if not element.value_type.is_float:
        assert int(found) == int(value)
        return
    exact = float(value)
    if not np.isfinite(exact):
        np.testing.assert_equal(float(found), exact)
    elif element.value_type is element:
        bits = {DataType.F16: 11, DataType.BF16: 8, DataType.F32: 24, DataType.F64: 53}[element]
        assert abs(float(found) - exact) <= abs(exact) * 2.0**-bits
    else:
        codes = np.arange(16 if element in (DataType.FP4, DataType.NF4) else 256, dtype=np.uint8)
        every = decode(element, codes).astype(np.float64)
        nearest = abs(every[np.isfinite(every)] - exact).min()
        assert abs(float(found) - exact) == nearest


@pytest.mark.parametrize("target", CONVERSIONS)
def test_contents_of_device_arrays(target: str) -> None:
    for source in CONVERSIONS:
        outcome = conversion_outcome(source, target)
        for numbers in _numbers_of(source):
            with np.errstate(all="ignore"):
                wanted = numbers.astype(target)
            if outcome == "if they fit":
                code = "" if (wanted == numbers).all() else "D020"
            elif outcome == "rounded":
                code = "D020" if (np.isinf(wanted) & np.isfinite(numbers)).any() else ""
            else:
                code = "" if outcome == "yes" else outcome
            made = vy.array(wanted, "cpu")
            assert refusal(lambda: vy.array(numbers, "cpu", target)) == code  # noqa: B023
            assert refusal(lambda: made.write(numbers)) == code  # noqa: B023
            np.testing.assert_array_equal(made.numpy(), wanted)
            if not code:
                np.testing.assert_array_equal(vy.array(numbers, "cpu", target).numpy(), wanted)


def _numbers_of(dtype: str) -> list[Any]:
    kind = np.dtype(dtype)
    small = np.array([0, 1, 1, 0]).astype(kind)
    if kind.kind == "b":
        return [small]
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    return [small, np.array([limits.min, limits.max, 0], kind)]


def test_the_table_is_whole() -> None:
    """Each type of the language is in it, and each numpy type that holds one."""
    packed = (DataType.F8E4M3, DataType.F8E5M2, DataType.FP4, DataType.NF4, DataType.I4)
    floats = (DataType.F16, DataType.BF16, DataType.F32, DataType.F64)
    whole = [DataType.parse(f"{sign}{bits}") for sign in "ui" for bits in (8, 16, 32, 64)]
    assert {DataType.BOOL, DataType.BYTES, *packed, *floats, *whole} <= set(HELD)
    assert set(HELD.values()) <= set(DTYPES)
