"""Smaller programs by statements: leave some out, put a body in place of what holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vyre.conform.generate import GeneratedCase
from vyre.ir import (
    AnyStmt,
    Binary,
    BinOp,
    Block,
    Body,
    Expr,
    If,
    Let,
    Lit,
    Loop,
    Region,
    While,
)
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.record import dataclass

_CHUNKS = (16, 8, 4, 2, 1)


def statement_steps(case: GeneratedCase, position: int) -> Iterator[GeneratedCase] | None:
    """Smaller cases that differ at the statement with this number, counted in the text's order."""
    statements = list(walk_stmts(case.program.entry))
    if position >= len(statements):
        return None
    return _steps(case, position, statements[position])


def _steps(case: GeneratedCase, position: int, statement: AnyStmt) -> Iterator[GeneratedCase]:
    program = case.program
    edits = [_Edit(position, chunk, ()) for chunk in _CHUNKS]
    edits += [_Edit(position, 1, new) for new in _simpler(statement)]
    for edit in edits:
        entry = edit.applied(program.entry)
        if entry != program.entry:
            yield replace(case, program=program.with_rewritten_entry(entry))


def _simpler(statement: AnyStmt) -> Iterator[Sequence[AnyStmt]]:
    """What can stand in place of a statement."""
    match statement:
        case If(cond, then, otherwise):
            yield then
            if otherwise:
                yield otherwise
                yield (If(cond, then, ()),)
        case Loop(var, start, stop, body):
            yield (Let(var, start), *body)
            typed = start if isinstance(start, Lit) else stop
            if isinstance(typed, Lit):
                for rounds in (1, 2):
                    bounds = Expr.lit(0, typed.dtype), Expr.lit(rounds, typed.dtype)
                    if bounds == (start, stop):
                        break
                    yield (Loop(var, *bounds, body),)
        case While(cond, body):
            yield body
            if isinstance(cond, Binary) and cond.op is BinOp.AND:
                yield (While(cond.left, body),)
        case Block(body) | Region(_, _, body):
            yield body
        case _:
            return


@dataclass(slots=True)
class _Edit:
    """Put other statements in place of `count` statements, the first of which has a number."""

    position: int
    count: int
    new: Sequence[AnyStmt]
    _next: int = 0

    def applied(self, entry: Body) -> Body:
        """The statements after the edit."""
        self._next = 0
        return self._body(entry)

    def _body(self, body: Body, in_while: bool = False) -> Body:
        out: list[AnyStmt] = []
        skip = 0
        for index, statement in enumerate(body):
            if skip:
                skip -= 1
                continue
            number = self._next
            self._next += 1
            # The first statement of a while makes it end.
            if number == self.position and not (in_while and index == 0 and not self.new):
                skip = self.count - 1
                out += self.new
                continue
            inside = isinstance(statement, While)
            out.append(map_bodies(statement, lambda inner, w=inside: self._body(inner, w)))
        return body if tuple(out) == body else tuple(out)
