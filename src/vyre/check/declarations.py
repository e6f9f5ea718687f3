"""Checks what a program declares: its workgroup size and its buffers."""

from __future__ import annotations

from math import prod

from vyre import ir
from vyre.check.describe import memory_word
from vyre.check.findings import Findings
from vyre.diagnostics.codes import check as codes

_KINDS = {
    ir.BufferAccess.READ_ONLY: {
        ir.MemoryKind.READONLY,
        ir.MemoryKind.GLOBAL,
        ir.MemoryKind.PERSISTENT,
    },
    ir.BufferAccess.READ_WRITE: {
        ir.MemoryKind.GLOBAL,
        ir.MemoryKind.PERSISTENT,
        ir.MemoryKind.SCRATCH,
        ir.MemoryKind.LOCAL,
    },
    ir.BufferAccess.WRITE_ONLY: {ir.MemoryKind.GLOBAL, ir.MemoryKind.PERSISTENT},
    ir.BufferAccess.UNIFORM: {ir.MemoryKind.UNIFORM, ir.MemoryKind.PUSH},
    ir.BufferAccess.WORKGROUP: {ir.MemoryKind.SHARED},
}
"""The memory each access mode may lie in."""


def check_declarations(program: ir.Program, findings: Findings) -> None:
    """Report what is wrong before the first statement."""
    _workgroup_size(program, findings)
    names: set[str] = set()
    bindings: dict[int, str] = {}
    for index, decl in enumerate(program.buffers):
        place = f"buffers[{index}]"
        if decl.name in names:
            findings.add_declaration(place, codes.BUFFER_TWICE.at(name=decl.name))
        names.add(decl.name)
        if decl.binding is not None:
            first = bindings.setdefault(decl.binding, decl.name)
            if first != decl.name:
                twice = codes.BINDING_TWICE.at(first=first, name=decl.name, binding=decl.binding)
                findings.add_declaration(place, twice)
        _buffer(decl, place, findings)


def _workgroup_size(program: ir.Program, findings: Findings) -> None:
    size = program.workgroup_size
    problem = None
    if 0 in size:
        problem = "no invocations"
    elif prod(size) >= 1 << 32:
        problem = "more invocations than a u32 can number"
    if problem is not None:
        wrong = codes.WORKGROUP_SIZE.at(size=size, problem=problem)
        findings.add_declaration("workgroup_size", wrong)


def _buffer(decl: ir.BufferDecl, place: str, findings: Findings) -> None:
    name, kind = decl.name, memory_word(decl)
    if decl.kind not in _KINDS[decl.access]:
        wrong = codes.ACCESS_AND_KIND.at(name=name, access=decl.access.value, kind=decl.kind.value)
        findings.add_declaration(place, wrong)
        return
    hidden = decl.is_on_chip or decl.is_scratch
    if not hidden and decl.binding is None:
        findings.add_declaration(place, codes.NO_BINDING.at(name=name))
    if hidden and decl.binding is not None:
        wrong = codes.NEEDS_NO_BINDING.at(name=name, kind=kind, binding=decl.binding)
        findings.add_declaration(place, wrong)
    if hidden and decl.count == 0:
        findings.add_declaration(place, codes.NEEDS_COUNT.at(name=name, kind=kind))
    if (hidden or decl.is_device_allocated) and decl.element.size_bytes is None:
        wrong = codes.UNSIZED_ELEMENT.at(name=name, element=decl.element)
        findings.add_declaration(place, wrong)
    _flags(decl, place, findings)


def _flags(decl: ir.BufferDecl, place: str, findings: Findings) -> None:
    def wrong(what: str, flag: str, advice: str) -> None:
        found = codes.BUFFER_FLAGS.at(name=decl.name, what=what, flag=flag, advice=advice)
        findings.add_declaration(place, found)

    wanted = "an output" if decl.is_output else "live after the dispatch"
    if decl.is_output or decl.is_pipeline_live_out:
        if decl.is_on_chip or decl.is_scratch:
            wrong(f"{memory_word(decl)} memory", wanted, "declare it with BufferDecl.output")
        elif not decl.is_writable:
            wrong(decl.access.value, wanted, "declare it read_write, or remove the mark")
    if decl.has_initial_value and not decl.is_host_input:
        advice = "declare it read_write without the output mark, or remove the initial value"
        wrong("allocated by the device as zeros", "given an initial value", advice)
