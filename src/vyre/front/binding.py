"""Binding names: to numbers, to tuples, and second names for arrays, functions, tables and texts.

A name has one kind of value. A second name is no variable of the program, so where a condition or a
loop would decide what it stands for, it is refused.
"""

from __future__ import annotations

import ast

from vyre.diagnostics.codes import front as codes
from vyre.front.arrays import extents
from vyre.front.assignment import declare, fitted, key_of
from vyre.front.context import Context, LoopVariableLeft, Variable
from vyre.front.device_functions import DeviceFunction
from vyre.front.dynamic_selection import form_of
from vyre.front.tuples import bind_again, bind_new, bind_open, is_number, other_kind, shape_of
from vyre.front.values import Array, Several, Thing, Value
from vyre.ir import Assign, Let


def assign_name(ctx: Context, node: ast.Name, value: Value, value_node: ast.AST) -> None:
    """`name = value`."""
    value = extents(value)
    known = _variable(ctx, node.id)
    if is_number(value):
        _assign_number(ctx, node, known, value, value_node)
    elif isinstance(value, Several) and _is_tuple(known, value):
        _assign_tuple(ctx, node, known, value, value_node)
    else:
        _name_again(ctx, node, known, value, value_node)
    ctx.frame.assigned.add(node.id)


def _variable(ctx: Context, name: str) -> Variable | None:
    """The variable that a name is, also where a loop has used its name since."""
    known = ctx.frame.names.get(name)
    if isinstance(known, LoopVariableLeft) and known.before is not None:
        ctx.frame.names[name] = known = known.before
    return known if isinstance(known, Variable) else None


def _is_tuple(known: Variable | None, value: Several) -> bool:
    """Whether a tuple is held by its members; a table is only where it replaces such a tuple."""
    return not value.is_table or (known is not None and known.members is not None)


def _assign_number(
    ctx: Context, node: ast.Name, known: Variable | None, value: Value, value_node: ast.AST
) -> None:
    if known is None:
        variable = declare(ctx, node.id, node)
        scalar = fitted(ctx, value_node, node.id, variable, value)
        ctx.emit(Let(variable.name, scalar.expr))
        if node.id not in ctx.frame.reassigned:
            ctx.facts.define(variable.name, scalar.expr)
        return
    if known.members is not None or known.stands_for is not None:
        raise other_kind(ctx, value_node, node.id, known, value)
    scalar = fitted(ctx, value_node, node.id, known, value)
    ctx.emit(Assign(known.name, scalar.expr))


def _assign_tuple(
    ctx: Context, node: ast.Name, known: Variable | None, value: Several, value_node: ast.AST
) -> None:
    if known is not None and not known.is_open and shape_of(known) != shape_of(value):
        raise other_kind(ctx, value_node, node.id, known, value)
    if known is None or known.home is ctx.body:
        # Whatever comes later in this block sees this tuple and no other one.
        bind_new(ctx, value_node, node.id, _undeclared(ctx, node), value)
    elif known.is_open:
        bind_open(ctx, value_node, node.id, known, value)
    elif known.members is not None:
        bind_again(ctx, value_node, node.id, known, value)
    else:
        raise _depends_on_the_run(ctx, value_node, node.id, known, value)


def _name_again(
    ctx: Context, node: ast.Name, known: Variable | None, value: Value, value_node: ast.AST
) -> None:
    if known is not None and not known.is_open and _kind(known.stands_for) != _kind(value):
        raise other_kind(ctx, value_node, node.id, known, value)
    if known is not None and known.home is not ctx.body:
        raise _depends_on_the_run(ctx, value_node, node.id, known, value)
    made = _undeclared(ctx, node)
    made.stands_for, made.text = value, ast.unparse(value_node)


def _undeclared(ctx: Context, node: ast.Name) -> Variable:
    """What a name is from here on, without a variable of the program."""
    made = Variable(node.id, None, key_of(ctx, node.id, node), home=ctx.body)
    ctx.frame.names[node.id] = made
    return made


def _kind(value: Value | None) -> str:
    """What must be the same whenever a second name is bound."""
    return shape_of(value) if isinstance(value, Several) else type(value).__name__


def _depends_on_the_run(
    ctx: Context, value_node: ast.AST, name: str, known: Variable, value: Value
) -> Exception:
    """The error for a second name under a condition or in a loop."""
    second = ast.unparse(value_node)
    first = known.text or second
    other = second if known.text else _bound_elsewhere(ctx, name, second)
    what, form = first, form_of(known.stands_for or value)
    match known.stands_for or value:
        case Thing(target) if isinstance(target, DeviceFunction):
            what = f"the function {first}"
        case Array():
            what = f"the array {first}"
        case Several():
            what = f"the table {first}"
        case _:
            pass
    choose = f"{form.format(other)} if which else {form.format(first)}"
    fix = f"keep in a bool which is meant, and choose where it is used: {choose}"
    return ctx.error(value_node, codes.SECOND_NAME, name=name, what=what, fix=fix)


def _bound_elsewhere(ctx: Context, name: str, text: str) -> str:
    """What else a name is bound to in the function, as it is written there."""
    for node in ast.walk(ctx.frame.source.tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.value) != text:
            targets = (one for one in node.targets if isinstance(one, ast.Name))
            if any(target.id == name for target in targets):
                return ast.unparse(node.value)
    return "..."
