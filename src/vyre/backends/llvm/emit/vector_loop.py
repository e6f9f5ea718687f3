"""Emission of vectorised inner loops.

Each element of a vector is one of several consecutive iterations. Long vectors come first, then
short ones; the remainder runs as a scalar loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm.analysis.appends import append_of, can_append
from vyre.backends.llvm.analysis.conditional_counts import Count, count_of
from vyre.backends.llvm.analysis.loop_vectorization import (
    EXTREMES,
    IDENTITY,
    VectorizableLoop,
    vectorizable_loop,
)
from vyre.backends.llvm.analysis.packed_bits import PackedBits, packed_bits_of
from vyre.backends.llvm.emit.arg_extremum import GREATER, Search
from vyre.backends.llvm.emit.builder import constant, literal, mangled, register_type
from vyre.backends.llvm.emit.memory.compress_store import emit_compressed_store
from vyre.backends.llvm.emit.values import LaneShape, Slot, Value, uniform, varying
from vyre.backends.llvm.schedule.iterations_per_vector import (
    counts_of,
    iterations_per_vector,
    packed_by,
)
from vyre.backends.llvm.techniques import Technique
from vyre.ir.walk import without_blocks

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.emit.statements import Statements


def emit_vector_loop(statements: Statements, loop: ir.Loop, counter: str, stop: Value) -> bool:
    """Emit the iterations that fill vectors; returns whether there are any.

    They begin at the index in the slot `counter`. Sets of lanes that run in lock-step run one after
    the other here.
    """
    views = statements.views
    if statements.lanes.width:
        return False
    if not statements.kernel.allows(Technique.VECTORISE_INNER_LOOPS):
        return False
    plan = vectorizable_loop(loop, statements.kernel.env)
    if plan is None or (plan.appends and not _may_append(statements.kernel, plan)):
        return False
    if not all(view.proven(access) for view in views for access in plan.accesses):
        return False
    widths = [iterations_per_vector(view, loop, plan) for view in views]
    if not all(widths):
        return False
    statements.kernel.look_up(plan.lookups)
    statements.kernel.applies(Technique.VECTORISE_INNER_LOOPS)
    scalar, w = register_type(stop.dtype), statements.w
    start = w.emit(f"load {scalar}, ptr {counter}")
    for view, many in zip(views, widths, strict=True):
        w.do(f"store {scalar} {start}, ptr {counter}")
        for iterations in many:
            _Emission(statements, view, loop, plan, iterations).emit(counter, stop)
    return True


class _Emission:
    def __init__(
        self,
        statements: Statements,
        lanes: LaneContext,
        loop: ir.Loop,
        plan: VectorizableLoop,
        iterations: int,
    ) -> None:
        self.statements = statements
        self.lanes = lanes
        self.w = lanes.w
        self.loop = loop
        self.iterations = iterations
        self.results = plan.results
        self.types = {name: lanes.kernel.types[name] for name in plan.results}
        self.followed = plan.followed
        self.counts = counts_of(lanes, loop, plan)
        self.packed = packed_by(lanes, loop, plan)
        self.wide = lanes.iterations_of(iterations)
        self.so_far: dict[str, Slot] = {}
        """Running values of the recurrences that iterations read."""
        self.appends = {append.counter: append for append in plan.appends}
        self.searches = {b.condition: Search(b, loop, lanes, self.wide) for b in plan.bests}
        self.inner = statements.over_iterations(self.wide, loop, frozenset(plan.results))

    def emit(self, counter: str, stop: Value) -> None:
        w, iterations = self.w, self.iterations
        scalar = register_type(stop.dtype)
        order = "sl" if stop.dtype.is_signed else "ul"
        start = w.emit(f"load {scalar}, ptr {counter}")
        some = w.emit(f"icmp {order}t {scalar} {start}, {stop.text}")
        left = w.emit(f"sub {scalar} {stop.text}, {start}")
        enough = w.emit(f"icmp uge {scalar} {left}, {iterations}")
        fits = self._with_room(w.emit(f"and i1 {some}, {enough}"), self.lanes)
        begin, again, done = (w.fresh(n) for n in ("along", "vector", "along.done"))
        w.branch(fits, begin, done)
        w.block(begin)
        for name in self.results:
            self._begin(name)
        for name in self.appends:
            slot = self.wide.new_slot(name, ir.DataType.U32, LaneShape.UNIFORM)
            self.wide.write(slot, self.lanes.read(name), blend=False)
        for search in self.searches.values():
            search.begin(stop.dtype)
        last = w.emit(f"sub {scalar} {stop.text}, {iterations}")
        w.block(again)
        now = w.emit(f"load {scalar}, ptr {counter}", self.loop.var)
        self.wide.names[self.loop.var] = Value(stop.dtype, LaneShape.LINEAR, now, 1, exact=True)
        self._body()
        following = w.emit(f"add {scalar} {now}, {iterations}")
        w.do(f"store {scalar} {following}, ptr {counter}")
        more = w.emit(f"icmp {order}e {scalar} {following}, {last}")
        more = self._with_room(more, self.wide)
        joined = w.fresh("joined")
        w.branch(more, again, joined)
        w.block(joined)
        for name, op in self.results.items():
            self._join(name, op)
        for name in self.appends:
            slot = self.lanes.names[name]
            assert isinstance(slot, Slot)
            self.lanes.write(slot, self.wide.read(name), blend=False)
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
        if name in self.counts or name in self.packed:
            slot = wide.new_slot(name, dtype, LaneShape.UNIFORM)
            wide.write(slot, uniform(dtype, "0"), blend=False)
            return
        first = uniform(dtype, str(IDENTITY[op])) if op in IDENTITY else self.lanes.read(name)
        wide.write(wide.new_slot(name, dtype, LaneShape.VARYING), first, blend=False)

    def _body(self) -> None:
        for statement in without_blocks(self.loop.body):
            match statement:
                case ir.Let(name, _) if name in self.searches:
                    self.searches[name].look()
                case ir.Assign(_, ir.Select(ir.Var(name), _, _)) if name in self.searches:
                    pass
                case ir.Assign(name, _) if name in self.followed:
                    self._follow(statement)
                case ir.If():
                    self._append(statement)
                case ir.Assign(name, _) if name in self.packed:
                    self._pack(statement)
                case ir.Assign(name, _) if name in self.counts:
                    self._count(statement)
                case _:
                    self.inner.body((statement,))

    def _follow(self, statement: ir.Assign) -> None:
        """Emit an inclusive scan of the accumulator across the vector's iterations."""
        w, wide, name = self.w, self.wide, statement.name
        op, dtype, slot = self.results[name], self.types[name], self.so_far[name]
        value = statement.value
        assert isinstance(value, ir.Binary)
        own = ir.Var(name)
        parts = wide.vector(wide.value(value.right if value.left == own else value.left))
        many = register_type(dtype, self.iterations)
        reach = 1
        while reach < self.iterations:
            moved = self._moved(parts, dtype, op, reach)
            parts = self.lanes.arithmetic.binary(op, dtype, self.iterations, parts, moved)
            reach *= 2
        before = wide.value_of(slot).text
        wide.names[name] = varying(
            dtype, self.lanes.arithmetic.binary(op, dtype, self.iterations, before, parts)
        )
        # The loop-carried dependence is one operation, and not the whole scan above.
        last = ", ".join([f"i32 {self.iterations - 1}"] * self.iterations)
        pick = f"<{self.iterations} x i32> <{last}>"
        all_ = w.emit(f"shufflevector {many} {parts}, {many} poison, {pick}")
        after = self.lanes.arithmetic.binary(op, dtype, self.iterations, before, all_)
        wide.write(slot, varying(dtype, after), blend=False)

    def _moved(self, parts: str, dtype: ir.DataType, op: ir.BinOp, reach: int) -> str:
        """Emit a shift of all elements by `reach`; the first get the identity element.

        For an idempotent operator, the first keep their own value.
        """
        many = register_type(dtype, self.iterations)
        picks = [n - reach if n >= reach else n for n in range(self.iterations)]
        filler = "poison"
        if op in IDENTITY:
            filler = constant(register_type(dtype), IDENTITY[op], self.iterations)
            picks = [n if n >= reach else n + self.iterations for n in range(self.iterations)]
            picks = [n - reach if n < self.iterations else n for n in picks]
        chosen = ", ".join(f"i32 {n}" for n in picks)
        return self.w.emit(
            f"shufflevector {many} {parts}, {many} {filler}, <{self.iterations} x i32> <{chosen}>"
        )

    def _count(self, statement: ir.Assign) -> None:
        count = count_of(statement, self.lanes.kernel.env)
        slot = self.wide.names[statement.name]
        assert count is not None
        assert isinstance(slot, Slot)
        self.wide.write(slot, self._counted(statement.name, count), blend=False)

    def _counted(self, name: str, count: Count) -> Value:
        """Emit the running count plus the population count of these iterations' flags."""
        w, wide, dtype = self.w, self.wide, self.types[name]
        word = f"i{self.iterations}"
        flags = wide.vector(wide.value(count.flag))
        bits = w.emit(
            f"bitcast {register_type(ir.DataType.BOOL, self.iterations)} {flags} to {word}"
        )
        if not count.holds:
            bits = w.emit(f"xor {word} {bits}, -1")
        number = w.intrinsic("ctpop", word, bits)
        source = {64: ir.DataType.U64, 32: ir.DataType.U32, 16: ir.DataType.U16, 8: ir.DataType.U8}[
            self.iterations
        ]
        grown = self.lanes.casts.cast(source, dtype, 0, number)
        if count.by is not None:
            by = literal(dtype, count.by.bits)
            grown = self.lanes.arithmetic.binary(ir.BinOp.MUL, dtype, 0, grown, by)
        so_far = wide.read(name).text
        return uniform(dtype, self.lanes.arithmetic.binary(ir.BinOp.ADD, dtype, 0, so_far, grown))

    def _with_room(self, holds: str, lanes: LaneContext) -> str:
        """Emit a condition and that no place of an append wraps around in the next vector."""
        stores = (store for append in self.appends.values() for store in append.stores)
        for index in dict.fromkeys(store.index for store in stores):
            highest = (1 << 32) - 1 - self.iterations
            below = self.w.emit(f"icmp ult i32 {lanes.value(index).text}, {highest}")
            holds = self.w.emit(f"and i1 {holds}, {below}")
        return holds

    def _append(self, statement: ir.If) -> None:
        """Emit the stores of the iterations that pass a test, and count them."""
        append = append_of(statement, self.lanes.kernel.env)
        assert append is not None
        w, wide, mask = self.w, self.wide, f"i{self.iterations}"
        slot = wide.names[append.counter]
        assert isinstance(slot, Slot)
        flags = wide.vector(wide.value(append.cond))
        type_ = register_type(ir.DataType.BOOL, self.iterations)
        bits = w.emit(f"bitcast {type_} {flags} to {mask}")
        count = w.emit(f"zext {mask} {w.intrinsic('ctpop', mask, bits)} to i64")
        counter = wide.read(append.counter).text
        for store in append.stores:
            at = w.emit(f"zext i32 {wide.value(store.index).text} to i64")
            values = wide.vector(wide.value(store.value))
            emit_compressed_store(wide, wide.buffer(store.buffer), at, values, flags, count)
        grown = w.emit(f"add i32 {counter}, {w.emit(f'trunc i64 {count} to i32')}")
        wide.write(slot, uniform(ir.DataType.U32, grown), blend=False)

    def _pack(self, statement: ir.Assign) -> None:
        bits = packed_bits_of(statement, self.loop, self.lanes.kernel.env)
        slot = self.wide.names[statement.name]
        assert bits is not None
        assert isinstance(slot, Slot)
        self.wide.write(slot, self._packed(statement.name, bits), blend=False)

    def _packed(self, name: str, bits: PackedBits) -> Value:
        """Emit the word with the flags of these iterations: a bit mask, rotated into place."""
        w, wide, dtype = self.w, self.wide, self.types[name]
        type_, mask = register_type(dtype), f"i{self.iterations}"
        flags = wide.vector(wide.value(bits.flag))
        found = w.emit(
            f"bitcast {register_type(ir.DataType.BOOL, self.iterations)} {flags} to {mask}"
        )
        if mask != type_:
            found = w.emit(f"zext {mask} {found} to {type_}")
        amount = wide.lane_of(wide.value(bits.amount), 0).text
        moved = w.call(f"llvm.fshl.{type_}", type_, *[(type_, x) for x in (found, found, amount)])
        so_far = wide.read(name).text
        return uniform(dtype, self.lanes.arithmetic.binary(bits.op, dtype, 0, so_far, moved))

    def _join(self, name: str, op: ir.BinOp) -> None:
        dtype, slot = self.types[name], self.lanes.names[name]
        assert isinstance(slot, Slot)
        if name in self.followed:
            whole = self.wide.value_of(self.so_far[name])
            self.lanes.write(slot, self.wide.lane_of(whole, 0), blend=False)
            return
        parts = self.wide.read(name).text
        if name not in self.counts and name not in self.packed:
            parts = self._across(parts, dtype, op)
        before = self.lanes.read(name)
        whole = self.lanes.arithmetic.binary(op, dtype, 0, before.text, parts)
        self.lanes.write(slot, uniform(dtype, whole), blend=False)

    def _across(self, parts: str, dtype: ir.DataType, op: ir.BinOp) -> str:
        """Emit a horizontal reduction: halves are combined until one element is left."""
        w, count = self.w, self.iterations
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


def _may_append(kernel: Kernel, plan: VectorizableLoop) -> bool:
    """True if stream compactions are vectorised."""
    allowed = kernel.allows(Technique.COMPRESS_STORES)
    if not allowed or not can_append(kernel.host, plan.appends, kernel.env.buffers):
        return False
    kernel.applies(Technique.COMPRESS_STORES)
    return True
