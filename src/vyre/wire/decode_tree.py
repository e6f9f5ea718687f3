"""Bytes to statements and expressions: a stack machine, one step per node, without recursion.

The bytes hold children before their node, so a node takes its operands from a stack. A statement
takes all expressions that are there; a statement with bodies takes the last statements read.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre.diagnostics.codes import wire as codes
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
from vyre.ir.types import SCALAR_TYPES
from vyre.wire import tags
from vyre.wire.reader import Malformed, Reader, Strings

_UNARY = {op.row.tag: op for op in UnOp}
_BINARY = {op.row.tag: op for op in BinOp}
_ATOMIC = {op.row.tag: op for op in AtomicOp}
_REDUCE = {op.row.tag: op for op in ReduceOp}
_ORDERINGS = {tag: ordering for ordering, tag in tags.ORDERINGS.items()}
_BUILTINS = {
    bytes((tag, axis)): Builtin(kind, axis)
    for kind, tag in tags.BUILTINS.items()
    for axis in range(3 if kind.has_axis else 1)
}
_NONE = -1
_VAR, _LIT, _LOAD = tags.TREE_TAGS[Var], tags.TREE_TAGS[Lit], tags.TREE_TAGS[Load]
_BINARY_TAG = tags.TREE_TAGS[Binary]
_LIT_TYPES = {
    tags.SIMPLE_TYPES[dtype]: (dtype, 1 if dtype.is_bool else dtype.bits or 0)
    for dtype in SCALAR_TYPES
}


class TreeReader(Reader):
    """Reads the statements of a body."""

    __slots__ = ("_exprs", "_leaves", "_start", "_statements", "_vars")

    def __init__(self, data: bytes, strings: Strings) -> None:
        super().__init__(data, strings)
        self._start = 0
        self._exprs: list[AnyExpr] = []
        self._statements: list[AnyStmt] = []
        self._vars: dict[int, Var] = {}
        self._leaves: dict[tuple[int, int], Lit] = {}

    def statements(self) -> list[AnyStmt]:
        """Read everything; after a failure, `pos` is where the node starts that cannot be read."""
        try:
            self._read()
        finally:
            self.pos = self._start
        if self._exprs:
            raise Malformed(codes.BAD_STRUCTURE, problem="an expression belongs to no statement")
        return self._statements

    def _read(self) -> None:
        # The kinds of nodes that programs are mostly made of are read here, without a call; what
        # is rare, new or wrong is left to the step for its tag.
        data, steps, exprs = self.data, self._steps(), self._exprs
        variables, leaves, names = self._vars, self._leaves, self.strings.names
        end = len(data)
        pos = 0
        while pos < end:
            tag = data[pos]
            low = data[pos + 1] if pos + 1 < end else _NONE
            if tag == _VAR:
                if low in variables and low < 128:
                    exprs.append(variables[low])
                    pos += 2
                    continue
                if low >= 128 and pos + 2 < end:
                    # Two bytes; a superfluous one or a third one finds nothing.
                    index = low & 127 | data[pos + 2] << 7
                    if index in variables and 128 <= index < 1 << 14:
                        exprs.append(variables[index])
                        pos += 3
                        continue
            elif tag == _LIT:
                if pos + 2 < end and (key := (low, data[pos + 2])) in leaves and key[1] < 128:
                    exprs.append(leaves[key])
                    pos += 3
                    continue
            elif tag == _BINARY_TAG:
                if len(exprs) > 1 and low in _BINARY:
                    right = exprs.pop()
                    exprs[-1] = Binary(_BINARY[low], exprs[-1], right)
                    pos += 2
                    continue
            elif tag == _LOAD and exprs and low in names and low < 128:
                exprs[-1] = Load(names[low], exprs[-1])
                pos += 2
                continue
            self._start = pos
            self.pos = pos + 1
            steps[tag]()
            pos = self.pos
        self._start = pos

    def _steps(self) -> dict[int, Callable[[], None]]:
        by_kind: dict[type[AnyExpr] | type[AnyStmt], Callable[[], None]] = {
            **self._expression_steps(),
            **self._statement_steps(),
        }
        return {tag: by_kind[kind] for kind, tag in tags.TREE_TAGS.items()}

    # --- operands and bodies ----------------------------------------------------------------------

    def _operand(self) -> AnyExpr:
        """Take the operand of an expression."""
        (operand,) = self._exprs[-1:]
        del self._exprs[-1:]
        return operand

    def _operands(self, count: int) -> tuple[AnyExpr, ...]:
        """Take several operands of an expression."""
        if count > len(self._exprs):
            raise ValueError
        if not count:
            return ()
        operands = tuple(self._exprs[-count:])
        del self._exprs[-count:]
        return operands

    def _only(self) -> AnyExpr:
        """Take the one expression that is there, for a statement."""
        (value,) = self._exprs
        self._exprs.clear()
        return value

    def _all(self) -> tuple[AnyExpr, ...]:
        values = tuple(self._exprs)
        self._exprs.clear()
        return values

    def _counted(self) -> tuple[AnyExpr, ...]:
        """Take all expressions that are there; their number must be the one that is stored."""
        values = self._all()
        if self.varint() != len(values):
            raise ValueError
        return values

    def _body(self, count: int) -> Body:
        """Take the last statements read."""
        if count > len(self._statements):
            raise ValueError
        if not count:
            return ()
        body = tuple(self._statements[-count:])
        del self._statements[-count:]
        return body

    def _nothing(self) -> None:
        """Make sure that no expression waits, for a statement that takes none."""
        if self._exprs:
            raise ValueError

    # --- expressions ------------------------------------------------------------------------------

    def _expression_steps(self) -> dict[type[AnyExpr] | type[AnyStmt], Callable[[], None]]:
        push = self._exprs.append
        return {
            Lit: self._lit,
            Var: self._var,
            Load: self._load,
            BufLen: lambda: push(BufLen(self.name())),
            Builtin: lambda: push(_BUILTINS[self.take(2)]),
            Unary: lambda: push(Unary(_UNARY[self.byte()], self._operand())),
            Binary: self._binary,
            Fma: lambda: push(Fma(*self._operands(3))),
            Select: lambda: push(Select(*self._operands(3))),
            Cast: lambda: push(Cast(self._operand(), self.dtype())),
            Bitcast: lambda: push(Bitcast(self._operand(), self.dtype())),
            MakeVec: lambda: push(MakeVec(self.dtype(), self._operands(self.varint()))),
            Lane: lambda: push(Lane(self._operand(), self.signed())),
            Atomic: self._atomic,
            Ballot: lambda: push(Ballot(self._operand())),
            Shuffle: lambda: push(Shuffle(*self._operands(2))),
            SubgroupReduce: lambda: push(SubgroupReduce(_REDUCE[self.byte()], self._operand())),
        }

    def _lit(self) -> None:
        tag = self.byte()
        bits = self.varint()
        found = self._leaves.get((tag, bits))
        if found is None:
            dtype, width = _LIT_TYPES[tag]
            if bits >> width:
                problem = f"a literal of type {dtype} has the bits {bits:#x}"
                raise Malformed(codes.NOT_CANONICAL, problem=problem)
            found = self._leaves[tag, bits] = Lit(dtype, bits)
        self._exprs.append(found)

    def _var(self) -> None:
        index = self.varint()
        found = self._vars.get(index)
        if found is None:
            found = self._vars[index] = Var(self.strings.name(index))
        self._exprs.append(found)

    def _load(self) -> None:
        self._exprs.append(Load(self.name(), self._operand()))

    def _binary(self) -> None:
        op = _BINARY[self.data[self.pos]]
        self.pos += 1
        exprs = self._exprs
        left, right = exprs[-2:]
        exprs[-2:] = [Binary(op, left, right)]

    def _atomic(self) -> None:
        op = _ATOMIC[self.byte()]
        ordering = _ORDERINGS[self.byte()]
        has_expected = self.flags(1)
        buffer = self.name()
        index, value, *expected = self._operands(2 + has_expected)
        self._exprs.append(
            Atomic(op, buffer, index, value, expected[0] if expected else None, ordering)
        )

    # --- statements -------------------------------------------------------------------------------

    def _statement_steps(self) -> dict[type[AnyExpr] | type[AnyStmt], Callable[[], None]]:
        add = self._statements.append
        return {
            Let: lambda: add(Let(self.name(), self._only())),
            Assign: lambda: add(Assign(self.name(), self._only())),
            Store: self._store,
            Eval: lambda: add(Eval(self._only())),
            If: self._if,
            Loop: self._loop,
            While: lambda: add(While(self._only(), self._body(self.varint()))),
            Break: lambda: self._plain(Break()),
            Continue: lambda: self._plain(Continue()),
            Return: lambda: self._plain(Return()),
            Barrier: lambda: self._plain(Barrier(_ORDERINGS[self.byte()])),
            Block: lambda: self._plain(Block(self._body(self.varint()))),
            Region: self._region,
            AsyncLoad: lambda: self._copy(AsyncLoad),
            AsyncStore: lambda: self._copy(AsyncStore),
            AsyncWait: lambda: self._plain(AsyncWait(self.text())),
            Trap: lambda: self._plain(Trap(self.text())),
            Resume: lambda: self._plain(Resume(self.text())),
            Print: lambda: add(Print(self.text(), self._counted())),
            IndirectDispatch: lambda: self._plain(
                Node.indirect_dispatch(self.name(), self.varint())
            ),
            AllReduce: self._all_reduce,
            AllGather: lambda: self._plain(AllGather(self.name(), self.name())),
            ReduceScatter: self._reduce_scatter,
            Broadcast: lambda: self._plain(Broadcast(self.name(), self.signed())),
            Opaque: self._opaque,
        }

    def _plain(self, statement: AnyStmt) -> None:
        self._nothing()
        self._statements.append(statement)

    def _store(self) -> None:
        buffer = self.name()
        exprs = self._exprs
        index, value = exprs
        exprs.clear()
        self._statements.append(Store(buffer, index, value))

    def _if(self) -> None:
        cond = self._only()
        then_count = self.varint()
        otherwise = self._body(self.varint())
        self._statements.append(If(cond, self._body(then_count), otherwise))

    def _loop(self) -> None:
        start, stop = self._all()
        var = self.name()
        self._statements.append(Loop(var, start, stop, self._body(self.varint())))

    def _region(self) -> None:
        generator = self.text()
        source = self.text() if self.flags(1) else None
        self._plain(Region(generator, source, self._body(self.varint())))

    def _copy(self, kind: type[AsyncLoad] | type[AsyncStore]) -> None:
        destination_start, source_start, count = self._all()
        tag, destination, source = self.text(), self.name(), self.name()
        self._statements.append(
            kind(tag, destination, destination_start, source, source_start, count)
        )

    def _all_reduce(self) -> None:
        op = _REDUCE[self.byte()]
        self._plain(AllReduce(self.name(), op))

    def _reduce_scatter(self) -> None:
        op = _REDUCE[self.byte()]
        source, destination = self.name(), self.name()
        self._plain(ReduceScatter(source, destination, op))

    def _opaque(self) -> None:
        kind = self.name()
        payload = self.take(self.varint())
        self._statements.append(Opaque(kind, payload, self._counted()))
