"""Expressions as closures: compiled once, evaluated for the active invocations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import ir
from vyre.backends.reference import accesses, subgroups, wrapping
from vyre.backends.reference.code import Evaluate
from vyre.diagnostics import CheckError, Diagnostic
from vyre.ir.infer import binary_type, bitcast_type, cast_type, node_type, unary_type
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

Compiled = tuple[Evaluate, ir.DataType]


def expression(compiler: Compiler, expr: ir.AnyExpr) -> Compiled:
    """The closure that evaluates an expression, and the type of its value."""
    return _BY_KIND[type(expr)](compiler, expr)


def _sound(answer: ir.DataType | Diagnostic) -> ir.DataType:
    if isinstance(answer, Diagnostic):
        raise CheckError(answer)
    return answer


def _operands(compiler: Compiler, expr: ir.AnyExpr) -> tuple[list[Evaluate], ir.DataType]:
    """The closures of all operands, and the type that the expression has with them."""
    made = [expression(compiler, child) for child in expr_children(expr)]
    answer = node_type(expr, [dtype for _, dtype in made], compiler.variables.env)
    return [run for run, _ in made], _sound(answer)


@cache
def _constant(dtype: ir.DataType, bits: int) -> Evaluate:
    value = literal(dtype, bits)
    value.flags.writeable = False
    return lambda task, lanes: value


def _lit(compiler: Compiler, expr: ir.Lit) -> Compiled:
    return _constant(expr.dtype, expr.bits), expr.dtype


def _var(compiler: Compiler, expr: ir.Var) -> Compiled:
    number, dtype = compiler.variables.use(expr.name)
    return (lambda task, lanes: task.read(number, lanes)), dtype


def _load(compiler: Compiler, expr: ir.Load) -> Compiled:
    with compiler.unwatched():
        index, found = expression(compiler, expr.index)
    _, decl = compiler.buffer(expr.buffer)
    dtype = decl.value_type
    if not (found.is_integer and dtype.is_value):
        _sound(node_type(expr, (found,), compiler.variables.env))
    return accesses.load(compiler, expr.buffer, index), dtype


def _buf_len(compiler: Compiler, expr: ir.BufLen) -> Compiled:
    return accesses.length(compiler, expr.buffer), ir.DataType.U32


def _builtin(compiler: Compiler, expr: ir.Builtin) -> Compiled:
    kind, axis = expr.kind, expr.axis
    return (lambda task, lanes: task.builtin(kind, axis, lanes)), ir.DataType.U32


@cache
def _unary_result(op: ir.UnOp, dtype: ir.DataType) -> ir.DataType:
    return _sound(unary_type(op, dtype))


@cache
def _binary_result(op: ir.BinOp, left: ir.DataType, right: ir.DataType) -> ir.DataType:
    return _sound(binary_type(op, left, right))


def _one(function: subgroups.OneOperand, operand: Evaluate) -> Evaluate:
    return lambda task, lanes: function(operand(task, lanes))


def _unary(compiler: Compiler, expr: ir.Unary) -> Compiled:
    operand, dtype = expression(compiler, expr.operand)
    result = _unary_result(expr.op, dtype)
    return _one(unary_function(expr.op, dtype), operand), result


def _binary(compiler: Compiler, expr: ir.Binary) -> Compiled:
    watched = compiler.watches and wrapping.counts_as_number(expr)
    first = wrapping.operand if watched else expression
    second = wrapping.operand if watched and expr.op is not ir.BinOp.SHR else expression
    left, dtype = first(compiler, expr.left)
    right, other = second(compiler, expr.right)
    result = _binary_result(expr.op, dtype, other)
    function = binary_function(expr.op, dtype)
    if compiler.sanitize and expr.op in (ir.BinOp.DIV, ir.BinOp.REM) and dtype.is_integer:
        return _watched_division(function, left, right, compiler.place), result
    return (lambda task, lanes: function(left(task, lanes), right(task, lanes))), result


def _watched_division(
    function: subgroups.TwoOperands, left: Evaluate, right: Evaluate, place: int
) -> Evaluate:
    def run(task: Task, lanes: Lanes) -> Array:
        a, b = left(task, lanes), right(task, lanes)
        watch = task.cohort.world.watch
        if watch is not None:
            watch.divided(task, lanes, b, place)
        return function(a, b)

    return run


def _fma(compiler: Compiler, expr: ir.Fma) -> Compiled:
    (a, b, c), dtype = _operands(compiler, expr)
    return (lambda task, lanes: fma(a(task, lanes), b(task, lanes), c(task, lanes))), dtype


def _select(compiler: Compiler, expr: ir.Select) -> Compiled:
    (a, b, c), dtype = _operands(compiler, expr)
    return (lambda task, lanes: select(a(task, lanes), b(task, lanes), c(task, lanes))), dtype


def _cast(compiler: Compiler, expr: ir.Cast) -> Compiled:
    is_watched = compiler.watches and expr.dtype.is_float
    operand, source = (wrapping.operand if is_watched else expression)(compiler, expr.value)
    dtype = _sound(cast_type(source, expr.dtype))
    return _one(cast_function(source, dtype), operand), dtype


def _bitcast(compiler: Compiler, expr: ir.Bitcast) -> Compiled:
    operand, source = expression(compiler, expr.value)
    dtype = _sound(bitcast_type(source, expr.dtype))
    return _one(bitcast_function(source, dtype), operand), dtype


def _vector(compiler: Compiler, expr: ir.MakeVec) -> Compiled:
    operands, dtype = _operands(compiler, expr)

    def make(task: Task, lanes: Lanes) -> Array:
        values = [operand(task, lanes) for operand in operands]
        return np.stack(np.broadcast_arrays(*values), axis=1)

    return make, dtype


def _lane(compiler: Compiler, expr: ir.Lane) -> Compiled:
    (value,), dtype = _operands(compiler, expr)
    index = expr.index
    return (lambda task, lanes: np.ascontiguousarray(value(task, lanes)[:, index])), dtype


def _atomic(compiler: Compiler, expr: ir.Atomic) -> Compiled:
    operands, dtype = _operands(compiler, expr)
    return accesses.atomic(compiler, expr, operands, discard=False), dtype


def effect(compiler: Compiler, expr: ir.Atomic) -> Evaluate:
    """An atomic whose old value is unused."""
    operands, _ = _operands(compiler, expr)
    return accesses.atomic(compiler, expr, operands, discard=True)


def _ballot(compiler: Compiler, expr: ir.Ballot) -> Compiled:
    (cond,), dtype = _operands(compiler, expr)
    compiler.has_subgroups = True
    return subgroups.ballot(cond), dtype


def _shuffle(compiler: Compiler, expr: ir.Shuffle) -> Compiled:
    (value, lane), dtype = _operands(compiler, expr)
    compiler.has_subgroups = True
    return subgroups.shuffle(value, lane), dtype


def _reduce(compiler: Compiler, expr: ir.SubgroupReduce) -> Compiled:
    (value,), dtype = _operands(compiler, expr)
    compiler.has_subgroups = True
    return subgroups.reduce(reduce_function(expr.op, dtype), value), dtype


_BY_KIND: dict[type[ir.AnyExpr], Callable[[Compiler, Any], Compiled]] = {
    ir.Lit: _lit,
    ir.Var: _var,
    ir.Load: _load,
    ir.BufLen: _buf_len,
    ir.Builtin: _builtin,
    ir.Unary: _unary,
    ir.Binary: _binary,
    ir.Fma: _fma,
    ir.Select: _select,
    ir.Cast: _cast,
    ir.Bitcast: _bitcast,
    ir.MakeVec: _vector,
    ir.Lane: _lane,
    ir.Atomic: _atomic,
    ir.Ballot: _ballot,
    ir.Shuffle: _shuffle,
    ir.SubgroupReduce: _reduce,
}
