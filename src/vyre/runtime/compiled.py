"""A program that is compiled for a device, ready to be launched."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.config import vyre_version
from vyre.diagnostics import BackendError, VyreError
from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Argument, DeviceMemory, Executable, LaunchRecord
from vyre.driver.compilation import Compilation, CompileOptions, from_bytes, to_bytes
from vyre.driver.grid import Grid
from vyre.driver.routing import Route
from vyre.ir import Program
from vyre.opt.hot_paths import HotPathHints
from vyre.runtime import telemetry
from vyre.runtime.cache import DiskCache, cache_key, default_cache
from vyre.runtime.reproducer import save_reproducer
from vyre.target import Target

if TYPE_CHECKING:
    from vyre.opt import OptimizerRunReport

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
                from vyre.driver.grid_sync import run_split

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

    def _guarded_load(self, artifact: Artifact) -> Executable:
        try:
            return self.route.backend.load(artifact, self.route.device)
        except VyreError:
            raise
        except Exception as problem:
            raise backend_failure(codes.LOAD_FAILED, self, problem) from problem

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

    def explain(self) -> str:
        """Why this device, and what the optimizer did."""
        lines = [f"device: {self.device}, {self.route.why}"]
        if self.from_cache:
            lines.append("compiled: taken from the cache; the passes ran when it was made")
        plan = self.compilation.plan
        if plan is not None:
            lines.append(f"grid barriers: split into {len(plan.segments)} segments")
        if self.report is not None:
            from vyre.opt import explain

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
            compilation = from_bytes(found, program)
            telemetry.note("cache hit", route.device.info.id, time.perf_counter_ns() - started)
            return CompiledProgram(route, compilation, options, from_cache=True)

    def stage(name: str) -> AbstractContextManager[None]:
        return telemetry.timed(name, route.device.info.id)

    from vyre.compiler import compile_program

    try:
        compilation = compile_program(program, route.backend, target, options, hints, report, stage)
    except VyreError:
        raise
    except Exception as problem:
        failed = CompiledProgram(
            route, Compilation(program, program, ()), options, from_cache=False
        )
        raise backend_failure(codes.EMIT_FAILED, failed, problem) from problem
    if key is not None:
        store.put(key, to_bytes(compilation))
    return CompiledProgram(route, compilation, options, from_cache=False)


def _key(program: Program, route: Route, target: Target, options: CompileOptions, hot: bool) -> str:
    return cache_key(
        COMPILER_VERSION,
        _code_stamp(),
        route.backend.name,
        target.key(),
        options.key(),
        "hot" if hot else "cold",
        program.digest(),
    )


@lru_cache(maxsize=1)
def _code_stamp() -> str:
    """What the code that compiles is: vyre's version, or its files when it is being worked on.

    Reading package metadata would cost more than a whole warm start, so dependencies are known by
    the file that holds their version.
    """
    folder = Path(__file__).parent.parent
    parts = [f"{name}={_file_stamp(name)}" for name in ("llvmlite", "wgpu")]
    if "site-packages" in folder.parts:
        parts.append(f"vyre={vyre_version()}")
    else:
        newest = max(path.stat().st_mtime_ns for path in folder.rglob("*.py"))
        parts.append(f"vyre={newest}")
    return ",".join(parts)


def _file_stamp(name: str) -> str:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return "none"
    version_file = Path(spec.origin).parent / "_version.py"
    path = version_file if version_file.exists() else Path(spec.origin)
    status = path.stat()
    return f"{status.st_size}.{status.st_mtime_ns}"


__all__ = ["CompiledProgram", "compile"]
