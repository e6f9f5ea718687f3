"""Executes the tree of a pipeline: host statements here, stages by what `Actions` does with them.

Both ways to run a pipeline share it: apart, one stage after another, and planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, assert_never, cast

from vyre.diagnostics import Location, PlanError, Span, VyreError
from vyre.diagnostics.codes import pipeline as codes
from vyre.front.parameters import (
    ArrayParameter,
    GenericType,
    Mode,
    element_type,
)
from vyre.ir import DataType
from vyre.pipelines import tree
from vyre.pipelines.array_checks import check_copy, checked_flag, refuse_same, refuse_write
from vyre.pipelines.counts import CountedScratch, plain
from vyre.pipelines.evaluate import Frame, Read, evaluate, integer
from vyre.pipelines.stages import (
    PipelineSource,
    Site,
    Staged,
    bind,
    callee_of,
    is_written,
    parameters_of,
    placed,
)
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel
from vyre.runtime.kernel_arguments import type_of_value

_MOST_ELEMENTS = (1 << 32) - 1
MOST_AHEAD = 64
"""Iterations that are submitted before the host looks whether the loop has ended."""

Launch = tuple[int, ...] | None
"""Extents of `grid=` or `elements=`."""


@dataclass(frozen=True, slots=True)
class Size:
    """What `vy.at_most` says of the length of scratch."""

    most: int
    start: int


class Actions(Protocol):
    """What is done with the stages of a pipeline. Arrays are its own; they have a `shape`."""

    def scratch(self, name: str, dtype: DataType, shape: tuple[int, ...]) -> Any:
        """A new array of zeros."""
        ...

    def counted_scratch(self, made: tree.Scratch, dtype: DataType, size: Size, count: Any) -> Any:
        """Room for as many elements as the array `count` says, as `CountedScratch`."""
        ...

    def launch(
        self,
        kernel: Kernel[...],
        given: Mapping[str, Any],
        grid: Launch,
        elements: Launch,
        site: Site,
    ) -> None:
        """Run a kernel."""
        ...

    def copy(self, source: Any, target: Any) -> None:
        """Copy an array to another."""
        ...

    def clear(self, array: Any) -> None:
        """Fill an array with zeros."""
        ...

    def is_set(self, flag: Any) -> bool | None:
        """True if a flag is not zero, after all stages before; None if nothing runs."""
        ...

    def keep(self, name: str, array: Any) -> None:
        """Leave an array in memory."""
        ...

    def begin_loop(self, flag: Any, span: Span) -> Any:
        """A loop that runs ahead of the host, as `RunsAhead` has it; None if the host decides."""
        ...

    def choose(self, flag: Any, span: Span) -> tuple[Any, Any] | None:
        """Words that say which branch has effects, for `RunsAhead`; None if the host decides."""
        ...


class RunsAhead(Actions, Protocol):
    """Actions whose effects a word of the device decides about."""

    is_dry: bool
    """True if nothing runs: one iteration of a loop will do."""

    def iterations_ahead(self, loop: tree.Again) -> int:
        """How many iterations to go through before `look_at_loop`."""
        ...

    def end_iteration(self, loop: Any) -> None:
        """End an iteration."""
        ...

    def look_at_loop(self, loop: Any) -> tuple[int, bool] | None:
        """How many iterations had effects, and if the loop goes on; None if nothing runs."""
        ...

    def end_loop(self, loop: Any, written: tree.Again, iterations: int) -> None:
        """End a loop."""
        ...

    def enter(self, word: Any) -> None:
        """Let what follows have effects only if a word is set."""
        ...

    def leave(self, word: Any) -> None:
        """End what `enter` began."""
        ...

    def is_word_set(self, word: Any) -> bool:
        """True if a word is set, or if nothing runs."""
        ...


class Walker:
    """One call of a pipeline."""

    def __init__(self, actions: Actions, device_of: Callable[[Any], DataType]) -> None:
        self._actions = actions
        self._type_of = device_of
        self._iterations: list[tuple[str, int]] = []
        self._callers: list[PipelineSource] = []
        self._frames: list[Frame] = []
        self._after: list[dict[str, Any]] = []
        """What names stand for after iterations that may turn out to be the last."""
        self.reads: list[Read] = []
        """Names from outside that the call has looked up."""

    def arrays(self) -> list[Any]:
        """The arrays that names stand for now, in all calls under way."""
        found: list[Any] = []
        for arrays in (*(frame.arrays for frame in self._frames), *self._after):
            for array in arrays.values():
                found.append(plain(array))
                if isinstance(array, CountedScratch):
                    found.append(array.count)
        return found

    def run(
        self, written: PipelineSource, arrays: Mapping[str, Any], numbers: Mapping[str, tree.Value]
    ) -> tuple[Any, ...]:
        """Execute a pipeline: the arrays that it returns."""
        if any(each is written for each in self._callers):
            path = " -> ".join(each.name for each in (*self._callers, written))
            span = written.source.span(written.source.tree)
            raise PlanError(
                codes.RECURSION.at(Location(span=span), (), name=written.name, path=path)
            )
        self._callers.append(written)
        inputs = [
            name
            for name, one in written.parameters.items()
            if isinstance(one, ArrayParameter) and one.mode is Mode.IN
        ]
        frame = Frame(written.source, arrays, numbers, self.reads, inputs)
        self._frames.append(frame)
        try:
            for name, parameter in written.parameters.items():
                if isinstance(parameter, ArrayParameter) and parameter.mode is Mode.OUT:
                    self._actions.clear(plain(arrays[name]))
            self._body(frame, written, written.body)
            return self._returned(frame, written, arrays)
        finally:
            self._callers.pop()
            self._frames.pop()

    def _returned(
        self, frame: Frame, written: PipelineSource, arrays: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        found = written.returned
        if found is None:
            return ()
        given = list(arrays.values())
        results: list[Any] = []
        for name in found.arrays:
            array = frame.array(name)
            if any(array is each for each in given):
                what = f"{name.name!r}, which stands for an argument here"
                raise PlanError(codes.RETURNED.at(Location(span=name.span), (), what=what))
            results.append(array)
        return tuple(results)

    def _body(self, frame: Frame, written: PipelineSource, body: tree.Body) -> None:
        for statement in body:
            self._statement(frame, written, statement)

    def _statement(self, frame: Frame, written: PipelineSource, statement: tree.Statement) -> None:
        match statement:
            case tree.Scratch():
                frame.arrays[statement.name] = self._scratch(frame, written, statement)
            case tree.Flag(name):
                frame.arrays[name] = self._actions.scratch(name, DataType.U32, (1,))
            case tree.Stage():
                self._stage(frame, statement)
            case tree.Copy():
                self._copy(frame, statement)
            case tree.Assign():
                _assign(frame, statement)
            case tree.For():
                self._for(frame, written, statement)
            case tree.Again():
                self._again(frame, written, statement)
            case tree.If(condition, then, otherwise):
                self._body(frame, written, then if evaluate(frame, condition) else otherwise)
            case tree.When():
                self._when(frame, written, statement)
            case tree.Keep(array):
                self._actions.keep(array.name, plain(frame.array(array)))
            case tree.Return():
                pass
            case _:
                assert_never(statement)

    def _scratch(self, frame: Frame, written: PipelineSource, made: tree.Scratch) -> Any:
        if made.like is not None:
            like = frame.array(tree.ArrayName(made.like, made.span))
            if isinstance(like, CountedScratch):
                size = Size(like.most, like.most if like.start is None else like.start)
                return self._actions.counted_scratch(
                    made, self._type_of(like.array), size, like.count
                )
            return self._actions.scratch(made.name, self._type_of(like), tuple(like.shape))
        assert made.element is not None
        dtype = self._element(frame, written, made)
        if made.counted is not None:
            return self._counted(frame, made, made.counted, dtype)
        shape = tuple(integer(frame, each, "a size of scratch", made.span) for each in made.extents)
        _check_sizes(made, shape)
        return self._actions.scratch(made.name, dtype, shape)

    def _counted(
        self, frame: Frame, made: tree.Scratch, wanted: tree.Counted, dtype: DataType
    ) -> Any:
        most = integer(frame, wanted.most, "the limit of vy.at_most", made.span)
        start = most
        if wanted.start is not None:
            start = integer(frame, wanted.start, "start=", made.span)
        _check_sizes(made, (most,))
        _check_sizes(made, (start,))
        count = checked_flag(frame, wanted.count, self._type_of, "vy.scratch")
        refuse_write(frame, wanted.count, "a stage that counts", self._callers[-1], made.span)
        return self._actions.counted_scratch(made, dtype, Size(most, min(start, most)), count)

    def _element(self, frame: Frame, written: PipelineSource, made: tree.Scratch) -> DataType:
        assert made.element is not None
        found = element_type(frame.lookup(made.element))
        if isinstance(found, GenericType):
            for name, parameter in written.parameters.items():
                if isinstance(parameter, ArrayParameter) and parameter.dtype == found:
                    return self._type_of(plain(frame.array(tree.ArrayName(name, made.span))))
        if isinstance(found, DataType):
            return found
        raise PlanError(
            codes.HOST_VALUE.at(
                Location(span=made.span),
                (),
                text=str(made.element),
                problem="is no type of elements",
                fix="write a type of vy, such as vy.f32",
            )
        )

    def _stage(self, frame: Frame, stage: tree.Stage) -> None:
        callee = callee_of(frame.lookup(stage.callee), stage)
        bound = bind(stage, callee)
        given = {name: _value(frame, value) for name, value in bound.items()}
        parameters = parameters_of(callee)
        refuse_same(stage, parameters, bound, given)
        for name, value in bound.items():
            if isinstance(value, tree.ArrayName) and is_written(parameters[name]):
                refuse_write(frame, value, str(stage.callee), self._callers[-1], stage.span)
        if isinstance(callee, Staged):
            self._inline(frame, stage, callee.written, given)
            return
        grid = _launch_extents(frame, stage.grid, stage)
        elements = _launch_extents(frame, stage.elements, stage)
        site = Site(stage, tuple(self._iterations))
        try:
            self._actions.launch(callee, given, grid, elements, site)
        except VyreError as error:
            raise placed(error, [site]) from error.__cause__

    def _inline(
        self, frame: Frame, stage: tree.Stage, inner: PipelineSource, given: Mapping[str, Any]
    ) -> None:
        arrays = {n: given[n] for n, p in inner.parameters.items() if isinstance(p, ArrayParameter)}
        numbers = {n: given[n] for n in inner.parameters if n not in arrays}
        results = self.run(inner, arrays, numbers)
        if len(stage.results) not in (0, len(results)):
            problem = f"returns {len(results)} arrays, not {len(stage.results)}"
            raise PlanError(
                codes.ARGUMENT.at(
                    Location(span=stage.span),
                    (),
                    stage=str(stage.callee),
                    problem=problem,
                    fix="assign to as many names",
                )
            )
        frame.arrays.update(zip(stage.results, results, strict=False))

    def _copy(self, frame: Frame, statement: tree.Copy) -> None:
        source, target = frame.array(statement.source), frame.array(statement.target)
        refuse_write(frame, statement.target, "vy.copy", self._callers[-1], statement.span)
        if source is not target:
            check_copy(source, target, self._type_of, statement)
            self._actions.copy(source, target)

    def _for(self, frame: Frame, written: PipelineSource, loop: tree.For) -> None:
        start, stop, step = (
            integer(frame, each, "a bound of range", loop.span)
            for each in (loop.start, loop.stop, loop.step)
        )
        if step == 0:
            raise PlanError(
                codes.HOST_VALUE.at(
                    Location(span=loop.span),
                    (),
                    text="the step of range",
                    problem="is 0",
                    fix="write another step",
                )
            )
        for count, value in enumerate(range(start, stop, step), 1):
            frame.numbers[loop.variable] = value
            self._iteration(frame, written, loop.body, f"for {loop.variable}", count)

    def _iteration(
        self, frame: Frame, written: PipelineSource, body: tree.Body, loop: str, count: int
    ) -> None:
        self._iterations.append((loop, count))
        try:
            self._body(frame, written, body)
        finally:
            self._iterations.pop()

    def _again(self, frame: Frame, written: PipelineSource, loop: tree.Again) -> None:
        most = integer(frame, loop.most, "most=", loop.span)
        if most < 0:
            raise PlanError(
                codes.HOST_VALUE.at(
                    Location(span=loop.span),
                    (),
                    text="most=",
                    problem=f"is {most}",
                    fix="allow at least one iteration: most=max(n, 1)",
                )
            )
        refuse_write(frame, loop.flag, "vy.again", self._callers[-1], loop.span)
        flag = checked_flag(frame, loop.flag, self._type_of, "vy.again")
        name = f"while vy.again({loop.flag.name})"
        ahead = self._actions.begin_loop(flag, loop.span) if most > 0 else None
        if ahead is not None:
            self._run_ahead(frame, written, loop, ahead, most)
            return
        for count in range(1, most + 1):
            self._actions.clear(flag)
            self._iteration(frame, written, loop.body, name, count)
            for local in locals_of(loop, written):
                frame.arrays.pop(local, None)
            if not self._actions.is_set(flag):
                return
        if most > 0:
            raise _not_ended(loop, most)

    def _run_ahead(
        self, frame: Frame, written: PipelineSource, loop: tree.Again, ahead: Any, most: int
    ) -> None:
        """Go through iterations before it is known if they run; come back to the last that did."""
        actions = cast("RunsAhead", self._actions)
        done, many = 0, actions.iterations_ahead(loop)
        kept = len(self._after)
        try:
            while True:
                many = min(many, most - done)
                states = [_State(frame)]
                problem = self._batch(frame, written, loop, ahead, range(done, done + many), states)
                found = actions.look_at_loop(ahead)
                if found is None:
                    if problem is not None:
                        raise problem
                    actions.end_loop(ahead, loop, 0)
                    return
                ran, goes_on = found
                states[ran - done].restore(frame)
                if not goes_on:
                    actions.end_loop(ahead, loop, done := ran)
                    return
                if problem is not None:
                    raise problem
                done, many = ran, MOST_AHEAD
                if done == most:
                    raise _not_ended(loop, most)
        finally:
            del self._after[kept:]

    def _batch(
        self,
        frame: Frame,
        written: PipelineSource,
        loop: tree.Again,
        ahead: Any,
        counts: range,
        states: list[_State],
    ) -> VyreError | None:
        """Go through some iterations; a problem matters only if its iteration runs."""
        actions = cast("RunsAhead", self._actions)
        flag = frame.array(loop.flag)
        self._after.append(states[0].arrays)
        for count in counts:
            try:
                actions.clear(flag)
                name = f"while vy.again({loop.flag.name})"
                self._iteration(frame, written, loop.body, name, count + 1)
            except VyreError as error:
                return error
            for local in locals_of(loop, written):
                frame.arrays.pop(local, None)
            actions.end_iteration(ahead)
            states.append(_State(frame))
            self._after.append(states[-1].arrays)
            if actions.is_dry:
                break
        return None

    def _when(self, frame: Frame, written: PipelineSource, choice: tree.When) -> None:
        flag = checked_flag(frame, choice.flag, self._type_of, "vy.when")
        words = self._actions.choose(flag, choice.span)
        if words is not None:
            for word, body in zip(words, (choice.then, choice.otherwise), strict=True):
                self._branch(frame, written, word, body)
            return
        is_set = self._actions.is_set(flag)
        before = {*frame.arrays, *frame.numbers}
        if is_set is None or is_set:
            self._body(frame, written, choice.then)
        if not is_set:
            self._body(frame, written, choice.otherwise)
        _forget_others(frame, before)

    def _branch(self, frame: Frame, written: PipelineSource, word: Any, body: tree.Body) -> None:
        """Go through a branch that may turn out not to be taken."""
        actions = cast("RunsAhead", self._actions)
        before = {*frame.arrays, *frame.numbers}
        actions.enter(word)
        problem: VyreError | None = None
        try:
            self._body(frame, written, body)
        except VyreError as error:
            problem = error
        finally:
            actions.leave(word)
        _forget_others(frame, before)
        if problem is not None and actions.is_word_set(word):
            raise problem


class _State:
    """What the names of a frame stand for after an iteration."""

    __slots__ = ("_numbers", "arrays")

    def __init__(self, frame: Frame) -> None:
        self.arrays = dict(frame.arrays)
        self._numbers = dict(frame.numbers)

    def restore(self, frame: Frame) -> None:
        """Let the names stand for that again."""
        frame.arrays, frame.numbers = self.arrays, self._numbers


def _forget_others(frame: Frame, names: set[str]) -> None:
    """Forget the names that a branch has made: after it, they may have no value."""
    for known in (frame.arrays, frame.numbers):
        for name in set(known) - names:
            del known[name]


def _not_ended(loop: tree.Again, most: int) -> PlanError:
    return PlanError(
        codes.MOST_REACHED.at(Location(span=loop.span), (), most=most, flag=loop.flag.name)
    )


def _check_sizes(made: tree.Scratch, shape: tuple[int, ...]) -> None:
    for axis, extent in enumerate(shape):
        problem = "negative" if extent < 0 else "too many" if extent > _MOST_ELEMENTS else ""
        if problem:
            fix = "make it at least 0: max(n, 0)" if extent < 0 else "make it smaller"
            raise PlanError(
                codes.SIZE.at(
                    Location(span=made.span),
                    (),
                    name=made.name,
                    found=extent,
                    axis=axis,
                    problem=problem,
                    fix=fix,
                )
            )


def locals_of(loop: tree.Again, written: PipelineSource) -> tuple[str, ...]:
    """Scratch that an iteration makes for itself: not used before, between or after."""
    made = [each.name for each in loop.body if isinstance(each, (tree.Scratch, tree.Flag))]
    inside = tree.uses(loop.body)
    everywhere = tree.uses(written.body)
    return tuple(
        name for name in made if name not in written.parameters and inside[name] == everywhere[name]
    )


def _launch_extents(
    frame: Frame, wanted: tuple[tree.HostExpr, ...] | None, stage: tree.Stage
) -> Launch:
    if wanted is None:
        return None
    return tuple(integer(frame, each, "a grid", stage.span) for each in wanted)


def _value(frame: Frame, value: Any) -> Any:
    if isinstance(value, tree.ArrayName):
        return frame.array(value)
    is_expr = isinstance(
        value,
        (tree.Number, tree.Local, tree.Captured, tree.Extent, tree.Operation, tree.Conditional),
    )
    return evaluate(frame, value) if is_expr else value


def _assign(frame: Frame, statement: tree.Assign) -> None:
    values = [_value(frame, each) for each in statement.values]
    for name, given, value in zip(statement.targets, statement.values, values, strict=True):
        if isinstance(given, tree.ArrayName):
            frame.arrays[name] = value
        else:
            frame.numbers[name] = value


def type_of(array: Any) -> DataType:
    """The type of the elements of an array of the host or of a device."""
    found = type_of_value(array)
    assert found is not None
    return found


__all__ = ["Actions", "Walker", "type_of"]
