"""Calls of vectorised transcendental functions, added to the module when used."""

from __future__ import annotations

from vyre.backends.llvm.emit.builder import Builder, register_type
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.vector_math import FloatType, VectorMath
from vyre.ir import DataType

_TYPES: dict[DataType, FloatType] = {
    DataType.F16: "f16",
    DataType.F32: "f32",
    DataType.F64: "f64",
}


class Approximate:
    """Emits opcodes whose results carry an ULP bound."""

    def __init__(self, writer: Builder, host: Host) -> None:
        self.w = writer
        self.functions = VectorMath(fma=host.has_fma)

    def call(self, name: str, dtype: DataType, lanes: int, *arguments: str) -> str:
        """Emit a call of a function, by the spelling of its opcode."""
        symbol = self.functions.use(name, _TYPES[dtype], max(lanes, 1))
        type_ = register_type(dtype, lanes)
        passed = ", ".join(f"{type_} {argument}" for argument in arguments)
        return self.w.emit(f"call {type_} @{symbol}({passed})")
