"""The language, data only: types, opcodes, expressions, statements, buffers, programs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from vyre.ir.buffer import BufferAccess, BufferDecl, BufferHints, CacheLocality, MemoryKind
from vyre.ir.expr import (
    AnyExpr,
    Atomic,
    Ballot,
    Binary,
    Bitcast,
    BufLen,
    Builtin,
    Cast,
    Expr,
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
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.opcodes import AtomicOp, BinOp, BuiltinKind, MemoryOrdering, ReduceOp, UnOp
from vyre.ir.program import Program
from vyre.ir.stmt import (
    ROOT_GENERATOR,
    AllGather,
    AllReduce,
    AnyStmt,
    Assign,
    AsyncLoad,
    AsyncStore,
    AsyncWait,
    Barrier,
    Block,
    Body,
    Break,
    Broadcast,
    Continue,
    Eval,
    If,
    IndirectDispatch,
    Let,
    Loop,
    Node,
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
from vyre.ir.types import DataType, TypeKind

if TYPE_CHECKING:
    from vyre.ir.scope import Scope
    from vyre.ir.stats import ProgramStats

__all__ = [
    "ROOT_GENERATOR",
    "AllGather",
    "AllReduce",
    "AnyExpr",
    "AnyStmt",
    "Assign",
    "AsyncLoad",
    "AsyncStore",
    "AsyncWait",
    "Atomic",
    "AtomicOp",
    "Ballot",
    "Barrier",
    "BinOp",
    "Binary",
    "Bitcast",
    "Block",
    "Body",
    "Break",
    "Broadcast",
    "BufLen",
    "BufferAccess",
    "BufferDecl",
    "BufferHints",
    "Builtin",
    "BuiltinKind",
    "CacheLocality",
    "Cast",
    "Continue",
    "DataType",
    "Eval",
    "Expr",
    "Fma",
    "If",
    "IndirectDispatch",
    "Lane",
    "Let",
    "Lit",
    "Load",
    "Loop",
    "MakeVec",
    "MemoryKind",
    "MemoryOrdering",
    "Node",
    "Opaque",
    "Print",
    "Program",
    "ProgramStats",
    "ReduceOp",
    "ReduceScatter",
    "Region",
    "Resume",
    "Return",
    "Scope",
    "Select",
    "Shuffle",
    "Store",
    "SubgroupReduce",
    "Trap",
    "TypeEnv",
    "TypeKind",
    "UnOp",
    "Unary",
    "Var",
    "While",
    "type_of",
]

_HOME = {"ProgramStats": "stats", "Scope": "scope"}
"""Where names are that launching a program has no use for."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
