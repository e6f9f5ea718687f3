"""Stores that are overwritten before anybody can see them."""

from __future__ import annotations

from vyre.analysis import Effects, reads_memory, statement_effects
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Body,
    DataType,
    Eval,
    Let,
    Load,
    Program,
    Store,
    TypeKind,
    Var,
)
from vyre.ir.walk import map_bodies, walk_expr, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.assigned import Changing
from vyre.rewrite.effects import has_effects

_Element = tuple[str, AnyExpr]
"""A buffer and an index."""


@vyre_pass(name="dead_stores", phase=PassPhase.MEMORY, invalidates=("facts",))
class DeadStores(Pass):
    """Removes stores whose element is stored again in the same body before anybody can see it, and
    stores that put an element back where it came from.
    Legal when between the two stores nothing reads the buffer, the second store's own operands
    included, nothing synchronises or leaves, and the variables of the index keep their values.
    """

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Run when there is a store."""
        found = any(type(s) is Store for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no store")

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """Go through every body backwards."""
        sweep = _Sweep(program, context.caches.setdefault("changing", Changing()))
        entry = sweep.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), sweep.rewrites)


class _Sweep:
    def __init__(self, program: Program, changing: Changing) -> None:
        self.changing = changing
        self.exact = frozenset(
            decl.name
            for decl in program.buffers
            if decl.element.kind is not TypeKind.PACKED and decl.element is not DataType.BOOL
        )
        self.rewrites = 0

    def body(self, body: Body) -> Body:
        overwritten: dict[_Element, None] = {}
        out: list[AnyStmt] = []
        changed = False
        for statement in reversed(body):
            new: AnyStmt | None = statement
            if type(statement) is Store:
                new = self._store(statement, overwritten)
            elif statement.body_fields:
                new = map_bodies(statement, self.body)
                if overwritten:
                    _pass_over(statement_effects(statement), overwritten)
                    _forget_names(self.changing.within(statement).variables, overwritten)
            elif overwritten:
                _pass_over(statement_effects(statement), overwritten)
                if type(statement) is Let or type(statement) is Assign:
                    _forget_names(frozenset((statement.name,)), overwritten)
            changed = changed or new is not statement
            if new is not None:
                out.append(new)
        return tuple(reversed(out)) if changed else body

    def _store(self, store: Store, overwritten: dict[_Element, None]) -> AnyStmt | None:
        element = (store.buffer, store.index)
        useless = element in overwritten or self._puts_back(store)
        if useless and not has_effects(store.index):
            self.rewrites += 1
            if not has_effects(store.value):
                return None
            _pass_over(statement_effects(Eval(store.value)), overwritten)
            return Eval(store.value)
        operands = statement_effects(store)
        # What this store reads, an earlier one may have put there.
        for name in operands.reads:
            _forget_buffer(name, overwritten)
        if operands.atomics:
            overwritten.clear()
        if store.buffer not in operands.reads and not reads_memory(store.index):
            overwritten[element] = None
        return store

    def _puts_back(self, store: Store) -> bool:
        same = type(store.value) is Load and store.value.buffer == store.buffer
        return same and store.buffer in self.exact and store.value == Load(*_element(store))


def _element(store: Store) -> _Element:
    return store.buffer, store.index


def _pass_over(effects: Effects, overwritten: dict[_Element, None]) -> None:
    waits = effects.synchronises or effects.grid_synchronises or effects.atomics
    if waits or effects.leaves or effects.opaque or effects.loops:
        overwritten.clear()
        return
    for name in effects.reads:
        _forget_buffer(name, overwritten)


def _forget_buffer(name: str, overwritten: dict[_Element, None]) -> None:
    for element in [e for e in overwritten if e[0] == name]:
        del overwritten[element]


def _forget_names(names: frozenset[str], overwritten: dict[_Element, None]) -> None:
    if not names:
        return
    for element in list(overwritten):
        if any(type(e) is Var and e.name in names for e in walk_expr(element[1])):
            del overwritten[element]
