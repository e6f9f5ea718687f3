"""Counted buffers: arrays whose length is a number on the device.

    len(x)       ->   min(count[0], len(x))
    … x[i] …     ->   … x[i if i < len(x) else no element] …

Legal when the program uses the buffer by loads, stores, atomics and its length only, and does not
write the count: then the length is one number for the whole dispatch. Elements beyond the count
do not exist, as if the buffer ended there: a load gives zero and a store does nothing, whatever the
memory holds.
Profitable never by itself: it is the meaning of counted scratch. An access whose index a condition
around it compares with the length is left as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from vyre import ir
from vyre.analysis import BufferUse, ProgramFacts
from vyre.analysis.types import VariableTypes
from vyre.ir.buffer import NO_ELEMENT
from vyre.ir.walk import map_bodies, map_exprs, rewrite_expr, walk_expr, walk_stmts

_PLAIN = frozenset({BufferUse.READ, BufferUse.WRITE, BufferUse.ATOMIC, BufferUse.LENGTH})
Facts = frozenset[tuple[str, ir.AnyExpr]]
"""Indices that are known to be below the length of a buffer."""


def length_name(buffer: str) -> str:
    """The variable that holds the length of a counted buffer."""
    return f"{buffer}.length"


def other_use(program: ir.Program, buffer: str) -> bool:
    """True if a program uses a buffer otherwise than element by element."""
    facts = ProgramFacts.of(program)
    refs = facts.refs_by_buffer.get(buffer, [])
    return bool(facts.opaques) or any(ref.use not in _PLAIN for ref in refs)


def reads(program: ir.Program, buffer: str) -> bool:
    """True if what a buffer holds may have an influence on a program."""
    refs = ProgramFacts.of(program).refs_by_buffer.get(buffer, [])
    return any(ref.use.reads for ref in refs)


def with_counts(program: ir.Program, counts: Mapping[str, str]) -> ir.Program:
    """The program with lengths from counts: by buffer, the name of the buffer that counts it."""
    buffers = list(program.buffers)
    known = {decl.name for decl in buffers}
    for name in dict.fromkeys(counts.values()):
        if name not in known:
            binding = sum(each.binding is not None for each in buffers)
            buffers.append(ir.BufferDecl.read(name, binding, ir.DataType.U32))
    first = [
        ir.Node.let(
            length_name(buffer),
            ir.Expr.min_(ir.Expr.load(count, 0), ir.Expr.buf_len(buffer)),
        )
        for buffer, count in counts.items()
    ]
    guarded = _Guarded(program, frozenset(counts))
    entry = (*first, *guarded.body(program.entry, frozenset()))
    return program.with_rewritten_buffers(buffers).with_rewritten_entry(entry)


def with_lengths(program: ir.Program, lengths: Mapping[str, str]) -> ir.Program:
    """The program with lengths that the host passes: by buffer, the name of a new parameter."""
    buffers = list(program.buffers)
    for name in lengths.values():
        binding = sum(each.binding is not None for each in buffers)
        buffers.append(ir.BufferDecl.uniform(name, binding, ir.DataType.U32).with_count(1))

    def change(expr: ir.AnyExpr) -> ir.AnyExpr:
        if isinstance(expr, ir.BufLen) and expr.buffer in lengths:
            return ir.Expr.load(lengths[expr.buffer], 0)
        return expr

    def statement(one: ir.AnyStmt) -> ir.AnyStmt:
        one = map_exprs(one, lambda child: rewrite_expr(child, change))
        return map_bodies(one, lambda body: tuple(statement(each) for each in body))

    entry = tuple(statement(each) for each in program.entry)
    return program.with_rewritten_buffers(buffers).with_rewritten_entry(entry)


def _constant_names(program: ir.Program) -> frozenset[str]:
    """The variables that have one value for as long as they live, and whose names are unique."""
    made: Counter[str] = Counter()
    assigned: set[str] = set()
    for statement in walk_stmts(program.entry):
        match statement:
            case ir.Let(name) | ir.Loop(name):
                made[name] += 1
            case ir.Assign(name):
                assigned.add(name)
            case _:
                pass
    return frozenset(name for name, many in made.items() if many == 1) - assigned


class _Guarded:
    """Guards accesses to counted buffers by their lengths."""

    def __init__(self, program: ir.Program, buffers: frozenset[str]) -> None:
        self._buffers = buffers
        self._constant = _constant_names(program)
        self._types = VariableTypes.of(program)
        self._position = -1
        """Of the statement at hand, in the order of the text."""
        self._lengths: dict[str, str] = {}
        """Variables that hold a length, as those that `range(len(x))` makes."""

    def body(self, body: ir.Body, facts: Facts) -> ir.Body:
        return tuple(self._statement(each, facts) for each in body)

    def _statement(self, one: ir.AnyStmt, facts: Facts) -> ir.AnyStmt:
        self._position += 1
        if isinstance(one, ir.Let) and one.name in self._constant:
            length = self._length_of(one.value)
            if length is not None:
                self._lengths[one.name] = length
        inside = facts
        if isinstance(one, ir.Loop) and one.var in self._constant:
            length = self._length_of(one.stop)
            if length is not None:
                inside = facts | {(length, ir.Expr.var(one.var))}
        if isinstance(one, ir.If):
            cond = self._expr(one.cond, facts)
            then = self.body(one.then, facts | self._known(one.cond))
            return ir.If(cond, then, self.body(one.otherwise, facts)).at(one.span)
        changed = map_exprs(one, lambda child: self._expr(child, facts))
        if isinstance(changed, ir.Store) and changed.buffer in self._buffers:
            assert isinstance(one, ir.Store)
            index = self._index(changed.buffer, one.index, changed.index, facts)
            changed = ir.Node.store(changed.buffer, index, changed.value).at(one.span)
        return map_bodies(changed, lambda body: self.body(body, inside))

    def _known(self, cond: ir.AnyExpr) -> Facts:
        """What a condition says about indices and lengths."""
        match cond:
            case ir.Binary(ir.BinOp.AND, left, right):
                return self._known(left) | self._known(right)
            case ir.Binary(ir.BinOp.LT, index, length):
                buffer = self._length_of(length)
                if buffer is not None and self._is_constant(index):
                    return frozenset({(buffer, index)})
                return frozenset()
            case _:
                return frozenset()

    def _length_of(self, expr: ir.AnyExpr) -> str | None:
        match expr:
            case ir.BufLen(buffer) if buffer in self._buffers:
                return buffer
            case ir.Var(name):
                return self._lengths.get(name)
            case _:
                return None

    def _is_constant(self, expr: ir.AnyExpr) -> bool:
        for part in walk_expr(expr):
            match part:
                case ir.Var(name) if name not in self._constant:
                    return False
                case ir.Var() | ir.Lit() | ir.Builtin() | ir.Binary():
                    pass
                case _:
                    return False
        return True

    def _expr(self, expr: ir.AnyExpr, facts: Facts) -> ir.AnyExpr:
        before = expr
        if expr.depth > 1:
            expr = map_exprs(expr, lambda child: self._expr(child, facts))
        match expr:
            case ir.BufLen(buffer) if buffer in self._buffers:
                return ir.Expr.var(length_name(buffer))
            case ir.Load(buffer, index) if buffer in self._buffers:
                assert isinstance(before, ir.Load)
                return ir.Load(buffer, self._index(buffer, before.index, index, facts))
            case ir.Atomic(op, buffer, index, value, expected, ordering) if buffer in self._buffers:
                assert isinstance(before, ir.Atomic)
                index = self._index(buffer, before.index, index, facts)
                return ir.Atomic(op, buffer, index, value, expected, ordering)
            case _:
                return expr

    def _index(
        self, buffer: str, written: ir.AnyExpr, index: ir.AnyExpr, facts: Facts
    ) -> ir.AnyExpr:
        """An index that is inside of the buffer as it is counted, or of no element."""
        if (buffer, written) in facts:
            return index
        length: ir.AnyExpr = ir.Expr.var(length_name(buffer))
        dtype = self._types.of_expr(written, self._position)
        if dtype in (ir.DataType.I64, ir.DataType.U64):
            inside = ir.Expr.cast(index, ir.DataType.U64) < ir.Expr.cast(length, ir.DataType.U64)
            index = ir.Expr.cast(index, ir.DataType.U32)
        else:
            # A negative index is a large one, which no length exceeds.
            if dtype is not ir.DataType.U32:
                index = ir.Expr.cast(index, ir.DataType.U32)
            inside = index < length
        return ir.Expr.select(inside, index, ir.Expr.u32(NO_ELEMENT))
