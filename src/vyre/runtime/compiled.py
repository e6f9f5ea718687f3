"""A program that is compiled for a device, ready to be launched."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import PackageNotFoundError, version

from vyre import compiler
from vyre.compiler import Compilation, CompileOptions
from vyre.diagnostics import BackendError, VyreError
from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.backend import Argument, DeviceMemory, Executable, LaunchRecord
from vyre.driver.grid import Grid
from vyre.driver.grid_sync import run_split
from vyre.driver.routing import Route
from vyre.ir import Program
from vyre.opt import HotPathHints, OptimizerRunReport, explain
from vyre.runtime import telemetry
from vyre.runtime.cache import DiskCache, cache_key, default_cache
from vyre.runtime.reproducer import save_reproducer

COMPILER_VERSION = "1"
"""Raised whenever generated code may differ for the same program; part of every cache key."""


class CompiledProgram:
    """A program on a device. Made by `vyre.compile`."""

    def __init__(
        self,
        route: Route,
        compilation: Compilation,
        options: CompileOptions,
        *,
        from_cache: bool,
    ) -> None:
        self.route = route
        self.compilation = compilation
        self.options = options
        self.from_cache = from_cache
        self.target = route.backend.target(route.device)
        self._executables: dict[int, Executable] = {}
        self._lock = threading.Lock()
        self._single: Executable | None = None
        self._names = tuple(
            decl.name for decl in compilation.program.buffers if not decl.is_on_chip
        )

    @property
    def program(self) -> Program:
        """The program that runs: what the optimizer left."""
        return self.compilation.program

    @property
    def report(self) -> OptimizerRunReport | None:
        """What the optimizer did; None when the program came from the cache."""
        return self.compilation.report

    @property
    def device(self) -> str:
        """The id of its device."""
        return self.route.device.info.id

    @property
    def is_flat_split(self) -> bool:
        """Whether it runs as segments, each of them once."""
        plan = self.compilation.plan
        return plan is not None and plan.is_flat

    def launch(
        self,
        arguments: Mapping[str, Argument],
        grid: Grid,
        deadline: float | None = None,
        handovers: Mapping[int, Sequence[DeviceMemory]] | None = None,
    ) -> LaunchRecord:
        """Run it on memory bound by name."""
        if 0 in grid:
            return LaunchRecord(0)
        single = self._single
        if single is None:
            executables = self._load()
            plan = self.compilation.plan
            if plan is not None:
                return run_split(
                    plan, executables, self.route.device, arguments, grid, deadline, handovers
                )
            single = self._single = executables[0]
        bound = [arguments[name] for name in self._names]
        return single.launch(bound, grid, deadline)

    def _load(self) -> dict[int, Executable]:
        with self._lock:
            if not self._executables:
                with telemetry.timed("load", self.device):
                    for artifact in self.compilation.artifacts:
                        segment = artifact.metadata.get("segment")
                        key = segment if isinstance(segment, int) else 0
                        self._executables[key] = self._guarded_load(artifact)
            return self._executables

    def _guarded_load(self, artifact: compiler.Artifact) -> Executable:
        try:
            return self.route.backend.load(artifact, self.route.device)
        except VyreError:
            raise
        except Exception as problem:
            raise backend_failure(codes.LOAD_FAILED, self, problem) from problem

    def sources(self) -> dict[str, str]:
        """Readable forms of what runs, by kind; compiles again when it came from the cache."""
        artifacts: Iterable[compiler.Artifact] = self.compilation.artifacts
        if not any(artifact.sources for artifact in artifacts):
            artifacts = compiler.emit_segments(
                self.program, self.route.backend, self.target, self.options.emit
            )
        found: dict[str, str] = {}
        for artifact in artifacts:
            for kind, text in artifact.sources.items():
                found[kind] = f"{found[kind]}\n\n{text}" if kind in found else text
        return found

    def explain(self) -> str:
        """Why this device, and what the optimizer did."""
        lines = [f"device: {self.device}, {self.route.why}"]
        if self.from_cache:
            lines.append("compiled: taken from the cache; the passes ran when it was made")
        plan = self.compilation.plan
        if plan is not None:
            lines.append(f"grid barriers: split into {len(plan.segments)} segments")
        if self.report is not None:
            lines += ["", explain(self.report)]
        return "\n".join(lines)


def backend_failure(code: Code, compiled: CompiledProgram, problem: Exception) -> BackendError:
    """One error for whatever went wrong in a backend, with a reproducer to attach."""
    source = compiled.compilation.source
    saved = save_reproducer(source, {}, None)
    return BackendError(
        code.at(
            backend=compiled.route.backend.name,
            digest=source.digest()[:16],
            problem=f"{type(problem).__name__}: {problem}",
            reproducer=saved,
        )
    )


def compile(
    program: Program,
    *,
    device: str | None = None,
    options: CompileOptions | None = None,
    hints: HotPathHints | None = None,
    report: OptimizerRunReport | None = None,
    cache: DiskCache | None = None,
) -> CompiledProgram:
    """The program, ready to run on a device: from memory, from the disk, or compiled now."""
    route = routing.choose(device)
    chosen = CompileOptions() if options is None else options
    known = telemetry.hints() if hints is None else hints
    if report is None:
        hot = known.is_hot_program(program)
        memo_key = ("compiled", route.device.info.id, chosen.key(), hot)
        return program.memo(memo_key, lambda p: _compile(p, route, chosen, known, None, cache, hot))
    return _compile(program, route, chosen, known, report, cache, hot=False)


def _compile(
    program: Program,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    report: OptimizerRunReport | None,
    cache: DiskCache | None,
    hot: bool,
) -> CompiledProgram:
    target = route.backend.target(route.device)
    store = default_cache() if cache is None else cache
    key = None if report is not None else _key(program, route, target, options, hot)
    if key is not None:
        started = time.perf_counter_ns()
        found = store.get(key)
        if found is not None:
            compilation = compiler.from_bytes(found, program)
            telemetry.note("cache hit", route.device.info.id, time.perf_counter_ns() - started)
            return CompiledProgram(route, compilation, options, from_cache=True)

    def stage(name: str) -> AbstractContextManager[None]:
        return telemetry.timed(name, route.device.info.id)

    try:
        compilation = compiler.compile_program(
            program, route.backend, target, options, hints, report, stage
        )
    except VyreError:
        raise
    except Exception as problem:
        failed = CompiledProgram(
            route, Compilation(program, program, ()), options, from_cache=False
        )
        raise backend_failure(codes.EMIT_FAILED, failed, problem) from problem
    if key is not None:
        store.put(key, compiler.to_bytes(compilation))
    return CompiledProgram(route, compilation, options, from_cache=False)


def _key(program: Program, route: Route, target: object, options: CompileOptions, hot: bool) -> str:
    return cache_key(
        COMPILER_VERSION,
        _versions(),
        route.backend.name,
        repr(target),
        options.key(),
        "hot" if hot else "cold",
        program.digest(),
    )


def _versions() -> str:
    names = ("vyre", "llvmlite", "wgpu", "numpy")
    return ",".join(f"{name}={_version(name)}" for name in names)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


__all__: Sequence[str] = ["CompiledProgram", "compile"]
