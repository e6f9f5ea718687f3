"""What a stage accesses: the form of every index, and the invocations that come to it.

    y[i] = x[max(i, 1) - 1]   under   if i < len(y)

    a load of x at  v + [-1, 0]  and a store to y at  v + [0, 0],  for v from 0 to len(y) - 1

The answer holds for one launch: lengths and the number of invocations are known. Loads are taken
as executed by all invocations that reach their statement, whatever chooses between values.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from vyre import ir
from vyre.analysis import ProgramFacts
from vyre.ir.walk import expr_children, walk_expr
from vyre.plan.guards import narrowed
from vyre.plan.linear_forms import Evaluator, Form, Span, does_not_wrap
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """One access to an element of a buffer."""

    buffer: str
    is_store: bool
    is_atomic: bool
    form: Form | None
    """Where, in the number of the invocation; None if that is not linear."""
    span: Span
    """The invocations that may come to it."""
    line: int
    """Of its source; 0 if it is not known."""


@dataclass(frozen=True, slots=True)
class Launched:
    """The numbers of a launch that forms are computed with."""

    invocations: int
    lengths: Mapping[str, int]
    contents: Mapping[str, int]
    """Numbers in uniform buffers, if they are known."""


def accesses_of_launch(program: ir.Program, launched: Launched, span: Span) -> list[Access]:
    """The accesses of a program's invocations in a range."""
    walk = _Walk(program, launched)
    walk.body(program.entry, {}, span)
    return walk.found


class _Walk:
    def __init__(self, program: ir.Program, launched: Launched) -> None:
        self.found: list[Access] = []
        self._evaluator = Evaluator(launched.lengths, launched.contents)
        self._assigned = ProgramFacts.of(program).assigns_by_name
        self._line = 0

    def body(self, body: ir.Body, outer: Mapping[str, Form | None], span: Span) -> None:
        env = dict(outer)
        for statement in body:
            if span.is_empty:
                return
            self._line = statement.span.line if statement.span is not None else self._line
            self._note(statement, env, span)
            match statement:
                case ir.Let(name, value):
                    known = name not in self._assigned
                    env[name] = self._evaluator.form(value, env, span) if known else None
                case ir.If(condition, then, otherwise):
                    yes = narrowed(self._evaluator, condition, env, span, holds=True)
                    no = narrowed(self._evaluator, condition, env, span, holds=False)
                    self.body(then, env, yes)
                    self.body(otherwise, env, no)
                case ir.Loop(name, start, stop, inner):
                    first = self._evaluator.form(start, env, span)
                    end = self._evaluator.form(stop, env, span)
                    variable = iterated(first, end, span) if name not in self._assigned else None
                    self.body(inner, {**env, name: variable}, span)
                case _:
                    for inner in (getattr(statement, field) for field in statement.body_fields):
                        self.body(inner, env, span)

    def _note(self, statement: ir.AnyStmt, env: Mapping[str, Form | None], span: Span) -> None:
        if isinstance(statement, ir.Store):
            self._add(statement.buffer, statement.index, env, span, is_store=True)
        for node in chain.from_iterable(walk_expr(e) for e in expr_children(statement)):
            if isinstance(node, ir.Load):
                self._add(node.buffer, node.index, env, span)
            elif isinstance(node, ir.Atomic):
                self._add(node.buffer, node.index, env, span, is_store=True, is_atomic=True)

    def _add(
        self,
        buffer: str,
        index: ir.AnyExpr,
        env: Mapping[str, Form | None],
        span: Span,
        *,
        is_store: bool = False,
        is_atomic: bool = False,
    ) -> None:
        form = self._evaluator.form(index, env, span)
        self.found.append(Access(buffer, is_store, is_atomic, form, span, self._line))


def iterated(first: Form | None, end: Form | None, span: Span) -> Form | None:
    """The form of a loop's variable."""
    if first is None or end is None or first.a != end.a:
        return None
    if not (does_not_wrap(first, span) and does_not_wrap(end, span)):
        return None
    fixed, plain = first.is_fixed and end.is_fixed, first.is_plain and end.is_plain
    return Form(first.a, first.low, max(end.high - 1, first.low), fixed, plain)
