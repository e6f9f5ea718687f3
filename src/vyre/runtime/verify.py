"""`VYRE_CHECK=1`: every dispatch is repeated on the reference and the results are compared.

Integers must be equal, and floats too where all operations are exact. Where approximate functions
or the order of additions have a part in a result, it may differ by a small relative error. Where
the reference itself gives something else in another order, the program depends on that order: on
that of its atomics, or on a data race.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from vyre import ir
from vyre.diagnostics import BackendError, Diagnostic, ExecutionError
from vyre.diagnostics.codes import execution
from vyre.diagnostics.codes import verify as codes
from vyre.driver import grid as grids
from vyre.ir import late_binding as late
from vyre.ir.walk import walk_all_exprs
from vyre.runtime.clearing import NO_OUTS, Outs
from vyre.runtime.compiled import CompiledProgram
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_arrays import as_host_array
from vyre.runtime.host_views import HostArray
from vyre.runtime.reproducer import kept_reproducer

INEXACT_ULPS = 4096.0
"""What results may differ by, in units in the last place, where operations are not exact."""
_SCHEDULES = (1, 2)
"""Seeds of other legal orders in which the reference is asked when results differ."""
_MORE_WORK = 100
"""How much more another order may take; an invocation that waits for others may wait forever."""


class Dispatch(Protocol):
    """What runs a compiled program on arrays."""

    def __call__(
        self,
        compiled: CompiledProgram,
        given: Mapping[str, object],
        grid: Sequence[int] | int | None = None,
        elements: Sequence[int] | int | None = None,
        sizes: Mapping[str, int] | None = None,
        deadline: float | None = None,
        in_place: bool = False,
        outs: Outs = NO_OUTS,
    ) -> dict[str, Any]: ...


def snapshot(
    program: ir.Program, given: Mapping[str, object], outs: Outs = NO_OUTS
) -> dict[str, HostArray]:
    """Copies of what a call gives, flat, by the names of the buffers; those in `outs` as zeros."""
    found: dict[str, HostArray] = {}
    for decl in program.buffers:
        if decl.name in given:
            value = given[decl.name]
            host = value.numpy() if isinstance(value, DeviceArray) else as_host_array(value, decl)
            flat = host.reshape(-1)
            lanes = decl.element.lanes
            found[decl.name] = np.array(flat if lanes == 1 else flat.reshape(-1, lanes))
            if decl.name in outs:
                _zero(found[decl.name], host, outs[decl.name].array)
    return found


def _zero(copy: HostArray, host: HostArray, own: HostArray | DeviceArray) -> None:
    """Fill with zeros what is an array's own in a copy of the memory that was bound for it."""
    if isinstance(own, DeviceArray) or own.size == host.size:
        copy[...] = 0
        return
    # A view: what lies between its elements is not its own.
    start = own.__array_interface__["data"][0] - host.__array_interface__["data"][0]
    np.ndarray(own.shape, own.dtype, copy.data, start, own.strides)[...] = 0


def verified(dispatch: Dispatch) -> Dispatch:
    """A dispatch that raises an error with a reproducer if the reference gives something else."""

    def checked(
        compiled: CompiledProgram,
        given: Mapping[str, object],
        grid: Sequence[int] | int | None = None,
        elements: Sequence[int] | int | None = None,
        sizes: Mapping[str, int] | None = None,
        deadline: float | None = None,
        in_place: bool = False,
        outs: Outs = NO_OUTS,
    ) -> dict[str, Any]:
        before = snapshot(compiled.compilation.source, given, outs)
        outputs = dispatch(compiled, given, grid, elements, sizes, deadline, in_place, outs)
        _compare(compiled, before, outputs, grid, elements)
        return outputs

    return checked


def _compare(
    compiled: CompiledProgram,
    before: Mapping[str, HostArray],
    outputs: Mapping[str, Any],
    grid: Sequence[int] | int | None,
    elements: Sequence[int] | int | None,
) -> None:
    program = compiled.compilation.source
    actual = {name: np.array(value).reshape(-1) for name, value in outputs.items()}
    counts = {name: len(array) for name, array in before.items()}
    for decl in program.buffers:
        if decl.name in actual:
            counts.setdefault(decl.name, actual[decl.name].size // decl.element.lanes)
    shape = grids.resolve(program, counts, grid, elements)
    run = partial(
        late.execute_reference,
        program,
        before,
        shape,
        subgroup_width=compiled.target.subgroup_width,
        output_sizes=counts,
    )
    judge = _Judge(program, run)
    difference = judge.difference(actual)
    if not difference:
        return
    name, device = program.entry_op_id or program.digest()[:16], compiled.device
    among = judge.difference_among_orders()
    race = judge.race() if among else None
    if race is not None:
        wrong = codes.RACE.at(
            name=name, device=device, difference=difference, race=race.message, hint=race.fix
        )
    elif among and judge.has_atomics:
        wrong = codes.ORDER_OF_ATOMICS.at(
            name=name, device=device, difference=difference, among=among
        )
    else:
        folder, why_not = kept_reproducer(program, before, shape)
        wrong = codes.DIFFERS.at(name=name, device=device, difference=difference, reproducer=folder)
        if why_not:
            wrong = Diagnostic(wrong.code, wrong.message, f"please report it {why_not}")
    raise BackendError(wrong)


class _Judge:
    """What the reference says about results, and about itself in other orders."""

    def __init__(self, program: ir.Program, run: Callable[..., Any]) -> None:
        self._program = program
        self._run = run
        defining = run()
        self._expected: Mapping[str, Any] = defining.outputs
        self._fuel = _MORE_WORK * (defining.executed + 1)

    def difference(self, outputs: Mapping[str, Any]) -> str:
        """How results differ from the reference; empty if they do not."""
        granted = late.tolerance(ulps=INEXACT_ULPS if is_inexact(self._program) else 0.0)
        found = late.compare_outputs(
            self._program, self._expected, outputs, dict.fromkeys(outputs, granted)
        )
        return "; ".join(map(str, found))

    def difference_among_orders(self) -> str:
        """How the reference in other legal orders differs from itself."""
        for schedule in _SCHEDULES:
            try:
                done = self._run(schedule=schedule, fuel=self._fuel)
            except ExecutionError as ended:
                return f"which ends with {ended.code}: {ended.diagnostics[0].message}"
            found = self.difference(done.outputs)
            if found:
                return found
        return ""

    def race(self) -> Diagnostic | None:
        """The first data race of the program, if the sanitizer finds one."""
        findings = self._run(sanitize=True).findings
        return next((each for each in findings if each.code == execution.DATA_RACE.code), None)

    @property
    def has_atomics(self) -> bool:
        """Whether the order of atomics may show: in what they give, or in what they leave."""
        return any(isinstance(expr, ir.Atomic) for expr in walk_all_exprs(self._program.entry))


def is_inexact(program: ir.Program) -> bool:
    """Whether floats may differ: by approximate functions, or by the order of additions."""
    if program.fast_math:
        return True
    floats = {decl.name for decl in program.buffers if decl.element.is_float}
    return any(_rounds_freely(expr, floats) for expr in walk_all_exprs(program.entry))


def _rounds_freely(expr: ir.AnyExpr, floats: set[str]) -> bool:
    match expr:
        case ir.Unary(op) | ir.Binary(op):
            return op.row.approximate
        case ir.Atomic(op, buffer):
            return buffer in floats and op in (ir.AtomicOp.ADD, ir.AtomicOp.SUB)
        case ir.SubgroupReduce(op):
            return op in (ir.ReduceOp.ADD, ir.ReduceOp.MUL)
        case _:
            return False
