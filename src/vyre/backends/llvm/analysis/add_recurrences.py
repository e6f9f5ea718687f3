"""How numbers move from round to round of a loop: with its counter, or not at all.

A number of 32 bits that goes on by one in every round comes by each number between its first and
its last, unless it passes the end of its type on the way; then the last is less than the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from vyre import ir
from vyre.ir.infer import TypeEnv
from vyre.ir.walk import walk_stmts

WORDS = (ir.DataType.U32, ir.DataType.I32)


class Following:
    """What indices in a loop are made of: its counter, what follows it, and what stays."""

    def __init__(self, loop: ir.Loop, counter: ir.DataType, env: TypeEnv) -> None:
        self._counter = loop.var if counter in WORDS else None
        self._types = env.variables
        self._buffers = env.buffers
        self._values: dict[str, ir.AnyExpr] = {}
        self._changes: dict[str, int] = {}
        goes_on_early = False
        for statement in walk_stmts(loop.body):
            if isinstance(statement, ir.Let):
                self._values[statement.name] = statement.value
            elif isinstance(statement, ir.Assign):
                self._changes[statement.name] = self._changes.get(statement.name, 0) + 1
            goes_on_early = goes_on_early or isinstance(statement, ir.Continue)
        self.places = tuple(_in_order(loop.body))
        """The statements that every round comes to, unless it is the last one."""
        self.rising: dict[str, tuple[int, int]] = {}
        """Variables that go on by one in every round: by how much, and at which place."""
        for place, statement in enumerate(() if goes_on_early else self.places):
            step = self._step_of(statement)
            if isinstance(statement, ir.Assign) and step:
                self.rising[statement.name] = (step, place)

    def _step_of(self, statement: ir.AnyStmt) -> int | None:
        """By how much a statement changes a variable that nothing else in the loop changes."""
        if not isinstance(statement, ir.Assign) or self._changes[statement.name] > 1:
            return None
        name = statement.name
        if name in self._values or self._types.get(name) not in WORDS:
            return None
        match statement.value:
            case ir.Binary(ir.BinOp.ADD, ir.Var(same), ir.Lit(_, 1)) if same == name:
                return 1
            case ir.Binary(ir.BinOp.ADD, ir.Lit(_, 1), ir.Var(same)) if same == name:
                return 1
            case ir.Binary(ir.BinOp.SUB, ir.Var(same), ir.Lit(_, 1)) if same == name:
                return -1
            case _:
                return None

    def expand(self, index: ir.AnyExpr) -> ir.AnyExpr:
        """An index with what the loop binds written out, as far as it is a sum."""
        match index:
            case ir.Var(name) if name in self._values and name not in self._changes:
                return self.expand(self._values[name])
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
                return ir.Binary(op, self.expand(left), self.expand(right))
            case ir.Cast(value, ir.DataType.U32 | ir.DataType.I32 as dtype):
                return ir.Cast(self.expand(value), dtype)
            case _:
                return index

    def step(self, expr: ir.AnyExpr, place: int) -> int | None:
        """By how much a number moves from round to round; None if it does so in other ways.

        Of a variable that goes on at a later place than this one.
        """
        match expr:
            case ir.Lit(dtype, _):
                return 0 if dtype in WORDS else None
            case ir.Builtin():
                return 0
            case ir.Var(name):
                return self._step_of_name(name, place)
            case ir.Cast(value, ir.DataType.U32 | ir.DataType.I32):
                # The same bits, of the words that there are here.
                return self.step(value, place)
            case ir.Load(buffer, index):
                decl = self._buffers[buffer]
                stays = not decl.is_writable and decl.element in WORDS
                return 0 if stays and self.step(index, place) == 0 else None
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
                a, b = self.step(left, place), self.step(right, place)
                if a is None or b is None:
                    return None
                return a + b if op is ir.BinOp.ADD else a - b
            case ir.Binary(ir.BinOp.MUL, left, right):
                return 0 if self.step(left, place) == 0 and self.step(right, place) == 0 else None
            case _:
                return None

    def _step_of_name(self, name: str, place: int) -> int | None:
        if name == self._counter:
            return 1
        if name in self.rising:
            step, changed = self.rising[name]
            return step if place < changed else None
        stays = name not in self._values and name not in self._changes
        return 0 if stays and self._types.get(name) in WORDS else None


def _in_order(body: ir.Body) -> Iterator[ir.AnyStmt]:
    for statement in body:
        if isinstance(statement, (ir.Block, ir.Region)):
            yield from _in_order(statement.body)
        else:
            yield statement
