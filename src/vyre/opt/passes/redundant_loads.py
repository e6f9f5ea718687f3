"""Memory that is loaded twice, loaded once."""

from __future__ import annotations

from vyre.ir import AnyExpr, Load, Program
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassContext, PassResult, vyre_pass
from vyre.rewrite.duplicate_expressions import Repeats
from vyre.rewrite.mod_sets import Changing
from vyre.rewrite.numbering import Numbering, Reuse


@vyre_pass(name="redundant_loads", phase=PassPhase.MEMORY, invalidates=("facts",))
class RedundantLoads(Pass):
    """Loads an element once and uses the value again where it would be loaded again.
    Legal when nothing in between can have changed the element: no store to or atomic on that
    buffer, no barrier, async copy or ordered atomic, no opaque statement; what is only read never
    changes.
    """

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """Number the loaded values, then use them again."""
        changing = context.caches.setdefault("changing", Changing())
        assigned = changing.assigned(program.entry)
        repeated = context.caches.setdefault("repeats", Repeats()).loads(program.entry)
        if not repeated:
            return PassResult(program)

        def is_repeated(expr: AnyExpr) -> bool:
            return type(expr) is Load and hash(expr) in repeated

        found = Numbering(program, is_repeated, changing, assigned)
        reuse = Reuse(program, found, "loaded")
        return PassResult(reuse.run(program), reuse.rewrites)
