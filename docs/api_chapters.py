"""The chapters of the API reference: where each begins, and what stands at its head."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc

from vyre import config
from vyre.cli.command import COMMANDS


@dataclass(frozen=True)
class Chapter:
    """A chapter."""

    title: str
    written: str

    @property
    def text(self) -> str:
        """What stands at its head."""
        return cleandoc(self.written)


_ENVIRONMENT = (config.__doc__ or "").partition("\n")[2].strip()
_COMMANDS = ", ".join(f"`{name}`" for name in COMMANDS)

CHAPTERS = {
    "vy.kernel": Chapter(
        "Kernels",
        """A kernel is a typed Python function that the host calls. Its parameters are arrays
        (`vy.In`, `vy.Out`, `vy.InOut`), numbers (`vy.f32`) and constants (`vy.static`).""",
    ),
    "vy.bool_": Chapter(
        "Types",
        """The types of parameters, elements and variables. In a kernel, calling one converts a
        value: a float to an integer is truncated and held at the ends of the type, an integer to
        an integer keeps the lower bits, and what becomes a float is rounded to nearest even
        ([conversions](../spec/types.md#conversions-by-value)). Outside of kernels, calling one
        makes a numpy scalar.""",
    ),
    "vy.gid": Chapter(
        "Ids",
        """Axis 0 is x, 1 is y, 2 is z. Ids are [index values](../spec/kernels.md#index-values):
        they take the type of the integer that they meet, and `vy.gid() - 1` is negative where the
        id is 0.""",
    ),
    "vy.shared": Chapter(
        "Memory and barriers",
        """Arrays of a workgroup and of one invocation, and what orders accesses to memory. The
        rules: [memory](../spec/memory.md).""",
    ),
    "vy.print": Chapter(
        "Debugging in kernels",
        """`assert condition, "message"` works in kernels: where it fails, the call raises a
        `TrapError`. `kernel.reference(...)` finds races and accesses out of bounds.""",
    ),
    "x.__getitem__": Chapter(
        "Arrays in kernels, atomics",
        """`x` is an array parameter, or made by `vy.shared` or `vy.local`. A load out of bounds
        gives zero, a store out of bounds does nothing.

        Atomics take the index first (a tuple for several axes), then the value, and give the value
        that was there before. `add`, `min` and `max` work on `u32`, `i32`, `u64`, `i64` and `f32`,
        the others on the integers among these. `vy.local` arrays have none. `x[i] += v` is not
        atomic.""",
    ),
    "vy.popcount": Chapter(
        "Bits and integers",
        """Of integers of any width; an index counts as `u32`. The result has the type of the
        operand.""",
    ),
    "vy.bitcast": Chapter(
        "Bits of floats, selection", "`bitcast` takes integers and floats, `select` any type."
    ),
    "vy.group.reduce": Chapter(
        "Workgroups",
        """What a workgroup computes together, on every device and in workgroups of any size. All
        invocations of the workgroup come to these functions, so they stand outside of guards, and
        each gives a value: the ones past the end of the data give what changes nothing, such as
        `x[i] if i < len(x) else 0`. What is the same for the whole workgroup counts as uniform, so
        barriers and further calls may depend on it. Floats are joined in
        [one order](../spec/kernels.md#what-a-workgroup-computes-together) everywhere.""",
    ),
    "vy.subgroup_size": Chapter(
        "Subgroups",
        """A subgroup is a row of consecutive invocations of a workgroup. How many depends on the
        device: 32 on the CPU and on the reference, mostly 32 or 64 on a GPU. All invocations of a
        workgroup must come to these functions, so they stand outside of guards. Each is also in
        `vy.subgroup`, by its short name: `vy.subgroup.add`, `vy.subgroup.ballot`,
        `vy.subgroup.and_`.""",
    ),
    "vy.math.sqrt": Chapter(
        "Mathematics",
        """`vy.math` has the names of numpy. The functions take `f16`, `f32` and `f64`, where the
        device has them; `absolute`, `minimum`, `maximum`, `fmin`, `fmax`, `clip`, `square`
        and `where` take integers, too. Python's `abs`, `min`, `max` and `x ** 2` work as well. How
        exact each is: [floats](../spec/floats.md).""",
    ),
    "vy.pipeline": Chapter(
        "Pipelines",
        """A pipeline is a typed Python function that calls kernels, one after another, and is
        itself called like one: [pipelines](../pipelines.md). `vy.scratch`, `vy.flag`, `vy.again`
        and the others are forms of its body; called anywhere else, they raise P101.""",
    ),
    "vy.array": Chapter(
        "Arrays on devices",
        """Kernels take numpy arrays, device arrays, `bytes`, `bytearray`, `memoryview`, `mmap`,
        and what speaks DLPack: [host border](host-border.md). Device arrays save copies:
        [keep arrays on the device](../howto/device-arrays.md).""",
    ),
    "vy.devices": Chapter("Devices", "What `device=` and `VYRE_DEVICE` may name."),
    "vy.Program": Chapter(
        "Programs",
        """A program is what a kernel becomes for certain types; it can also be written as
        [text](../spec/text.md) or built as [IR](../spec/ir.md).""",
    ),
    "vy.profile": Chapter("Profiles and errors", "Where time went, and what went wrong."),
    "vy.plan.fuse": Chapter(
        "Plans",
        "`vy.plan` joins programs into one dispatch: [fuse programs](../howto/fuse-programs.md).",
    ),
    "vyre.cli.main": Chapter(
        "Command line",
        f"""`vyre COMMAND` is `python -m vyre COMMAND`. The commands are
        {_COMMANDS}.
        Every argument: [command line](../cli.md).""",
    ),
    "vyre.config.read": Chapter("Environment variables", _ENVIRONMENT),
}
"""By the first name of the first example."""
