"""A sequence: prepared launches, clears, copies and branches, run without the host between them.

Grid barriers, pipelines and loops that end when the device says so are lists of launches. A
`Sequence` is such a list as data:

    Sequence(
        steps=(
            Put(0, 0),                                   # iterations so far
            Clear(flag, 4),                              # 1: the loop begins here
            Launch(relax, (edges, level, moved), grid),  # sets the flag if something moved
            Add(0, 1),
            Branch(flag, 0, to=7),                       # nothing moved: done
            Below(0, 1000, to=1),                        # else again, at most 1000 times
            Stop(1),                                     # the record says that it took too many
        ),
        counters=1,
    )

    prepared = prepare(device, sequence)
    record = prepared.run(deadline=2.0)
    record.stopped, record.counters                      # 0 or 1, and (iterations,)

Steps run in order; `to` is the position of a step, or that after the last one, which ends the run.
What a step writes, the following ones see. A branch reads a `u32` of device memory; a counter is a
64-bit integer that belongs to the sequence, not to the device, and keeps its value after the run.

A device that is `RunsSequences` runs them by itself: the CPU as one job of its thread pool, where
the last thread that finishes a launch executes what follows. Elsewhere `Stepwise` makes each step
from the host, where a branch waits for the device.

Memory is bound when a sequence is made, or is a `Parameter`: an array of the host that each run
gives, of any length that its steps have room in. So is the grid of a launch. Only a device that
runs sequences by itself takes parameters; `Stepwise.run` gives None for them. A prepared sequence
is for one run at a time, as its counters are its own: a caller with several threads prepares it
once for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from typing import Protocol, runtime_checkable

from vyre.driver.backend import Argument, Device, DeviceMemory, Executable
from vyre.driver.grid import Grid
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """An array that each run gives, by its position among them."""

    index: int
    is_view: bool = False
    """True for a view with strides, bound with all memory between its elements."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in memory something lies."""

    memory: DeviceMemory | Parameter
    offset: int = 0
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Runs a program on its whole grid."""

    executable: Executable
    arguments: tuple[Argument | Parameter, ...]
    """One for each buffer, as `Executable.launch` takes them. A parameter is bound as a whole."""
    grid: Grid | None
    """An empty one launches nothing; None is the one that each run gives."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Fills memory with zeros."""

    place: Place
    nbytes: int
    is_per_workgroup: bool = False
    """True if there are as many bytes for each workgroup of the grid that a run gives."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Copies memory to other memory, which does not overlap."""

    source: Place
    target: Place
    nbytes: int


@dataclass(frozen=True, slots=True)
class Put:
    """Sets a counter."""

    counter: int
    value: int


@dataclass(frozen=True, slots=True)
class Load:
    """Sets a counter to the 64 bits of device memory at a place."""

    counter: int
    place: Place


@dataclass(frozen=True, slots=True)
class Store:
    """Writes the low bytes of a counter to device memory."""

    counter: int
    place: Place
    nbytes: int
    """1, 2, 4 or 8."""


@dataclass(frozen=True, slots=True)
class Add:
    """Adds a number to a counter; 64 bits, and what is more is lost."""

    counter: int
    value: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Goes on at another step."""

    to: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Goes on at another step if the `u32` at a place equals a value, or if it differs."""

    place: Place
    value: int
    to: int
    equal: bool = True


@dataclass(frozen=True, slots=True)
class Below:
    """Goes on at another step if a counter is below a number, or below another counter."""

    counter: int
    limit: int
    to: int
    is_counter: bool = False
    """True if `limit` is the number of a counter."""
    signed: bool = True


@dataclass(frozen=True, slots=True)
class Stop:
    """Ends the run, and says why: a number above 0."""

    reason: int


Step = Launch | Clear | Copy | Put | Load | Store | Add | Jump | Branch | Below | Stop


@dataclass(frozen=True, slots=True)
class Sequence:
    """Steps, and how many counters and parameters they use."""

    steps: tuple[Step, ...]
    counters: int = 0
    parameters: int = 0

    @property
    def has_loop(self) -> bool:
        """True if a step may go back."""
        return any(
            isinstance(step, (Jump, Branch, Below)) and step.to <= position
            for position, step in enumerate(self.steps)
        )


@dataclass(frozen=True, slots=True)
class SequenceRecord:
    """What a run has to say afterwards."""

    stopped: int = 0
    """The reason of the `Stop` that ended it; 0 if it came to its end."""
    counters: tuple[int, ...] = ()
    printed: tuple[str, ...] = ()
    kernel_ns: int | None = None
    """Time of the kernels alone, where the device can tell."""


DONE = SequenceRecord()


class PreparedSequence(Protocol):
    """A sequence on a device, for one run at a time."""

    @property
    def position(self) -> int:
        """The step that was under way when the latest run failed: which launch trapped."""
        ...

    @property
    def counters(self) -> tuple[int, ...]:
        """The counters as the latest run left them, also one that failed."""
        ...

    def run(
        self,
        arrays: Ordered[object] = (),
        deadline: float | None = None,
        clearing: bytes = b"",
        grid: Grid | None = None,
    ) -> SequenceRecord | None:
        """Run to the end, and wait for it. Traps and a passed deadline raise, as for a launch.

        `arrays` are the parameters: objects with the buffer protocol. `clearing` are runs of bytes
        in them, as `TakesArrays` has them, to be filled with zeros first. `grid` is that of the
        launches that have none. Gives None, without having done anything, when arrays cannot be
        used as they are: of another type, not contiguous, too short, or sharing memory that is
        written.
        """
        ...

    def take_times(self) -> list[tuple[int, int, int]]:
        """Launches since the last call of this: position of the step, nanoseconds, how many.

        Launches too short to be worth reading a clock are left out.
        """
        ...


@runtime_checkable
class RunsSequences(Device, Protocol):
    """A device that runs sequences by itself."""

    def prepare_sequence(self, sequence: Sequence) -> PreparedSequence | None:
        """Prepare a sequence; None if it has steps that the device leaves to the host."""
        ...


def prepare(device: Device, sequence: Sequence) -> PreparedSequence:
    """Prepare a sequence on a device: run by the device if it can, else step by step."""
    check(sequence)
    if isinstance(device, RunsSequences):
        found = device.prepare_sequence(sequence)
        if found is not None:
            return found
    from vyre.driver.stepwise import Stepwise

    return Stepwise(sequence)


def check(sequence: Sequence) -> None:
    """Refuse steps that name a step, a counter, a parameter or bytes that are not there."""
    for position, step in enumerate(sequence.steps):
        problem = _problem(sequence, step)
        if problem:
            raise ValueError(f"step {position}: {problem}")


def _problem(sequence: Sequence, step: Step) -> str:
    if isinstance(step, (Jump, Branch, Below)) and not 0 <= step.to <= len(sequence.steps):
        return f"there is no step {step.to}"
    if isinstance(step, Stop) and not 0 < step.reason < 1 << 31:
        return f"{step.reason} is no reason to stop"
    if isinstance(step, Store) and step.nbytes not in (1, 2, 4, 8):
        return f"a counter has no {step.nbytes} bytes to store"
    for counter in counters_of(step):
        if not 0 <= counter < sequence.counters:
            return f"there is no counter {counter}"
    for place, nbytes in spans_of(step):
        if place.offset < 0 or nbytes < 0:
            return "bytes are counted from the start of memory"
        if isinstance(place.memory, Parameter):
            continue
        if place.offset + nbytes > place.memory.nbytes:
            return f"memory of {place.memory.nbytes} bytes has no {place.offset + nbytes}"
    for parameter in parameters_of(step):
        if not 0 <= parameter.index < sequence.parameters:
            return f"there is no parameter {parameter.index}"
    return ""


def counters_of(step: Step) -> tuple[int, ...]:
    """The counters that a step uses."""
    match step:
        case Put() | Load() | Store() | Add():
            return (step.counter,)
        case Below():
            return (step.counter, step.limit) if step.is_counter else (step.counter,)
        case _:
            return ()


def spans_of(step: Step) -> tuple[tuple[Place, int], ...]:
    """The places that a step other than a launch uses, and how many bytes there."""
    match step:
        case Clear(place, nbytes):
            return ((place, nbytes),)
        case Copy(source, target, nbytes):
            return (source, nbytes), (target, nbytes)
        case Load(_, place):
            return ((place, 8),)
        case Store(_, place, nbytes):
            return ((place, nbytes),)
        case Branch(place):
            return ((place, 4),)
        case _:
            return ()


def parameters_of(step: Step) -> list[Parameter]:
    """The parameters that a step uses."""
    if isinstance(step, Launch):
        return [each for each in step.arguments if isinstance(each, Parameter)]
    return [place.memory for place, _ in spans_of(step) if isinstance(place.memory, Parameter)]


__all__ = [
    "DONE",
    "Add",
    "Below",
    "Branch",
    "Clear",
    "Copy",
    "Jump",
    "Launch",
    "Load",
    "Parameter",
    "Place",
    "PreparedSequence",
    "Put",
    "RunsSequences",
    "Sequence",
    "SequenceRecord",
    "Step",
    "Stop",
    "Store",
    "check",
    "counters_of",
    "parameters_of",
    "prepare",
    "spans_of",
]
