"""The walk behind `Ranges`: statements in the order of the text, arms joined, loops assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from vyre import ir
from vyre.analysis.facts import ProgramFacts
from vyre.analysis.interval import Interval
from vyre.analysis.range_state import RangeState
from vyre.analysis.range_values import RangeValues
from vyre.analysis.symbolic_bounds import Bounded, shifted
from vyre.ir.walk import expr_children
from vyre.record import dataclass

_GROWING = frozenset({ir.BinOp.ADD, ir.BinOp.MAX, ir.BinOp.OR, ir.BinOp.ADD_SAT})
_SHRINKING = frozenset(
    {
        ir.BinOp.SUB,
        ir.BinOp.SUB_SAT,
        ir.BinOp.SHR,
        ir.BinOp.DIV,
        ir.BinOp.REM,
        ir.BinOp.AND,
        ir.BinOp.MIN,
    }
)
_MANY = 16
"""A loop that assigns more variables than this is not followed through its breaks."""


@dataclass(slots=True)
class _Round:
    """The loop whose body the walk is in."""

    assumed: dict[str, Bounded]
    """By variable that the loop assigns: what is taken to hold when a round begins."""
    failed: bool = False
    at_end: dict[str, Bounded] = field(default_factory=dict[str, Bounded])
    """What the rounds that go on leave behind."""
    at_break: dict[str, Bounded] = field(default_factory=dict[str, Bounded])
    breaks: bool = False


class RangeWalk:
    """Goes through a program once, and through loops again when that tells more."""

    def __init__(
        self,
        program: ir.Program,
        grid: tuple[int, int, int] | None,
        lengths: Mapping[str, int],
        contents: Mapping[str, Sequence[int]],
    ) -> None:
        self.facts = ProgramFacts.of(program)
        self.state = RangeState()
        self.values = RangeValues(program, self.state, grid, lengths, contents)
        self._entry = program.entry
        self._next = 0
        self._rounds: list[_Round] = []
        # Going through a loop again doubles its cost, and that of loops in it once more.
        self._budget = 4 * len(self.facts) + 100

    def run(self) -> None:
        """Walk the program."""
        self._body(self._entry)

    def _body(self, body: ir.Body) -> bool:
        """Walk a body in its scope; answers whether what follows it is never reached."""
        left = False
        bound: list[str] = []
        for statement in body:
            position = self.values.position = self._next
            self._next += 1
            if isinstance(statement, ir.Let):
                self._let(statement)
                bound.append(statement.name)
            elif self._statement(statement, position):
                left = True
        for name in bound:
            self.state.forget(name)
        return left

    def _statement(self, statement: ir.AnyStmt, position: int) -> bool:
        match statement:
            case ir.Assign():
                value = self.values.value(statement.value)
                if statement.name in self.state.variables:
                    self.state.assign(statement.name, value)
            case ir.Store():
                self.values.store(statement)
            case ir.If():
                return self._if(statement, position)
            case ir.Loop() | ir.While():
                self._loop(statement, position)
            case ir.Break() | ir.Continue():
                self._jump(statement)
                return True
            case ir.Return() | ir.Trap():
                return True
            case _:
                for child in expr_children(statement):
                    self.values.value(child)
                left = False
                for name in statement.body_fields:
                    left = self._body(getattr(statement, name)) or left
                return left
        return False

    def _let(self, statement: ir.Let) -> None:
        value = self.values.value(statement.value)
        self.state.assign(statement.name, value)
        if value.dtype.is_bool and statement.value.depth > 1:
            self.state.remember_condition(statement.name, statement.value)

    def _if(self, statement: ir.If, position: int) -> bool:
        self.values.value(statement.cond)
        state = self.state
        mark = state.mark()
        self.values.assume(statement.cond, holds=True)
        then_left = self._body(statement.then)
        then = state.changes_since(mark)
        state.take_back(mark)
        self.values.assume(statement.cond, holds=False)
        else_left = self._body(statement.otherwise)
        if then_left and not else_left:
            return False
        otherwise = state.changes_since(mark)
        state.take_back(mark)
        if then_left:
            return True
        if else_left:
            state.apply(then)
            return False
        for name in {row.name for row in self.facts.assigns_within(position)}:
            known = state.variables.get(name)
            if known is not None:
                value = then.get(name, known)[0].join(otherwise.get(name, known)[0])
                state.assign(name, value)
        return False

    def _loop(self, statement: ir.Loop | ir.While, position: int) -> None:
        first: Bounded | None = None
        if isinstance(statement, ir.Loop):
            start, stop = self.values.value(statement.start), self.values.value(statement.stop)
            first = _loop_variable(start, stop)
        after = self._next
        assumed = self._assumptions(position)
        entered = {name: self.state.variables[name][0] for name in assumed}
        mark = self.state.mark()
        this = self._rounds_of(statement, position, assumed, first)
        if this.failed:
            self._start_again(mark, after, position)
            assumed = {name: Bounded.any(value.dtype) for name, value in assumed.items()}
            this = self._rounds_of(statement, position, assumed, first)
        better = {name: value.join(this.at_end.get(name, value)) for name, value in entered.items()}
        if self._budget > 0 and any(not better[name].covers(assumed[name]) for name in assumed):
            # A round begins with what was there before the loop, or with what a round left behind.
            self._start_again(mark, after, position)
            this = self._rounds_of(statement, position, better, first)
        self.state.take_back(mark)
        self._after_loop(statement, this)

    def _start_again(self, mark: int, after: int, position: int) -> None:
        self._budget -= self.facts.ends[position] - position
        self.state.take_back(mark)
        self._next = after

    def _rounds_of(
        self,
        statement: ir.Loop | ir.While,
        position: int,
        assumed: dict[str, Bounded],
        first: Bounded | None,
    ) -> _Round:
        this = _Round(assumed)
        for name, value in assumed.items():
            self.state.assign(name, value)
        self._rounds.append(this)
        if isinstance(statement, ir.Loop):
            if first is not None:
                self.state.assign(statement.var, first)
        else:
            self.values.position = position
            self.values.value(statement.cond)
            self.values.assume(statement.cond, holds=True)
        if not self._body(statement.body):
            self._verify(this)
        if isinstance(statement, ir.Loop):
            self.state.forget(statement.var)
        self._rounds.pop()
        return this

    def _after_loop(self, statement: ir.Loop | ir.While, this: _Round) -> None:
        for name, value in this.assumed.items():
            if this.breaks and name in this.at_break:
                value = value.join(this.at_break[name])
            elif this.breaks:
                value = Bounded.any(value.dtype)
            self.state.assign(name, value)
        if isinstance(statement, ir.While) and not this.breaks:
            self.values.assume(statement.cond, holds=False)

    def _assumptions(self, position: int) -> dict[str, Bounded]:
        """What may be taken to hold, at the start of each round, of variables the loop assigns."""
        directions: dict[str, set[str]] = {}
        for row in self.facts.assigns_within(position):
            statement = self.facts.statements[row.position]
            if isinstance(statement, ir.Assign) and row.name in self.state.variables:
                way = _direction(row.name, statement.value)
                directions.setdefault(row.name, set()).add(way)
        found: dict[str, Bounded] = {}
        speculate = self._budget > 0
        for name, ways in directions.items():
            known = self.state.variables[name][0]
            way = ways.pop() if len(ways) == 1 and speculate else ""
            found[name] = _assumption(known, way)
        return found

    def _jump(self, statement: ir.Break | ir.Continue) -> None:
        if not self._rounds:
            return
        this = self._rounds[-1]
        if isinstance(statement, ir.Continue):
            self._verify(this)
            return
        this.breaks = True
        if len(this.assumed) > _MANY:
            return
        for name in this.assumed:
            value = self.state.variables[name][0]
            before = this.at_break.get(name)
            this.at_break[name] = value if before is None else before.join(value)

    def _verify(self, this: _Round) -> None:
        """Whether the end of a round keeps what the next one is taken to begin with."""
        for name, value in this.assumed.items():
            left = self.state.variables[name][0]
            before = this.at_end.get(name)
            this.at_end[name] = left if before is None else before.join(left)
            if not value.covers(left):
                this.failed = True


def _direction(name: str, value: ir.AnyExpr) -> str:
    """Whether an assignment looks as if it could only make the variable greater, or less."""
    if not isinstance(value, ir.Binary):
        return ""
    if value.op in _GROWING and name in (_name(value.left), _name(value.right)):
        return "up"
    if value.op in _SHRINKING and _name(value.left) == name:
        return "down"
    return ""


def _name(expr: ir.AnyExpr) -> str | None:
    return expr.name if isinstance(expr, ir.Var) else None


def _assumption(known: Bounded, way: str) -> Bounded:
    whole = Bounded.any(known.dtype)
    if known.interval is None or whole.interval is None:
        return whole
    if way == "up":
        return Bounded(known.dtype, Interval(known.interval.low, whole.interval.high))
    if way == "down":
        low = min(0, known.interval.low) if known.interval.low >= 0 else whole.interval.low
        return Bounded(known.dtype, Interval(low, known.interval.high), known.bounds)
    return whole


def _loop_variable(start: Bounded, stop: Bounded) -> Bounded:
    if start.interval is None or stop.interval is None:
        return Bounded.any(start.dtype)
    low = start.interval.low
    high = max(low, stop.interval.high - 1)
    return Bounded(start.dtype, Interval(low, high), shifted(stop.bounds, -1))
