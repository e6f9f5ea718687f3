"""From the function of a kernel to a program, for one set of types."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from vyre import ir
from vyre.analysis.default_grid.needs import find_plan
from vyre.analysis.default_grid.plan import PLAN
from vyre.diagnostics import FrontError
from vyre.diagnostics.codes import front as codes
from vyre.front.ast_nodes import parts
from vyre.front.captured_state import Reads
from vyre.front.context import Binding, Context, Frame, Restart, Variable
from vyre.front.expressions import lower_expr
from vyre.front.extent_limit import LIMIT, extents_below
from vyre.front.facts import Facts
from vyre.front.functions import reassigned_names
from vyre.front.kernels import KernelSource, Specialisation
from vyre.front.parameters import (
    ArrayParameter,
    GenericType,
    Layout,
    Mode,
    ScalarParameter,
    StaticParameter,
)
from vyre.front.statements import lower_body
from vyre.front.type_unification import default_type
from vyre.front.values import Array, Constant, Form, Key, Scalar, Steps, Thing
from vyre.front.variable_scopes import assigned_names, bound_names, find_homes
from vyre.ir.buffer import SHAPE, STRIDES
from vyre.ir.gc_pause import collector_paused
from vyre.rewrite.unconditional_stores import with_unconditional_stores


@collector_paused()
def translate(kernel: KernelSource, wanted: Specialisation, reads: Reads) -> ir.Program:
    """The program for a kernel; `reads` takes down what it depends on."""
    placed = dict(wanted.layouts)
    outputs = [
        name
        for name, parameter in kernel.parameters.items()
        if isinstance(parameter, ArrayParameter) and parameter.mode is Mode.OUT
        if name not in placed
    ]
    written = as_written(kernel, wanted, reads)
    made = with_unconditional_stores(written, outputs)
    made.memo(PLAN, find_plan)
    made.memo(LIMIT, lambda _: extents_below(written))
    return made


def as_written(kernel: KernelSource, wanted: Specialisation, reads: Reads) -> ir.Program:
    """The program that does what a kernel says, and leaves zeros to its caller."""
    learned: dict[Key, ir.DataType | Form] = {}
    reasons: dict[Key, str] = {}
    literals: dict[Key, tuple[int, ...]] = {}
    rebound: set[Key] = set()
    while True:
        try:
            return _attempt(kernel, wanted, learned, reasons, literals, rebound, reads)
        except Restart:
            # Every attempt settles something of a variable that was open before, so this ends.
            continue


def _attempt(
    kernel: KernelSource,
    wanted: Specialisation,
    learned: dict[Key, ir.DataType | Form],
    reasons: dict[Key, str],
    literals: dict[Key, tuple[int, ...]],
    rebound: set[Key],
    reads: Reads,
) -> ir.Program:
    body = kernel.source.tree.body
    names = frozenset(kernel.parameters)
    changed = assigned_names(body) & names
    frame = Frame(
        kernel.source,
        find_homes(body, names),
        (),
        {},
        reassigned_names(body) | changed,
        bound_names(body),
    )
    ctx = Context(
        [frame],
        learned,
        reasons,
        literals,
        rebound,
        kernel.workgroup,
        lower_expr,
        lower_body,
        reads,
        facts=Facts(workgroup=kernel.workgroup),
    )
    ctx.settle(ctx.changed())
    _bind_parameters(ctx, kernel, wanted, changed)
    try:
        lower_body(ctx, body)
    except FrontError as error:
        if not ctx.problems:
            raise
        ctx.problems += error.diagnostics
    if ctx.problems:
        raise FrontError(ctx.problems)
    made = ir.Program.wrapped(
        ctx.buffers, kernel.workgroup, ctx.body, kernel.entry_op_id, kernel.fast_math
    )
    made.memo(LIMIT, lambda _: ctx.extents_below)
    return made


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


def _resolved(dtype: ir.DataType | GenericType, types: Mapping[str, ir.DataType]) -> ir.DataType:
    return types[dtype.name] if isinstance(dtype, GenericType) else dtype


def _scalar(ctx: Context, name: str, dtype: ir.DataType) -> Scalar:
    ctx.buffers.append(ir.BufferDecl.uniform(name, len(ctx.buffers), dtype).with_count(1))
    return Scalar(ir.Load(name, ir.Expr.u32(0)), dtype)


def _array(
    ctx: Context, name: str, mode: Mode, dtype: ir.DataType, rank: int, layout: Layout | None
) -> Array:
    binding = len(ctx.buffers)
    match mode:
        case Mode.IN:
            ctx.buffers.append(ir.BufferDecl.read(name, binding, dtype))
        case Mode.OUT if layout is None:
            ctx.buffers.append(ir.BufferDecl.output(name, binding, dtype))
        case Mode.OUT | Mode.INOUT:
            # An output begins as zeros, but what lies between the elements of a view must stay.
            ctx.buffers.append(ir.BufferDecl.read_write(name, binding, dtype))
    shape: tuple[ir.AnyExpr, ...] = (ir.BufLen(name),)
    steps: Steps | None = None
    if rank > 1 or layout is not None:
        shape = _numbers(ctx, name + SHAPE, rank)
    if layout is not None:
        start, *along = _numbers(ctx, name + STRIDES, rank + 1)
        neighbours = layout is Layout.ROWS
        steps = Steps(start, (*along[:-1], None) if neighbours else tuple(along))
    return Array(name, dtype.value_type, rank, shape, mode is not Mode.IN, steps)


def _numbers(ctx: Context, name: str, count: int) -> tuple[ir.AnyExpr, ...]:
    """Numbers that the host passes beside an array."""
    ctx.taken.add(name)
    decl = ir.BufferDecl.uniform(name, len(ctx.buffers), ir.DataType.U32)
    ctx.buffers.append(decl.with_count(count))
    return tuple(ir.Load(name, ir.Expr.u32(position)) for position in range(count))


def _own_copy(ctx: Context, kernel: KernelSource, name: str) -> None:
    """A parameter that the kernel assigns to is a variable that begins with the argument."""
    found = ctx.frame.names[name]
    if isinstance(found, Constant) and not isinstance(found.value, str):
        dtype = default_type(found.value)
        found = Scalar(ir.Expr.lit(found.value, dtype), dtype)
    if not isinstance(found, Scalar):
        raise ctx.error(_assignment(kernel.source.tree, name), codes.ASSIGN_ARRAY, name=name)
    variable = Variable(ctx.fresh(name), found.dtype, (name,))
    ctx.emit(ir.Let(variable.name, found.expr))
    ctx.frame.names[name] = variable


def _assignment(tree: ast.FunctionDef, name: str) -> ast.AST:
    """The first place that assigns to a name."""
    for node in parts(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return node
    return tree
