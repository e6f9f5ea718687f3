"""Add recurrences of a loop: 32-bit values with a constant step.

Computes `step` such that `value(i + 1) = value(i) + step`, modulo 2^32: the induction variable has
step 1, an invariant has step 0, a variable with one `x = x + 1` or `x = x - 1` per iteration has
step 1 or -1. Anything else has no step (None), which is the safe answer.

A 32-bit value of step 1 takes every value between its first and its last, unless it wraps on the
way; then the last is less than the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from vyre import ir
from vyre.ir.infer import TypeEnv
from vyre.ir.walk import walk_stmts

WORDS = (ir.DataType.U32, ir.DataType.I32)


class Following:
    """Classifies values in a loop: induction variable, recurrence or invariant."""

    def __init__(self, loop: ir.Loop, counter: ir.DataType, env: TypeEnv) -> None:
        self._counter = loop.var if counter in WORDS else None
        self._types = env.variables
        self._buffers = env.buffers
        self._values: dict[str, ir.AnyExpr] = {}
        self._changes: dict[str, int] = {}
        has_continue = False
        for statement in walk_stmts(loop.body):
            if isinstance(statement, ir.Let):
                self._values[statement.name] = statement.value
            elif isinstance(statement, ir.Assign):
                self._changes[statement.name] = self._changes.get(statement.name, 0) + 1
            has_continue = has_continue or isinstance(statement, ir.Continue)
        self.places = tuple(_in_order(loop.body))
        """Statements that every iteration executes, except perhaps the last one."""
        self.rising: dict[str, tuple[int, int]] = {}
        """Recurrences of step 1 or -1: the step, and the position of the update."""
        for position, statement in enumerate(() if has_continue else self.places):
            step = self._step_of(statement)
            if isinstance(statement, ir.Assign) and step:
                self.rising[statement.name] = (step, position)

    def _step_of(self, statement: ir.AnyStmt) -> int | None:
        """Step of a variable's only update in the loop; None for other statements."""
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
        """Substitute the loop's bindings into a sum."""
        match index:
            case ir.Var(name) if name in self._values and name not in self._changes:
                return self.expand(self._values[name])
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
                return ir.Binary(op, self.expand(left), self.expand(right))
            case ir.Cast(value, ir.DataType.U32 | ir.DataType.I32 as dtype):
                return ir.Cast(self.expand(value), dtype)
            case _:
                return index

    def step(self, expr: ir.AnyExpr, position: int) -> int | None:
        """Step of a value per iteration; None if it is no add recurrence.

        A recurrence counts only at positions before its update.
        """
        match expr:
            case ir.Lit(dtype, _):
                return 0 if dtype in WORDS else None
            case ir.Builtin():
                return 0
            case ir.Var(name):
                return self._step_of_name(name, position)
            case ir.Cast(value, ir.DataType.U32 | ir.DataType.I32):
                # A cast between 32-bit integers keeps the bits.
                return self.step(value, position)
            case ir.Load(buffer, index):
                decl = self._buffers[buffer]
                is_invariant = not decl.is_writable and decl.element in WORDS
                return 0 if is_invariant and self.step(index, position) == 0 else None
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
                a, b = self.step(left, position), self.step(right, position)
                if a is None or b is None:
                    return None
                return a + b if op is ir.BinOp.ADD else a - b
            case ir.Binary(ir.BinOp.MUL, left, right):
                return (
                    0
                    if self.step(left, position) == 0 and self.step(right, position) == 0
                    else None
                )
            case _:
                return None

    def _step_of_name(self, name: str, position: int) -> int | None:
        if name == self._counter:
            return 1
        if name in self.rising:
            step, changed = self.rising[name]
            return step if position < changed else None
        is_invariant = name not in self._values and name not in self._changes
        return 0 if is_invariant and self._types.get(name) in WORDS else None


def _in_order(body: ir.Body) -> Iterator[ir.AnyStmt]:
    for statement in body:
        if isinstance(statement, (ir.Block, ir.Region)):
            yield from _in_order(statement.body)
        else:
            yield statement
