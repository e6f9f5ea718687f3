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
from vyre.ir.types import SCALAR_TYPES, DataType
from vyre.wire import tags
from vyre.wire.malformed import Malformed
from vyre.wire.reader import Reader

_UNARY = {op.row.tag: op for op in UnOp}
_BINARY = {op.row.tag: op for op in BinOp}
_ATOMIC = {op.row.tag: op for op in AtomicOp}
_REDUCE = {op.row.tag: op for op in ReduceOp}
_ORDERINGS = {tag: ordering for ordering, tag in tags.ORDERINGS.items()}
_BUILTINS = {
    (tag, axis): Builtin(kind, axis)
    for kind, tag in tags.BUILTINS.items()
    for axis in range(3 if kind.has_axis else 1)
}
_VAR, _LIT, _LOAD = tags.TREE_TAGS[Var], tags.TREE_TAGS[Lit], tags.TREE_TAGS[Load]
_BINARY_TAG, _LET, _STORE = tags.TREE_TAGS[Binary], tags.TREE_TAGS[Let], tags.TREE_TAGS[Store]


class _Variables(dict[int, Var]):
    """The variables met so far, by the numbers of their names."""

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, index: int) -> Var:
        made = self[index] = Var(self._names[index])
        return made


class _Literals(dict[int, Lit]):
    """The literals of one type met so far, by their bits."""

    def __init__(self, dtype: DataType) -> None:
        super().__init__()
        self._dtype = dtype
        self._width = 1 if dtype.is_bool else dtype.bits or 0

    def __missing__(self, bits: int) -> Lit:
        if bits >> self._width:
            problem = f"a literal of type {self._dtype} has the bits {bits:#x}"
            raise Malformed(codes.NOT_CANONICAL, problem=problem)
        made = self[bits] = Lit(self._dtype, bits)
        return made


class TreeReader:
    """Reads the statements of a body."""

    __slots__ = ("_exprs", "_reader", "_statements")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._exprs: list[AnyExpr] = []
        self._statements: list[AnyStmt] = []

    def statements(self) -> list[AnyStmt]:
        """Read everything."""
        self._read()
        if self._exprs:
            raise Malformed(codes.BAD_STRUCTURE, problem="an expression belongs to no statement")
        return self._statements

    def _read(self) -> None:
        # The kinds of nodes that programs are mostly made of are read here, without a call; the
        # rest is left to the step for its tag.
        steps, exprs, add = self._steps(), self._exprs, self._statements.append
        item, names = self._reader.item, self._reader.strings.names
        variables = _Variables(names)
        literals = {tags.SIMPLE_TYPES[dtype]: _Literals(dtype) for dtype in SCALAR_TYPES}
        push, pop = exprs.append, exprs.pop
        for tag in self._reader.items:
            if tag == _VAR:
                push(variables[item()])
            elif tag == _BINARY_TAG:
                op, right = _BINARY[item()], pop()
                exprs[-1] = Binary(op, exprs[-1], right)
            elif tag == _LIT:
                push(literals[item()][item()])
            elif tag == _LOAD:
                exprs[-1] = Load(names[item()], exprs[-1])
            elif tag == _LET:
                (value,) = exprs
                add(Let(names[item()], value))
                exprs.clear()
            elif tag == _STORE:
                index, value = exprs
                add(Store(names[item()], index, value))
                exprs.clear()
            else:
                steps[tag]()

    def _steps(self) -> dict[int, Callable[[], None]]:
        by_kind: dict[type[AnyExpr] | type[AnyStmt], Callable[[], None]] = {
            **self._expression_steps(),
            **self._statement_steps(),
        }
        return {tags.TREE_TAGS[kind]: step for kind, step in by_kind.items()}

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
        if self._reader.item() != len(values):
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
        push, reader = self._exprs.append, self._reader
        return {
            BufLen: lambda: push(BufLen(reader.name())),
            Builtin: lambda: push(_BUILTINS[reader.item(), reader.item()]),
            Unary: lambda: push(Unary(_UNARY[reader.item()], self._operand())),
            Fma: lambda: push(Fma(*self._operands(3))),
            Select: lambda: push(Select(*self._operands(3))),
            Cast: lambda: push(Cast(self._operand(), reader.dtype())),
            Bitcast: lambda: push(Bitcast(self._operand(), reader.dtype())),
            MakeVec: lambda: push(MakeVec(reader.dtype(), self._operands(reader.item()))),
            Lane: lambda: push(Lane(self._operand(), reader.signed())),
            Atomic: self._atomic,
            Ballot: lambda: push(Ballot(self._operand())),
            Shuffle: lambda: push(Shuffle(*self._operands(2))),
            SubgroupReduce: lambda: push(SubgroupReduce(_REDUCE[reader.item()], self._operand())),
        }

    def _atomic(self) -> None:
        reader = self._reader
        op = _ATOMIC[reader.item()]
        ordering = _ORDERINGS[reader.item()]
        has_expected = reader.flags(1)
        buffer = reader.name()
        index, value, *expected = self._operands(2 + has_expected)
        self._exprs.append(
            Atomic(op, buffer, index, value, expected[0] if expected else None, ordering)
        )

    # --- statements -------------------------------------------------------------------------------

    def _statement_steps(self) -> dict[type[AnyExpr] | type[AnyStmt], Callable[[], None]]:
        add, reader = self._statements.append, self._reader
        return {
            Assign: lambda: add(Assign(reader.name(), self._only())),
            Eval: lambda: add(Eval(self._only())),
            If: self._if,
            Loop: self._loop,
            While: lambda: add(While(self._only(), self._body(reader.item()))),
            Break: lambda: self._plain(Break()),
            Continue: lambda: self._plain(Continue()),
            Return: lambda: self._plain(Return()),
            Barrier: lambda: self._plain(Barrier(_ORDERINGS[reader.item()])),
            Block: lambda: self._plain(Block(self._body(reader.item()))),
            Region: self._region,
            AsyncLoad: lambda: self._copy(AsyncLoad),
            AsyncStore: lambda: self._copy(AsyncStore),
            AsyncWait: lambda: self._plain(AsyncWait(reader.text())),
            Trap: lambda: self._plain(Trap(reader.text())),
            Resume: lambda: self._plain(Resume(reader.text())),
            Print: lambda: add(Print(reader.text(), self._counted())),
            IndirectDispatch: lambda: self._plain(
                Node.indirect_dispatch(reader.name(), reader.item())
            ),
            AllReduce: self._all_reduce,
            AllGather: lambda: self._plain(AllGather(reader.name(), reader.name())),
            ReduceScatter: self._reduce_scatter,
            Broadcast: lambda: self._plain(Broadcast(reader.name(), reader.signed())),
            Opaque: self._opaque,
        }

    def _plain(self, statement: AnyStmt) -> None:
        self._nothing()
        self._statements.append(statement)

    def _if(self) -> None:
        reader = self._reader
        cond = self._only()
        then_count = reader.item()
        otherwise = self._body(reader.item())
        self._statements.append(If(cond, self._body(then_count), otherwise))

    def _loop(self) -> None:
        reader = self._reader
        start, stop = self._all()
        var = reader.name()
        self._statements.append(Loop(var, start, stop, self._body(reader.item())))

    def _region(self) -> None:
        reader = self._reader
        generator = reader.text()
        source = reader.text() if reader.flags(1) else None
        self._plain(Region(generator, source, self._body(reader.item())))

    def _copy(self, kind: type[AsyncLoad] | type[AsyncStore]) -> None:
        reader = self._reader
        destination_start, source_start, count = self._all()
        tag, destination, source = reader.text(), reader.name(), reader.name()
        self._statements.append(
            kind(tag, destination, destination_start, source, source_start, count)
        )

    def _all_reduce(self) -> None:
        reader = self._reader
        op = _REDUCE[reader.item()]
        self._plain(AllReduce(reader.name(), op))

    def _reduce_scatter(self) -> None:
        reader = self._reader
        op = _REDUCE[reader.item()]
        source, destination = reader.name(), reader.name()
        self._plain(ReduceScatter(source, destination, op))

    def _opaque(self) -> None:
        reader = self._reader
        kind = reader.name()
        payload = bytes(reader.take(reader.item()))
        self._statements.append(Opaque(kind, payload, self._counted()))
