"""`vyre.run`: from a program and arrays to results, on any device."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from vyre.config import config
from vyre.diagnostics import ArgumentError, DispatchError, ExecutionError, VyreError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import grid as grids
from vyre.driver.backend import LaunchRecord
from vyre.driver.compilation import CompileOptions
from vyre.driver.lengths import check_sizes
from vyre.ir import Program
from vyre.opt.hot_paths import dispatch_keys
from vyre.record import dataclass
from vyre.runtime import telemetry
from vyre.runtime.arguments import (
    Binder,
    Binding,
    by_name,
    check_names,
    finish,
    give_back,
)
from vyre.runtime.clearing import NO_OUTS, Outs
from vyre.runtime.compiled import CompiledProgram, backend_failure
from vyre.runtime.compiling import compile
from vyre.runtime.dispatch_cache import LatestDispatch, lookup, store
from vyre.runtime.memory_pool import Held, MemoryPool
from vyre.signals import is_from_handler

if TYPE_CHECKING:
    from vyre.runtime.verify import Dispatch

Outputs = dict[str, Any] | list[Any]


@overload
def run(
    program: Program,
    inputs: Mapping[str, object],
    *,
    grid: Sequence[int] | int | None = None,
    elements: Sequence[int] | int | None = None,
    sizes: Mapping[str, int] | None = None,
    device: str | None = None,
    deadline: float | None = None,
    in_place: bool = False,
    options: CompileOptions | None = None,
) -> dict[str, Any]: ...


@overload
def run(
    program: Program,
    inputs: Sequence[object] = (),
    *,
    grid: Sequence[int] | int | None = None,
    elements: Sequence[int] | int | None = None,
    sizes: Mapping[str, int] | None = None,
    device: str | None = None,
    deadline: float | None = None,
    in_place: bool = False,
    options: CompileOptions | None = None,
) -> list[Any]: ...


def run(  # noqa: PLR0913
    program: Program,
    inputs: Mapping[str, object] | Sequence[object] = (),
    *,
    grid: Sequence[int] | int | None = None,
    elements: Sequence[int] | int | None = None,
    sizes: Mapping[str, int] | None = None,
    device: str | None = None,
    deadline: float | None = None,
    in_place: bool = False,
    options: CompileOptions | None = None,
) -> Outputs:
    """Run a program once.

    `inputs` are arrays by name, or by position in the order of declaration; outputs come back the
    same way. The grid is given in workgroups, or covers `elements` (along x, or along x, y and z),
    or else the longest buffer that the program writes, along x. (Calls of kernels find out what
    their stores and atomics need; a program, also that of a kernel, has this rule only.) `sizes`
    gives the length of outputs that the program leaves open. The caller's arrays are never changed
    unless `in_place` is true.
    """
    if not isinstance(program, Program):
        raise ArgumentError(codes.NOT_A_PROGRAM.at(found=program))
    latest = program.memo(("runtime.latest", device), LatestDispatch)
    if options is None and sizes is None:
        outputs = latest.replay(inputs, (grid, elements, deadline, in_place), device)
        if outputs is not None:
            return outputs
    compiled = compile(program, device=device, options=options)
    launch = checked_dispatch()
    outputs = launch(compiled, by_name(program, inputs), grid, elements, sizes, deadline, in_place)
    if options is None:
        latest.set(compiled, device)
    if isinstance(inputs, Mapping):
        return outputs
    return [outputs[decl.name] for decl in program.buffers if decl.is_host_output]


def checked_dispatch() -> Dispatch:
    """`dispatch`, compared with the reference where the user wants that."""
    if not config().check:
        return dispatch
    from vyre.runtime.verify import verified

    return verified(dispatch)


def dispatch(
    compiled: CompiledProgram,
    given: Mapping[str, object],
    grid: Sequence[int] | int | None = None,
    elements: Sequence[int] | int | None = None,
    sizes: Mapping[str, int] | None = None,
    deadline: float | None = None,
    in_place: bool = False,
    outs: Outs = NO_OUTS,
) -> dict[str, Any]:
    """Bind arrays by name, launch, and give the outputs by name.

    `outs` are arrays of the caller's that begin as zeros; they are cleared when nothing is left
    that could be refused.
    """
    options = (grid, elements, deadline, in_place)
    held: list[Held] = []
    known = lookup(compiled, given, options, held) if sizes is None else None
    if known is not None and known.launch is not None:
        names = dispatch_keys(compiled.compilation.source)
        try:
            spent = known.replay(given, names, outs)
        finally:
            held.clear()  # an error would hold them with its frames
        if spent is not None:
            return known.results(given)
    anew = dispatch_anew(compiled, given, grid, elements, sizes, deadline, in_place, outs)
    if sizes is None and compiled.can_repeat:
        store(compiled, anew.binding, given, options, anew.grid)
    anew.finish()
    return anew.binding.outputs


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A dispatch that ran, before its outputs are read and its memory is given back."""

    binding: Binding
    grid: grids.Grid
    pool: MemoryPool

    def finish(self) -> None:
        """Read back what the host wants, and give memory back."""
        finish(self.binding, self.pool)


def dispatch_anew(
    compiled: CompiledProgram,
    given: Mapping[str, object],
    grid: Sequence[int] | int | None,
    elements: Sequence[int] | int | None,
    sizes: Mapping[str, int] | None,
    deadline: float | None,
    in_place: bool,
    outs: Outs = NO_OUTS,
) -> Dispatched:
    """Bind arrays by name and launch, without the dispatch cache."""
    source = compiled.compilation.source
    if deadline is not None:
        check_deadline(deadline)
    wanted = grids.given(source, grid, elements)
    check_names(source, given)
    lengths = {} if sizes is None else check_sizes(source, sizes)
    binder = Binder(source, compiled.route.device, in_place=in_place, outs=outs)
    binding = binder.binding
    try:
        binder.bind_given(given)
        default = _longest_input(binding) if elements is None else _all_of(elements)
        binder.bind_rest(lengths, default)
        if compiled.compilation.has_scratch:
            binder.bind_scratch(compiled.program, compiled.segments_by_epoch)
        shape = _indirect_grid(source, binding) or wanted
        if shape is None:
            shape = grids.over_longest(source, binding.counts)
        compiled.load()
        _launch(compiled, binder, shape, deadline)
    except BaseException:
        give_back(binding, binder.pool)
        raise
    return Dispatched(binding, shape, binder.pool)


def _launch(
    compiled: CompiledProgram, binder: Binder, grid: grids.Grid, deadline: float | None
) -> None:
    binding = binder.binding
    try:
        if binding.to_clear:
            compiled.prove(binding.arguments, grid, deadline)
            binder.clear()
        started = time.perf_counter_ns()
        record = compiled.launch(binding.arguments, grid, deadline, binding.handovers)
    except VyreError as ended:
        if isinstance(ended, ExecutionError):
            telemetry.show(ended.printed)
        raise
    except (Exception, SystemExit) as problem:
        if is_from_handler(problem):
            raise
        given = binding.hosts
        raise backend_failure(
            codes.LAUNCH_FAILED,
            compiled.route.backend.name,
            compiled.compilation.source,
            problem,
            given,
            grid,
        ) from problem
    elapsed = time.perf_counter_ns() - started
    _afterwards(compiled, record, elapsed, binding.touched)


def _afterwards(
    compiled: CompiledProgram, record: LaunchRecord, elapsed: int, touched: int
) -> None:
    """Record what the launch took, and show what the kernel printed."""
    spent = elapsed if record.kernel_ns is None else record.kernel_ns
    telemetry.record_dispatch(compiled.compilation.source, spent, touched)
    telemetry.show(record.printed)


def check_deadline(deadline: float) -> None:
    """Refuse seconds that nothing can end within."""
    is_number = isinstance(deadline, (int, float))
    if not is_number or not (deadline > 0 and math.isfinite(deadline)):
        raise DispatchError(codes.BAD_DEADLINE.at(found=deadline))


def _longest_input(binding: Binding) -> int | None:
    return max(binding.counts.values(), default=None)


def _all_of(elements: Sequence[int] | int) -> int:
    """How many elements there are along all axes."""
    return math.prod(grids.invocations(elements))


def _indirect_grid(program: Program, binding: Binding) -> grids.Grid | None:
    """The grid that a program reads from one of its buffers, if it does."""
    first = grids.indirect_dispatch(program)
    if first is None:
        return None
    host = np.zeros(3, np.uint32)
    argument = binding.arguments[first.count_buffer]
    wanted = min(3, max(argument.count - first.count_offset, 0))
    if wanted:
        view = host[:wanted].view(np.uint8).data
        argument.memory.read(view, first.count_offset * 4)
    x, y, z = (int(extent) for extent in host)
    return grids.checked(program, (x, y, z))
