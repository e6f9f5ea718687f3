"""Executes the tree of a pipeline: host statements here, stages by what `Actions` does with them.

Both ways to run a pipeline share it: apart, one stage after another, and planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, assert_never, cast

from vyre.diagnostics import DeadlineError, Location, PlanError, VyreError
from vyre.diagnostics.codes import pipeline as codes
from vyre.front.parameters import (
    ArrayParameter,
    GenericType,
    Mode,
    element_type,
)
from vyre.ir import DataType
from vyre.pipelines import tree
from vyre.pipelines.actions import Actions, Decides, Launch, Size
from vyre.pipelines.array_checks import check_copy, checked_flag, refuse_same, refuse_write
from vyre.pipelines.counts import CountedScratch, plain
from vyre.pipelines.evaluate import Frame, Read, evaluate, integer
from vyre.pipelines.loops import Loop
from vyre.pipelines.stages import (
    PipelineSource,
    Site,
    Staged,
    bind,
    callee_of,
    decision_site,
    is_written,
    parameters_of,
    placed,
    refuse_extents,
)
from vyre.runtime.specialisation import type_of_value

_MOST_ELEMENTS = (1 << 32) - 1
_MOST_IN_ALL = 1 << 56
"""Elements of an array: no memory holds more."""


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
        if start < 0:
            raise _impossible(made, start, "at first", "negative")
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
            refuse_extents(stage)
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

        def walk(count: int) -> None:
            self._iteration(frame, written, loop.body, name, count)

        found = Loop(self._actions, self._actions.repeats, frame, written, loop, walk)
        try:
            found.run(flag, most, len(self._iterations), self._after)
        except DeadlineError as error:
            at = (*self._iterations, (name, found.count))
            raise placed(error, [decision_site("vy.again", loop.span, at)]) from error.__cause__
        except PlanError as error:
            if error.code != codes.MOST_REACHED.code or not self._iterations:
                raise
            site = decision_site("vy.again", loop.span, tuple(self._iterations))
            raise placed(error, [site]) from error.__cause__

    def _when(self, frame: Frame, written: PipelineSource, choice: tree.When) -> None:
        flag = checked_flag(frame, choice.flag, self._type_of, "vy.when")
        words = self._actions.choose(flag, choice.span)
        if words is not None:
            for word, body in zip(words, (choice.then, choice.otherwise), strict=True):
                self._branch(frame, written, word, body)
            return
        try:
            is_set = self._actions.is_set(flag)
        except DeadlineError as error:
            site = decision_site("vy.when", choice.span, tuple(self._iterations))
            raise placed(error, [site]) from error.__cause__
        before = {*frame.arrays, *frame.numbers}
        if is_set is None or is_set:
            self._body(frame, written, choice.then)
        if not is_set:
            self._body(frame, written, choice.otherwise)
        _forget_others(frame, before)

    def _branch(self, frame: Frame, written: PipelineSource, word: Any, body: tree.Body) -> None:
        """Go through a branch that may turn out not to be taken."""
        actions = cast("Decides", self._actions)
        before = {*frame.arrays, *frame.numbers}
        actions.enter(word)
        problem: VyreError | None = None
        try:
            self._body(frame, written, body)
        except VyreError as error:
            problem = error
        finally:
            _forget_others(frame, before)
            actions.leave(word)
        if problem is not None and actions.matters(word, problem):
            raise problem


def _forget_others(frame: Frame, names: set[str]) -> None:
    """Forget the names that a branch has made: after it, they may have no value."""
    for known in (frame.arrays, frame.numbers):
        for name in set(known) - names:
            del known[name]


def _check_sizes(made: tree.Scratch, shape: tuple[int, ...]) -> None:
    for axis, extent in enumerate(shape):
        problem = "negative" if extent < 0 else "too many" if extent > _MOST_ELEMENTS else ""
        if problem:
            raise _impossible(made, extent, f"along axis {axis}", problem)
    if prod(shape) > _MOST_IN_ALL:
        raise _impossible(made, prod(shape), "in all", "too many")


def _impossible(made: tree.Scratch, found: int, where: str, problem: str) -> PlanError:
    fix = "make it at least 0: max(n, 0)" if found < 0 else "make it smaller"
    location = Location(span=made.span)
    return PlanError(
        codes.SIZE.at(
            location, (), name=made.name, found=found, where=where, problem=problem, fix=fix
        )
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


__all__ = ["Walker", "type_of"]
