"""A Python function as its author wrote it: tree, places in the file, and what names mean."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

from vyre.diagnostics import Diagnostic, FrontError, Location, Span
from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import front as codes

MISSING: Any = object()
"""What `lookup` gives for a name that means nothing."""


class Source:
    """A function, its tree, and the names around it. It is parsed on first use."""

    __slots__ = (
        *("__weakref__", "_cells", "_tree", "annotations", "file", "first_line", "function"),
        *("indent", "lines", "name", "scope"),
    )

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        lines = linecache.getlines(code.co_filename, function.__globals__)
        if not 0 < code.co_firstlineno <= len(lines):
            raise _no_source(function)
        self.function = function
        self.name = function.__name__
        self.file = code.co_filename
        self.first_line = code.co_firstlineno
        self.scope: Mapping[str, Any] = function.__globals__
        self._cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        self.annotations: Mapping[str, Any] = dict(function.__annotations__)
        self.lines = _stripped(_likely_block(code, lines))
        """The lines of the function as they stand in the file."""
        self.indent = 0
        """Columns that were cut off every line before parsing."""
        self._tree: ast.FunctionDef | None = None

    @property
    def tree(self) -> ast.FunctionDef:
        """The function as a tree; an error if its lines are none."""
        if self._tree is None:
            tree = self._parsed()
            if tree is None:
                lines = linecache.getlines(self.file, self.function.__globals__)
                self.lines = _stripped(inspect.getblock(lines[self.first_line - 1 :]))
                tree = self._parsed()
            if tree is None:
                raise _no_source(self.function)
            self._tree = _unfolded(tree)
        return self._tree

    def _parsed(self) -> ast.FunctionDef | None:
        text = textwrap.dedent("\n".join((*self.lines, "")))
        self.indent = len(self.lines[0]) - len(text.split("\n", 1)[0])
        return _function_in(text)

    def lookup(self, name: str) -> Any:
        """What a name means outside the function, `MISSING` if nothing."""
        cell = self._cells.get(name)
        if cell is not None:
            try:
                return cell.cell_contents
            except ValueError:
                # The name is bound after the kernel is made, or not any more.
                return MISSING
        if name in self.scope:
            return self.scope[name]
        return getattr(builtins, name, MISSING)

    @property
    def closure(self) -> dict[str, Any]:
        """The names of functions around it that have a value, with what it is now."""
        found = {name: self.lookup(name) for name in self._cells}
        return {name: value for name, value in found.items() if value is not MISSING}

    def cell(self, name: str) -> CellType | None:
        """What holds the value of a name of a function around it; None for other names."""
        return self._cells.get(name)

    def span(self, node: ast.AST) -> Span:
        """Where a node stands in the file."""
        line = getattr(node, "lineno", 1)
        start = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None)
        text = self.lines[line - 1] if line <= len(self.lines) else None
        if getattr(node, "end_lineno", line) != line:
            end = None if text is None else len(text.rstrip()) - self.indent
        column = start + self.indent + 1
        end_column = None if end is None else max(end + self.indent + 1, column + 1)
        return Span(self.file, self.first_line + line - 1, column, end_column, text)

    def diagnostic(self, node: ast.AST, code: Code, **values: object) -> Diagnostic:
        """A problem with a node."""
        return code.at(Location(span=self.span(node)), (), **values)

    def error(self, node: ast.AST, code: Code, **values: object) -> FrontError:
        """A problem with a node, as an error to raise."""
        return FrontError(self.diagnostic(node, code, **values))

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an annotation that is kept as text."""
        expression = ast.fix_missing_locations(ast.Expression(node))
        code = compile(expression, self.file, "eval")
        return eval(code, dict(self.scope), self.closure)

    def annotation(self, name: str) -> Any:
        """What a parameter is said to be; evaluated if it is kept as text."""
        found = self.annotations.get(name)
        if isinstance(found, str):
            return self.evaluate(ast.parse(found, mode="eval").body)
        return found


def _stripped(block: list[str]) -> tuple[str, ...]:
    return tuple(line.rstrip("\n") for line in block)


def _unfolded(tree: ast.FunctionDef) -> ast.FunctionDef:
    from vyre.front.walrus import unfold_conditions  # a kernel that is remembered needs no tree

    return unfold_conditions(tree)


def _no_source(function: FunctionType) -> FrontError:
    file = function.__code__.co_filename
    return FrontError(codes.NO_SOURCE.at(name=function.__qualname__, file=file))


def _likely_block(code: CodeType, lines: list[str]) -> list[str]:
    """The lines of a function, found without taking them apart into tokens, which is slow.

    They go on after the last line that has code as long as they are indented. In the middle of a
    text or of a bracket that need not be right, but then they are no whole statement either.
    """
    start, end = code.co_firstlineno - 1, _last_line(code)
    indent = _indent(lines[start])
    while end < len(lines):
        line = lines[end].strip()
        if line and not line.startswith("#") and _indent(lines[end]) <= indent:
            break
        end += 1
    return lines[start:end]


def _last_line(code: CodeType) -> int:
    inner = [_last_line(each) for each in code.co_consts if isinstance(each, CodeType)]
    ends = (end for _, end, _, _ in code.co_positions() if end is not None)
    return max([code.co_firstlineno, *ends, *inner])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _function_in(text: str) -> ast.FunctionDef | None:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None
    found = [node for node in body if isinstance(node, ast.FunctionDef)]
    return found[0] if found else None
