"""From a Python function to a program: its signature, and its body for one set of types."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import FunctionType

from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front.agree import default_type
from vyre.front.context import Binding, Context, Frame, Restart, Variable
from vyre.front.expressions import lower_expr
from vyre.front.facts import Facts
from vyre.front.functions import reassigned_names
from vyre.front.homes import assigned_names, find_homes
from vyre.front.own_zeros import with_own_zeros
from vyre.front.parameters import (
    ArrayParameter,
    GenericType,
    Layout,
    Mode,
    Parameter,
    ScalarParameter,
    StaticParameter,
    parameter_of,
)
from vyre.front.parts import parts
from vyre.front.source import Source, source_of
from vyre.front.statements import lower_body
from vyre.front.syntax import check_syntax
from vyre.front.values import SHAPE, STRIDES, Array, Constant, Key, Scalar, Steps, Thing
from vyre.ir import AnyExpr, BufferDecl, BufLen, DataType, Expr, Let, Load, Program
from vyre.ir.collector import collector_paused
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Specialisation:
    """What a call decides about a kernel."""

    types: tuple[tuple[str, DataType], ...] = ()
    """Generic types by name."""
    statics: tuple[tuple[str, int | float | bool], ...] = ()
    layouts: tuple[tuple[str, Layout], ...] = ()
    """Arrays that are views with strides."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelSource:
    """A kernel as it was written: its function and what its parameters are."""

    source: Source
    parameters: Mapping[str, Parameter]
    defaults: Mapping[str, object]
    workgroup: tuple[int, int, int]
    fast_math: bool = False
    entry_op_id: str | None = None
    copies_whole: bool = False
    """Whether it starts copies of whole stretches of memory, which views with strides lack."""
    _known: dict[Specialisation, Program] = field(default_factory=dict[Specialisation, Program])

    @property
    def is_open(self) -> bool:
        """Whether a call decides about types or compile-time values."""
        return any(
            isinstance(one, StaticParameter) or isinstance(one.dtype, GenericType)
            for one in self.parameters.values()
        )

    @property
    def has_keyword_only(self) -> bool:
        """Whether some parameters are given by name only."""
        return bool(self.source.tree.args.kwonlyargs)

    def program(self, wanted: Specialisation) -> Program:
        """The program for one specialisation, translated once."""
        found = self._known.get(wanted)
        if found is None:
            try:
                made = _translate(self, wanted)
            except FrontError as error:
                # The frames of the translator say nothing to whoever wrote the kernel.
                raise error.with_traceback(None) from error.__cause__
            found = self._known.setdefault(wanted, made)
        return found


def kernel_source(
    function: object,
    workgroup: Sequence[int] | int,
    fast_math: bool = False,
) -> KernelSource:
    """Read a function that is to be a kernel; refuses what can be refused without types."""
    if not isinstance(function, FunctionType):
        raise FrontError(codes.NOT_A_FUNCTION.at(form="vy.kernel", found=repr(function)))
    source = source_of(function)
    size = _workgroup(source, workgroup)
    check_syntax(source)
    parameters = _parameters(source)
    entry = f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "")
    names = {getattr(node, "attr", getattr(node, "id", None)) for node in parts(source.tree)}
    copies = not names.isdisjoint(("async_load", "async_store"))
    return KernelSource(source, parameters, _defaults(function), size, fast_math, entry, copies)


def _workgroup(source: Source, wanted: Sequence[int] | int) -> tuple[int, int, int]:
    extents = (wanted,) if isinstance(wanted, int) else tuple(wanted)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in extents)
    if not 1 <= len(extents) <= 3 or not whole:
        raise source.error(source.tree, codes.WORKGROUP, found=wanted)
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


def _defaults(function: FunctionType) -> dict[str, object]:
    values = function.__defaults__ or ()
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    found: dict[str, object] = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return {**found, **(function.__kwdefaults__ or {})}


def _parameters(source: Source) -> dict[str, Parameter]:
    arguments = source.tree.args
    extra = arguments.vararg or arguments.kwarg
    if extra is not None:
        problem = "takes any number of values"
        raise source.error(extra, codes.PARAMETER, name=extra.arg, problem=problem)
    found: dict[str, Parameter] = {}
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        parameter = parameter_of(_annotation(source, one))
        if parameter is None:
            problem = "has no type" if one.annotation is None else "has a type that kernels lack"
            raise source.error(one, codes.PARAMETER, name=one.arg, problem=problem)
        found[one.arg] = parameter
    return found


def _annotation(source: Source, argument: ast.arg) -> object:
    found = source.annotations.get(argument.arg)
    if isinstance(found, str) and argument.annotation is not None:
        try:
            return source.evaluate(ast.parse(found, mode="eval").body)
        except (NameError, AttributeError, TypeError) as problem:
            raise source.error(
                argument, codes.PARAMETER, name=argument.arg, problem=f"has a type that {problem}"
            ) from problem
    return found


@collector_paused()
def _translate(kernel: KernelSource, wanted: Specialisation) -> Program:
    learned: dict[Key, DataType] = {}
    reasons: dict[Key, str] = {}
    while True:
        try:
            return _attempt(kernel, wanted, learned, reasons)
        except Restart:
            # Every attempt settles the type of a variable that was open before, so this ends.
            continue


def _attempt(
    kernel: KernelSource,
    wanted: Specialisation,
    learned: dict[Key, DataType],
    reasons: dict[Key, str],
) -> Program:
    body = kernel.source.tree.body
    names = frozenset(kernel.parameters)
    changed = assigned_names(body) & names
    frame = Frame(
        kernel.source,
        find_homes(body, names),
        (),
        {},
        reassigned_names(body) | changed,
    )
    ctx = Context(
        [frame],
        learned,
        reasons,
        kernel.workgroup,
        lower_expr,
        lower_body,
        facts=Facts(workgroup=kernel.workgroup),
    )
    _bind_parameters(ctx, kernel, wanted, changed)
    try:
        lower_body(ctx, body)
    except FrontError as error:
        if not ctx.problems:
            raise
        ctx.problems += error.diagnostics
    if ctx.problems:
        raise FrontError(ctx.problems)
    made = Program.wrapped(
        ctx.buffers, kernel.workgroup, ctx.body, kernel.entry_op_id, kernel.fast_math
    )
    placed = dict(wanted.layouts)
    return with_own_zeros(
        made,
        [
            name
            for name, parameter in kernel.parameters.items()
            if isinstance(parameter, ArrayParameter) and parameter.mode is Mode.OUT
            if name not in placed
        ],
    )


def _bind_parameters(
    ctx: Context, kernel: KernelSource, wanted: Specialisation, changed: frozenset[str] | set[str]
) -> None:
    types = dict(wanted.types)
    statics = dict(wanted.statics)
    layouts = dict(wanted.layouts)
    names = ctx.frame.names
    ctx.taken.update(kernel.parameters)
    for name, dtype in types.items():
        names[f"{name}: generic"] = Thing(dtype)
    for name, parameter in kernel.parameters.items():
        binding: Binding
        match parameter:
            case StaticParameter():
                binding = Constant(statics[name])
            case ScalarParameter(dtype):
                binding = _scalar(ctx, name, _resolved(dtype, types))
            case ArrayParameter(mode, dtype, rank):
                dtype = _resolved(dtype, types)
                binding = _array(ctx, name, mode, dtype, rank, layouts.get(name))
        names[name] = binding
        ctx.frame.assigned.add(name)
    for name in sorted(changed):
        _own_copy(ctx, kernel, name)


def _resolved(dtype: DataType | GenericType, types: Mapping[str, DataType]) -> DataType:
    return types[dtype.name] if isinstance(dtype, GenericType) else dtype


def _scalar(ctx: Context, name: str, dtype: DataType) -> Scalar:
    ctx.buffers.append(BufferDecl.uniform(name, len(ctx.buffers), dtype).with_count(1))
    return Scalar(Load(name, Expr.u32(0)), dtype)


def _array(
    ctx: Context, name: str, mode: Mode, dtype: DataType, rank: int, layout: Layout | None
) -> Array:
    binding = len(ctx.buffers)
    match mode:
        case Mode.IN:
            ctx.buffers.append(BufferDecl.read(name, binding, dtype))
        case Mode.OUT if layout is None:
            ctx.buffers.append(BufferDecl.output(name, binding, dtype))
        case Mode.OUT | Mode.INOUT:
            # An output begins as zeros, but what lies between the elements of a view must stay.
            ctx.buffers.append(BufferDecl.read_write(name, binding, dtype))
    shape: tuple[AnyExpr, ...] = (BufLen(name),)
    steps: Steps | None = None
    if rank > 1 or layout is not None:
        shape = _numbers(ctx, name + SHAPE, rank)
    if layout is not None:
        start, *along = _numbers(ctx, name + STRIDES, rank + 1)
        neighbours = layout is Layout.ROWS
        steps = Steps(start, (*along[:-1], None) if neighbours else tuple(along))
    return Array(name, dtype.value_type, rank, shape, mode is not Mode.IN, steps)


def _numbers(ctx: Context, name: str, count: int) -> tuple[AnyExpr, ...]:
    """Numbers that the host passes beside an array."""
    ctx.taken.add(name)
    decl = BufferDecl.uniform(name, len(ctx.buffers), DataType.U32)
    ctx.buffers.append(decl.with_count(count))
    return tuple(Load(name, Expr.u32(position)) for position in range(count))


def _own_copy(ctx: Context, kernel: KernelSource, name: str) -> None:
    """A parameter that the kernel assigns to is a variable that begins with the argument."""
    found = ctx.frame.names[name]
    if isinstance(found, Constant) and not isinstance(found.value, str):
        dtype = default_type(found.value)
        found = Scalar(Expr.lit(found.value, dtype), dtype)
    if not isinstance(found, Scalar):
        raise ctx.error(_assignment(kernel.source.tree, name), codes.ASSIGN_ARRAY, name=name)
    variable = Variable(ctx.fresh(name), found.dtype, (name,))
    ctx.emit(Let(variable.name, found.expr))
    ctx.frame.names[name] = variable


def _assignment(tree: ast.FunctionDef, name: str) -> ast.AST:
    """The first place that assigns to a name."""
    for node in parts(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return node
    return tree
