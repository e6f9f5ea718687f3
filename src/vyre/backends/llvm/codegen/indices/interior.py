"""Indices as they are in the midst of an array, where no edge is near.

An index of several axes is `select(inside, flat, nowhere)`; kernels treat edges by `min`, `max`,
`%` and conditional values. Away from the edges all these are one and the same simple expression
that rises from lane to lane. Here it replaces them, together with what must hold for that: the
lanes for which it holds run this version of the work, and the others the one that was written.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre.backends.llvm.codegen.indices.assume import Assumption, assumption_of, step_of
from vyre.backends.llvm.codegen.indices.guards import Part, conjunction, parts_of
from vyre.backends.llvm.codegen.indices.linear import LinearForms
from vyre.backends.llvm.codegen.indices.reach import LoopRange, Reach
from vyre.backends.llvm.codegen.indices.steps import USUAL_STEPS, guessed_steps
from vyre.backends.llvm.codegen.statements.even import Even, rounds_between
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Binary,
    BinOp,
    Body,
    Cast,
    DataType,
    If,
    Let,
    Lit,
    Load,
    Loop,
    Program,
    Select,
    Store,
    Var,
)
from vyre.ir.walk import expr_children, map_bodies, map_body, map_exprs, walk_expr, walk_stmts
from vyre.record import dataclass

MOST_ASSUMPTIONS = 24
SHORTEST_PERIOD = 64
"""Of a remainder by a literal: with a shorter one, rows would fall into too many pieces."""


@dataclass(frozen=True, slots=True)
class Period:
    """A remainder or a quotient that goes on for some lanes as it begins."""

    name: str
    """What the remainder is less than its number, or the quotient itself."""
    value: AnyExpr
    number: AnyExpr
    divisor: AnyExpr
    step: int


class Interior:
    """Rewrites the indices of a stretch of work."""

    def __init__(
        self,
        program: Program,
        body: Body,
        outer: Mapping[str, AnyExpr],
        leaves: frozenset[str],
        types: Mapping[str, DataType],
        kept: frozenset[str],
        more: int = 0,
        usual: int = 0,
    ) -> None:
        """`more` tells which structures are taken to have a part that nothing touches.

        Those of which rows touch one part each have `usual` parts, if that is not zero.
        """
        self.assumptions: dict[Assumption, None] = {}
        self.periods: dict[AnyExpr, Period] = {}
        self.even: dict[Even, None] = {}
        """Loops that are taken to have as many rounds in all lanes."""
        self.remade: dict[int, int] = {}
        """Accesses that were made anew, by identity, and which ones they stand for."""
        self._simpler: set[str] = set()
        """Variables that are what was written only where all that is assumed holds."""
        self._simpler_conditions: set[AnyExpr] = set()
        self._alive: list[AnyExpr | AnyStmt] = []
        """All of them, as long as their identities count."""
        self.loops: dict[str, LoopRange] = {}
        self._program = program
        self._outer = outer
        self.leaves = leaves
        self.types = dict(types)
        self._private = {decl.name for decl in program.buffers if decl.is_local}
        self._assigned = {s.name for s in walk_stmts(body) if isinstance(s, Assign)}
        self._wanted = _index_names(body, outer) - self._assigned
        self.forms = LinearForms(program, (), outer, leaves, types)
        guesses = guessed_steps(program, body, outer, leaves, types, more, usual)
        largest = guessed_steps(program, body, outer, leaves, types, more, max(USUAL_STEPS))
        self.has_parts_of_rows = len(largest) > len(guesses)
        """Whether rows touch one part each of structures whose size is open."""
        self.steps = {
            distance: number
            for distance, number in guesses.items()
            if self._assume([Part(BinOp.EQ, distance, number)])
        }
        """Distances between lanes that are taken to be numbers."""
        self.body = map_body(body, self._statement)
        if self.body is not body:
            self.body = _without_unread(self.body, kept)

    def _statement(self, statement: AnyStmt) -> AnyStmt:
        if isinstance(statement, Let) and statement.name not in self._assigned:
            wanted = statement.name in self._wanted
            change = self._simplified if wanted else self._with_indices
            made = map_exprs(statement, change)
            if made is not statement or self._reads_simpler(made.value):
                self._simpler.add(made.name)
            self.forms.know(made.name, made.value)
            return made
        made = map_exprs(statement, self._with_indices)
        if isinstance(made, If) and isinstance(statement, If) and made.cond is not statement.cond:
            self._simpler_conditions.add(made.cond)
        if isinstance(made, Loop):
            made = self._evened(made)
            self._learn_loop(made)
        if isinstance(made, Store):
            index = self._index(made.buffer, made.index)
            if index is not made.index:
                made = Store(made.buffer, index, made.value)
        if isinstance(made, Store):
            self._note(statement, made)
        return map_bodies(made, lambda inner: map_body(inner, self._statement))

    def is_as_written(self, cond: AnyExpr) -> bool:
        """Whether a condition means the same near the edges: then it may tell who takes part."""
        return cond not in self._simpler_conditions and not self._reads_simpler(cond)

    def _reads_simpler(self, expr: AnyExpr) -> bool:
        return any(isinstance(n, Var) and n.name in self._simpler for n in walk_expr(expr))

    def _evened(self, loop: Loop) -> Loop:
        """A loop that counts from zero, if that makes lanes go through it together."""
        start, stop = self.forms.expand(loop.start), self.forms.expand(loop.stop)
        if not self.forms.is_u32(start) or self.forms.is_row_constant(start):
            return loop
        if not self.forms.is_pure(start) or not Reach.supports(start, self.forms, self.loops):
            return loop
        rounds = rounds_between(start, stop, self.forms)
        if rounds is None or len(self.even) >= MOST_ASSUMPTIONS:
            return loop
        self.even[Even(start, rounds)] = None
        counter = f"{loop.var}.round"
        while counter in self.types:
            counter += "."
        self.types[counter] = DataType.U32
        self.forms.learn_type(counter, DataType.U32)
        now = Let(loop.var, Binary(BinOp.ADD, loop.start, Var(counter)))
        return Loop(counter, Lit(DataType.U32, 0), rounds, (now, *loop.body))

    def _learn_loop(self, loop: Loop) -> None:
        self.forms.count(loop.var)
        start, stop = self.forms.expand(loop.start), self.forms.expand(loop.stop)
        known = (Reach.supports(end, self.forms, self.loops) for end in (start, stop))
        if all(known) and self.forms.word(start) is not None:
            self.loops[loop.var] = LoopRange(start, stop)

    # Expressions ---------------------------------------------------------------------------------

    def _with_indices(self, expr: AnyExpr) -> AnyExpr:
        """The expression with the indices in it simplified."""
        if expr.depth <= 1:
            return expr
        made = map_exprs(expr, self._with_indices)
        return self._access(expr, made) if isinstance(made, (Load, Atomic)) else made

    def _access(self, old: AnyExpr, made: Load | Atomic) -> AnyExpr:
        index = self._index(made.buffer, made.index)
        if index is not made.index:
            made = (
                Load(made.buffer, index)
                if isinstance(made, Load)
                else Atomic(made.op, made.buffer, index, made.value, made.expected, made.ordering)
            )
        self._note(old, made)
        return made

    def _note(self, old: AnyExpr | AnyStmt, made: AnyExpr | AnyStmt) -> None:
        if made is not old:
            self._alive.append(made)
            self.remade[id(made)] = self.remade.get(id(old), id(old))

    def _index(self, buffer: str, index: AnyExpr) -> AnyExpr:
        if buffer in self._private:
            return index
        made = self._simplified(index)
        written = self.forms.expand(made)
        if self.forms.word(written) is DataType.I32 and not self.forms.is_row_constant(written):
            # A negative index is outside of every buffer, however long that is.
            zero = Lit(DataType.I32, 0)
            if self._assume([Part(BinOp.GE, written, zero)]):
                return Cast(made, DataType.U32)
        return made

    def _simplified(self, expr: AnyExpr) -> AnyExpr:
        """The expression as it is in the midst of the array, if it is an index or part of one."""
        if isinstance(expr, Var):
            return self._name(expr)
        if expr.depth <= 1:
            return expr
        if isinstance(expr, Load) and self.steps:
            step = self.steps.get(self.forms.expand(expr))
            if step is not None:
                return step
        made = map_exprs(expr, self._simplified)
        match made:
            case Load() | Atomic():
                return self._access(expr, made)
            case Select():
                return self._select(made)
            case Binary(BinOp.MIN | BinOp.MAX, _, _):
                return self._bounded(made)
            case Binary(BinOp.REM | BinOp.DIV, _, _):
                return self._divided(made)
            case _:
                return made

    def _name(self, name: Var) -> AnyExpr:
        """What every stretch of work computes again is written out if that makes it simple."""
        step = self.steps.get(name)
        if step is not None:
            return step
        value = self._outer.get(name.name)
        if value is None or value.depth <= 1:
            return name
        made = self._simplified(value)
        return name if made is value else made

    def _select(self, node: Select) -> AnyExpr:
        if_true, if_false = self.forms.expand(node.if_true), self.forms.expand(node.if_false)
        for negated in (False, True):
            chosen, other = (if_false, if_true) if negated else (if_true, if_false)
            if not self._spans(chosen) or not self.forms.is_row_constant(other):
                continue
            cond, is_integer = self.forms.expand(node.cond), self.forms.is_integer
            parts = parts_of(cond, negated=negated, is_integer=is_integer)
            held = [part for part in parts if assumption_of(part, self.forms, self.loops)]
            arm = node.if_false if negated else node.if_true
            if len(held) == len(parts):
                return arm if self._assume(held) else node
            if held and not negated and self._assume(held):
                left = conjunction([part for part in parts if part not in held])
                return Select(left, arm, node.if_false)
        return node

    def _bounded(self, node: Binary) -> AnyExpr:
        op = BinOp.LE if node.op is BinOp.MIN else BinOp.GE
        left, right = self.forms.expand(node.left), self.forms.expand(node.right)
        for chosen, arm, other in ((left, node.left, right), (right, node.right, left)):
            if self._moves(chosen) and self.forms.is_row_constant(other):
                return arm if self._assume([Part(op, chosen, other)]) else node
        return node

    def _divided(self, node: Binary) -> AnyExpr:
        number, divisor = self.forms.expand(node.left), self.forms.expand(node.right)
        step, dtype = self.forms.stride(number), self.forms.word(number)
        if dtype is None or step is None or step < 1 or not self.forms.is_row_constant(divisor):
            return node
        if isinstance(divisor, Lit) and divisor.bits < SHORTEST_PERIOD * step:
            return node
        written = Binary(node.op, number, divisor)
        found = self.periods.get(written)
        if found is None:
            found = self._new_period(written, step, dtype)
        name = Var(found.name)
        return name if node.op is BinOp.DIV else Binary(BinOp.SUB, node.left, name)

    def _new_period(self, written: Binary, step: int, dtype: DataType) -> Period:
        name = f"period.{len(self.periods)}"
        while name in self.types:
            name += "."
        value = written
        if written.op is BinOp.REM:
            value = Binary(BinOp.SUB, written.left, written)
        found = Period(name, value, written.left, written.right, step)
        self.periods[written] = found
        self.types[name] = dtype
        self.leaves |= {name}
        self.forms.share(name, dtype)
        return found

    def repeats(self, expr: AnyExpr) -> bool:
        """Whether a written-out expression has a remainder or a quotient in it that goes on."""
        names = {period.name for period in self.periods.values()}
        return any(isinstance(node, Var) and node.name in names for node in walk_expr(expr))

    def _spans(self, expr: AnyExpr) -> bool:
        """Whether it changes along a row or in loops, and it is known how far."""
        if self.forms.is_row_constant(expr) or self.forms.word(expr) is None:
            return False
        return Reach.supports(expr, self.forms, self.loops)

    def _moves(self, expr: AnyExpr) -> bool:
        """Whether it rises from lane to lane or from round to round, and in no other way."""
        if self.forms.is_row_constant(expr):
            return False
        return step_of(expr, self.forms, self.loops) is not None

    def _assume(self, parts: list[Part]) -> bool:
        found = [assumption_of(part, self.forms, self.loops) for part in parts]
        new = {one for one in found if one is not None} - self.assumptions.keys()
        if None in found or len(self.assumptions) + len(new) > MOST_ASSUMPTIONS:
            return False
        self.assumptions.update(dict.fromkeys(one for one in found if one is not None))
        return True


def _index_names(body: Body, outer: Mapping[str, AnyExpr]) -> set[str]:
    """Variables whose values become part of an index."""
    found: set[str] = set()
    waiting: list[AnyExpr] = []
    values: dict[str, AnyExpr] = dict(outer)
    for statement in walk_stmts(body):
        if isinstance(statement, Let):
            values[statement.name] = statement.value
        if isinstance(statement, Store):
            waiting.append(statement.index)
        for child in expr_children(statement):
            waiting += [n.index for n in walk_expr(child) if isinstance(n, (Load, Atomic))]
    while waiting:
        for node in walk_expr(waiting.pop()):
            if isinstance(node, Var) and node.name not in found:
                found.add(node.name)
                if node.name in values:
                    waiting.append(values[node.name])
    return found


def _without_unread(body: Body, kept: frozenset[str]) -> Body:
    """The body without the variables that nothing reads any more."""
    while True:
        read = {
            node.name
            for statement in walk_stmts(body)
            for child in expr_children(statement)
            for node in walk_expr(child)
            if isinstance(node, Var)
        }
        read |= kept | {s.name for s in walk_stmts(body) if isinstance(s, Assign)}

        def is_read(statement: AnyStmt, read: set[str] = read) -> bool:
            if not isinstance(statement, Let) or statement.name in read:
                return True
            return any(isinstance(node, Atomic) for node in walk_expr(statement.value))

        def cleaned(inner: Body) -> Body:
            left = tuple(map_bodies(s, cleaned) for s in inner if is_read(s))
            same = len(left) == len(inner) and all(a is b for a, b in zip(left, inner, strict=True))
            return inner if same else left

        made = cleaned(body)
        if made is body:
            return body
        body = made


__all__ = ["Interior", "Period"]
