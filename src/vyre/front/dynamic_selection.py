"""Refuses dynamic selection among compile-time values: arrays, functions, tables, strings.

These have no run-time representation; their elements and results do. The fix that is suggested
moves the selection to the use:
`inc(v) if c else dec(v)`.
"""

from __future__ import annotations

import ast

from vyre.diagnostics.codes import front as codes
from vyre.front.context import Context
from vyre.front.device_functions import DeviceFunction
from vyre.front.values import Array, Constant, Several, Thing, Value, describe


def form_of(value: Value) -> str:
    """How something that is no value of the run is used, with a place for what it is called."""
    match value:
        case Thing(target) if isinstance(target, DeviceFunction):
            return "{}(v)"
        case Array() | Several():
            return "{}[k]"
        case Constant():
            return "ord({})"
        case _:
            return "{}"


def is_of_the_run(value: Value) -> bool:
    """Whether a condition can choose a value: all but arrays and functions."""
    is_function = isinstance(value, Thing) and isinstance(value.target, DeviceFunction)
    return not is_function and not isinstance(value, Array)


def refuse_choice(ctx: Context, node: ast.IfExp, left: Value, right: Value) -> None:
    """Refuse `inc if c else dec`, with the same choice between what they give."""
    found = _other_things(left, right)
    if found is None:
        return
    test = ast.unparse(node.test)
    if found == (left, right):
        first, other = _used(ctx, node, node.body, left), _used(ctx, node, node.orelse, right)
    else:
        first, other = (form_of(one).format(_name_of(one)) for one in found)
    side, value = (node.body, found[0]) if not is_of_the_run(found[0]) else (node.orelse, found[1])
    fix = f"choose where it is used: {first} if {test} else {other}"
    raise ctx.error(side, codes.NOT_A_NUMBER, what=describe(value), fix=fix)


def _other_things(left: Value, right: Value) -> tuple[Value, Value] | None:
    """Two values of which one is not of the run; those in tuples that stay the same may be."""
    if isinstance(left, Several) and isinstance(right, Several):
        pairs = [pair for pair in zip(left.items, right.items, strict=False) if pair[0] != pair[1]]
        return next(filter(None, (_other_things(*pair) for pair in pairs)), None)
    return None if is_of_the_run(left) and is_of_the_run(right) else (left, right)


def _name_of(value: Value) -> str:
    match value:
        case Array(name):
            return name
        case Thing(target):
            return str(getattr(target, "__name__", target))
        case _:
            return "..."


def _used(ctx: Context, node: ast.IfExp, side: ast.expr, value: Value) -> str:
    """One side, used as the whole is."""
    for user in ast.walk(ctx.frame.source.tree):
        if isinstance(user, ast.Call) and user.func is node:
            return ast.unparse(ast.Call(side, user.args, user.keywords))
        if isinstance(user, ast.Subscript) and user.value is node:
            return ast.unparse(ast.Subscript(side, user.slice, user.ctx))
    return form_of(value).format(ast.unparse(side))


def refuse_result(ctx: Context, node: ast.Return, value: Value) -> None:
    """Refuse a function that returns one of several arrays or functions."""
    if node.value is None or is_of_the_run(value):
        return
    text, form = ast.unparse(node.value), form_of(value)
    returns = (one.value for one in ast.walk(ctx.frame.source.tree) if isinstance(one, ast.Return))
    others = [ast.unparse(one) for one in returns if one is not None]
    other = next((one for one in others if one != text), text)
    choose = f"{form.format(text)} if which else {form.format(other)}"
    fix = f"return a bool that says which is meant, and choose where it is used: {choose}"
    raise ctx.error(node.value, codes.NOT_A_NUMBER, what=describe(value), fix=fix)


def instead_of_members(before: Value, after: Value) -> str:
    """What to write instead of another array or function in the place of one in a tuple."""
    if is_of_the_run(before) or is_of_the_run(after):
        return "keep in a bool which is meant, and choose the member where it is used"
    first, other = (form_of(one).format(_name_of(one)) for one in (before, after))
    return (
        f"keep in a bool which is meant, and choose where it is used: {other} if which else {first}"
    )
