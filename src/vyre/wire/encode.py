"""Program to bytes: sections, buffers, types. Trees are written by `encode_tree`."""

from __future__ import annotations

from vyre.diagnostics import BuildError, WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir.buffer import BufferDecl, BufferHints
from vyre.ir.program import Program
from vyre.wire import tags
from vyre.wire.encode_tree import encode_body
from vyre.wire.envelope import payload_digest, seal
from vyre.wire.writer import Writer, varint


def to_wire(program: Program) -> bytes:
    """The program as bytes. Equal programs give equal bytes, on every machine."""
    return seal(encode_payload(program))


def digest(program: Program) -> str:
    """The digest of the program's bytes, in hexadecimal."""
    return payload_digest(encode_payload(program)).hex()


def encode_payload(program: Program) -> bytes:
    """The sections of a program, without the head."""
    writer = Writer()
    try:
        head = writer.section(lambda: _head(writer, program))
        buffers = writer.section(lambda: _buffers(writer, program.buffers))
        body = writer.section(lambda: encode_body(writer, program.entry))
    except BuildError as error:
        raise WireError(codes.CANNOT_STORE.at(problem=error.diagnostics[0].message[:400])) from None
    sections = (
        (tags.STRINGS, _strings(writer)),
        (tags.HEAD, head),
        (tags.BUFFERS, buffers),
        (tags.BODY, body),
    )
    return b"".join(varint(tag) + varint(len(part)) + part for tag, part in sections)


def _strings(writer: Writer) -> bytes:
    parts = [varint(len(writer.strings))]
    for text in writer.strings:
        encoded = text.encode()
        parts += (varint(len(encoded)), encoded)
    return b"".join(parts)


def _head(writer: Writer, program: Program) -> None:
    op_id = program.entry_op_id
    flags = tags.FAST_MATH * program.fast_math | tags.HAS_OP_ID * (op_id is not None)
    writer.put(varint(flags))
    for extent in program.workgroup_size:
        writer.put(varint(extent))
    if op_id is not None:
        writer.put(writer.text(op_id))


def _buffers(writer: Writer, buffers: tuple[BufferDecl, ...]) -> None:
    put = writer.put
    put(varint(len(buffers)))
    for decl in buffers:
        has_hints = decl.hints != BufferHints()
        put(writer.name(decl.name))
        put(bytes((tags.ACCESSES[decl.access], tags.KINDS[decl.kind])))
        flags = (
            tags.IS_OUTPUT * decl.is_output
            | tags.IS_LIVE_OUT * decl.is_pipeline_live_out
            | tags.HAS_INITIAL * decl.has_initial_value
            | tags.HAS_BINDING * (decl.binding is not None)
            | tags.HAS_HINTS * has_hints
        )
        put(bytes((flags,)))
        writer.dtype(decl.element)
        put(varint(decl.count))
        if decl.binding is not None:
            put(varint(decl.binding))
        if has_hints:
            _hints(writer, decl.hints)


def _hints(writer: Writer, hints: BufferHints) -> None:
    axis = hints.coalesce_axis
    writer.put(bytes((axis is not None,)))
    if axis is not None:
        writer.signed(axis)
    writer.signed(hints.preferred_alignment)
    writer.put(bytes((tags.LOCALITIES[hints.locality],)))
