"""Bytes to program: sections, strings, buffers. Trees are read by `decode_tree`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from vyre.diagnostics import BuildError, WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir.buffer import BufferDecl, BufferHints
from vyre.ir.gc_pause import collector_paused
from vyre.ir.program import Program
from vyre.signals import is_from_handler
from vyre.wire import tags
from vyre.wire.decode_tree import TreeReader
from vyre.wire.envelope import HEAD_SIZE, failure, open_envelope
from vyre.wire.malformed import Malformed
from vyre.wire.reader import Reader, Strings
from vyre.wire.sections import Section, read_sections, read_strings
from vyre.wire.varints import count, offset_of, split

T = TypeVar("T")

_ACCESSES = {tag: access for access, tag in tags.ACCESSES.items()}
_KINDS = {tag: kind for kind, tag in tags.KINDS.items()}
_LOCALITIES = {tag: locality for locality, tag in tags.LOCALITIES.items()}


def from_wire(data: bytes | bytearray | memoryview) -> Program:
    """The program that `data` holds; a `WireError` with an offset if it holds none.

    Time and memory are in proportion to the bytes, whatever they say.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise WireError(codes.NOT_BYTES.at(found=type(data).__name__))
    with collector_paused():
        return _program(open_envelope(bytes(data)))


def _program(payload: bytes) -> Program:
    sections = read_sections(payload)
    strings = Strings(read_strings(sections[tags.STRINGS]))
    size, op_id, fast_math = _read(sections[tags.HEAD], strings, _head)
    buffers = _read(sections[tags.BUFFERS], strings, _buffers)
    entry = _read(sections[tags.BODY], strings, lambda reader: TreeReader(reader).statements())
    if not strings.all_used:
        problem = "a string in the table is never used"
        raise failure(codes.NOT_CANONICAL, HEAD_SIZE, problem=problem)
    try:
        return Program(buffers, size, entry, op_id, fast_math)
    except BuildError as error:
        raise _refused(error, HEAD_SIZE) from None


def _read(section: Section, strings: Strings, read: Callable[[Reader], T]) -> T:
    """All of a section; what it does wrong becomes a `WireError` with the offset reached."""
    items: Iterator[int] = iter(())

    def offset() -> int:
        taken = count(section.data) - _left(items)
        return section.start + offset_of(section.data, max(taken - 1, 0))

    try:
        items = split(section.data)
        result = read(Reader(items, strings))
        for _ in items:
            raise Malformed(codes.BAD_STRUCTURE, problem="a section is longer than its contents")
        return result
    except Malformed as problem:
        raise problem.at(offset()) from None
    except BuildError as error:
        raise _refused(error, offset()) from None
    except StopIteration:
        raise failure(codes.TRUNCATED, offset(), what=section.name) from None
    except KeyError as error:
        raise failure(codes.UNKNOWN_TAG, offset(), tag=error.args[0]) from None
    except (IndexError, ValueError) as problem:
        if is_from_handler(problem):
            raise
        problem = "an operand or a statement is missing"
        raise failure(codes.BAD_STRUCTURE, offset(), problem=problem) from None


def _left(items: Iterator[int]) -> int:
    """How many numbers have not been taken, the malformed ones among them."""
    left = 0
    while True:
        try:
            next(items)
        except StopIteration:
            return left
        except Malformed:
            pass
        left += 1


def _refused(error: BuildError, offset: int) -> WireError:
    first = error.diagnostics[0]
    return failure(codes.REFUSED, offset, problem=first.message[:400], fix=first.fix)


def _head(reader: Reader) -> tuple[tuple[int, int, int], str | None, bool]:
    flags = reader.flags(tags.ALL_HEAD_FLAGS)
    size = (reader.item(), reader.item(), reader.item())
    op_id = reader.text() if flags & tags.HAS_OP_ID else None
    return size, op_id, bool(flags & tags.FAST_MATH)


def _buffers(reader: Reader) -> list[BufferDecl]:
    return [_buffer(reader) for _ in range(reader.item())]


def _buffer(reader: Reader) -> BufferDecl:
    name = reader.name()
    access = _ACCESSES[reader.item()]
    kind = _KINDS[reader.item()]
    flags = reader.flags(tags.ALL_BUFFER_FLAGS)
    element = reader.dtype()
    count = reader.item()
    binding = reader.item() if flags & tags.HAS_BINDING else None
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
    return BufferHints(axis, reader.signed(), _LOCALITIES[reader.item()])
