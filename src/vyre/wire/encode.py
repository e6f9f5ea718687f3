"""Program to bytes: sections and buffers. Trees are written by `encode_tree`."""

from __future__ import annotations

from vyre.diagnostics import BuildError
from vyre.ir.buffer import BufferDecl, BufferHints
from vyre.ir.gc_pause import collector_paused
from vyre.ir.program import Program
from vyre.wire import tags
from vyre.wire.encode_tree import TreeWriter
from vyre.wire.envelope import payload_digest, seal
from vyre.wire.sections import write_sections, write_strings
from vyre.wire.varints import varint
from vyre.wire.writer import Writer, cannot_store


def to_wire(program: Program) -> bytes:
    """The program as bytes. Equal programs give equal bytes, on every machine."""
    return seal(encode_payload(program))


def digest(program: Program) -> str:
    """The digest of the program's bytes, in hexadecimal."""
    return payload_digest(encode_payload(program)).hex()


def encode_payload(program: Program) -> bytes:
    """The sections of a program, without the head."""
    with collector_paused():
        return _payload(program)


def _payload(program: Program) -> bytes:
    writer = Writer()
    try:
        head = writer.section(lambda: _head(writer, program))
        buffers = writer.section(lambda: _buffers(writer, program.buffers))
        body = writer.section(lambda: TreeWriter(writer).body(program.entry))
        strings = write_strings(writer.checked_strings())
    except BuildError as error:
        raise cannot_store(error.diagnostics[0].message[:400]) from None
    except OverflowError as error:
        raise cannot_store(f"{str(error)[:40]} is no number of 64 bits") from None
    return write_sections(
        {tags.STRINGS: strings, tags.HEAD: head, tags.BUFFERS: buffers, tags.BODY: body}
    )


def _head(writer: Writer, program: Program) -> None:
    op_id = program.entry_op_id
    writer.number(tags.FAST_MATH * program.fast_math | tags.HAS_OP_ID * (op_id is not None))
    for extent in program.workgroup_size:
        writer.number(extent)
    if op_id is not None:
        writer.put(writer.texts[op_id])


def _buffers(writer: Writer, buffers: tuple[BufferDecl, ...]) -> None:
    put = writer.put
    writer.number(len(buffers))
    for decl in buffers:
        has_hints = decl.hints != BufferHints()
        put(writer.names[decl.name])
        flags = (
            tags.IS_OUTPUT * decl.is_output
            | tags.IS_LIVE_OUT * decl.is_pipeline_live_out
            | tags.HAS_INITIAL * decl.has_initial_value
            | tags.HAS_BINDING * (decl.binding is not None)
            | tags.HAS_HINTS * has_hints
        )
        put(bytes((tags.ACCESSES[decl.access], tags.KINDS[decl.kind], flags)))
        writer.dtype(decl.element)
        writer.number(decl.count)
        if decl.binding is not None:
            writer.number(decl.binding)
        if has_hints:
            _hints(writer, decl.hints)


def _hints(writer: Writer, hints: BufferHints) -> None:
    axis = hints.coalesce_axis
    writer.number(axis is not None)
    if axis is not None:
        writer.signed(axis)
    writer.signed(hints.preferred_alignment)
    writer.put(varint(tags.LOCALITIES[hints.locality]))
