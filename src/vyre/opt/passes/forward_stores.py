"""Values that were just stored, used without loading them."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import ProgramFacts, Ranges
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.mod_sets import Changing
from vyre.rewrite.numbering import Numbering, Reuse


@vyre_pass(name="forward_stores", phase=PassPhase.MEMORY, invalidates=("facts",))
class ForwardStores(Pass):
    """Uses a value that was just stored in the place of loading it again.
    Legal when the index is the same and proven in bounds (out of bounds the load gives zero), the
    element keeps the value exactly, and nothing in between can have changed the element, the
    variables of the index, or the variable that was stored.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when some buffer is both stored to and loaded from."""
        for refs in ProgramFacts.of(program).refs_by_buffer.values():
            if any(r.use.writes for r in refs) and any(r.use.reads for r in refs):
                return PassAnalysis.RUN
        return PassAnalysis.skip("no buffer is both stored to and loaded from")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Number what is stored, then use it where it would be loaded."""
        facts = ProgramFacts.of(program)
        changing = context.caches.setdefault("changing", Changing())
        assigned = changing.assigned(program.entry)
        read = facts.read_buffers
        exact = {d.name for d in program.buffers if d.element.kind is not ir.TypeKind.PACKED}

        def forwards(store: ir.Store, position: int) -> bool:
            # Ranges are dear: ask them only about stores that a load could profit from.
            if store.buffer not in read or store.buffer not in exact:
                return False
            return Ranges.of(program).is_in_bounds(store, position)

        found = Numbering(program, _is_load, changing, assigned, forwards)
        reuse = Reuse(program, found, "stored")
        return PassResult(reuse.run(program), reuse.rewrites)


def _is_load(expr: ir.AnyExpr) -> bool:
    return type(expr) is ir.Load
