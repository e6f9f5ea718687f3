"""Conversions between scalar types, scalar or one element per lane."""

from __future__ import annotations

from vyre.backends.llvm.emit.arithmetic import Arithmetic
from vyre.backends.llvm.emit.builder import (
    constant,
    known_integer,
    mangled,
    register_type,
    widened,
)
from vyre.backends.llvm.host import Host
from vyre.ir import DataType

_HALF_BEYOND = 131_072
"""Beyond this every integer becomes an infinite half; integers may be clamped to it first."""


class Casts:
    """Emits conversions."""

    def __init__(self, arithmetic: Arithmetic, host: Host) -> None:
        self.a = arithmetic
        self.w = arithmetic.w
        self._saturates = host.saturates_vectors

    def cast(self, source: DataType, target: DataType, lanes: int, value: str) -> str:
        """Emit a conversion by value."""
        if source is target:
            return value
        if target.is_bool:
            return self._to_bool(source, lanes, value)
        if source.is_bool:
            return self._from_bool(target, lanes, value)
        if source.is_integer and target.is_integer:
            return self._between_integers(source, target, lanes, value)
        if source.is_integer:
            return self._integer_to_float(source, target, lanes, value)
        if target.is_integer:
            return self._float_to_integer(source, target, lanes, value)
        return self._between_floats(source, target, lanes, value)

    def bitcast(self, source: DataType, target: DataType, lanes: int, value: str) -> str:
        """Emit a reinterpretation of the same bits as another type."""
        old, new = register_type(source, lanes), register_type(target, lanes)
        return value if old == new else self.w.emit(f"bitcast {old} {value} to {new}")

    def _to_bool(self, source: DataType, lanes: int, value: str) -> str:
        if source is DataType.BF16:
            value, source = self.a.bf16_to_f32(lanes, value), DataType.F32
        type_, scalar = register_type(source, lanes), register_type(source)
        if source.is_float:
            zero = constant(scalar, 0.0, lanes)
            return self.w.emit(f"fcmp une {type_} {value}, {zero}")
        return self.w.emit(f"icmp ne {type_} {value}, {constant(scalar, 0, lanes)}")

    def _from_bool(self, target: DataType, lanes: int, value: str) -> str:
        flag = widened("i1", lanes)
        if target is DataType.BF16:
            one = self.w.emit(f"uitofp {flag} {value} to {widened('float', lanes)}")
            return self.a.f32_to_bf16(lanes, one)
        opcode = "uitofp" if target.is_float else "zext"
        return self.w.emit(f"{opcode} {flag} {value} to {register_type(target, lanes)}")

    def _between_integers(self, source: DataType, target: DataType, lanes: int, value: str) -> str:
        old, new = register_type(source, lanes), register_type(target, lanes)
        if old == new:
            return value
        known = known_integer(value)
        if known is not None:
            known %= 1 << (source.bits or 0)
            if source.is_signed and known >> ((source.bits or 0) - 1):
                known -= 1 << (source.bits or 0)
            return constant(register_type(target), known % (1 << (target.bits or 0)), lanes)
        if (source.bits or 0) > (target.bits or 0):
            return self.w.emit(f"trunc {old} {value} to {new}")
        return self.w.emit(f"{'sext' if source.is_signed else 'zext'} {old} {value} to {new}")

    def _integer_to_float(self, source: DataType, target: DataType, lanes: int, value: str) -> str:
        old = register_type(source, lanes)
        opcode = "sitofp" if source.is_signed else "uitofp"
        if target in (DataType.F32, DataType.F64):
            return self.w.emit(f"{opcode} {old} {value} to {register_type(target, lanes)}")
        if target is DataType.F16:
            return self._integer_to_half(source, lanes, value)
        return self.a.f32_to_bf16(lanes, self._integer_to_float_odd(source, lanes, value))

    def _integer_to_half(self, source: DataType, lanes: int, value: str) -> str:
        # Halves end far below 2**17, where a float still holds every integer exactly.
        if (source.bits or 0) > 16:
            scalar = f"i{source.bits}"
            type_ = widened(scalar, lanes)
            sign = "s" if source.is_signed else "u"
            value = self.w.intrinsic(
                f"{sign}min", type_, value, constant(scalar, _HALF_BEYOND, lanes)
            )
            if source.is_signed:
                value = self.w.intrinsic(
                    "smax", type_, value, constant(scalar, -_HALF_BEYOND, lanes)
                )
        opcode = "sitofp" if source.is_signed else "uitofp"
        old, narrow = register_type(source, lanes), widened("float", lanes)
        exact = self.w.emit(f"{opcode} {old} {value} to {narrow}")
        return self.w.emit(f"fptrunc {narrow} {exact} to {widened('half', lanes)}")

    def _integer_to_float_odd(self, source: DataType, lanes: int, value: str) -> str:
        """Emit an integer as a float rounded to odd."""
        old, wide = register_type(source, lanes), widened("double", lanes)
        opcode = "sitofp" if source.is_signed else "uitofp"
        if source.bits == 64:
            value = self._sticky(source, lanes, value)
        exact = self.w.emit(f"{opcode} {old} {value} to {wide}")
        return self.a.double_to_float_odd(lanes, exact)

    def _sticky(self, source: DataType, lanes: int, value: str) -> str:
        """Emit a 64-bit integer with its lowest bits folded into one.

        These are the bits that a double has no room for.
        """
        w = self.w
        type_, flag = widened("i64", lanes), widened("i1", lanes)
        size = w.intrinsic("abs", type_, value, extra="i1 false") if source.is_signed else value
        large = w.emit(f"icmp ugt {type_} {size}, {constant('i64', (1 << 53) - 1, lanes)}")
        low = w.emit(f"and {type_} {value}, {constant('i64', 0xFFF, lanes)}")
        some = w.emit(f"icmp ne {type_} {low}, {constant('i64', 0, lanes)}")
        kept = w.emit(f"and {type_} {value}, {constant('i64', -0x1000, lanes)}")
        bit = constant("i64", 0x800, lanes)
        mark = w.emit(f"select {flag} {some}, {type_} {bit}, {type_} {constant('i64', 0, lanes)}")
        folded = w.emit(f"or {type_} {kept}, {mark}")
        return w.emit(f"select {flag} {large}, {type_} {folded}, {type_} {value}")

    def _float_to_integer(self, source: DataType, target: DataType, lanes: int, value: str) -> str:
        if source in (DataType.BF16, DataType.F16):
            value = self._between_floats(source, DataType.F32, lanes, value)
            source = DataType.F32
        if lanes and (target.bits or 0) <= 32 and not self._saturates:
            return self._saturated(source, target, lanes, value)
        old, new = register_type(source, lanes), register_type(target, lanes)
        kind = "fptosi.sat" if target.is_signed else "fptoui.sat"
        name = f"llvm.{kind}.{mangled(new)}.{mangled(old)}"
        return self.w.call(name, new, (old, value))

    def _saturated(self, source: DataType, target: DataType, lanes: int, value: str) -> str:
        """Emit floats as the nearest integers of the type; NaN is 0.

        Where no instruction does that to a vector, LLVM scalarises it.
        """
        w, bits, signed = self.w, target.bits or 0, target.is_signed
        least = -(1 << (bits - 1)) if signed else 0
        most = (1 << (bits - signed)) - 1
        old, scalar = register_type(source, lanes), register_type(source)
        flags, middle = widened("i1", lanes), widened("i32", lanes)

        def is_(order: str, limit: int) -> str:
            return w.emit(f"fcmp {order} {old} {value}, {constant(scalar, float(limit), lanes)}")

        below, above = is_("olt", least), is_("oge", most + 1)
        inside = w.emit(f"and {flags} {is_('oge', least)}, {is_('olt', most + 1)}")
        zeros = constant(scalar, 0.0, lanes)
        safe = w.emit(f"select {flags} {inside}, {old} {value}, {old} {zeros}")
        opcode = "fptosi" if signed or bits < 32 else "fptoui"
        whole = w.emit(f"{opcode} {old} {safe} to {middle}")
        for beyond, limit in ((above, most), (below, least)):
            # Values outside the range are 0 so far.
            if limit:
                end = constant("i32", limit, lanes)
                whole = w.emit(f"select {flags} {beyond}, {middle} {end}, {middle} {whole}")
        new = register_type(target, lanes)
        return whole if new == middle else w.emit(f"trunc {middle} {whole} to {new}")

    def _between_floats(self, source: DataType, target: DataType, lanes: int, value: str) -> str:
        if source is DataType.BF16:
            value = self.a.bf16_to_f32(lanes, value)
            return self._between_floats(DataType.F32, target, lanes, value)
        if source is target:
            return value
        if target is DataType.BF16:
            narrow = (
                self.a.double_to_float_odd(lanes, value)
                if source is DataType.F64
                else self._between_floats(source, DataType.F32, lanes, value)
            )
            return self.a.f32_to_bf16(lanes, narrow)
        if source is DataType.F64 and target is DataType.F16:
            return self.a.double_to_half(lanes, value)
        old, new = register_type(source, lanes), register_type(target, lanes)
        opcode = "fpext" if (source.bits or 0) < (target.bits or 0) else "fptrunc"
        if source is DataType.F16 and target is DataType.F64:
            middle = widened("float", lanes)
            value = self.w.emit(f"fpext {old} {value} to {middle}")
            return self.w.emit(f"fpext {middle} {value} to {new}")
        return self.w.emit(f"{opcode} {old} {value} to {new}")
