"""Removal of scratch memory that is never read."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import BufferUse, ProgramFacts
from vyre.ir.walk import map_bodies
from vyre.opt.metadata import PassBoundaryClass, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects


@vyre_pass(
    name="dead_buffers",
    phase=PassPhase.MEMORY,
    invalidates=("facts", "buffer_layout"),
    boundary=PassBoundaryClass.INTERNAL_LAYOUT,
)
class DeadBuffers(Pass):
    """Removes scratch, workgroup and local buffers that are only stored to, with their stores.
    Legal when the host never sees the buffer and nothing but plain stores refers to it; atomics in
    the operands of those stores still happen. Programs with opaque statements keep everything.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is such a buffer."""
        if _dead(program):
            return PassAnalysis.RUN
        return PassAnalysis.skip("every buffer of the program's own is read")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Take the stores out, then the declarations."""
        dead = _dead(program)

        def one(statement: ir.AnyStmt) -> Change:
            if type(statement) is ir.Store and statement.buffer in dead:
                operands = (statement.index, statement.value)
                return [ir.Eval(operand) for operand in operands if has_effects(operand)]
            return map_bodies(statement, body) if statement.body_fields else statement

        def body(statements: ir.Body) -> ir.Body:
            return edited(statements, one)

        kept = [decl for decl in program.buffers if decl.name not in dead]
        changed = program.with_rewritten_entry(body(program.entry)).with_rewritten_buffers(kept)
        return PassResult(changed, len(dead))


def _dead(program: ir.Program) -> frozenset[str]:
    own = {d.name for d in program.buffers if d.is_scratch or d.is_on_chip}
    if not own:
        return frozenset()
    facts = ProgramFacts.of(program)
    if facts.opaques:
        return frozenset()
    refs = facts.refs_by_buffer
    return frozenset(
        name for name in own if all(ref.use is BufferUse.WRITE for ref in refs.get(name, ()))
    )
