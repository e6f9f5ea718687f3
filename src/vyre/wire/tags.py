"""The numbers that stand for things in stored programs. A number is never given a new meaning."""

from __future__ import annotations

from typing import Final

from vyre.ir.buffer import BufferAccess, CacheLocality, MemoryKind
from vyre.ir.expr import (
    AnyExpr,
    Atomic,
    Ballot,
    Binary,
    Bitcast,
    BufLen,
    Builtin,
    Cast,
    Fma,
    Lane,
    Lit,
    Load,
    MakeVec,
    Select,
    Shuffle,
    SubgroupReduce,
    Unary,
    Var,
)
from vyre.ir.opcodes import BuiltinKind, MemoryOrdering
from vyre.ir.stmt import (
    AllGather,
    AllReduce,
    AnyStmt,
    Assign,
    AsyncLoad,
    AsyncStore,
    AsyncWait,
    Barrier,
    Block,
    Break,
    Broadcast,
    Continue,
    Eval,
    If,
    IndirectDispatch,
    Let,
    Loop,
    Opaque,
    Print,
    ReduceScatter,
    Region,
    Resume,
    Return,
    Store,
    Trap,
    While,
)
from vyre.ir.types import DataType

STRINGS: Final = 1
HEAD: Final = 2
BUFFERS: Final = 3
BODY: Final = 4
SECTIONS: Final = (STRINGS, HEAD, BUFFERS, BODY)
"""The sections of a payload, in their order."""

TREE_TAGS: dict[type[AnyExpr] | type[AnyStmt], int] = {
    Lit: 1,
    Var: 2,
    Load: 3,
    BufLen: 4,
    Builtin: 5,
    Unary: 6,
    Binary: 7,
    Fma: 8,
    Select: 9,
    Cast: 10,
    Bitcast: 11,
    MakeVec: 12,
    Lane: 13,
    Atomic: 14,
    Ballot: 15,
    Shuffle: 16,
    SubgroupReduce: 17,
    Let: 64,
    Assign: 65,
    Store: 66,
    Eval: 67,
    If: 68,
    Loop: 69,
    While: 70,
    Break: 71,
    Continue: 72,
    Return: 73,
    Barrier: 74,
    Block: 75,
    Region: 76,
    AsyncLoad: 77,
    AsyncStore: 78,
    AsyncWait: 79,
    Trap: 80,
    Resume: 81,
    Print: 82,
    IndirectDispatch: 83,
    AllReduce: 84,
    AllGather: 85,
    ReduceScatter: 86,
    Broadcast: 87,
    Opaque: 88,
}
SIMPLE_TYPES: dict[DataType, int] = {
    DataType.BOOL: 1,
    DataType.U8: 2,
    DataType.I8: 3,
    DataType.U16: 4,
    DataType.I16: 5,
    DataType.U32: 6,
    DataType.I32: 7,
    DataType.U64: 8,
    DataType.I64: 9,
    DataType.F16: 10,
    DataType.BF16: 11,
    DataType.F32: 12,
    DataType.F64: 13,
    DataType.BYTES: 14,
    DataType.F8E4M3: 15,
    DataType.F8E5M2: 16,
    DataType.I4: 17,
    DataType.FP4: 18,
    DataType.NF4: 19,
    DataType.TENSOR: 20,
}
VEC: Final = 32
ARRAY: Final = 33
SHAPED_TENSOR: Final = 34
CSR: Final = 35
COO: Final = 36
BSR: Final = 37
OPAQUE_TYPE: Final = 38

BUILTINS: dict[BuiltinKind, int] = {
    BuiltinKind.GLOBAL_ID: 1,
    BuiltinKind.LOCAL_ID: 2,
    BuiltinKind.WORKGROUP_ID: 3,
    BuiltinKind.NUM_WORKGROUPS: 4,
    BuiltinKind.SUBGROUP_SIZE: 5,
    BuiltinKind.SUBGROUP_LANE: 6,
}
ORDERINGS: dict[MemoryOrdering, int] = {
    MemoryOrdering.RELAXED: 1,
    MemoryOrdering.ACQUIRE: 2,
    MemoryOrdering.RELEASE: 3,
    MemoryOrdering.ACQ_REL: 4,
    MemoryOrdering.SEQ_CST: 5,
    MemoryOrdering.GRID_SYNC: 6,
}
ACCESSES: dict[BufferAccess, int] = {
    BufferAccess.READ_ONLY: 1,
    BufferAccess.READ_WRITE: 2,
    BufferAccess.WRITE_ONLY: 3,
    BufferAccess.UNIFORM: 4,
    BufferAccess.WORKGROUP: 5,
}
KINDS: dict[MemoryKind, int] = {
    MemoryKind.GLOBAL: 1,
    MemoryKind.READONLY: 2,
    MemoryKind.UNIFORM: 3,
    MemoryKind.PUSH: 4,
    MemoryKind.SHARED: 5,
    MemoryKind.LOCAL: 6,
    MemoryKind.SCRATCH: 7,
    MemoryKind.PERSISTENT: 8,
}
LOCALITIES: dict[CacheLocality, int] = {
    CacheLocality.UNKNOWN: 1,
    CacheLocality.STREAMING: 2,
    CacheLocality.TEMPORAL: 3,
    CacheLocality.RANDOM: 4,
}

# Bits of a buffer's flags.
IS_OUTPUT: Final = 1
IS_LIVE_OUT: Final = 2
HAS_INITIAL: Final = 4
HAS_BINDING: Final = 8
HAS_HINTS: Final = 16
ALL_BUFFER_FLAGS: Final = 31
# Bits of the flags in the head.
FAST_MATH: Final = 1
HAS_OP_ID: Final = 2
ALL_HEAD_FLAGS: Final = 3
