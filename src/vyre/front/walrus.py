"""Hoists assignment expressions: `if (n := f(x)) > 0` becomes `n = f(x)`, then `if n > 0`.

Only the first operand that a condition evaluates is hoisted, which preserves the evaluation order.
In the condition of a `while` it is evaluated in each iteration.
"""

from __future__ import annotations

import ast
from typing import Any


def unfold_conditions(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function, with assignments that begin a condition on lines of their own."""
    return _Unfold().visit(tree)


class _Unfold(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> Any:
        """The assignment, then the `if`."""
        self.generic_visit(node)
        test, assignment = _moved(node.test)
        if assignment is None:
            return node
        node.test = test
        return [assignment, node]

    def visit_While(self, node: ast.While) -> Any:
        """A loop that begins with the assignment and then asks whether to go on."""
        self.generic_visit(node)
        test, assignment = _moved(node.test)
        if assignment is None:
            return node
        go_on = ast.copy_location(ast.Pass(), test)
        leave = ast.copy_location(ast.Break(), test)
        ask = ast.copy_location(ast.If(test, [go_on], [leave]), test)
        node.test = ast.copy_location(ast.Constant(True), test)
        node.body = [assignment, ask, *node.body]
        return node


def _moved(test: ast.expr) -> tuple[ast.expr, ast.Assign | None]:
    """A condition without the assignment that it begins with, and that assignment."""
    match test:
        case ast.NamedExpr(target, value):
            assignment = ast.copy_location(ast.Assign([target], value), test)
            return ast.copy_location(ast.Name(target.id, ast.Load()), target), assignment
        case ast.Compare(left) | ast.BinOp(left):
            test.left, assignment = _moved(left)
            return test, assignment
        case ast.UnaryOp(_, operand):
            test.operand, assignment = _moved(operand)
            return test, assignment
        case ast.BoolOp(_, values):
            values[0], assignment = _moved(values[0])
            return test, assignment
        case ast.Call(ast.Name() | ast.Attribute(ast.Name()), [first, *_]):
            test.args[0], assignment = _moved(first)
            return test, assignment
        case _:
            return test, None
