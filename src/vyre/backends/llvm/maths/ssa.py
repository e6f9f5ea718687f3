"""Writing straight-line vector code as if it were arithmetic.

A `Value` stands for an SSA value of `width` lanes; its operators append instructions to the
function being written. Nothing here folds, contracts or reorders: what is written is what is
computed. A plain number next to a value is a constant of the same kind in every lane.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, Literal

from vyre.record import dataclass

Kind = Literal["i1", "i32", "i64", "f32", "f64"]

_LLVM: Final[dict[Kind, str]] = {
    "i1": "i1",
    "i32": "i32",
    "i64": "i64",
    "f32": "float",
    "f64": "double",
}
_FLOATS: Final = ("f32", "f64")
_SAME_SIZE: Final[dict[Kind, Kind]] = {"f32": "i32", "f64": "i64", "i32": "f32", "i64": "f64"}


class Code:
    """A function body under construction."""

    def __init__(self, width: int, fma: bool) -> None:
        self.width = width
        self.fma = fma
        """Whether a fused multiply-add is one instruction on the target."""
        self.lines: list[str] = []
        self.needs: dict[str, None] = {}
        """Definitions that the text refers to."""
        self._count = 0
        self._block = "entry"

    def type(self, kind: Kind) -> str:
        """The LLVM type of a value of this kind."""
        scalar = _LLVM[kind]
        return scalar if self.width == 1 else f"<{self.width} x {scalar}>"

    def suffix(self, kind: Kind) -> str:
        """How intrinsics name the type."""
        return kind if self.width == 1 else f"v{self.width}{kind}"

    def name(self) -> str:
        """A fresh SSA name."""
        self._count += 1
        return f"%t{self._count}"

    def emit(self, kind: Kind, instruction: str) -> Value:
        """Append an instruction and give its result."""
        name = self.name()
        self.lines.append(f"  {name} = {instruction}")
        return Value(self, kind, name)

    def const(self, kind: Kind, number: float) -> Value:
        """The same number in every lane."""
        if kind in _FLOATS:
            scalar = _float_literal(kind, float(number))
        else:
            scalar = str(int(number))
        text = scalar if self.width == 1 else f"splat ({_LLVM[kind]} {scalar})"
        return Value(self, kind, text)

    def intrinsic(self, name: str, *arguments: Value) -> Value:
        """Call an overloaded LLVM intrinsic on values of one kind."""
        kind = arguments[0].kind
        type_ = self.type(kind)
        given = ", ".join(f"{type_} {a.text}" for a in arguments)
        return self.emit(kind, f"call {type_} @llvm.{name}.{self.suffix(kind)}({given})")

    def repair(self, where: Value, values: Sequence[Value], call: str) -> list[Value]:
        """Replace the values where the condition holds, with a branch around it if it holds
        nowhere.

        `call` is a call instruction that gives a struct with a replacement for each value.
        """
        self._count += 1
        rare, join = f"rare{self._count}", f"join{self._count}"
        any_lane = where.text
        if self.width > 1:
            mask = self.type("i1")
            any_lane = self.name()
            reduce = f"@llvm.vector.reduce.or.v{self.width}i1"
            self.lines.append(f"  {any_lane} = call i1 {reduce}({mask} {where.text})")
        came_from = self._block
        self.lines += [f"  br i1 {any_lane}, label %{rare}, label %{join}", f"{rare}:"]
        pack = self.name()
        self.lines.append(f"  {pack} = {call}")
        struct_type = "{ " + ", ".join(self.type(v.kind) for v in values) + " }"
        replaced = [
            where.select(self.emit(v.kind, f"extractvalue {struct_type} {pack}, {i}"), v)
            for i, v in enumerate(values)
        ]
        self.lines += [f"  br label %{join}", f"{join}:"]
        self._block = join
        return [
            self.emit(
                old.kind,
                f"phi {self.type(old.kind)} [ {old.text}, %{came_from} ], [ {new.text}, %{rare} ]",
            )
            for old, new in zip(values, replaced, strict=True)
        ]


def _float_literal(kind: Kind, number: float) -> str:
    if kind == "f32":
        (number,) = struct.unpack("<f", struct.pack("<f", number))
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """One SSA value. Shifts right are logical; comparisons are ordered (false for NaN)."""

    code: Code
    kind: Kind
    text: str

    def _lift(self, other: Value | float) -> Value:
        return other if isinstance(other, Value) else self.code.const(self.kind, other)

    def _binary(self, for_float: str, for_int: str, other: Value | float) -> Value:
        right = self._lift(other)
        opcode = for_float if self.kind in _FLOATS else for_int
        return self.code.emit(
            self.kind, f"{opcode} {self.code.type(self.kind)} {self.text}, {right.text}"
        )

    def __add__(self, other: Value | float) -> Value:
        return self._binary("fadd", "add", other)

    def __radd__(self, other: float) -> Value:
        return self._lift(other) + self

    def __sub__(self, other: Value | float) -> Value:
        return self._binary("fsub", "sub", other)

    def __rsub__(self, other: float) -> Value:
        return self._lift(other) - self

    def __mul__(self, other: Value | float) -> Value:
        return self._binary("fmul", "mul", other)

    def __rmul__(self, other: float) -> Value:
        return self._lift(other) * self

    def __truediv__(self, other: Value | float) -> Value:
        return self._binary("fdiv", "?", other)

    def __rtruediv__(self, other: float) -> Value:
        return self._lift(other) / self

    def __and__(self, other: Value | int) -> Value:
        return self._binary("?", "and", other)

    def __or__(self, other: Value | int) -> Value:
        return self._binary("?", "or", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._binary("?", "xor", other)

    def __lshift__(self, other: Value | int) -> Value:
        return self._binary("?", "shl", other)

    def __rshift__(self, other: Value | int) -> Value:
        return self._binary("?", "lshr", other)

    def sar(self, amount: int) -> Value:
        """Arithmetic shift right."""
        return self._binary("?", "ashr", amount)

    def __neg__(self) -> Value:
        if self.kind in _FLOATS:
            return self.code.emit(self.kind, f"fneg {self.code.type(self.kind)} {self.text}")
        return 0 - self

    def _compare(self, for_float: str, for_int: str, other: Value | float) -> Value:
        right = self._lift(other)
        opcode = f"fcmp {for_float}" if self.kind in _FLOATS else f"icmp {for_int}"
        return self.code.emit(
            "i1", f"{opcode} {self.code.type(self.kind)} {self.text}, {right.text}"
        )

    def __lt__(self, other: Value | float) -> Value:
        return self._compare("olt", "slt", other)

    def __gt__(self, other: Value | float) -> Value:
        return self._compare("ogt", "sgt", other)

    def __le__(self, other: Value | float) -> Value:
        return self._compare("ole", "sle", other)

    def __ge__(self, other: Value | float) -> Value:
        return self._compare("oge", "sge", other)

    def equals(self, other: Value | float) -> Value:
        """Lane by lane."""
        return self._compare("oeq", "eq", other)

    def differs(self, other: Value | float) -> Value:
        """Lane by lane; true for NaN."""
        return self._compare("une", "ne", other)

    def is_nan(self) -> Value:
        """True where the lane is not a number."""
        return self._compare("uno", "?", self)

    def below(self, other: Value | int) -> Value:
        """Unsigned comparison of integers."""
        return self._compare("?", "ult", other)

    def select(self, yes: Value | float, no: Value | float) -> Value:
        """`yes` where this condition holds, else `no`; at least one of them is a value."""
        typed = yes if isinstance(yes, Value) else no
        if not isinstance(typed, Value):
            raise TypeError("select needs a value to know its kind")
        first, second = typed._lift(yes), typed._lift(no)
        kind = typed.kind
        return self.code.emit(
            kind,
            f"select {self.code.type('i1')} {self.text}, "
            f"{self.code.type(kind)} {first.text}, {self.code.type(kind)} {second.text}",
        )

    def _convert(self, opcode: str, kind: Kind) -> Value:
        source, target = self.code.type(self.kind), self.code.type(kind)
        return self.code.emit(kind, f"{opcode} {source} {self.text} to {target}")

    def bits(self) -> Value:
        """A float's bits as an integer, or back."""
        return self._convert("bitcast", _SAME_SIZE[self.kind])

    def widen(self) -> Value:
        """F32 to f64, i32 to i64 with its sign."""
        return self._convert("fpext", "f64") if self.kind == "f32" else self._convert("sext", "i64")

    def narrow(self) -> Value:
        """F64 to f32, i64 to its low 32 bits."""
        if self.kind == "f64":
            return self._convert("fptrunc", "f32")
        return self._convert("trunc", "i32")

    def absolute(self) -> Value:
        """Without its sign."""
        return self.code.intrinsic("fabs", self)

    def sqrt(self) -> Value:
        """Correctly rounded."""
        return self.code.intrinsic("sqrt", self)

    def with_sign_of(self, other: Value) -> Value:
        """This magnitude, that sign."""
        return self.code.intrinsic("copysign", self, other)


def madd(a: Value, b: Value | float, c: Value | float) -> Value:
    """A times b plus c, fused where the target has it: for places where either will do."""
    code = a.code
    if code.fma:
        return code.intrinsic("fma", a, _lifted(a, b), _lifted(a, c))
    return a * b + c


def _lifted(like: Value, other: Value | float) -> Value:
    return other if isinstance(other, Value) else like.code.const(like.kind, other)


def horner(x: Value, coefficients: Sequence[float]) -> Value:
    """The polynomial with these coefficients, the constant one first."""
    total = x.code.const(x.kind, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = madd(x, total, coefficient)
    return total


def clamp(x: Value, low: float, high: float) -> Value:
    """X between the bounds; NaN stays NaN."""
    raised = (x < low).select(low, x)
    return (raised > high).select(high, raised)
