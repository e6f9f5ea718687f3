"""What the parameters of a kernel can be: scalars, arrays, compile-time values.

`vy.In[vy.f32]` is an array that is read, `vy.Out` one that is written and begins as zeros, and
`vy.InOut` one that is changed. A second argument is the number of axes: `vy.In[vy.f32, 2]`.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, TypeVarTuple, cast, get_args

from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front.scalars import BY_NUMPY_NAME, ScalarType
from vyre.ir import DataType
from vyre.record import dataclass

__all__ = ["In", "InOut", "Out", "generic", "static"]

T = TypeVar("T")
Rank = TypeVarTuple("Rank")
MAX_RANK = 3


class Mode(Enum):
    """What a kernel does with an array."""

    IN = "In"
    OUT = "Out"
    INOUT = "InOut"


class Layout(Enum):
    """How the elements of a view lie in memory, where they are not simply one after the other."""

    ROWS = "rows"
    """The elements of a row are neighbours; rows may lie anywhere."""
    STRIDED = "strided"
    """Any distance along every axis, also none and backwards."""


@dataclass(frozen=True, slots=True)
class GenericType:
    """A type that the arguments of a call decide."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """One number, the same for every invocation."""

    dtype: DataType | GenericType


@dataclass(frozen=True, slots=True)
class ArrayParameter:
    """An array."""

    mode: Mode
    dtype: DataType | GenericType
    rank: int = 1


@dataclass(frozen=True, slots=True)
class StaticParameter:
    """A Python value that is known when the kernel is compiled."""

    kind: type


Parameter = ScalarParameter | ArrayParameter | StaticParameter


class View(Generic[T, *Rank]):
    """An array as the code of a kernel sees it."""

    def __getitem__(self, index: int | tuple[int, ...]) -> T:
        """The element at an index, `x[i]` or `x[row, column]`; zero out of bounds."""
        raise _outside("an array")

    def __setitem__(self, index: int | tuple[int, ...], value: T) -> None:
        """Store a value of the array's own type; out of bounds nothing happens."""
        raise _outside("an array")

    def __len__(self) -> int:
        """The extent of the first axis, an index value."""
        raise _outside("an array")

    shape: tuple[int, ...]
    """The extent of each axis: `x.shape[0]`, or `rows, columns = x.shape`."""
    size: int
    """The number of elements along all axes."""
    ndim: int
    """The number of axes, a constant."""

    def u16(self, index: int | tuple[int, ...]) -> int:
        """The two bytes that begin at a byte offset, as a `u16`, the first the least significant.

        Of arrays of bytes. A byte out of bounds counts as zero.
        """
        raise _outside("u16")

    def u32(self, index: int | tuple[int, ...]) -> int:
        """The four bytes that begin at a byte offset, as a `u32`, the first the least significant.

        Of arrays of bytes, at any offset: `text.u32(i + 1)`. A byte out of bounds counts as zero.
        """
        raise _outside("u32")

    def u64(self, index: int | tuple[int, ...]) -> int:
        """The eight bytes that begin at a byte offset, as a `u64`, the first the least significant.

        Of arrays of bytes. A byte out of bounds counts as zero.
        """
        raise _outside("u64")

    def atomic_load(self, index: int | tuple[int, ...]) -> T:
        """Load an element in one step, while other invocations may change it by atomics."""
        raise _outside("atomic_load")

    def atomic_store(self, index: int | tuple[int, ...], value: T) -> None:
        """Replace an element in one step, while other invocations may access it by atomics."""
        raise _outside("atomic_store")

    def atomic_add(self, index: int | tuple[int, ...], value: T) -> T:
        """Add to an element in one step; gives the value that was there before."""
        raise _outside("atomic_add")

    def atomic_sub(self, index: int | tuple[int, ...], value: T) -> T:
        """Subtract from an element in one step; gives the value that was there before."""
        raise _outside("atomic_sub")

    def atomic_and(self, index: int | tuple[int, ...], value: T) -> T:
        """Bitwise and with an element in one step; gives the value that was there before."""
        raise _outside("atomic_and")

    def atomic_or(self, index: int | tuple[int, ...], value: T) -> T:
        """Bitwise or with an element in one step; gives the value that was there before."""
        raise _outside("atomic_or")

    def atomic_xor(self, index: int | tuple[int, ...], value: T) -> T:
        """Exclusive or with an element in one step; gives the value that was there before."""
        raise _outside("atomic_xor")

    def atomic_min(self, index: int | tuple[int, ...], value: T) -> T:
        """Keep the lesser in one step; gives the value that was there before. NaN is ignored."""
        raise _outside("atomic_min")

    def atomic_max(self, index: int | tuple[int, ...], value: T) -> T:
        """Keep the greater in one step; gives the value that was there before. NaN is ignored."""
        raise _outside("atomic_max")

    def atomic_exchange(self, index: int | tuple[int, ...], value: T) -> T:
        """Replace an element in one step; gives the value that was there before."""
        raise _outside("atomic_exchange")

    def atomic_compare_exchange(self, index: int | tuple[int, ...], expected: T, value: T) -> T:
        """Replace an element if it is `expected`, in one step; gives the value that was there.

        It was replaced if the result is `expected`.
        """
        raise _outside("atomic_compare_exchange")


def _outside(name: str) -> FrontError:
    return FrontError(codes.OUTSIDE.at(name=name))


class _ArrayForm:
    """`In`, `Out` and `InOut`: indexing gives the parameter."""

    def __init__(self, mode: Mode, meaning: str) -> None:
        self.mode = mode
        self.__doc__ = meaning

    def __getitem__(self, wanted: Any) -> ArrayParameter:
        given = cast("tuple[Any, ...]", wanted) if isinstance(wanted, tuple) else (wanted, 1)
        element, rank = given if len(given) == 2 else (given, 1)
        # Type checkers take `Literal[2]` for a number among types.
        rank = next(iter(get_args(rank)), rank)
        dtype = element_type(element)
        if dtype is None:
            raise FrontError(codes.BAD_ELEMENT.at(form=self.mode.value, found=repr(element)))
        if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= MAX_RANK:
            raise FrontError(codes.BAD_RANK.at(form=self.mode.value, found=repr(rank)))
        return ArrayParameter(self.mode, dtype, rank)

    def __repr__(self) -> str:
        return f"vyre.{self.mode.value}"


class _StaticForm:
    """`static`: indexing gives the parameter."""

    __doc__ = (
        "A parameter whose value is a constant of the compiled kernel: `n: vy.static[int]`, also "
        "`float` and `bool`. Every value is compiled anew."
    )

    def __getitem__(self, kind: Any) -> StaticParameter:
        if kind not in (int, float, bool):
            raise FrontError(codes.BAD_STATIC.at(found=repr(kind)))
        return StaticParameter(kind)

    def __repr__(self) -> str:
        return "vyre.static"


if TYPE_CHECKING:
    # Callers pass numpy arrays, device arrays and buffers; the code of a kernel sees a view.
    In: TypeAlias = View[T, *Rank] | Any
    Out: TypeAlias = View[T, *Rank] | Any
    InOut: TypeAlias = View[T, *Rank] | Any
    static: TypeAlias = T

    def generic(name: str) -> Any:
        """A type that the arguments of a call decide."""
else:
    In = _ArrayForm(
        Mode.IN,
        "An array that the kernel reads: `x: vy.In[vy.f32]`, or `vy.In[vy.f32, 2]` of two axes.",
    )
    Out = _ArrayForm(
        Mode.OUT, "An array that the kernel writes, `y: vy.Out[vy.f32]`; it begins as zeros."
    )
    InOut = _ArrayForm(
        Mode.INOUT, "An array that the kernel reads and changes in place: `y: vy.InOut[vy.f32]`."
    )
    static = _StaticForm()

    def generic(name: str) -> GenericType:
        """A type that the arguments of a call decide: `T = vy.generic("T")`, then `vy.In[T]`."""
        return GenericType(name)


def element_type(wanted: object) -> DataType | GenericType | None:
    """The type that an annotation names; None if it names none."""
    if isinstance(wanted, ScalarType):
        return wanted.dtype
    if isinstance(wanted, DataType):
        return wanted
    if isinstance(wanted, type) and wanted.__module__ == "numpy":
        return BY_NUMPY_NAME.get(wanted.__name__.rstrip("_"))
    return generic_of(wanted)


def generic_of(wanted: object) -> GenericType | None:
    """The generic type that a value of Python stands for: `vy.generic("T")`, or a `TypeVar`."""
    if isinstance(wanted, TypeVar):
        return GenericType(wanted.__name__)
    return wanted if isinstance(wanted, GenericType) else None


def parameter_of(annotation: object) -> Parameter | None:
    """The parameter that an annotation declares; None if it declares none."""
    if isinstance(annotation, (ScalarParameter, ArrayParameter, StaticParameter)):
        return annotation
    dtype = element_type(annotation)
    return None if dtype is None else ScalarParameter(dtype)
