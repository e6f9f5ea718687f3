"""A second interpreter: one invocation at a time, in plain Python, values as bits.

It shares nothing with the reference but the conversions of stored types and the approximate
functions, which have tests of their own. Invocations run one after the other from barrier to
barrier, so a program without races gives the same memory here and there.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.unit.semantics import exact
from vyre import semantics
from vyre.ir import (
    AllGather,
    AllReduce,
    AnyExpr,
    AnyStmt,
    Assign,
    AsyncLoad,
    AsyncStore,
    AsyncWait,
    Atomic,
    AtomicOp,
    Ballot,
    Barrier,
    Binary,
    BinOp,
    Bitcast,
    Block,
    Body,
    Break,
    Broadcast,
    BufLen,
    Builtin,
    BuiltinKind,
    Cast,
    Continue,
    DataType,
    Eval,
    Fma,
    If,
    Lane,
    Let,
    Lit,
    Load,
    Loop,
    MakeVec,
    MemoryOrdering,
    Program,
    ReduceScatter,
    Region,
    Return,
    Select,
    Shuffle,
    Store,
    SubgroupReduce,
    TypeEnv,
    Unary,
    Var,
    While,
    type_of,
)
from vyre.ir.opcodes import Result

Bits = Any
"""Bits of a scalar, or a tuple of them for a vector."""


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    pass


def binary(op: BinOp, dtype: DataType, a: int, b: int) -> int:
    if op.row.approximate:
        folded = semantics.fold_binary(op, Lit(dtype, a), Lit(dtype, b))
        assert folded is not None
        return folded.bits
    if dtype.is_float:
        form = exact.FORMATS[dtype]
        if op.row.result is Result.BOOL:
            return int(exact.float_compare(op, form, a, b))
        return exact.float_binary(op, form, a, b)
    if dtype.is_bool:
        table = {BinOp.AND: a & b, BinOp.OR: a | b, BinOp.XOR: a ^ b, BinOp.EQ: a == b}
        return int(table.get(op, a != b))
    found = exact.integer_binary(op, dtype, exact.wrap(dtype, a), exact.wrap(dtype, b))
    return int(found) & ((1 << (dtype.bits or 0)) - 1)


def unary(op: Any, dtype: DataType, a: int) -> int:
    if op.row.approximate:
        folded = semantics.fold_unary(op, Lit(dtype, a))
        assert folded is not None
        return folded.bits
    if dtype.is_float:
        return int(exact.float_unary(op, exact.FORMATS[dtype], a))
    if dtype.is_bool:
        return 1 - a
    return exact.integer_unary(op, dtype, exact.wrap(dtype, a)) & ((1 << (dtype.bits or 0)) - 1)


def signed(dtype: DataType, bits: int) -> int:
    return exact.wrap(dtype, bits)


@dataclass
class Invocation:
    program: Program
    memory: dict[str, list[Bits]]
    """Every buffer, shared or own, as bits of values."""
    workgroup: tuple[int, int, int]
    local: tuple[int, int, int]
    grid: tuple[int, int, int]
    width: int
    names: dict[str, Bits] = field(default_factory=dict)
    types: dict[str, DataType] = field(default_factory=dict)
    known: dict[int, DataType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.env = TypeEnv({decl.name: decl for decl in self.program.buffers}, self.types)
        sx, sy, _ = self.program.workgroup_size
        self.linear = self.local[0] + sx * (self.local[1] + sy * self.local[2])

    def type_of(self, expr: AnyExpr) -> DataType:
        """The type of an expression, looked up once per node but for names."""
        if isinstance(expr, Var):
            return self.types[expr.name]
        known = self.known.get(id(expr))
        if known is None:
            known = self.known[id(expr)] = type_of(expr, self.env)
        return known

    def zero(self, dtype: DataType) -> Bits:
        return (0,) * dtype.lanes if dtype.is_vector else 0

    def run(self) -> Generator[tuple[str, Any], Any, None]:
        try:
            yield from self.body(self.program.entry)
        except _Return:
            return

    def body(self, statements: Body) -> Generator[tuple[str, Any], Any, None]:
        bound = []
        try:
            for statement in statements:
                if isinstance(statement, Let):
                    bound.append(statement.name)
                yield from self.statement(statement)
        finally:
            for name in bound:
                self.names.pop(name, None)

    def statement(self, statement: AnyStmt) -> Generator[tuple[str, Any], Any, None]:  # noqa: C901
        match statement:
            case Let(name, value):
                self.types[name] = self.type_of(value)
                self.names[name] = yield from self.value(value)
            case Assign(name, value):
                self.names[name] = yield from self.value(value)
            case Store(buffer, index, value):
                at = yield from self.index(index)
                self.put(buffer, at, (yield from self.value(value)))
            case Eval(value):
                yield from self.value(value)
            case If(cond, then, otherwise):
                yield from self.body(then if (yield from self.value(cond)) else otherwise)
            case Loop() | While():
                yield from self.loop(statement)
            case Break():
                raise _Break
            case Continue():
                raise _Continue
            case Return():
                raise _Return
            case Block(body) | Region(_, _, body):
                yield from self.body(body)
            case Barrier(ordering):
                yield ("grid" if ordering is MemoryOrdering.GRID_SYNC else "workgroup", None)
            case AllReduce() | AllGather() | ReduceScatter() | Broadcast():
                yield ("grid", statement)
            case AsyncLoad() | AsyncStore():
                yield from self.copy(statement)
            case AsyncWait():
                yield ("workgroup", None)
            case _:
                pass

    def loop(self, statement: Loop | While) -> Generator[tuple[str, Any], Any, None]:
        rounds, dtype = iter(()), DataType.U32
        if isinstance(statement, Loop):
            dtype = self.type_of(statement.start)
            start = signed(dtype, (yield from self.value(statement.start)))
            stop = signed(dtype, (yield from self.value(statement.stop)))
            self.types[statement.var] = dtype
            rounds = iter(range(start, stop))
        while True:
            if isinstance(statement, Loop):
                number = next(rounds, None)
                if number is None:
                    return
                self.names[statement.var] = number & ((1 << (dtype.bits or 0)) - 1)
            elif not (yield from self.value(statement.cond)):
                return
            try:
                yield from self.body(statement.body)
            except _Break:
                return
            except _Continue:
                continue

    def copy(self, statement: AsyncLoad | AsyncStore) -> Generator[tuple[str, Any], Any, None]:
        into = yield from self.index(statement.destination_start)
        origin = yield from self.index(statement.source_start)
        count = yield from self.index(statement.count)
        destination = self.memory[statement.destination]
        if self.linear == 0:
            for step in range(min(count, len(destination) + abs(into))):
                value = self.get(statement.source, origin + step)
                self.put(statement.destination, into + step, value)

    def get(self, buffer: str, at: int) -> Bits:
        cells = self.memory[buffer]
        if 0 <= at < len(cells):
            return cells[at]
        return self.zero(self.env.buffers[buffer].value_type)

    def put(self, buffer: str, at: int, value: Bits) -> None:
        cells = self.memory[buffer]
        if 0 <= at < len(cells):
            element = self.env.buffers[buffer].element
            cells[at] = value if element.is_vector else through_memory(element, value)

    def index(self, expr: AnyExpr) -> Generator[tuple[str, Any], Any, int]:
        dtype = self.type_of(expr)
        return signed(dtype, (yield from self.value(expr)))

    def value(self, expr: AnyExpr) -> Generator[tuple[str, Any], Any, Bits]:  # noqa: C901
        match expr:
            case Lit(_, bits):
                return bits
            case Var(name):
                return self.names[name]
            case Load(buffer, index):
                return self.get(buffer, (yield from self.index(index)))
            case BufLen(buffer):
                return len(self.memory[buffer])
            case Builtin(kind, axis):
                return self.builtin(kind, axis)
            case Unary(op, operand):
                dtype = self.type_of(operand)
                return unary(op, dtype, (yield from self.value(operand)))
            case Binary(op, left, right):
                dtype = self.type_of(left)
                a = yield from self.value(left)
                return binary(op, dtype, a, (yield from self.value(right)))
            case Fma(a, b, c):
                form = exact.FORMATS[self.type_of(a)]
                operands = []
                for operand in (a, b, c):
                    operands.append((yield from self.value(operand)))
                return exact.float_fma(form, *operands)
            case Select(cond, if_true, if_false):
                chosen = yield from self.value(cond)
                first = yield from self.value(if_true)
                second = yield from self.value(if_false)
                return first if chosen else second
            case Cast(value, dtype):
                source = self.type_of(value)
                return exact.convert(source, dtype, (yield from self.value(value)))
            case Bitcast(value):
                return (yield from self.value(value))
            case MakeVec(_, lanes):
                values = []
                for lane in lanes:
                    values.append((yield from self.value(lane)))
                return tuple(values)
            case Lane(value, index):
                return (yield from self.value(value))[index]
            case Atomic():
                return (yield from self.atomic(expr))
            case Ballot(cond):
                return (yield ("subgroup", ("ballot", (yield from self.value(cond)), None)))
            case Shuffle(value, lane):
                held = yield from self.value(value)
                wanted = yield from self.index(lane)
                return (yield ("subgroup", ("shuffle", held, wanted)))
            case SubgroupReduce(op, value):
                dtype = self.type_of(value)
                held = yield from self.value(value)
                return (yield ("subgroup", ("reduce", held, (BinOp[op.name], dtype))))
        raise AssertionError(expr)

    def builtin(self, kind: BuiltinKind, axis: int) -> int:
        size = self.program.workgroup_size
        return {
            BuiltinKind.GLOBAL_ID: self.workgroup[axis] * size[axis] + self.local[axis],
            BuiltinKind.LOCAL_ID: self.local[axis],
            BuiltinKind.WORKGROUP_ID: self.workgroup[axis],
            BuiltinKind.NUM_WORKGROUPS: self.grid[axis],
            BuiltinKind.SUBGROUP_SIZE: self.width,
            BuiltinKind.SUBGROUP_LANE: self.linear % self.width,
        }[kind]

    def atomic(self, expr: Atomic) -> Generator[tuple[str, Any], Any, Bits]:
        at = yield from self.index(expr.index)
        value = yield from self.value(expr.value)
        expected = None if expr.expected is None else (yield from self.value(expr.expected))
        dtype = self.env.buffers[expr.buffer].element
        old = self.get(expr.buffer, at)
        if expr.op is AtomicOp.EXCHANGE:
            new = value
        elif expr.op is AtomicOp.COMPARE_EXCHANGE:
            new = value if old == expected else old
        else:
            new = binary(BinOp[expr.op.name], dtype, old, value)
        self.put(expr.buffer, at, new)
        return old


def through_memory(element: DataType, bits: int) -> int:
    """The bits of a value after it was stored and loaded again."""
    if semantics.encode_function(element) is None or element is DataType.BF16:
        return bits
    value = semantics.literal(element.value_type, bits)
    stored = semantics.encode(element, value)
    return int(semantics.to_bits(element.value_type, semantics.decode(element, stored))[0])


def loaded(element: DataType, stored: semantics.Array) -> list[Bits]:
    """The contents of a host array as bits of values."""
    if element.is_vector and element.element is not None:
        rows = stored.reshape(-1, element.lanes)
        return [tuple(loaded(element.element, row)) for row in rows]
    if element is DataType.BF16:
        return stored.reshape(-1).tolist()
    if element.is_float:
        return stored.reshape(-1).view(f"u{stored.dtype.itemsize}").tolist()
    values = semantics.decode(element, stored.reshape(-1).view(semantics.storage_dtype(element)))
    return semantics.to_bits(element.value_type, values).tolist()


def execute(
    program: Program,
    inputs: dict[str, semantics.Array],
    grid: tuple[int, int, int],
    width: int = 32,
    sizes: dict[str, int] | None = None,
) -> dict[str, list[Bits]]:
    """The contents of every host-visible buffer after the run, as bits of values."""
    world: dict[str, list[Bits]] = {}
    for decl in program.buffers:
        zero = (0,) * decl.element.lanes if decl.element.is_vector else 0
        if decl.is_host_input:
            world[decl.name] = loaded(decl.element, np.ascontiguousarray(inputs[decl.name]))
        elif not decl.is_on_chip:
            zero = loaded(decl.element, np.zeros(decl.element.lanes, storage(decl)))[0]
            world[decl.name] = [zero] * ((sizes or {}).get(decl.name, decl.count))
    x, y, z = grid
    order = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
    groups = [Workgroup(program, world, at, grid, width) for at in order]
    while True:
        reached = [group.advance() for group in groups]
        collectives = [statement for statement in reached if statement is not None]
        if not collectives:
            break
        for statement in collectives[:1]:
            perform(world, statement)
    return {decl.name: world[decl.name] for decl in program.buffers if decl.is_host_output}


def storage(decl: Any) -> Any:
    return semantics.storage_dtype(decl.element)


def perform(world: dict[str, list[Bits]], statement: Any) -> None:
    if isinstance(statement, (AllGather, ReduceScatter)):
        source, destination = world[statement.source], world[statement.destination]
        count = min(len(source), len(destination))
        destination[:count] = source[:count]


class Workgroup:
    """Runs the invocations of one workgroup to the next grid-wide barrier."""

    def __init__(self, program: Program, world: dict, at: tuple, grid: tuple, width: int) -> None:
        self.program = program
        self.shared = dict(world)
        sx, sy, sz = program.workgroup_size
        self.invocations = []
        known = program.memo("scalar types", lambda _: {})
        for k, j, i in ((k, j, i) for k in range(sz) for j in range(sy) for i in range(sx)):
            memory = _View(self.shared)
            for decl in program.buffers:
                if decl.is_local:
                    memory[decl.name] = self.zeros(decl)
            made = Invocation(program, memory, at, (i, j, k), grid, width, known=known)
            self.invocations.append(made)
        self.width = width
        self.running = {n: inv.run() for n, inv in enumerate(self.invocations)}
        self.answers: dict[int, Any] = {}

    def zeros(self, decl: Any) -> list[Bits]:
        stored = np.zeros(decl.element.lanes, storage(decl))
        return loaded(decl.element, stored)[:1] * decl.count

    def advance(self) -> Any:
        """The grid-wide statement that was reached, or None at the end."""
        for decl in self.program.buffers:
            if decl.is_workgroup:
                self.shared[decl.name] = self.zeros(decl)
        grid_wide = None
        while True:
            waiting: dict[int, tuple[str, Any]] = {}
            for number in list(self.running):
                try:
                    waiting[number] = self.running[number].send(self.answers.pop(number, None))
                except StopIteration:
                    del self.running[number]
            if not waiting:
                return grid_wide
            asked = {n: request for n, (kind, request) in waiting.items() if kind == "subgroup"}
            self.answers.update(self.answer(asked))
            if any(kind == "grid" for kind, _ in waiting.values()):
                return next(r for kind, r in waiting.values() if kind == "grid") or "grid"

    def answer(self, asked: dict[int, Any]) -> dict[int, Any]:
        """What subgroup operations give, for all invocations that asked."""
        found: dict[int, Any] = {}
        for number, (what, held, more) in asked.items():
            first = number - number % self.width
            row = {n - first: asked[n][1] for n in range(first, first + self.width) if n in asked}
            if what == "ballot":
                words = sum(1 << lane for lane, value in row.items() if value)
                found[number] = tuple(words >> 32 * w & 0xFFFF_FFFF for w in range(4))
            elif what == "shuffle":
                found[number] = row.get(more, 0)
            else:
                op, dtype = more
                total = None
                for lane in sorted(row):
                    total = row[lane] if total is None else binary(op, dtype, total, row[lane])
                found[number] = total
            del held
        return found


class _View(dict):
    """Memory of an invocation: its own arrays, and behind them what its workgroup shares."""

    def __init__(self, shared: dict) -> None:
        super().__init__()
        self._shared = shared

    def __missing__(self, name: str) -> Any:
        return self._shared[name]
