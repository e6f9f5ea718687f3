"""Parts of a program in a line of text, for messages. The program's own printer writes them."""

from __future__ import annotations

from vyre.ir import AnyExpr, AnyStmt, BufferDecl
from vyre.ir import late_binding as late

LONGEST_STATEMENT = 100
LONGEST_EXPRESSION = 40


def describe(statement: AnyStmt) -> str:
    """The statement's own line, without the contents of its bodies."""
    return _cut(late.statement_line(statement), LONGEST_STATEMENT)


def show(expr: AnyExpr) -> str:
    """An expression as it is written in programs."""
    return _cut(late.expr_text(expr), LONGEST_EXPRESSION)


def memory_word(decl: BufferDecl) -> str:
    """Which memory a buffer lies in."""
    return "workgroup" if decl.is_workgroup else decl.kind.value


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
