"""Programs on the CPU backend without the runtime around it, and beside the reference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm.abi import SUBGROUP_LANES
from vyre.backends.llvm.compile import compile_program
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.outcome import Outcome
from vyre.backends.llvm.pass_context import CpuContext, CpuPass, LaunchFacts
from vyre.backends.llvm.pool import process_pool
from vyre.backends.reference import execute
from vyre.check import check as problems_of
from vyre.conform.compare import Tolerance, compare_outputs
from vyre.diagnostics import Severity
from vyre.driver.backend import EmitOptions
from vyre.ir import Program
from vyre.semantics import storage_dtype

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Grid = tuple[int, int, int]


def load(
    program: Program, cpu: str = "native", tier: str = "full", values: Mapping[str, str] = {}
) -> NativeKernel:
    """A program as machine code in this process, which is kept for other inputs.

    A test that patches the code generator calls `forget_loaded` before and after.
    """
    return _loaded(program, cpu, tier, tuple(values.items()))


def forget_loaded() -> None:
    """Compile programs again that were loaded before."""
    _loaded.cache_clear()


# As many as one parametrised test has: its programs come by turns, not one after the other.
@lru_cache(maxsize=256)
def _loaded(
    program: Program, cpu: str, tier: str, values: tuple[tuple[str, str], ...]
) -> NativeKernel:
    artifact = compile_program(program, cpu, EmitOptions(tier, dict(values)))
    return NativeKernel(artifact.payload, KernelInfo.from_json(artifact.metadata), process_pool())


WIDE = hosts.Host(
    "x86_64-unknown-linux-gnu",
    "znver4",
    "+sse4.2,+avx2,+fma,+f16c,+bmi2,+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512cd",
)
"""A machine with vectors of 512 bits, the same wherever tests run."""


def source(program: Program, kind: str = "llvm-raw", cpu: str = "wide") -> str:
    """A readable form of the code for a machine; all but the text before LLVM is for this one."""
    if kind == "llvm-raw":
        host = {"wide": WIDE, "generic": hosts.generic(), "native": hosts.native()}[cpu]
        return generate(program, host).text
    used = "native" if cpu == "wide" else cpu
    return compile_program(program, used, EmitOptions("full")).sources[kind]


def lowered_by(
    each: CpuPass, program: Program, host: hosts.Host = WIDE, facts: LaunchFacts | None = None
) -> tuple[Program, LaunchFacts]:
    """What one CPU pass makes of a program, which is valid, and the facts it establishes."""
    context = CpuContext(host)
    context.facts = facts or context.facts
    if not each.analyze(program, context).runs:
        return program, context.facts
    changed = each.transform(program, context).program
    assert not [d for d in problems_of(changed) if d.severity is Severity.ERROR]
    return changed, context.facts


def launch(
    kernel: NativeKernel, program: Program, inputs: Arrays, grid: Grid, sizes: Mapping[str, int]
) -> tuple[dict[str, Array], Outcome | None]:
    """Run once; gives the buffers that the host sees, and what there is to tell."""
    bound: dict[str, Array] = {}
    for decl in program.buffers:
        if decl.is_on_chip:
            continue
        if decl.name in inputs:
            bound[decl.name] = np.array(inputs[decl.name], order="C")
        else:
            shape = (sizes.get(decl.name) or decl.count, *_lanes(decl.element.lanes))
            element = decl.element.element if decl.element.is_vector else decl.element
            assert element is not None
            bound[decl.name] = np.zeros(shape, storage_dtype(element))
    places = [(int(a.ctypes.data), int(a.shape[0])) for a in bound.values()]
    outcome = kernel.launch_raw(places, grid, 30.0)
    outputs = {d.name: bound[d.name] for d in program.buffers if d.is_host_output}
    return outputs, outcome


def _lanes(count: int) -> tuple[int, ...]:
    return (count,) if count > 1 else ()


def differences(
    program: Program,
    inputs: Arrays,
    grid: Grid,
    *,
    cpu: str = "native",
    tier: str = "full",
    approximate: frozenset[str] = frozenset(),
) -> list[str]:
    """Where the CPU and the reference disagree."""
    wanted = execute(program, inputs, grid, subgroup_width=SUBGROUP_LANES).outputs
    sizes = {name: array.shape[0] for name, array in wanted.items()}
    found, outcome = launch(load(program, cpu, tier), program, inputs, grid, sizes)
    assert outcome is None, outcome
    tolerances = {name: Tolerance(64) for name in approximate}
    return [str(d) for d in compare_outputs(program, wanted, found, tolerances)]


def check(text: str, inputs: Arrays, grid: Grid, cpu: str = "native") -> None:
    """The CPU agrees with the reference on a program in text form."""
    assert differences(Program.parse(text), inputs, grid, cpu=cpu) == []
