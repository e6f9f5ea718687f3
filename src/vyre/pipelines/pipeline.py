"""`@vyre.pipeline`: stages as one call, with as few launches and as little memory as is legal."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from vyre.config import config
from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as front_codes
from vyre.driver import routing
from vyre.driver.loading import refuse_while_loading
from vyre.driver.routing import Route
from vyre.front.kernels import defaults_of_function, parameters_of_function
from vyre.front.parameters import ArrayParameter, Mode
from vyre.front.source import Source
from vyre.ir import DataType
from vyre.pipelines import background
from vyre.pipelines.apart import Clock, OneByOne, Sanitized
from vyre.pipelines.arguments import Arguments, bind_arguments, place, route_of
from vyre.pipelines.as_graph import decides_on_the_device, graph_of
from vyre.pipelines.bound import BoundPipeline
from vyre.pipelines.contract import Contract
from vyre.pipelines.count_checks import RunAgain, may_run_again
from vyre.pipelines.counts import CountedScratch, plain
from vyre.pipelines.planned import Planned
from vyre.pipelines.plans import Plans
from vyre.pipelines.recording import Recording, key_of_call, recorded
from vyre.pipelines.report import PipelinePlan, plan_of
from vyre.pipelines.stages import PipelineSource, Staged, check_branches, check_stages
from vyre.pipelines.steps import Buffer
from vyre.pipelines.translate import translate
from vyre.pipelines.verify import compare, expected_of
from vyre.pipelines.walk import Walker, type_of
from vyre.plan.graph import Graph
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.run import check_deadline
from vyre.target import Target

if TYPE_CHECKING:
    from concurrent.futures import Future

P = ParamSpec("P")
R = TypeVar("R")
_MOST_RECORDINGS = 16


class Pipeline(Staged, Generic[P, R]):
    """Kernels called in a row, compiled as one.

    Calling it means: its stages, one after another, on fresh zeroed scratch. `apart` does exactly
    that; a call gives the same bits.
    """

    def __init__(
        self,
        written: PipelineSource,
        function: Callable[P, R],
        *,
        fuse: bool = True,
        require: Mapping[str, int] | None = None,
        target: Target | None = None,
    ) -> None:
        """`target` is a device that is not here: plans keep its limits, for `graph`."""
        self.written = written
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self._plans = Plans(fuse=fuse, settle=not require, target=target)
        self._contract = Contract(self.__name__, require)
        self._recordings: dict[tuple[object, ...], Recording] = {}

    def __repr__(self) -> str:
        return f"<vyre pipeline {self.__name__}>"

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(
        self, *args: Any, device: str | None, deadline: float | None = None, **kwargs: Any
    ) -> R: ...
    @overload
    def __call__(self, *args: Any, deadline: float | None, **kwargs: Any) -> R: ...
    def __call__(
        self, *args: Any, device: str | None = None, deadline: float | None = None, **kwargs: Any
    ) -> Any:
        """Run the pipeline on a device, and end with an error after `deadline` seconds."""
        refuse_while_loading()
        key = None if kwargs or config().check else key_of_call(args, device)
        known = None if key is None else self._recordings.get(key)
        if known is not None and known.is_current():
            return self._results(known.is_on_host, known.replay(args, deadline))
        given = bind_arguments(self.written, args, kwargs)
        found, made = self._run(given, device, deadline)
        if key is not None and made is not None:
            while len(self._recordings) >= _MOST_RECORDINGS:
                self._recordings.pop(next(iter(self._recordings)), None)
            self._recordings[key] = made
        return found

    def bind(self, *args: Any, device: str | None = None, **kwargs: Any) -> BoundPipeline[R]:
        """The pipeline with these arguments, which are checked once: then call it without any."""
        given = bind_arguments(self.written, args, kwargs)
        names = tuple(self.written.parameters)
        return BoundPipeline(given, names, device, self._run, self._results)

    def submit(
        self, *args: Any, device: str | None = None, deadline: float | None = None, **kwargs: Any
    ) -> Future[R]:
        """Run the pipeline in the background: `submit(...).result()` is what a call returns.

        Arguments are checked at once. Calls on one device run in the order of submission; until its
        call has ended, no array of it may be changed. `deadline` counts from the start of the call.
        """
        refuse_while_loading()
        given = bind_arguments(self.written, args, kwargs)
        if deadline is not None:
            check_deadline(deadline)
        chosen = route_of(given, device).device.info.id
        return background.submit(chosen, lambda: self._run(given, chosen, deadline)[0])

    def compile(self, *args: Any, device: str | None = None, **kwargs: Any) -> PipelinePlan:
        """Compile what a call with such arguments launches; nothing runs."""
        found = self.plan(*args, device=device, **kwargs)
        for launch in found.launches:
            launch.kernel.compile(device=found.device, **launch.types)
        return found

    def apart(
        self, *args: Any, device: str | None = None, deadline: float | None = None, **kwargs: Any
    ) -> Any:
        """Run the stages one after another, each as a call of its own on zeroed scratch."""
        refuse_while_loading()
        given = bind_arguments(self.written, args, kwargs)
        route = route_of(given, device)
        results = self._apart(given, route, deadline)
        return self._results(given.is_on_host, results)

    def plan(self, *args: Any, device: str | None = None, **kwargs: Any) -> PipelinePlan:
        """What a call with these arguments would launch, as data; nothing runs.

        A loop of `vy.again` is planned for one iteration, `vy.when` for both its branches.
        """
        given = bind_arguments(self.written, args, kwargs)
        route = route_of(given, device)
        # A contract holds for calls: this has both branches of each vy.when.
        free = Contract(self.__name__, None)
        actions = Planned(self._plans, route, Clock(None), free, is_dry=True)
        self._walk(actions, given.arrays, given.numbers)
        return plan_of(self.__name__, route.device.info.id, actions.windows, actions.counted)

    def graph(self, *args: Any, device: str | None = None, **kwargs: Any) -> Graph:
        """The launches of a call with these arguments as a graph of programs; nothing runs.

        Numbers and shapes of the call are part of the graph, its arrays are not.
        """
        given = bind_arguments(self.written, args, kwargs)
        route = route_of(given, device)
        free = Contract(self.__name__, None)
        actions = Planned(self._plans, route, Clock(None), free, is_dry=True)
        self._walk(actions, given.arrays, given.numbers)
        if actions.is_decided:
            raise decides_on_the_device(self.__name__)
        return graph_of(self.__name__, actions.windows, self.written.parameters, actions.results)

    def explain(self, *args: Any, device: str | None = None, **kwargs: Any) -> str:
        """What a call does and why: launches, and for each scratch where it is kept."""
        return str(self.plan(*args, device=device, **kwargs))

    def show(self, stage: Any = "ir", *args: Any, device: str | None = None, **kwargs: Any) -> str:
        """The kernels of a call's plan at a stage of their way, one after the other.

        The stage may be left out: it is `ir` then.
        """
        if not isinstance(stage, str):
            stage, args = "ir", (stage, *args)
        found = self.plan(*args, device=device, **kwargs)
        return "\n".join(
            f"# {each.name}\n{each.kernel.show(stage, device=device, **each.types)}"
            for each in found.launches
        )

    def reference(
        self, *args: Any, deadline: float | None = None, sanitize: bool = True, **kwargs: Any
    ) -> Any:
        """The same call on the reference, each stage with the sanitizer; defects are raised."""
        given = bind_arguments(self.written, args, kwargs)
        route = routing.choose("reference")
        actions = Sanitized(route.device, Clock(deadline), sanitize=sanitize)
        placed = place(given, route.device, self.written)
        with placed.handed_back():
            found = Walker(actions, type_of).run(self.written, placed.arrays, given.numbers)
            results = tuple(actions.returned(each) for each in found)
        return self._results(given.is_on_host, results)

    def forget(self) -> None:
        """Drop plans and recorded calls, and the scratch that they hold."""
        self._recordings.clear()
        self._plans.forget()

    def _apart(
        self, given: Arguments, route: Route, deadline: float | None
    ) -> tuple[DeviceArray, ...]:
        placed = place(given, route.device, self.written)
        actions = OneByOne(route.device, Clock(deadline))
        with placed.handed_back():
            found = Walker(actions, type_of).run(self.written, placed.arrays, given.numbers)
            return tuple(actions.returned(each) for each in found)

    def _run(
        self, given: Arguments, device: str | None, deadline: float | None
    ) -> tuple[Any, Recording | None]:
        """Run by plan: what the call returns, and its recording if the next may replay it."""
        route = route_of(given, device)
        expected = None
        if config().check:
            expected = expected_of(given, partial(self._apart, route=route, deadline=deadline))
        placed = place(given, route.device, self.written)
        with placed.handed_back():
            actions, results, walker = self._completed(
                placed.arrays, given.numbers, route, deadline
            )
        if expected is not None:
            compare(self.__name__, given, results, expected)
        names, on_host = tuple(self.written.parameters), given.is_on_host
        made = recorded(actions, names, walker.reads, is_on_host=on_host)
        return self._results(on_host, results), made if placed.is_in_place else None

    def _completed(
        self,
        arrays: Mapping[str, Any],
        numbers: Mapping[str, Any],
        route: Route,
        deadline: float | None,
    ) -> tuple[Planned, tuple[DeviceArray, ...], Walker]:
        """Run by plan, again with more room as long as counted scratch does not suffice."""
        saves = may_run_again(self.written)
        clock = Clock(deadline)
        while True:
            actions = Planned(self._plans, route, clock, self._contract, saves=saves)
            try:
                return (actions, *self._walk(actions, arrays, numbers))
            except RunAgain:
                actions.restore()

    def _walk(
        self, actions: Planned, given: Mapping[str, Any], numbers: Mapping[str, Any]
    ) -> tuple[tuple[DeviceArray, ...], Walker]:
        arrays = {
            name: actions.take(name, each, type_of(each), is_output=_is_output(self.written, name))
            for name, each in given.items()
        }
        walker = Walker(actions, _type_of_buffer)
        actions.watch(walker.arrays)
        found = walker.run(self.written, arrays, numbers)
        counts = [each.count for each in found if isinstance(each, CountedScratch)]
        actions.flush((*map(plain, found), *counts, *arrays.values()))
        actions.finish(found)
        if actions.is_dry:
            return (), walker
        return tuple(actions.returned(each) for each in found), walker

    def _results(self, is_on_host: bool, results: tuple[DeviceArray, ...]) -> Any:
        """What a call returns: arrays of the host, if the caller passed only such arrays."""
        found = self.written.returned
        if found is None:
            return None
        made = [each.numpy() if is_on_host else each for each in results]
        return tuple(made) if found.is_tuple else made[0]


def _is_output(written: PipelineSource, name: str) -> bool:
    parameter = written.parameters[name]
    return isinstance(parameter, ArrayParameter) and parameter.mode is Mode.OUT


def _type_of_buffer(buffer: Buffer) -> DataType:
    return buffer.dtype


def read_pipeline(function: object) -> PipelineSource:
    """Read a function that is to be a pipeline; refuses what pipelines do not have."""
    if not isinstance(function, FunctionType) or inspect.iscoroutinefunction(function):
        raise FrontError(front_codes.NOT_A_FUNCTION.at(form="vy.pipeline", found=repr(function)))
    source = Source(function)
    parameters = parameters_of_function(source)
    body = translate(source, parameters)
    written = PipelineSource(source, parameters, defaults_of_function(function), body)
    check_branches(written)
    check_stages(written)
    return written


@overload
def pipeline(function: Callable[P, R], /) -> Pipeline[P, R]: ...
@overload
def pipeline(
    *, fuse: bool = True, require: Mapping[str, int] | None = None
) -> Callable[[Callable[P, R]], Pipeline[P, R]]: ...
def pipeline(
    function: Any = None, /, *, fuse: bool = True, require: Mapping[str, int] | None = None
) -> Any:
    """Make a typed Python function a pipeline: `@vy.pipeline`.

    With `fuse=False` each stage is a launch of its own. `require` is a contract, such as
    `{"launches": 1, "host_reads": 0}`: a call whose plan does not keep it is an error.
    """

    def decorate(wanted: Callable[..., Any]) -> Pipeline[..., Any]:
        return Pipeline(read_pipeline(wanted), wanted, fuse=fuse, require=require)

    return decorate if function is None else decorate(function)
