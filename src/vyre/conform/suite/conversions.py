"""Casts between all pairs of scalar types, and bitcasts between all of the same width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array, edge_bits
from vyre.ir import AnyExpr, BufferDecl, DataType, Expr, Lit, Node, Program
from vyre.ir.types import SCALAR_TYPES
from vyre.semantics import Array

_TOGETHER = 5
"""Target types in one program: each has an output, and devices have few bindings."""
_LITERALS = 8


def trials() -> Iterator[Trial]:
    """The whole area."""
    for source in SCALAR_TYPES:
        for start in range(0, len(SCALAR_TYPES), _TOGETHER):
            yield _trial("cast", source, SCALAR_TYPES[start : start + _TOGETHER], Expr.cast)
        others = [target for target in SCALAR_TYPES if target is not source]
        same = [t for t in others if t.bits == source.bits and not (t.is_bool or source.is_bool)]
        if same:
            yield _trial("bitcast", source, same, Expr.bitcast)


def _values(source: DataType) -> Array:
    """Edge values, and where other types end: casts saturate or wrap there."""
    values = edge_array(source)
    if not source.is_float:
        return values
    ends = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    more = np.array([sign * end for end in ends for sign in (1, -1)], np.float64)
    if source is DataType.BF16:
        return np.concatenate(
            [values, (more.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)]
        )
    with np.errstate(over="ignore"):
        return np.concatenate([values, more.astype(values.dtype)])


def _trial(
    what: str,
    source: DataType,
    targets: Sequence[DataType],
    convert: Callable[[AnyExpr, DataType], AnyExpr],
) -> Trial:
    values = _values(source)
    literals = edge_bits(source)[:_LITERALS]
    total = values.size + len(literals)
    i = Expr.var("i")
    from_buffer: list[Node] = []
    from_literals: list[Node] = []
    decls = [BufferDecl.read("v", 0, source).with_count(values.size)]
    stretches: list[Stretch] = []
    for number, target in enumerate(targets):
        out = f"to_{target}"
        decls.append(BufferDecl.output(out, number + 1, target).with_count(total))
        from_buffer.append(Node.store(out, i, convert(Expr.load("v", i), target)))
        for place, bits in enumerate(literals):
            value = convert(Lit(source, bits), target)
            from_literals.append(Node.store(out, values.size + place, value))
        stretches.append(Stretch(f"{what} {source} to {target}", out, 0, total))
    body = [
        Node.let("i", Expr.gid(0)),
        Node.if_(i < Expr.u32(values.size), from_buffer),
        Node.if_(i.eq(Expr.u32(0)), from_literals),
    ]
    program = Program.wrapped(decls, (64, 1, 1), body)
    name = f"{what} {source} to {', '.join(str(target) for target in targets)}"
    grid = (-(-values.size // 64), 1, 1)
    return Trial("conversions", name, program, {"v": values}, grid, tuple(stretches))
