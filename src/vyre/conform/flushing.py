"""A trial as a device sees it that takes subnormal numbers for zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.ir import AnyExpr, Binary, Bitcast, DataType, Expr, Fma, Let, Lit, Loop, Program, Unary
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import map_exprs, rewrite_exprs, walk_all_exprs, walk_stmts
from vyre.semantics import Array

_FRACTION = {DataType.F16: 10, DataType.F32: 23, DataType.F64: 52}
_LEAST = 1 << _FRACTION[DataType.F32]
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
    program = _flushing(trial.program.with_rewritten_entry(body), (Unary, Binary, Fma))
    found = [replace(trial, inputs=inputs, program=program)]
    earlier = _flushing(trial.program.with_rewritten_entry(body), (Unary, Binary, Fma), _LEAST + 1)
    found.append(replace(trial, inputs=inputs, program=earlier))
    if any(isinstance(expr, Fma) for expr in walk_all_exprs(trial.program.entry)):
        found.append(replace(trial, program=_flushing(trial.program, (Unary, Binary))))
    return found


def _flushing(
    program: Program, operations: tuple[type[AnyExpr], ...], kept: int = _LEAST
) -> Program:
    """The same with f32 operands and results of some operations made zero where subnormal.

    Results are made zero below the number whose bits are `kept`.
    """
    variables: dict[str, DataType] = {}
    env = TypeEnv({decl.name: decl for decl in program.buffers}, variables)
    for statement in walk_stmts(program.entry):
        match statement:
            case Let(name, value) | Loop(name, value):
                variables[name] = type_of(value, env)
            case _:
                pass

    def operand(expr: AnyExpr) -> AnyExpr:
        # What another operation gave is flushed already.
        is_open = not isinstance(expr, Bitcast) and type_of(expr, env) is DataType.F32
        return _flushed_value(expr) if is_open else expr

    def change(expr: AnyExpr) -> AnyExpr:
        if not isinstance(expr, operations):
            return expr
        made = map_exprs(expr, operand)
        return _flushed_value(made, kept) if type_of(made, env) is DataType.F32 else made

    return program.with_rewritten_entry(rewrite_exprs(program.entry, change))


def _flushed_value(expr: AnyExpr, kept: int = _LEAST) -> AnyExpr:
    bits = Expr.bitcast(expr, DataType.U32)
    tiny = (bits & Expr.u32(0x7FFF_FFFF)) < Expr.u32(kept)
    return Expr.bitcast(Expr.select(tiny, bits & Expr.u32(1 << 31), bits), DataType.F32)


def _flushed(dtype: DataType, array: Array) -> Array:
    bits = array.view(f"u{array.dtype.itemsize}")
    magnitude = bits & bits.dtype.type(_sign(dtype) - 1)
    tiny = magnitude < bits.dtype.type(1 << _FRACTION[dtype])
    return np.where(tiny, bits & bits.dtype.type(_sign(dtype)), bits).view(array.dtype)


def _flushed_literal(expr: AnyExpr) -> AnyExpr:
    if isinstance(expr, Lit) and expr.dtype in _FRACTION:
        sign = _sign(expr.dtype)
        if 0 < expr.bits & (sign - 1) < 1 << _FRACTION[expr.dtype]:
            return Lit(expr.dtype, expr.bits & sign)
    return expr


def _sign(dtype: DataType) -> int:
    return 1 << ((dtype.bits or 0) - 1)
