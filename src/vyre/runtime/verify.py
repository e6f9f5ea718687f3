"""`VYRE_CHECK=1`: every dispatch is repeated on the reference and the results are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import verify as codes
from vyre.driver import grid as grids
from vyre.ir import Program
from vyre.ir.services import service
from vyre.runtime.compiled import CompiledProgram
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_arrays import as_host_array
from vyre.runtime.reproducer import save_reproducer
from vyre.runtime.run import dispatch


def snapshot(program: Program, given: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    """Copies of what a call gives, flat, by the names of the buffers."""
    found: dict[str, NDArray[Any]] = {}
    for decl in program.buffers:
        if decl.name in given:
            value = given[decl.name]
            host = value.numpy() if isinstance(value, DeviceArray) else as_host_array(value, decl)
            flat = host.reshape(-1)
            lanes = decl.element.lanes
            found[decl.name] = np.array(flat if lanes == 1 else flat.reshape(-1, lanes))
    return found


def dispatch_verified(
    compiled: CompiledProgram,
    given: Mapping[str, object],
    grid: Sequence[int] | int | None = None,
    elements: int | None = None,
    sizes: Mapping[str, int] | None = None,
    deadline: float | None = None,
    in_place: bool = False,
) -> dict[str, Any]:
    """`dispatch`, and an error with a reproducer if the reference gives something else."""
    program = compiled.compilation.source
    before = snapshot(program, given)
    outputs = dispatch(compiled, given, grid, elements, sizes, deadline, in_place)
    counts = {name: len(array) for name, array in before.items()}
    actual = {name: np.asarray(value).reshape(-1) for name, value in outputs.items()}
    for name, array in actual.items():
        counts.setdefault(name, len(array))
    shape = grids.resolve(program, counts, grid, elements)
    expected = service("reference")(program, before, shape, output_sizes=counts)
    differences = service("compare_outputs")(program, expected.outputs, actual)
    if differences:
        saved = save_reproducer(program, before, shape)
        raise BackendError(
            codes.DIFFERS.at(
                name=program.entry_op_id or program.digest()[:16],
                device=compiled.device,
                difference="; ".join(map(str, differences)),
                reproducer=saved,
            )
        )
    return outputs
