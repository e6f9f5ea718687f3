"""Transcendental functions over vectors, as LLVM IR text that calls no library.

    maths = VectorMath(fma=host.has_fma)
    name = maths.use("exp", "f32", 8)        # "vyre_exp_v8f32", a <8 x float> (<8 x float>)
    ...                                      # call <8 x float> @vyre_exp_v8f32(<8 x float> %x)
    module_text += maths.text()              # every function used, each once

Widths go from 1 (scalar) upwards. Results are right for all arguments, NaN, infinities, signed
zeros and subnormals included; `maths.bounds.ULP_BOUNDS` says how right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.maths import (
    exponential,
    hyperbolic,
    inverse,
    logarithm,
    power,
    trigonometric,
)
from vyre.backends.llvm.maths.ssa import Code, Value

FloatType = Literal["f16", "f32", "f64"]

_UNARY: Final[dict[str, Callable[[Value], Value]]] = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "log1p": logarithm.log1p,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "asin": inverse.asin,
    "acos": inverse.acos,
    "atan": inverse.atan,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "tanh": hyperbolic.tanh,
    "rsqrt": power.rsqrt,
}
_BINARY: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "atan2": inverse.atan2,
    "pow": power.pow_,
}
FUNCTIONS: Final = frozenset(_UNARY) | frozenset(_BINARY)
"""The names that can be used; `atan2` and `pow` take two arguments."""

_ATTRIBUTE: Final = "<in place or not>"
_PURE: Final = "nounwind memory(none)"


class VectorMath:
    """The functions one module needs."""

    def __init__(self, *, fma: bool) -> None:
        self._fma = fma
        self._uses = 0
        self._definitions: dict[str, str] = {}
        self._shared: dict[str, None] = {}

    def use(self, function: str, dtype: FloatType, width: int) -> str:
        """The LLVM name, without @, of a function over `width` lanes; adds its definition."""
        self._uses += 1
        name = f"vyre_{function}_{dtype if width == 1 else f'v{width}{dtype}'}"
        if name not in self._definitions:
            if dtype == "f16":
                self._definitions[name] = self._through_single(function, name, width)
            else:
                self._definitions[name] = self._define(function, name, dtype, width)
        return name

    def text(self) -> str:
        """All definitions, in the order of first use."""
        attribute = (
            "alwaysinline" if self._uses <= heuristics.MAX_INLINE_MATHS_CALLS else "noinline"
        )
        made = [text.replace(_ATTRIBUTE, attribute, 1) for text in self._definitions.values()]
        return "\n".join([*self._shared, *made, ""])

    def _define(self, function: str, name: str, dtype: Literal["f32", "f64"], width: int) -> str:
        code = Code(width, self._fma)
        x = Value(code, dtype, "%x")
        if function in _UNARY:
            result = _UNARY[function](x)
        else:
            result = _BINARY[function](x, Value(code, dtype, "%y"))
        self._shared.update(code.needs)
        return self._function(name, code.type(dtype), function in _UNARY, code.lines, result.text)

    def _through_single(self, function: str, name: str, width: int) -> str:
        single = self.use(function, "f32", width)
        wide = Code(width, self._fma).type("f32")
        half = wide.replace("float", "half")
        lines = [f"  %xw = fpext {half} %x to {wide}"]
        arguments = f"{wide} %xw"
        if function in _BINARY:
            lines.append(f"  %yw = fpext {half} %y to {wide}")
            arguments += f", {wide} %yw"
        lines.append(f"  %r = call {wide} @{single}({arguments})")
        lines.append(f"  %h = fptrunc {wide} %r to {half}")
        return self._function(name, half, function in _UNARY, lines, "%h")

    def _function(self, name: str, type_: str, unary: bool, lines: list[str], result: str) -> str:
        arguments = f"{type_} %x" if unary else f"{type_} %x, {type_} %y"
        head = f"define internal {type_} @{name}({arguments}) {_PURE}"
        body = ["entry:", *lines, f"  ret {type_} {result}", "}"]
        return "\n".join([f"{head} {_ATTRIBUTE} {{", *body])


def with_calls(text: str) -> str:
    """The module with calls of these functions that are not inlined."""
    return text.replace(f"{_PURE} alwaysinline", f"{_PURE} noinline")
