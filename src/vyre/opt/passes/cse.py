"""Values that are computed twice, computed once."""

from __future__ import annotations

from vyre.ir import AnyExpr, Load, Program
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassContext, PassResult, vyre_pass
from vyre.rewrite.duplicate_expressions import Repeats
from vyre.rewrite.mod_sets import Changing
from vyre.rewrite.numbering import Numbering, Reuse


@vyre_pass(name="cse", phase=PassPhase.DATAFLOW, invalidates=("facts",))
class Cse(Pass):
    """Computes an expression once and uses the value again where it would be computed again.
    Legal when the first computation comes before the second on every way there, and neither the
    variables nor the memory that it reads can have changed in between; atomics and subgroup
    operations stay where they are.
    """

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """Number the values, then use them again."""
        changing = context.caches.setdefault("changing", Changing())
        assigned = changing.assigned(program.entry)
        repeated = context.caches.setdefault("repeats", Repeats()).operations(program.entry)
        if not repeated:
            return PassResult(program)

        def is_repeated(expr: AnyExpr) -> bool:
            return type(expr) is not Load and hash(expr) in repeated

        found = Numbering(program, is_repeated, changing, assigned)
        reuse = Reuse(program, found, "cse")
        return PassResult(reuse.run(program), reuse.rewrites)
