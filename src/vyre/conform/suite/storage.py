"""Elements that are converted by load and store, vectors, and truth values as bytes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre import ir
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.ir.types import SCALAR_TYPES
from vyre.semantics import Array

PACKED = (
    *(
        ir.DataType.BYTES,
        ir.DataType.F8E4M3,
        ir.DataType.F8E5M2,
        ir.DataType.I4,
        ir.DataType.FP4,
        ir.DataType.NF4,
    ),
)
_VECTORS = (
    *(ir.DataType.VEC2_U32, ir.DataType.VEC4_U32, ir.DataType.vec(ir.DataType.F32, 3)),
    *(
        ir.DataType.vec(ir.DataType.I16, 2),
        ir.DataType.vec(ir.DataType.U8, 16),
        ir.DataType.vec(ir.DataType.F16, 4),
    ),
    *(ir.DataType.vec(ir.DataType.U64, 3), ir.DataType.vec(ir.DataType.BOOL, 2)),
)


def trials() -> Iterator[Trial]:
    """The whole area."""
    for element in (*PACKED, ir.DataType.BOOL):
        yield _loads(element)
    for element in PACKED:
        yield _stores(element)
    for element in SCALAR_TYPES:
        yield _copies(element, edge_array(element))
    for element in _VECTORS:
        yield from _lanes(element)


def _loads(element: ir.DataType) -> Trial:
    """Every byte, loaded."""
    count = 256
    decls = [
        ir.BufferDecl.read("bytes_", 0, element).with_count(count),
        ir.BufferDecl.output("out", 1, element.value_type).with_count(count),
    ]
    i = ir.Expr.gid(0)
    body = [ir.Node.store("out", i, ir.Expr.load("bytes_", i))]
    program = ir.Program.wrapped(decls, (64, 1, 1), body)
    data = np.arange(256, dtype=np.uint8)
    inputs = {"bytes_": data.view(np.bool_) if element.is_bool else data}
    stretch = Stretch(f"load {element}", "out", 0, count)
    return Trial("storage", f"every byte as {element}", program, inputs, (4, 1, 1), (stretch,))


def _stores(element: ir.DataType) -> Trial:
    """Values between, at and beyond what the type can hold, stored."""
    value = element.value_type
    values = _around(value)
    decls = [
        ir.BufferDecl.read("v", 0, value).with_count(values.size),
        ir.BufferDecl.output("out", 1, element).with_count(values.size),
    ]
    i = ir.Expr.gid(0)
    program = ir.Program.wrapped(decls, (64, 1, 1), [ir.Node.store("out", i, ir.Expr.load("v", i))])
    stretch = Stretch(f"store {element}", "out", 0, values.size)
    grid = (-(-values.size // 64), 1, 1)
    return Trial("storage", f"values stored as {element}", program, {"v": values}, grid, (stretch,))


def _around(value: ir.DataType) -> Array:
    edges = edge_array(value)
    if not value.is_float:
        more = np.arange(-20, 21) if value.is_signed else np.arange(256)
        return np.concatenate([edges, more.astype(edges.dtype)])
    steps = np.concatenate([np.arange(-600, 600) / 64, np.linspace(-500, 500, 201)])
    halves = np.array(
        [
            s * 2.0**k * m
            for k in range(-12, 9)
            for m in (1, 1.0625, 1.125, 1.1875, 1.5)
            for s in (1, -1)
        ]
    )
    return np.concatenate([edges, steps.astype(edges.dtype), halves.astype(edges.dtype)])


def _copies(element: ir.DataType, values: Array) -> Trial:
    """Loaded and stored again: nothing may change on the way."""
    decls = [
        ir.BufferDecl.read("v", 0, element).with_count(values.size),
        ir.BufferDecl.output("out", 1, element).with_count(values.size),
    ]
    i = ir.Expr.gid(0)
    program = ir.Program.wrapped(decls, (32, 1, 1), [ir.Node.store("out", i, ir.Expr.load("v", i))])
    stretch = Stretch(f"copy {element}", "out", 0, values.size)
    grid = (-(-values.size // 32), 1, 1)
    return Trial("storage", f"copies of {element}", program, {"v": values}, grid, (stretch,))


def _lanes(element: ir.DataType) -> Iterator[Trial]:
    """Whole vectors, single lanes, and vectors made of lanes in the opposite order."""
    scalar = element.element
    assert scalar is not None
    lanes, count = element.lanes, 24
    edges = edge_array(scalar)
    data = np.resize(edges, count * lanes).reshape(count, lanes)
    inputs = {"v": data.view(np.bool_) if scalar.is_bool else data}
    i = ir.Expr.gid(0)
    loaded = ir.Expr.var("loaded")
    decls = [
        ir.BufferDecl.read("v", 0, element).with_count(count),
        ir.BufferDecl.output("same", 1, element).with_count(count),
        ir.BufferDecl.output("turned", 2, element).with_count(count),
        ir.BufferDecl.output("apart", 3, scalar).with_count(count * lanes),
    ]
    backwards = [ir.Expr.lane(loaded, lane) for lane in reversed(range(lanes))]
    body = [
        ir.Node.if_(
            i < ir.Expr.u32(count),
            [
                ir.Node.let("loaded", ir.Expr.load("v", i)),
                ir.Node.store("same", i, loaded),
                ir.Node.store("turned", i, ir.Expr.vec(scalar, *backwards)),
                *(
                    ir.Node.store(
                        "apart",
                        i * ir.Expr.u32(lanes) + ir.Expr.u32(lane),
                        ir.Expr.lane(loaded, lane),
                    )
                    for lane in range(lanes)
                ),
            ],
        )
    ]
    program = ir.Program.wrapped(decls, (8, 1, 1), body)
    stretches = (
        Stretch(f"copy {element}", "same", 0, count),
        Stretch(f"lanes of {element} turned round", "turned", 0, count),
        Stretch(f"lanes of {element}", "apart", 0, count * lanes),
    )
    yield Trial("storage", f"vectors {element}", program, inputs, (3, 1, 1), stretches)
