"""The language, data only: types, opcodes, expressions, statements, buffers, programs.

A module is loaded when one of its names is first used: a launch of a program that an earlier
process compiled has no use for its statements.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from vyre.ir.scope import Scope
    from vyre.ir.stats import ProgramStats
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

_HOMES = {
    "buffer": "BufferAccess BufferDecl BufferHints CacheLocality MemoryKind",
    "expr": (
        "AnyExpr Atomic Ballot Binary Bitcast BufLen Builtin Cast Expr Fma Lane Lit Load "
        "MakeVec Select Shuffle SubgroupReduce Unary Var"
    ),
    "infer": "TypeEnv type_of",
    "opcodes": "AtomicOp BinOp BuiltinKind MemoryOrdering ReduceOp UnOp",
    "program": "Program",
    "scope": "Scope",
    "stats": "ProgramStats",
    "stmt": (
        "AllGather AllReduce AnyStmt Assign AsyncLoad AsyncStore AsyncWait Barrier Block "
        "Body Break Broadcast Continue Eval If IndirectDispatch Let Loop Node Opaque "
        "Print ROOT_GENERATOR ReduceScatter Region Resume Return Store Trap While"
    ),
    "types": "DataType TypeKind",
}

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name, name)
    if module not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = importlib.import_module(f"{__name__}.{module}")
    if module == name:
        return found
    if module == "stmt":
        _load_all()
    value = globals()[name] = getattr(found, name)
    return value


def _load_all() -> None:
    """Load what is left, and this module's `__getattr__` goes.

    Statements are used by what compiles, which uses the rest as well. CPython looks up attributes
    of a module that has a `__getattr__` in 27 ns, of others in 12, and a compilation does it often.
    """
    names = globals()
    for name, module in _HOME_OF.items():
        names[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    names.pop("__getattr__", None)
