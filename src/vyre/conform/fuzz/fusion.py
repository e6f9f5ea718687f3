"""Two random programs as one dispatch, and what they give one after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vyre.backends.reference import execute
from vyre.conform.compare import Tolerance
from vyre.conform.generate import PROFILES, GeneratedCase, generate
from vyre.conform.renamed import renamed_buffers
from vyre.conform.tolerance import greatest_bound
from vyre.diagnostics import PlanError, Severity
from vyre.ir import BufferDecl, Program
from vyre.plan import fuse
from vyre.record import dataclass
from vyre.semantics import Array, storage_dtype


@dataclass(frozen=True, slots=True)
class FusedPair:
    """A fused program with its inputs, and the results of its parts run in order."""

    program: Program
    inputs: dict[str, Array]
    expected: dict[str, Array]
    tolerances: dict[str, Tolerance]


def fused_pair(case: GeneratedCase, number: int) -> FusedPair | None:
    """The program joined with itself or with another; None where fusing is refused."""
    first = _all_given(case)
    second = first if number % 3 == 0 else _renamed(_all_given(_partner(case, number)), first)
    try:
        fusion = fuse([first.program, second.program], ["first", "second"])
    except PlanError:
        return None
    fused = fusion.program
    if any(d.severity is Severity.ERROR for d in fused.check()):
        # A barrier after a divergent return of the first arm, for one: refused, not miscompiled.
        return None
    inputs = second.inputs | first.inputs
    one = execute(first.program, first.inputs, case.grid).outputs
    two_inputs = {name: one.get(name, inputs[name]) for name in second.inputs}
    two = execute(second.program, two_inputs, case.grid).outputs
    names = {decl.name for decl in fused.buffers if decl.is_host_output}
    expected = {name: value for name, value in (one | two).items() if name in names}
    bound = max(greatest_bound(first.program), greatest_bound(second.program))
    soft = {name: Tolerance(ulps=bound) for name in first.approximate | second.approximate}
    given = {decl.name: inputs[decl.name] for decl in fused.buffers if decl.is_host_input}
    return FusedPair(fused, given, expected, soft)


def _partner(case: GeneratedCase, number: int) -> GeneratedCase:
    """Another program for the same grid."""
    profile = replace(
        PROFILES["tiny"],
        name="partner",
        workgroups=(case.program.workgroup_size,),
        grids=(case.grid,),
    )
    return generate(number + 1_000_000_007, profile)


def _all_given(case: GeneratedCase) -> GeneratedCase:
    """The same with every output an input too, so that a second run goes on where one ended."""
    inputs = dict(case.inputs)
    decls: list[BufferDecl] = []
    for decl in case.program.buffers:
        if decl.is_device_allocated and decl.binding is not None and decl.count:
            plain = BufferDecl.read_write(decl.name, decl.binding, decl.element)
            decls.append(plain.with_count(decl.count))
            shape = (decl.count, decl.element.lanes) if decl.element.is_vector else (decl.count,)
            inputs[decl.name] = np.zeros(shape, storage_dtype(decl.element))
        else:
            decls.append(decl)
    return replace(case, program=case.program.with_rewritten_buffers(decls), inputs=inputs)


def _renamed(case: GeneratedCase, partner: GeneratedCase) -> GeneratedCase:
    """The same on the partner's buffers where they fit, and on buffers of its own elsewhere."""
    free = [
        decl
        for decl in partner.program.buffers
        if decl.is_host_input and decl.name not in partner.approximate
    ]
    names: dict[str, str] = {}
    inputs: dict[str, Array] = {}
    for decl in case.program.buffers:
        fitting = [
            other
            for other in free
            if decl.is_host_input
            and (other.element, other.count) == (decl.element, decl.count)
            and decl.name not in case.approximate
            and partner.inputs[other.name].shape == case.inputs[decl.name].shape
        ]
        if fitting:
            free.remove(fitting[0])
        names[decl.name] = fitting[0].name if fitting else f"second_{decl.name}"
        if decl.is_host_input:
            source = partner.inputs[fitting[0].name] if fitting else case.inputs[decl.name]
            inputs[names[decl.name]] = source
    program = renamed_buffers(case.program, names)
    approximate = frozenset(names[name] for name in case.approximate)
    return replace(case, program=program, inputs=inputs, approximate=approximate)
