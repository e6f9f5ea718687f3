"""Statements of Python as statements of the language."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front import arrays, intrinsics
from vyre.front.advice import CONVERSIONS
from vyre.front.assignment import declare
from vyre.front.binding import assign_name
from vyre.front.context import Context, LoopVariableLeft, Variable
from vyre.front.functions import give_result
from vyre.front.intrinsic_calls import named_type
from vyre.front.loops import lower_for, lower_while
from vyre.front.memory import declare_memory
from vyre.front.narrow_sums import refuse_narrow_sum, sum_onto
from vyre.front.operators import binary
from vyre.front.speculatable import is_harmless
from vyre.front.tuples import declare_zero
from vyre.front.type_unification import as_bool, as_type
from vyre.front.unrolled import wrong_length
from vyre.front.values import (
    NOTHING,
    Array,
    Constant,
    Method,
    Scalar,
    Several,
    Thing,
    Value,
    describe,
)


def lower_body(ctx: Context, body: Sequence[ast.stmt]) -> bool:
    """Translate statements into the innermost block; answers whether nothing goes on after them."""
    homes = ctx.frame.homes
    left = _lower_each(ctx, body)
    ctx.frame.homes = homes
    return left


def _lower_each(ctx: Context, body: Sequence[ast.stmt]) -> bool:
    for number, statement in enumerate(body):
        hoisted = {n: declare(ctx, n, statement) for n in ctx.frame.homes.of(statement)}
        mark = len(ctx.body)
        ctx.spans.append(ctx.frame.source.span(statement))
        left = False
        if _binds_nothing(statement):
            with ctx.keeps_problems():
                lower_statement(ctx, statement)
        else:
            left = lower_statement(ctx, statement)
        declare_zero(ctx, mark, list(hoisted.values()))
        for name, variable in hoisted.items():
            if variable.is_open and _forget(ctx, name, variable):
                ctx.frame.homes = ctx.frame.homes.moved(name, body[number + 1 :])
        ctx.spans.pop()
        if left:
            return True
    return False


def _forget(ctx: Context, name: str, variable: Variable) -> bool:
    """Nothing was assigned to a variable before whose first use it would have been declared.

    Answers whether its name has no other value either.
    """
    names = ctx.frame.names
    found = names.get(name)
    if found is variable:
        del names[name]
        return True
    if isinstance(found, LoopVariableLeft) and found.before is variable:
        names[name] = LoopVariableLeft()
        return True
    return False


def _binds_nothing(statement: ast.stmt) -> bool:
    """Whether nothing after a statement depends on it, so that a problem is no reason to end."""
    match statement:
        case ast.Assign(targets):
            return all(isinstance(target, ast.Subscript) for target in targets)
        case ast.AugAssign(target):
            return isinstance(target, ast.Subscript)
        case _:
            return isinstance(statement, (ast.Expr, ast.Assert))


def lower_statement(ctx: Context, node: ast.stmt) -> bool:  # noqa: C901
    """Translate one statement; answers whether nothing goes on after it."""
    match node:
        case ast.Assign():
            _assign(ctx, node)
        case ast.AnnAssign():
            _annotated(ctx, node)
        case ast.AugAssign():
            _augmented(ctx, node)
        case ast.If():
            return _if(ctx, node)
        case ast.For():
            return lower_for(ctx, node, lower_body)
        case ast.While():
            return lower_while(ctx, node, lower_body)
        case ast.Break():
            return _break(ctx, node)
        case ast.Continue():
            ctx.emit(ir.Continue())
            return True
        case ast.Return():
            return _return(ctx, node)
        case ast.Assert():
            return _assert(ctx, node)
        case ast.Expr():
            _effect(ctx, node)
        case ast.Pass():
            pass
        case _:
            what, instead = type(node).__name__, "use if, for, while and assignments"
            raise ctx.error(node, codes.STATEMENT, what=what, instead=instead)
    return False


def _assign(ctx: Context, node: ast.Assign) -> None:
    if _is_memory(ctx, node):
        return
    onto = sum_onto(node)
    value = ctx.expr(node.value)
    if onto is not None:
        refuse_narrow_sum(ctx, node, onto[0], onto[1], value, onto[2])
    if len(node.targets) > 1:
        value = ctx.fixed(value)
    for target in node.targets:
        _give(ctx, target, value, node.value)


def _is_memory(ctx: Context, node: ast.Assign) -> bool:
    """`t = vy.shared(vy.f32, 256)`."""
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    if getattr(call.func, "attr", None) in CONVERSIONS:  # refused where the type is known
        return False
    callee = ctx.expr(call.func)
    target = callee.target if isinstance(callee, Thing) else None
    if target is not intrinsics.shared and target is not intrinsics.local:
        return False
    declare_memory(ctx, node, call, is_shared=target is intrinsics.shared)
    return True


def _give(ctx: Context, target: ast.expr, value: Value, value_node: ast.expr) -> None:
    match target:
        case ast.Name():
            if isinstance(ctx.frame.names.get(target.id), Array) or (
                value is NOTHING or isinstance(value, Method)
            ):
                problem = codes.ASSIGN_ARRAY if value is not NOTHING else codes.NO_VALUE
                raise ctx.error(target, problem, name=target.id, what=ast.unparse(value_node))
            assign_name(ctx, target, value, value_node)
        case ast.Subscript():
            # Python computes the value before the index.
            with ctx.before_what_follows(value) as kept:
                array, index = _element(ctx, target, value_node)
            what = f"the array {array.name!r}"
            scalar = as_type(ctx, value_node, kept.value, array.dtype, what)
            arrays.store(ctx, target, array, index, scalar)
        case ast.Tuple():
            _unpack(ctx, target, value, value_node)
        case _:
            raise ctx.error(
                target,
                codes.STATEMENT,
                what=f"an assignment to {ast.unparse(target)}",
                instead="assign to a variable or to an element of an array",
            )


def _element(ctx: Context, target: ast.Subscript, new: ast.expr) -> tuple[Array, ir.AnyExpr]:
    owner = ctx.expr(target.value)
    if isinstance(owner, Several):
        instead = _with_another(ctx, target, new, len(owner.items))
        what = "an assignment to a member of a tuple"
        raise ctx.error(target, codes.STATEMENT, what=what, instead=instead)
    if not isinstance(owner, Array):
        raise ctx.error(target, codes.NOT_INDEXABLE, what=describe(owner))
    nodes = arrays.index_nodes(target.slice)
    values = ctx.in_order(nodes)
    return owner, arrays.flat_index(ctx, target, owner, nodes, values)


def _with_another(ctx: Context, target: ast.Subscript, new: ast.expr, count: int) -> str:
    """What to write instead of `t[0] = 5`: the tuple again, with another member."""
    array = "to change elements, take an array, as vy.local gives it"
    match target:
        case ast.Subscript(ast.Name(name), ast.Constant(int(position))):
            # Where the tuple is not the function's own, its name would be another one.
            if name in ctx.frame.names and 0 <= position < count:
                others: list[ast.expr] = [
                    ast.Subscript(target.value, ast.Constant(number), ast.Load())
                    for number in range(count)
                ]
                others[position] = new
                return f"write {name} = {ast.unparse(ast.Tuple(others, ast.Load()))}"
            return array
        case _:
            return array


def _unpack(ctx: Context, target: ast.Tuple, value: Value, value_node: ast.expr) -> None:
    """`a, b = b, a`: all values are computed before the first is assigned."""
    value = arrays.extents(value)
    if not isinstance(value, Several) or len(value.items) != len(target.elts):
        raise wrong_length(ctx, target, value)
    held = [ctx.fixed(item) for item in value.items]
    nodes = value_node.elts if isinstance(value_node, ast.Tuple) else [value_node] * len(held)
    for one, item, node in zip(target.elts, held, nodes, strict=True):
        _give(ctx, one, item, node)


def _annotated(ctx: Context, node: ast.AnnAssign) -> None:
    text = ast.unparse(node.target)
    if not isinstance(node.target, ast.Name):
        what = f"a declaration of {text}"
        instead = "write it without the type"
        if node.value is not None:
            instead += f": {text} = {ast.unparse(node.value)}"
        raise ctx.error(node, codes.STATEMENT, what=what, instead=instead)
    dtype = _annotation(ctx, node)
    if node.value is None:
        zero_text = "False" if dtype.is_bool else "0"
        raise ctx.error(
            node,
            codes.STATEMENT,
            what="a declaration without a value",
            instead=f"give it one: {text}: {ast.unparse(node.annotation)} = {zero_text}",
        )
    value = ctx.expr(node.value)
    scalar = as_type(ctx, node.value, value, dtype, f"the variable {node.target.id!r}")
    assign_name(ctx, node.target, scalar, node.value)


def _annotation(ctx: Context, node: ast.AnnAssign) -> ir.DataType:
    """The type that is declared; Python's own say nothing that a kernel needs."""
    plain = node.annotation
    while isinstance(plain, ast.Subscript):  # tuple[int, int]
        plain = plain.value
    value = ctx.expr(plain)
    dtype = named_type(ctx, plain, value)
    if dtype is None or plain is not node.annotation:
        text, what = ast.unparse(node.target), describe(value)
        fix = "write a type of vy, such as vy.f32"
        if node.value is not None:
            fix = f"leave it out: {text} = {ast.unparse(node.value)}"
        raise ctx.error(node.annotation, codes.NOT_A_TYPE, what=what, fix=fix)
    return dtype


def _augmented(ctx: Context, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        reading = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        left, right = ctx.in_order([reading, node.value])
        refuse_narrow_sum(ctx, node, target, node.op, right, node.value)
        result = binary(ctx, node, node.op, (left, right), (reading, node.value))
        assign_name(ctx, target, result, node)
        return
    if not isinstance(target, ast.Subscript):
        raise ctx.error(
            target,
            codes.STATEMENT,
            what=f"an assignment to {ast.unparse(target)}",
            instead="assign to a variable or to an element of an array",
        )
    changed = ast.BinOp(target, node.op, node.value)
    array, index = _element(ctx, target, changed)
    held = ctx.hold(Scalar(index, ir.DataType.U32), "i").expr
    with ctx.before_what_follows(Scalar(ir.Load(array.name, held), array.dtype)) as kept:
        right = ctx.expr(node.value)
    result = binary(ctx, node, node.op, (kept.value, right), (target, node.value))
    scalar = as_type(ctx, node, result, array.dtype, f"the array {array.name!r}")
    arrays.store(ctx, target, array, held, scalar)


def _if(ctx: Context, node: ast.If) -> bool:
    if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) and not node.orelse:
        return _if_all(ctx, node, node.test.values)
    condition = ctx.expr(node.test)
    if isinstance(condition, Constant) and isinstance(condition.value, bool):
        return lower_body(ctx, node.body if condition.value else node.orelse)
    test = as_bool(ctx, node.test, condition, "the condition of an if")
    return _branch(ctx, node, test)


def _if_all(ctx: Context, node: ast.If, conditions: Sequence[ast.expr]) -> bool:
    """`if a and b`, where b may be evaluated only if a holds: an if inside an if."""
    what = "an operand of and"
    first, rest = conditions[0], conditions[1:]
    test = ctx.expr(first)
    while rest:
        if isinstance(test, Constant) and isinstance(test.value, bool):
            if not test.value:
                return False
            first, test, rest = rest[0], ctx.expr(rest[0]), rest[1:]
            continue
        truth = as_bool(ctx, first, test, what)
        with ctx.block() as before:
            ctx.facts.assume(truth.expr)
            right = ctx.expr(rest[0])
        if isinstance(right, Constant):
            right = as_bool(ctx, rest[0], right, what)
        if before or not isinstance(right, Scalar) or not is_harmless(right.expr):
            break
        truth_right = as_bool(ctx, rest[0], right, what)
        test = Scalar(ir.Binary(ir.BinOp.AND, truth.expr, truth_right.expr), ir.DataType.BOOL)
        rest = rest[1:]
    if isinstance(test, Constant) and isinstance(test.value, bool):
        return test.value and lower_body(ctx, node.body)
    truth = as_bool(ctx, first, test, what)
    if not rest:
        return _branch(ctx, node, truth)
    assigned = set(ctx.frame.assigned)
    with ctx.block() as then:
        ctx.facts.assume(truth.expr)
        _if_all(ctx, node, rest)
    ctx.frame.assigned = assigned
    ctx.emit(ir.If(truth.expr, tuple(then), ()))
    return False


def _branch(ctx: Context, node: ast.If, test: Scalar) -> bool:
    frame = ctx.frame
    before = frame.assigned
    frame.assigned = set(before)
    with ctx.block() as then:
        ctx.facts.assume(test.expr)
        then_left = lower_body(ctx, node.body)
    after_then = frame.assigned
    frame.assigned = set(before)
    with ctx.block() as otherwise:
        ctx.facts.assume(test.expr, holds=False)
        else_left = lower_body(ctx, node.orelse)
    after_else = frame.assigned
    ctx.emit(ir.If(test.expr, tuple(then), tuple(otherwise)))
    if then_left:
        frame.assigned = after_else
        ctx.facts.assume(test.expr, holds=False)
    elif else_left:
        frame.assigned = after_then
        ctx.facts.assume(test.expr)
    else:
        frame.assigned = after_then & after_else
    return then_left and else_left


def _break(ctx: Context, node: ast.Break) -> bool:
    if ctx.frame.loops:
        loop = ctx.frame.loops[-1]
        loop.breaks.append(set(ctx.frame.assigned))
        if loop.going is not None:
            ctx.emit(ir.Assign(loop.going, ir.Expr.bool_(False)))
    ctx.emit(ir.Break())
    return True


def _return(ctx: Context, node: ast.Return) -> bool:
    if not ctx.frame.is_kernel:
        give_result(ctx, node)
        return True
    if node.value is not None:
        raise ctx.error(node, codes.KERNEL_RETURNS)
    ctx.emit(ir.Return())
    return True


def _assert(ctx: Context, node: ast.Assert) -> bool:
    message: Value = Constant("assertion failed: " + ast.unparse(node.test))
    if node.msg is not None:
        message = ctx.expr(node.msg)
    if not isinstance(message, Constant) or not isinstance(message.value, str):
        assert node.msg is not None
        raise ctx.error(node.msg, codes.ASSERT_MESSAGE)
    condition = ctx.expr(node.test)
    test = as_bool(ctx, node.test, condition, "the condition of an assert")
    trap = ir.Trap(message.value).at(ctx.spans[-1])
    ctx.emit(ir.If(ir.Unary(ir.UnOp.NOT, test.expr), (trap,), ()))
    ctx.facts.assume(test.expr)
    return False


def _effect(ctx: Context, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return
    if not isinstance(node.value, ast.Call):
        raise ctx.error(
            node,
            codes.STATEMENT,
            what="an expression without effect",
            instead="assign it, store it, or leave it out",
        )
    callee = ctx.expr(node.value.func)
    if isinstance(callee, Method) and callee.name in arrays.METHODS:
        made = arrays.atomic(ctx, node.value, callee.array, callee.name)
        ctx.emit(ir.Eval(made.expr))
        return
    ctx.expr(node.value)
