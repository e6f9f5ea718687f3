"""`VYRE_CHECK=1`: every dispatch is repeated on the reference and the results are compared.

Integers must be equal, and floats too where all operations are exact. Where approximate functions
or the order of additions have a part in a result, it may differ by a small relative error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import verify as codes
from vyre.driver import grid as grids
from vyre.ir import AnyExpr, Atomic, AtomicOp, Binary, Program, ReduceOp, SubgroupReduce, Unary
from vyre.ir.services import service
from vyre.ir.walk import walk_all_exprs
from vyre.runtime.compiled import CompiledProgram
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_arrays import HostArray, as_host_array
from vyre.runtime.reproducer import save_reproducer

INEXACT_ULPS = 4096.0
"""What results may differ by, in units in the last place, where operations are not exact."""


class Dispatch(Protocol):
    """What runs a compiled program on arrays."""

    def __call__(
        self,
        compiled: CompiledProgram,
        given: Mapping[str, object],
        grid: Sequence[int] | int | None = None,
        elements: int | None = None,
        sizes: Mapping[str, int] | None = None,
        deadline: float | None = None,
        in_place: bool = False,
    ) -> dict[str, Any]: ...


def snapshot(program: Program, given: Mapping[str, object]) -> dict[str, HostArray]:
    """Copies of what a call gives, flat, by the names of the buffers."""
    found: dict[str, HostArray] = {}
    for decl in program.buffers:
        if decl.name in given:
            value = given[decl.name]
            host = value.numpy() if isinstance(value, DeviceArray) else as_host_array(value, decl)
            flat = host.reshape(-1)
            lanes = decl.element.lanes
            found[decl.name] = np.array(flat if lanes == 1 else flat.reshape(-1, lanes))
    return found


def verified(dispatch: Dispatch) -> Dispatch:
    """A dispatch that raises an error with a reproducer if the reference gives something else."""

    def checked(
        compiled: CompiledProgram,
        given: Mapping[str, object],
        grid: Sequence[int] | int | None = None,
        elements: int | None = None,
        sizes: Mapping[str, int] | None = None,
        deadline: float | None = None,
        in_place: bool = False,
    ) -> dict[str, Any]:
        before = snapshot(compiled.compilation.source, given)
        outputs = dispatch(compiled, given, grid, elements, sizes, deadline, in_place)
        _compare(compiled, before, outputs, grid, elements)
        return outputs

    return checked


def _compare(
    compiled: CompiledProgram,
    before: Mapping[str, HostArray],
    outputs: Mapping[str, Any],
    grid: Sequence[int] | int | None,
    elements: int | None,
) -> None:
    program = compiled.compilation.source
    actual = {name: np.array(value).reshape(-1) for name, value in outputs.items()}
    counts = {name: len(array) for name, array in before.items()}
    for decl in program.buffers:
        if decl.name in actual:
            counts.setdefault(decl.name, actual[decl.name].size // decl.element.lanes)
    shape = grids.resolve(program, counts, grid, elements)
    expected = service("reference")(
        program,
        before,
        shape,
        subgroup_width=compiled.target.subgroup_width,
        output_sizes=counts,
    )
    granted = service("tolerance")(ulps=INEXACT_ULPS if is_inexact(program) else 0.0)
    differences = service("compare_outputs")(
        program, expected.outputs, actual, dict.fromkeys(actual, granted)
    )
    if differences:
        raise BackendError(
            codes.DIFFERS.at(
                name=program.entry_op_id or program.digest()[:16],
                device=compiled.device,
                difference="; ".join(map(str, differences)),
                reproducer=save_reproducer(program, before, shape),
            )
        )


def is_inexact(program: Program) -> bool:
    """Whether floats may differ: by approximate functions, or by the order of additions."""
    if program.fast_math:
        return True
    floats = {decl.name for decl in program.buffers if decl.element.is_float}
    return any(_rounds_freely(expr, floats) for expr in walk_all_exprs(program.entry))


def _rounds_freely(expr: AnyExpr, floats: set[str]) -> bool:
    match expr:
        case Unary(op) | Binary(op):
            return op.row.approximate
        case Atomic(op, buffer):
            return buffer in floats and op in (AtomicOp.ADD, AtomicOp.SUB)
        case SubgroupReduce(op):
            return op in (ReduceOp.ADD, ReduceOp.MUL)
        case _:
            return False
