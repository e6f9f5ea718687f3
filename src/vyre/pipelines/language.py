"""What the body of a pipeline is written with, besides kernels and host arithmetic.

Each name means something only where `@vy.pipeline` compiles it; elsewhere a call is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, TypeVarTuple

from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import pipeline as codes

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Array", "again", "at_most", "copy", "flag", "keep", "scratch", "scratch_like", "when"]

T = TypeVar("T")
Rank = TypeVarTuple("Rank")


if TYPE_CHECKING:

    class Array(Generic[T, *Rank]):
        """What a pipeline returns: a numpy array or a device array."""

        shape: tuple[int, ...]
        dtype: np.dtype[Any]

        def __len__(self) -> int: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...

    def scratch(dtype: Any, size: int | tuple[int, ...], *, count: Any = None) -> Any:
        """An array of zeros that lives as long as the call: `t = vy.scratch(vy.f32, len(x))`."""

    def at_most(limit: int, *, start: int | None = None) -> int:
        """The size of scratch that a stage counts: `limit` at most, room for `start` at first."""
        ...

    def scratch_like(array: Any) -> Any:
        """Scratch with the type and the shape of an array."""

    def flag() -> Any:
        """One `u32` on the device, zero at first; a stage sets it: `moved.atomic_max(0, 1)`."""

    def again(flag: Any, *, most: int) -> bool:
        """`while vy.again(moved, most=n)`: once, then while a stage set the flag."""
        ...

    def when(flag: Any) -> bool:
        """`if vy.when(few)`: decided by what the flag holds on the device."""
        ...

    def copy(source: Any, target: Any) -> None:
        """Copy an array to another of its size; no effect if both names stand for one array."""

    def keep(array: Any) -> None:
        """Leave scratch in memory, so that it can be read after the call."""

else:

    class Array(Generic[T, *Rank]):
        """The annotation of what a pipeline returns: `def find(...) -> vy.Array[vy.u32]`.

        A second argument is the number of axes, as in `vy.In`.
        """

    def _outside(name: str, meaning: str) -> Any:
        def form(*args: object, **options: object) -> NoReturn:
            raise PlanError(codes.OUTSIDE.at(name=name))

        form.__name__ = form.__qualname__ = name
        form.__doc__ = meaning
        return form

    scratch = _outside(
        "scratch",
        "An array of zeros that lives as long as the call: `t = vy.scratch(vy.f32, len(x))`.",
    )
    at_most = _outside(
        "at_most",
        "The size of scratch that a stage counts: `limit` at most, room for `start` at first.",
    )
    scratch_like = _outside("scratch_like", "Scratch with the type and the shape of an array.")
    flag = _outside(
        "flag", "One `u32` on the device, zero at first; a stage sets it: `moved.atomic_max(0, 1)`."
    )
    again = _outside(
        "again", "`while vy.again(moved, most=n)`: once, then while a stage set the flag."
    )
    when = _outside("when", "`if vy.when(few)`: decided by what the flag holds on the device.")
    copy = _outside(
        "copy",
        "Copy an array to another of its size; no effect if both names stand for one array.",
    )
    keep = _outside("keep", "Leave scratch in memory, so that it can be read after the call.")
