"""A trial as a device sees it that takes subnormal numbers for zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from vyre import ir
from vyre.conform.suite.case import Trial
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import map_exprs, rewrite_exprs, walk_all_exprs, walk_stmts
from vyre.semantics import Array

_FRACTION = {ir.DataType.F16: 10, ir.DataType.F32: 23, ir.DataType.F64: 52}
_LEAST = 1 << _FRACTION[ir.DataType.F32]
"""The bits of the least normal number of single precision."""


def flushed_trials(trial: Trial) -> list[Trial]:
    """The same for a device that flushes: every operation does, or all but a fused multiply-add.

    A device may compute the latter with integers, which know no subnormal numbers. It may also
    look at a result before it is rounded, and make zero what would round to the least normal one.
    """
    inputs: dict[str, Any] = dict(trial.inputs)
    for decl in trial.program.buffers:
        if decl.name in inputs and decl.element in _FRACTION:
            inputs[decl.name] = _flushed(decl.element, np.asarray(inputs[decl.name]))
    body = rewrite_exprs(trial.program.entry, _flushed_literal)
    program = _flushing(trial.program.with_rewritten_entry(body), (ir.Unary, ir.Binary, ir.Fma))
    found = [replace(trial, inputs=inputs, program=program)]
    earlier = _flushing(
        trial.program.with_rewritten_entry(body), (ir.Unary, ir.Binary, ir.Fma), _LEAST + 1
    )
    found.append(replace(trial, inputs=inputs, program=earlier))
    if any(isinstance(expr, ir.Fma) for expr in walk_all_exprs(trial.program.entry)):
        found.append(replace(trial, program=_flushing(trial.program, (ir.Unary, ir.Binary))))
    return found


def _flushing(
    program: ir.Program, operations: tuple[type[ir.AnyExpr], ...], kept: int = _LEAST
) -> ir.Program:
    """The same with f32 operands and results of some operations made zero where subnormal.

    Results are made zero below the number whose bits are `kept`.
    """
    variables: dict[str, ir.DataType] = {}
    env = TypeEnv({decl.name: decl for decl in program.buffers}, variables)
    for statement in walk_stmts(program.entry):
        match statement:
            case ir.Let(name, value) | ir.Loop(name, value):
                variables[name] = type_of(value, env)
            case _:
                pass

    def operand(expr: ir.AnyExpr) -> ir.AnyExpr:
        # What another operation gave is flushed already.
        is_open = not isinstance(expr, ir.Bitcast) and type_of(expr, env) is ir.DataType.F32
        return _flushed_value(expr) if is_open else expr

    def change(expr: ir.AnyExpr) -> ir.AnyExpr:
        if not isinstance(expr, operations):
            return expr
        made = map_exprs(expr, operand)
        return _flushed_value(made, kept) if type_of(made, env) is ir.DataType.F32 else made

    return program.with_rewritten_entry(rewrite_exprs(program.entry, change))


def _flushed_value(expr: ir.AnyExpr, kept: int = _LEAST) -> ir.AnyExpr:
    bits = ir.Expr.bitcast(expr, ir.DataType.U32)
    tiny = (bits & ir.Expr.u32(0x7FFF_FFFF)) < ir.Expr.u32(kept)
    return ir.Expr.bitcast(ir.Expr.select(tiny, bits & ir.Expr.u32(1 << 31), bits), ir.DataType.F32)


def _flushed(dtype: ir.DataType, array: Array) -> Array:
    bits = array.view(f"u{array.dtype.itemsize}")
    magnitude = bits & bits.dtype.type(_sign(dtype) - 1)
    tiny = magnitude < bits.dtype.type(1 << _FRACTION[dtype])
    return np.where(tiny, bits & bits.dtype.type(_sign(dtype)), bits).view(array.dtype)


def _flushed_literal(expr: ir.AnyExpr) -> ir.AnyExpr:
    if isinstance(expr, ir.Lit) and expr.dtype in _FRACTION:
        sign = _sign(expr.dtype)
        if 0 < expr.bits & (sign - 1) < 1 << _FRACTION[expr.dtype]:
            return ir.Lit(expr.dtype, expr.bits & sign)
    return expr


def _sign(dtype: ir.DataType) -> int:
    return 1 << ((dtype.bits or 0) - 1)
