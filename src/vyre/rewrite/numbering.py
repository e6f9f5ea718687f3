"""Finds expressions that are computed again although their value is at hand.

Two walks in the order of execution. The first keeps a table of what has been computed so far in
the scopes around, and where; the same expression again, with its variables and the memory it reads
unchanged, is a hit. The second walk puts a variable in the place of every hit, and binds it before
the statement that computed the value first, unless a Let holds it already.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.ir.walk import expr_children, map_bodies, map_exprs
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.literal_legality import lawful, lawful_statement
from vyre.rewrite.mod_sets import Changes, Changing, atomic_changes
from vyre.rewrite.names import Names

_LANES = frozenset({ir.Ballot, ir.Shuffle, ir.SubgroupReduce})

Key = tuple[int, int]
"""A statement by position, and an expression in it by its number in the order of the walk."""
Versions = tuple[int, ...]


class Value:
    """A value that is at hand while all that it depends on has these versions."""

    __slots__ = ("expr", "holder", "needs", "same_as", "versions", "wanted")

    def __init__(self, expr: ir.AnyExpr, needs: tuple[str, ...], versions: Versions) -> None:
        self.expr = expr
        self.needs = needs
        self.versions = versions
        self.holder: ir.AnyExpr | None = None
        """The variable or literal that holds it; without one, a Let is made when it is used
        again."""
        self.wanted = False
        """Whether it is used again."""
        self.same_as: Value | None = None
        """Another value that it is, and that is used again: what holds that holds this."""

    def held(self) -> ir.AnyExpr:
        """What holds it, once the place where it is computed has been passed."""
        found = self
        while found.same_as is not None:
            found = found.same_as
        assert found.holder is not None
        return found.holder


class Dependences:
    """Which variables and buffers an expression depends on that can change."""

    def __init__(self, mutable: frozenset[str]) -> None:
        self._mutable = mutable
        self._known: dict[int, tuple[ir.AnyExpr, tuple[str, ...] | None]] = {}

    def of(self, expr: ir.AnyExpr) -> tuple[str, ...] | None:
        """Their names, each once; None when the expression must be evaluated where it stands."""
        if type(expr) is ir.Var:
            return (expr.name,) if expr.name in self._mutable else ()
        if expr.depth == 1:
            return ()
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = (expr, self._find(expr))
        return known[1]

    def _find(self, expr: ir.AnyExpr) -> tuple[str, ...] | None:
        if type(expr) is ir.Atomic or type(expr) in _LANES:
            return None
        names: dict[str, None] = {}
        if type(expr) is ir.Load and expr.buffer in self._mutable:
            names[expr.buffer] = None
        for child in expr_children(expr):
            below = self.of(child)
            if below is None:
                return None
            for name in below:
                names[name] = None
        return tuple(names)


class Numbering:
    """Looks for values that are used again; `wanted` says which expressions are worth it."""

    def __init__(
        self,
        program: ir.Program,
        wanted: Callable[[ir.AnyExpr], bool],
        changing: Changing,
        assigned: frozenset[str],
        forwards: Callable[[ir.Store, int], bool] | None = None,
    ) -> None:
        """`forwards` says which stores make the stored value what a load would give; when it is
        given, only values that were stored are used again.
        """
        self.wanted = wanted
        self.forwards = forwards
        self.changing = changing
        self.assigned = assigned
        writable = [decl for decl in program.buffers if decl.is_writable]
        self.buffers = frozenset(decl.name for decl in writable)
        self.shared = tuple(decl.name for decl in writable if not decl.is_local)
        self.dependences = Dependences(assigned | self.buffers)
        self.hits: dict[Key, Value] = {}
        self.firsts: dict[Key, Value] = {}
        # By hash: equal trees are compared only when all else says that the value is at hand.
        self._table: dict[int, Value] = {}
        self._scopes: list[tuple[int, Value | None]] = []
        self._versions: dict[str, int] = {}
        self._journal: list[tuple[str, int]] = []
        self._clock = 0
        self._position = -1
        self._number = 0
        self._last = 0
        """The number of the operand of the statement that was looked at last."""
        self._disturbed = False
        """Whether an atomic of the present statement has happened already."""
        self._body(program.entry)

    def _body(self, body: ir.Body) -> None:
        mark = len(self._scopes)
        for statement in body:
            self._statement(statement)
        while len(self._scopes) > mark:
            hashed, before = self._scopes.pop()
            if before is None:
                del self._table[hashed]
            else:
                self._table[hashed] = before

    def _statement(self, statement: ir.AnyStmt) -> None:
        self._position += 1
        self._number = 0
        self._disturbed = False
        if type(statement) is ir.While:
            self._change(self.changing.within(statement))
            self._look(statement.cond, register=False)
        elif type(statement) is ir.Let:
            self._let(statement)
        else:
            for child in expr_children(statement):
                self._last = self._number
                self._look(child)
        if type(statement) is ir.If:
            self._if(statement)
        elif type(statement) is ir.Loop or type(statement) is ir.While:
            changes = self.changing.within(statement)
            self._change(changes)
            self._body(statement.body)
            self._change(changes)
        elif statement.body_fields:
            for name in statement.body_fields:
                self._body(getattr(statement, name))
        else:
            self._change(self.changing.within(statement))
            if (
                type(statement) is ir.Store
                and self.forwards is not None
                and self.forwards(statement, self._position)
            ):
                self._stored(statement)

    def _let(self, statement: ir.Let) -> None:
        self._look(statement.value)
        first = self.firsts.get((self._position, 0))
        if first is not None and statement.name not in self.assigned:
            # The Let itself holds the value from here on.
            first.holder = ir.Var(statement.name)
            del self.firsts[self._position, 0]

    def _if(self, statement: ir.If) -> None:
        mark = len(self._journal)
        self._body(statement.then)
        while len(self._journal) > mark:
            name, version = self._journal.pop()
            self._versions[name] = version
        self._body(statement.otherwise)
        self._change(self.changing.within(statement))

    def _look(self, expr: ir.AnyExpr, *, register: bool = True) -> None:
        number = self._number
        self._number += 1
        if expr.depth == 1:
            return
        needs = self.dependences.of(expr)
        if needs is not None and self.wanted(expr):
            found = self._table.get(hash(expr))
            if (
                found is not None
                and found.versions == self._current(found.needs)
                and found.expr == expr
            ):
                found.wanted = True
                self.hits[self._position, number] = found
                return
            moved = self._disturbed and any(name in self.buffers for name in needs)
            if register and not moved and self.forwards is None:
                value = Value(expr, needs, self._current(needs))
                self.firsts[self._position, number] = value
                self._put(value)
        for child in expr_children(expr):
            self._look(child, register=register)
        if type(expr) is ir.Atomic:
            self._disturbed = True
            self._change(atomic_changes(expr))

    def _stored(self, statement: ir.Store) -> None:
        """From here on a load of the same element gives the value that was just stored."""
        needs = self.dependences.of(statement.index)
        value = statement.value
        if needs is None or self.dependences.of(value) is None:
            return
        needs = (*needs, statement.buffer)
        known = Value(ir.Load(statement.buffer, statement.index), needs, ())
        if type(value) is ir.Lit or (type(value) is ir.Var and value.name not in self.assigned):
            known.holder = value
        else:
            key = (self._position, self._last)
            known.same_as = self.hits.get(key)
            if known.same_as is None:
                self.firsts[key] = known
        known.versions = self._current(needs)
        self._put(known)

    def _put(self, value: Value) -> None:
        hashed = hash(value.expr)
        self._scopes.append((hashed, self._table.get(hashed)))
        self._table[hashed] = value

    def _current(self, needs: tuple[str, ...]) -> Versions:
        versions = self._versions
        return tuple([versions.get(name, 0) for name in needs])

    def _change(self, changes: Changes) -> None:
        if changes.variables:
            for name in changes.variables:
                self._bump(name)
        if changes.buffers:
            for name in changes.buffers:
                self._bump(name)
        if changes.memory:
            for name in self.buffers if changes.everything else self.shared:
                self._bump(name)

    def _bump(self, name: str) -> None:
        self._clock += 1
        self._journal.append((name, self._versions.get(name, 0)))
        self._versions[name] = self._clock


class Reuse:
    """The second walk: variables in the place of values that are used again."""

    def __init__(self, program: ir.Program, found: Numbering, like: str) -> None:
        self._found = found
        self._names = Names(program)
        self._buffers = {decl.name: decl for decl in program.buffers}
        self._like = like
        self._position = -1
        self._number = 0
        self._lets: list[ir.AnyStmt] = []

    @property
    def rewrites(self) -> int:
        """How many computations went."""
        return len(self._found.hits)

    def run(self, program: ir.Program) -> ir.Program:
        """The program with values used again."""
        if not self._found.hits:
            return program
        return program.with_rewritten_entry(edited(program.entry, self._statement))

    def _statement(self, statement: ir.AnyStmt) -> Change:
        self._position += 1
        self._number = 0
        self._lets = []
        new: ir.AnyStmt | None = map_exprs(statement, self._expr)
        lets = self._lets
        if new is not statement:
            new = lawful_statement(new, statement, self._buffers)
            if new is None:
                return lets
        if new.body_fields:
            new = map_bodies(new, lambda body: edited(body, self._statement))
        return [*lets, new] if lets else new

    def _expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        key = (self._position, self._number)
        self._number += 1
        hit = self._found.hits.get(key)
        if hit is not None:
            return hit.held()
        new = expr
        if expr.depth > 1:
            new = map_exprs(expr, self._expr)
            if new is not expr:
                new = lawful(new, expr, self._buffers)
        first = self._found.firsts.get(key)
        if first is not None and first.wanted:
            name = self._names.fresh(self._like)
            first.holder = ir.Var(name)
            self._lets.append(ir.Let(name, new))
            return first.holder
        return new
