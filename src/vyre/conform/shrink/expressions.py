"""Smaller programs by expressions: a literal or an operand in place of an expression.

Indices into memory that is written stay as they are, and so does what they are made of: another
index could make two invocations meet at one element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from vyre import ir
from vyre.conform.generate import GeneratedCase
from vyre.ir.walk import (
    expr_children,
    map_bodies,
    map_exprs,
    rebuilt,
    variables_of,
    walk_own_exprs,
    walk_stmts,
)
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class _Site:
    """An expression that may be replaced, and its type."""

    expr: ir.AnyExpr
    dtype: ir.DataType


def expression_steps(case: GeneratedCase, position: int) -> Iterator[GeneratedCase] | None:
    """Smaller cases that differ at the expression with this number."""
    found = _Sites(case.program)
    found.run(lambda site: None)
    if position >= len(found.seen):
        return None
    return _steps(case, position, found.seen[position])


def _steps(case: GeneratedCase, position: int, site: _Site) -> Iterator[GeneratedCase]:
    for smaller in _simpler(site):
        sites = _Sites(case.program)
        number = iter(range(position + 1))
        entry = sites.run(lambda _, n=number, s=smaller: s if next(n, None) == position else None)
        yield replace(case, program=case.program.with_rewritten_entry(entry))


def _simpler(site: _Site) -> Iterator[ir.AnyExpr]:
    """What can stand in place of an expression: nothing that is as large."""
    expr, dtype = site.expr, site.dtype
    if dtype.is_scalar:
        for value in (0, 1):
            literal = ir.Expr.lit(bool(value) if dtype.is_bool else value, dtype)
            if literal == expr:
                return
            yield literal
    yield from expr_children(expr)


class _Sites:
    """One walk over the expressions that may be replaced, in the order of the text."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._scope = ir.Scope.of(program)
        self._fixed = _index_variables(program)
        self.seen: list[_Site] = []

    def run(self, change: Callable[[_Site], ir.AnyExpr | None]) -> ir.Body:
        """The statements with every site replaced by what `change` gives, None for no change."""
        self._change = change
        return self._body(self._program.entry)

    def _body(self, body: ir.Body) -> ir.Body:
        with self._scope.inner():
            result = tuple(self._statement(statement) for statement in body)
        return body if all(a is b for a, b in zip(result, body, strict=True)) else result

    def _statement(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        match statement:
            case ir.Let(name, value) | ir.Assign(name, value):
                changed = statement
                if name not in self._fixed:
                    changed = map_exprs(statement, self._expr)
                if isinstance(statement, ir.Let):
                    self._scope.bind(name, ir.type_of(value, self._scope.env))
                return changed
            case ir.Store(_, _, value):
                new = self._expr(value)
                return statement if new is value else rebuilt(statement, {"value": new})
            case ir.Loop(var, start):
                with self._scope.inner():
                    self._scope.bind(var, ir.type_of(start, self._scope.env), mutable=False)
                    return map_bodies(statement, self._body)
            case ir.If(cond):
                new = self._expr(cond)
                changed = statement if new is cond else rebuilt(statement, {"cond": new})
                return map_bodies(changed, self._body)
            case ir.Eval() | ir.Print():
                return map_exprs(statement, self._expr)
            case _:
                return map_bodies(statement, self._body)

    def _expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        site = _Site(expr, ir.type_of(expr, self._scope.env))
        self.seen.append(site)
        new = self._change(site)
        if new is not None:
            return new
        match expr:
            case ir.Load(buffer):
                decl = self._program.buffer(buffer)
                if decl is None or (decl.is_writable and not decl.is_local):
                    return expr
                return map_exprs(expr, self._expr)
            case ir.Atomic(_, _, index):
                return map_exprs(expr, lambda child: child if child is index else self._expr(child))
            case ir.Lit() | ir.Var():
                return expr
            case _:
                return map_exprs(expr, self._expr)


def _index_variables(program: ir.Program) -> set[str]:
    """Variables that decide which element is touched, or how often a while goes round."""
    fixed: set[str] = set()
    roots: list[ir.AnyExpr] = []
    for statement in walk_stmts(program.entry):
        if isinstance(statement, ir.Store):
            roots.append(statement.index)
        elif isinstance(statement, ir.While):
            roots.append(statement.cond)
        for expr in walk_own_exprs(statement):
            if isinstance(expr, (ir.Load, ir.Atomic)):
                decl = program.buffer(expr.buffer)
                if decl is not None and decl.is_writable and not decl.is_local:
                    roots.append(expr.index)
    for root in roots:
        fixed |= variables_of(root)
    return fixed
