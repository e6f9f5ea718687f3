"""The plan of a split program as a sequence: its loops as branches and counters.

for i in range(start, stop):           0  launch the bounds; load counters 0 and 1 from them
    segment 1                          3  if counter 0 < counter 1: go on at 5
    segment 2, which may break   ->    4  jump to the end
                                       5  store counter 0 to i; launch 1; clear EXIT; launch 2
                                       9  if EXIT is "leave": to the end; is it set: go on at 11
                                      11  add 1 to counter 0; jump to 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from vyre.driver import sequence as seq
from vyre.driver.backend import Argument, DeviceMemory, Executable
from vyre.driver.grid import Grid
from vyre.driver.grid_sync.plan import (
    BOUNDS,
    EXIT,
    EXIT_LEAVE,
    Clear,
    ConditionLoop,
    CopyBuffer,
    CountedLoop,
    Launch,
    SplitPlan,
    Step,
)
from vyre.driver.sequence import Parameter, Place
from vyre.record import dataclass

Bound = Mapping[str, Argument | Parameter]
"""What each buffer is bound to."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """A sequence, and which of its steps launches which segment."""

    sequence: seq.Sequence
    segments: Mapping[int, int]


@dataclass(slots=True)
class _Lowering:
    plan: SplitPlan
    executables: Mapping[int, Executable]
    bound: Bound
    grid: Grid | None
    handovers: Mapping[int, Sequence[DeviceMemory]]
    steps: list[seq.Step] = field(default_factory=list[seq.Step])
    segments: dict[int, int] = field(default_factory=dict[int, int])
    counters: int = 0
    leaves: list[list[int]] = field(default_factory=list[list[int]])
    """For each loop around, the steps that leave it; they are pointed at its end."""
    goes_on: list[list[int]] = field(default_factory=list[list[int]])
    """The same for steps that go on with the next iteration."""

    def lower(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case Launch():
                    self.launch(step)
                case CopyBuffer():
                    self.copy(step)
                case Clear(buffers):
                    for name in buffers:
                        self.clear(name)
                case CountedLoop():
                    self.counted(step)
                case ConditionLoop():
                    self.conditional(step)

    def launch(self, step: Launch) -> None:
        # A segment that does nothing may still be where memory changes hands.
        for memory in self.handovers.get(step.segment, ()):
            self.steps.append(seq.Clear(Place(memory), memory.nbytes))
        if step.segment in self.plan.empty:
            return
        if step.leaves:
            self.clear(EXIT)
        segment = self.plan.segments[step.segment]
        bound = tuple(self.bound[decl.name] for decl in segment.buffers if not decl.is_on_chip)
        self.segments[len(self.steps)] = step.segment
        self.steps.append(seq.Launch(self.executables[step.segment], bound, self.grid))
        if step.leaves:
            self.leaves[-1].append(self.branch(EXIT_LEAVE))
            self.goes_on[-1].append(self.branch(0, equal=False))

    def clear(self, name: str) -> None:
        memory = self.memory(name)
        self.steps.append(seq.Clear(Place(memory), memory.nbytes))

    def copy(self, step: CopyBuffer) -> None:
        source, target = self.argument(step.source), self.argument(step.destination)
        # Pieces of memory may be larger than the buffers that are bound to them.
        nbytes = min(source.count, target.count) * (step.element.size_bytes or 0)
        places = Place(source.memory, source.offset), Place(target.memory, target.offset)
        self.steps.append(seq.Copy(*places, nbytes))

    def counted(self, step: CountedLoop) -> None:
        value, end = self.counters, self.counters + 1
        self.counters += 2
        if isinstance(step.bounds, Launch):
            self.clear(BOUNDS)
            self.launch(step.bounds)
            # The two slots hold the low 64 bits of the bounds.
            memory = self.memory(BOUNDS)
            self.steps += [seq.Load(value, Place(memory)), seq.Load(end, Place(memory, 8))]
        else:
            start, stop = step.bounds
            self.steps += [seq.Put(value, start), seq.Put(end, stop)]
        element = step.variable.element
        top = len(self.steps)
        self.steps.append(seq.Below(value, end, top + 2, is_counter=True, signed=element.is_signed))
        place = Place(self.memory(step.variable.buffer))
        self.leaves.append([self.jump()])
        self.goes_on.append([])
        self.steps.append(seq.Store(value, place, element.size_bytes or 0))
        self.lower(step.steps)
        self.point(self.goes_on.pop())
        self.steps += [seq.Add(value, 1), seq.Jump(top)]
        self.point(self.leaves.pop())

    def conditional(self, step: ConditionLoop) -> None:
        top = len(self.steps)
        self.clear(EXIT)
        self.launch(step.condition)
        self.leaves.append([self.branch(0)])
        self.goes_on.append([])
        self.lower(step.steps)
        self.point(self.goes_on.pop())
        self.steps.append(seq.Jump(top))
        self.point(self.leaves.pop())

    def branch(self, value: int, *, equal: bool = True) -> int:
        """A branch on `EXIT` whose end is not known yet: its position."""
        self.steps.append(seq.Branch(Place(self.memory(EXIT)), value, 0, equal))
        return len(self.steps) - 1

    def jump(self) -> int:
        self.steps.append(seq.Jump(0))
        return len(self.steps) - 1

    def point(self, positions: Sequence[int]) -> None:
        """Point branches at the next step."""
        for position in positions:
            step = self.steps[position]
            assert isinstance(step, (seq.Branch, seq.Jump))
            self.steps[position] = replace(step, to=len(self.steps))

    def argument(self, name: str) -> Argument:
        found = self.bound[name]
        assert isinstance(found, Argument)
        return found

    def memory(self, name: str) -> DeviceMemory:
        return self.argument(name).memory


def lower(
    plan: SplitPlan,
    executables: Mapping[int, Executable],
    bound: Bound,
    grid: Grid | None,
    handovers: Mapping[int, Sequence[DeviceMemory]],
    *,
    parameters: int = 0,
    first: Sequence[seq.Step] = (),
) -> Lowered:
    """The sequence that runs a split program on buffers that are bound by name.

    Without a grid, each run gives one that is not empty. `handovers` is memory that is cleared
    before the segment it is given to, `first` are steps before all others.
    """
    made = _Lowering(plan, executables, bound, grid, handovers, list(first))
    made.lower(plan.copies if grid is not None and 0 in grid else plan.steps)
    return Lowered(seq.Sequence(tuple(made.steps), made.counters, parameters), made.segments)


__all__ = ["Bound", "Lowered", "lower"]
