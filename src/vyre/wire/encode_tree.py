"""Statements and expressions to bytes: children first, so that reading needs no recursion.

A node with a variable number of children says how many after its tag; the bodies of a statement
come before its expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from vyre.ir.opcodes import AtomicOp, BinOp, ReduceOp, UnOp
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
    Body,
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
from vyre.ir.types import SCALAR_TYPES
from vyre.wire import tags
from vyre.wire.writer import Writer, cannot_store, varint

_TAG: dict[type[AnyExpr] | type[AnyStmt], bytes] = {
    kind: bytes((tag,)) for kind, tag in tags.TREE_TAGS.items()
}
_UNARY = {op: _TAG[Unary] + bytes((op.row.tag,)) for op in UnOp}
_BINARY = {op: _TAG[Binary] + bytes((op.row.tag,)) for op in BinOp}
_REDUCE = {op: bytes((op.row.tag,)) for op in ReduceOp}
_ATOMIC = {op: _TAG[Atomic] + bytes((op.row.tag,)) for op in AtomicOp}
_LIT = {
    dtype: (_TAG[Lit] + bytes((tags.SIMPLE_TYPES[dtype],)), 1 if dtype.is_bool else dtype.bits)
    for dtype in SCALAR_TYPES
}
_LOAD, _VAR, _LET, _ASSIGN, _STORE = _TAG[Load], _TAG[Var], _TAG[Let], _TAG[Assign], _TAG[Store]


def encode_body(writer: Writer, body: Body) -> None:
    """Put the statements of a body."""
    for statement in body:
        _STATEMENTS[type(statement)](writer, statement)


# --- expressions ----------------------------------------------------------------------------------


def _lit(writer: Writer, expr: Lit) -> None:
    head, width = _LIT.get(expr.dtype, (b"", 0))
    if not width or expr.bits >> width:
        raise cannot_store(f"a literal of type {expr.dtype} has the bits {expr.bits:#x}"[:100])
    writer.put(head + varint(expr.bits))


def _var(writer: Writer, expr: Var) -> None:
    writer.put(_VAR + writer.name(expr.name))


def _load(writer: Writer, expr: Load) -> None:
    index = expr.index
    _EXPRESSIONS[type(index)](writer, index)
    writer.put(_LOAD + writer.name(expr.buffer))


def _builtin(writer: Writer, expr: Builtin) -> None:
    if not 0 <= expr.axis <= (2 if expr.kind.has_axis else 0):
        raise cannot_store(f"{expr.kind.value} has no axis {expr.axis}")
    writer.put(_TAG[Builtin] + bytes((tags.BUILTINS[expr.kind], expr.axis)))


def _unary(writer: Writer, expr: Unary) -> None:
    operand = expr.operand
    _EXPRESSIONS[type(operand)](writer, operand)
    writer.put(_UNARY[expr.op])


def _binary(writer: Writer, expr: Binary) -> None:
    left, right = expr.left, expr.right
    _EXPRESSIONS[type(left)](writer, left)
    _EXPRESSIONS[type(right)](writer, right)
    writer.put(_BINARY[expr.op])


def _many(writer: Writer, *operands: AnyExpr) -> None:
    for operand in operands:
        _EXPRESSIONS[type(operand)](writer, operand)


def _fma(writer: Writer, expr: Fma) -> None:
    _many(writer, expr.a, expr.b, expr.c)
    writer.put(_TAG[Fma])


def _select(writer: Writer, expr: Select) -> None:
    _many(writer, expr.cond, expr.if_true, expr.if_false)
    writer.put(_TAG[Select])


def _cast(writer: Writer, expr: Cast | Bitcast) -> None:
    _many(writer, expr.value)
    writer.put(_TAG[type(expr)])
    writer.dtype(expr.dtype)


def _make_vec(writer: Writer, expr: MakeVec) -> None:
    _many(writer, *expr.lanes)
    writer.put(_TAG[MakeVec])
    writer.dtype(expr.dtype)
    writer.put(varint(len(expr.lanes)))


def _lane(writer: Writer, expr: Lane) -> None:
    _many(writer, expr.value)
    writer.put(_TAG[Lane])
    writer.signed(expr.index)


def _atomic(writer: Writer, expr: Atomic) -> None:
    has_expected = expr.expected is not None
    _many(writer, expr.index, expr.value)
    if expr.expected is not None:
        _many(writer, expr.expected)
    writer.put(_ATOMIC[expr.op] + bytes((tags.ORDERINGS[expr.ordering], has_expected)))
    writer.put(writer.name(expr.buffer))


def _ballot(writer: Writer, expr: Ballot) -> None:
    _many(writer, expr.cond)
    writer.put(_TAG[Ballot])


def _shuffle(writer: Writer, expr: Shuffle) -> None:
    _many(writer, expr.value, expr.source)
    writer.put(_TAG[Shuffle])


def _reduce(writer: Writer, expr: SubgroupReduce) -> None:
    _many(writer, expr.value)
    writer.put(_TAG[SubgroupReduce] + _REDUCE[expr.op])


_EXPRESSIONS: dict[type[AnyExpr], Callable[[Writer, Any], None]] = {
    Lit: _lit,
    Var: _var,
    Load: _load,
    BufLen: lambda writer, expr: writer.put(_TAG[BufLen] + writer.name(expr.buffer)),
    Builtin: _builtin,
    Unary: _unary,
    Binary: _binary,
    Fma: _fma,
    Select: _select,
    Cast: _cast,
    Bitcast: _cast,
    MakeVec: _make_vec,
    Lane: _lane,
    Atomic: _atomic,
    Ballot: _ballot,
    Shuffle: _shuffle,
    SubgroupReduce: _reduce,
}


# --- statements -----------------------------------------------------------------------------------


def _let(writer: Writer, statement: Let) -> None:
    value = statement.value
    _EXPRESSIONS[type(value)](writer, value)
    writer.put(_LET + writer.name(statement.name))


def _assign(writer: Writer, statement: Assign) -> None:
    value = statement.value
    _EXPRESSIONS[type(value)](writer, value)
    writer.put(_ASSIGN + writer.name(statement.name))


def _store(writer: Writer, statement: Store) -> None:
    index, value = statement.index, statement.value
    _EXPRESSIONS[type(index)](writer, index)
    _EXPRESSIONS[type(value)](writer, value)
    writer.put(_STORE + writer.name(statement.buffer))


def _eval(writer: Writer, statement: Eval) -> None:
    _many(writer, statement.value)
    writer.put(_TAG[Eval])


def _if(writer: Writer, statement: If) -> None:
    encode_body(writer, statement.then)
    encode_body(writer, statement.otherwise)
    _many(writer, statement.cond)
    writer.put(_TAG[If] + varint(len(statement.then)) + varint(len(statement.otherwise)))


def _loop(writer: Writer, statement: Loop) -> None:
    encode_body(writer, statement.body)
    _many(writer, statement.start, statement.stop)
    writer.put(_TAG[Loop] + writer.name(statement.var) + varint(len(statement.body)))


def _while(writer: Writer, statement: While) -> None:
    encode_body(writer, statement.body)
    _many(writer, statement.cond)
    writer.put(_TAG[While] + varint(len(statement.body)))


def _block(writer: Writer, statement: Block) -> None:
    encode_body(writer, statement.body)
    writer.put(_TAG[Block] + varint(len(statement.body)))


def _region(writer: Writer, statement: Region) -> None:
    encode_body(writer, statement.body)
    source = statement.source_region
    writer.put(_TAG[Region] + writer.text(statement.generator) + bytes((source is not None,)))
    if source is not None:
        writer.put(writer.text(source))
    writer.put(varint(len(statement.body)))


def _copy(writer: Writer, statement: AsyncLoad | AsyncStore) -> None:
    _many(writer, statement.destination_start, statement.source_start, statement.count)
    writer.put(_TAG[type(statement)] + writer.text(statement.tag))
    writer.put(writer.name(statement.destination) + writer.name(statement.source))


def _tagged(writer: Writer, statement: AsyncWait | Trap | Resume) -> None:
    writer.put(_TAG[type(statement)] + writer.text(statement.tag))


def _print(writer: Writer, statement: Print) -> None:
    _many(writer, *statement.values)
    writer.put(_TAG[Print] + writer.text(statement.label) + varint(len(statement.values)))


def _indirect_dispatch(writer: Writer, statement: IndirectDispatch) -> None:
    writer.put(_TAG[IndirectDispatch] + writer.name(statement.count_buffer))
    writer.put(varint(statement.count_offset))


def _all_reduce(writer: Writer, statement: AllReduce) -> None:
    writer.put(_TAG[AllReduce] + _REDUCE[statement.op] + writer.name(statement.buffer))


def _all_gather(writer: Writer, statement: AllGather) -> None:
    writer.put(_TAG[AllGather] + writer.name(statement.source))
    writer.put(writer.name(statement.destination))


def _reduce_scatter(writer: Writer, statement: ReduceScatter) -> None:
    writer.put(_TAG[ReduceScatter] + _REDUCE[statement.op] + writer.name(statement.source))
    writer.put(writer.name(statement.destination))


def _broadcast(writer: Writer, statement: Broadcast) -> None:
    writer.put(_TAG[Broadcast] + writer.name(statement.buffer))
    writer.signed(statement.root)


def _opaque(writer: Writer, statement: Opaque) -> None:
    _many(writer, *statement.operands)
    writer.put(_TAG[Opaque] + writer.name(statement.kind) + varint(len(statement.payload)))
    writer.put(statement.payload + varint(len(statement.operands)))


def _bare(writer: Writer, statement: Break | Continue | Return) -> None:
    writer.put(_TAG[type(statement)])


def _barrier(writer: Writer, statement: Barrier) -> None:
    writer.put(_TAG[Barrier] + bytes((tags.ORDERINGS[statement.ordering],)))


_STATEMENTS: dict[type[AnyStmt], Callable[[Writer, Any], None]] = {
    Let: _let,
    Assign: _assign,
    Store: _store,
    Eval: _eval,
    If: _if,
    Loop: _loop,
    While: _while,
    Break: _bare,
    Continue: _bare,
    Return: _bare,
    Barrier: _barrier,
    Block: _block,
    Region: _region,
    AsyncLoad: _copy,
    AsyncStore: _copy,
    AsyncWait: _tagged,
    Trap: _tagged,
    Resume: _tagged,
    Print: _print,
    IndirectDispatch: _indirect_dispatch,
    AllReduce: _all_reduce,
    AllGather: _all_gather,
    ReduceScatter: _reduce_scatter,
    Broadcast: _broadcast,
    Opaque: _opaque,
}
