"""Opcodes in a row: what optimizers merge, contract, reorder and cancel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vyre import ir
from vyre.conform.compare import EXACT, Tolerance
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.ir import literal
from vyre.ir.types import ARITHMETIC_FLOATS, INTEGER_TYPES

_AREA = "combinations"
_TOGETHER = 40
"""Expressions in one program."""
_INTEGER_OPS = (
    *(
        ir.BinOp.ADD,
        ir.BinOp.SUB,
        ir.BinOp.MUL,
        ir.BinOp.DIV,
        ir.BinOp.REM,
        ir.BinOp.AND,
        ir.BinOp.OR,
        ir.BinOp.XOR,
    ),
    *(ir.BinOp.SHL, ir.BinOp.SHR, ir.BinOp.ROTL, ir.BinOp.MIN, ir.BinOp.MAX),
)
_FLOAT_OPS = (ir.BinOp.ADD, ir.BinOp.SUB, ir.BinOp.MUL, ir.BinOp.DIV, ir.BinOp.MIN, ir.BinOp.MAX)
_SIGNED_ZEROS = (ir.BinOp.MIN, ir.BinOp.MAX)


def trials() -> Iterator[Trial]:
    """The whole area."""
    for dtype in (*INTEGER_TYPES, *ARITHMETIC_FLOATS):
        made = [*_in_a_row(dtype), *_shapes(dtype)]
        for start in range(0, len(made), _TOGETHER):
            yield _trial(dtype, made[start : start + _TOGETHER])


Made = tuple[str, ir.AnyExpr, Tolerance]


def _in_a_row(dtype: ir.DataType) -> Iterator[Made]:
    """(x op c) op d for every two opcodes."""
    ops = _FLOAT_OPS if dtype.is_float else _INTEGER_OPS
    v = ir.Expr.load("v", ir.Expr.var("i"))
    for number, first in enumerate(ops):
        for second in ops:
            c, d = _literals(dtype, number)
            value = ir.Expr.binary(second, ir.Expr.binary(first, v, c), d)
            zeros = first in _SIGNED_ZEROS or second in _SIGNED_ZEROS
            # The sign of a zero may be either after min and max, and what follows may show it.
            tolerance = Tolerance(zero_signs=True) if zeros and dtype.is_float else EXACT
            label = f"(x {first.row.spelling} {c.value}) {second.row.spelling} {d.value} of {dtype}"
            yield label, value, tolerance


def _literals(dtype: ir.DataType, number: int) -> tuple[ir.Lit, ir.Lit]:
    if dtype.is_float:
        c, d = ((2.0, 0.5), (3.0, -1.5), (-0.25, 8.0))[number % 3]
        return ir.Lit(dtype, literal.encode_float(c, dtype)), ir.Lit(
            dtype, literal.encode_float(d, dtype)
        )
    width = dtype.bits or 0
    pairs = ((width - 1, 1), (3, width - 2), (width + 2, width + 5), (7, 2))
    c, d = pairs[number % 4]
    return ir.Expr.lit(c, dtype), ir.Expr.lit(d, dtype)


def _shapes(dtype: ir.DataType) -> Iterator[Made]:
    """Forms that look as if they could be simplified."""
    i = ir.Expr.var("i")
    v, a, b = (ir.Expr.load(name, i) for name in "vab")
    one, zero = (ir.Expr.lit(1.0 if dtype.is_float else 1, dtype), ir.Lit(dtype, 0))
    less = v < a
    found: list[tuple[str, ir.AnyExpr]] = [
        ("x * y + z", v * a + b),
        ("x * y - z", v * a - b),
        ("z - x * y", b - v * a),
        ("x - x", v - v),
        ("x + y - y", v + a - a),
        ("x - y + y", v - a + a),
        ("x * y / y", v * a / a),
        ("x / y * y", v / a * a),
        ("-(x - y)", -(v - a)),
        ("x + -y", v + -a),
        ("0 - x", zero - v),
        ("x * 0", v * zero),
        ("x + 0", v + zero),
        ("x * 1", v * one),
        ("x / 1", v / one),
        ("abs(-x)", abs(-v)),
        ("min(max(x, y), y)", ir.Expr.min_(ir.Expr.max_(v, a), a)),
        ("select(x < y, x, y)", ir.Expr.select(less, v, a)),
        ("select(~(x < y), x, y)", ir.Expr.select(~less, v, a)),
        ("select(x == y, x, y)", ir.Expr.select(v.eq(a), v, a)),
        ("select(x == x, 1, 0)", ir.Expr.select(v.eq(v), one, zero)),
        ("select(x != x, 1, 0)", ir.Expr.select(v.ne(v), one, zero)),
        ("select((x < y) | (x >= y), 1, 0)", ir.Expr.select(less | (v >= a), one, zero)),
        ("cast(x < y)", ir.Expr.cast(less, dtype)),
    ]
    if dtype.is_float:
        found += [
            ("x * 2 / 2", v * ir.Expr.lit(2.0, dtype) / ir.Expr.lit(2.0, dtype)),
            ("x / 3", v / ir.Expr.lit(3.0, dtype)),
            ("x - -0", v - ir.Expr.lit(-0.0, dtype)),
            ("x + -0", v + ir.Expr.lit(-0.0, dtype)),
            ("sqrt(x) * sqrt(x)", _sqrt(v) * _sqrt(v)),
            ("fma(x, y, z) - x * y", ir.Expr.fma(v, a, b) - v * a),
        ]
    else:
        found += [
            ("x % 8", v % ir.Expr.lit(8, dtype)),
            (
                "x / 8 * 8 + x % 8",
                v / ir.Expr.lit(8, dtype) * ir.Expr.lit(8, dtype) + v % ir.Expr.lit(8, dtype),
            ),
            ("x << y >> y", (v << a) >> a),
            ("x >> y << y", (v >> a) << a),
            ("x % x", v % v),
            ("x / x", v / v),
            ("~(x & y) ^ z", ~(v & a) ^ b),
        ]
    zeros = Tolerance(zero_signs=True)
    for label, value in found:
        yield f"{label} of {dtype}", value, zeros if "min" in label else EXACT


def _sqrt(value: ir.AnyExpr) -> ir.AnyExpr:
    return ir.Expr.unary(ir.UnOp.SQRT, value)


def _trial(dtype: ir.DataType, chosen: Sequence[Made]) -> Trial:
    values = edge_array(dtype)
    n = values.size
    # Each value meets several others.
    data = {
        "v": np.tile(values, 3),
        "a": np.concatenate([np.roll(values, k) for k in (1, 5, 8)]),
        "b": np.tile(np.roll(values, 11), 3),
    }
    total = 3 * n
    i = ir.Expr.var("i")
    body: list[ir.Node] = []
    stretches: list[Stretch] = []
    for number, (label, value, tolerance) in enumerate(chosen):
        body.append(ir.Node.store("out", i + ir.Expr.u32(number * total), value))
        stretches.append(Stretch(label, "out", number * total, total, tolerance))
    decls = [
        *(ir.BufferDecl.read(name, k, dtype).with_count(total) for k, name in enumerate("vab")),
        ir.BufferDecl.output("out", 3, dtype).with_count(total * len(chosen)),
    ]
    whole = [ir.Node.let("i", ir.Expr.gid(0)), ir.Node.if_(i < ir.Expr.u32(total), body)]
    program = ir.Program.wrapped(decls, (64, 1, 1), whole)
    name = f"{dtype}: {chosen[0][0]} and {len(chosen) - 1} more"
    return Trial(_AREA, name, program, data, (-(-total // 64), 1, 1), tuple(stretches))
