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
    """The position of the invocation in the grid, along an axis."""
    outside("vy.gid")


def lid(axis: int = 0) -> int:
    """The position of the invocation in its workgroup, along an axis."""
    outside("vy.lid")


def wid(axis: int = 0) -> int:
    """The position of the workgroup in the grid, along an axis."""
    outside("vy.wid")


def num_groups(axis: int = 0) -> int:
    """The number of workgroups in the grid, along an axis."""
    outside("vy.num_groups")


def group_size(axis: int = 0) -> int:
    """The number of invocations in a workgroup, along an axis: a constant."""
    outside("vy.group_size")


def barrier() -> None:
    """Wait until all invocations of the workgroup are here, and see what they wrote before.

    A barrier that some invocations could miss is refused.
    """
    outside("vy.barrier")


def grid_sync() -> None:
    """Wait until all invocations of the grid are here, and see what they wrote before.

    It stands at the top level of a kernel, or in loops that all invocations run alike. Arrays made
    by `vy.shared` are zero again after it.
    """
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
    """The workgroup starts to copy `count` elements of an array into a shared one.

    `async_wait` with the same tag waits for them. What the source does not have arrives as zero.
    """
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
    """The workgroup starts to copy `count` elements of a shared array into another one.

    `async_wait` with the same tag waits for them. What the destination does not have is dropped.
    """
    outside("vy.async_store")


def async_wait(*, tag: str = "copy") -> None:
    """Wait for all copies with this tag, and for the workgroup, as `barrier` does."""
    outside("vy.async_wait")


def shared(dtype: type[T], *shape: int | tuple[int, ...]) -> View[T]:
    """An array that the invocations of a workgroup share, zero at first.

    `t = vy.shared(vy.f32, 16, 17)` in a kernel or a function; the extents are constants. Each call
    of the function has its own. In a loop it is zero again in each iteration, for which the
    workgroup waits there, as for `barrier`.
    """
    outside("vy.shared")


def local(dtype: type[T], *shape: int | tuple[int, ...]) -> View[T]:
    """An array of the invocation's own, zero at first.

    `t = vy.local(vy.u32, 8)` in a kernel or a function; the extents are constants. Each call of the
    function has its own. In a loop it is zero again in each iteration.
    """
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
    """The bits rotated to the left, by an amount modulo the width."""
    outside("vy.rotl")


def rotr(x: int, amount: int) -> int:
    """The bits rotated to the right, by an amount modulo the width."""
    outside("vy.rotr")


def mul_hi(a: int, b: int) -> int:
    """The upper half of the product in twice the width."""
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
    """`if_true` where the condition holds, else `if_false`; both are evaluated."""
    outside("vy.select")


def subgroup_size() -> int:
    """The number of lanes in a subgroup."""
    outside("vy.subgroup_size")


def subgroup_lane() -> int:
    """The position of the invocation in its subgroup."""
    outside("vy.subgroup_lane")


def subgroup_ballot(condition: bool) -> tuple[int, int, int, int]:
    """A bit for each lane of the subgroup, in a tuple of four `u32`: lane 0 is the lowest bit."""
    outside("vy.subgroup_ballot")


def subgroup_shuffle(x: T, lane: int) -> T:
    """The value of `x` in another lane of the subgroup; zero if there is no such lane."""
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
    """The bitwise and over the subgroup."""
    outside("vy.subgroup_and")


def subgroup_or(x: T) -> T:
    """The bitwise or over the subgroup."""
    outside("vy.subgroup_or")


def subgroup_xor(x: T) -> T:
    """The bitwise exclusive or over the subgroup."""
    outside("vy.subgroup_xor")


def print(label: str, *values: Any) -> None:
    """Print a label and values, with the id of the invocation; on the reference and the CPU.

    The lines appear when the call ends.
    """
    outside("vy.print")
