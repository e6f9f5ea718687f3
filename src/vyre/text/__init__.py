"""Programs as text: `to_text` writes, `parse` reads, and reading gives back what was written."""

from __future__ import annotations

from vyre.text.parse_program import parse
from vyre.text.print_expr import expr_text
from vyre.text.print_program import buffer_line, to_text
from vyre.text.print_stmt import statement_line

__all__ = ["buffer_line", "expr_text", "parse", "statement_line", "to_text"]
