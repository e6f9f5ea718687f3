"""Loops whose rounds run side by side: their code.

A vector has a place for every one of some rounds. Long vectors come first, short ones then, and
rounds that fill none are left to be done one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm.analysis.loop_vectorization import (
    EXTREMES,
    IDENTITY,
    Count,
    VectorizableLoop,
    count_of,
    flat,
    vectorizable_loop,
)
from vyre.backends.llvm.emit.arg_extremum import GREATER, Search
from vyre.backends.llvm.emit.builder import constant, literal, mangled, register_type
from vyre.backends.llvm.emit.values import LaneShape, Slot, Value, uniform, varying
from vyre.backends.llvm.techniques import Technique

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.emit.statements import Statements

MOST_ROUNDS = 64
FEWEST_ROUNDS = 8
"""Rounds at once."""
REGISTERS = 8
"""Vector registers for what is gathered."""
STORED_REGISTERS = 4
"""And for the values of rounds that are stored."""
MANY_OPERATIONS = 24
"""With more of them than this in a round, one vector at a time keeps the machine busy."""
MOST_OPERATIONS = 64
"""With more of them than this in a round, short vectors are left out."""


def emit_vector_loop(statements: Statements, loop: ir.Loop, counter: str, stop: Value) -> bool:
    """As many rounds as fill vectors, from the number in a slot on; whether there are any.

    Sets of lanes that run in lock-step do so one after the other.
    """
    views = statements.views
    if statements.lanes.width:
        return False
    if not statements.kernel.allows(Technique.VECTORISE_INNER_LOOPS):
        return False
    found = vectorizable_loop(loop, statements.kernel.env)
    if found is None or not all(view.proven(one) for view in views for one in found.accesses):
        return False
    statements.kernel.applies(Technique.VECTORISE_INNER_LOOPS)
    scalar, w = register_type(stop.dtype), statements.w
    start = w.emit(f"load {scalar}, ptr {counter}")
    for view in views:
        w.do(f"store {scalar} {start}, ptr {counter}")
        for rounds in _rounds(view, loop, found):
            _Emission(statements, view, loop, found, rounds).emit(counter, stop)
    return True


class _Emission:
    def __init__(
        self,
        statements: Statements,
        lanes: LaneContext,
        loop: ir.Loop,
        found: VectorizableLoop,
        rounds: int,
    ) -> None:
        self.statements = statements
        self.lanes = lanes
        self.w = lanes.w
        self.loop = loop
        self.rounds = rounds
        self.results = found.results
        self.types = {name: lanes.kernel.types[name] for name in found.results}
        self.followed = found.followed
        self.counts = counts_of(lanes, loop, found)
        self.wide = lanes.rounds_of(rounds)
        self.so_far: dict[str, Slot] = {}
        """What results that rounds look at have come to."""
        self.searches = {b.condition: Search(b, loop, lanes, self.wide) for b in found.bests}
        self.inner = statements.over_rounds(self.wide, loop, frozenset(found.results))

    def emit(self, counter: str, stop: Value) -> None:
        w, rounds = self.w, self.rounds
        scalar = register_type(stop.dtype)
        order = "sl" if stop.dtype.is_signed else "ul"
        start = w.emit(f"load {scalar}, ptr {counter}")
        some = w.emit(f"icmp {order}t {scalar} {start}, {stop.text}")
        left = w.emit(f"sub {scalar} {stop.text}, {start}")
        enough = w.emit(f"icmp uge {scalar} {left}, {rounds}")
        fits = w.emit(f"and i1 {some}, {enough}")
        begin, again, done = (w.fresh(n) for n in ("along", "vector", "along.done"))
        w.branch(fits, begin, done)
        w.block(begin)
        for name in self.results:
            self._begin(name)
        for search in self.searches.values():
            search.begin(stop.dtype)
        last = w.emit(f"sub {scalar} {stop.text}, {rounds}")
        w.block(again)
        now = w.emit(f"load {scalar}, ptr {counter}", self.loop.var)
        self.wide.names[self.loop.var] = Value(stop.dtype, LaneShape.LINEAR, now, 1, exact=True)
        self._body()
        following = w.emit(f"add {scalar} {now}, {rounds}")
        w.do(f"store {scalar} {following}, ptr {counter}")
        more = w.emit(f"icmp {order}e {scalar} {following}, {last}")
        joined = w.fresh("joined")
        w.branch(more, again, joined)
        w.block(joined)
        for name, op in self.results.items():
            self._join(name, op)
        for search in self.searches.values():
            best = search.best
            op = ir.BinOp.MAX if best.op in GREATER else ir.BinOp.MIN
            greatest = self._across(search.parts(), self.lanes.kernel.types[best.name], op)
            search.emit_last(self.statements, greatest)
        w.block(done)

    def _begin(self, name: str) -> None:
        wide, op, dtype = self.wide, self.results[name], self.types[name]
        if name in self.followed:
            self.so_far[name] = wide.new_slot(name, dtype, LaneShape.VARYING)
            wide.write(self.so_far[name], self.lanes.read(name), blend=False)
            return
        if name in self.counts:
            slot = wide.new_slot(name, dtype, LaneShape.UNIFORM)
            wide.write(slot, uniform(dtype, "0"), blend=False)
            return
        first = uniform(dtype, str(IDENTITY[op])) if op in IDENTITY else self.lanes.read(name)
        wide.write(wide.new_slot(name, dtype, LaneShape.VARYING), first, blend=False)

    def _body(self) -> None:
        for statement in flat(self.loop.body):
            match statement:
                case ir.Let(name, _) if name in self.searches:
                    self.searches[name].look()
                case ir.Assign(_, ir.Select(ir.Var(name), _, _)) if name in self.searches:
                    pass
                case ir.Assign(name, _) if name in self.followed:
                    self._follow(statement)
                case ir.Assign(name, _) if name in self.counts:
                    self._count(statement)
                case _:
                    self.inner.body((statement,))

    def _follow(self, statement: ir.Assign) -> None:
        """What a result comes to in every one of the rounds, from what it was before them."""
        w, wide, name = self.w, self.wide, statement.name
        op, dtype, slot = self.results[name], self.types[name], self.so_far[name]
        value = statement.value
        assert isinstance(value, ir.Binary)
        own = ir.Var(name)
        parts = wide.vector(wide.value(value.right if value.left == own else value.left))
        many = register_type(dtype, self.rounds)
        reach = 1
        while reach < self.rounds:
            moved = self._moved(parts, dtype, op, reach)
            parts = self.lanes.arithmetic.binary(op, dtype, self.rounds, parts, moved)
            reach *= 2
        before = wide.value_of(slot).text
        wide.names[name] = varying(
            dtype, self.lanes.arithmetic.binary(op, dtype, self.rounds, before, parts)
        )
        # What the next rounds wait for is one operation, and not all of those above.
        last = ", ".join([f"i32 {self.rounds - 1}"] * self.rounds)
        pick = f"<{self.rounds} x i32> <{last}>"
        all_ = w.emit(f"shufflevector {many} {parts}, {many} poison, {pick}")
        after = self.lanes.arithmetic.binary(op, dtype, self.rounds, before, all_)
        wide.write(slot, varying(dtype, after), blend=False)

    def _moved(self, parts: str, dtype: ir.DataType, op: ir.BinOp, reach: int) -> str:
        """Every part some places on; in the first places what changes nothing there."""
        many = register_type(dtype, self.rounds)
        picks = [n - reach if n >= reach else n for n in range(self.rounds)]
        filler = "poison"
        if op in IDENTITY:
            filler = constant(register_type(dtype), IDENTITY[op], self.rounds)
            picks = [n if n >= reach else n + self.rounds for n in range(self.rounds)]
            picks = [n - reach if n < self.rounds else n for n in picks]
        chosen = ", ".join(f"i32 {n}" for n in picks)
        return self.w.emit(
            f"shufflevector {many} {parts}, {many} {filler}, <{self.rounds} x i32> <{chosen}>"
        )

    def _count(self, statement: ir.Assign) -> None:
        count = count_of(statement, self.lanes.kernel.env)
        slot = self.wide.names[statement.name]
        assert count is not None
        assert isinstance(slot, Slot)
        self.wide.write(slot, self._counted(statement.name, count), blend=False)

    def _counted(self, name: str, count: Count) -> Value:
        """The sum so far and what these rounds add to it."""
        w, wide, dtype = self.w, self.wide, self.types[name]
        word = f"i{self.rounds}"
        flags = wide.vector(wide.value(count.flag))
        bits = w.emit(f"bitcast {register_type(ir.DataType.BOOL, self.rounds)} {flags} to {word}")
        if not count.holds:
            bits = w.emit(f"xor {word} {bits}, -1")
        number = w.intrinsic("ctpop", word, bits)
        source = {64: ir.DataType.U64, 32: ir.DataType.U32, 16: ir.DataType.U16, 8: ir.DataType.U8}[
            self.rounds
        ]
        grown = self.lanes.casts.cast(source, dtype, 0, number)
        if count.by is not None:
            by = literal(dtype, count.by.bits)
            grown = self.lanes.arithmetic.binary(ir.BinOp.MUL, dtype, 0, grown, by)
        so_far = wide.read(name).text
        return uniform(dtype, self.lanes.arithmetic.binary(ir.BinOp.ADD, dtype, 0, so_far, grown))

    def _join(self, name: str, op: ir.BinOp) -> None:
        dtype, slot = self.types[name], self.lanes.names[name]
        assert isinstance(slot, Slot)
        if name in self.followed:
            whole = self.wide.value_of(self.so_far[name])
            self.lanes.write(slot, self.wide.lane_of(whole, 0), blend=False)
            return
        parts = self.wide.read(name).text
        if name not in self.counts:
            parts = self._across(parts, dtype, op)
        before = self.lanes.read(name)
        whole = self.lanes.arithmetic.binary(op, dtype, 0, before.text, parts)
        self.lanes.write(slot, uniform(dtype, whole), blend=False)

    def _across(self, parts: str, dtype: ir.DataType, op: ir.BinOp) -> str:
        """One number from those in all places: halves are joined until one is left."""
        w, count = self.w, self.rounds
        many = register_type(dtype, count)
        if dtype.is_integer:
            sign = "s" if dtype.is_signed else "u"
            kind = f"{sign}{op.name.lower()}" if op in EXTREMES else op.name.lower()
            intrinsic = f"llvm.vector.reduce.{kind}.{mangled(many)}"
            return w.call(intrinsic, register_type(dtype), (many, parts))
        while count > 1:
            type_, count = register_type(dtype, count), count // 2
            halves: list[str] = []
            for first in (0, count):
                picks = ", ".join(f"i32 {n}" for n in range(first, first + count))
                pick = f"<{count} x i32> <{picks}>"
                halves.append(w.emit(f"shufflevector {type_} {parts}, {type_} poison, {pick}"))
            parts = self.lanes.arithmetic.binary(op, dtype, count, *halves)
        return w.emit(f"extractelement {register_type(dtype, 1)} {parts}, i64 0")


def counts_of(lanes: LaneContext, loop: ir.Loop, found: VectorizableLoop) -> set[str]:
    """What is counted by looking at all rounds as bits of a word.

    Where a vector holds bytes, that costs less than a sum per round.
    """
    if {lanes.buffer(one.buffer).decl.element.size_bytes for one in found.accesses} != {1}:
        return set()
    env = lanes.kernel.env
    others = {
        statement.name
        for statement in flat(loop.body)
        if isinstance(statement, ir.Assign) and count_of(statement, env) is None
    }
    return set(found.results.keys() - found.followed - others)


def _rounds(lanes: LaneContext, loop: ir.Loop, found: VectorizableLoop) -> list[int]:
    """How many rounds run at once: as many as fill registers, then a few."""
    bits = lanes.kernel.host.vector_bits
    counts = counts_of(lanes, loop, found)
    types = lanes.kernel.types
    gathered = sum(types[name].bits or 0 for name in found.results if name not in counts)
    gathered += sum(
        (types[best.name].bits or 0) + (types[loop.var].bits or 0) for best in found.bests
    )
    most = MOST_ROUNDS
    if isinstance(loop.start, ir.Lit) and isinstance(loop.stop, ir.Lit):
        while most > int(loop.stop.value) - int(loop.start.value):
            most //= 2
    while most > FEWEST_ROUNDS and most * gathered > REGISTERS * bits:
        most //= 2
    if found.stores or found.costly:
        busy = found.costly or found.followed or found.operations > MANY_OPERATIONS
        registers = 1 if busy else STORED_REGISTERS
        while most > FEWEST_ROUNDS and most * found.widest > registers * bits:
            most //= 2
    few = most > FEWEST_ROUNDS and found.operations <= MOST_OPERATIONS
    return [most, FEWEST_ROUNDS] if few else [most]
