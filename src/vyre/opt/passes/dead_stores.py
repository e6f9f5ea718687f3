"""Stores that are overwritten before anything can read them."""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.analysis import Effects, reads_memory, statement_effects
from vyre.ir.walk import map_bodies, walk_expr, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.effects import has_effects
from vyre.rewrite.mod_sets import Changing

_Element = tuple[str, ir.AnyExpr]
"""A buffer and an index."""


@vyre_pass(name="dead_stores", phase=PassPhase.MEMORY, invalidates=("facts",))
class DeadStores(Pass):
    """Removes stores whose element is stored again in the same body before it can be read, and
    stores that put an element back where it came from.
    Legal when between the two stores nothing reads the buffer, the second store's own operands
    included, nothing synchronises or leaves, and the variables of the index keep their values.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a store."""
        found = any(type(s) is ir.Store for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no store")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Go through every body backwards."""
        sweep = _Sweep(program, context.caches.setdefault("changing", Changing()))
        entry = sweep.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), sweep.rewrites)


class _Overwritten:
    """Elements that are stored again before a read; statements that may read remove them."""

    def __init__(self) -> None:
        self._indices: dict[str, set[ir.AnyExpr]] = {}
        """The indices of a buffer."""
        self._users: dict[str, list[_Element]] = {}
        """Elements whose index uses a variable; some of them are forgotten already."""

    def __contains__(self, element: _Element) -> bool:
        indices = self._indices.get(element[0])
        return indices is not None and element[1] in indices

    def __bool__(self) -> bool:
        return bool(self._indices)

    def add(self, element: _Element) -> None:
        """An element is stored."""
        self._indices.setdefault(element[0], set()).add(element[1])
        for node in walk_expr(element[1]):
            if type(node) is ir.Var:
                self._users.setdefault(node.name, []).append(element)

    def forget_all(self) -> None:
        """Any buffer may be read."""
        self._indices.clear()
        self._users.clear()

    def forget_buffers(self, names: Iterable[str]) -> None:
        """These buffers are read."""
        for name in names:
            self._indices.pop(name, None)

    def forget_names(self, names: Iterable[str]) -> None:
        """Before here these variables held other values, and indices meant other elements."""
        for name in names:
            for buffer, index in self._users.pop(name, ()):
                if buffer in self._indices:
                    self._indices[buffer].discard(index)

    def pass_over(self, effects: Effects) -> None:
        """What a statement does in between."""
        waits = effects.synchronises or effects.grid_synchronises or effects.atomics
        if waits or effects.leaves or effects.opaque or effects.loops:
            self.forget_all()
            return
        self.forget_buffers(effects.reads)


class _Sweep:
    def __init__(self, program: ir.Program, changing: Changing) -> None:
        self.changing = changing
        self.exact = frozenset(
            decl.name
            for decl in program.buffers
            if decl.element.kind is not ir.TypeKind.PACKED and decl.element is not ir.DataType.BOOL
        )
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        overwritten = _Overwritten()
        out: list[ir.AnyStmt] = []
        changed = False
        for statement in reversed(body):
            new: ir.AnyStmt | None = statement
            if type(statement) is ir.Store:
                new = self._store(statement, overwritten)
            elif statement.body_fields:
                new = map_bodies(statement, self.body)
                if overwritten:
                    overwritten.pass_over(statement_effects(statement))
                    overwritten.forget_names(self.changing.within(statement).variables)
            elif overwritten:
                overwritten.pass_over(statement_effects(statement))
                if type(statement) is ir.Let or type(statement) is ir.Assign:
                    overwritten.forget_names((statement.name,))
            changed = changed or new is not statement
            if new is not None:
                out.append(new)
        return tuple(reversed(out)) if changed else body

    def _store(self, store: ir.Store, overwritten: _Overwritten) -> ir.AnyStmt | None:
        element = (store.buffer, store.index)
        useless = element in overwritten or self._puts_back(store)
        if useless and not has_effects(store.index):
            self.rewrites += 1
            if not has_effects(store.value):
                return None
            overwritten.pass_over(statement_effects(ir.Eval(store.value)))
            return ir.Eval(store.value)
        operands = statement_effects(store)
        # What this store reads, an earlier one may have put there.
        overwritten.forget_buffers(operands.reads)
        if operands.atomics:
            overwritten.forget_all()
        if store.buffer not in operands.reads and not reads_memory(store.index):
            overwritten.add(element)
        return store

    def _puts_back(self, store: ir.Store) -> bool:
        same = type(store.value) is ir.Load and store.value.buffer == store.buffer
        return same and store.buffer in self.exact and store.value == ir.Load(*_element(store))


def _element(store: ir.Store) -> _Element:
    return store.buffer, store.index
