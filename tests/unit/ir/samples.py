"""Programs that hold every kind of statement, expression, opcode, type and buffer."""

from __future__ import annotations

from vyre.ir import (
    AnyExpr,
    AtomicOp,
    Binary,
    BinOp,
    BufferAccess,
    BufferDecl,
    BufferHints,
    Builtin,
    BuiltinKind,
    CacheLocality,
    Cast,
    DataType,
    Expr,
    Lit,
    MakeVec,
    MemoryKind,
    MemoryOrdering,
    Node,
    Program,
    ReduceOp,
    SubgroupReduce,
    Unary,
    UnOp,
)
from vyre.ir.types import SCALAR_TYPES

ALL_TYPES = (
    *SCALAR_TYPES,
    *(DataType.BYTES, DataType.F8E4M3, DataType.F8E5M2, DataType.I4, DataType.FP4, DataType.NF4),
    *(DataType.VEC2_U32, DataType.vec(DataType.BOOL, 16), DataType.vec(DataType.BF16, 3)),
    *(DataType.array(1), DataType.array(65_536), DataType.TENSOR),
    DataType.shaped_tensor(DataType.F32, (1, 2, (1 << 32) - 1)),
    *(DataType.sparse_csr(DataType.F16), DataType.sparse_coo(DataType.I8)),
    *(DataType.sparse_bsr(DataType.F64, 4, 8), DataType.opaque("vendor.kind_2")),
)


def all_expressions() -> list[AnyExpr]:
    """One expression of every kind and opcode."""
    x, y = Expr.var("x"), Expr.load("a", Expr.var("i") + Expr.u32(1))
    found: list[AnyExpr] = [Unary(op, x) for op in UnOp]
    found += [Binary(op, x, y) for op in BinOp]
    found += [SubgroupReduce(op, x) for op in ReduceOp]
    found += [Cast(x, dtype) for dtype in ALL_TYPES]
    found += [
        Builtin(kind, axis) for kind in BuiltinKind for axis in range(3 if kind.has_axis else 1)
    ]
    for op in AtomicOp:
        for ordering in MemoryOrdering:
            found.append(Expr.atomic(op, "a", x, y, None, ordering))
            found.append(Expr.atomic(op, "a", 0, y, x, ordering))
    found += [
        *(Expr.select(x, y, x), Expr.fma(x, y, x), Expr.bitcast(x, DataType.F32)),
        *(
            Expr.vec(DataType.U32, x, y),
            MakeVec(DataType.U32, ()),
            MakeVec(DataType.array(2), (x, y)),
        ),
        *(Expr.lane(x, 3), Expr.lane(x, -1), Expr.buf_len("a"), Expr.subgroup_ballot(x)),
        *(Expr.subgroup_shuffle(x, y), Expr.subgroup_shuffle(x, 3)),
    ]
    return found


def edge_literals() -> list[Lit]:
    """Literals at the ends of every type, and floats of every kind."""
    found: list[Lit] = [Expr.bool_(False), Expr.bool_(True)]
    for dtype in SCALAR_TYPES:
        if dtype.is_integer:
            low, high = dtype.integer_range
            values = {low, low + 1, -1 if low else 1, 0, 1, high - 1, high}
            found += [Expr.lit(value, dtype) for value in sorted(values)]
        elif dtype.is_float:
            top = 1 << ((dtype.bits or 0) - 1)
            whole = [*range(4), 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7F80, 0x7FC0, 0x7FFF]
            found += [Lit(dtype, bits | sign) for bits in whole for sign in (0, top)]
            found += [Expr.lit(value, dtype) for value in (0.1, 1.0, 1e10, 3.0e-5, float("inf"))]
    return found


def all_statements() -> list[Node]:
    """One statement of every kind, and nesting."""
    x = Expr.var("x")
    leave = [Node.break_(), Node.continue_(), Node.return_()]
    return [
        *(Node.let("x", x), Node.assign("x", x), Node.store("a", 0, x), Node.eval(x)),
        *(Node.if_(x, []), Node.if_(x, [], leave), Node.if_(x, leave, [Node.return_()])),
        Node.if_(x, leave, [Node.if_(x, [], [Node.if_(x, leave, leave)])]),
        Node.if_(x, leave, [Node.if_(x, []), Node.return_()]),
        *(Node.loop("k", 0, x, []), Node.loop("k", Expr.i8(-3), Expr.i8(4), leave)),
        *(Node.while_(x, leave), Node.block([]), Node.block([Node.block(leave)])),
        *(Node.region("", []), Node.region('a "b" \\ c', leave, "ünï"), Node.region("g", [], "")),
        *(Node.barrier(ordering) for ordering in MemoryOrdering),
        Node.async_load("t", "tile", 0, "a", x, Expr.u32(64)),
        Node.async_store("t", "a", x, "tile", 0, x),
        *(Node.async_wait("t"), Node.trap("no"), Node.resume("no")),
        *(Node.print_("label"), Node.print_("label", x, Expr.u32(1))),
        *(Node.indirect_dispatch("a"), Node.indirect_dispatch("a", (1 << 32) - 1)),
        *(Node.all_reduce("a", op) for op in ReduceOp),
        *(Node.all_gather("a", "b"), Node.reduce_scatter("a", "b", ReduceOp.MAX)),
        *(Node.broadcast("a"), Node.broadcast("a", 7)),
        *(Node.opaque("vendor.op"), Node.opaque("vendor.op", b"\x00\xff", x, x)),
    ]


def all_buffers() -> list[BufferDecl]:
    """Buffers with every element, access, kind of memory, flag and hint."""
    found = [BufferDecl.read(f"t{n}", n, dtype) for n, dtype in enumerate(ALL_TYPES)]
    u32 = DataType.U32
    for access in BufferAccess:
        for kind in MemoryKind:
            found.append(BufferDecl(f"{access.value}.{kind.value}", None, access, kind, u32, 3))
    found += [
        *(BufferDecl.read_write("rw", 1, u32), BufferDecl.write("w", (1 << 32) - 1, u32)),
        *(BufferDecl.output("o", 0, u32), BufferDecl.uniform("u", 0, u32)),
        *(BufferDecl.workgroup("wg", 4, u32), BufferDecl.scratch("s", 4, u32)),
        BufferDecl.local("l", (1 << 32) - 1, u32),
        BufferDecl.read_write("i", 2, u32).with_pipeline_live_out().with_initial_value(),
    ]
    hints = [
        BufferHints(coalesce_axis=0),
        BufferHints(preferred_alignment=16),
        *(BufferHints(locality=locality) for locality in CacheLocality),
        BufferHints(2, 256, CacheLocality.RANDOM),
    ]
    found += [BufferDecl.read("h", 0, u32).with_hints(hint) for hint in hints]
    return found


def awkward_names() -> list[str]:
    """Names that look like something else."""
    return [
        *(
            "let",
            "gid.x",
            "true",
            "inf_f32",
            "u32",
            "min",
            "len",
            "x.",
            "x..y",
            "_",
            ".".join("abc"),
        ),
        *("program", "buffer", "else", "seq_cst", "hex", "vec4", "array", "e1", "x" * 255, "lane"),
        *("expected", "op", "output", "in", "from", "bitcast", "a.5", "bits", "atomic_add"),
    ]


def everything() -> Program:
    """All of it in one program; it is well formed, not valid."""
    named = [
        Node.let(name, Expr.var(name) + Expr.load(name, Expr.var(name))) for name in awkward_names()
    ]
    body = [
        *all_statements(),
        *(Node.eval(expr) for expr in all_expressions()),
        *(Node.eval(literal) for literal in edge_literals()),
        *named,
        *(Node.store(name, 0, Expr.buf_len(name)) for name in awkward_names()),
        *(Node.assign(name, Expr.var("y")) for name in awkward_names()),
    ]
    return Program(all_buffers(), (64, 2, 0), body, 'vyre "id"', True)
