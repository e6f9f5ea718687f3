"""Casts between all pairs of scalar types, and bitcasts between all of the same width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vyre import ir
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array, edge_bits
from vyre.ir.types import SCALAR_TYPES
from vyre.semantics import Array

_TOGETHER = 5
"""Target types in one program: each has an output, and devices have few bindings."""
_LITERALS = 8


def trials() -> Iterator[Trial]:
    """The whole area."""
    for source in SCALAR_TYPES:
        for start in range(0, len(SCALAR_TYPES), _TOGETHER):
            yield _trial("cast", source, SCALAR_TYPES[start : start + _TOGETHER], ir.Expr.cast)
        others = [target for target in SCALAR_TYPES if target is not source]
        same = [t for t in others if t.bits == source.bits and not (t.is_bool or source.is_bool)]
        if same:
            yield _trial("bitcast", source, same, ir.Expr.bitcast)


def _values(source: ir.DataType) -> Array:
    """Edge values, and where other types end: casts saturate or wrap there."""
    values = edge_array(source)
    if not source.is_float:
        return values
    ends = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    more = np.array([sign * end for end in ends for sign in (1, -1)], np.float64)
    if source is ir.DataType.BF16:
        return np.concatenate(
            [values, (more.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)]
        )
    with np.errstate(over="ignore"):
        return np.concatenate([values, more.astype(values.dtype)])


def _trial(
    what: str,
    source: ir.DataType,
    targets: Sequence[ir.DataType],
    convert: Callable[[ir.AnyExpr, ir.DataType], ir.AnyExpr],
) -> Trial:
    values = _values(source)
    literals = edge_bits(source)[:_LITERALS]
    total = values.size + len(literals)
    i = ir.Expr.var("i")
    from_buffer: list[ir.Node] = []
    from_literals: list[ir.Node] = []
    decls = [ir.BufferDecl.read("v", 0, source).with_count(values.size)]
    stretches: list[Stretch] = []
    for number, target in enumerate(targets):
        out = f"to_{target}"
        decls.append(ir.BufferDecl.output(out, number + 1, target).with_count(total))
        from_buffer.append(ir.Node.store(out, i, convert(ir.Expr.load("v", i), target)))
        for place, bits in enumerate(literals):
            value = convert(ir.Lit(source, bits), target)
            from_literals.append(ir.Node.store(out, values.size + place, value))
        stretches.append(Stretch(f"{what} {source} to {target}", out, 0, total))
    body = [
        ir.Node.let("i", ir.Expr.gid(0)),
        ir.Node.if_(i < ir.Expr.u32(values.size), from_buffer),
        ir.Node.if_(i.eq(ir.Expr.u32(0)), from_literals),
    ]
    program = ir.Program.wrapped(decls, (64, 1, 1), body)
    name = f"{what} {source} to {', '.join(str(target) for target in targets)}"
    grid = (-(-values.size // 64), 1, 1)
    return Trial("conversions", name, program, {"v": values}, grid, tuple(stretches))
