"""Tuples that have a name: what they hold is what their members were where the name was bound.

A member that never changes is kept as it is, every other one is put into a variable there. So the
constants of a tuple that is bound once stay constants. Where a name is bound to a second tuple
inside of an `if` or a loop, which of the two it is depends on the run: all numbers in it are then
variables, literals as in `n = 0`. This is learned like a type: the translation begins again.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator, Sequence

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front.assignment import fitted
from vyre.front.context import Context, Restart, Variable
from vyre.front.dynamic_selection import instead_of_members
from vyre.front.type_unification import zero
from vyre.front.values import Constant, Scalar, Several, Value, describe
from vyre.ir.walk import walk_expr

Member = Variable | Value


def is_number(value: Value) -> bool:
    """Whether a variable of the program can hold a value."""
    if isinstance(value, Constant):
        return not isinstance(value.value, str)
    return isinstance(value, Scalar)


def shape_of(value: Value | Variable) -> str:
    """What kind of thing a value is, for a message: tuples of one shape have the same."""
    if isinstance(value, Variable):
        if value.members is None:
            return shape_of(value.stands_for) if value.stands_for is not None else "a number"
        value = value_of(value)
    if isinstance(value, Several):
        if value.of_bytes:
            return f"bytes of length {len(value.items)}"
        inner = [
            f"{shape_of(item)} at {position}"
            for position, item in enumerate(value.items)
            if isinstance(item, Several)
        ]
        of = f" that holds {', '.join(inner)}" if inner else ""
        return f"a tuple of {len(value.items)}{of}"
    return "a number" if is_number(value) else describe(value)


def value_of(variable: Variable) -> Value:
    """What a variable holds, as an expression has it."""
    if variable.members is not None:
        return Several(tuple(map(_shown, variable.members)), of_bytes=variable.of_bytes)
    if variable.stands_for is not None:
        return variable.stands_for
    assert variable.dtype is not None
    if variable.form is not None:
        # Whatever it meets, the value stays an index: only the variable can get a type.
        return Scalar(ir.Var(variable.name), variable.dtype, form=variable.form)
    return Scalar(ir.Var(variable.name), variable.dtype, variable.soft)


def _shown(member: Member) -> Value:
    return value_of(member) if isinstance(member, Variable) else member


def flat(value: Value) -> list[Value]:
    """The members of a tuple, and those of tuples in it; any other value alone."""
    if not isinstance(value, Several):
        return [value]
    return [leaf for item in value.items for leaf in flat(item)]


def rebuilt(value: Value, members: Iterator[Value]) -> Value:
    """A tuple of the same shape with other members."""
    if not isinstance(value, Several):
        return next(members)
    items = tuple(rebuilt(item, members) for item in value.items)
    return Several(items, of_bytes=value.of_bytes)


def leaves(variable: Variable) -> Iterator[Variable]:
    """The variables of the program that hold a variable of Python."""
    if variable.members is None:
        if variable.dtype is not None:
            yield variable
        return
    for member in variable.members:
        if isinstance(member, Variable):
            yield from leaves(member)


def bind_new(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Several) -> None:
    """A tuple for a name that is declared here."""
    variable.of_bytes = value.of_bytes
    if variable.key in ctx.rebound:
        variable.members = _open_members(ctx, variable, value, keeps=False)
        for leaf, item, label, where in _numbers(variable, value, name, node):
            scalar = fitted(ctx, where, label, leaf, item)
            ctx.emit(ir.Let(leaf.name, scalar.expr))
        return
    variable.members = tuple(
        _kept(ctx, f"{variable.name}_{position}", item) for position, item in enumerate(value.items)
    )


def _kept(ctx: Context, name: str, item: Value) -> Value:
    """A member of a tuple that is bound once."""
    if isinstance(item, Several):
        items = (_kept(ctx, f"{name}_{position}", one) for position, one in enumerate(item.items))
        return Several(tuple(items), item.is_table, item.of_bytes)
    return ctx.fixed(item, name)


def bind_open(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Several) -> None:
    """The first tuple for a name that is declared before the `if` or the loop around."""
    keeps = variable.key not in ctx.rebound
    variable.of_bytes = value.of_bytes
    variable.members = _open_members(ctx, variable, value, keeps=keeps)
    _assign(ctx, node, name, variable, value)


def _open_members(
    ctx: Context, variable: Variable, value: Several, *, keeps: bool
) -> tuple[Member, ...]:
    """Members without a value yet; constants are kept where there is one tuple only."""
    made: list[Member] = []
    for position, item in enumerate(value.items):
        key = (*variable.key, position)
        name = f"{variable.name}_{position}"
        if isinstance(item, Several) and not item.is_table:
            inner = Variable(name, None, key, of_bytes=item.of_bytes)
            inner.members = _open_members(ctx, inner, item, keeps=keeps)
            made.append(inner)
        elif not is_number(item) or (keeps and isinstance(item, Constant)):
            made.append(item)
        else:
            made.append(Variable(ctx.fresh(name), None, key))
    return tuple(made)


def bind_again(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Several) -> None:
    """Another tuple for a name that holds one, where it depends on the run which of them it is."""
    if variable.key not in ctx.rebound and not _is_kept(variable, value):
        ctx.rebound.add(variable.key)
        raise Restart
    _check_rest(ctx, node, name, variable, value)
    _assign(ctx, node, name, variable, value)


def other_kind(
    ctx: Context, node: ast.AST, name: str, before: Variable | Value, after: Value
) -> Exception:
    """The error for a name that is bound to something of another kind."""
    was, becomes = shape_of(before), shape_of(after)
    return ctx.error(node, codes.OTHER_KIND, name=name, before=was, after=becomes)


def _is_kept(variable: Variable, value: Several) -> bool:
    """Whether everything that is in no variable stays what it is."""
    assert variable.members is not None
    for member, item in zip(variable.members, value.items, strict=True):
        if not isinstance(member, Variable):
            is_held = is_number(member) or (isinstance(member, Several) and not member.is_table)
            if is_held and not same(member, item):
                return False
        elif isinstance(item, Several) and not _is_kept(member, item):
            return False
    return True


def _check_rest(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Several) -> None:
    """Refuse other arrays and functions in the place of the first ones."""
    assert variable.members is not None
    for member, item in zip(variable.members, value.items, strict=True):
        if isinstance(member, Variable):
            if isinstance(item, Several):
                _check_rest(ctx, node, name, member, item)
        elif not same(member, item):
            what = f"a tuple with {describe(member)}"
            fix = instead_of_members(member, item)
            raise ctx.error(node, codes.SECOND_NAME, name=name, what=what, fix=fix)


def same(one: Value, other: Value) -> bool:
    """Whether two values are the same in every run: 0.0 and -0.0, 1 and True are not."""
    if isinstance(one, Constant) and isinstance(other, Constant):
        return _mark(one.value) == _mark(other.value)
    if isinstance(one, Several) and isinstance(other, Several):
        if one.of_bytes is not other.of_bytes:
            return False
        pairs = zip(one.items, other.items, strict=False)
        return len(one.items) == len(other.items) and all(same(a, b) for a, b in pairs)
    return one == other


def _mark(value: bool | int | float | str) -> tuple[type, object]:
    return type(value), struct.pack("<d", value) if isinstance(value, float) else value


def _assign(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Several) -> None:
    """Assign all numbers; what a later member reads of an earlier one is read before."""
    pairs = [
        (leaf.name, fitted(ctx, where, label, leaf, item))
        for leaf, item, label, where in _numbers(variable, value, name, node)
    ]
    assigned: set[str] = set()
    held: list[tuple[str, ir.AnyExpr]] = []
    for target, scalar in pairs:
        is_read = _reads(scalar.expr, assigned)
        held.append((target, (ctx.spill(scalar) if is_read else scalar).expr))
        assigned.add(target)
    for target, expr in held:
        if expr != ir.Var(target):
            ctx.emit(ir.Assign(target, expr))


def _reads(expr: ir.AnyExpr, names: set[str]) -> bool:
    parts = walk_expr(expr) if names else ()
    return any(isinstance(part, ir.Var) and part.name in names for part in parts)


def _numbers(
    variable: Variable, value: Several, name: str, node: ast.AST
) -> Iterator[tuple[Variable, Value, str, ast.AST]]:
    """The variables of a tuple, what each is given, what Python calls it, and where it stands."""
    assert variable.members is not None
    nodes = node.elts if isinstance(node, ast.Tuple) else [node] * len(value.items)
    for position, (member, item) in enumerate(zip(variable.members, value.items, strict=True)):
        if not isinstance(member, Variable):
            continue
        label = f"{name}[{position}]"
        if isinstance(item, Several):
            yield from _numbers(member, item, label, nodes[position])
        else:
            yield member, item, label, nodes[position]


def declare_zero(ctx: Context, mark: int, variables: Sequence[Variable]) -> None:
    """Declare variables before the statements since `mark`, with zeros in them."""
    found = [leaf for variable in variables for leaf in leaves(variable)]
    for leaf in reversed(found):
        assert leaf.dtype is not None
        ctx.zero_at(mark, leaf.name, zero(leaf.dtype))
