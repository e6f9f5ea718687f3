"""Bytes to program: sections, strings, buffers. Trees are read by `decode_tree`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vyre.diagnostics import BuildError, WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir.buffer import BufferDecl, BufferHints
from vyre.ir.collector import collector_paused
from vyre.ir.program import Program
from vyre.ir.stmt import AnyStmt
from vyre.wire import tags
from vyre.wire.decode_tree import TreeReader
from vyre.wire.envelope import HEAD_SIZE, failure, open_envelope
from vyre.wire.reader import Malformed, Reader, Strings

T = TypeVar("T")

_ACCESSES = {tag: access for access, tag in tags.ACCESSES.items()}
_KINDS = {tag: kind for kind, tag in tags.KINDS.items()}
_LOCALITIES = {tag: locality for locality, tag in tags.LOCALITIES.items()}
_SECTION_NAMES = {
    tags.STRINGS: "the table of strings",
    tags.HEAD: "the head of the program",
    tags.BUFFERS: "the table of buffers",
    tags.BODY: "the body",
}


def from_wire(data: bytes | bytearray | memoryview) -> Program:
    """The program that `data` holds; a `WireError` with an offset if it holds none.

    Time and memory are in proportion to the bytes, whatever they say.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise WireError(codes.NOT_BYTES.at(found=type(data).__name__))
    with collector_paused():
        return _program(open_envelope(bytes(data)))


def _program(payload: bytes) -> Program:
    sections = _sections(payload)
    strings = Strings(_section(sections[tags.STRINGS], Strings([]), tags.STRINGS, _strings))
    head = _section(sections[tags.HEAD], strings, tags.HEAD, _head)
    buffers = _section(sections[tags.BUFFERS], strings, tags.BUFFERS, _buffers)
    start, body = sections[tags.BODY]
    tree = TreeReader(body, strings)
    entry = _guarded(tree, tags.BODY, start, lambda: _body(tree, strings))
    try:
        return Program(buffers, head[0], entry, head[1], head[2])
    except BuildError as error:
        raise _refused(error, HEAD_SIZE) from None


def _sections(payload: bytes) -> dict[int, tuple[int, bytes]]:
    """The sections of a payload, each with the offset where it starts in the whole data."""
    reader = Reader(payload, Strings([]))
    found: dict[int, tuple[int, bytes]] = {}

    def read() -> None:
        for expected in tags.SECTIONS:
            tag = reader.byte()
            if tag != expected:
                raise KeyError(tag)
            size = reader.varint()
            found[tag] = (HEAD_SIZE + reader.pos, reader.take(size))
        if reader.left:
            raise Malformed(codes.BAD_STRUCTURE, problem="something follows the last section")

    _guarded(reader, 0, HEAD_SIZE, read)
    return found


def _section(
    place: tuple[int, bytes], strings: Strings, tag: int, read: Callable[[Reader], T]
) -> T:
    start, data = place
    reader = Reader(data, strings)

    def whole() -> T:
        result = read(reader)
        if reader.left:
            raise Malformed(codes.BAD_STRUCTURE, problem="a section is longer than its contents")
        return result

    return _guarded(reader, tag, start, whole)


def _guarded(reader: Reader | TreeReader, section: int, start: int, read: Callable[[], T]) -> T:
    """Run `read`; what the bytes do wrong becomes a `WireError` with the offset reached.

    Running past the end is an IndexError, an unknown tag a KeyError, a missing operand a
    ValueError: those come for free, so the loop that reads nodes needs no checks of its own.
    """
    try:
        return read()
    except Malformed as problem:
        raise problem.at(start + reader.pos) from None
    except BuildError as error:
        raise _refused(error, start + reader.pos) from None
    except IndexError:
        what = _SECTION_NAMES.get(section, "the list of sections")
        raise failure(codes.TRUNCATED, start + reader.pos, what=what) from None
    except KeyError as error:
        raise failure(codes.UNKNOWN_TAG, start + reader.pos, tag=error.args[0]) from None
    except ValueError:
        problem = "an operand or a statement is missing"
        raise failure(codes.BAD_STRUCTURE, start + reader.pos, problem=problem) from None


def _refused(error: BuildError, offset: int) -> WireError:
    first = error.diagnostics[0]
    return failure(codes.REFUSED, offset, problem=first.message[:400], fix=first.fix)


def _strings(reader: Reader) -> list[str]:
    found: list[str] = []
    for _ in range(reader.count()):
        raw = reader.take(reader.varint())
        try:
            found.append(raw.decode())
        except UnicodeDecodeError:
            problem = "a string is not UTF-8"
            raise Malformed(codes.NOT_CANONICAL, problem=problem) from None
    if len(set(found)) != len(found):
        raise Malformed(codes.NOT_CANONICAL, problem="a string is in the table twice")
    return found


def _head(reader: Reader) -> tuple[tuple[int, int, int], str | None, bool]:
    flags = reader.flags(tags.ALL_HEAD_FLAGS)
    size = (reader.varint(), reader.varint(), reader.varint())
    op_id = reader.text() if flags & tags.HAS_OP_ID else None
    return size, op_id, bool(flags & tags.FAST_MATH)


def _buffers(reader: Reader) -> list[BufferDecl]:
    return [_buffer(reader) for _ in range(reader.count())]


def _buffer(reader: Reader) -> BufferDecl:
    name = reader.name()
    access = _ACCESSES[reader.byte()]
    kind = _KINDS[reader.byte()]
    flags = reader.flags(tags.ALL_BUFFER_FLAGS)
    element = reader.dtype()
    count = reader.varint()
    binding = reader.varint() if flags & tags.HAS_BINDING else None
    hints = BufferHints()
    if flags & tags.HAS_HINTS:
        hints = _hints(reader)
        if hints == BufferHints():
            raise Malformed(codes.NOT_CANONICAL, problem="hints that say nothing are stored")
    return BufferDecl(
        name,
        binding,
        access,
        kind,
        element,
        count,
        is_output=bool(flags & tags.IS_OUTPUT),
        is_pipeline_live_out=bool(flags & tags.IS_LIVE_OUT),
        has_initial_value=bool(flags & tags.HAS_INITIAL),
        hints=hints,
    )


def _hints(reader: Reader) -> BufferHints:
    axis = reader.signed() if reader.flags(1) else None
    return BufferHints(axis, reader.signed(), _LOCALITIES[reader.byte()])


def _body(tree: TreeReader, strings: Strings) -> list[AnyStmt]:
    entry = tree.statements()
    if not strings.all_used:
        raise Malformed(codes.NOT_CANONICAL, problem="a string in the table is never used")
    return entry
