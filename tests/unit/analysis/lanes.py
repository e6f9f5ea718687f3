"""An oracle for analyses: random programs of control flow, and an interpreter that runs each
invocation alone and writes down where it was and what it computed there.

What the program may write is taken to hold anything: a load of it gives another number every time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Barrier,
    Binary,
    BinOp,
    Body,
    Break,
    BufferDecl,
    BufLen,
    Builtin,
    BuiltinKind,
    Continue,
    DataType,
    Expr,
    If,
    Let,
    Lit,
    Load,
    Loop,
    Node,
    Program,
    Return,
    Select,
    Store,
    Var,
    While,
)
from vyre.ir.walk import walk_stmts

U32 = (1 << 32) - 1
Instance = tuple[int, ...]


class TooLong(Exception):
    """The program ran out of fuel."""


@dataclass
class Visit:
    """A statement executed by an invocation: its variables before, and the value it computed."""

    variables: dict[str, int]
    value: int | None


@dataclass
class Lane:
    """One invocation's run."""

    gid: int
    lid: int
    wid: int
    groups: int
    lengths: dict[str, int]
    seed: int
    fuel: int = 250
    visits: dict[tuple[int, Instance], Visit] = field(
        default_factory=dict[tuple[int, Instance], Visit]
    )
    accesses: list[tuple[int, AnyExpr | AnyStmt, int]] = field(
        default_factory=list[tuple[int, "AnyExpr | AnyStmt", int]]
    )
    values: list[tuple[int, AnyExpr, int]] = field(default_factory=list[tuple[int, AnyExpr, int]])
    returned: bool = False
    _env: dict[str, int] = field(default_factory=dict[str, int])
    _rounds: list[int] = field(default_factory=list[int])

    def run(self, program: Program) -> None:
        self._body(program.entry, 0)

    def _body(self, body: Body, position: int) -> str:
        bound: list[str] = []
        outcome = ""
        for statement in body:
            outcome = self._statement(statement, position)
            if isinstance(statement, Let):
                bound.append(statement.name)
            if outcome:
                break
            position += size(statement)
        for name in bound:
            del self._env[name]
        return outcome

    def _statement(self, statement: AnyStmt, position: int) -> str:
        self.fuel -= 1
        if self.fuel < 0:
            raise TooLong
        visit = Visit(dict(self._env), None)
        self.visits[position, tuple(self._rounds)] = visit
        match statement:
            case Let(name, value) | Assign(name, value):
                self._env[name] = visit.value = self.value(value, position)
            case Store(_, index, value):
                at = self.value(index, position)
                self.value(value, position)
                self.accesses.append((position, statement, at))
            case If(cond, then, otherwise):
                visit.value = self.value(cond, position)
                if visit.value:
                    return self._body(then, position + 1)
                return self._body(otherwise, position + 1 + sum(map(size, then)))
            case Loop():
                return self._loop(statement, position)
            case While():
                return self._while(statement, position)
            case Break() | Continue() | Return():
                self.returned = isinstance(statement, Return)
                return type(statement).__name__
            case Barrier():
                pass
            case _:
                for name in statement.body_fields:
                    outcome = self._body(getattr(statement, name), position + 1)
                    if outcome:
                        return outcome
        return ""

    def _loop(self, loop: Loop, position: int) -> str:
        start, stop = self.value(loop.start, position), self.value(loop.stop, position)
        self._rounds.append(0)
        outcome = ""
        for number in range(start, stop):
            self._env[loop.var] = number
            outcome = self._body(loop.body, position + 1)
            if outcome in ("Break", "Return"):
                break
            self._rounds[-1] += 1
        self._env.pop(loop.var, None)
        self._rounds.pop()
        return outcome if outcome == "Return" else ""

    def _while(self, loop: While, position: int) -> str:
        self._rounds.append(0)
        outcome = ""
        while self.value(loop.cond, position):
            outcome = self._body(loop.body, position + 1)
            if outcome in ("Break", "Return"):
                break
            self._rounds[-1] += 1
        self._rounds.pop()
        return outcome if outcome == "Return" else ""

    def value(self, expr: AnyExpr, position: int) -> int:
        found = self._value(expr, position)
        self.values.append((position, expr, found))
        return found

    def _value(self, expr: AnyExpr, position: int) -> int:
        match expr:
            case Lit():
                return int(expr.value)
            case Var(name):
                return self._env[name]
            case Builtin(kind, axis):
                if axis:
                    return 1 if kind is BuiltinKind.NUM_WORKGROUPS else 0
                table = {
                    BuiltinKind.GLOBAL_ID: self.gid,
                    BuiltinKind.LOCAL_ID: self.lid,
                    BuiltinKind.WORKGROUP_ID: self.wid,
                    BuiltinKind.NUM_WORKGROUPS: self.groups,
                }
                return table[kind]
            case BufLen(buffer):
                return self.lengths[buffer]
            case Load(buffer, index):
                at = self.value(index, position)
                self.accesses.append((position, expr, at))
                if buffer == "ro":
                    return element(at) if at < self.lengths[buffer] else 0
                # Anything, but the same when the program differs only in unused values.
                return hash((self.seed, self.gid, self.fuel, position)) >> 5 & 3
            case Select(cond, if_true, if_false):
                test = self.value(cond, position)
                yes, no = self.value(if_true, position), self.value(if_false, position)
                return yes if test else no
            case Binary(op, left, right):
                return _OPS[op](self.value(left, position), self.value(right, position))
            case _:
                raise AssertionError(expr)


_OPS: dict[BinOp, Callable[[int, int], int]] = {
    BinOp.ADD: lambda a, b: (a + b) & U32,
    BinOp.SUB: lambda a, b: (a - b) & U32,
    BinOp.MUL: lambda a, b: (a * b) & U32,
    BinOp.AND: lambda a, b: a & b,
    BinOp.OR: lambda a, b: a | b,
    BinOp.XOR: lambda a, b: a ^ b,
    BinOp.SHR: lambda a, b: a >> (b & 31),
    BinOp.MIN: min,
    BinOp.MAX: max,
    BinOp.REM: lambda a, b: a % b if b else 0,
    BinOp.DIV: lambda a, b: a // b if b else U32,
    BinOp.LT: lambda a, b: int(a < b),
    BinOp.LE: lambda a, b: int(a <= b),
    BinOp.GT: lambda a, b: int(a > b),
    BinOp.GE: lambda a, b: int(a >= b),
    BinOp.EQ: lambda a, b: int(a == b),
    BinOp.NE: lambda a, b: int(a != b),
}
ARITHMETIC = [op for op in _OPS if op.row.result.name == "OPERAND"]
COMPARISONS = [op for op in _OPS if op.row.result.name == "BOOL"]


def element(index: int) -> int:
    """What the read-only buffer holds."""
    return (index * 2654435761 >> 7) & 3


def size(statement: AnyStmt) -> int:
    return sum(1 for _ in walk_stmts((statement,)))


WORKGROUP, GROUPS = 4, 3


def run_all(program: Program, seed: int, lengths: dict[str, int]) -> list[list[Lane]]:
    """Every invocation of every workgroup; `TooLong` when one of them does not end."""
    found: list[list[Lane]] = []
    for wid in range(GROUPS):
        group: list[Lane] = []
        for lid in range(WORKGROUP):
            lane = Lane(wid * WORKGROUP + lid, lid, wid, GROUPS, lengths, seed)
            lane.run(program)
            group.append(lane)
        found.append(group)
    return found


class Maker:
    """Makes random programs of variables and control flow."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.names: list[str] = []
        self.fixed: list[str] = []
        self.flags: list[str] = []
        self.count = 0

    def program(self) -> Program:
        buffers = [
            BufferDecl.read("ro", 0, DataType.U32),
            BufferDecl.read_write("rw", 1, DataType.U32),
            BufferDecl.workgroup("tile", 8, DataType.U32),
        ]
        body = [*self.lets(2), *self.body(3, in_loop=False)]
        return Program.wrapped(buffers, (WORKGROUP, 1, 1), body)

    def lets(self, count: int) -> Iterator[Node]:
        for _ in range(count):
            yield self.let()

    def let(self) -> Node:
        value = self.expr(2)
        self.count += 1
        name = f"x{self.count}"
        self.names.append(name)
        return Node.let(name, value)

    def body(self, depth: int, *, in_loop: bool) -> list[Node]:
        marks = len(self.names), len(self.fixed), len(self.flags)
        found = [self.statement(depth, in_loop=in_loop) for _ in range(self.dice.randint(1, 4))]
        for names, mark in zip((self.names, self.fixed, self.flags), marks, strict=True):
            del names[mark:]
        return found

    def statement(self, depth: int, *, in_loop: bool) -> Node:
        roll = self.dice.random()
        if depth and roll < 0.32:
            otherwise = self.body(depth - 1, in_loop=in_loop) if self.dice.random() < 0.4 else []
            return Node.if_(self.condition(), self.body(depth - 1, in_loop=in_loop), otherwise)
        if depth and roll < 0.44:
            return self.loop(depth)
        if depth and roll < 0.48:
            return Node.while_(self.condition(), self.body(depth - 1, in_loop=True))
        if roll < 0.62 and in_loop and depth < 2:
            return Node.break_() if self.dice.random() < 0.4 else Node.continue_()
        if roll < 0.50:
            return Node.return_()
        if roll < 0.66:
            return Node.store(self.dice.choice(("rw", "tile")), self.expr(2), self.expr(1))
        if roll < 0.90 and self.names:
            return Node.assign(self.dice.choice(self.names), self.expr(1))
        if roll < 0.93:
            self.count += 1
            value = self.condition()
            self.flags.append(f"c{self.count}")
            return Node.let(f"c{self.count}", value)
        return self.let()

    def loop(self, depth: int) -> Node:
        start, stop = Expr.u32(self.dice.randint(0, 2)), self.expr(1) & Expr.u32(3)
        self.count += 1
        name = f"k{self.count}"
        self.fixed.append(name)
        body = self.body(depth - 1, in_loop=True)
        self.fixed.remove(name)
        return Node.loop(name, start, stop, body)

    def condition(self) -> Expr:
        roll = self.dice.random()
        if roll < 0.2 and self.flags:
            return Expr.var(self.dice.choice(self.flags))
        if roll < 0.4:
            # Certainly not the same for all, and mostly not the same every time.
            return Expr.local_id(0) < (self.leaf(0) & Expr.u32(3))
        simple = Expr.binary(self.dice.choice(COMPARISONS), self.leaf(0), self.leaf(0))
        if roll < 0.55:
            other = Expr.binary(self.dice.choice(COMPARISONS), self.leaf(0), self.leaf(0))
            return simple & other if self.dice.random() < 0.5 else simple | other
        return simple

    def expr(self, depth: int) -> Expr:
        if depth and self.dice.random() < 0.4:
            if self.dice.random() < 0.1:
                return Expr.select(self.condition(), self.expr(0), self.expr(0))
            op = self.dice.choice(ARITHMETIC)
            return Expr.binary(op, self.expr(depth - 1), self.expr(depth - 1))
        return self.leaf(depth)

    def leaf(self, depth: int) -> Expr:
        roll = self.dice.random()
        known = [*self.names, *self.fixed]
        if roll < 0.40 and known:
            return Expr.var(self.dice.choice(known))
        if roll < 0.45:
            return Expr.local_id(0) if self.dice.random() < 0.7 else Expr.gid(0)
        if roll < 0.52:
            return Expr.workgroup_id(0) if self.dice.random() < 0.7 else Expr.num_workgroups(0)
        if roll < 0.58:
            return Expr.buf_len(self.dice.choice(("ro", "rw", "tile")))
        if roll < 0.65:
            return Expr.load(self.dice.choice(("ro", "ro", "rw", "tile")), self.expr(depth))
        return Expr.u32(self.dice.choice((0, 1, 2, 3, 7, U32)))
