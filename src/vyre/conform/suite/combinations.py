"""Opcodes in a row: what optimizers merge, contract, reorder and cancel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vyre.conform.compare import EXACT, Tolerance
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.ir import AnyExpr, BinOp, BufferDecl, DataType, Expr, Lit, Node, Program, UnOp, literal
from vyre.ir.types import ARITHMETIC_FLOATS, INTEGER_TYPES

_AREA = "combinations"
_TOGETHER = 40
"""Expressions in one program."""
_INTEGER_OPS = (
    *(BinOp.ADD, BinOp.SUB, BinOp.MUL, BinOp.DIV, BinOp.REM, BinOp.AND, BinOp.OR, BinOp.XOR),
    *(BinOp.SHL, BinOp.SHR, BinOp.ROTL, BinOp.MIN, BinOp.MAX),
)
_FLOAT_OPS = (BinOp.ADD, BinOp.SUB, BinOp.MUL, BinOp.DIV, BinOp.MIN, BinOp.MAX)
_SIGNED_ZEROS = (BinOp.MIN, BinOp.MAX)


def trials() -> Iterator[Trial]:
    """The whole area."""
    for dtype in (*INTEGER_TYPES, *ARITHMETIC_FLOATS):
        made = [*_in_a_row(dtype), *_shapes(dtype)]
        for start in range(0, len(made), _TOGETHER):
            yield _trial(dtype, made[start : start + _TOGETHER])


Made = tuple[str, AnyExpr, Tolerance]


def _in_a_row(dtype: DataType) -> Iterator[Made]:
    """(x op c) op d for every two opcodes."""
    ops = _FLOAT_OPS if dtype.is_float else _INTEGER_OPS
    v = Expr.load("v", Expr.var("i"))
    for number, first in enumerate(ops):
        for second in ops:
            c, d = _literals(dtype, number)
            value = Expr.binary(second, Expr.binary(first, v, c), d)
            zeros = first in _SIGNED_ZEROS or second in _SIGNED_ZEROS
            # The sign of a zero may be either after min and max, and what follows may show it.
            tolerance = Tolerance(zero_signs=True) if zeros and dtype.is_float else EXACT
            label = f"(x {first.row.spelling} {c.value}) {second.row.spelling} {d.value} of {dtype}"
            yield label, value, tolerance


def _literals(dtype: DataType, number: int) -> tuple[Lit, Lit]:
    if dtype.is_float:
        c, d = ((2.0, 0.5), (3.0, -1.5), (-0.25, 8.0))[number % 3]
        return Lit(dtype, literal.encode_float(c, dtype)), Lit(
            dtype, literal.encode_float(d, dtype)
        )
    width = dtype.bits or 0
    pairs = ((width - 1, 1), (3, width - 2), (width + 2, width + 5), (7, 2))
    c, d = pairs[number % 4]
    return Expr.lit(c, dtype), Expr.lit(d, dtype)


def _shapes(dtype: DataType) -> Iterator[Made]:
    """Forms that look as if they could be simplified."""
    i = Expr.var("i")
    v, a, b = (Expr.load(name, i) for name in "vab")
    one, zero = (Expr.lit(1.0 if dtype.is_float else 1, dtype), Lit(dtype, 0))
    less = v < a
    found: list[tuple[str, AnyExpr]] = [
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
        ("min(max(x, y), y)", Expr.min_(Expr.max_(v, a), a)),
        ("select(x < y, x, y)", Expr.select(less, v, a)),
        ("select(~(x < y), x, y)", Expr.select(~less, v, a)),
        ("select(x == y, x, y)", Expr.select(v.eq(a), v, a)),
        ("select(x == x, 1, 0)", Expr.select(v.eq(v), one, zero)),
        ("select(x != x, 1, 0)", Expr.select(v.ne(v), one, zero)),
        ("select((x < y) | (x >= y), 1, 0)", Expr.select(less | (v >= a), one, zero)),
        ("cast(x < y)", Expr.cast(less, dtype)),
    ]
    if dtype.is_float:
        found += [
            ("x * 2 / 2", v * Expr.lit(2.0, dtype) / Expr.lit(2.0, dtype)),
            ("x / 3", v / Expr.lit(3.0, dtype)),
            ("x - -0", v - Expr.lit(-0.0, dtype)),
            ("x + -0", v + Expr.lit(-0.0, dtype)),
            ("sqrt(x) * sqrt(x)", _sqrt(v) * _sqrt(v)),
            ("fma(x, y, z) - x * y", Expr.fma(v, a, b) - v * a),
        ]
    else:
        found += [
            ("x % 8", v % Expr.lit(8, dtype)),
            (
                "x / 8 * 8 + x % 8",
                v / Expr.lit(8, dtype) * Expr.lit(8, dtype) + v % Expr.lit(8, dtype),
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


def _sqrt(value: AnyExpr) -> AnyExpr:
    return Expr.unary(UnOp.SQRT, value)


def _trial(dtype: DataType, chosen: Sequence[Made]) -> Trial:
    values = edge_array(dtype)
    n = values.size
    # Each value meets several others.
    data = {
        "v": np.tile(values, 3),
        "a": np.concatenate([np.roll(values, k) for k in (1, 5, 8)]),
        "b": np.tile(np.roll(values, 11), 3),
    }
    total = 3 * n
    i = Expr.var("i")
    body: list[Node] = []
    stretches: list[Stretch] = []
    for number, (label, value, tolerance) in enumerate(chosen):
        body.append(Node.store("out", i + Expr.u32(number * total), value))
        stretches.append(Stretch(label, "out", number * total, total, tolerance))
    decls = [
        *(BufferDecl.read(name, k, dtype).with_count(total) for k, name in enumerate("vab")),
        BufferDecl.output("out", 3, dtype).with_count(total * len(chosen)),
    ]
    whole = [Node.let("i", Expr.gid(0)), Node.if_(i < Expr.u32(total), body)]
    program = Program.wrapped(decls, (64, 1, 1), whole)
    name = f"{dtype}: {chosen[0][0]} and {len(chosen) - 1} more"
    return Trial(_AREA, name, program, data, (-(-total // 64), 1, 1), tuple(stretches))
