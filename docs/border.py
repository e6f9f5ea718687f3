"""What may be passed to a kernel, and what becomes of it: the table of the host's border.

Everything here is said, not asked of vyre: `tests/unit/runtime/test_host_border.py` passes each of
these values to kernels that read and that write, and compares. The reference page shows the table.
"""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from vyre.ir import DataType

COUNT = 8
"""Elements of every array."""

HELD: dict[DataType, str] = {
    DataType.BOOL: "bool",
    DataType.U8: "uint8",
    DataType.I8: "int8",
    DataType.U16: "uint16",
    DataType.I16: "int16",
    DataType.U32: "uint32",
    DataType.I32: "int32",
    DataType.U64: "uint64",
    DataType.I64: "int64",
    DataType.F16: "float16",
    DataType.F32: "float32",
    DataType.F64: "float64",
    DataType.BF16: "uint16",
    DataType.BYTES: "uint8",
    DataType.F8E4M3: "uint8",
    DataType.F8E5M2: "uint8",
    DataType.FP4: "uint8",
    DataType.NF4: "uint8",
    DataType.I4: "uint8",
    DataType.vec(DataType.F32, 4): "float32",
}
"""The numpy type whose arrays hold elements of each type."""

ALSO_HELD = {
    DataType.BF16: "bfloat16",
    DataType.F8E4M3: "float8_e4m3fn",
    DataType.F8E5M2: "float8_e5m2",
    DataType.FP4: "float4_e2m1fn",
    DataType.I4: "int4",
}
"""Types of the package ml_dtypes that hold the same bits."""

DTYPES = (
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64", "longdouble", "complex64", "complex128"),
    *(">u2", ">i4", ">f4", ">f8", "datetime64[s]", "timedelta64[s]", "S4", "U2", "O", "f4,f4"),
)
"""Types of numpy arrays."""


def array_outcome(element: DataType, dtype: str) -> str:
    """What becomes of an array of a type: it is used as what it is, or refused."""
    return "in place" if HELD[element] == dtype or ALSO_HELD.get(element) == dtype else "D005"


@dataclass(frozen=True)
class Case:
    """A value, made anew for every call, and what becomes of it."""

    make: Callable[[], Any]
    read: str
    """As `In`: `in place`, `copied`, or the code of a refusal."""
    written: str
    """As `InOut` and `Out`: `in place`, `copied and back`, or the code of a refusal."""
    note: str = ""
    rank: int = 1
    contents: Callable[[Any], Any] = np.asarray
    """Its numbers, by which the test compares; they share its memory where it has any."""


def floats(count: int = COUNT) -> Any:
    """Numbers that are easily told from others."""
    return np.arange(1, count + 1, dtype=np.float32)


def _square() -> Any:
    return floats(16).reshape(4, 4)


def _unaligned() -> Any:
    made = np.zeros(4 * COUNT + 1, np.uint8)[1:].view(np.float32)
    made[:] = floats()
    return made


def _read_only() -> Any:
    made = floats()
    made.flags.writeable = False
    return made


def _mapped() -> Any:
    made = mmap.mmap(-1, 4 * COUNT)
    made.write(floats().tobytes())
    return made


LAYOUTS: dict[str, Case] = {
    "contiguous": Case(floats, "in place", "in place"),
    "a part: `x[2:6]`": Case(lambda: floats()[2:6], "in place", "in place"),
    "empty": Case(lambda: floats(0), "in place", "in place"),
    "every second: `x[::2]`": Case(lambda: floats()[::2], "in place", "in place"),
    "backwards: `x[::-1]`": Case(lambda: floats()[::-1], "in place", "in place"),
    "transposed: `x.T`": Case(lambda: _square().T, "in place", "in place", rank=2),
    "in Fortran's order": Case(
        lambda: np.asfortranarray(_square()), "in place", "in place", rank=2
    ),
    "columns: `x[:, 1:3]`": Case(lambda: _square()[:, 1:3], "in place", "in place", rank=2),
    "one element in many places": Case(
        lambda: np.broadcast_to(floats(1), COUNT), "in place", "D014", "`np.broadcast_to`"
    ),
    "one element in many places, writable": Case(
        lambda: np.lib.stride_tricks.as_strided(floats(1), (COUNT,), (0,)), "in place", "D014"
    ),
    "at an odd address": Case(_unaligned, "copied", "copied and back"),
    "read-only": Case(_read_only, "in place", "D014"),
    "more elements than 32 bits count": Case(
        lambda: np.broadcast_to(np.float32(1), 1 << 32),
        "D032",
        "D014",
        "of a broadcast view, too",
        contents=lambda _: floats(),
    ),
    "axes that are longer than 32 bits count": Case(
        lambda: np.zeros(((1 << 32) + 5, 0), np.float32), "D032", "D032", rank=2
    ),
    "without axes": Case(lambda: np.array(1.0, np.float32), "F053", "F053"),
    "more axes than the parameter": Case(_square, "F053", "F053"),
}
"""Arrays of float32 for a parameter of f32, by how they lie in memory, on the CPU."""


class Tensor:
    """Speaks DLPack and nothing else, as a tensor of torch does."""

    def __init__(self) -> None:
        self.own = floats()

    def __dlpack__(self, **options: Any) -> object:
        return self.own.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.own.__dlpack_device__()


class CopyingTensor(Tensor):
    """Gives a copy each time."""

    def __dlpack__(self, **options: Any) -> object:
        return self.own.copy().__dlpack__()


class Interfaced:
    """Has `__array_interface__`."""

    def __init__(self) -> None:
        self.own = floats()
        self.__array_interface__ = self.own.__array_interface__


class Shared:
    """Has `__array__`, and gives its own memory."""

    def __init__(self) -> None:
        self.own = floats()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.own


class Stored(Shared):
    """Has `__array__`, and reads its numbers from somewhere each time, as h5py and zarr do."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.own.copy()


class OnAnotherDevice:
    """Memory that the host cannot reach."""

    __cuda_array_interface__: ClassVar = {
        "shape": (COUNT,),
        "typestr": "<f4",
        "data": (4096, False),
    }


def _own(value: Any) -> Any:
    return value.own


def _raw(value: Any) -> Any:
    return np.frombuffer(value, np.float32)


def _ctypes() -> Any:
    return (ctypes.c_float * COUNT)(*floats().tolist())


KINDS: dict[str, Case] = {
    "`bytes`": Case(lambda: floats().tobytes(), "in place", "D014", "its bytes", contents=_raw),
    "`bytearray`": Case(
        lambda: bytearray(floats().tobytes()), "in place", "in place", "its bytes", contents=_raw
    ),
    "`mmap`": Case(_mapped, "in place", "in place", "its bytes", contents=_raw),
    "`memoryview` of one of these": Case(
        lambda: memoryview(bytearray(floats().tobytes())),
        "in place",
        "in place",
        "its bytes",
        contents=_raw,
    ),
    "such a `memoryview`, at an odd address": Case(
        lambda: memoryview(bytearray(b"\0" + floats().tobytes()))[1:],
        "copied",
        "copied and back",
        "its bytes",
        contents=_raw,
    ),
    "`memoryview.cast('B')`": Case(
        lambda: memoryview(floats()).cast("B"), "in place", "in place", "its bytes", contents=_raw
    ),
    "such a `memoryview` with gaps": Case(
        lambda: memoryview(bytearray(8 * COUNT))[::2], "F053", "F053"
    ),
    "`bytes` that are no whole elements": Case(lambda: bytes(7), "D031", "D031"),
    "`memoryview` of an array of float32": Case(
        lambda: memoryview(floats()), "in place", "in place"
    ),
    "`memoryview` of an array of uint8": Case(
        lambda: memoryview(np.ones(4 * COUNT, np.uint8)), "D005", "D005", "these are numbers"
    ),
    "`array.array('f')`": Case(lambda: array.array("f", floats().tolist()), "in place", "in place"),
    "`array.array('d')`": Case(lambda: array.array("d", [1, 2]), "D005", "D005"),
    "array of `ctypes`": Case(_ctypes, "in place", "in place"),
    "DLPack (torch, jax, cupy on the host)": Case(Tensor, "in place", "in place", contents=_own),
    "DLPack that gives copies": Case(CopyingTensor, "copied", "D030", contents=_own),
    "`__array_interface__`": Case(Interfaced, "in place", "in place", contents=_own),
    "`__array__` that gives its own memory (pandas, xarray)": Case(
        Shared, "in place", "in place", contents=_own
    ),
    "`__array__` that gives copies (h5py, zarr)": Case(Stored, "copied", "D030", contents=_own),
    "`np.matrix`": Case(lambda: _square().view(np.matrix), "in place", "in place", rank=2),
    "other subclasses of arrays": Case(
        lambda: floats().view(type("Own", (np.ndarray,), {})), "in place", "in place"
    ),
    "masked array": Case(
        lambda: np.ma.masked_array(floats(), [1] + [0] * (COUNT - 1)), "F053", "F053"
    ),
    "scalar of numpy": Case(lambda: np.float32(1), "F053", "D030"),
    "memory of another device": Case(OnAnotherDevice, "F053", "F053"),
    "`list`": Case(lambda: [1.0, 2.0], "F053", "F053"),
    "`range`, `str`, `None`, a number": Case(lambda: "text", "F053", "F053"),
}
"""Values of other kinds for a parameter of f32, on the CPU."""


NUMBERS: dict[str, Any] = {
    "`True`": True,
    "`np.True_`": np.True_,
    "`0`": 0,
    "`3`": 3,
    "`-1`": -1,
    "`7`": 7,
    "`8`": 8,
    "`255`": 255,
    "`2**16`": 2**16,
    "`2**31`": 2**31,
    "`2**32 - 1`": 2**32 - 1,
    "`2**63`": 2**63,
    "`2**64`": 2**64,
    "`10**40`": 10**40,
    "`10**400`": 10**400,
    "`np.int8(-1)`": np.int8(-1),
    "`np.uint64(2**63)`": np.uint64(2**63),
    "`3.0`": 3.0,
    "`0.1`": 0.1,
    "`-0.5`": -0.5,
    "`1e5`": 1e5,
    "`1e39`": 1e39,
    "`1e300`": 1e300,
    "`nan`": float("nan"),
    "`inf`": float("inf"),
    "`np.float16(0.1)`": np.float16(0.1),
    "`np.float32(0.1)`": np.float32(0.1),
    "`np.float64(0.1)`": np.float64(0.1),
    "`np.longdouble(0.5)`": np.longdouble(0.5),
    "`np.array(3)`": np.array(3),
    "`np.array(3.0)`": np.array(3.0),
    "`1j`": 1j,
    "`np.complex64(1)`": np.complex64(1),
    "`np.timedelta64(3, 's')`": np.timedelta64(3, "s"),
    "`Decimal(3)`": Decimal(3),
    "`Fraction(3)`": Fraction(3),
    "`'3'`": "3",
    "`None`": None,
    "`np.ones(1)`": np.ones(1),
}
"""Values for a parameter that is a number."""

LARGEST = {
    DataType.F16: 65519.99,
    DataType.BF16: 3.3961775292304957e38,
    DataType.F32: 3.4028235677973366e38,
    DataType.F64: float("inf"),
    DataType.F8E4M3: 448.0,
    DataType.F8E5M2: 57344.0,
    DataType.FP4: 6.0,
    DataType.NF4: 1.0,
}
"""What the magnitude of a float must not pass: beyond, it would become infinite, or another."""
NO_NAN = (DataType.FP4, DataType.NF4)
INFINITE = (DataType.F16, DataType.BF16, DataType.F32, DataType.F64, DataType.F8E5M2)
RANGES = {DataType.I4: (-8, 7), DataType.BYTES: (0, 255)}


def number_outcome(element: DataType, value: Any) -> str:
    """`taken`, `rounded` to what the type holds, or the code of a refusal."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    kind = np.asarray(value).dtype.kind if not isinstance(value, int) else "i"
    if isinstance(value, (Decimal, Fraction, str, np.ndarray, np.timedelta64)) or value is None:
        return "F053"
    if isinstance(value, (bool, np.bool_)):
        return "taken" if element is DataType.BOOL else "D020"
    if element is DataType.BOOL or kind == "c":
        return "D020"
    if element not in LARGEST:
        low, high = RANGES.get(element) or element.integer_range
        return "taken" if kind in "iu" and low <= value <= high else "D020"
    if kind in "iu":
        return "rounded" if abs(int(value)) <= LARGEST[element] and abs(value) < 2**1024 else "D020"
    if np.isnan(value):
        return "D020" if element in NO_NAN else "rounded"
    if np.isinf(value):
        return "rounded" if element in INFINITE else "D020"
    return "rounded" if abs(float(value)) <= LARGEST[element] else "D020"


CONVERSIONS = ("bool", "uint8", "int8", "uint32", "int32", "int64", "float16", "float32", "float64")
"""Types between which `vy.array(x, dtype=...)` and `write` may convert."""


def conversion_outcome(source: str, target: str) -> str:
    """`yes`, `rounded`, `if they fit`, or the code of a refusal."""
    one, two = np.dtype(source), np.dtype(target)
    if one == two or np.can_cast(one, two, "safe"):
        return "yes"
    if one.kind in "ui" and two.kind in "ui":
        return "if they fit"
    if one.kind in "uif" and two.kind == "f":
        return "rounded"
    return "D005"
