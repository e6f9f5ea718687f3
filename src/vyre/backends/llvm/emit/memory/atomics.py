"""Atomics: atomic instructions on shared memory, plain code on thread-local memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm.emit.builder import constant, mangled, register_type, widened
from vyre.backends.llvm.emit.memory.block_reductions import emit_contribution
from vyre.backends.llvm.emit.memory.privatised_reductions import identity_of, is_joining
from vyre.backends.llvm.emit.memory.scalarise import Apart
from vyre.backends.llvm.emit.values import Memory, Value, uniform, varying
from vyre.semantics.atomics import is_atomic_load

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext

_ORDER = {
    ir.MemoryOrdering.RELAXED: "monotonic",
    ir.MemoryOrdering.ACQUIRE: "acquire",
    ir.MemoryOrdering.RELEASE: "release",
    ir.MemoryOrdering.ACQ_REL: "acq_rel",
    ir.MemoryOrdering.SEQ_CST: "seq_cst",
}
_FAILURE = {"release": "monotonic", "acq_rel": "acquire"}
"""Failure orderings of compare-exchange that differ from the success ordering."""
_RMW = {
    ir.AtomicOp.ADD: ("add", "add"),
    ir.AtomicOp.SUB: ("sub", "sub"),
    ir.AtomicOp.AND: ("and", "and"),
    ir.AtomicOp.OR: ("or", "or"),
    ir.AtomicOp.XOR: ("xor", "xor"),
    ir.AtomicOp.MIN: ("umin", "min"),
    ir.AtomicOp.MAX: ("umax", "max"),
    ir.AtomicOp.EXCHANGE: ("xchg", "xchg"),
}
_SETTLING = frozenset({ir.AtomicOp.AND, ir.AtomicOp.OR, ir.AtomicOp.MIN, ir.AtomicOp.MAX})
"""Idempotent operations."""
_PLAIN = {
    ir.AtomicOp.ADD: ir.BinOp.ADD,
    ir.AtomicOp.SUB: ir.BinOp.SUB,
    ir.AtomicOp.AND: ir.BinOp.AND,
    ir.AtomicOp.OR: ir.BinOp.OR,
    ir.AtomicOp.XOR: ir.BinOp.XOR,
    ir.AtomicOp.MIN: ir.BinOp.MIN,
    ir.AtomicOp.MAX: ir.BinOp.MAX,
}


class AtomicAccess:
    """Emits atomics for one set of lanes."""

    def __init__(self, lanes: LaneContext) -> None:
        self.lanes = lanes
        self.w = lanes.w
        self._unwanted = False

    def do(self, expr: ir.Atomic) -> None:
        """Emit an atomic whose result is unused."""
        if self.lanes.kernel.is_reduced_in_blocks(expr.buffer):
            emit_contribution(self.lanes, expr)
        else:
            self.atomic(expr, unwanted=True)

    def atomic(self, expr: ir.Atomic, *, unwanted: bool = False) -> Value:
        """The old value in every active lane; lanes execute in order."""
        lanes, w = self.lanes, self.w
        memory = lanes.buffer(expr.buffer)
        index = lanes.index(expr)
        value = lanes.value(expr.value)
        expected = None if expr.expected is None else lanes.value(expr.expected)
        # The results of atomics inside the operands are used.
        self._unwanted = unwanted
        proven = lanes.proven(expr)
        dtype = memory.decl.element
        if not lanes.width:
            old = self._act(expr, memory, lanes.memory.wide(index), value, expected, proven)
            return uniform(dtype, old)
        if index.is_uniform and not memory.private and is_atomic_load(expr):
            at = lanes.memory.wide(index)
            known = proven and lanes.mask is None
            return uniform(dtype, self._act(expr, memory, at, value, None, known))
        if unwanted and index.is_uniform and not memory.private and is_joining(expr, dtype):
            # Without an active lane nothing is proven about the index.
            known = proven and lanes.mask is None
            total = uniform(dtype, self._joined(expr, dtype, value))
            self._act(expr, memory, lanes.memory.wide(index), total, None, known)
            return uniform(dtype, constant(register_type(dtype), 0))
        apart = Apart(lanes)
        place = apart.vector("i64", lanes.memory.wide_vector(index))
        owns = apart.value(value)
        wants = None if expected is None else apart.value(expected)
        type_ = register_type(dtype, lanes.width)
        zero = constant(register_type(dtype), 0, lanes.width)
        result = w.slot(type_, "old")
        w.do(f"store {type_} {zero}, ptr {result}")

        def one(lane: str) -> None:
            wanted = None if wants is None else wants(lane)
            old = self._act(expr, memory, place(lane), owns(lane), wanted, proven)
            if unwanted:
                return
            scalar = register_type(dtype)
            pointer = w.emit(f"getelementptr {scalar}, ptr {result}, i64 {lane}")
            w.do(f"store {scalar} {old}, ptr {pointer}")

        lanes.for_each_active(one)
        return varying(dtype, w.emit(f"load {type_}, ptr {result}"))

    def _joined(self, expr: ir.Atomic, dtype: ir.DataType, value: Value) -> str:
        """The reduction of all active lanes' values, for one atomic."""
        lanes, w = self.lanes, self.w
        type_, scalar = register_type(dtype, lanes.width), register_type(dtype)
        values = lanes.vector(value)
        op = ir.AtomicOp.ADD if expr.op is ir.AtomicOp.SUB else expr.op
        if lanes.mask is not None:
            none = constant(scalar, identity_of(op, dtype), lanes.width)
            flags = lanes.mask_flags(lanes.mask)
            values = w.emit(
                f"select {widened('i1', lanes.width)} {flags}, {type_} {values}, {type_} {none}"
            )
        name = _RMW[op][dtype.is_signed]
        name = f"s{name}" if name in ("min", "max") else name
        return w.call(f"llvm.vector.reduce.{name}.{mangled(type_)}", scalar, (type_, values))

    def _act(
        self,
        expr: ir.Atomic,
        memory: Memory,
        at: str,
        value: Value,
        expected: Value | None,
        proven: bool,
    ) -> str:
        """One lane's atomic, on the buffer's private copy if it has one."""
        kept = self.lanes.kernel.kept.get(expr.buffer)
        if kept is None:
            return self._checked(expr, memory, at, value, expected, proven)
        w = self.w
        own, shared, done = (w.fresh(n) for n in ("own", "shared", "done"))
        w.branch(kept.flag, own, shared)
        w.block(own)
        room = str(kept.plan.entries) if kept.plan.reached else memory.count
        known = proven or (kept.plan.reached and self.lanes.mask is None)
        nearer = replace(memory, pointer=kept.pointer, count=room, shared=False)
        self._checked(expr, nearer, at, value, expected, known)
        w.jump(done)
        w.block(shared)
        self._checked(expr, memory, at, value, expected, proven)
        w.jump(done)
        w.block(done)
        return constant(register_type(memory.decl.element), 0)

    def _checked(
        self,
        expr: ir.Atomic,
        memory: Memory,
        at: str,
        value: Value,
        expected: Value | None,
        proven: bool,
    ) -> str:
        w = self.w
        dtype = memory.decl.element
        scalar = register_type(dtype)
        before = done = ""
        if not proven:
            inside = w.emit(f"icmp ult i64 {at}, {memory.count}")
            act, done = w.fresh("atomic"), w.fresh("atomic.done")
            before = w.label
            w.branch(inside, act, done)
            w.block(act)
        pointer = w.emit(f"getelementptr {scalar}, ptr {memory.pointer}, i64 {at}")
        old = (
            self._indivisible(expr, dtype, pointer, value, expected)
            if memory.shared
            else self._plain(expr, dtype, pointer, value, expected)
        )
        if proven:
            return old
        after = w.label
        w.jump(done)
        w.block(done)
        zero = constant(scalar, 0)
        return w.emit(f"phi {scalar} [ {zero}, %{before} ], [ {old}, %{after} ]")

    def _indivisible(
        self,
        expr: ir.Atomic,
        dtype: ir.DataType,
        pointer: str,
        value: Value,
        expected: Value | None,
    ) -> str:
        w = self.w
        scalar = register_type(dtype)
        order = _ORDER[expr.ordering]
        if expr.op is ir.AtomicOp.COMPARE_EXCHANGE:
            assert expected is not None
            return self._exchange(dtype, pointer, value.text, expected.text, order)
        if is_atomic_load(expr):
            return w.emit(f"load atomic {scalar}, ptr {pointer} {order}, align {dtype.size_bytes}")
        if dtype.is_float and expr.op is not ir.AtomicOp.EXCHANGE:
            return self._float_loop(expr, dtype, pointer, value, order)
        if self._unwanted and expr.op is ir.AtomicOp.EXCHANGE and self._is_store(expr):
            size = dtype.size_bytes
            w.do(f"store atomic {scalar} {value.text}, ptr {pointer} monotonic, align {size}")
            return constant(scalar, 0)
        if expr.op in _SETTLING and expr.ordering is ir.MemoryOrdering.RELAXED:
            return self._settled(expr.op, dtype, pointer, value.text)
        name = _RMW[expr.op][dtype.is_signed]
        return w.emit(f"atomicrmw {name} ptr {pointer}, {scalar} {value.text} {order}")

    def _is_store(self, expr: ir.Atomic) -> bool:
        """True if an exchange with unused result is an atomic store.

        Elsewhere a store, unlike an exchange, breaks the release sequence of another thread.
        """
        relaxed = expr.ordering is ir.MemoryOrdering.RELAXED
        return relaxed and self.lanes.kernel.host.architecture == "x86_64"

    def _settled(self, op: ir.AtomicOp, dtype: ir.DataType, pointer: str, value: str) -> str:
        """An idempotent atomic: a load first avoids the locked instruction if nothing changes.

        It is then equivalent to a load, unless it orders other accesses.
        """
        w = self.w
        scalar = register_type(dtype)
        seen = w.emit(f"load atomic {scalar}, ptr {pointer} monotonic, align {dtype.size_bytes}")
        new = self.lanes.arithmetic.binary(_PLAIN[op], dtype, 0, seen, value)
        same = w.emit(f"icmp eq {scalar} {new}, {seen}")
        change, done = w.fresh("change"), w.fresh("settled")
        before = w.label
        w.branch(same, done, change)
        w.block(change)
        name = _RMW[op][dtype.is_signed]
        old = w.emit(f"atomicrmw {name} ptr {pointer}, {scalar} {value} monotonic")
        w.block(done)
        return w.emit(f"phi {scalar} [ {seen}, %{before} ], [ {old}, %{change} ]")

    def _exchange(
        self, dtype: ir.DataType, pointer: str, value: str, expected: str, order: str
    ) -> str:
        """Compare-exchange; a load first avoids the locked instruction where it would fail."""
        w = self.w
        scalar = register_type(dtype)
        failure = _FAILURE.get(order, order)
        seen = w.emit(f"load atomic {scalar}, ptr {pointer} {failure}, align {dtype.size_bytes}")
        same = w.emit(f"icmp eq {scalar} {seen}, {expected}")
        attempt, done = w.fresh("exchange"), w.fresh("exchanged")
        before = w.label
        w.branch(same, attempt, done)
        w.block(attempt)
        pair = w.emit(
            f"cmpxchg ptr {pointer}, {scalar} {expected}, {scalar} {value} {order} {failure}"
        )
        old = w.emit(f"extractvalue {{ {scalar}, i1 }} {pair}, 0")
        w.block(done)
        return w.emit(f"phi {scalar} [ {seen}, %{before} ], [ {old}, %{attempt} ]")

    def _float_loop(
        self, expr: ir.Atomic, dtype: ir.DataType, pointer: str, value: Value, order: str
    ) -> str:
        """A compare-exchange loop: float operations follow vyre's rules, not the machine's."""
        w = self.w
        scalar, bits = register_type(dtype), f"i{dtype.bits}"
        first = w.emit(f"load atomic {bits}, ptr {pointer} monotonic, align {dtype.size_bytes}")
        before = w.label
        again, done = w.fresh("retry"), w.fresh("joined")
        w.block(again)
        seen = f"%{w.fresh('seen')}"
        slot = len(w.lines)
        w.lines.append("")
        old = w.emit(f"bitcast {bits} {seen} to {scalar}")
        joined = self.lanes.arithmetic.binary(_PLAIN[expr.op], dtype, 0, old, value.text)
        raw = w.emit(f"bitcast {scalar} {joined} to {bits}")
        failure = _FAILURE.get(order, order)
        pair = w.emit(f"cmpxchg ptr {pointer}, {bits} {seen}, {bits} {raw} {order} {failure}")
        current = w.emit(f"extractvalue {{ {bits}, i1 }} {pair}, 0")
        won = w.emit(f"extractvalue {{ {bits}, i1 }} {pair}, 1")
        phi = f"  {seen} = phi {bits} [ {first}, %{before} ], [ {current}, %{w.label} ]"
        w.lines[slot] = phi
        w.branch(won, done, again)
        w.block(done)
        return w.emit(f"bitcast {bits} {seen} to {scalar}")

    def _plain(
        self,
        expr: ir.Atomic,
        dtype: ir.DataType,
        pointer: str,
        value: Value,
        expected: Value | None,
    ) -> str:
        """Load, compute and store: the memory is local to this thread."""
        w = self.w
        scalar = register_type(dtype)
        align = f"align {dtype.size_bytes}"
        old = w.load(scalar, pointer, f", {align}")
        if expr.op is ir.AtomicOp.EXCHANGE:
            new = value.text
        elif expr.op is ir.AtomicOp.COMPARE_EXCHANGE:
            assert expected is not None
            same = w.emit(f"icmp eq {scalar} {old}, {expected.text}")
            new = w.emit(f"select i1 {same}, {scalar} {value.text}, {scalar} {old}")
        else:
            new = self.lanes.arithmetic.binary(_PLAIN[expr.op], dtype, 0, old, value.text)
        w.do(f"store {scalar} {new}, ptr {pointer}, {align}")
        return old
