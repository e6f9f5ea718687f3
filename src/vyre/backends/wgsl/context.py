"""What is gathered while a program becomes WGSL: names, functions in use, fields of the launch."""

from __future__ import annotations

from dataclasses import field
from functools import cache

from vyre.backends.wgsl.prelude import closure, library
from vyre.backends.wgsl.types import is_wide
from vyre.backends.wgsl.value import Value
from vyre.backends.wgsl.words import RESERVED
from vyre.emit import Level, Names
from vyre.ir import DataType, Program
from vyre.record import dataclass
from vyre.target import Target

ENTRY_POINT = "main"
LAUNCH = "launch"
_HOLE = "\0"
"""Around what is spelled when a shader is put together."""


@dataclass(slots=True)
class Context:
    """The state of one emission that all its parts share."""

    program: Program
    target: Target
    names: Names = field(default_factory=lambda: Names(_own_names()))
    functions: set[str] = field(default_factory=set[str])
    """Functions of the prelude that the shader calls."""
    fields: list[str] = field(default_factory=list[str])
    """Fields of the launch record, each a u32, in the order of the struct."""
    measured: dict[str, str] = field(default_factory=dict[str, str])
    """The like that a shader can find out itself, unless a buffer is empty: how, by field."""
    told: set[str] = field(default_factory=set[str])
    """Measured fields that the host tells after all."""
    builtins: set[str] = field(default_factory=set[str])
    """Inputs of the entry point in use, by the names it gives them."""
    helpers: dict[str, str] = field(default_factory=dict[str, str])
    """Functions made for this shader alone, by name."""
    workgroup_variables: dict[str, tuple[str, int]] = field(
        default_factory=dict[str, "tuple[str, int]"]
    )
    """Workgroup memory of our own: type and bytes by name."""
    locks: set[str] = field(default_factory=set[str])
    """Memory whose 64-bit elements are guarded by locks: `storage`, `workgroup`."""
    enables: set[str] = field(default_factory=set[str])
    """Extensions of WGSL in use."""

    @property
    def strict(self) -> bool:
        """Whether float results must be the ones IEEE-754 prescribes."""
        return not self.program.fast_math

    def call(self, function: str, *arguments: str) -> str:
        """A call of a function of the prelude."""
        self.functions.add(function)
        if _needs_zero(function):
            self.launch_field("zero")
        return f"{function}({', '.join(arguments)})"

    def launch_field(self, name: str) -> str:
        """A number that the host passes with every launch."""
        if name not in self.fields:
            self.fields.append(name)
        return f"{LAUNCH}.{name}"

    def measured_field(self, name: str, measured: str) -> str:
        """A number that only a general shader is told by the host: `filled` decides."""
        self.measured[name] = measured
        return f"{_HOLE}{name}{_HOLE}"

    def tell(self, name: str) -> None:
        """Let the host tell a measured field always: what is not bound cannot be measured."""
        if self.measured.pop(name, None) is not None:
            self.told.add(name)
            self.launch_field(name)

    def filled(self, text: str, *, general: bool) -> str:
        """Text with the measured fields spelled out."""
        for name in self.told:
            text = text.replace(f"{_HOLE}{name}{_HOLE}", f"{LAUNCH}.{name}")
        for name, measured in self.measured.items():
            value = f"{LAUNCH}.{name}" if general else measured
            text = text.replace(f"{_HOLE}{name}{_HOLE}", value)
        return text

    def runtime(self, value: Value) -> Value:
        """A constant as something WGSL does not evaluate while compiling."""
        if not value.constant:
            return value
        if value.dtype.is_float:
            return self.hidden(value)
        zero = self.launch_field("zero")
        text = value.at(Level.UNARY)
        if is_wide(value.dtype):
            return Value(f"{text} | vec2<u32>({zero})", value.dtype, Level.LOOSE)
        if value.dtype.is_integer:
            zero = f"bitcast<i32>({zero})" if value.dtype.is_signed else zero
            return Value(f"{text} | {zero}", value.dtype, Level.LOOSE)
        return value

    def hidden(self, value: Value) -> Value:
        """A float that no compiler can combine with what is done to it next."""
        if value.hidden or not (self.strict or value.constant):
            return value
        return Value(self.call("f32_hide", value.text), value.dtype, hidden=True)


@cache
def _needs_zero(function: str) -> bool:
    """Whether a function of the prelude hides floats with the zero of the launch record."""
    return any(found.name == "f32_hide" for found in closure([function]))


_FIXED = (
    *(ENTRY_POINT, LAUNCH, "Launch", "gid", "lid", "wid", "grid", "local_index", "exchange"),
    *("trap_record", "raise_trap", "trapped", "launched", "launched_id", "row", "number"),
    *("storage_locks", "workgroup_locks"),
)
"""Names that the emitter itself puts into shaders."""


def _own_names() -> set[str]:
    return {*RESERVED, *library(), *_FIXED}


def spell(text: str, dtype: DataType, level: Level = Level.PRIMARY) -> Value:
    """A value that is no constant."""
    return Value(text, dtype, level)
