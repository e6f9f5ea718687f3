"""When two results are the same: the one place that decides.

Integers and truth values are the same when they are equal. Floats are the same when their bits
are, or both are NaN, or one is zero and the other a subnormal number of the same sign (a device
may flush those), or they differ by no more than the units in the last place that the tolerance
grants. A result that an approximate opcode had a part in is given that opcode's bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vyre import ir
from vyre.record import dataclass
from vyre.semantics import Array, decode, storage_dtype
from vyre.semantics.representation import unsigned
from vyre.semantics.ulp import bound, error, is_subnormal


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much two floats may differ and still be the same."""

    ulps: float = 0.0
    """Units in the last place."""
    flushed: bool = True
    """Whether a subnormal number and the zero of its sign are the same."""
    zero_signs: bool = False
    """Whether +0 and -0 are the same: min and max of both may give either."""


EXACT = Tolerance()


def of_opcode(op: ir.UnOp | ir.BinOp, dtype: ir.DataType) -> Tolerance:
    """What the result of one opcode is granted."""
    either_zero = op in (ir.BinOp.MIN, ir.BinOp.MAX, ir.BinOp.MINIMUM, ir.BinOp.MAXIMUM)
    return Tolerance(ulps=bound(op, dtype), zero_signs=either_zero)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first of the elements in which two results differ."""

    buffer: str
    index: int | None
    """None when the results do not even have the same length."""
    expected: object
    actual: object
    count: int
    """How many elements differ."""
    total: int
    ulps: float = float("nan")
    """How far the worst is off, for floats."""

    def __str__(self) -> str:
        """One line for people."""
        if self.index is None:
            return f"{self.buffer} has {self.actual} elements and should have {self.expected}"
        off = "" if np.isnan(self.ulps) else f", the worst by {self.ulps:g} ULP"
        return (
            f"{self.buffer}[{self.index}] is {self.actual} and should be {self.expected} "
            f"({self.count} of {self.total} elements differ{off})"
        )


def matches(
    element: ir.DataType, expected: Array, actual: Array, tolerance: Tolerance = EXACT
) -> Array:
    """Which entries of memory hold the same, lane by lane where elements are vectors."""
    scalar = element.element if element.is_vector and element.element is not None else element
    expected, actual = _stored(scalar, expected), _stored(scalar, actual)
    if scalar.is_bool:
        return (expected != 0) == (actual != 0)
    equal = unsigned(expected) == unsigned(actual)
    form = scalar.value_type
    if not form.is_float or equal.all():
        return equal
    e, a = decode(scalar, expected), decode(scalar, actual)
    same = equal | (np.isnan(e) & np.isnan(a))
    if tolerance.zero_signs:
        same |= (e == 0) & (a == 0)
    if tolerance.ulps and scalar.kind is not ir.TypeKind.PACKED:
        same |= (error(form, e, a) <= tolerance.ulps) & ((e != 0) | (a != 0))
    if tolerance.flushed and scalar.kind is not ir.TypeKind.PACKED:
        one_zero = ((a == 0) & is_subnormal(form, e)) | ((e == 0) & is_subnormal(form, a))
        same |= one_zero & (np.signbit(e) == np.signbit(a))
    return same


def compare(
    buffer: str,
    element: ir.DataType,
    expected: Array | Sequence[Array],
    actual: Array,
    tolerance: Tolerance = EXACT,
) -> Difference | None:
    """What is wrong with a result, or None.

    Several expected results mean that each entry may be as in any of them: with and without
    subnormal operands flushed, for example.
    """
    choices = [expected] if isinstance(expected, np.ndarray) else list(expected)
    first = choices[0]
    if first.size != actual.size:
        return Difference(buffer, None, len(first), len(actual), 1, 1)
    same = np.logical_or.reduce([matches(element, each, actual, tolerance) for each in choices])
    wrong = np.flatnonzero(~same.reshape(-1))
    if not wrong.size:
        return None
    scalar = element.element if element.is_vector and element.element is not None else element
    e, a = (decode(scalar, _stored(scalar, x)).reshape(-1)[wrong] for x in (first, actual))
    form = scalar.value_type
    ulps = float(error(form, e, a).max()) if form.is_float else float("nan")
    index = int(wrong[0]) // element.lanes
    return Difference(buffer, index, e[0], a[0], wrong.size, same.size, ulps)


def compare_outputs(
    program: ir.Program,
    expected: Mapping[str, Array],
    actual: Mapping[str, Array],
    tolerances: Mapping[str, Tolerance] | None = None,
) -> list[Difference]:
    """The differences in all buffers that the host reads back."""
    found: list[Difference] = []
    for decl in program.buffers:
        if decl.is_host_output:
            tolerance = (tolerances or {}).get(decl.name, EXACT)
            here = compare(
                decl.name, decl.element, expected[decl.name], actual[decl.name], tolerance
            )
            found += [] if here is None else [here]
    return found


def _stored(scalar: ir.DataType, given: Array) -> Array:
    """Memory as the bits that the type is stored as, however the host names them."""
    array = np.ascontiguousarray(given)
    stored = storage_dtype(scalar)
    return array if array.dtype == stored else array.view(stored)
