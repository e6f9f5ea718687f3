"""Loops that the device ends: iterations are walked once, and then replayed.

An iteration depends on what names stand for when it begins: arrays and numbers of the host. The
first one from a state is walked; the next ones from the same state launch the same. A loop that
swaps two names has two such states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from vyre.diagnostics import Location, PlanError, Span, VyreError
from vyre.diagnostics.codes import pipeline as codes
from vyre.pipelines import tree
from vyre.pipelines.evaluate import Frame
from vyre.pipelines.stages import PipelineSource, Staged, resolve
from vyre.record import dataclass

_LONGEST_CYCLE = 8
"""Iterations after which names stand for what they did: two for a swap."""
_FIRST_RUN, _LONGEST_RUN = 64, 4096
"""Iterations of the first run without the host, and of later ones: between them it looks for
better code."""
MOST_AHEAD = 64
"""Iterations that are submitted before the host looks whether the loop has ended."""


class Flags(Protocol):
    """What loops need of a receiver of stages that runs each when it comes."""

    def clear(self, array: Any) -> None:
        """Fill an array with zeros."""
        ...

    def is_set(self, flag: Any) -> bool | None:
        """True if a flag is not zero, after all stages before; None if nothing runs."""
        ...


class Repeats(Flags, Protocol):
    """What loops need of a receiver that collects stages, and runs them later or again."""

    is_dry: bool
    """True if nothing runs: one iteration will do."""
    is_whole: bool
    """True if nothing has run since `begin_items`."""

    def begin_loop(self, flag: Any, span: Span) -> Any:
        """A loop that runs ahead of the host; None if the host looks at each flag."""
        ...

    def iterations_ahead(self, loop: tree.Again) -> int:
        """How many iterations to submit before `look_at_loop`."""
        ...

    def end_iteration(self, loop: Any) -> None:
        """End an iteration of a loop that runs ahead."""
        ...

    def look_at_loop(self, loop: Any) -> tuple[int, bool] | None:
        """How many iterations had effects, and if the loop goes on; None if nothing runs."""
        ...

    def end_loop(self, loop: Any, written: tree.Again, iterations: int) -> None:
        """End a loop that runs ahead."""
        ...

    def state(self, arrays: dict[str, Any]) -> object | None:
        """What an iteration depends on besides numbers; None if it cannot be replayed."""
        ...

    def begin_items(self) -> None:
        """Collect what follows, in place of running it."""
        ...

    def end_items(self) -> list[Any]:
        """What was collected."""
        ...

    def run_items(self, items: list[Any], depth: int, count: int) -> None:
        """Run what was collected, as iteration `count` of the loop at a depth."""
        ...

    def run_cycle(
        self, cycle: Sequence[list[Any]], flag: Any, limit: int, depth: int, done: int
    ) -> tuple[int, bool] | None:
        """Run iterations that repeat: how many there were, and if the loop goes on.

        None, with no effect, if the host has to go through them one by one.
        """
        ...


class State:
    """What the names of a frame stand for."""

    __slots__ = ("_numbers", "arrays")

    def __init__(self, frame: Frame) -> None:
        self.arrays = dict(frame.arrays)
        self._numbers = dict(frame.numbers)

    def restore(self, frame: Frame) -> None:
        """Let the names stand for that again."""
        frame.arrays, frame.numbers = dict(self.arrays), dict(self._numbers)


@dataclass(slots=True)
class _Walked:
    """An iteration: what it runs, and what names stand for afterwards."""

    items: list[Any]
    after: State
    problem: VyreError | None
    next: object | None = None
    """The key of the iteration that follows."""


class Loop:
    """One execution of `while vy.again(flag, most=n)`."""

    def __init__(
        self,
        actions: Flags,
        repeats: Repeats | None,
        frame: Frame,
        written: PipelineSource,
        loop: tree.Again,
        walk: Callable[[int], None],
    ) -> None:
        self._actions = actions
        self._repeats = repeats
        self._frame = frame
        self._loop = loop
        self._walk = walk
        self._locals = locals_of(loop, written)
        self._is_whole = not has_loop(written, loop.body)
        """True if the host has nothing to decide in an iteration."""
        self.count = 1
        """The iteration at hand; of those that are submitted ahead, the first."""
        self._known: dict[object, _Walked] = {}
        self._latest: _Walked | None = None

    def run(self, flag: Any, most: int, depth: int, after: list[dict[str, Any]]) -> None:
        """Run it; `after` gets what names may stand for when it ends."""
        if most <= 0:
            return
        repeats = self._repeats
        ahead = None if repeats is None else repeats.begin_loop(flag, self._loop.span)
        if repeats is not None and ahead is not None:
            kept = len(after)
            try:
                self._run_ahead(repeats, ahead, flag, most, depth, after)
            finally:
                del after[kept:]
            return
        count, attempt, longest = 0, 2, _FIRST_RUN
        while count < most:
            if count >= attempt:
                ran, goes_on = self._cycle(flag, min(most - count, longest), depth, count)
                count, longest = count + ran, min(4 * longest, _LONGEST_RUN)
                if not goes_on:
                    return
                # After a run, one iteration by itself: there may be better code.
                attempt = count + 1 if ran else 2 * count
                if count == most:
                    break
            self.count = count = count + 1
            problem = self._iterate(flag, None, depth, count)
            if problem is not None:
                raise problem
            if not self._actions.is_set(flag):
                return
        raise self._not_ended(most)

    def _cycle(self, flag: Any, limit: int, depth: int, done: int) -> tuple[int, bool]:
        """Run iterations that repeat as one, if they do: how many, and if the loop goes on."""
        actions = self._repeats
        if actions is None or actions.is_dry or not self._is_whole:
            return 0, True
        first = key = self._key(actions)
        cycle: list[_Walked] = []
        while key is not None and len(cycle) < _LONGEST_CYCLE:
            found = self._known.get(key)
            if found is None or found.problem is not None:
                return 0, True
            cycle.append(found)
            key = found.next
            if key == first:
                break
        if key is None or key != first:
            return 0, True
        ended = actions.run_cycle([each.items for each in cycle], flag, limit, depth, done)
        if ended is None or not ended[0]:
            return 0, True
        cycle[(ended[0] - 1) % len(cycle)].after.restore(self._frame)
        self._latest = None
        return ended

    def _run_ahead(
        self,
        actions: Repeats,
        ahead: Any,
        flag: Any,
        most: int,
        depth: int,
        after: list[dict[str, Any]],
    ) -> None:
        """Submit iterations before it is known if they run; come back to the last that did."""
        frame = self._frame
        done, many = 0, actions.iterations_ahead(self._loop)
        while True:
            self.count = done + 1
            states = [State(frame)]
            after.append(states[0].arrays)
            problem: VyreError | None = None
            for count in range(done + 1, done + min(many, most - done) + 1):
                # A problem matters only if its iteration runs.
                problem = self._iterate(flag, ahead, depth, count)
                if problem is not None:
                    break
                states.append(State(frame))
                after.append(states[-1].arrays)
                if actions.is_dry:
                    break
            found = actions.look_at_loop(ahead)
            if found is None:
                if problem is not None:
                    raise problem
                actions.end_loop(ahead, self._loop, 0)
                return
            ran, goes_on = found
            states[ran - done].restore(frame)
            if not goes_on:
                actions.end_loop(ahead, self._loop, ran)
                return
            if problem is not None:
                raise problem
            done, many = ran, MOST_AHEAD
            if done == most:
                raise self._not_ended(most)

    def _iterate(self, flag: Any, ahead: Any, depth: int, count: int) -> VyreError | None:
        """Walk an iteration, or replay one like it."""
        actions = self._repeats
        if not self._is_whole or actions is None or actions.is_dry:
            return self._walked(flag, ahead, count)
        key = self._key(actions)
        if self._latest is not None:
            self._latest.next = key
        found = None if key is None else self._known.get(key)
        if found is None:
            actions.begin_items()
            try:
                problem = self._walked(flag, ahead, count)
            finally:
                items = actions.end_items()
            found = _Walked(items, State(self._frame), problem)
            if key is not None and actions.is_whole:
                self._known[key] = found
        else:
            found.after.restore(self._frame)
        self._latest = found
        actions.run_items(found.items, depth, count)
        return found.problem

    def _walked(self, flag: Any, ahead: Any, count: int) -> VyreError | None:
        try:
            self._actions.clear(flag)
            self._walk(count)
        except VyreError as error:
            return error
        for local in self._locals:
            self._frame.arrays.pop(local, None)
        if ahead is not None and self._repeats is not None:
            self._repeats.end_iteration(ahead)
        return None

    def _key(self, actions: Repeats) -> object | None:
        """What an iteration depends on; 1, 1.0 and True are different numbers."""
        arrays = actions.state(self._frame.arrays)
        if arrays is None:
            return None
        numbers = [(name, type(n), repr(n)) for name, n in self._frame.numbers.items()]
        return arrays, frozenset(numbers)

    def _not_ended(self, most: int) -> PlanError:
        location = Location(span=self._loop.span)
        flag = self._loop.flag.name
        return PlanError(codes.MOST_REACHED.at(location, (), most=most, flag=flag))


def locals_of(loop: tree.Again, written: PipelineSource) -> tuple[str, ...]:
    """Scratch that an iteration makes for itself: not used before, between or after."""
    made = [each.name for each in loop.body if isinstance(each, (tree.Scratch, tree.Flag))]
    inside = tree.uses(loop.body)
    everywhere = tree.uses(written.body)
    return tuple(
        name for name in made if name not in written.parameters and inside[name] == everywhere[name]
    )


def has_loop(written: PipelineSource, body: tree.Body) -> bool:
    """True if a body, or a pipeline that it calls, has a loop that the device ends."""
    pending, seen = [(written, body)], [written]
    while pending:
        source, statements = pending.pop()
        for each in tree.statements(statements):
            if isinstance(each, tree.Again):
                return True
            callee = resolve(source.source, each.callee) if isinstance(each, tree.Stage) else None
            if isinstance(callee, Staged) and callee.written not in seen:
                seen.append(callee.written)
                pending.append((callee.written, callee.written.body))
    return False
