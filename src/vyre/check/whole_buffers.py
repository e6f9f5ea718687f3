"""Checks statements that use buffers as a whole: async copies, collectives, indirect dispatch."""

from __future__ import annotations

from collections.abc import Iterator

from vyre import ir
from vyre.check.describe import memory_word
from vyre.diagnostics import Diagnostic
from vyre.diagnostics.codes import check as codes

Collective = ir.AllReduce | ir.AllGather | ir.ReduceScatter | ir.Broadcast
COLLECTIVE_WORDS: dict[type[Collective], str] = {
    ir.AllReduce: "all_reduce",
    ir.AllGather: "all_gather",
    ir.ReduceScatter: "reduce_scatter",
    ir.Broadcast: "broadcast",
}


def buffer_names(
    statement: ir.AsyncLoad | ir.AsyncStore | Collective | ir.IndirectDispatch,
) -> list[str]:
    """The buffers that a statement names, the source first."""
    match statement:
        case ir.AllReduce(buffer) | ir.Broadcast(buffer) | ir.IndirectDispatch(buffer):
            return [buffer]
        case ir.AllGather() | ir.ReduceScatter() | ir.AsyncLoad() | ir.AsyncStore():
            return [statement.source, statement.destination]


def copy_problems(
    statement: ir.AsyncLoad | ir.AsyncStore, source: ir.BufferDecl, destination: ir.BufferDecl
) -> Iterator[Diagnostic]:
    """What is wrong with the buffers of an async copy."""
    loads = isinstance(statement, ir.AsyncLoad)
    what = "async_load" if loads else "async_store"
    direction = "from a device buffer to a workgroup buffer"
    if not loads:
        direction = "from a workgroup buffer to a device buffer"
    for decl, must_be_workgroup in ((source, not loads), (destination, loads)):
        if decl.is_workgroup != must_be_workgroup or decl.is_local:
            kind = memory_word(decl)
            yield codes.ASYNC_MEMORY.at(what=what, direction=direction, name=decl.name, kind=kind)
    if not source.is_readable:
        yield codes.NOT_READABLE.at(name=source.name)
    if not destination.is_writable:
        yield codes.NOT_WRITABLE.at(name=destination.name, access=destination.access.value)
    if source.element is not destination.element:
        yield codes.ASYNC_TYPES.at(source=source.element, destination=destination.element)


def collective_problems(
    statement: Collective, source: ir.BufferDecl, destination: ir.BufferDecl
) -> Iterator[Diagnostic]:
    """What is wrong with the buffers of a collective."""

    def wrong(decl: ir.BufferDecl, problem: str) -> Diagnostic:
        what = COLLECTIVE_WORDS[type(statement)]
        return codes.COLLECTIVE_BUFFER.at(what=what, name=decl.name, problem=problem)

    for decl in {source.name: source, destination.name: destination}.values():
        if decl.is_on_chip:
            yield wrong(decl, f"it is {memory_word(decl)} memory")
    if not source.is_readable:
        yield wrong(source, "it is write_only")
    if not destination.is_writable:
        yield wrong(destination, f"it is {destination.access.value}")
    if source.element is not destination.element:
        yield wrong(destination, f"its elements are not {source.element} as those of the source")
    if isinstance(statement, (ir.AllReduce, ir.ReduceScatter)):
        row = statement.op.row
        if source.element not in row.operands:
            yield wrong(source, f"{row.spelling} does not work on {source.element}")


def indirect_problems(statement: ir.IndirectDispatch, decl: ir.BufferDecl) -> Iterator[Diagnostic]:
    """What is wrong with the buffer that an indirect dispatch takes its grid from."""
    problem = None
    if decl.element is not ir.DataType.U32:
        problem = f"its elements are {decl.element}"
    elif not decl.is_readable:
        problem = "it is write_only"
    elif not decl.is_host_input:
        problem = "the host gives it no contents before the launch"
    elif decl.count and statement.count_offset + 3 > decl.count:
        problem = f"it has only {decl.count} elements"
    if problem is not None:
        yield codes.INDIRECT_BUFFER.at(name=decl.name, problem=problem)
