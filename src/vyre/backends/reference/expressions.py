"""Expressions as closures: compiled once, evaluated for the active invocations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

import numpy as np

from vyre.backends.reference import accesses, subgroups
from vyre.backends.reference.code import Evaluate
from vyre.diagnostics import CheckError, Diagnostic
from vyre.ir import (
    AnyExpr,
    Atomic,
    Ballot,
    Binary,
    BinOp,
    Bitcast,
    BufLen,
    Builtin,
    Cast,
    DataType,
    Fma,
    Lane,
    Lit,
    Load,
    MakeVec,
    Select,
    Shuffle,
    SubgroupReduce,
    Unary,
    Var,
)
from vyre.ir.infer import node_type
from vyre.ir.walk import expr_children
from vyre.semantics import (
    Array,
    binary_function,
    bitcast_function,
    cast_function,
    literal,
    reduce_function,
    select,
    unary_function,
)
from vyre.semantics.fused import fma

if TYPE_CHECKING:
    from vyre.backends.reference.compile import Compiler
    from vyre.backends.reference.lanes import Lanes
    from vyre.backends.reference.task import Task


def expression(compiler: Compiler, expr: AnyExpr) -> tuple[Evaluate, DataType]:
    """The closure that evaluates an expression, and the type of its value."""
    operands = [expression(compiler, child) for child in expr_children(expr)]
    types = [dtype for _, dtype in operands]
    if isinstance(expr, Var):
        number, dtype = compiler.variables.use(expr.name)
        return (lambda task, lanes: task.read(number, lanes)), dtype
    dtype = node_type(expr, types, compiler.variables.env)
    if isinstance(dtype, Diagnostic):
        raise CheckError(dtype)
    return _node(compiler, expr, [run for run, _ in operands], types), dtype


def _node(  # noqa: C901
    compiler: Compiler,
    expr: AnyExpr,
    operands: Sequence[Evaluate],
    types: Sequence[DataType],
) -> Evaluate:
    match expr:
        case Lit(dtype, bits):
            value = literal(dtype, bits)
            return lambda task, lanes: value
        case Load(buffer):
            return accesses.load(compiler, buffer, operands[0])
        case BufLen(buffer):
            return accesses.length(compiler, buffer)
        case Builtin(kind, axis):
            return lambda task, lanes: task.builtin(kind, axis, lanes)
        case Unary(op):
            return _one(unary_function(op, types[0]), operands[0])
        case Binary(op):
            return _binary(compiler, op, types[0], operands)
        case Fma():
            a, b, c = operands
            return lambda task, lanes: fma(a(task, lanes), b(task, lanes), c(task, lanes))
        case Select():
            a, b, c = operands
            return lambda task, lanes: select(a(task, lanes), b(task, lanes), c(task, lanes))
        case Cast(_, dtype):
            return _one(cast_function(types[0], dtype), operands[0])
        case Bitcast(_, dtype):
            return _one(bitcast_function(types[0], dtype), operands[0])
        case MakeVec():
            return _vector(operands)
        case Lane(_, index):
            value = operands[0]
            return lambda task, lanes: np.ascontiguousarray(value(task, lanes)[:, index])
        case Atomic():
            return accesses.atomic(compiler, expr, operands, discard=False)
        case Ballot():
            return subgroups.ballot(operands[0])
        case Shuffle():
            return subgroups.shuffle(operands[0], operands[1])
        case SubgroupReduce(op):
            return subgroups.reduce(reduce_function(op, types[0]), operands[0])
        case Var():
            raise AssertionError("variables have been dealt with")
    assert_never(expr)


def _one(function: subgroups.OneOperand, operand: Evaluate) -> Evaluate:
    return lambda task, lanes: function(operand(task, lanes))


def _binary(
    compiler: Compiler, op: BinOp, dtype: DataType, operands: Sequence[Evaluate]
) -> Evaluate:
    function = binary_function(op, dtype)
    left, right = operands
    if not compiler.sanitize or op not in (BinOp.DIV, BinOp.REM) or dtype.is_float:
        return lambda task, lanes: function(left(task, lanes), right(task, lanes))
    place = compiler.place

    def watched(task: Task, lanes: Lanes) -> Array:
        a, b = left(task, lanes), right(task, lanes)
        watch = task.cohort.world.watch
        if watch is not None:
            watch.divided(task, lanes, b, place)
        return function(a, b)

    return watched


def _vector(operands: Sequence[Evaluate]) -> Evaluate:
    def make(task: Task, lanes: Lanes) -> Array:
        values = [operand(task, lanes) for operand in operands]
        return np.stack(np.broadcast_arrays(*values), axis=1)

    return make
