"""Accesses in every kind of memory, inside, at the ends and far outside; lengths; aliases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre import ir
from vyre.conform.suite import aliases
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.ir.types import INTEGER_TYPES, SCALAR_TYPES
from vyre.semantics import Array, storage_dtype

_LENGTH = 5
"""Elements of the buffer that is accessed; next to no alignment."""
_ELEMENTS = (
    *SCALAR_TYPES,
    ir.DataType.BYTES,
    ir.DataType.VEC4_U32,
    ir.DataType.vec(ir.DataType.F32, 3),
)
_KINDS = ("read_only", "read_write", "runtime-sized", "uniform", "workgroup", "scratch", "local")
_WRITABLE = ("read_write", "runtime-sized", "output", "write_only", "workgroup", "scratch", "local")


def trials() -> Iterator[Trial]:
    """The whole area."""
    for kind in _KINDS:
        for element in _ELEMENTS:
            yield _loads(kind, element, ir.DataType.I32)
    for index in INTEGER_TYPES:
        yield _loads("read_only", ir.DataType.U32, index)
        yield _loads("workgroup", ir.DataType.U8, index)
        yield _stores("output", ir.DataType.U16, index)
    for kind in _KINDS:
        yield _words(kind, ir.DataType.U32)
    for word in (ir.DataType.U16, ir.DataType.U64):
        yield _words("read_only", word)
    for kind in _WRITABLE:
        for element in _ELEMENTS:
            yield _stores(kind, element, ir.DataType.I32)
    yield from _lengths()
    yield _neighbours()
    yield from aliases.trials()
    yield _zeroed()


def _indices(dtype: ir.DataType) -> Array:
    """Every element, just outside on both sides, and as far outside as the type allows."""
    low, high = dtype.integer_range
    near = list(range(-3, _LENGTH + 4))
    far = [low, low + 1, high, high - 1, 1 << 8, 1 << 16, 1 << 31, 1 << 32, (1 << 32) + 1, 1 << 62]
    far += [-(1 << 8), -(1 << 31), -(1 << 32), (1 << 32) - 1, (1 << 30), (1 << 61)]
    inside = [value for value in near + far if low <= value <= high]
    return np.array(list(dict.fromkeys(inside)), storage_dtype(dtype))


def _contents(element: ir.DataType) -> Array:
    scalar = element.element if element.element is not None else element
    if scalar is ir.DataType.BYTES:
        return np.arange(1, _LENGTH + 1, dtype=np.uint8)
    values = np.resize(edge_array(scalar)[1:], _LENGTH * element.lanes)
    values = values.view(np.bool_) if scalar.is_bool else values
    return values.reshape(_LENGTH, element.lanes) if element.is_vector else values


def _declared(kind: str, element: ir.DataType) -> ir.BufferDecl:
    match kind:
        case "read_only":
            return ir.BufferDecl.read("m", 2, element).with_count(_LENGTH)
        case "uniform":
            return ir.BufferDecl.uniform("m", 2, element).with_count(_LENGTH)
        case "read_write":
            return ir.BufferDecl.read_write("m", 2, element).with_count(_LENGTH)
        case "runtime-sized":
            return ir.BufferDecl.read_write("m", 2, element)
        case "output":
            return ir.BufferDecl.output("m", 2, element).with_count(_LENGTH)
        case "write_only":
            return ir.BufferDecl.write("m", 2, element).with_count(_LENGTH)
        case "workgroup":
            return ir.BufferDecl.workgroup("m", _LENGTH, element)
        case "scratch":
            return ir.BufferDecl.scratch("m", _LENGTH, element)
        case _:
            return ir.BufferDecl.local("m", _LENGTH, element)


def _fill(kind: str) -> list[ir.Node]:
    """Statements that put the contents into memory that the host cannot fill."""
    i = ir.Expr.var("i")
    if kind == "local":
        k = ir.Expr.var("k")
        return [ir.Node.loop("k", 0, _LENGTH, [ir.Node.store("m", k, ir.Expr.load("from", k))])]
    return [
        ir.Node.if_(i < ir.Expr.u32(_LENGTH), [ir.Node.store("m", i, ir.Expr.load("from", i))]),
        ir.Node.barrier(ir.MemoryOrdering.ACQ_REL),
    ]


def _loads(kind: str, element: ir.DataType, index: ir.DataType) -> Trial:
    """Zero outside, the element inside; one workgroup, one access per invocation."""
    where = _indices(index)
    decl = _declared(kind, element)
    decls = [
        ir.BufferDecl.read("where", 0, index).with_count(where.size),
        ir.BufferDecl.output("out", 1, element.value_type).with_count(where.size),
        decl,
    ]
    inputs = {"where": where}
    i = ir.Expr.var("i")
    body: list[ir.Node] = [ir.Node.let("i", ir.Expr.gid(0))]
    if decl.is_host_input:
        inputs["m"] = _contents(element)
    else:
        decls.append(ir.BufferDecl.read("from", 3, element).with_count(_LENGTH))
        inputs["from"] = _contents(element)
        body += _fill(kind)
    body.append(ir.Node.store("out", i, ir.Expr.load("m", ir.Expr.load("where", i))))
    program = ir.Program.wrapped(decls, (64, 1, 1), body)
    label = f"load {element} from {kind} at {index}"
    return Trial(
        "memory", label, program, inputs, (1, 1, 1), (Stretch(label, "out", 0, where.size),)
    )


def _words(kind: str, word: ir.DataType) -> Trial:
    """Words of bytes at every offset: bytes out of bounds count as zero, each by itself."""
    where = _indices(ir.DataType.U32)
    decl = _declared(kind, ir.DataType.U8)
    decls = [
        ir.BufferDecl.read("where", 0, ir.DataType.U32).with_count(where.size),
        ir.BufferDecl.output("out", 1, word).with_count(where.size),
        decl,
    ]
    inputs = {"where": where}
    bytes_ = _contents(ir.DataType.BYTES)
    body: list[ir.Node] = [ir.Node.let("i", ir.Expr.gid(0))]
    if decl.is_host_input:
        inputs["m"] = bytes_
    else:
        decls.append(ir.BufferDecl.read("from", 3, ir.DataType.U8).with_count(_LENGTH))
        inputs["from"] = bytes_
        body += _fill(kind)
    i, at = ir.Expr.var("i"), ir.Expr.var("at")
    body.append(ir.Node.let("at", ir.Expr.load("where", i)))
    made = ir.Expr.cast(ir.Expr.load("m", at), word)
    for byte in range(1, (word.bits or 0) // 8):
        further = ir.Binary(ir.BinOp.ADD_SAT, at, ir.Expr.u32(byte))
        part = ir.Expr.cast(ir.Expr.load("m", further), word)
        made = made | (part << ir.Expr.lit(8 * byte, word))
    body.append(ir.Node.store("out", i, made))
    padded = np.concatenate([bytes_, np.zeros(8, np.uint8)])
    begins = np.minimum(where.astype(np.int64), _LENGTH)
    found = [padded[b : b + 8].view(np.uint64)[0] for b in begins.tolist()]
    expected = np.array(found, np.uint64).astype(storage_dtype(word))
    label = f"{word} at any offset in {kind}"
    program = ir.Program.wrapped(decls, (64, 1, 1), body)
    stretches = (Stretch(label, "out", 0, where.size),)
    return Trial("memory", label, program, inputs, (1, 1, 1), stretches, {"out": expected})


def _stores(kind: str, element: ir.DataType, index: ir.DataType) -> Trial:
    """Only what is inside arrives, and nothing else changes."""
    where = _indices(index)
    decl = _declared(kind, element)
    value = element.value_type
    scalar = value.element if value.element is not None else value
    values = np.resize(edge_array(scalar)[1:], where.size * element.lanes)
    values = values.view(np.bool_) if scalar.is_bool else values
    decls = [
        ir.BufferDecl.read("where", 0, index).with_count(where.size),
        ir.BufferDecl.read("v", 1, value).with_count(where.size),
        decl,
    ]
    inputs: dict[str, Array] = {"where": where, "v": values}
    if decl.is_host_input:
        inputs["m"] = _contents(element)
    i, k = ir.Expr.var("i"), ir.Expr.var("k")
    store = ir.Node.store("m", ir.Expr.load("where", i), ir.Expr.load("v", i))
    inside = ir.Expr.var("i") < ir.Expr.u32(where.size)
    body: list[ir.Node] = [ir.Node.let("i", ir.Expr.gid(0))]
    if kind == "local":
        walk = ir.Node.store("m", ir.Expr.load("where", k), ir.Expr.load("v", k))
        body.append(ir.Node.loop("k", 0, where.size, [walk]))
    else:
        body.append(ir.Node.if_(inside, [store]))
    shown = "m"
    if not decl.is_host_output:
        shown = "out"
        decls.append(ir.BufferDecl.output("out", 3, value).with_count(_LENGTH))
        if kind != "local":
            body.append(ir.Node.barrier(ir.MemoryOrdering.ACQ_REL))
        body.append(
            ir.Node.if_(i < ir.Expr.u32(_LENGTH), [ir.Node.store("out", i, ir.Expr.load("m", i))])
        )
    program = ir.Program.wrapped(decls, (64, 1, 1), body)
    label = f"store {element} to {kind} at {index}"
    # Every index is one access; what it did shows in the elements it reached or spared.
    stretch = Stretch(label, shown, 0, _LENGTH, accesses=where.size)
    return Trial("memory", label, program, inputs, (1, 1, 1), (stretch,))


def _lengths() -> Iterator[Trial]:
    """Buffers that are sized at run time say how long they are, and are guarded there."""
    for first, second in ((ir.DataType.U8, ir.DataType.U32), (ir.DataType.U16, ir.DataType.F64)):
        for count in (0, 1, 2, 3, 63, 64, 65, 1000):
            yield _length(first, second, count)
    for count in (1, 3, 64, 1000):
        yield _sized_output(count)


def _length(first: ir.DataType, second: ir.DataType, count: int) -> Trial:
    decls = [
        ir.BufferDecl.read("a", 0, first),
        ir.BufferDecl.read_write("b", 1, second),
        ir.BufferDecl.output("out", 2, ir.DataType.U32).with_count(4),
    ]
    beyond = ir.Expr.cast(ir.Expr.load("a", ir.Expr.buf_len("a")), ir.DataType.U32)
    last = ir.Expr.buf_len("b") - ir.Expr.u32(1)
    body = [
        ir.Node.store("out", 0, ir.Expr.buf_len("a")),
        ir.Node.store("out", 1, ir.Expr.buf_len("b")),
        ir.Node.store("out", 2, beyond),
        ir.Node.store("b", ir.Expr.buf_len("b"), ir.Expr.cast(ir.Expr.u32(9), second)),
        ir.Node.store("b", last, ir.Expr.cast(ir.Expr.u32(3), second)),
    ]
    alone = ir.Node.if_(ir.Expr.gid(0).eq(ir.Expr.u32(0)), body)
    program = ir.Program.wrapped(decls, (4, 1, 1), [alone])
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
    decls = [ir.BufferDecl.output("out", 0, ir.DataType.U16)]
    value = ir.Expr.cast(ir.Expr.gid(0) + ir.Expr.buf_len("out"), ir.DataType.U16)
    program = ir.Program.wrapped(decls, (64, 1, 1), [ir.Node.store("out", ir.Expr.gid(0), value)])
    expected = {"out": np.arange(count, 2 * count, dtype=np.uint16)}
    name = f"an output sized by the call, {count}"
    grid = (count // 64 + 2, 1, 1)
    sizes = {"out": count}
    return Trial("memory", name, program, {}, grid, (), expected, sizes)


def _neighbours() -> Trial:
    """Bytes that share a word are written by different invocations, and none is lost."""
    count = 4096
    decls = [
        ir.BufferDecl.output("bytes_", 0, ir.DataType.U8).with_count(count),
        ir.BufferDecl.output("halves", 1, ir.DataType.U16).with_count(count),
    ]
    i = ir.Expr.gid(0)
    body = [
        ir.Node.store("bytes_", i, ir.Expr.cast(i * ir.Expr.u32(7), ir.DataType.U8)),
        ir.Node.store(
            "halves", ir.Expr.u32(count - 1) - i, ir.Expr.cast(i * ir.Expr.u32(13), ir.DataType.U16)
        ),
    ]
    program = ir.Program.wrapped(decls, (64, 1, 1), body)
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
        ir.BufferDecl.output("out", 0, ir.DataType.U32).with_count(1000),
        ir.BufferDecl.scratch("hidden", 1000, ir.DataType.U32),
    ]
    i = ir.Expr.gid(0)
    value = ir.Expr.load("out", i) + ir.Expr.load("hidden", i) + i
    program = ir.Program.wrapped(decls, (50, 1, 1), [ir.Node.store("out", i, value)])
    expected = {"out": np.arange(1000, dtype=np.uint32)}
    return Trial(
        "memory", "outputs and scratch begin as zeros", program, {}, (20, 1, 1), (), expected
    )
