"""Infers the element type of a list from the syntax of a function.

Lists are refused when a function is decorated, before any types are known. The result is used in a
suggested fix only: annotations of parameters, conversions and literals imply the element type of an
array in place of the list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from vyre.front import scalars
from vyre.front.advice import CONVERSIONS

_DEPTH = 8
"""Through how many variables a value is followed."""


def element_name(tree: ast.FunctionDef, node: ast.expr, elements: Sequence[ast.expr]) -> str:
    """The type of an array in place of a list, in code; `vy.f32` if nothing tells."""
    stored = list(_stored(tree, node))
    for group in (stored, elements):
        found = {kind for one in group if (kind := _kind(tree, one, _DEPTH)) is not None}
        typed = found - {"int", "float"}
        if len(typed) == 1:
            return typed.pop()
        if typed:
            return "vy.f32"
    values = [_kind(tree, one, _DEPTH) for one in (*stored, *elements)]
    return "vy.i32" if values and all(kind == "int" for kind in values) else "vy.f32"


def _stored(tree: ast.FunctionDef, node: ast.expr) -> Iterable[ast.expr]:
    """What is assigned to the elements of the variable that a list is given to."""
    names = {
        target.id
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and one.value is node
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    for one in ast.walk(tree):
        targets = one.targets if isinstance(one, ast.Assign) else []
        if isinstance(one, ast.AugAssign):
            targets = [one.target]
        for target in targets:
            match target:
                case ast.Subscript(ast.Name(name)) if name in names:
                    assert isinstance(one, (ast.Assign, ast.AugAssign))
                    yield one.value
                case _:
                    pass


def _kind(tree: ast.FunctionDef, node: ast.expr, depth: int) -> str | None:
    """A type in code, `int` and `float` of literals, None where nothing tells."""
    if depth == 0:
        return None
    match node:
        case ast.Constant(bool()) | ast.Compare() | ast.UnaryOp(ast.Not()):
            return "vy.bool_"
        case ast.Constant(value):
            return type(value).__name__ if isinstance(value, (int, float)) else None
        case ast.Call(ast.Attribute(attr=name) as func) if name in scalars.__all__:
            return ast.unparse(func)
        case ast.Call(ast.Attribute(owner, name)) if name not in CONVERSIONS:
            is_math = ast.unparse(owner).endswith("math")
            return _common(tree, node.args, depth) if is_math else None
        case ast.Call(ast.Name("min" | "max" | "abs"), arguments):
            return _common(tree, arguments, depth)
        case ast.BinOp(left, _, right):
            return _common(tree, [left, right], depth)
        case ast.UnaryOp(_, operand):
            return _kind(tree, operand, depth)
        case ast.IfExp(_, body, orelse):
            return _common(tree, [body, orelse], depth)
        case ast.Subscript(ast.Name(name)):
            return _annotated(tree, name, is_array=True)
        case ast.Name(name):
            return _annotated(tree, name, is_array=False) or _assigned(tree, name, depth)
        case _:
            return None


def _common(tree: ast.FunctionDef, nodes: Sequence[ast.expr], depth: int) -> str | None:
    """The type of values that are computed with: literals take that of the others."""
    kinds = [_kind(tree, node, depth) for node in nodes]
    typed = {kind for kind in kinds if kind not in ("int", "float")}
    if typed:
        return typed.pop() if len(typed) == 1 else None
    return "float" if "float" in kinds else "int"


def _annotated(tree: ast.FunctionDef, name: str, *, is_array: bool) -> str | None:
    """What the annotation of a parameter says of its number, or of its elements."""
    arguments = tree.args
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if one.arg != name or one.annotation is None:
            continue
        match one.annotation:
            case ast.Subscript(_, ast.Tuple([first, *_])) if is_array:
                return ast.unparse(first)
            case ast.Subscript(_, element) if is_array:
                return ast.unparse(element)
            case ast.Subscript():
                return None
            case other:
                return None if is_array else ast.unparse(other)
    return None


def _assigned(tree: ast.FunctionDef, name: str, depth: int) -> str | None:
    """The type of what a variable is given, if all of it has one."""
    values: list[ast.expr] = []
    for one in ast.walk(tree):
        targets = one.targets if isinstance(one, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            assert isinstance(one, ast.Assign)
            values.append(one.value)
    return _common(tree, values, depth - 1) if values else None
