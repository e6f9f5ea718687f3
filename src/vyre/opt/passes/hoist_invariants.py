"""Work that every round of a loop repeats, done once before it."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import expr_children, map_bodies, map_exprs, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.mod_sets import Changing
from vyre.rewrite.names import Names, rename_body
from vyre.rewrite.substitute import renamed

_STAYS = frozenset({ir.Atomic, ir.Ballot, ir.Shuffle, ir.SubgroupReduce})


@vyre_pass(
    name="hoist_invariants",
    phase=PassPhase.LOOP,
    family=CostModelFamily.LOOP,
    invalidates=("facts",),
)
class HoistInvariants(Pass):
    """Computes before a loop what has the same value in every round, loads included.
    Legal when the loop neither binds nor assigns any of its variables and cannot change the memory
    it loads; atomics and subgroup operations stay. Work under a condition is not brought out, and
    what moves gets a name that collides with none.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a loop."""
        found = any(type(s) is ir.Loop or type(s) is ir.While for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no loop")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Outer loops first, so that everything goes as far out as it can."""
        hoist = _Hoist(program, context.caches.setdefault("changing", Changing()))
        entry = hoist.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), hoist.rewrites)


class _Hoist:
    def __init__(self, program: ir.Program, changing: Changing) -> None:
        self.names = Names(program)
        self.changing = changing
        self.assigned = changing.assigned(program.entry)
        self.writable = frozenset(d.name for d in program.buffers if d.is_writable)
        self.shared = frozenset(d.name for d in program.buffers if d.is_writable and not d.is_local)
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        if type(statement) is not ir.Loop and type(statement) is not ir.While:
            return map_bodies(statement, self.body) if statement.body_fields else statement
        loop = _LoopWork(self, statement)
        new = loop.run(statement)
        self.rewrites += len(loop.lets)
        new = map_bodies(new, self.body)
        return [*loop.lets, new] if loop.lets else new


class _LoopWork:
    """What one loop repeats."""

    def __init__(self, hoist: _Hoist, loop: ir.Loop | ir.While) -> None:
        changes = hoist.changing.within(loop)
        self.hoist = hoist
        self.varying = set(changes.variables)
        """Names that mean different values in different rounds."""
        for inner in walk_stmts((loop,)):
            if type(inner) is ir.Let:
                self.varying.add(inner.name)
            elif type(inner) is ir.Loop:
                self.varying.add(inner.var)
        self.memory = changes.buffers
        if changes.memory:
            self.memory |= hoist.writable if changes.everything else hoist.shared
        self.lets: list[ir.Let] = []
        self.moved: dict[ir.AnyExpr, ir.Var] = {}
        self.same: dict[int, tuple[ir.AnyExpr, bool]] = {}
        self.renamed: dict[str, str] = {}
        """Variables of the scopes around that were moved under another name."""

    def run(self, loop: ir.Loop | ir.While) -> ir.Loop | ir.While:
        new = map_exprs(loop, self.expr) if type(loop) is ir.While else loop
        return map_bodies(new, self.body)

    def body(self, body: ir.Body) -> ir.Body:
        outer = dict(self.renamed)
        new = edited(body, self.statement)
        if self.renamed != outer:
            self.renamed = outer
            self.same.clear()
        return new

    def statement(self, statement: ir.AnyStmt) -> Change:
        if (
            type(statement) is ir.Let
            and statement.name not in self.hoist.assigned
            and self.is_same(statement.value)
        ):
            self._move(statement)
            return None
        new = map_exprs(statement, self.expr)
        if type(new) is ir.If:
            # What stands in the arms of an if may not be worth doing always.
            return map_bodies(new, self._left_alone) if self.renamed else new
        return map_bodies(new, self.body) if new.body_fields else new

    def _left_alone(self, body: ir.Body) -> ir.Body:
        return rename_body(body, self.renamed)

    def _move(self, let: ir.Let) -> None:
        names = self.hoist.names
        value = renamed(let.value, self.renamed) if self.renamed else let.value
        name = let.name
        if names.bindings[name] > 1:
            # Other scopes use the name too, and this one is about to be seen from more of them.
            self.renamed[name] = names.fresh(name)
            names.bindings[name] -= 1
            name = self.renamed[name]
        else:
            self.varying.discard(name)
        # What was found while the name counted as varying is void.
        self.same.clear()
        self.lets.append(ir.Let(name, value))

    def expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        if type(expr) is ir.Var:
            new = self.renamed.get(expr.name)
            return expr if new is None else ir.Var(new)
        if expr.depth == 1:
            return expr
        if not self.is_same(expr):
            return map_exprs(expr, self.expr)
        value = renamed(expr, self.renamed) if self.renamed else expr
        known = self.moved.get(value)
        if known is None:
            name = self.hoist.names.fresh("invariant")
            known = self.moved[value] = ir.Var(name)
            self.lets.append(ir.Let(name, value))
        return known

    def is_same(self, expr: ir.AnyExpr) -> bool:
        """Whether the value is the same in every round."""
        if type(expr) is ir.Var:
            return expr.name not in self.varying or expr.name in self.renamed
        if expr.depth == 1:
            return True
        known = self.same.get(id(expr))
        if known is None:
            stays = type(expr) in _STAYS or (type(expr) is ir.Load and expr.buffer in self.memory)
            found = not stays and all(map(self.is_same, expr_children(expr)))
            known = self.same[id(expr)] = (expr, found)
        return known[1]
