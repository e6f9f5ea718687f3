"""Loops that gather one number from neighbouring elements: their rounds are lanes of a vector.

In `for i in 0..n { count = count + u32(text[start + i] == 10u8) }` lanes lie far apart in memory,
but rounds do not. One lane then does many rounds at once: every place of a vector has a part of the
sum, and the parts are joined behind the loop. That holds for integers, whose sums, products,
extremes and bits do not depend on the order, wrapped around or not. Every load at the counter must
be known to be in bounds; rounds that do not fill a vector are done one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vyre.backends.llvm.codegen.packed import STORAGE_ONLY
from vyre.backends.llvm.codegen.value import Form, Slot, Value, uniform
from vyre.backends.llvm.codegen.writer import literal, mangled, register_type
from vyre.ir import (
    AnyExpr,
    Assign,
    Atomic,
    Ballot,
    Binary,
    BinOp,
    Body,
    Cast,
    DataType,
    Let,
    Lit,
    Load,
    Loop,
    Select,
    Shuffle,
    SubgroupReduce,
    Unary,
    Var,
)
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.codegen.kernel import Kernel
    from vyre.backends.llvm.codegen.lanes import Lanes
    from vyre.backends.llvm.codegen.statements import Statements

MOST_ROUNDS = 64
FEWEST_ROUNDS = 8
"""Rounds at once."""
REGISTERS = 8
"""Vector registers for what is gathered."""
SHORT_LOOP = 32
"""Loops known to have fewer rounds than this are left to lanes side by side."""
_COUNTERS = frozenset({DataType.U32, DataType.I32})
_FREE = {BinOp.ADD: 0, BinOp.XOR: 0, BinOp.MUL: 1}
"""Operators with the number that changes nothing."""
_REPEATED = frozenset({BinOp.AND, BinOp.OR, BinOp.MIN, BinOp.MAX})
"""Operators for which it does not matter how often a number takes part."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """A loop whose rounds may run side by side."""

    results: Mapping[str, BinOp]
    """The variables that it changes, and how."""
    loads: tuple[Load, ...]
    """Loads of neighbours in neighbouring rounds."""


def gathering_of(loop: Loop, kernel: Kernel) -> Gathering | None:
    """How a loop gathers its results, if that is all that it does."""
    if kernel.types.get(loop.var) not in _COUNTERS or _is_short(loop):
        return None
    changed = {s.name for s in loop.body if isinstance(s, Assign)}
    results: dict[str, BinOp] = {}
    bound: dict[str, AnyExpr] = {}
    parts: list[AnyExpr] = []
    for statement in loop.body:
        if isinstance(statement, Let) and statement.name not in changed:
            bound[statement.name] = statement.value
            parts.append(statement.value)
        elif isinstance(statement, Assign) and statement.name not in results:
            dtype = kernel.types.get(statement.name)
            found = _step_of(statement)
            if found is None or dtype is None or not dtype.is_integer or dtype.is_vector:
                return None
            results[statement.name] = found[0]
            parts += found[1]
        else:
            return None
    nodes = [node for part in parts for node in walk_expr(part)]
    if not results or any(isinstance(n, Var) and n.name in changed for n in nodes):
        return None
    if not all(_is_plain(node, kernel) for node in nodes):
        return None
    steps = [(n, _step(n.index, loop.var, bound)) for n in nodes if isinstance(n, Load)]
    if not all(step in (0, 1) for _, step in steps):
        return None
    return Gathering(results, tuple(load for load, step in steps if step == 1))


@dataclass(frozen=True, slots=True)
class Count:
    """A sum that grows by the same number in every round in which something holds."""

    flag: AnyExpr
    holds: bool
    """Whether it grows where the flag is set, or where it is not."""
    by: Lit | None
    """One if there is no number."""


def count_of(statement: Assign, kernel: Kernel) -> Count | None:
    """What a statement of a gathering loop counts, if it counts."""
    own = Var(statement.name)
    match statement.value:
        case Select(flag, Binary(BinOp.ADD, left, right), other) if other == own:
            holds = True
        case Select(flag, other, Binary(BinOp.ADD, left, right)) if other == own:
            holds = False
        case Binary(BinOp.ADD, left, right):
            added = right if left == own else left
            if isinstance(added, Cast) and _is_flag(added.value, kernel):
                return Count(added.value, holds=True, by=None)
            return None
        case _:
            return None
    added = right if left == own else left
    return Count(flag, holds, added) if isinstance(added, Lit) else None


def _is_flag(expr: AnyExpr, kernel: Kernel) -> bool:
    buffers = {decl.name: decl for decl in kernel.program.buffers}
    return type_of(expr, TypeEnv(buffers, kernel.types)) is DataType.BOOL


def runs_along(kernel: Kernel, body: Body, inside: set[int], scattered: set[int]) -> bool:
    """Whether all accesses that are scattered from lane to lane are neighbours in loops."""
    covered: set[int] = set()
    for statement in walk_stmts(body):
        if isinstance(statement, Loop):
            found = gathering_of(statement, kernel)
            covered |= {id(load) for load in found.loads} if found is not None else set()
    return bool(scattered) and scattered <= covered and covered <= inside | kernel.proven


def _is_short(loop: Loop) -> bool:
    if not isinstance(loop.start, Lit) or not isinstance(loop.stop, Lit):
        return False
    return int(loop.stop.value) - int(loop.start.value) < SHORT_LOOP


def _step_of(statement: Assign) -> tuple[BinOp, list[AnyExpr]] | None:
    """The operator of `x = x op value`, perhaps under a condition, and what does not read `x`."""
    own, value = Var(statement.name), statement.value
    match value:
        case Select(cond, Binary(op, left, right), other) if other == own:
            tested = [cond]
        case Select(cond, other, Binary(op, left, right)) if other == own:
            tested = [cond]
        case Binary(op, left, right):
            tested = []
        case _:
            return None
    if op not in _FREE and op not in _REPEATED:
        return None
    if left == own:
        return op, [*tested, right]
    return (op, [*tested, left]) if right == own else None


def _is_plain(node: AnyExpr, kernel: Kernel) -> bool:
    match node:
        case Atomic() | Ballot() | Shuffle() | SubgroupReduce():
            return False
        case Binary(op, _, _) | Unary(op, _):
            return not op.row.approximate
        case Load(buffer, _):
            memory = kernel.memories[buffer]
            element = memory.decl.element
            return not (memory.private or element.is_vector or element in STORAGE_ONLY)
        case _:
            return True


def _step(expr: AnyExpr, counter: str, bound: Mapping[str, AnyExpr]) -> int | None:
    """The step of an index from round to round; None when there is no constant one."""
    match expr:
        case Var(name):
            if name == counter:
                return 1
            return _step(bound[name], counter, bound) if name in bound else 0
        case Binary(BinOp.ADD, left, right):
            sides = (_step(left, counter, bound), _step(right, counter, bound))
            return None if None in sides else sum(side or 0 for side in sides)
        case Cast(value, DataType.U32 | DataType.I32 | DataType.U64 | DataType.I64):
            return _step(value, counter, bound)
        case _:
            still = all(_step(child, counter, bound) == 0 for child in expr_children(expr))
            return 0 if still else None


def emit_along(statements: Statements, loop: Loop, counter: str, stop: Value) -> bool:
    """As many rounds as fill vectors, from the number in a slot on; whether there are any."""
    lanes = statements.lanes
    if lanes.width or len(statements.views) > 1:
        return False
    found = gathering_of(loop, statements.kernel)
    if found is None or not found.loads or not all(map(lanes.proven, found.loads)):
        return False
    _Emission(lanes, loop, found).emit(counter, stop)
    return True


class _Emission:
    def __init__(self, lanes: Lanes, loop: Loop, found: Gathering) -> None:
        self.lanes = lanes
        self.w = lanes.w
        self.loop = loop
        self.results = found.results
        self.types = {name: lanes.kernel.types[name] for name in found.results}
        self.counts = self._counts(found)
        self.rounds = self._rounds()

    def _counts(self, found: Gathering) -> dict[str, Count]:
        """What is counted by looking at all rounds as bits of a word.

        Where a vector holds bytes, that costs less than a sum per round.
        """
        sizes = {self.lanes.buffer(load.buffer).decl.element.size_bytes for load in found.loads}
        made: dict[str, Count] = {}
        for statement in self.loop.body if sizes == {1} else ():
            count = None
            if isinstance(statement, Assign):
                count = count_of(statement, self.lanes.kernel)
            if count is not None and isinstance(statement, Assign):
                made[statement.name] = count
        return made

    def _rounds(self) -> int:
        bits = sum(t.bits or 0 for name, t in self.types.items() if name not in self.counts)
        rounds, loop = MOST_ROUNDS, self.loop
        if isinstance(loop.start, Lit) and isinstance(loop.stop, Lit):
            while rounds > int(loop.stop.value) - int(loop.start.value):
                rounds //= 2
        while rounds > FEWEST_ROUNDS and rounds * bits > REGISTERS * self._vector_bits:
            rounds //= 2
        return rounds

    @property
    def _vector_bits(self) -> int:
        return self.lanes.kernel.host.vector_bits

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
        wide = self.lanes.rounds_of(rounds)
        for name in self.results:
            self._begin(wide, name)
        last = w.emit(f"sub {scalar} {stop.text}, {rounds}")
        w.block(again)
        now = w.emit(f"load {scalar}, ptr {counter}", self.loop.var)
        wide.names[self.loop.var] = Value(stop.dtype, Form.LINEAR, now, 1, exact=True)
        self._body(wide)
        following = w.emit(f"add {scalar} {now}, {rounds}")
        w.do(f"store {scalar} {following}, ptr {counter}")
        more = w.emit(f"icmp {order}e {scalar} {following}, {last}")
        joined = w.fresh("joined")
        w.branch(more, again, joined)
        w.block(joined)
        for name, op in self.results.items():
            self._join(wide, name, op)
        w.block(done)

    def _begin(self, wide: Lanes, name: str) -> None:
        op, dtype = self.results[name], self.types[name]
        if name in self.counts:
            slot = wide.new_slot(name, dtype, Form.UNIFORM)
            wide.write(slot, uniform(dtype, "0"), blend=False)
            return
        first = uniform(dtype, str(_FREE[op])) if op in _FREE else self.lanes.read(name)
        wide.write(wide.new_slot(name, dtype, Form.VARYING), first, blend=False)

    def _body(self, wide: Lanes) -> None:
        for statement in self.loop.body:
            assert isinstance(statement, (Let, Assign))
            if isinstance(statement, Let):
                wide.names[statement.name] = wide.value(statement.value)
                continue
            count = self.counts.get(statement.name)
            if count is None:
                value = wide.value(statement.value)
            else:
                value = self._counted(wide, statement.name, count)
            slot = wide.names[statement.name]
            assert isinstance(slot, Slot)
            wide.write(slot, value, blend=False)

    def _counted(self, wide: Lanes, name: str, count: Count) -> Value:
        """The sum so far and what these rounds add to it."""
        w, dtype = self.w, self.types[name]
        word = f"i{self.rounds}"
        flags = wide.vector(wide.value(count.flag))
        bits = w.emit(f"bitcast {register_type(DataType.BOOL, self.rounds)} {flags} to {word}")
        if not count.holds:
            bits = w.emit(f"xor {word} {bits}, -1")
        number = w.intrinsic("ctpop", word, bits)
        source = {64: DataType.U64, 32: DataType.U32, 16: DataType.U16, 8: DataType.U8}[self.rounds]
        grown = self.lanes.casts.cast(source, dtype, 0, number)
        if count.by is not None:
            by = literal(dtype, count.by.bits)
            grown = self.lanes.arithmetic.binary(BinOp.MUL, dtype, 0, grown, by)
        so_far = wide.read(name).text
        return uniform(dtype, self.lanes.arithmetic.binary(BinOp.ADD, dtype, 0, so_far, grown))

    def _join(self, wide: Lanes, name: str, op: BinOp) -> None:
        dtype = self.types[name]
        parts = wide.read(name).text if name in self.counts else self._across(wide, name, op)
        before = self.lanes.read(name)
        whole = self.lanes.arithmetic.binary(op, dtype, 0, before.text, parts)
        slot = self.lanes.names[name]
        assert isinstance(slot, Slot)
        self.lanes.write(slot, uniform(dtype, whole), blend=False)

    def _across(self, wide: Lanes, name: str, op: BinOp) -> str:
        dtype = self.types[name]
        many, one = register_type(dtype, self.rounds), register_type(dtype)
        sign = "s" if dtype.is_signed else "u"
        kind = f"{sign}{op.name.lower()}" if op in (BinOp.MIN, BinOp.MAX) else op.name.lower()
        intrinsic = f"llvm.vector.reduce.{kind}.{mangled(many)}"
        return self.w.call(intrinsic, one, (many, wide.read(name).text))
