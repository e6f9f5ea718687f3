"""Loops over values that are known now: tuples, `enumerate`, `zip` and `reversed` of them.

Such a loop is written out, one round after the other. Each element keeps what it is: a constant
that takes its type where it is used, a value, an array, or a tuple of these.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front.advice import counters, element_of
from vyre.front.arrays import extents
from vyre.front.ast_nodes import parts
from vyre.front.binding import assign_name
from vyre.front.context import Context, LoopState
from vyre.front.local_fixpoint import apart
from vyre.front.loop_variables import loop_variable_left
from vyre.front.values import Array, Constant, Scalar, Several, Thing, Value, describe
from vyre.front.variable_scopes import assigned_names

MAX_ROUNDS = 256
"""Longer loops over constants would make programs that are mostly repetition."""


_ROUNDS = "rounds of"
"""Marks the keys of what a round of a loop has for itself."""

_COMBINERS = {id(one): one.__name__ for one in (enumerate, zip, reversed)}


def items_of(ctx: Context, node: ast.expr) -> tuple[Value, ...] | None:
    """What a `for` goes over, if it is known now; None for `range`."""
    if isinstance(node, ast.Call):
        callee = ctx.expr(node.func)
        target = callee.target if isinstance(callee, Thing) else None
        if target is builtins.range:
            return None
        name = _COMBINERS.get(id(target))
        if name is not None:
            return _combined(ctx, node, name)
    value = extents(ctx.expr(node))
    if not isinstance(value, Several):
        letters = _counters(ctx, node, value)
        i = letters[0]
        instead = f"count instead: for {i} in range(n), and index with {i}"
        if isinstance(value, Scalar) or (
            isinstance(value, Constant) and isinstance(value.value, int)
        ):
            instead = f"count instead: for {i} in range({ast.unparse(node)})"
        if isinstance(value, Array):
            element = element_of(value, letters)
            instead = f"count instead: for {i} in range(len({value.name})), and use {element}"
        if isinstance(value, Constant) and isinstance(value.value, str):
            shown = repr(value.value.encode())
            instead = f"go over its bytes, {shown}, or pass them as an array: text: vy.In[vy.u8]"
        what = f"a loop over {describe(value)}"
        raise ctx.error(node, codes.STATEMENT, what=what, instead=instead)
    return tuple(ctx.fixed(item) for item in value.items)


def _counters(ctx: Context, node: ast.expr, value: Value) -> list[str]:
    """Names to count with: that of the loop's own counter, unless it is of elements."""
    free = counters(ctx.frame.own)
    for loop in ast.walk(ctx.frame.source.tree):
        if isinstance(loop, ast.For) and any(part is node for part in ast.walk(loop.iter)):
            own = [one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)]
            if len(own) > 1 or (own and isinstance(value, (Scalar, Constant))):
                return [own[0], *free]
    return free


def _items_or_range(ctx: Context, node: ast.expr) -> tuple[Value, ...] | None:
    """What is known now; of a `range` if its ends are constants, and not too far apart."""
    found = items_of(ctx, node)
    if found is not None:
        return found
    ends = [ctx.expr(one) for one in node.args] if isinstance(node, ast.Call) else []
    numbers = [end.value for end in ends if isinstance(end, Constant)]
    whole = [number for number in numbers if isinstance(number, int)]
    if len(whole) != len(ends) or len(whole) not in (1, 2, 3) or 0 in whole[2:]:
        return None
    counted = range(*whole)
    return tuple(map(Constant, counted)) if len(counted) <= MAX_ROUNDS else None


def _combined(ctx: Context, node: ast.Call, name: str) -> tuple[Value, ...]:
    sequences = node.args if name == "zip" else node.args[:1]
    options = {keyword.arg: ctx.expr(keyword.value) for keyword in node.keywords}
    if name == "enumerate" and len(node.args) == 2:
        options["start"] = ctx.expr(node.args[1])
    elif len(node.args) != len(sequences):
        options[None] = Constant(0)
    known = [_items_or_range(ctx, one) for one in sequences]
    parts = [part for part in known if part is not None]
    allowed = {"enumerate": "start", "zip": "strict"}.get(name)
    option = options.pop(allowed, Constant(0)) if allowed is not None else Constant(0)
    if options or not parts or len(parts) != len(known) or not isinstance(option, Constant):
        problem = "goes over tuples and constants only"
        form = f"{name}((1, 2, 3))"
        if len(parts) != len(known):
            counted = {"reversed": "n - 1 - i", "enumerate": "a count from it"}
            form = f"for i in range(n), and {counted.get(name, 'i for both')} in its body"
        raise ctx.error(node, codes.CALL, name=name, problem=problem, form=form)
    if name == "reversed":
        return parts[0][::-1]
    if name == "enumerate":
        first = int(option.value)
        return tuple(Several((Constant(n), item)) for n, item in enumerate(parts[0], first))
    if option.value and len({len(part) for part in parts}) > 1:
        problem = "got tuples of different length"
        raise ctx.error(node, codes.CALL, name="zip", problem=problem, form="zip((1, 2), (3, 4))")
    return tuple(Several(group) for group in zip(*parts, strict=False))


def lower_rounds(ctx: Context, node: ast.For, items: Sequence[Value]) -> bool:
    """Write a loop out; answers whether nothing goes on after it."""
    if len(items) > MAX_ROUNDS:
        what = f"a loop over {len(items)} constants"
        instead = "pass them as an array, and count with range"
        raise ctx.error(node.iter, codes.STATEMENT, what=what, instead=instead)
    leaves, skips = _jumps(node.body)
    before = set(ctx.frame.assigned)
    going = ctx.fresh("going") if leaves else None
    if going is not None:
        ctx.emit(ir.Let(going, ir.Expr.bool_(True)))
    for number, item in enumerate(items):
        body, left = _round(ctx, node, number, item, going)
        if not leaves and not skips:
            ctx.body.extend(body)
            if left:
                return True
            continue
        ctx.frame.assigned = set(before)
        # A loop of one round, which `continue` and `break` end.
        once = ir.Loop(ctx.fresh("once"), ir.Expr.u32(0), ir.Expr.u32(1), tuple(body))
        ctx.emit(once if going is None else ir.If(ir.Var(going), (once,), ()))
    for name in _names(node.target):
        loop_variable_left(ctx, name)
    return False


def _round(
    ctx: Context, node: ast.For, number: int, item: Value, going: str | None
) -> tuple[list[ir.AnyStmt], bool]:
    """One round, and whether nothing goes on after it; its variables have types of their own."""
    frame = ctx.frame
    outside = frame.path
    path = (*outside, _ROUNDS, node.lineno, node.col_offset, number)

    def written() -> tuple[list[ir.AnyStmt], bool]:
        frame.path = path
        frame.loops.append(LoopState(going, repeats=False))
        with ctx.block() as body:
            _bind(ctx, node.target, item, node)
            left = ctx.lower_body(ctx, node.body)
        frame.loops.pop()
        frame.path = outside
        return body, left

    return apart(ctx, path, written)


def _bind(ctx: Context, target: ast.expr, item: Value, node: ast.For) -> None:
    if isinstance(target, ast.Tuple):
        if not isinstance(item, Several) or len(item.items) != len(target.elts):
            raise wrong_length(ctx, target, item)
        for one, part in zip(target.elts, item.items, strict=True):
            _bind(ctx, one, part, node)
    elif not isinstance(target, ast.Name):
        instead = "write names: for a, b in pairs"
        raise ctx.error(target, codes.STATEMENT, what="this loop variable", instead=instead)
    elif target.id in assigned_names(node.body):
        ctx.frame.names.pop(target.id, None)
        assign_name(ctx, target, item, node.iter)
    else:
        ctx.frame.names[target.id] = item


_ALONG_AXES = {
    ir.BuiltinKind.GLOBAL_ID: "vy.gid",
    ir.BuiltinKind.LOCAL_ID: "vy.lid",
    ir.BuiltinKind.WORKGROUP_ID: "vy.wid",
    ir.BuiltinKind.NUM_WORKGROUPS: "vy.num_groups",
}


def wrong_length(ctx: Context, target: ast.Tuple, value: Value) -> Exception:
    """The error for names and values that are not equally many."""
    found = describe(value)
    if isinstance(value, Several):
        found = f"a tuple of {len(value.items)}"
    names = ", ".join(map(ast.unparse, target.elts))
    fix = f"write as many values as names: {names} = {', '.join(['...'] * len(target.elts))}"
    if isinstance(value, Scalar) and isinstance(value.expr, ir.Builtin):
        name = _ALONG_AXES.get(value.expr.kind)
        if name is not None and len(target.elts) <= 3:
            along = ", ".join(f"{name}({axis})" for axis in range(len(target.elts)))
            fix = f"ask along each axis: {names} = {along}"
    return ctx.error(target, codes.UNPACK, expected=len(target.elts), found=found, fix=fix)


def _names(target: ast.expr) -> list[str]:
    return [node.id for node in parts(target) if isinstance(node, ast.Name)]


def _jumps(body: Sequence[ast.stmt]) -> tuple[bool, bool]:
    """Whether `break` and `continue` of this very loop stand in its body."""
    leaves = skips = False
    for statement in body:
        leaves |= isinstance(statement, ast.Break)
        skips |= isinstance(statement, ast.Continue)
        if isinstance(statement, ast.If):
            for branch in (statement.body, statement.orelse):
                inner_leaves, inner_skips = _jumps(branch)
                leaves, skips = leaves or inner_leaves, skips or inner_skips
    return leaves, skips
