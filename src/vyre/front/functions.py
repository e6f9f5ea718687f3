"""Calls of device functions: the code of the function is put in place of the call.

A function may return early from an `if`: the statements after it become the other branch. From
inside a loop it may not.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

from vyre.diagnostics.codes import front as codes
from vyre.front.agree import as_type, default_type, literal
from vyre.front.context import Context, Frame, Result, Variable
from vyre.front.device_functions import AnyFunction
from vyre.front.homes import assigned_names, find_homes
from vyre.front.parameters import ArrayParameter, GenericType, ScalarParameter
from vyre.front.parts import parts
from vyre.front.source import Source
from vyre.front.values import Array, Constant, Scalar, Several, Value, describe
from vyre.ir import Assign, Expr, Let, Var


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
    if any(frame.source is function.source for frame in ctx.frames):
        raise ctx.error(node, codes.RECURSION, name=function.__name__)
    placed = function.inlinable
    given = _arguments(ctx, node, function)
    path = (*ctx.frame.path, node.lineno, node.col_offset, function.__name__)
    frame = Frame(
        function.source,
        placed.homes,
        path,
        {},
        placed.reassigned | assigned_names(placed.body) & set(placed.parameter_names),
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
    return _result(ctx, node, frame.result, mark)


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
        given.setdefault(name, default)
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


def _defaults(function: AnyFunction) -> dict[str, Value]:
    values = function.function.__defaults__ or ()
    arguments = function.source.tree.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    pairs = list(zip(names[len(names) - len(values) :], values, strict=True))
    pairs += list((function.function.__kwdefaults__ or {}).items())
    return {name: Constant(value) for name, value in pairs if isinstance(value, (int, float))}


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
            form = f"{name}: vy.In[vy.{dtype}, {rank}]"
            raise ctx.error(node, codes.CALL, name=function.__name__, problem=problem, form=form)
        case _:
            return value


def _bind_argument(
    ctx: Context, node: ast.Call, frame: Frame, name: str, value: Value, *, changed: bool
) -> None:
    frame.assigned.add(name)
    if not changed:
        is_number = isinstance(value, Scalar)
        if is_number and not ctx.facts.is_fixed(value.expr):
            value = ctx.spill(value, name)
        frame.names[name] = value
        return
    key = (*frame.path, name)
    variable = Variable(ctx.fresh(name), None, key)
    if isinstance(value, Constant) and not isinstance(value.value, str):
        learned = ctx.learned.get(key)
        variable.dtype = default_type(value.value) if learned is None else learned
        variable.soft = frozenset({key}) if learned is None else frozenset()
        value = literal(ctx, node, value, variable.dtype)
    elif isinstance(value, Scalar):
        variable.dtype, variable.soft = value.dtype, value.soft
    else:
        raise ctx.error(node, codes.ASSIGN_ARRAY, name=name)
    ctx.emit(Let(variable.name, value.expr))
    frame.names[name] = variable


Fit = Callable[[Context, ast.AST, str, Variable, Value], Scalar]


def give_result(ctx: Context, node: ast.Return, fit: Fit) -> None:
    """`return value` in a device function."""
    frame = ctx.frame
    result = frame.result
    value: Value = Several(()) if node.value is None else ctx.expr(node.value)
    if frame.returns_once:
        result.value = value
        return
    items = value.items if isinstance(value, Several) else (value,)
    if result.variables is None:
        result.is_tuple = isinstance(value, Several)
        result.variables = [
            Variable(ctx.fresh("result"), None, (*frame.path, "return", number))
            for number in range(len(items))
        ]
    if len(items) != len(result.variables) or result.is_tuple != isinstance(value, Several):
        raise ctx.error(node, codes.RETURNS_DIFFER, name=frame.source.name)
    for variable, item in zip(result.variables, items, strict=True):
        scalar = fit(ctx, node.value or node, "the result", variable, item)
        ctx.emit(Assign(variable.name, scalar.expr))


def _result(ctx: Context, node: ast.Call, result: Result, mark: int) -> Value:
    if result.value is not None:
        return result.value
    if result.variables is None:
        return Several(())
    for variable in reversed(result.variables):
        dtype = variable.dtype
        assert dtype is not None
        ctx.zero_at(mark, variable.name, Expr.lit(False if dtype.is_bool else 0, dtype))
    items = [Scalar(Var(one.name), one.dtype, one.soft) for one in result.variables if one.dtype]
    return Several(tuple(items)) if result.is_tuple else items[0]
