"""Statements and expressions to bytes: children first, so that reading needs no recursion.

A node with a variable number of children says how many after its tag; the bodies of a statement
come before its expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from vyre.ir.types import SCALAR_TYPES, DataType
from vyre.wire import tags
from vyre.wire.varints import varint
from vyre.wire.writer import Writer, cannot_store

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

Steps = dict[type[AnyExpr] | type[AnyStmt], Callable[[Any], None]]


class _Variables(dict[str, bytes]):
    """Variables as bytes, made when first asked for."""

    def __init__(self, names: Mapping[str, bytes]) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, name: str) -> bytes:
        found = self[name] = _TAG[Var] + self._names[name]
        return found


class _Literals(dict[tuple[DataType, int], bytes]):
    """Literals as bytes, made when first asked for."""

    def __missing__(self, literal: tuple[DataType, int]) -> bytes:
        dtype, bits = literal
        head, width = _LIT.get(dtype, (b"", 0))
        if not width or bits >> width:
            raise cannot_store(f"a literal of type {dtype} has the bits {bits:#x}"[:100])
        found = self[literal] = head + varint(bits)
        return found


class TreeWriter:
    """Writes statements and expressions."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._put = writer.put
        self._names = writer.names
        self._texts = writer.texts
        self._expr = self._expression_writer()
        self.body = self._body_writer()
        """Put the statements of a body."""

    # The two functions that see every node keep what they need in local names, and write the
    # nodes that programs are mostly made of on the spot. Variables and literals under an operation
    # are most of all nodes, so they are not worth a call each.

    def _expression_writer(self) -> Callable[[AnyExpr], None]:
        put, steps, names = self._put, self._expression_steps(), self._names
        variables, literals = _Variables(names), _Literals()
        load, binary = _TAG[Load], _BINARY

        def write(expr: AnyExpr) -> None:
            if type(expr) is Binary:
                left, right = expr.left, expr.right
                if type(left) is Var:
                    put(variables[left.name])
                else:
                    write(left)
                if type(right) is Lit:
                    put(literals[right.dtype, right.bits])
                elif type(right) is Var:
                    put(variables[right.name])
                else:
                    write(right)
                put(binary[expr.op])
            elif type(expr) is Var:
                put(variables[expr.name])
            elif type(expr) is Lit:
                put(literals[expr.dtype, expr.bits])
            elif type(expr) is Load:
                write(expr.index)
                put(load)
                put(names[expr.buffer])
            else:
                steps[type(expr)](expr)

        return write

    def _body_writer(self) -> Callable[[Body], None]:
        put, steps, names = self._put, self._statement_steps(), self._names
        write, let, store, assign = self._expr, _TAG[Let], _TAG[Store], _TAG[Assign]
        if_, loop = _TAG[If], _TAG[Loop]

        def write_body(body: Body) -> None:
            for statement in body:
                if type(statement) is Let:
                    write(statement.value)
                    put(let)
                    put(names[statement.name])
                elif type(statement) is Store:
                    write(statement.index)
                    write(statement.value)
                    put(store)
                    put(names[statement.buffer])
                elif type(statement) is Assign:
                    write(statement.value)
                    put(assign)
                    put(names[statement.name])
                elif type(statement) is If:
                    then, otherwise = statement.then, statement.otherwise
                    write_body(then)
                    write_body(otherwise)
                    write(statement.cond)
                    put(if_ + varint(len(then)) + varint(len(otherwise)))
                elif type(statement) is Loop:
                    inner = statement.body
                    write_body(inner)
                    write(statement.start)
                    write(statement.stop)
                    put(loop + names[statement.var] + varint(len(inner)))
                else:
                    steps[type(statement)](statement)

        return write_body

    def _exprs(self, *operands: AnyExpr) -> None:
        for operand in operands:
            self._expr(operand)

    # --- expressions ------------------------------------------------------------------------------

    def _expression_steps(self) -> Steps:
        return {
            BufLen: lambda expr: self._put(_TAG[BufLen] + self._names[expr.buffer]),
            Builtin: self._builtin,
            Unary: self._unary,
            Fma: self._fma,
            Select: self._select,
            Cast: self._cast,
            Bitcast: self._cast,
            MakeVec: self._make_vec,
            Lane: self._lane,
            Atomic: self._atomic,
            Ballot: self._ballot,
            Shuffle: self._shuffle,
            SubgroupReduce: self._reduce,
        }

    def _builtin(self, expr: Builtin) -> None:
        if not 0 <= expr.axis <= (2 if expr.kind.has_axis else 0):
            raise cannot_store(f"{expr.kind.value} has no axis {expr.axis}")
        self._put(_TAG[Builtin] + bytes((tags.BUILTINS[expr.kind], expr.axis)))

    def _unary(self, expr: Unary) -> None:
        self._expr(expr.operand)
        self._put(_UNARY[expr.op])

    def _fma(self, expr: Fma) -> None:
        self._exprs(expr.a, expr.b, expr.c)
        self._put(_TAG[Fma])

    def _select(self, expr: Select) -> None:
        self._exprs(expr.cond, expr.if_true, expr.if_false)
        self._put(_TAG[Select])

    def _cast(self, expr: Cast | Bitcast) -> None:
        self._expr(expr.value)
        self._put(_TAG[type(expr)])
        self._writer.dtype(expr.dtype)

    def _make_vec(self, expr: MakeVec) -> None:
        self._exprs(*expr.lanes)
        self._put(_TAG[MakeVec])
        self._writer.dtype(expr.dtype)
        self._put(varint(len(expr.lanes)))

    def _lane(self, expr: Lane) -> None:
        self._expr(expr.value)
        self._put(_TAG[Lane])
        self._writer.signed(expr.index)

    def _atomic(self, expr: Atomic) -> None:
        has_expected = expr.expected is not None
        self._exprs(expr.index, expr.value)
        if expr.expected is not None:
            self._expr(expr.expected)
        self._put(_ATOMIC[expr.op] + bytes((tags.ORDERINGS[expr.ordering], has_expected)))
        self._put(self._names[expr.buffer])

    def _ballot(self, expr: Ballot) -> None:
        self._expr(expr.cond)
        self._put(_TAG[Ballot])

    def _shuffle(self, expr: Shuffle) -> None:
        self._exprs(expr.value, expr.source)
        self._put(_TAG[Shuffle])

    def _reduce(self, expr: SubgroupReduce) -> None:
        self._expr(expr.value)
        self._put(_TAG[SubgroupReduce] + _REDUCE[expr.op])

    # --- statements -------------------------------------------------------------------------------

    def _statement_steps(self) -> Steps:
        return {
            Eval: self._eval,
            While: self._while,
            Break: self._bare,
            Continue: self._bare,
            Return: self._bare,
            Barrier: self._barrier,
            Block: self._block,
            Region: self._region,
            AsyncLoad: self._copy,
            AsyncStore: self._copy,
            AsyncWait: self._tagged,
            Trap: self._tagged,
            Resume: self._tagged,
            Print: self._print,
            IndirectDispatch: self._indirect_dispatch,
            AllReduce: self._all_reduce,
            AllGather: self._all_gather,
            ReduceScatter: self._reduce_scatter,
            Broadcast: self._broadcast,
            Opaque: self._opaque,
        }

    def _eval(self, statement: Eval) -> None:
        self._expr(statement.value)
        self._put(_TAG[Eval])

    def _while(self, statement: While) -> None:
        self.body(statement.body)
        self._expr(statement.cond)
        self._put(_TAG[While] + varint(len(statement.body)))

    def _block(self, statement: Block) -> None:
        self.body(statement.body)
        self._put(_TAG[Block] + varint(len(statement.body)))

    def _region(self, statement: Region) -> None:
        self.body(statement.body)
        source = statement.source_region
        self._put(_TAG[Region] + self._texts[statement.generator] + varint(source is not None))
        if source is not None:
            self._put(self._texts[source])
        self._put(varint(len(statement.body)))

    def _copy(self, statement: AsyncLoad | AsyncStore) -> None:
        self._exprs(statement.destination_start, statement.source_start, statement.count)
        self._put(_TAG[type(statement)] + self._texts[statement.tag])
        self._put(self._names[statement.destination] + self._names[statement.source])

    def _tagged(self, statement: AsyncWait | Trap | Resume) -> None:
        self._put(_TAG[type(statement)] + self._texts[statement.tag])

    def _print(self, statement: Print) -> None:
        self._exprs(*statement.values)
        self._put(_TAG[Print] + self._texts[statement.label] + varint(len(statement.values)))

    def _indirect_dispatch(self, statement: IndirectDispatch) -> None:
        self._put(_TAG[IndirectDispatch] + self._names[statement.count_buffer])
        self._put(varint(statement.count_offset))

    def _all_reduce(self, statement: AllReduce) -> None:
        self._put(_TAG[AllReduce] + _REDUCE[statement.op] + self._names[statement.buffer])

    def _all_gather(self, statement: AllGather) -> None:
        self._put(_TAG[AllGather] + self._names[statement.source])
        self._put(self._names[statement.destination])

    def _reduce_scatter(self, statement: ReduceScatter) -> None:
        self._put(_TAG[ReduceScatter] + _REDUCE[statement.op] + self._names[statement.source])
        self._put(self._names[statement.destination])

    def _broadcast(self, statement: Broadcast) -> None:
        self._put(_TAG[Broadcast] + self._names[statement.buffer])
        self._writer.signed(statement.root)

    def _opaque(self, statement: Opaque) -> None:
        self._exprs(*statement.operands)
        self._put(_TAG[Opaque] + self._names[statement.kind] + varint(len(statement.payload)))
        self._put(b"".join(map(varint, statement.payload)) + varint(len(statement.operands)))

    def _bare(self, statement: Break | Continue | Return) -> None:
        self._put(_TAG[type(statement)])

    def _barrier(self, statement: Barrier) -> None:
        self._put(_TAG[Barrier] + bytes((tags.ORDERINGS[statement.ordering],)))
