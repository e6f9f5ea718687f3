"""Calls of device functions: the code of the function is put in place of the call.

A function may return early from an `if`: the statements after it become the other branch. From
inside a loop it may not.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence

from vyre.diagnostics.codes import front as codes
from vyre.front.arrays import extents
from vyre.front.assignment import fitted
from vyre.front.ast_nodes import parts
from vyre.front.captured import captured
from vyre.front.context import Context, Frame, Result, Variable
from vyre.front.device_functions import AnyFunction
from vyre.front.dynamic_selection import refuse_result
from vyre.front.local_fixpoint import apart
from vyre.front.parameters import ArrayParameter, GenericType, ScalarParameter
from vyre.front.scalars import scalar_name
from vyre.front.source import Source
from vyre.front.tuples import (
    bind_again,
    bind_new,
    bind_open,
    declare_zero,
    is_number,
    leaves,
    shape_of,
    value_of,
)
from vyre.front.type_unification import as_type
from vyre.front.values import NOTHING, Array, Key, Several, Value, describe
from vyre.front.variable_scopes import assigned_names, bound_names, find_homes
from vyre.ir import Assign, DataType, Let


class Inlinable:
    """The statements of a device function, ready to be put into a kernel."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.body = _returns_last(source, source.tree.body)
        """Its statements, with every return at the end of a branch."""
        arguments = source.tree.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self.parameter_names = [one.arg for one in every]
        self.homes = find_homes(self.body, frozenset(self.parameter_names))
        """Where its variables live."""
        returns = [n for s in self.body for n in parts(s) if isinstance(n, ast.Return)]
        self.returns_once = len(returns) == 1 and returns[0] is self.body[-1]
        """Whether its only return is its last statement."""
        self.reassigned = reassigned_names(self.body)


def _returns_last(source: Source, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A body in which what follows an early return stands in the other branch."""
    settled = _settled(source, list(body))
    gives = any(
        isinstance(node, ast.Return) and node.value is not None
        for statement in settled
        for node in parts(statement)
    )
    if gives and not _always_returns(settled):
        raise source.error(source.tree, codes.RETURNS_SOMETIMES, name=source.name)
    return settled


def _settled(source: Source, body: list[ast.stmt]) -> list[ast.stmt]:
    for number, statement in enumerate(body):
        if isinstance(statement, ast.Return):
            return body[: number + 1]
        if not _has_return(statement):
            continue
        if not isinstance(statement, ast.If):
            found = next(n for n in parts(statement) if isinstance(n, ast.Return))
            raise source.error(found, codes.RETURN_IN_LOOP, name=source.name)
        rest = body[number + 1 :]
        branches: list[list[ast.stmt]] = []
        for branch in (statement.body, statement.orelse):
            goes_on = not _always_returns(branch)
            whole = [*branch, *copy.deepcopy(rest)] if goes_on else branch
            branches.append(_settled(source, whole))
        made = ast.If(statement.test, branches[0], branches[1])
        return [*body[:number], ast.copy_location(made, statement)]
    return body


def _has_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in parts(statement))


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return)


def reassigned_names(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names that are assigned more than once, or changed."""
    seen: set[str] = set()
    again: set[str] = set()
    for statement in body:
        for node in parts(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                (again if node.id in seen else seen).add(node.id)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                again.add(node.target.id)
    return frozenset(again)


def inline(ctx: Context, node: ast.Call, function: AnyFunction) -> Value:
    """The value of a call of a device function: its statements, put here."""
    _begin(ctx, node, function)
    given = _arguments(ctx, node, function)
    path = (*ctx.frame.path, node.lineno, node.col_offset, function.__name__)
    return apart(ctx, path, lambda: _inlined(ctx, node, function, path, given))


def inline_values(
    ctx: Context, node: ast.Call, function: AnyFunction, values: Sequence[Value], step: int
) -> Value:
    """The value of a device function for as many values as it has parameters.

    It is one of several steps of what `node` calls.
    """
    _begin(ctx, node, function)
    names = function.inlinable.parameter_names
    given = {
        name: _typed(ctx, node, function, name, value)
        for name, value in zip(names, values, strict=True)
    }
    path = (*ctx.frame.path, node.lineno, node.col_offset, function.__name__, step)
    return apart(ctx, path, lambda: _inlined(ctx, node, function, path, given))


def _begin(ctx: Context, node: ast.Call, function: AnyFunction) -> None:
    if any(frame.source is function.source for frame in ctx.frames):
        raise ctx.error(node, codes.RECURSION, name=function.__name__)
    ctx.reads.call(function)


def _inlined(
    ctx: Context, node: ast.Call, function: AnyFunction, path: Key, given: Mapping[str, Value]
) -> Value:
    placed = function.inlinable
    frame = Frame(
        function.source,
        placed.homes,
        path,
        {},
        placed.reassigned | assigned_names(placed.body) & set(placed.parameter_names),
        bound_names(placed.body),
        is_kernel=False,
        returns_once=placed.returns_once,
    )
    changed = assigned_names(placed.body)
    for name, value in given.items():
        _bind_argument(ctx, node, frame, name, value, changed=name in changed)
    ctx.frames.append(frame)
    mark = len(ctx.body)
    try:
        # What a branch of the function proves does not hold after the call.
        with ctx.facts.scope():
            ctx.lower_body(ctx, placed.body)
    finally:
        ctx.frames.pop()
    return _result(ctx, frame.result, mark)


def _arguments(ctx: Context, node: ast.Call, function: AnyFunction) -> dict[str, Value]:
    names = function.inlinable.parameter_names
    form = f"{function.__name__}({', '.join(names)})"
    values = ctx.in_order([*node.args, *(keyword.value for keyword in node.keywords)])
    given = dict(zip(names, values[: len(node.args)], strict=False))
    problem = "" if len(node.args) <= len(names) else f"got {len(node.args)} arguments"
    for keyword, value in zip(node.keywords, values[len(node.args) :], strict=True):
        if keyword.arg not in names or keyword.arg in given:
            problem = f"got an unexpected argument {keyword.arg!r}"
        else:
            given[keyword.arg] = value
    for name, default in _defaults(function).items():
        if name not in given and default is not None:
            given[name] = captured(ctx, node, f"{function.__name__}'s {name}", default)
    missing = [name for name in names if name not in given]
    if missing:
        problem = f"got no value for {missing[0]!r}"
    if problem:
        raise ctx.error(node, codes.CALL, name=function.__name__, problem=problem, form=form)
    written = dict[str, ast.expr](zip(names, node.args, strict=False))
    written |= {str(keyword.arg): keyword.value for keyword in node.keywords}
    return {
        name: _typed(ctx, written.get(name, node), function, name, given[name]) for name in names
    }


def _defaults(function: AnyFunction) -> dict[str, object]:
    values = function.function.__defaults__ or ()
    arguments = function.source.tree.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    found = dict[str, object](zip(names[len(names) - len(values) :], values, strict=True))
    return {**found, **(function.function.__kwdefaults__ or {})}


def _typed(ctx: Context, node: ast.expr, function: AnyFunction, name: str, value: Value) -> Value:
    """An argument, checked against what the function's annotation wants."""
    wanted = function.parameter(name)
    match wanted:
        case ScalarParameter(dtype) if not isinstance(dtype, GenericType):
            what = f"the parameter {name!r} of {function.__name__}"
            return as_type(ctx, node, value, dtype, what)
        case ArrayParameter(_, dtype, rank):
            fits = isinstance(value, Array) and value.rank == rank
            generic = isinstance(dtype, GenericType)
            if fits and isinstance(value, Array) and (generic or value.dtype is dtype):
                return value
            problem = f"the parameter {name!r} cannot be {describe(value)}"
            form = f"an array of {_axes(rank)} and {_type_name(dtype)} for {name!r}"
            if isinstance(value, Array):
                shown = f"{_type_name(value.dtype)}, {value.rank}"
                form = f"what is passed as its type: {name}: vy.In[{shown}]"
            raise ctx.error(node, codes.CALL, name=function.__name__, problem=problem, form=form)
        case _:
            return value


def _axes(rank: int) -> str:
    return "one axis" if rank == 1 else f"{rank} axes"


def _type_name(dtype: DataType | GenericType) -> str:
    return scalar_name(dtype) if isinstance(dtype, DataType) else str(dtype)


def _bind_argument(
    ctx: Context, node: ast.Call, frame: Frame, name: str, value: Value, *, changed: bool
) -> None:
    frame.assigned.add(name)
    if not changed:
        frame.names[name] = ctx.fixed(value, name)
        return
    key = (*frame.path, name)
    if isinstance(value, Several):
        variable = Variable(name, None, key, home=ctx.body)
        bind_new(ctx, node, name, variable, value)
        frame.names[name] = variable
        return
    if not is_number(value):
        raise ctx.error(node, codes.ASSIGN_ARRAY, name=name)
    variable = Variable(ctx.fresh(name), None, key, home=ctx.body)
    ctx.emit(Let(variable.name, fitted(ctx, node, name, variable, value).expr))
    frame.names[name] = variable


def give_result(ctx: Context, node: ast.Return) -> None:
    """`return value` in a device function."""
    frame = ctx.frame
    result = frame.result
    value = NOTHING if node.value is None else extents(ctx.expr(node.value))
    if frame.returns_once:
        result.value = value
        return
    if result.variable is None:
        key = (*frame.path, "return")
        name = "result" if isinstance(value, Several) else ctx.fresh("result")
        result.variable = Variable(name, None, key)
        # Which return is taken depends on the run.
        ctx.rebound.add(key)
    variable = result.variable
    refuse_result(ctx, node, value)
    where = node.value or node
    if not variable.is_open and shape_of(variable) != shape_of(value):
        raise ctx.error(node, codes.RETURNS_DIFFER, name=frame.source.name)
    if not isinstance(value, Several):
        scalar = fitted(ctx, where, "the result", variable, value)
        ctx.emit(Assign(variable.name, scalar.expr))
    elif variable.is_open:
        bind_open(ctx, where, "the result", variable, value)
    else:
        bind_again(ctx, where, "the result", variable, value)


def _result(ctx: Context, result: Result, mark: int) -> Value:
    if result.value is not None:
        return result.value
    if result.variable is None or result.variable.members == ():
        return NOTHING
    declare_zero(ctx, mark, [result.variable])
    ctx.facts.constants.update(leaf.name for leaf in leaves(result.variable))
    return value_of(result.variable)
