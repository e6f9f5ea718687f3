"""Smaller programs by statements: leave some out, put a body in place of what holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vyre import ir
from vyre.conform.generate import GeneratedCase
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.record import dataclass

_CHUNKS = (16, 8, 4, 2, 1)


def statement_steps(case: GeneratedCase, position: int) -> Iterator[GeneratedCase] | None:
    """Smaller cases that differ at the statement with this number, counted in the text's order."""
    statements = list(walk_stmts(case.program.entry))
    if position >= len(statements):
        return None
    return _steps(case, position, statements[position])


def _steps(case: GeneratedCase, position: int, statement: ir.AnyStmt) -> Iterator[GeneratedCase]:
    program = case.program
    edits = [_Edit(position, chunk, ()) for chunk in _CHUNKS]
    edits += [_Edit(position, 1, new) for new in _simpler(statement)]
    for edit in edits:
        entry = edit.applied(program.entry)
        if entry != program.entry:
            yield replace(case, program=program.with_rewritten_entry(entry))


def _simpler(statement: ir.AnyStmt) -> Iterator[Sequence[ir.AnyStmt]]:
    """What can stand in place of a statement."""
    match statement:
        case ir.If(cond, then, otherwise):
            yield then
            if otherwise:
                yield otherwise
                yield (ir.If(cond, then, ()),)
        case ir.Loop(var, start, stop, body):
            yield (ir.Let(var, start), *body)
            typed = start if isinstance(start, ir.Lit) else stop
            if isinstance(typed, ir.Lit):
                for rounds in (1, 2):
                    bounds = ir.Expr.lit(0, typed.dtype), ir.Expr.lit(rounds, typed.dtype)
                    if bounds == (start, stop):
                        break
                    yield (ir.Loop(var, *bounds, body),)
        case ir.While(cond, body):
            yield body
            if isinstance(cond, ir.Binary) and cond.op is ir.BinOp.AND:
                yield (ir.While(cond.left, body),)
        case ir.Block(body) | ir.Region(_, _, body):
            yield body
        case _:
            return


@dataclass(slots=True)
class _Edit:
    """Put other statements in place of `count` statements, the first of which has a number."""

    position: int
    count: int
    new: Sequence[ir.AnyStmt]
    _next: int = 0

    def applied(self, entry: ir.Body) -> ir.Body:
        """The statements after the edit."""
        self._next = 0
        return self._body(entry)

    def _body(self, body: ir.Body, in_while: bool = False) -> ir.Body:
        out: list[ir.AnyStmt] = []
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
            inside = isinstance(statement, ir.While)
            out.append(map_bodies(statement, lambda inner, w=inside: self._body(inner, w)))
        return body if tuple(out) == body else tuple(out)
