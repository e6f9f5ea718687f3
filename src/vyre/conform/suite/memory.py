"""Accesses in every kind of memory, inside, at the ends and far outside; lengths; aliases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre.conform.suite import aliases
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.ir import (
    BufferDecl,
    DataType,
    Expr,
    MemoryOrdering,
    Node,
    Program,
)
from vyre.ir.types import INTEGER_TYPES, SCALAR_TYPES
from vyre.semantics import Array, storage_dtype

_LENGTH = 5
"""Elements of the buffer that is accessed; next to no alignment."""
_ELEMENTS = (*SCALAR_TYPES, DataType.BYTES, DataType.VEC4_U32, DataType.vec(DataType.F32, 3))
_KINDS = ("read_only", "read_write", "runtime-sized", "uniform", "workgroup", "scratch", "local")
_WRITABLE = ("read_write", "runtime-sized", "output", "write_only", "workgroup", "scratch", "local")


def trials() -> Iterator[Trial]:
    """The whole area."""
    for kind in _KINDS:
        for element in _ELEMENTS:
            yield _loads(kind, element, DataType.I32)
    for index in INTEGER_TYPES:
        yield _loads("read_only", DataType.U32, index)
        yield _loads("workgroup", DataType.U8, index)
        yield _stores("output", DataType.U16, index)
    for kind in _WRITABLE:
        for element in _ELEMENTS:
            yield _stores(kind, element, DataType.I32)
    yield from _lengths()
    yield _neighbours()
    yield from aliases.trials()
    yield _zeroed()


def _indices(dtype: DataType) -> Array:
    """Every element, just outside on both sides, and as far outside as the type allows."""
    low, high = dtype.integer_range
    near = list(range(-3, _LENGTH + 4))
    far = [low, low + 1, high, high - 1, 1 << 8, 1 << 16, 1 << 31, 1 << 32, (1 << 32) + 1, 1 << 62]
    far += [-(1 << 8), -(1 << 31), -(1 << 32), (1 << 32) - 1, (1 << 30), (1 << 61)]
    inside = [value for value in near + far if low <= value <= high]
    return np.array(list(dict.fromkeys(inside)), storage_dtype(dtype))


def _contents(element: DataType) -> Array:
    scalar = element.element if element.element is not None else element
    if scalar is DataType.BYTES:
        return np.arange(1, _LENGTH + 1, dtype=np.uint8)
    values = np.resize(edge_array(scalar)[1:], _LENGTH * element.lanes)
    values = values.view(np.bool_) if scalar.is_bool else values
    return values.reshape(_LENGTH, element.lanes) if element.is_vector else values


def _declared(kind: str, element: DataType) -> BufferDecl:
    match kind:
        case "read_only":
            return BufferDecl.read("m", 2, element).with_count(_LENGTH)
        case "uniform":
            return BufferDecl.uniform("m", 2, element).with_count(_LENGTH)
        case "read_write":
            return BufferDecl.read_write("m", 2, element).with_count(_LENGTH)
        case "runtime-sized":
            return BufferDecl.read_write("m", 2, element)
        case "output":
            return BufferDecl.output("m", 2, element).with_count(_LENGTH)
        case "write_only":
            return BufferDecl.write("m", 2, element).with_count(_LENGTH)
        case "workgroup":
            return BufferDecl.workgroup("m", _LENGTH, element)
        case "scratch":
            return BufferDecl.scratch("m", _LENGTH, element)
        case _:
            return BufferDecl.local("m", _LENGTH, element)


def _fill(kind: str) -> list[Node]:
    """Statements that put the contents into memory that the host cannot fill."""
    i = Expr.var("i")
    if kind == "local":
        k = Expr.var("k")
        return [Node.loop("k", 0, _LENGTH, [Node.store("m", k, Expr.load("from", k))])]
    return [
        Node.if_(i < Expr.u32(_LENGTH), [Node.store("m", i, Expr.load("from", i))]),
        Node.barrier(MemoryOrdering.ACQ_REL),
    ]


def _loads(kind: str, element: DataType, index: DataType) -> Trial:
    """Zero outside, the element inside; one workgroup, one access per invocation."""
    where = _indices(index)
    decl = _declared(kind, element)
    decls = [
        BufferDecl.read("where", 0, index).with_count(where.size),
        BufferDecl.output("out", 1, element.value_type).with_count(where.size),
        decl,
    ]
    inputs = {"where": where}
    i = Expr.var("i")
    body: list[Node] = [Node.let("i", Expr.gid(0))]
    if decl.is_host_input:
        inputs["m"] = _contents(element)
    else:
        decls.append(BufferDecl.read("from", 3, element).with_count(_LENGTH))
        inputs["from"] = _contents(element)
        body += _fill(kind)
    body.append(Node.store("out", i, Expr.load("m", Expr.load("where", i))))
    program = Program.wrapped(decls, (64, 1, 1), body)
    label = f"load {element} from {kind} at {index}"
    return Trial(
        "memory", label, program, inputs, (1, 1, 1), (Stretch(label, "out", 0, where.size),)
    )


def _stores(kind: str, element: DataType, index: DataType) -> Trial:
    """Only what is inside arrives, and nothing else changes."""
    where = _indices(index)
    decl = _declared(kind, element)
    value = element.value_type
    scalar = value.element if value.element is not None else value
    values = np.resize(edge_array(scalar)[1:], where.size * element.lanes)
    values = values.view(np.bool_) if scalar.is_bool else values
    decls = [
        BufferDecl.read("where", 0, index).with_count(where.size),
        BufferDecl.read("v", 1, value).with_count(where.size),
        decl,
    ]
    inputs: dict[str, Array] = {"where": where, "v": values}
    if decl.is_host_input:
        inputs["m"] = _contents(element)
    i, k = Expr.var("i"), Expr.var("k")
    store = Node.store("m", Expr.load("where", i), Expr.load("v", i))
    inside = Expr.var("i") < Expr.u32(where.size)
    body: list[Node] = [Node.let("i", Expr.gid(0))]
    if kind == "local":
        walk = Node.store("m", Expr.load("where", k), Expr.load("v", k))
        body.append(Node.loop("k", 0, where.size, [walk]))
    else:
        body.append(Node.if_(inside, [store]))
    shown = "m"
    if not decl.is_host_output:
        shown = "out"
        decls.append(BufferDecl.output("out", 3, value).with_count(_LENGTH))
        if kind != "local":
            body.append(Node.barrier(MemoryOrdering.ACQ_REL))
        body.append(Node.if_(i < Expr.u32(_LENGTH), [Node.store("out", i, Expr.load("m", i))]))
    program = Program.wrapped(decls, (64, 1, 1), body)
    label = f"store {element} to {kind} at {index}"
    # Every index is one access; what it did shows in the elements it reached or spared.
    stretch = Stretch(label, shown, 0, _LENGTH, accesses=where.size)
    return Trial("memory", label, program, inputs, (1, 1, 1), (stretch,))


def _lengths() -> Iterator[Trial]:
    """Buffers that are sized at run time say how long they are, and are guarded there."""
    for first, second in ((DataType.U8, DataType.U32), (DataType.U16, DataType.F64)):
        for count in (0, 1, 2, 3, 63, 64, 65, 1000):
            yield _length(first, second, count)
    for count in (1, 3, 64, 1000):
        yield _sized_output(count)


def _length(first: DataType, second: DataType, count: int) -> Trial:
    decls = [
        BufferDecl.read("a", 0, first),
        BufferDecl.read_write("b", 1, second),
        BufferDecl.output("out", 2, DataType.U32).with_count(4),
    ]
    beyond = Expr.cast(Expr.load("a", Expr.buf_len("a")), DataType.U32)
    last = Expr.buf_len("b") - Expr.u32(1)
    body = [
        Node.store("out", 0, Expr.buf_len("a")),
        Node.store("out", 1, Expr.buf_len("b")),
        Node.store("out", 2, beyond),
        Node.store("b", Expr.buf_len("b"), Expr.cast(Expr.u32(9), second)),
        Node.store("b", last, Expr.cast(Expr.u32(3), second)),
    ]
    alone = Node.if_(Expr.gid(0).eq(Expr.u32(0)), body)
    program = Program.wrapped(decls, (4, 1, 1), [alone])
    inputs = {
        "a": np.ones(count, storage_dtype(first)),
        "b": np.zeros(2 * count, storage_dtype(second)),
    }
    stretches = (
        Stretch(f"lengths of {count}", "out", 0, 4),
        Stretch("ends", "b", 0, 2 * count, whole=True),
    )
    name = f"runtime-sized {first} and {second}, {count}"
    return Trial("memory", name, program, inputs, (1, 1, 1), stretches)


def _sized_output(count: int) -> Trial:
    """An output that the call sizes: filled up to its end by invocations that go beyond it."""
    decls = [BufferDecl.output("out", 0, DataType.U16)]
    value = Expr.cast(Expr.gid(0) + Expr.buf_len("out"), DataType.U16)
    program = Program.wrapped(decls, (64, 1, 1), [Node.store("out", Expr.gid(0), value)])
    expected = {"out": np.arange(count, 2 * count, dtype=np.uint16)}
    name = f"an output sized by the call, {count}"
    grid = (count // 64 + 2, 1, 1)
    sizes = {"out": count}
    return Trial("memory", name, program, {}, grid, (), expected, sizes)


def _neighbours() -> Trial:
    """Bytes that share a word are written by different invocations, and none is lost."""
    count = 4096
    decls = [
        BufferDecl.output("bytes_", 0, DataType.U8).with_count(count),
        BufferDecl.output("halves", 1, DataType.U16).with_count(count),
    ]
    i = Expr.gid(0)
    body = [
        Node.store("bytes_", i, Expr.cast(i * Expr.u32(7), DataType.U8)),
        Node.store("halves", Expr.u32(count - 1) - i, Expr.cast(i * Expr.u32(13), DataType.U16)),
    ]
    program = Program.wrapped(decls, (64, 1, 1), body)
    stretches = (
        Stretch("neighbouring bytes", "bytes_", 0, count, whole=True),
        Stretch("neighbouring halves", "halves", 0, count, whole=True),
    )
    numbers = np.arange(count, dtype=np.uint32)
    expected = {
        "bytes_": (numbers * 7).astype(np.uint8),
        "halves": (numbers * 13).astype(np.uint16)[::-1].copy(),
    }
    return Trial("memory", "neighbours in a word", program, {}, (64, 1, 1), stretches, expected)


def _zeroed() -> Trial:
    """Outputs and scratch begin as zeros."""
    decls = [
        BufferDecl.output("out", 0, DataType.U32).with_count(1000),
        BufferDecl.scratch("hidden", 1000, DataType.U32),
    ]
    i = Expr.gid(0)
    value = Expr.load("out", i) + Expr.load("hidden", i) + i
    program = Program.wrapped(decls, (50, 1, 1), [Node.store("out", i, value)])
    expected = {"out": np.arange(1000, dtype=np.uint32)}
    return Trial(
        "memory", "outputs and scratch begin as zeros", program, {}, (20, 1, 1), (), expected
    )
