"""`vyre.compile`: a program made ready for a device, from memory, from the disk, or compiled now.

A program that has become hot is compiled again with the passes that selection then grants. That
happens in the background: callers go on with what there is until the better code is ready.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.config import vyre_version
from vyre.diagnostics import VyreError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.compilation import CompileOptions, from_bytes, to_bytes
from vyre.driver.routing import Route
from vyre.ir import Program
from vyre.opt.hot_paths import HotPathHints
from vyre.runtime import telemetry
from vyre.runtime.cache import DiskCache, cache_key, default_cache
from vyre.runtime.compiled import CompiledProgram, backend_failure
from vyre.target import Target

if TYPE_CHECKING:
    from vyre.opt import OptimizerRunReport

CACHE_VERSION = "1"
"""Raised whenever the same program may give other code though no file says so."""


@dataclass(slots=True)
class _Variants:
    """What there is of one program for one device and one set of options."""

    cold: CompiledProgram | None = None
    hot: CompiledProgram | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    worker: threading.Thread | None = None


def compile(
    program: Program,
    *,
    device: str | None = None,
    options: CompileOptions | None = None,
    hints: HotPathHints | None = None,
    report: OptimizerRunReport | None = None,
    cache: DiskCache | None = None,
) -> CompiledProgram:
    """The program, ready to run on a device.

    `hints` are measured times of earlier dispatches (by default what this process and earlier ones
    recorded), `report` is what the optimizer said of an earlier compilation.
    """
    route = routing.choose(device)
    chosen = _DEFAULT if options is None else options
    known = telemetry.hints() if hints is None else hints
    if report is not None:
        return _compile(program, route, chosen, known, report, cache, hot=False)
    wanted = _DEFAULT_KEY if options is None else chosen.key()
    variants = program.memo(("compiled", route.device.info.id, wanted, hints), _variants)
    if variants.hot is not None:
        return variants.hot
    hot = known.is_hot_program(program)
    if variants.cold is not None:
        if hot and variants.worker is None:
            _improve(program, variants, route, chosen, known, cache)
        return variants.cold
    with variants.lock:
        made = variants.hot or variants.cold
        if made is None:
            made = _compile(program, route, chosen, known, None, cache, hot=hot)
            if hot:
                variants.hot = made
            else:
                variants.cold = made
    return made


_DEFAULT = CompileOptions()
_DEFAULT_KEY = _DEFAULT.key()


def _variants(_: Program) -> _Variants:
    return _Variants()


def finish_improvements(program: Program) -> None:
    """Wait for background compilations of a program; for tests and measurements."""
    for value in program.memos(_Variants):
        if value.worker is not None:
            value.worker.join()


def _improve(
    program: Program,
    variants: _Variants,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    cache: DiskCache | None,
) -> None:
    """Compile the hot variant in the background."""

    def work() -> None:
        try:
            variants.hot = _compile(program, route, options, hints, None, cache, hot=True)
        except VyreError as problem:
            # The code there is stays in use; whoever profiles sees why.
            telemetry.note("recompile failed", str(problem).splitlines()[0], 0)

    with variants.lock:
        if variants.worker is None:
            # Not a daemon: LLVM must not be at work while the interpreter is taken down.
            variants.worker = threading.Thread(target=work, name="vyre-recompile", daemon=False)
            variants.worker.start()


def _compile(
    program: Program,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    report: OptimizerRunReport | None,
    cache: DiskCache | None,
    *,
    hot: bool,
) -> CompiledProgram:
    if hot and options.emit.tier == "full":
        options = replace(options, emit=replace(options.emit, tier="hot"))
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
        raise backend_failure(codes.EMIT_FAILED, route.backend.name, program, problem) from problem
    if key is not None:
        store.put(key, to_bytes(compilation))
    return CompiledProgram(route, compilation, options, from_cache=False)


def _key(program: Program, route: Route, target: Target, options: CompileOptions, hot: bool) -> str:
    return cache_key(
        CACHE_VERSION,
        _code_stamp(),
        route.backend.name,
        _backend_stamp(type(route.backend).__module__),
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


@cache
def _backend_stamp(module: str) -> str:
    """The file that a backend comes from: a third party's new release must not find old code."""
    source = getattr(sys.modules.get(module), "__file__", None)
    return "none" if source is None else f"{module}={Path(source).stat().st_mtime_ns}"


def _file_stamp(name: str) -> str:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return "none"
    version_file = Path(spec.origin).parent / "_version.py"
    path = version_file if version_file.exists() else Path(spec.origin)
    status = path.stat()
    return f"{status.st_size}.{status.st_mtime_ns}"


__all__ = ["compile", "finish_improvements"]
