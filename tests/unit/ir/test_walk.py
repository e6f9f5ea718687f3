"""Walking and rebuilding: everything is visited in order; unchanged means the same object."""

from __future__ import annotations

import pytest

from tests.unit.ir.samples import all_statements, everything
from vyre.conform import generate
from vyre.diagnostics import Span
from vyre.ir import AnyExpr, Expr, If, Lit, Node, Program, Var
from vyre.ir.walk import (
    bodies,
    expr_children,
    fixed_values,
    map_body,
    map_exprs,
    reads_any,
    rewrite_exprs,
    walk_all_exprs,
    walk_expr,
    walk_stmts,
)

PROGRAMS = [everything(), generate(1).program, generate(2, "grid_sync").program]


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewriting_nothing_gives_the_same_objects(program: Program) -> None:
    entry = program.entry
    assert rewrite_exprs(entry, lambda expr: expr) is entry
    assert map_body(entry, lambda statement: statement) is entry
    assert program.with_rewritten_entry(entry) is program
    assert program.with_rewritten_entry(list(entry)) is program


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewriting_reaches_every_node(program: Program) -> None:
    def renamed(expr: AnyExpr) -> AnyExpr:
        return Var(f"{expr.name}.") if isinstance(expr, Var) and len(expr.name) < 255 else expr

    changed = rewrite_exprs(program.entry, renamed)
    names = [e.name for e in walk_all_exprs(program.entry) if isinstance(e, Var)]
    after = [e.name for e in walk_all_exprs(changed) if isinstance(e, Var)]
    assert after == [f"{name}." if len(name) < 255 else name for name in names]
    back = rewrite_exprs(
        changed, lambda e: Var(e.name[:-1]) if isinstance(e, Var) and len(e.name) < 255 else e
    )
    assert back == program.entry or any(len(name) >= 254 for name in names)


def test_statements_are_visited_in_the_order_of_the_text() -> None:
    program = Program.parse(
        "program workgroup(1, 1, 1)\nlet a = 1u32 if true { let b = 2u32 } else { let c = 3u32 }"
        " { let d = 4u32 } let e = 5u32"
    )
    names = [getattr(s, "name", type(s).__name__) for s in walk_stmts(program.entry)]
    assert names == ["a", "If", "b", "c", "Block", "d", "e"]
    values = [e.value for e in walk_all_exprs(program.entry) if isinstance(e, Lit)]
    assert values == [1, True, 2, 3, 4, 5]


def test_expressions_are_visited_parents_first_left_to_right() -> None:
    a, b, c = Expr.var("a"), Expr.var("b"), Expr.var("c")
    whole = Expr.select(a, b + c, Expr.load("x", c))
    assert list(walk_expr(whole)) == [whole, a, b + c, b, c, Expr.load("x", c), c]
    atomic = Expr.atomic_compare_exchange("x", a, b, c)
    assert expr_children(atomic) == (a, c, b), "index, value, expected"


def test_bodies_and_children_of_every_statement() -> None:
    for statement in all_statements():
        direct = list(walk_stmts((statement,)))[1:]  # pyright: ignore[reportArgumentType]
        inside = [s for body in bodies(statement) for s in walk_stmts(body)]  # pyright: ignore[reportArgumentType]
        assert direct == inside


def test_a_rebuilt_statement_keeps_its_span() -> None:
    span = Span("f", 7)
    statement = Node.if_(Expr.var("a"), []).at(span)
    changed = map_exprs(statement, lambda _: Expr.var("b"))
    assert changed == If(Expr.var("b"), (), ())
    assert changed.span is span


def test_names_and_values_of_statements() -> None:
    body = (
        Node.let("a", Expr.u32(1)),
        Node.let("b", Expr.var("a")),
        Node.if_(Expr.var("c") < Expr.u32(2), [Node.assign("b", Expr.u32(3))]),
    )
    assert fixed_values(body) == {"a": Expr.u32(1)}
    assert reads_any(Expr.var("a") + Expr.u32(1), {"a"})
    assert not reads_any(Expr.var("a") + Expr.u32(1), {"b"})
