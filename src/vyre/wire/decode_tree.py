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
_BINARY_TAG, _STORE = tags.TREE_TAGS[Binary], tags.TREE_TAGS[Store]
_SIZES = {_VAR: 2, _LIT: 3, _LOAD: 2, _BINARY_TAG: 2, _STORE: 2}
"""The numbers that nodes of the most frequent kinds consist of."""
_LIT_TYPES = {
    tags.SIMPLE_TYPES[dtype]: (dtype, 1 if dtype.is_bool else dtype.bits or 0)
    for dtype in SCALAR_TYPES
}


class TreeReader:
    """Reads the statements of a body."""

    __slots__ = ("_exprs", "_literals", "_reader", "_statements", "_vars")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._exprs: list[AnyExpr] = []
        self._statements: list[AnyStmt] = []
        self._vars: dict[int, Var] = {}
        self._literals: dict[int, dict[int, Lit]] = {tag: {} for tag in _LIT_TYPES}

    def statements(self) -> list[AnyStmt]:
        """Read everything."""
        self._read()
        if self._exprs:
            raise Malformed(codes.BAD_STRUCTURE, problem="an expression belongs to no statement")
        return self._statements

    def _read(self) -> None:
        # The kinds of nodes that programs are mostly made of are read here, without a call; what
        # is rare or not seen before is left to the step for its tag.
        reader, steps, exprs = self._reader, self._steps(), self._exprs
        items, names = reader.items, reader.strings.names
        known_var, literals, add = self._vars.get, self._literals, self._statements.append
        push, pop = exprs.append, exprs.pop
        end = len(items)
        pos = 0
        tag = 0
        try:
            while pos < end:
                tag = items[pos]
                if tag == _VAR:
                    if (var := known_var(items[pos + 1])) is not None:
                        push(var)
                        pos += 2
                        continue
                elif tag == _LIT:
                    if (literal := literals[items[pos + 1]].get(items[pos + 2])) is not None:
                        push(literal)
                        pos += 3
                        continue
                elif tag == _BINARY_TAG:
                    right = pop()
                    exprs[-1] = Binary(_BINARY[items[pos + 1]], exprs[-1], right)
                    pos += 2
                    continue
                elif tag == _LOAD and items[pos + 1] in names:
                    exprs[-1] = Load(names[items[pos + 1]], exprs[-1])
                    pos += 2
                    continue
                elif tag == _STORE and len(exprs) == 2 and items[pos + 1] in names:
                    value = pop()
                    add(Store(names[items[pos + 1]], pop(), value))
                    pos += 2
                    continue
                reader.pos = pos + 1
                steps[tag]()
                pos = reader.pos
        except IndexError:
            # Either the numbers end, or an operand is missing.
            if pos + _SIZES.get(tag, end + 1) <= end:
                raise ValueError from None
            raise
        finally:
            reader.pos = pos

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
            Lit: self._lit,
            Var: self._var,
            Load: self._load,
            BufLen: lambda: push(BufLen(reader.name())),
            Builtin: lambda: push(_BUILTINS[reader.item(), reader.item()]),
            Unary: lambda: push(Unary(_UNARY[reader.item()], self._operand())),
            Binary: self._binary,
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

    def _lit(self) -> None:
        tag = self._reader.item()
        bits = self._reader.item()
        dtype, width = _LIT_TYPES[tag]
        if bits >> width:
            problem = f"a literal of type {dtype} has the bits {bits:#x}"
            raise Malformed(codes.NOT_CANONICAL, problem=problem)
        made = self._literals[tag].setdefault(bits, Lit(dtype, bits))
        self._exprs.append(made)

    def _var(self) -> None:
        index = self._reader.item()
        found = self._vars[index] = Var(self._reader.strings.name(index))
        self._exprs.append(found)

    def _load(self) -> None:
        reader = self._reader
        self._exprs.append(Load(reader.name(), self._operand()))

    def _binary(self) -> None:
        op = _BINARY[self._reader.item()]
        self._exprs.append(Binary(op, *self._operands(2)))

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
            Let: lambda: add(Let(reader.name(), self._only())),
            Assign: lambda: add(Assign(reader.name(), self._only())),
            Store: self._store,
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

    def _store(self) -> None:
        reader = self._reader
        buffer = reader.name()
        exprs = self._exprs
        index, value = exprs
        exprs.clear()
        self._statements.append(Store(buffer, index, value))

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
