"""A program that is compiled for a device, ready to be launched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

from vyre.diagnostics import BackendError, VyreError
from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import driver as codes
from vyre.driver.artifact import Artifact
from vyre.driver.backend import (
    Argument,
    Bindable,
    DeviceMemory,
    Executable,
    LaunchRecord,
    TakesArrays,
)
from vyre.driver.compilation import Compilation, CompileOptions
from vyre.driver.grid import Grid, indirect_dispatch
from vyre.driver.routing import Route
from vyre.driver.sequence import RunsSequences
from vyre.ir import Program
from vyre.locks import cached_property, make_lock
from vyre.runtime import telemetry
from vyre.runtime.host_arrays import HostArray
from vyre.signals import is_from_handler

if TYPE_CHECKING:
    from vyre.driver.grid_sync import SplitExecutable
    from vyre.opt import HotPathHints, OptimizerRunReport
    from vyre.opt.cost_report import CostReport
    from vyre.runtime.dispatch_cache import BoundLaunch


_HASTY = ("quick", "lean", "short", "brisk")
"""Pipelines of backends that leave something for the time when a program is hot."""


class CompiledProgram:
    """A program on a device. Made by `vyre.compile`."""

    def __init__(
        self,
        route: Route,
        compilation: Compilation,
        options: CompileOptions,
        *,
        from_cache: bool,
        hints: HotPathHints | None = None,
        cost_report: CostReport | None = None,
    ) -> None:
        self._hints = hints
        """By which its passes were chosen, if any had a say."""
        self._cost_report = cost_report
        """What an earlier compilation found out, likewise."""
        self._report = compilation.report
        self.route = route
        self.compilation = compilation
        self.options = options
        self.from_cache = from_cache
        self.target = route.backend.target(route.device)
        self._executables: dict[int, Executable] | None = None
        self._lock = make_lock()
        self._single: Executable | None = None
        self.bound_launches: tuple[BoundLaunch, ...] = ()
        """Entries of the dispatch cache, newest first."""
        self.bound_names = compilation.bound_names
        self.is_for_hot = options.emit.tier == "hot"
        """Whether it is what is made of a program that has become hot."""
        hasty = any(a.metadata.get("pipeline") in _HASTY for a in compilation.artifacts)
        self.is_provisional = hasty and options.emit.tier == "auto"
        """Whether its code was made in haste, to be replaced when the program turns out hot."""

    @property
    def program(self) -> Program:
        """The program that runs: what the optimizer left."""
        return self.compilation.program

    @property
    def report(self) -> OptimizerRunReport | None:
        """What the optimizer did; None without a profile.

        For a program that came from the cache the passes are run again to tell.
        """
        if self._report is None and self.options.profile is not None:
            from vyre.opt import OptimizerProfile, optimize

            profile = OptimizerProfile(self.options.profile)
            source, target = self.compilation.source, self.target
            self._report = optimize(source, profile, target, self._hints, self._cost_report)
        return self._report

    @property
    def device(self) -> str:
        """The id of its device."""
        return self.route.device.info.id

    @property
    def can_repeat(self) -> bool:
        """Whether a launch needs nothing but arguments and a grid."""
        return self._single is not None and not self.reads_its_grid

    @property
    def is_bindable(self) -> bool:
        """Whether its backend prepares launches."""
        return isinstance(self._single, Bindable)

    def prepare(
        self, arguments: Mapping[str, Argument], grid: Grid, deadline: float | None
    ) -> Callable[[], LaunchRecord]:
        """A launch to be done again, as long as the memory is there; only where it can repeat."""
        single = self._single
        assert single is not None
        bound = [arguments[name] for name in self.bound_names]
        if isinstance(single, Bindable):
            return single.bind(bound, grid, deadline)
        return partial(single.launch, bound, grid, deadline)

    @cached_property
    def takes_arrays(self) -> TakesArrays | None:
        """What launches it on arrays of the host as they are, if its backend can do that."""
        executables = self.load()
        if self.reads_its_grid:
            return None
        if any(decl.element.is_vector for decl in self.compilation.source.buffers):
            # An array of the host has one number per element.
            return None
        plan = self.compilation.plan
        if plan is not None:
            return None if plan.has_copies else self._joined
        single = executables[0]
        return single if isinstance(single, TakesArrays) else None

    @cached_property
    def _joined(self) -> SplitExecutable | None:
        """Its segments as one executable, on a device that runs sequences by itself."""
        plan = self.compilation.plan
        if plan is None or self.compilation.has_scratch:
            return None
        from vyre.driver.grid_sync import SplitExecutable

        device = self.route.device
        if not isinstance(device, RunsSequences):
            return None
        return SplitExecutable(plan, self.load(), device, self.bound_names)

    @property
    def reads_its_grid(self) -> bool:
        """Whether the grid is read from a buffer at each launch."""
        return indirect_dispatch(self.compilation.source) is not None

    @property
    def segments_by_epoch(self) -> Mapping[int, int]:
        """The segments that epochs begin with; none if it does not run as segments."""
        plan = self.compilation.plan
        return {} if plan is None else plan.begins

    @cached_property
    def acts_without_invocations(self) -> bool:
        """Whether it does something on an empty grid, as collectives do, once for the grid."""
        from vyre.driver.grid_sync import contains_collective

        return contains_collective(self.compilation.source)

    def launch(
        self,
        arguments: Mapping[str, Argument],
        grid: Grid,
        deadline: float | None = None,
        handovers: Mapping[int, Sequence[DeviceMemory]] | None = None,
    ) -> LaunchRecord:
        """Run it on memory bound by name."""
        if 0 in grid and not self.acts_without_invocations:
            return LaunchRecord(0)
        single = self._single
        if single is None:
            executables = self.load()
            plan = self.compilation.plan
            if plan is not None:
                from vyre.driver.grid_sync import run_split

                if self._joined is not None:
                    self._single = self._joined
                return run_split(
                    plan, executables, self.route.device, arguments, grid, deadline, handovers
                )
            single = self._single = executables[0]
        bound = [arguments[name] for name in self.bound_names]
        return single.launch(bound, grid, deadline)

    def prove(self, arguments: Mapping[str, Argument], grid: Grid, deadline: float | None) -> None:
        """Let its backend refuse a launch while nothing has been done for it yet.

        A device has limits of its own, on which launches are prepared. What works on arrays of the
        host has none.
        """
        limited = self._limited
        if limited is not None and 0 not in grid:
            limited.bind([arguments[name] for name in self.bound_names], grid, deadline)

    @cached_property
    def _limited(self) -> Bindable | None:
        """What prepares its launches, if that has limits of its own."""
        single = None if self.compilation.plan is not None else self.load()[0]
        if isinstance(single, Bindable) and not isinstance(single, TakesArrays):
            return single
        return None

    def load(self) -> dict[int, Executable]:
        """Make it executable; the first launch would do the same."""
        if self._executables is not None:
            return self._executables
        with self._lock:
            if self._executables is None:
                made: dict[int, Executable] = {}
                with telemetry.timed("load", self.device):
                    for artifact in self.compilation.artifacts:
                        segment = artifact.metadata.get("segment")
                        key = segment if isinstance(segment, int) else 0
                        made[key] = self._guarded_load(artifact)
                self._executables = made
            return self._executables

    def _guarded_load(self, artifact: Artifact) -> Executable:
        try:
            if not self.compilation.is_split:
                return self.route.backend.load(artifact, self.route.device)
            with self._naming_segment(artifact):
                return self.route.backend.load(artifact, self.route.device)
        except VyreError:
            raise
        except (Exception, SystemExit) as problem:
            if is_from_handler(problem):
                raise
            name = self.route.backend.name
            raise backend_failure(
                codes.LOAD_FAILED, name, self.compilation.source, problem
            ) from problem

    def _naming_segment(self, artifact: Artifact) -> AbstractContextManager[None]:
        from vyre.driver.grid_sync.segment_errors import in_segment

        number = artifact.metadata["segment"]
        plan = self.compilation.plan
        assert isinstance(number, int)
        assert plan is not None
        return in_segment(number, len(plan.segments))

    def sources(self) -> dict[str, str]:
        """Readable forms of what runs, by kind; compiles again when it came from the cache."""
        artifacts: Iterable[Artifact] = self.compilation.artifacts
        if not any(artifact.sources for artifact in artifacts):
            from vyre.compiler import emit_segments

            artifacts = emit_segments(
                self.program, self.route.backend, self.target, self.options.emit
            )
        found: dict[str, str] = {}
        for artifact in artifacts:
            for kind, text in artifact.sources.items():
                found[kind] = f"{found[kind]}\n\n{text}" if kind in found else text
        return found

    def __repr__(self) -> str:
        name = self.compilation.source.entry_op_id or self.compilation.source.digest()[:12]
        return f"<compiled program {name} for {self.device}>"

    def explain(self) -> str:
        """Why this device, and what the optimizer did."""
        lines = [f"device: {self.device}, {self.route.why}"]
        if self.from_cache:
            lines.append("compiled: taken from the cache; the passes are run again to explain them")
        plan = self.compilation.plan
        if plan is not None:
            lines.append(f"grid barriers: split into {len(plan.segments)} segments")
        if self.is_provisional:
            lines.append(
                "machine code: made quickly, because there is much of it; once the program is "
                "hot, better code is made in the background and takes its place"
            )
        report = self.report
        if report is not None:
            from vyre.opt import explain

            lines += ["", explain(report)]
        schedule = self.sources().get("schedule")
        if schedule is not None:
            lines += ["", schedule]
        return "\n".join(lines)


def backend_failure(
    code: Code,
    backend: str,
    program: Program,
    problem: BaseException,
    inputs: Mapping[str, HostArray] | None = None,
    grid: Grid | None = None,
) -> BackendError:
    """One error for whatever went wrong in a backend, with a reproducer to attach."""
    from vyre.runtime.reproducer import kept_reproducer

    folder, why_not = kept_reproducer(program, inputs or {}, grid)
    return BackendError(
        code.at(
            backend=backend,
            digest=program.digest()[:16],
            problem=f"{type(problem).__name__}: {problem}{_notes_of(problem)}",
            reproducer=why_not or f"with the reproducer {folder}",
        )
    )


def _notes_of(problem: BaseException) -> str:
    """What was added to an exception on its way, such as the segment it came from."""
    notes: list[str] = getattr(problem, "__notes__", [])
    return "".join(f" ({note})" for note in notes)
