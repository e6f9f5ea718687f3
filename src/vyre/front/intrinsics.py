"""Functions that kernels call. Each is translated where a kernel calls it; outside it refuses."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front.parameters import View

T = TypeVar("T")


def outside(name: str) -> NoReturn:
    """Refuse a call that no kernel makes."""
    raise FrontError(codes.OUTSIDE.at(name=name))


def gid(axis: int = 0) -> int:
    """The invocation's position in the grid, along an axis (0 is x)."""
    outside("vy.gid")


def lid(axis: int = 0) -> int:
    """The invocation's position in its workgroup."""
    outside("vy.lid")


def wid(axis: int = 0) -> int:
    """The workgroup's position in the grid."""
    outside("vy.wid")


def num_groups(axis: int = 0) -> int:
    """The number of workgroups along an axis."""
    outside("vy.num_groups")


def group_size(axis: int = 0) -> int:
    """The number of invocations of a workgroup along an axis."""
    outside("vy.group_size")


def barrier() -> None:
    """Wait for the workgroup: what was written before is seen by all after."""
    outside("vy.barrier")


def grid_sync() -> None:
    """Wait for the whole grid: what was written before is seen by all after."""
    outside("vy.grid_sync")


def async_load(
    destination: View[T],
    destination_start: int,
    source: View[T],
    source_start: int,
    count: int,
    *,
    tag: str = "copy",
) -> None:
    """The workgroup starts to copy elements of an array into shared memory."""
    outside("vy.async_load")


def async_store(
    destination: View[T],
    destination_start: int,
    source: View[T],
    source_start: int,
    count: int,
    *,
    tag: str = "copy",
) -> None:
    """The workgroup starts to copy elements of shared memory into an array."""
    outside("vy.async_store")


def async_wait(*, tag: str = "copy") -> None:
    """Wait for all copies with this tag, and for the workgroup."""
    outside("vy.async_wait")


def shared(dtype: type[T], *shape: int | tuple[int, ...]) -> View[T]:
    """An array that a workgroup shares, zero at first: `t = vy.shared(vy.f32, 256)`."""
    outside("vy.shared")


def local(dtype: type[T], *shape: int | tuple[int, ...]) -> View[T]:
    """An array of each invocation's own, zero at first: `t = vy.local(vy.u32, 8)`."""
    outside("vy.local")


def popcount(x: int) -> int:
    """The number of one bits."""
    outside("vy.popcount")


def clz(x: int) -> int:
    """The number of zero bits above the highest one bit; the width for 0."""
    outside("vy.clz")


def ctz(x: int) -> int:
    """The number of zero bits below the lowest one bit; the width for 0."""
    outside("vy.ctz")


def reverse_bits(x: int) -> int:
    """The bits in the opposite order."""
    outside("vy.reverse_bits")


def byte_swap(x: int) -> int:
    """The bytes in the opposite order."""
    outside("vy.byte_swap")


def rotl(x: int, amount: int) -> int:
    """The bits rotated to the left."""
    outside("vy.rotl")


def rotr(x: int, amount: int) -> int:
    """The bits rotated to the right."""
    outside("vy.rotr")


def mul_hi(a: int, b: int) -> int:
    """The upper half of the product."""
    outside("vy.mul_hi")


def add_sat(a: int, b: int) -> int:
    """The sum, held at the ends of the type."""
    outside("vy.add_sat")


def sub_sat(a: int, b: int) -> int:
    """The difference, held at the ends of the type."""
    outside("vy.sub_sat")


def bitcast(x: float, dtype: type[T]) -> T:
    """The same bits, read as another type of the same width."""
    outside("vy.bitcast")


def select(condition: bool, if_true: T, if_false: T) -> T:
    """One of two values; both are evaluated."""
    outside("vy.select")


def subgroup_size() -> int:
    """How many lanes the subgroup has."""
    outside("vy.subgroup_size")


def subgroup_lane() -> int:
    """The invocation's lane in its subgroup."""
    outside("vy.subgroup_lane")


def subgroup_ballot(condition: bool) -> tuple[int, int, int, int]:
    """A bit per lane of the subgroup, in four `u32`."""
    outside("vy.subgroup_ballot")


def subgroup_shuffle(x: T, lane: int) -> T:
    """The value that another lane of the subgroup holds."""
    outside("vy.subgroup_shuffle")


def subgroup_add(x: T) -> T:
    """The sum over the subgroup."""
    outside("vy.subgroup_add")


def subgroup_mul(x: T) -> T:
    """The product over the subgroup."""
    outside("vy.subgroup_mul")


def subgroup_min(x: T) -> T:
    """The least value of the subgroup."""
    outside("vy.subgroup_min")


def subgroup_max(x: T) -> T:
    """The greatest value of the subgroup."""
    outside("vy.subgroup_max")


def subgroup_and(x: T) -> T:
    """All values of the subgroup, and."""
    outside("vy.subgroup_and")


def subgroup_or(x: T) -> T:
    """All values of the subgroup, or."""
    outside("vy.subgroup_or")


def subgroup_xor(x: T) -> T:
    """All values of the subgroup, exclusive or."""
    outside("vy.subgroup_xor")


def print(label: str, *values: Any) -> None:
    """Show values while debugging; on the reference and the CPU."""
    outside("vy.print")
