"""Arg-min and arg-max recurrences: the extremum so far, and where it was found.

In `let better = v > best  best = select(better, v, best)  at = select(better, i, at)` every element
of a vector of iterations keeps its own running extremum, and the iteration. After the vector loop,
the first iteration that had the overall extremum (the last one, where equal values replace) is
executed once more as a scalar: it gives all variables their sequential values, down to the sign of
a zero.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm.emit.builder import mangled, register_type, widened
from vyre.backends.llvm.emit.values import LaneShape, Slot, Value, uniform, varying
from vyre.ir.walk import declared_names, walk_stmts
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.emit.statements import Statements

GREATER = frozenset({ir.BinOp.GT, ir.BinOp.GE})
_ORDERS = frozenset({*GREATER, ir.BinOp.LT, ir.BinOp.LE})
_FIRST = frozenset({ir.BinOp.GT, ir.BinOp.LT})
"""Comparisons under which the first of equal values stays."""


@dataclass(frozen=True, slots=True)
class ArgExtremum:
    """A value that replaces a variable if it compares greater, or less."""

    condition: str
    """The name of the condition."""
    name: str
    op: ir.BinOp
    value: ir.AnyExpr
    when: ir.AnyExpr | None
    """A further conjunct that must hold."""

    @property
    def parts(self) -> list[ir.AnyExpr]:
        """The expressions evaluated in every iteration."""
        return [self.value] if self.when is None else [self.when, self.value]

    @property
    def is_first(self) -> bool:
        """True if the first of equal values stays."""
        return self.op in _FIRST


def best_of(statement: ir.Let, carried: AbstractSet[str]) -> ArgExtremum | None:
    """Match a condition that compares a loop-carried variable with a value; else None."""
    when, compared = None, statement.value
    match compared:
        case ir.Binary(ir.BinOp.AND, when, compared):
            pass
        case _:
            pass
    match compared:
        case ir.Binary(op, value, ir.Var(name)) if op in _ORDERS and name in carried:
            return ArgExtremum(statement.name, name, op, value, when)
        case _:
            return None


class Search:
    """Emits one arg-min or arg-max recurrence of a vectorised loop."""

    def __init__(
        self, best: ArgExtremum, loop: ir.Loop, lanes: LaneContext, wide: LaneContext
    ) -> None:
        self.best = best
        self._loop = loop
        self._lanes = lanes
        self._wide = wide
        self._dtype = lanes.kernel.types[best.name]
        self._counter = ir.DataType.U32
        self._best: Slot | None = None
        self._found: Slot | None = None

    def begin(self, counter: ir.DataType) -> None:
        """Initialise the running extremum with the incoming value."""
        wide = self._wide
        self._counter = counter
        self._best = wide.new_slot(self.best.name, self._dtype, LaneShape.VARYING)
        wide.write(self._best, self._lanes.read(self.best.name), blend=False)
        self._found = wide.new_slot(f"{self.best.name}.at", counter, LaneShape.VARYING)
        wide.write(self._found, uniform(counter, self._never()), blend=False)

    def _never(self) -> str:
        """A number that stands for no iteration.

        No induction variable reaches the greatest number of its type.
        """
        bits = self._counter.bits or 0
        if not self._counter.is_signed:
            return str((1 << bits) - 1 if self.best.is_first else 0)
        return str((1 << (bits - 1)) - 1 if self.best.is_first else -(1 << (bits - 1)))

    def look(self) -> None:
        """Emit the update of the running extremum by the current iterations."""
        best, wide, w = self.best, self._wide, self._wide.w
        assert self._best is not None
        assert self._found is not None
        value = wide.vector(wide.value(best.value))
        before = wide.value_of(self._best).text
        flags = wide.arithmetic.compare(best.op, self._dtype, wide.width, value, before)
        many = widened("i1", wide.width)
        if best.when is not None:
            flags = w.emit(f"and {many} {flags}, {wide.vector(wide.value(best.when))}")
        # The iteration plus one, if the last of equals replaces: never the least of its type.
        iteration = wide.read(self._loop.var)
        text = (
            iteration.text
            if best.is_first
            else w.emit(f"add {register_type(self._counter)} {iteration.text}, 1")
        )
        place = wide.vector(Value(self._counter, LaneShape.LINEAR, text, 1))
        winners = wide.value_of(self._found).text
        for slot, new, old in ((self._best, value, before), (self._found, place, winners)):
            type_ = register_type(slot.dtype, wide.width)
            chosen = w.emit(f"select {many} {flags}, {type_} {new}, {type_} {old}")
            wide.write(slot, varying(slot.dtype, chosen), blend=False)

    def emit_last(self, statements: Statements, across: str) -> None:
        """Emit the winning iteration once more as a scalar, if any."""
        wide, w, best = self._wide, self._wide.w, self.best
        assert self._best is not None
        assert self._found is not None
        scalar, many = register_type(self._counter), register_type(self._counter, wide.width)
        winner = wide.splat(register_type(self._dtype), across)
        parts = wide.value_of(self._best).text
        same = wide.arithmetic.compare(ir.BinOp.EQ, self._dtype, wide.width, parts, winner)
        never = wide.splat(scalar, self._never())
        winners = wide.value_of(self._found).text
        places = w.emit(
            f"select {widened('i1', wide.width)} {same}, {many} {winners}, {many} {never}"
        )
        kind = ("s" if self._counter.is_signed else "u") + ("min" if best.is_first else "max")
        at = w.call(f"llvm.vector.reduce.{kind}.{mangled(many)}", scalar, (many, places))
        some = w.emit(f"icmp ne {scalar} {at}, {self._never()}")
        again, done = w.fresh("best"), w.fresh("best.done")
        w.branch(some, again, done)
        w.block(again)
        if not best.is_first:
            at = w.emit(f"sub {scalar} {at}, 1")
        self._lanes.names[self._loop.var] = uniform(self._counter, at)
        statements.alone(self._lanes, tuple(self._needed()))
        w.jump(done)
        w.block(done)

    def parts(self) -> str:
        """Emit the running extremum of every element."""
        assert self._best is not None
        return self._wide.value_of(self._best).text

    def _needed(self) -> list[ir.AnyStmt]:
        """The statements of an iteration that the replaced variables depend on."""
        own = declared_names(self._loop.body)
        needed: list[ir.AnyStmt] = []
        for statement in walk_stmts(self._loop.body):
            match statement:
                case ir.Let():
                    needed.append(statement)
                case ir.Assign(name, _) if name in own:
                    needed.append(statement)
                case ir.Assign(_, ir.Select(ir.Var(name), _, _)) if name == self.best.condition:
                    needed.append(statement)
                case _:
                    pass
        return needed
