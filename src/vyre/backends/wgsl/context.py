"""What is gathered while a program becomes WGSL: names, functions in use, fields of the launch."""

from __future__ import annotations

from dataclasses import field
from functools import cache

from vyre.backends.wgsl.prelude import library
from vyre.backends.wgsl.types import is_wide
from vyre.backends.wgsl.value import Seen, Value
from vyre.backends.wgsl.words import RESERVED
from vyre.emit import Level, Names
from vyre.ir import DataType, Program
from vyre.record import dataclass
from vyre.target import Target

ENTRY_POINT = "main"
LAUNCH = "launch"
ZERO = "zero"
"""The hidden zero: the entry point computes it, and functions that need it are passed it."""
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
    hides: bool = False
    """Whether the hidden zero is in use."""
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
        if needs_zero(function):
            arguments = (*arguments, self.zero())
        return f"{function}({', '.join(arguments)})"

    def zero(self) -> str:
        """Two words of zero of which no compiler knows that they are."""
        self.hides = True
        return ZERO

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
        if value.dtype.is_float:
            return self.hidden(value)
        if not value.constant or not value.dtype.is_integer:
            return value
        zero = self.zero()
        if not is_wide(value.dtype):
            zero = f"bitcast<i32>({zero}.x)" if value.dtype.is_signed else f"{zero}.x"
        return Value(f"{value.at(Level.UNARY)} | {zero}", value.dtype, Level.LOOSE)

    def hidden(self, value: Value, what: Seen = Seen.NUMBER) -> Value:
        """A float that no compiler can combine with what is done to it next.

        `what` would do harm there if a driver saw it.
        """
        if not value.shows(what) or not (self.strict or value.constant):
            return value
        return Value(self.call("f32_hide", value.text), value.dtype)

    def apart(self, value: Value) -> Value:
        """A float on the right, which no compiler takes for the same one on the left."""
        if not (self.strict or value.constant):
            return value
        return Value(self.call("f32_apart", value.text), value.dtype)


@cache
def needs_zero(function: str) -> bool:
    """Whether a function of the prelude takes the hidden zero, always its last parameter."""
    return f"{ZERO}: vec2<u32>)" in library()[function].text


_FIXED = (
    *(ENTRY_POINT, LAUNCH, ZERO, "Launch", "gid", "lid", "wid", "grid", "local_index", "exchange"),
    *("trap_record", "raise_trap", "trapped", "launched", "launched_id", "row", "number"),
    *("storage_locks", "workgroup_locks"),
)
"""Names that the emitter itself puts into shaders."""


def _own_names() -> set[str]:
    return {*RESERVED, *library(), *_FIXED}


def spell(text: str, dtype: DataType, level: Level = Level.PRIMARY) -> Value:
    """A value that is no constant."""
    return Value(text, dtype, level)
