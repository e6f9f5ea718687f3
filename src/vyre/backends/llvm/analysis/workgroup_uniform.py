"""What a whole workgroup shares: variables with one value, and loops around its lanes."""

from __future__ import annotations

from vyre import ir
from vyre.analysis.rematerialisation import recomputable
from vyre.backends.llvm.analysis.affine_forms import LinearForms
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.analysis.parallel_regions import (
    Cutter,
    Once,
    ParallelRegion,
    Piece,
    stretches,
)
from vyre.backends.llvm.analysis.read_names import reads_of_body
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.rewrites.structure_returns import conjuncts_of
from vyre.ir.walk import walk_expr, walk_stmts, without_blocks

AXES = (0, 1, 2)


class WorkgroupUniform:
    """Cuts a kernel's work, and knows which variables its workgroup shares."""

    def __init__(self, kernel: Kernel, body: ir.Body) -> None:
        self._kernel = kernel
        self._pure = recomputable(kernel.program)
        self._order = {name: position for position, name in enumerate(self._pure)}
        self._changing = {d.name for d in kernel.program.buffers if d.is_writable}
        stuck: frozenset[str] = frozenset()
        while True:
            self._shapes = Divergence(kernel.program, body, AXES, stuck, over_time=True)
            self.work = Cutter(self._is_shared, self._runs_outside).cut(body)
            found = self._stuck()
            if found <= stuck:
                break
            stuck |= found
        self.names = self._shared_names(self.work)

    @property
    def assigned(self) -> frozenset[str]:
        """Variables that change somewhere."""
        return self._shapes.assigned

    def _is_shared(self, statement: ir.Let | ir.Assign) -> bool:
        if statement.name in self._shapes.varying:
            return False
        return all(self._is_still(node) for node in walk_expr(statement.value))

    def _is_still(self, node: ir.AnyExpr) -> bool:
        if isinstance(node, ir.Load):
            return node.buffer not in self._changing
        return not isinstance(node, (ir.Atomic, ir.Ballot, ir.Shuffle, ir.SubgroupReduce))

    def _stuck(self) -> frozenset[str]:
        """Variables that are the same for all lanes, but change in the midst of a lane's work.

        Or begin there, while the workgroup changes them.
        """
        found: set[str] = set()
        together = self._shared_names(self.work)
        for stretch in stretches(self.work):
            own = {s.name for s in walk_stmts(stretch.body) if isinstance(s, ir.Let)}
            found |= own & together
            for statement in walk_stmts(stretch.body):
                if isinstance(statement, ir.Assign) and statement.name not in own:
                    found.add(statement.name)
        return frozenset(found - self._shapes.varying)

    def _shared_names(self, work: tuple[Piece, ...]) -> frozenset[str]:
        found: set[str] = set()
        for piece in work:
            if isinstance(piece, Once):
                found.update(s.name for s in piece.body)
            elif not isinstance(piece, ParallelRegion):
                if isinstance(piece.statement, ir.Loop):
                    found.add(piece.statement.var)
                for inner in piece.inner:
                    found |= self._shared_names(inner)
        return frozenset(found)

    def _runs_outside(self, loop: ir.Loop) -> bool:
        """Whether a guard in a loop depends on the round, so that each round has its own lanes.

        Or it has been found out before that the loop is better there.
        """
        if loop.var in self._kernel.outside:
            return True
        if self._shapes.is_varying(loop.start) or self._shapes.is_varying(loop.stop):
            return False
        guards = [s.cond for s in without_blocks(loop.body) if isinstance(s, ir.If)]
        if not guards or not _stays(loop.body):
            return False
        shared = frozenset(self._kernel.types) - self._shapes.varying | {loop.var}
        leaves = shared - {s.name for s in walk_stmts(loop.body) if isinstance(s, ir.Assign)}
        kernel = self._kernel
        outer = self._behind(loop.body)
        forms = LinearForms(kernel.program, loop.body, outer, leaves, kernel.types)
        return any(_guards_round(cond, forms, loop.var) for cond in guards)

    def _behind(self, body: ir.Body) -> dict[str, ir.AnyExpr]:
        """The pure values that a body depends on, in the order in which they are bound."""
        known: dict[str, ir.AnyExpr] = {}
        waiting = list(reads_of_body(body))
        while waiting:
            name = waiting.pop()
            value = self._pure.get(name)
            if value is not None and name not in known:
                known[name] = value
                waiting += [n.name for n in walk_expr(value) if isinstance(n, ir.Var)]
        return {name: known[name] for name in sorted(known, key=self._order.__getitem__)}


def _guards_round(cond: ir.AnyExpr, forms: LinearForms, var: str) -> bool:
    for part in conjuncts_of(forms.expand(cond), negated=False, is_integer=forms.is_integer):
        if part.op is None:
            continue
        left, right = part.left, part.right
        for one, other in ((left, right), (right, left)):
            if forms.stride(one) == 1 and forms.is_row_constant(other):
                sides = (*walk_expr(left), *walk_expr(right))
                return any(isinstance(n, ir.Var) and n.name == var for n in sides)
    return False


def _stays(body: ir.Body, depth: int = 0) -> bool:
    """Whether statements never leave the loop that they are the body of."""
    for statement in body:
        if isinstance(statement, ir.Return):
            return False
        if isinstance(statement, (ir.Break, ir.Continue)) and not depth:
            return False
        deeper = depth + isinstance(statement, (ir.Loop, ir.While))
        if not all(_stays(getattr(statement, name), deeper) for name in statement.body_fields):
            return False
    return True
