"""What `vyre.ir` offers by name, and the constructors that the language promises."""

from __future__ import annotations

import vyre.ir
from vyre.ir import BufferDecl, Expr, Node

PROMISED = (
    *("Program", "BufferDecl", "BufferAccess", "MemoryKind", "DataType", "Expr", "Node"),
    *("MemoryOrdering", "BinOp", "UnOp", "AtomicOp"),
)
EXPRESSIONS = (
    *("u32", "i32", "f32", "bool_", "lit", "var", "load", "buf_len", "gid", "local_id"),
    *("workgroup_id", "num_workgroups", "select", "cast", "fma", "atomic_add", "atomic_sub"),
    *("atomic_and", "atomic_or", "atomic_xor", "atomic_min", "atomic_max", "atomic_exchange"),
    *("atomic_compare_exchange", "subgroup_size", "subgroup_lane", "subgroup_ballot"),
    *("subgroup_shuffle", "subgroup_add", "subgroup_min", "subgroup_max", "eq", "ne"),
)
STATEMENTS = (
    *("let", "assign", "store", "if_", "loop", "while_", "break_", "continue_", "return_"),
    *("barrier", "block", "region", "async_load", "async_store", "async_wait", "trap", "resume"),
    *("indirect_dispatch", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "opaque"),
)
BUFFERS = ("storage", "read", "read_write", "output", "uniform", "workgroup", "scratch", "local")


def test_every_promised_name_is_there() -> None:
    for name in PROMISED:
        assert name in vyre.ir.__all__
    for name in vyre.ir.__all__:
        assert hasattr(vyre.ir, name)
    for cls, names in ((Expr, EXPRESSIONS), (Node, STATEMENTS), (BufferDecl, BUFFERS)):
        for name in names:
            assert callable(getattr(cls, name)), f"{cls.__name__}.{name}"
