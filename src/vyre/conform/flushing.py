"""A trial as a device sees it that takes subnormal numbers for zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.ir import AnyExpr, DataType, Lit
from vyre.ir.walk import rewrite_exprs
from vyre.semantics import Array

_FRACTION = {DataType.F16: 10, DataType.F32: 23, DataType.F64: 52}


def flushed_trial(trial: Trial) -> Trial:
    """The same with every subnormal input and literal replaced by the zero of its sign."""
    inputs: dict[str, Any] = dict(trial.inputs)
    for decl in trial.program.buffers:
        if decl.name in inputs and decl.element in _FRACTION:
            inputs[decl.name] = _flushed(decl.element, np.asarray(inputs[decl.name]))
    body = rewrite_exprs(trial.program.entry, _flushed_literal)
    return replace(trial, inputs=inputs, program=trial.program.with_rewritten_entry(body))


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
