"""Running vector functions over arrays, and their distance from exact results."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from vyre.backends.llvm import host, jit
from vyre.backends.llvm.loader import NativeCode, load_object
from vyre.backends.llvm.vector_math import FloatType, VectorMath

BINARY = ("atan2", "pow")
NUMPY: dict[str, Callable[..., Any]] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "pow": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
LLVM = {"f16": "half", "f32": "float", "f64": "double"}
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
WIDER = {"f16": np.float64, "f32": np.float64, "f64": np.longdouble}

_LOOP = """
define void @loop_{name}(ptr %a, ptr %b, ptr %o, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %pa = getelementptr {scalar}, ptr %a, i64 %i
  %x = load {type}, ptr %pa, align 2
  %pb = getelementptr {scalar}, ptr %b, i64 %i
  %y = load {type}, ptr %pb, align 2
  %r = call {type} @{function}({arguments})
  %po = getelementptr {scalar}, ptr %o, i64 %i
  store {type} %r, ptr %po, align 2
  %j = add i64 %i, {width}
  %more = icmp ult i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


class Functions:
    """All functions of one type and width, compiled."""

    def __init__(
        self, names: list[str], dtype: FloatType, width: int, target: host.Host, fma: bool
    ) -> None:
        self.dtype: FloatType = dtype
        self.width = width
        scalar = LLVM[dtype]
        type_ = scalar if width == 1 else f"<{width} x {scalar}>"
        maths = VectorMath(fma=fma)
        loops = [
            _LOOP.format(
                name=name,
                scalar=scalar,
                type=type_,
                function=maths.use(name, dtype, width),
                arguments=f"{type_} %x, {type_} %y" if name in BINARY else f"{type_} %x",
                width=width,
            )
            for name in names
        ]
        text = maths.text() + "".join(loops)
        exports = [f"loop_{name}" for name in names]
        self._code: NativeCode = load_object(jit.compile_text(text, target).object, exports)

    def __call__(self, name: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
        """The function of every element; lengths are multiples of the width."""
        assert x.size % self.width == 0
        y = x if y is None else y
        out = np.empty_like(x)
        loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(
            self._code.address(f"loop_{name}")
        )
        loop(x.ctypes.data, y.ctypes.data, out.ctypes.data, x.size)
        return out


def exact(name: str, dtype: FloatType, *arguments: np.ndarray) -> np.ndarray:
    """The function in longer arithmetic."""
    function = NUMPY.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        return function(*(a.astype(WIDER[dtype]) for a in arguments))


def ulps(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Distance in units in the last place of the exact result; infinite where kinds differ."""
    info = np.finfo(got.dtype)
    limit = np.exp2(np.longdouble(info.maxexp))
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.clip(np.abs(want), info.smallest_normal, info.max)))
        unit = np.exp2(exponent.astype(np.longdouble) - info.nmant)
        bounded = np.clip(want.astype(np.longdouble), -limit, limit)
        reached = np.clip(got.astype(np.longdouble), -limit, limit)
        error = np.abs(reached - bounded) / unit
    error = np.where(np.isnan(got) & np.isnan(want), 0, error)
    return np.where(np.isnan(got) != np.isnan(want), np.inf, error)


def wrong_zeros(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where the sign of a result is not that of the exact one."""
    return (np.signbit(got) != np.signbit(want)) & ~np.isnan(got)
