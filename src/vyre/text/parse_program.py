"""Reading a whole program."""

from __future__ import annotations

from vyre.diagnostics import BuildError, Location, ParseError
from vyre.diagnostics.codes import text as codes
from vyre.ir.buffer import BufferDecl
from vyre.ir.gc_pause import collector_paused
from vyre.ir.program import Program
from vyre.text.cursor import Cursor
from vyre.text.parse_buffer import read_buffer, read_head
from vyre.text.parse_stmt import StmtParser


def parse(source: str, file: str = "<text>") -> Program:
    """The program that `source` writes; a `ParseError` with line and caret if it cannot be read."""
    if not isinstance(source, str):
        raise ParseError(codes.NOT_TEXT.at(found=type(source).__name__))
    with collector_paused():
        return _program(Cursor(source, file))


def _program(cursor: Cursor) -> Program:
    statements = StmtParser(cursor)
    try:
        head = read_head(cursor)
        buffers: list[BufferDecl] = []
        while cursor.accept("buffer"):
            statements.first = cursor.position - 1
            buffers.append(read_buffer(cursor))
        return Program(buffers, entry=statements.statements(), **head)
    except BuildError as error:
        # The IR refuses a value: the statement that holds it is where to look.
        last = max(statements.first, min(cursor.position, len(cursor.texts) - 1))
        span = cursor.span(statements.first, last)
        found = [
            codes.REFUSED.at(Location(span=span), problem=problem.message[:400], fix=problem.fix)
            for problem in error.diagnostics
        ]
        raise ParseError(found) from None
