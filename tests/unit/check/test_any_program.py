"""Whatever can be built can be checked: nonsense gives findings, never another exception."""

from __future__ import annotations

import random

import pytest

from vyre.check import check
from vyre.diagnostics import Diagnostic
from vyre.ir import (
    AtomicOp,
    BinOp,
    BufferAccess,
    BufferDecl,
    DataType,
    Expr,
    MemoryKind,
    MemoryOrdering,
    Node,
    Program,
    ReduceOp,
    UnOp,
)
from vyre.ir.types import SCALAR_TYPES
from vyre.target import Target

NAMES = ("a", "b", "c", "x", "y")
TYPES = (*SCALAR_TYPES, DataType.VEC4_U32, DataType.TENSOR, DataType.I4, DataType.array(3))
TAGS = ("s", "t")


class Nonsense:
    """Builds programs without regard to what they mean."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def program(self) -> Program:
        buffers = [self.buffer() for _ in range(self.dice.randrange(4))]
        size = [self.dice.choice((0, 1, 1, 4, 64)) for _ in range(3)]
        return Program(buffers, size, self.body(4))

    def buffer(self) -> BufferDecl:
        pick = self.dice.choice
        return BufferDecl(
            pick(NAMES),
            pick((None, 0, 1, 2)),
            pick(list(BufferAccess)),
            pick(list(MemoryKind)),
            pick(TYPES),
            pick((0, 1, 4)),
            is_output=self.dice.random() < 0.3,
            is_pipeline_live_out=self.dice.random() < 0.3,
            has_initial_value=self.dice.random() < 0.3,
        )

    def body(self, depth: int) -> list[Node]:
        return [self.statement(depth) for _ in range(self.dice.randrange(5))]

    def statement(self, depth: int) -> Node:
        name, other, tag = (self.dice.choice(pool) for pool in (NAMES, NAMES, TAGS))
        simple = (
            lambda: Node.let(name, self.expr(3)),
            lambda: Node.assign(name, self.expr(3)),
            lambda: Node.store(name, self.expr(2), self.expr(3)),
            lambda: Node.eval(self.expr(3)),
            Node.break_,
            Node.continue_,
            Node.return_,
            lambda: Node.barrier(self.dice.choice(list(MemoryOrdering))),
            lambda: Node.async_load(tag, name, self.expr(1), other, self.expr(1), self.expr(1)),
            lambda: Node.async_store(tag, name, self.expr(1), other, self.expr(1), self.expr(1)),
            lambda: Node.async_wait(tag),
            lambda: Node.trap(tag),
            lambda: Node.resume(tag),
            lambda: Node.print_("p", self.expr(2)),
            lambda: Node.indirect_dispatch(name, 2),
            lambda: Node.all_reduce(name, self.dice.choice(list(ReduceOp))),
            lambda: Node.all_gather(name, other),
            lambda: Node.reduce_scatter(name, other, self.dice.choice(list(ReduceOp))),
            lambda: Node.broadcast(name, 1),
            lambda: Node.opaque("k", b"", self.expr(1)),
        )
        nested = (
            lambda: Node.if_(self.expr(2), self.body(depth - 1), self.body(depth - 1)),
            lambda: Node.loop(name, self.expr(1), self.expr(1), self.body(depth - 1)),
            lambda: Node.while_(self.expr(2), self.body(depth - 1)),
            lambda: Node.block(self.body(depth - 1)),
            lambda: Node.region("r", self.body(depth - 1)),
        )
        return self.dice.choice(nested if depth and self.dice.random() < 0.5 else simple)()

    def expr(self, depth: int) -> Expr:
        pick, name = self.dice.choice, self.dice.choice(NAMES)
        leaves = (
            lambda: Expr.lit(False, DataType.BOOL),
            lambda: Expr.lit(pick((0, 1)), pick([t for t in SCALAR_TYPES if not t.is_bool])),
            lambda: Expr.var(name),
            lambda: Expr.buf_len(name),
            lambda: Expr.gid(pick((0, 1, 2))),
            Expr.subgroup_lane,
        )
        nodes = (
            lambda: Expr.load(name, self.expr(depth - 1)),
            lambda: Expr.unary(pick(list(UnOp)), self.expr(depth - 1)),
            lambda: Expr.binary(pick(list(BinOp)), self.expr(depth - 1), self.expr(depth - 1)),
            lambda: Expr.fma(self.expr(0), self.expr(0), self.expr(0)),
            lambda: Expr.select(self.expr(depth - 1), self.expr(0), self.expr(0)),
            lambda: Expr.cast(self.expr(depth - 1), pick(TYPES)),
            lambda: Expr.bitcast(self.expr(depth - 1), pick(TYPES)),
            lambda: Expr.vec(DataType.U32, self.expr(0), self.expr(0)),
            lambda: Expr.lane(self.expr(depth - 1), pick((0, 1, 9))),
            lambda: Expr.atomic(
                pick(list(AtomicOp)),
                name,
                self.expr(0),
                self.expr(0),
                pick((None, self.expr(0))),
                pick(list(MemoryOrdering)),
            ),
            lambda: Expr.subgroup_ballot(self.expr(depth - 1)),
            lambda: Expr.subgroup_shuffle(self.expr(depth - 1), self.expr(0)),
            lambda: Expr.subgroup_reduce(pick(list(ReduceOp)), self.expr(depth - 1)),
        )
        return self.dice.choice(nodes if depth and self.dice.random() < 0.7 else leaves)()


@pytest.mark.parametrize("block", range(4))
def test_nonsense_gives_findings(block: int) -> None:
    seen: set[str] = set()
    for seed in range(block, 480, 4):
        program = Nonsense(seed).program()
        for target in (None, Target("nothing")):
            for found in check(program, target):
                assert isinstance(found, Diagnostic)
                assert str(found)
                seen.add(found.code)
    # Almost every code of the checker is met on the way.
    assert len(seen) > 40
