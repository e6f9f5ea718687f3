"""Python that no kernel can use: refused when the function is decorated, with what to write."""

from __future__ import annotations

import ast

from vyre.diagnostics import Diagnostic, FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front.list_element_types import element_name
from vyre.front.source import Source

_STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("try", "errors do not exist in a kernel: test before you compute"),
    ast.TryStar: ("try", "errors do not exist in a kernel: test before you compute"),
    ast.With: ("with", "write the statements of the block directly"),
    ast.Raise: ("raise", 'write: assert condition, "message"'),
    ast.FunctionDef: ("a nested function", "define it outside, decorated with @vy.func"),
    ast.AsyncFunctionDef: ("a nested function", "define it outside, decorated with @vy.func"),
    ast.ClassDef: ("a class", "keep the fields in separate variables or arrays"),
    ast.Global: ("global", "pass an array and store to it"),
    ast.Nonlocal: ("nonlocal", "pass an array and store to it"),
    ast.Import: ("import", "import outside of the kernel"),
    ast.ImportFrom: ("import", "import outside of the kernel"),
    ast.Delete: ("del", "leave it out: names end with the kernel"),
    ast.Match: ("match", "write if, elif and else"),
}

_EXPRESSIONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("lambda", "define a function outside, decorated with @vy.func"),
    ast.ListComp: ("a comprehension", "write a for loop over range that stores to an array"),
    ast.SetComp: ("a comprehension", "write a for loop over range that stores to an array"),
    ast.DictComp: ("a comprehension", "write a for loop over range that stores to an array"),
    ast.GeneratorExp: ("a generator", "write a for loop over range that adds up what you need"),
    ast.List: ("a list", "take an array of fixed length: t = vy.local(vy.f32, 8)"),
    ast.Dict: ("a dict", "use an array that is indexed by the key"),
    ast.Set: ("a set", "use an array of bits"),
    ast.Yield: ("yield", "store the value to an Out array"),
    ast.YieldFrom: ("yield", "store the value to an Out array"),
    ast.JoinedStr: ("an f-string", 'write a plain string; to see values: vy.print("label", value)'),
    ast.NamedExpr: ("an assignment inside an expression", "assign on a line of its own"),
    ast.Starred: ("a starred expression", "write the values one by one"),
    ast.Slice: ("a slice", "index one element at a time in a loop"),
}


def check_syntax(source: Source) -> None:
    """Raise an error with everything in the function that no kernel can use."""
    found: list[Diagnostic] = []
    for statement in source.tree.body:
        _look(source, statement, found)
    if found:
        raise FrontError(found)


def _look(source: Source, node: ast.AST, found: list[Diagnostic]) -> None:
    kind = type(node)
    if kind in _STATEMENTS:
        what, instead = _STATEMENTS[kind]
        found.append(source.diagnostic(node, codes.STATEMENT, what=what, instead=instead))
        return
    if kind in _EXPRESSIONS:
        what, instead = _EXPRESSIONS[kind]
        if isinstance(node, ast.List) and node.elts:
            instead = _instead_of_list(source, node)
        found.append(source.diagnostic(node, codes.EXPRESSION, what=what, instead=instead))
        return
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.List):
        length = _length(node.left, node)
        name = element_name(source.tree, node, node.left.elts)
        instead = f"take an array, which begins as zeros: t = vy.local({name}, {length})"
        found.append(source.diagnostic(node, codes.EXPRESSION, what="a list", instead=instead))
        return
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        found.append(
            source.diagnostic(
                node.orelse[0],
                codes.STATEMENT,
                what="else after a loop",
                instead="keep in a bool variable whether the loop was left early",
            )
        )
    for child in ast.iter_child_nodes(node):
        # A list that is only gone through is a tuple.
        while isinstance(child, ast.List) and _goes_through(node, child):
            child = ast.copy_location(ast.Tuple(child.elts, child.ctx), child)
        _look(source, child, found)


def _length(part: ast.List, node: ast.BinOp) -> str:
    """How long the list is that a product makes of a shorter one."""
    is_one = isinstance(node.op, ast.Mult) and len(part.elts) == 1
    return ast.unparse(node.right) if is_one else "8"


def _instead_of_list(source: Source, node: ast.List) -> str:
    values = ast.unparse(ast.Tuple(node.elts, node.ctx))
    array = f"t = vy.local({element_name(source.tree, node, node.elts)}, {len(node.elts)})"
    return f"write a tuple: {values}; to change its elements take an array: {array}"


def _goes_through(node: ast.AST, child: ast.List) -> bool:
    match node:
        case ast.For():
            return child is node.iter
        case ast.Compare():
            return child in node.comparators
        case ast.Call(func=ast.Name(name)):
            return name in ("enumerate", "zip", "reversed", "len")
        case _:
            return False
