"""Memory that is loaded twice, loaded once."""

from __future__ import annotations

from vyre.analysis import ProgramFacts
from vyre.ir import AnyExpr, Load, Program
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.assigned import Changing
from vyre.rewrite.numbering import Numbering, Reuse


@vyre_pass(name="redundant_loads", phase=PassPhase.MEMORY, invalidates=("facts",))
class RedundantLoads(Pass):
    """Loads an element once and uses the value again where it would be loaded again.
    Legal when nothing in between can have changed the element: no store to or atomic on that
    buffer, no barrier, async copy or ordered atomic, no opaque statement; what is only read never
    changes.
    """

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Run when some buffer is loaded from more than once."""
        facts = ProgramFacts.of(program)
        found = any(sum(r.use.reads for r in refs) > 1 for refs in facts.refs_by_buffer.values())
        return PassAnalysis.RUN if found else PassAnalysis.SKIP

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """Number the loaded values, then use them again."""
        changing = context.caches.setdefault("changing", Changing())
        assigned = frozenset(row.name for row in ProgramFacts.of(program).assigns)
        found = Numbering(program, _is_load, changing, assigned)
        reuse = Reuse(program, found, "loaded")
        return PassResult(reuse.run(program), reuse.rewrites)


def _is_load(expr: AnyExpr) -> bool:
    return type(expr) is Load
