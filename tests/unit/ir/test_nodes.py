"""What every node is: frozen, equal by structure, hashed once, picklable, matchable, bounded."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from tests.unit.ir.samples import all_expressions, all_statements, edge_literals, everything
from vyre.diagnostics import BuildError, Span
from vyre.ir import Binary, BinOp, Expr, Lit, Load, Node, Store, UnOp, Var
from vyre.ir.node import MAX_EXPR_DEPTH, MAX_STMT_DEPTH, Tree

EVERY_NODE = [*all_expressions(), *edge_literals(), *all_statements()]


@pytest.mark.parametrize("tree", EVERY_NODE, ids=lambda tree: type(tree).__name__)
def test_a_copy_is_equal_and_hashes_alike(tree: Tree) -> None:
    again = type(tree)(*(getattr(tree, name) for name in tree.compared_fields))
    assert again is not tree
    assert again == tree
    assert hash(again) == hash(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree  # noqa: S301
    assert copy.deepcopy(tree) is tree


@pytest.mark.parametrize("tree", EVERY_NODE, ids=lambda tree: type(tree).__name__)
def test_a_node_cannot_be_changed(tree: Tree) -> None:
    for name in (*type(tree).compared_fields, "something"):
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            setattr(tree, name, 1)


def test_nodes_match_by_position() -> None:
    match Node.store("out", Expr.var("i"), Expr.load("a", 3) + Expr.u32(1)):
        case Store("out", Var("i"), Binary(BinOp.ADD, Load("a", Lit(_, 3)), Lit() as one)):
            assert one.value == 1
        case other:
            pytest.fail(f"{other} does not match")


def test_a_span_is_no_part_of_equality() -> None:
    plain = Node.return_()
    marked = plain.at(Span("f", 3))
    assert marked == plain
    assert hash(marked) == hash(plain)
    assert (plain.span, marked.span) == (None, Span("f", 3))
    assert plain.at(None) is plain


def test_expressions_have_no_truth_value() -> None:
    with pytest.raises(BuildError) as caught:
        bool(Expr.var("i") < Expr.u32(3))
    assert caught.value.code == "I006"


def test_trees_that_are_too_deep_cannot_be_built() -> None:
    expr: Expr = Expr.u32(1)
    for _ in range(MAX_EXPR_DEPTH - 1):
        expr = ~expr
    assert expr.depth == MAX_EXPR_DEPTH
    with pytest.raises(BuildError) as caught:
        Expr.unary(UnOp.NOT, expr)
    assert caught.value.code == "I009"
    body: Node = Node.return_()
    for _ in range(MAX_STMT_DEPTH - 1):
        body = Node.block([body])
    assert body.depth == MAX_STMT_DEPTH
    with pytest.raises(BuildError) as caught:
        Node.block([body])
    assert caught.value.code == "I009"


def test_operators_build_what_they_look_like() -> None:
    a, b = Expr.var("a"), Expr.var("b")
    built = {
        BinOp.ADD: a + b,
        BinOp.SUB: a - b,
        BinOp.MUL: a * b,
        BinOp.DIV: a / b,
        BinOp.REM: a % b,
        BinOp.AND: a & b,
        BinOp.OR: a | b,
        BinOp.XOR: a ^ b,
        BinOp.SHL: a << b,
        BinOp.SHR: a >> b,
        BinOp.LT: a < b,
        BinOp.LE: a <= b,
        BinOp.GT: a > b,
        BinOp.GE: a >= b,
        BinOp.EQ: a.eq(b),
        BinOp.NE: a.ne(b),
        BinOp.MIN: Expr.min_(a, b),
        BinOp.MAX: Expr.max_(a, b),
    }
    for op, expr in built.items():
        assert expr == Binary(op, a, b)


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda: Expr.var("i") + 1, "I003"),  # pyright: ignore[reportOperatorIssue]
        (lambda: Expr.select(True, Expr.u32(1), Expr.u32(2)), "I003"),  # pyright: ignore[reportArgumentType]
        (lambda: Node.block([Expr.u32(1)]), "I004"),  # pyright: ignore[reportArgumentType]
        (lambda: Node.block(Node.return_()), "I004"),  # pyright: ignore[reportArgumentType]
        (lambda: Node.block(7), "I004"),  # pyright: ignore[reportArgumentType]
        (lambda: Expr.var("1x"), "I005"),
        (lambda: Expr.var("é"), "I005"),
        (lambda: Expr.var("x" * 256), "I005"),
        (lambda: Expr.var(""), "I005"),
        (lambda: Expr.gid(3), "I008"),
        (lambda: Node.trap("line\nbreak"), "I008"),
        (lambda: Node.trap("x" * 4097), "I008"),
        (lambda: Node.indirect_dispatch("a", -1), "I008"),
    ],
)
def test_wrong_values_are_refused_with_a_code_and_a_fix(build, code: str) -> None:
    with pytest.raises(BuildError) as caught:
        build()
    assert caught.value.code == code
    assert caught.value.fix


def test_pickles_are_read_in_another_process() -> None:
    # Hashes of strings differ between processes, so a pickled hash would be wrong there.
    program = everything()
    script = (
        "import pickle, sys; from tests.unit.ir.samples import everything\n"
        "program = pickle.loads(sys.stdin.buffer.read())\n"
        "assert program == everything() and hash(program) == hash(everything())"
    )
    subprocess.run([sys.executable, "-c", script], input=pickle.dumps(program), check=True)
