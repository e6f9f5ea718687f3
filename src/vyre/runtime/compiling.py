"""`vyre.compile`: a program made ready for a device, from memory, from the disk, or compiled now.

A program that has become hot is compiled again with the passes that selection then grants. That
happens in the background, where it takes long in a process of its own: callers go on with what
there is until the better code is ready.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING

from vyre.cache import (
    DiskCache,
    backend_stamp,
    cache_key,
    code_stamp,
    default_cache,
    is_still_the_code,
)
from vyre.diagnostics import ArgumentError, VyreError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import Compilation, CompileOptions, from_bytes, to_bytes
from vyre.driver.loading import refuse_while_loading
from vyre.driver.routing import Route
from vyre.interruptible import start
from vyre.ir import Program
from vyre.locks import make_lock
from vyre.opt.hot_paths import HotPathHints
from vyre.record import dataclass
from vyre.runtime import telemetry
from vyre.runtime.compiled import CompiledProgram, backend_failure
from vyre.runtime.cost_reports import keep_report, saved_report
from vyre.signals import is_from_handler
from vyre.target import Target

if TYPE_CHECKING:
    from vyre.opt import OptimizerRunReport
    from vyre.opt.cost_report import CostReport
    from vyre.runtime.compile_server import Task

CACHE_VERSION = "1"
"""Raised whenever the same program may give other code though no file says so."""


@dataclass(slots=True)
class _Variants:
    """What there is of one program for one device and one set of options."""

    cold: CompiledProgram | None = None
    hot: CompiledProgram | None = None
    lock: threading.RLock = field(default_factory=make_lock)
    report: CostReport | None = None
    """What an earlier process found out, when the program was hot there."""
    worker: threading.Thread | Task | None = None
    """Who makes the better code, or has made it."""
    process: int = 0
    """In which process that is: a forked one has none of the threads of the other."""

    @property
    def has_worker(self) -> bool:
        """Whether better code is being made, or was."""
        return self.worker is not None and self.process == os.getpid()


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
    if not isinstance(program, Program):
        raise ArgumentError(codes.NOT_A_PROGRAM.at(found=program))
    route = routing.choose(device)
    chosen = _DEFAULT if options is None else options
    known = telemetry.hints() if hints is None else hints
    if report is not None:
        return _compile(program, route, chosen, known, report, cache, hot=False)
    wanted = _DEFAULT_KEY if options is None else chosen.key()
    variants = program.memo(("compiled", route.device.info.id, wanted, hints), _variants)
    if variants.hot is not None:
        return variants.hot
    hot = _deserves_more(program, known, variants.cold)
    if variants.cold is not None:
        if (hot or variants.report is not None) and not variants.has_worker:
            _improve(program, variants, route, chosen, known, cache)
        return variants.cold
    refuse_while_loading()
    with variants.lock:
        made = variants.hot or variants.cold
        if made is None:
            target = route.backend.target(route.device)
            store = default_cache() if cache is None else cache
            variants.report = saved_report(program, target, chosen, store)
        if made is None and (hot or variants.report is not None):
            made = variants.hot = _hot_at_once(
                *(program, route, chosen, known, variants.report, cache), asked=hints is not None
            )
        if made is None:
            # Made better when it is asked for again: who runs it once need not wait for LLVM.
            made = variants.cold = _compile(
                *(program, route, chosen, known, variants.report, cache), hot=False
            )
    return made


def _deserves_more(program: Program, hints: HotPathHints, cold: CompiledProgram | None) -> bool:
    """Whether better code pays: dispatches are long, or many were run with code made in haste."""
    if hints.is_hot_program(program):
        return True
    if cold is None or not cold.is_provisional:
        return False
    return any(record.kernel_ns_total >= _PAID_NS for record in hints.records_of(program))


def _hot_at_once(
    program: Program,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    report: CostReport | None,
    cache: DiskCache | None,
    *,
    asked: bool,
) -> CompiledProgram | None:
    """The best code for a program that earlier processes found hot, unless that takes long.

    Where only a cost report says so, it is taken from the cache and not made.

    A caller that passes hints of its own asked for what they lead to, and waits for it.
    """
    store = default_cache() if cache is None else cache
    if store.limit:
        target = route.backend.target(route.device)
        best = _when_hot(options)
        key = entry_key(program, route, target, best, hot=True)
        found = _from_cache(program, route, best, hints, report, store, key)
        if found is not None:
            return found
        waits = entry_key(program, route, target, options, hot=False) in store
    else:
        waits = False
    if not hints.is_hot_program(program):
        # Known from a report only: whether it will run long here, too, is not known yet.
        return None
    if not asked and (waits or _is_big(program)):
        return None
    return _compile(program, route, options, hints, report, cache, hot=True)


def _is_big(program: Program) -> bool:
    from vyre.ir.walk import walk_stmts

    return next(islice(walk_stmts(program.entry), _BIG_STATEMENTS, None), None) is not None


def _when_hot(options: CompileOptions) -> CompileOptions:
    if options is _DEFAULT:
        return _DEFAULT_WHEN_HOT
    if options.emit.tier != "auto":
        return options
    return replace(options, emit=replace(options.emit, tier="hot"))


_PAID_NS = 200_000_000
"""Time spent in code that was made in haste, from which making it better has paid."""


_BIG_STATEMENTS = 200
"""From here on a program is launched with what is made quickly, and made better meanwhile."""


_DEFAULT = CompileOptions()
_DEFAULT_KEY = _DEFAULT.key()
_DEFAULT_WHEN_HOT = CompileOptions(emit=EmitOptions("hot"))


def _variants(_: Program) -> _Variants:
    return _Variants()


def finish_improvements(program: Program) -> None:
    """Wait for background compilations of a program; for tests and measurements."""
    for value in program.memos(_Variants):
        if value.has_worker:
            assert value.worker is not None
            value.worker.join()


def is_improving(program: Program) -> bool:
    """Whether better code for a program is being made in the background."""
    return any(
        each.hot is None and each.has_worker and each.worker is not None and each.worker.is_alive()
        for each in program.memos(_Variants)
    )


def _improve(
    program: Program,
    variants: _Variants,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    cache: DiskCache | None,
) -> None:
    """Compile the hot variant in the background."""
    from vyre.runtime import compile_server

    def work(ask: Callable[[bytes], bytes] | None = None) -> None:
        try:
            if ask is None:
                variants.hot = _compile(
                    *(program, route, options, hints, variants.report, cache), hot=True
                )
            else:
                variants.hot = _compile_elsewhere(
                    *(program, route, options, hints, variants.report, cache, ask)
                )
        except (VyreError, compile_server.Refused) as problem:
            # The existing code stays in use; a profile shows why.
            telemetry.note("recompile failed", str(problem).splitlines()[0], 0)

    with variants.lock:
        if variants.has_worker:
            return
        try:
            if compile_server.can_compile_elsewhere(route.backend):
                worker = compile_server.submit(work)
            else:
                # Not a daemon: LLVM must not be at work while the interpreter is taken down.
                worker = threading.Thread(target=work, name="vyre-recompile", daemon=False)
                start(worker)
        except (RuntimeError, MemoryError) as problem:
            if is_from_handler(problem):
                raise
            # No thread is to be had, or the interpreter is being taken down. It may be tried again.
            telemetry.note("recompile failed", str(problem), 0)
            return
        variants.worker, variants.process = worker, os.getpid()


def _compile_elsewhere(
    program: Program,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    report: CostReport | None,
    cache: DiskCache | None,
    ask: Callable[[bytes], bytes],
) -> CompiledProgram:
    """The hot variant from the cache, or from another process that compiles it."""
    from vyre.runtime.compile_server.message import Request

    options = _when_hot(options)
    store = default_cache() if cache is None else cache
    target = route.backend.target(route.device)
    key = entry_key(program, route, target, options, hot=True)
    found = _from_cache(program, route, options, hints, report, store, key)
    if found is not None:
        return found
    device = route.device.info.id
    with telemetry.timed("recompile", device):
        hot = hints.is_hot_program(program) or report is not None
        made = ask(Request(program.to_wire(), device, options, hot, key).to_bytes())
    compilation = from_bytes(made, program)
    if is_still_the_code():
        store.put(key, made)
    keep_report(compilation, target, store)
    return CompiledProgram(
        route, compilation, options, from_cache=False, hints=hints, cost_report=report
    )


def _compile(
    program: Program,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    report: OptimizerRunReport | CostReport | None,
    cache: DiskCache | None,
    *,
    hot: bool,
) -> CompiledProgram:
    if hot:
        options = _when_hot(options)
    target = route.backend.target(route.device)
    store = default_cache() if cache is None else cache
    costs = _cost_report(report)
    key = None
    if report is costs and store.limit:
        key = entry_key(program, route, target, options, hot=hot)
        if costs is not None and not hot:
            if key in store:
                report = costs = None
            else:
                # Optimised as if it were hot: not what is made of it without the report.
                key = cache_key("by cost report", key)
    if key is not None:
        known = hints if hot else None
        found = _from_cache(program, route, options, known, costs, store, key)
        if found is not None:
            return found
    compilation = compile_now(program, route, options, hints, report)
    if key is not None and is_still_the_code():
        store.put(key, to_bytes(compilation))
        keep_report(compilation, target, store)
    return CompiledProgram(route, compilation, options, from_cache=False)


def _cost_report(report: OptimizerRunReport | CostReport | None) -> CostReport | None:
    if report is None:
        return None
    from vyre.opt.cost_report import CostReport

    return report if isinstance(report, CostReport) else None


def compile_now(
    program: Program,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints,
    report: OptimizerRunReport | CostReport | None = None,
) -> Compilation:
    """Compiled in this process and thread; whatever goes wrong in a backend is a `VyreError`."""

    def stage(name: str) -> AbstractContextManager[None]:
        return telemetry.timed(name, route.device.info.id)

    from vyre.compiler import compile_program

    target = route.backend.target(route.device)
    try:
        return compile_program(program, route.backend, target, options, hints, report, stage)
    except VyreError:
        raise
    except (Exception, SystemExit) as problem:
        if is_from_handler(problem):
            raise
        raise backend_failure(codes.EMIT_FAILED, route.backend.name, program, problem) from problem


def _from_cache(
    program: Program,
    route: Route,
    options: CompileOptions,
    hints: HotPathHints | None,
    report: CostReport | None,
    store: DiskCache,
    key: str,
) -> CompiledProgram | None:
    started = time.perf_counter_ns()
    found = store.get(key)
    if found is None:
        return None
    compilation = from_bytes(found, program)
    if hints is not None and hints.is_hot_program(program):
        # It tells which passes ran, and these were all of them.
        report = None
    telemetry.note("cache hit", route.device.info.id, time.perf_counter_ns() - started)
    return CompiledProgram(
        route, compilation, options, from_cache=True, hints=hints, cost_report=report
    )


def entry_key(
    program: Program, route: Route, target: Target, options: CompileOptions, *, hot: bool
) -> str:
    """Under which the cache keeps what is made of a program."""
    return cache_key(
        CACHE_VERSION,
        code_stamp(),
        route.backend.name,
        backend_stamp(type(route.backend).__module__),
        target.key(),
        options.key(),
        "hot" if hot else "cold",
        program.digest(),
    )


__all__ = ["compile", "compile_now", "entry_key", "finish_improvements"]
