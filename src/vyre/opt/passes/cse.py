"""Values that are computed twice, computed once."""

from __future__ import annotations

from vyre.analysis import ProgramFacts
from vyre.ir import AnyExpr, Load, Program
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassContext, PassResult, vyre_pass
from vyre.rewrite.assigned import Changing
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
        assigned = frozenset(row.name for row in ProgramFacts.of(program).assigns)
        found = Numbering(program, _is_operation, changing, assigned)
        reuse = Reuse(program, found, "cse")
        return PassResult(reuse.run(program), reuse.rewrites)


def _is_operation(expr: AnyExpr) -> bool:
    return type(expr) is not Load
