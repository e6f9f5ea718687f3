"""Transcendental functions: calls of the vectorised ones, made part of the module when used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.codegen.writer import register_type, widened
from vyre.backends.llvm import maths
from vyre.ir import BinOp, DataType, UnOp

if TYPE_CHECKING:
    from vyre.backends.llvm.codegen.kernel import Kernel


class Approximate:
    """Emits opcodes whose results carry an ULP bound."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.w = kernel.w

    def unary(self, op: UnOp, dtype: DataType, lanes: int, a: str) -> str:
        """A function of one argument."""
        return self._call(op.row.spelling, dtype, lanes, a)

    def binary(self, op: BinOp, dtype: DataType, lanes: int, a: str, b: str) -> str:
        """A function of two arguments."""
        return self._call(op.row.spelling, dtype, lanes, a, b)

    def _call(self, name: str, dtype: DataType, lanes: int, *arguments: str) -> str:
        if dtype is DataType.F16:
            return self._through_float(name, lanes, *arguments)
        scalar = register_type(dtype)
        width = max(lanes, 1)
        symbol = maths.function_name(name, scalar, width)
        if symbol not in self.kernel.math_functions:
            fma = self.kernel.host.has_fma
            self.kernel.math_functions[symbol] = maths.emit_function(name, scalar, width, fma=fma)
        type_ = widened(scalar, lanes)
        passed = ", ".join(f"{type_} {argument}" for argument in arguments)
        return self.w.emit(f"call {type_} @{symbol}({passed})")

    def _through_float(self, name: str, lanes: int, *arguments: str) -> str:
        half, single = widened("half", lanes), widened("float", lanes)
        wide = [self.w.emit(f"fpext {half} {a} to {single}") for a in arguments]
        made = self._call(name, DataType.F32, lanes, *wide)
        return self.w.emit(f"fptrunc {single} {made} to {half}")
