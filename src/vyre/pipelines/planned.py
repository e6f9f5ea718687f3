"""Runs a pipeline by plan: steps are collected to windows, planned once, and launched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from vyre import ir
from vyre.diagnostics import Span, VyreError
from vyre.driver.routing import Route
from vyre.ir import DataType, Program
from vyre.ir.walk import walk_stmts
from vyre.pipelines import tree
from vyre.pipelines.actions import Size
from vyre.pipelines.ahead import Ahead, Predicates
from vyre.pipelines.apart import Clock, Host, OneByOne
from vyre.pipelines.call_memory import CallMemory
from vyre.pipelines.collected import Branch, Item, Side
from vyre.pipelines.contract import Contract
from vyre.pipelines.count_checks import CountChecks, RunAgain
from vyre.pipelines.counts import CountedScratch, plain, trimmed
from vyre.pipelines.execute import Counted, Window, runs_of
from vyre.pipelines.loops import MOST_AHEAD, Repeats
from vyre.pipelines.plans import Plans
from vyre.pipelines.stages import Site
from vyre.pipelines.steps import Buffer, Cleared, Copied, Step, launch_of
from vyre.pipelines.window import buffers_of, without_needless_clears
from vyre.pipelines.window_runner import WindowRunner
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.kernel import Kernel

_LONGEST_WINDOW = 512
"""Steps that are collected before they run: a loop on the host may have any number."""


def prints(program: Program) -> bool:
    """True if a program may print."""
    return program.memo("pipelines.prints", _prints)


def _prints(program: Program) -> bool:
    return any(isinstance(each, ir.Print) for each in walk_stmts(program.entry))


class Planned:
    """Collects the steps of one call, and runs them when a window ends."""

    def __init__(
        self,
        plans: Plans,
        route: Route,
        clock: Clock,
        contract: Contract,
        *,
        is_dry: bool = False,
        saves: bool = False,
    ) -> None:
        self._plans = plans
        self.route = route
        self.is_dry = is_dry
        """True if steps are planned and not run."""
        self._checks = CountChecks(plans.rooms, route.device.info.id)
        self._predicates = Predicates(plans.predicated)
        self._collected: list[list[Item]] = []
        """Windows that are not run as they come, of the innermost branch last."""
        self.is_whole = True
        """True if nothing has run since `begin_items`."""
        self._looked: dict[int, int] = {}
        """Counts that the host has read at the end, by the ids of their buffers."""
        self._steps: list[Step] = []
        simple = OneByOne(route.device, clock)
        self._memory = CallMemory(route, simple, saves=saves)
        self._runner = WindowRunner(
            route.device, simple, self._memory, contract, self._look, is_dry=is_dry
        )
        self._referenced: Callable[[], Iterable[object]] = tuple
        self.windows: list[Window] = []
        self.kept: dict[str, Buffer] = {}
        self.results: tuple[Buffer, ...] = ()

    @property
    def counted(self) -> Counted:
        """What the call did."""
        return self._runner.counted

    @property
    def is_decided(self) -> bool:
        """True if the device had a say in the course of the call."""
        return self._runner.is_decided

    def take(
        self, name: str, array: Host | DeviceArray, dtype: DataType, *, is_output: bool
    ) -> Buffer:
        """An argument as a buffer."""
        return self._memory.take(name, array, dtype, is_output=is_output)

    def scratch(self, name: str, dtype: DataType, shape: tuple[int, ...]) -> Buffer:
        """Scratch, without memory as yet."""
        return Buffer(name, dtype, shape, True)

    def counted_scratch(
        self, made: tree.Scratch, dtype: DataType, size: Size, count: Buffer
    ) -> CountedScratch:
        """Scratch that a stage counts, with room for as many elements as there were."""

        def room(capacity: int) -> Buffer:
            return self.scratch(made.name, dtype, (capacity,))

        return self._checks.make(made, room, size, count)

    def launch(
        self,
        kernel: Kernel[...],
        given: Mapping[str, Any],
        grid: tuple[int, ...] | None,
        elements: tuple[int, ...] | None,
        site: Site,
    ) -> None:
        """Note a launch."""
        if any(isinstance(each, CountedScratch) for each in given.values()):
            launch = self._plans.counted.launch(kernel, given, grid, elements, site)
        else:
            launch = launch_of(kernel, given, grid, elements, site)
        may_repeat = self._memory.saves and not self.is_dry
        if may_repeat and prints(launch.program) and self._plans.rooms.fill():
            raise RunAgain
        self._add(launch)

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Note a copy."""
        self._add(Copied(source, target))

    def clear(self, array: Buffer) -> None:
        """Note a clear."""
        if not self._predicates.is_new(array):
            self._add(Cleared(array))

    def keep(self, name: str, array: Buffer) -> None:
        """Note an array that stays readable."""
        self.kept[name] = array

    def is_set(self, flag: Buffer) -> bool | None:
        """Run what was collected, and read a flag; None if nothing runs."""
        found = self._read([flag], "it decides by a flag")
        return None if found is None else bool(found[0])

    def _read(self, buffers: Sequence[Buffer], why: str) -> list[int] | None:
        """Run what was collected, and read words; None if nothing runs."""
        self.flush((*self._referenced(), *buffers))
        for items in self._collected:
            self.is_whole = False
            done = items[:]
            items.clear()
            self.run_items(done, None, 0)
        self._runner.count_read(why)
        if self.is_dry:
            return None
        self._runner.check_time()
        found: list[int] = []

        def words(counts: Sequence[Buffer]) -> list[int]:
            every = self._memory.words([*counts, *buffers])
            found.extend(every[len(counts) :])
            return every[: len(counts)]

        self._checks.look(words)
        return found

    def _look(self) -> dict[int, int]:
        """Look at the counts that were written; the call begins again if room did not suffice."""
        return self._checks.look(self._memory.words)

    def finish(self, results: Sequence[Any]) -> None:
        """Look at all counts: from here on the results are what they are."""
        self.results = tuple(plain(each) for each in results)
        returned = [each.count for each in results if isinstance(each, CountedScratch)]
        if self._checks.alive or returned:
            self._runner.count_read("the host looks at the counts of scratch")
            if not self.is_dry:
                self._looked = self._look()
                unknown = [each for each in returned if id(each) not in self._looked]
                self._looked.update(zip(map(id, unknown), self._memory.words(unknown), strict=True))

    def returned(self, array: Any) -> DeviceArray:
        """The array that the caller gets; counted scratch is trimmed to its count."""
        found = cast("DeviceArray", self.memory_of(plain(array)))
        if not isinstance(array, CountedScratch):
            return found
        return trimmed(self.route.device, found, array.checked(self._looked[id(array.count)]))

    def restore(self) -> None:
        """Give changed arguments back what they held when the call began."""
        self._memory.restore()

    def watch(self, referenced: Callable[[], Iterable[object]]) -> None:
        """Say how the buffers are found that names of the pipeline stand for."""
        self._referenced = referenced

    def begin_loop(self, flag: Buffer, span: Span) -> Ahead | None:
        """A loop whose iterations run ahead of the host; None if the host looks at each flag."""
        if self._memory.is_shared:
            return None
        loop, launch = self._predicates.begin_loop(flag, span)
        self._append(launch)
        return loop

    @property
    def repeats(self) -> Repeats:
        """This: it collects stages and runs them later."""
        return self

    def state(self, arrays: dict[str, Any]) -> object | None:
        """What an iteration depends on besides numbers; None if it cannot be replayed."""
        if self._checks.has_counts:
            return None
        found = [(name, id(each), self._predicates.is_new(each)) for name, each in arrays.items()]
        return frozenset(found), len(self._memory.saved), len(self.kept)

    def begin_items(self) -> None:
        """Collect windows, in place of running them."""
        self.flush(self._referenced())
        self._collected.append([])
        self.is_whole = True

    def end_items(self) -> list[Item]:
        """The windows that were collected."""
        self.flush(self._referenced())
        return self._collected.pop()

    def run_items(self, items: list[Item], depth: int | None, count: int) -> None:
        """Run what was collected, as iteration `count` of the loop at a depth."""
        self._runner.run_items(items, depth, count)

    def run_cycle(
        self, cycle: Sequence[list[Item]], flag: Buffer, limit: int, depth: int, done: int
    ) -> tuple[int, bool] | None:
        """Run iterations that repeat without the host between them.

        How many there were, and if the loop goes on; None, with no effect, if that cannot be.
        """
        return self._runner.run_cycle(cycle, flag, limit, depth, done)

    def iterations_ahead(self, loop: tree.Again) -> int:
        """How many iterations to submit before the host looks: those of the latest call."""
        known = self._plans.ahead.get(loop)
        return MOST_AHEAD if known is None else min(known + 1, MOST_AHEAD)

    def end_iteration(self, loop: Ahead) -> None:
        """End an iteration of a loop."""
        self._append(self._predicates.end_iteration(loop))

    def look_at_loop(self, loop: Ahead) -> tuple[int, bool] | None:
        """Iterations of a loop that have run, and if it goes on; None if nothing runs."""
        found = self._read([loop.iterations, loop.going], "it looks whether a loop has ended")
        return None if found is None else (found[0], bool(found[1]))

    def end_loop(self, loop: Ahead, written: tree.Again, iterations: int) -> None:
        """End a loop."""
        self._predicates.end_loop(loop)
        if iterations:
            self._plans.ahead[written] = iterations

    def choose(self, flag: Buffer, span: Span) -> tuple[Buffer, Buffer] | tuple[Side, Side] | None:
        """What decides about the branches of `vy.when`; None if the host decides now."""
        if self._memory.is_shared and not self._collected:
            return None
        if self._memory.is_shared:
            self._begin_all()
            self.flush((*self._referenced(), flag))
            branch = Branch(flag, Side([]), Side([]))
            self._collected[-1].append(branch)
            return branch.then, branch.otherwise
        then, otherwise, launch = self._predicates.choose(flag, span)
        self._append(launch)
        return then, otherwise

    def _begin_all(self) -> None:
        """Give memory to all scratch that has a name: after branches it may be in use or not."""
        for buffer in self._referenced():
            if isinstance(buffer, Buffer) and self._predicates.is_new(buffer):
                self.memory_of(buffer)
                buffer.is_fresh = False
                self._predicates.begin(buffer)

    def enter(self, word: Buffer | Side) -> None:
        """Let steps have an effect only if a word is set, or collect them for a branch."""
        if isinstance(word, Side):
            self.flush(self._referenced())
            self._collected.append(word.items)
        else:
            self._predicates.enter(word)

    def leave(self, word: Buffer | Side) -> None:
        """End what `enter` began."""
        if isinstance(word, Side):
            self.flush(self._referenced())
            self._collected.pop()
        else:
            self._predicates.leave(word)

    def matters(self, word: Buffer | Side, problem: VyreError) -> bool:
        """True if a branch with a problem is taken; a branch that is collected raises it then."""
        if isinstance(word, Side):
            word.items.append(problem)
            return False
        found = self._read([word], "it looks whether a branch is taken")
        return found is None or bool(found[0])

    def _add(self, step: Step) -> None:
        self._steps.extend(self._memory.save(step))
        for note in self._checks.before(step):
            self._append(note)
        word = self._predicates.word
        if word is None:
            self._append(step)
            return
        steps = self._predicates.predicated(step)
        if steps is not None:
            for each in steps:
                self._append(each)
            return
        found = self._read([word], "a stage with a barrier over the grid cannot be predicated")
        if found is None or found[0]:
            self._append(step)

    def _append(self, step: Step) -> None:
        self._predicates.note(step)
        self._steps.append(step)
        if len(self._steps) >= _LONGEST_WINDOW:
            self.flush(self._referenced())

    def memory_of(self, buffer: Buffer) -> Host | DeviceArray:
        """The array of a buffer that has one; zeros for scratch that was never used."""
        return self._memory.of(buffer)

    def flush(self, live: Iterable[object]) -> None:
        """Run the steps that were collected; `live` are the buffers that are used afterwards."""
        steps, self._steps = without_needless_clears(self._steps), []
        if not steps:
            return
        buffers = buffers_of(steps)
        alive = set(map(id, (*live, *self.kept.values(), *self._checks.alive)))
        alive.update(map(id, (*self._memory.saved, *self._predicates.alive)))
        known = self._plans.find(steps, buffers, alive, self.route)
        window = Window(known, steps, buffers, runs_of(known.plan, steps))
        if self._collected:
            self._collected[-1].append(window)
        else:
            self.windows.append(window)
            self._runner.run(window, None, is_sure=not self._predicates.is_used)
        if not self.is_dry:
            for buffer in buffers:
                buffer.is_fresh = False
