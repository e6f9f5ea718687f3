"""Finds the effects of a kernel and bounds the ids of the invocations that reach them.

A forward abstract interpretation of the program, with the abstract values of variables and the
facts about ids at each statement. It errs towards fewer bounds: a bound that is found holds for
every invocation that reaches the effect.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.analysis.default_grid.abstract_values import (
    ALWAYS,
    NEVER,
    Checked,
    Positive,
    Truth,
    Value,
    Values,
)
from vyre.analysis.default_grid.bounds import NOTHING, Bounds, End, Ends, Facts, trusted
from vyre.analysis.default_grid.extents import Length
from vyre.analysis.default_grid.integers import Whole
from vyre.analysis.default_grid.polynomials import Form
from vyre.analysis.default_grid.shared_work import Stride
from vyre.ir.buffer import SHAPE
from vyre.ir.walk import walk_all_exprs, walk_own_exprs, walk_stmts
from vyre.record import dataclass
from vyre.semantics.atomics import is_atomic_load

_GRID_IDS = (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.WORKGROUP_ID, ir.BuiltinKind.NUM_WORKGROUPS)


@dataclass(frozen=True, slots=True)
class Effect:
    """A store or an atomic to a parameter."""

    statement: ir.AnyStmt
    node: ir.Store | ir.AsyncStore | ir.Atomic
    guards: Ends
    """What conditions say of the ids of those that get to it."""
    place: Ends
    """What ids must be below for it to be inside of its array, where guards leave that open."""

    def ends(self, axis: int) -> list[End]:
        """What bounds ids along an axis: guards, or else the end of the array.

        Guards that could hold again for greater ids, because they wrap around, count beside one
        that does not, or if they look like none that are meant to.
        """
        guards, place = self.guards.get(axis, []), self.place.get(axis, [])
        is_exact = [any(end.wraps is None for end in ends) for ends in (guards, place)]
        if is_exact == [False, True]:
            return [*guards, *place]
        return trusted(guards) or trusted(place)

    @property
    def buffer(self) -> str:
        """What it changes."""
        return self.node.destination if isinstance(self.node, ir.AsyncStore) else self.node.buffer


@dataclass(frozen=True, slots=True)
class Asked:
    """What a kernel asks about the grid, and what it has."""

    axes: tuple[int, ...]
    """Those that ids of invocations or workgroups are asked of."""
    for_groups: bool
    """Whether it asks how many workgroups there are."""
    has_atomics: bool

    @staticmethod
    def of(program: ir.Program) -> Asked:
        """Look at all expressions of a kernel."""
        axes: set[int] = set()
        unread: dict[str, set[int]] = {}
        read: set[str] = set()
        for_groups = has_atomics = False
        for statement in walk_stmts(program.entry):
            here: set[int] = set()
            for node in walk_own_exprs(statement):
                if isinstance(node, ir.Builtin):
                    if node.kind in _GRID_IDS:
                        here.add(node.axis)
                        for_groups |= node.kind is ir.BuiltinKind.NUM_WORKGROUPS
                elif isinstance(node, ir.Var):
                    read.add(node.name)
                elif isinstance(node, ir.Atomic):
                    has_atomics = True
            if here and isinstance(statement, ir.Let):
                unread.setdefault(statement.name, set()).update(here)
            else:
                axes |= here
        for name in unread.keys() & read:  # what nothing uses, as in i, j, _ = …, is not asked for
            axes |= unread[name]
        return Asked(tuple(sorted(axes)), for_groups, has_atomics)


Note = Callable[["Search", ir.AnyStmt, Facts], None]
"""What is told of each statement, before it, and of what holds there."""


class Search:
    """Goes through a kernel."""

    def __init__(self, program: ir.Program, asked: Asked, note: Note | None = None) -> None:
        self.found: list[Effect] = []
        self._asked = asked
        self._note = note
        self.names: dict[str, Value] = {}
        self._entry = program.entry
        self._decls = {decl.name: decl for decl in program.buffers}
        self.bounds = Bounds(program.workgroup_size)
        self.values = Values(self._decls, self.bounds)
        self.strides: dict[int, Stride] = {}
        """Loops over all that the grid shares, by identity."""
        self._is_silent = False

    def run(self) -> Search:
        """Go through all of it."""
        self.visit(self._entry, NOTHING)
        return self

    def visit(self, body: ir.Body, facts: Facts) -> Facts | None:
        """Go through statements under facts; what holds after them, None if nothing goes on."""
        for statement in body:
            after = self._statement(statement, facts)
            if after is None:
                return None
            facts = after
        return facts

    def _statement(self, statement: ir.AnyStmt, facts: Facts) -> Facts | None:
        if self._asked.has_atomics:
            self._atomics(statement, facts)
        if self._note is not None and not self._is_silent:
            self._note(self, statement, facts)
        match statement:
            case ir.Let(name, value) | ir.Assign(name, value):
                self.names[name] = self.values.of(value, self.names)
            case ir.Store() | ir.AsyncStore():
                self._effect(statement, statement, facts)
            case ir.Block(inner) | ir.Region(_, _, inner):
                return self.visit(inner, facts)
            case ir.If():
                return self._if(statement, facts)
            case ir.Loop():
                self._loop(statement, facts)
            case ir.While():
                self._while(statement, facts)
            case ir.Return() | ir.Break() | ir.Continue() | ir.Trap():
                return None
            case _:
                pass
        return facts

    # --- branches ---------------------------------------------------------------------------------

    def _if(self, statement: ir.If, facts: Facts) -> Facts | None:
        cond = self.values.truth(statement.cond, self.names)
        before = self.names
        ends: list[Facts | None] = []
        names: list[dict[str, Value]] = []
        arms = ((statement.then, cond.yes, True), (statement.otherwise, cond.no, False))
        for body, known, holds in arms:
            self.names = dict(before)
            self._assume(statement.cond, holds)
            ends.append(None if known is None else self.visit(body, facts | known))
            names.append(self.names)
        if ends[0] is None or ends[1] is None:
            self.names = names[0] if ends[1] is None else names[1]
            return ends[0] if ends[1] is None else ends[1]
        self.names = {name: self._joined(cond, names[0][name], names[1][name]) for name in before}
        more = self.bounds.either(ends[0] - facts, ends[1] - facts)
        return facts if more is None else facts | more

    def _assume(self, cond: ir.AnyExpr, holds: bool) -> None:
        """A variable that was tested is known afterwards."""
        while isinstance(cond, ir.Unary) and cond.op is ir.UnOp.NOT:
            cond, holds = cond.operand, not holds
        if isinstance(cond, ir.Var) and cond.name in self.names:
            self.names[cond.name] = ALWAYS if holds else NEVER

    def _joined(self, cond: Truth, one: Value, other: Value) -> Value:
        if one == other:
            return one
        if isinstance(one, Truth) and isinstance(other, Truth):
            return self.values.chosen(cond, one, other)
        return None

    # --- loops ------------------------------------------------------------------------------------

    def _loop(self, loop: ir.Loop, facts: Facts) -> None:
        start = self.values.of(loop.start, self.names)
        stop = self.values.of(loop.stop, self.names)
        inside = facts | self.values.entered(start, stop)
        counter: Value = None
        if isinstance(start, Whole) and start.exact is not None:
            end = stop.known if isinstance(stop, Whole) else None
            below = None if end is None or start.known is None else end.minus(start.known)
            further = self.values.counter(below).form
            counter = Whole(start.exact.plus(further), is_signed=start.is_signed)
        if isinstance(stop, Positive) and stop.stride is not None and isinstance(counter, Whole):
            self._note_stride(loop, counter.form, stop.stride)
        self._rounds(loop.body, inside, {loop.var: counter})

    def _note_stride(self, loop: ir.Loop, counter: Form, axis: int) -> None:
        """`for i in range(gid, end, all invocations)`: i is own, then that of another round."""
        match loop.body:
            case (ir.Let(name, value), *_):
                shown = self.values.of(value, {**self.names, loop.var: Whole(counter)})
                steps = counter.times(self.values.all_of(axis))
                if isinstance(shown, Whole) and steps is not None:
                    first = Whole(shown.form.minus(steps), shown.at_least, shown.divisor)
                    if self.values.strides_from_own(first, axis):
                        self.strides[id(loop)] = Stride(name, axis)
            case _:
                pass

    def _note_while(self, loop: ir.While) -> None:
        """`while i < end: …; i += all invocations`."""
        match loop:
            case ir.While(
                ir.Binary(ir.BinOp.LT, ir.Var(name), _), (*_, ir.Assign(last, value))
            ) if name == last:
                pass
            case _:
                return
        if sum(isinstance(s, ir.Assign) and s.name == name for s in walk_stmts(loop.body)) > 1:
            return
        if _reads(self._entry, name) > _reads((loop,), name):
            return
        here = self.values.counter()
        then = self.values.of(value, {**self.names, name: here})
        for axis in range(3):
            moved = here.form.plus(self.values.all_of(axis))
            if (
                isinstance(then, Whole)
                and then.exact == moved
                and self.values.strides_from_own(self.names.get(name), axis)
            ):
                self.strides[id(loop)] = Stride(name, axis)

    def _while(self, loop: ir.While, facts: Facts) -> None:
        self._note_while(loop)
        # There is a first round only if the condition held before it.
        first = self.values.truth(loop.cond, self.names)
        if first.yes is not None:
            self._rounds(loop.body, facts | first.yes, {}, loop.cond)

    def _rounds(
        self, body: ir.Body, facts: Facts, counter: dict[str, Value], cond: ir.AnyExpr | None = None
    ) -> None:
        """Go through the body of a loop for all of its rounds at once."""
        passed = self._first_round(body, facts, counter)
        changed = [s.name for s in walk_stmts(body) if isinstance(s, ir.Assign)]
        before = {name: value for name, value in self.names.items() if name not in changed}
        self.names = {**before, **dict.fromkeys(changed), **counter}
        if cond is not None:
            facts |= self.values.truth(cond, self.names).yes or NOTHING
        for position, statement in enumerate(body):
            after = self._statement(statement, facts)
            if after is None:
                break
            facts = after | passed.get(position, NOTHING)
        self.names = {**before, **dict.fromkeys(n for n in changed if n in self.names)}

    def _first_round(
        self, body: ir.Body, facts: Facts, counter: dict[str, Value]
    ) -> dict[int, Facts]:
        """What holds after leading statements that leave the loop, because it did at first.

        Later rounds come only after a first one that was not left there.
        """
        names, silent = self.names, self._is_silent
        self.names, self._is_silent = {**names, **counter}, True
        found: dict[int, Facts] = {}
        for position, statement in enumerate(body):
            if not isinstance(statement, (ir.Let, ir.Assign, ir.If)) or _goes_round(statement):
                break
            after = self._statement(statement, facts)
            if after is None:
                break
            found[position] = facts = after
        self.names, self._is_silent = names, silent
        return found

    # --- effects ----------------------------------------------------------------------------------

    def _atomics(self, statement: ir.AnyStmt, facts: Facts) -> None:
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Atomic) and not is_atomic_load(node):
                self._effect(statement, node, facts)

    def _effect(
        self, statement: ir.AnyStmt, node: ir.Store | ir.AsyncStore | ir.Atomic, facts: Facts
    ) -> None:
        buffer, index = _target(node)
        if self._is_silent or not self._decls[buffer].is_host_output:
            return
        guards = self.bounds.ends(facts)
        is_open = any(
            all(end.wraps is not None for end in guards.get(axis, ())) for axis in self._asked.axes
        )
        inside = self.inside(buffer, index, facts) if is_open else {}
        self.found.append(Effect(statement, node, guards, inside))

    def inside(self, buffer: str, index: ir.AnyExpr, facts: Facts = NOTHING) -> Ends:
        """What ids must be below for an index to be inside of a buffer."""
        place, known = self.values.of(index, self.names), NOTHING
        if isinstance(place, Checked):
            place, known = place.inside, place.facts
        found = {axis: list(ends) for axis, ends in self.bounds.ends(known).items()}
        # An array of several axes is inside of each of them.
        if buffer + SHAPE not in self._decls and isinstance(place, Whole):
            length: Form | None = Form.of(Length(buffer))
            if place.divisor is not None:
                length = length.times(place.divisor)
            forms = [] if length is None else [place.form.minus(length)]
            if place.exact is not None:
                # Before its beginning there is nothing either: y[len(y) - 1 - i].
                forms.append(Form.of(-1).minus(place.exact))
            for form in forms:
                for axis, end in self.bounds.solved(form, facts | known):
                    found.setdefault(axis, []).append(end)
        return found


def _reads(body: ir.Body, name: str) -> int:
    return sum(isinstance(node, ir.Var) and node.name == name for node in walk_all_exprs(body))


def _target(node: ir.Store | ir.AsyncStore | ir.Atomic) -> tuple[str, ir.AnyExpr]:
    if isinstance(node, ir.AsyncStore):
        return node.destination, node.destination_start
    return node.buffer, node.index


def _goes_round(statement: ir.AnyStmt) -> bool:
    return any(
        isinstance(inner, (ir.Continue, ir.Loop, ir.While)) for inner in walk_stmts((statement,))
    )


__all__ = ["Asked", "Effect", "Search"]
