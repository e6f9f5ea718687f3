"""Workgroup-uniform variables, and loops around the lane loop.

A variable is workgroup-uniform if its value is the same for all lanes and it is bound and assigned
outside of parallel regions only. The two conditions depend on each other: the body is split into
regions, uniform variables assigned inside a region become varying, and the split is repeated until
nothing changes. Errs towards varying.
"""

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
    regions_in,
)
from vyre.backends.llvm.emit.context import Kernel
from vyre.ir.walk import (
    assigned_names,
    declared_names,
    read_names,
    walk_expr,
    walk_stmts,
    without_blocks,
)
from vyre.rewrite.conditions import conjuncts_of

AXES = (0, 1, 2)


class WorkgroupUniform:
    """Parallel regions of a kernel, and its workgroup-uniform variables."""

    def __init__(self, kernel: Kernel, body: ir.Body) -> None:
        self._kernel = kernel
        self._pure = recomputable(kernel.program)
        self._order = {name: position for position, name in enumerate(self._pure)}
        self._changing = {d.name for d in kernel.program.buffers if d.is_writable}
        varying: frozenset[str] = frozenset()
        while True:
            self._shapes = Divergence(kernel.program, body, AXES, varying, over_time=True)
            self.work = Cutter(self._is_shared, self._runs_outside, kernel.version_flags).cut(body)
            assigned = self._assigned_in_regions()
            if assigned <= varying:
                break
            varying |= assigned
        self.names = self._shared_names(self.work)

    @property
    def assigned(self) -> frozenset[str]:
        """Variables that are assigned anywhere."""
        return self._shapes.assigned

    def _is_shared(self, statement: ir.Let | ir.Assign) -> bool:
        if statement.name in self._shapes.varying:
            return False
        agreed = self._shapes.agreed_on(statement)
        return all(self._is_invariant(node, agreed) for node in walk_expr(statement.value))

    def _is_invariant(self, node: ir.AnyExpr, agreed: frozenset[str]) -> bool:
        if isinstance(node, ir.Load):
            return node.buffer not in self._changing or node.buffer in agreed
        return not isinstance(node, (ir.Atomic, ir.Ballot, ir.Shuffle, ir.SubgroupReduce))

    def _assigned_in_regions(self) -> frozenset[str]:
        """Uniform variables that are assigned inside a parallel region.

        Or bound in one, and assigned at workgroup level.
        """
        assigned: set[str] = set()
        shared = self._shared_names(self.work)
        for region in regions_in(self.work):
            own = declared_names(region.body)
            assigned |= own & shared
            for statement in walk_stmts(region.body):
                if isinstance(statement, ir.Assign) and statement.name not in own:
                    assigned.add(statement.name)
        return frozenset(assigned - self._shapes.varying)

    def _shared_names(self, work: tuple[Piece, ...]) -> frozenset[str]:
        names: set[str] = set()
        for piece in work:
            if isinstance(piece, Once):
                names.update(s.name for s in piece.body)
            elif not isinstance(piece, ParallelRegion):
                if isinstance(piece.statement, ir.Loop):
                    names.add(piece.statement.var)
                for inner in piece.inner:
                    names |= self._shared_names(inner)
        return frozenset(names)

    def _runs_outside(self, loop: ir.Loop) -> bool:
        """True if a guard compares lanes with the loop's counter.

        Or if an earlier pass has chosen the loop for interchange with the lane loop.
        """
        if loop.var in self._kernel.outside:
            return True
        if self._shapes.is_varying(loop.start) or self._shapes.is_varying(loop.stop):
            return False
        guards = [s.cond for s in without_blocks(loop.body) if isinstance(s, ir.If)]
        if not guards or not _stays(loop.body):
            return False
        shared = frozenset(self._kernel.types) - self._shapes.varying | {loop.var}
        leaves = shared - assigned_names(loop.body)
        kernel = self._kernel
        outer = self._slice(loop.body)
        forms = LinearForms(kernel.program, loop.body, outer, leaves, kernel.types)
        return any(_guards_iteration(cond, forms, loop.var) for cond in guards)

    def _slice(self, body: ir.Body) -> dict[str, ir.AnyExpr]:
        """Pure values in the slice of a body, in binding order."""
        known: dict[str, ir.AnyExpr] = {}
        worklist = list(read_names(body))
        while worklist:
            name = worklist.pop()
            value = self._pure.get(name)
            if value is not None and name not in known:
                known[name] = value
                worklist += [n.name for n in walk_expr(value) if isinstance(n, ir.Var)]
        return {name: known[name] for name in sorted(known, key=self._order.__getitem__)}


def _guards_iteration(cond: ir.AnyExpr, forms: LinearForms, var: str) -> bool:
    for part in conjuncts_of(forms.expand(cond), negated=False, is_integer=forms.is_integer):
        if part.op is None:
            continue
        left, right = part.left, part.right
        for linear, uniform in ((left, right), (right, left)):
            if forms.stride(linear) == 1 and forms.is_row_constant(uniform):
                sides = (*walk_expr(left), *walk_expr(right))
                return any(isinstance(n, ir.Var) and n.name == var for n in sides)
    return False


def _stays(body: ir.Body, depth: int = 0) -> bool:
    """True if a body never leaves or continues its loop."""
    for statement in body:
        if isinstance(statement, ir.Return):
            return False
        if isinstance(statement, (ir.Break, ir.Continue)) and not depth:
            return False
        deeper = depth + isinstance(statement, (ir.Loop, ir.While))
        if not all(_stays(getattr(statement, name), deeper) for name in statement.body_fields):
            return False
    return True
