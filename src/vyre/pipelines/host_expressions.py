"""Expressions of a pipeline that the host computes: lengths, scalar arguments, arithmetic."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from vyre.diagnostics import Location, PlanError
from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import pipeline as codes
from vyre.front.source import MISSING, Source
from vyre.pipelines import language, tree
from vyre.pipelines.stages import is_stage, resolve
from vyre.record import dataclass

_BINARY: dict[type[ast.operator], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"},
    **{ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"},
    **{ast.Pow: "**", ast.Div: "/"},
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.Not: "not", ast.Invert: "~"}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
}
_MAKERS = frozenset({"zeros", "empty", "ones", "full", "array", "arange", "zeros_like"})
_FUNCTIONS = frozenset({"min", "max", "abs", "int", "bool"})
_COMPUTE = "write a kernel that computes it for each element, and call that"
_READ = "return the array and read it after the call; or decide on the device: if vy.when(flag)"
_WHERE = "pass the whole array, and as numbers where the part begins and how long it is"
_INSTEAD_OF_METHODS = {
    "copy": "copy it with vy.copy, to scratch that is made with vy.scratch_like",
    "reshape": "let the kernel take the shape that the array has, and compute the index there",
}


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of a pipeline stand for."""

    source: Source
    arrays: AbstractSet[str]
    numbers: AbstractSet[str]

    def error(self, node: ast.AST, code: Code, **values: object) -> PlanError:
        """A problem with a node, as an error to raise."""
        return PlanError(code.at(Location(span=self.source.span(node)), (), **values))

    def refuse(self, node: ast.AST, what: str, instead: str) -> PlanError:
        """The error for Python that pipelines do not have."""
        return self.error(node, codes.STATEMENT, what=what, instead=instead)

    def array(self, node: ast.AST) -> tree.ArrayName | None:
        """The array that a node names, if it does."""
        if isinstance(node, ast.Name) and node.id in self.arrays:
            return tree.ArrayName(node.id, self.source.span(node))
        return None

    def captured(self, node: ast.AST) -> tree.Captured | None:
        """The name from outside of the function that a node is, if it is one."""
        path: list[str] = []
        inner = node
        while isinstance(inner, ast.Attribute):
            path.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name) or inner.id in self.arrays or inner.id in self.numbers:
            return None
        return tree.Captured((inner.id, *reversed(path)), self.source.span(node))


def host_expr(names: Names, node: ast.expr) -> tree.HostExpr:  # noqa: C901
    """The tree of an expression; an error for what the host does not have."""
    span = names.source.span(node)

    def inner(child: ast.expr) -> tree.HostExpr:
        return host_expr(names, child)

    match node:
        case ast.Constant(value) if isinstance(value, (int, float)):
            return tree.Number(value)
        case ast.Name(name) if name in names.numbers:
            return tree.Local(name, span)
        case ast.Name(name) if name in names.arrays:
            raise names.error(node, codes.ON_THE_DEVICE, what=f"the array {name!r}", instead=_READ)
        case ast.BinOp(left, _, right) if names.array(left) or names.array(right):
            what = ast.unparse(node)
            raise names.error(node, codes.ON_THE_DEVICE, what=what, instead=_COMPUTE)
        case ast.BinOp(left, operator, right) if type(operator) in _BINARY:
            return tree.Operation(_BINARY[type(operator)], (inner(left), inner(right)), span)
        case ast.UnaryOp(ast.UAdd(), operand):
            return inner(operand)
        case ast.UnaryOp(operator, operand):
            return tree.Operation(_UNARY[type(operator)], (inner(operand),), span)
        case ast.Compare():
            return _comparison(names, node, inner)
        case ast.BoolOp(operator, values):
            return _short_circuit(isinstance(operator, ast.And), [inner(each) for each in values])
        case ast.IfExp(condition, ast.Name(name)) if name in names.arrays:
            what, test = f"{ast.unparse(node)} as a value", ast.unparse(condition)
            raise names.refuse(
                node, what, f"write an if statement on {test}, and assign in its branches"
            )
        case ast.IfExp(condition, then, otherwise):
            return tree.Conditional(inner(condition), inner(then), inner(otherwise))
        case ast.Call():
            return _call(names, node, inner)
        case ast.Attribute(attr="size", value=ast.Name(name)) if name in names.arrays:
            return tree.Extent(name, None, span)
        case ast.Subscript():
            return _subscript(names, node)
        case ast.Attribute(attr="shape", value=ast.Name(name)) if name in names.arrays:
            instead = f"write one axis, {name}.shape[0], or vy.scratch_like({name})"
            raise names.refuse(node, f"{name}.shape as a number", instead)
        case _:
            found = names.captured(node)
            if found is not None:
                return found
            what = f"{ast.unparse(node)} as a value of the host"
            raise names.refuse(node, what, "compute it before the call, and pass it as a number")


def _comparison(
    names: Names, node: ast.Compare, inner: Callable[[ast.expr], tree.HostExpr]
) -> tree.HostExpr:
    parts: list[tree.HostExpr] = []
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        symbol = _COMPARISONS.get(type(operator))
        if symbol is None:
            raise names.refuse(node, "this comparison", "compare numbers: <, <=, >, >=, ==, !=")
        span = names.source.span(node)
        parts.append(tree.Operation(symbol, (inner(left), inner(right)), span))
        left = right
    return _short_circuit(True, parts)


def _short_circuit(is_and: bool, values: list[tree.HostExpr]) -> tree.HostExpr:
    found = values[-1]
    for value in reversed(values[:-1]):
        found = (
            tree.Conditional(value, found, value)
            if is_and
            else tree.Conditional(value, value, found)
        )
    return found


def _call(
    names: Names, node: ast.Call, inner: Callable[[ast.expr], tree.HostExpr]
) -> tree.HostExpr:
    span = names.source.span(node)
    match node:
        case ast.Call(ast.Name("len"), [ast.Name(name)], []) if name in names.arrays:
            return tree.Extent(name, 0, span)
        case ast.Call(ast.Name(function), args, []) if args and _is_builtin(names, function):
            return tree.Operation(function, tuple(inner(each) for each in args), span)
        case ast.Call(ast.Attribute(ast.Name(name), method)) if name in names.arrays:
            what = f"{name}.{method}()"
            instead = _INSTEAD_OF_METHODS.get(method, _READ)
            raise names.error(node, codes.ON_THE_DEVICE, what=what, instead=instead)
        case _:
            what = f"a call of {ast.unparse(node.func)} as a number"
            raise names.refuse(node, what, _instead_of_call(names, node))


def _instead_of_call(names: Names, node: ast.Call) -> str:
    """What to write in place of a call that is no number of the host."""
    callee = names.captured(node.func)
    found = MISSING if callee is None else resolve(names.source, callee)
    if found in (language.scratch, language.scratch_like, language.flag):
        return "make it on a line of its own"
    if found in (language.when, language.again):
        return "let it be the whole condition of an if or a while"
    if is_stage(found):
        return "call it on a line of its own, and pass it the array that it writes"
    if callee is not None and callee.path[-1] in _MAKERS:
        return "make scratch with vy.scratch"
    if getattr(found, "__module__", "").startswith("vyre"):
        return "use it in a kernel, and call that"
    return "compute it before the call of the pipeline, and pass it as a number"


def _is_builtin(names: Names, function: str) -> bool:
    own = names.source.lookup(function)
    return function in _FUNCTIONS and (own is MISSING or own is getattr(builtins, function))


def _subscript(names: Names, node: ast.Subscript) -> tree.HostExpr:
    match node:
        case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(int(axis))) if (
            name in names.arrays
        ):
            return tree.Extent(name, axis, names.source.span(node))
        case ast.Subscript(ast.Name(name), index) if name in names.arrays:
            what = f"{ast.unparse(node)}"
            instead = _WHERE if isinstance(index, ast.Slice) else _READ
            raise names.error(node, codes.ON_THE_DEVICE, what=what, instead=instead)
        case _:
            found = f"the subscript {ast.unparse(node)}"
            raise names.refuse(node, found, "pass the number as a parameter of the pipeline")


def extents(names: Names, node: ast.expr) -> tuple[tree.HostExpr, ...]:
    """One number, or one for each axis."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(host_expr(names, each) for each in parts)
