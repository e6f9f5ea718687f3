"""Structured control flow: early returns as conditionals.

    if c { a; return }  b    ->    if c { a } else { b }

Analyses and later passes see the guard of `b`, and lanes need no mask of returned invocations.

It is no pass of the optimizer, because other backends gain nothing: the optimizer's ranges and
divergence hold after a return as they do in an else, the compilers of GPU drivers structure control
flow themselves, and WGSL limits how deep statements may nest.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis.node_kinds import NodeKinds
from vyre.backends.llvm.analysis.parallel_regions import holds_barrier
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.check.statements import MAX_NESTING
from vyre.ir.walk import bodies, rebuilt
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass


@vyre_pass(name="structure_returns", phase=PassPhase.LOWERING, family=CostModelFamily.SCALAR)
class StructureReturns(CpuPass):
    """Moves what follows a conditional return into the other branch.

    Legal when the return ends its branch, the conditional has no else and ends with the kernel, and
    no barrier follows: all invocations of a workgroup must reach it in the same branch. Profitable
    always. Returns elsewhere, as in loops, are left.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip programs without returns."""
        if NodeKinds.of(program).have(ir.Return):
            return PassAnalysis.RUN
        return PassAnalysis.skip("no return")

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with branches in place of returns, unless they would nest too deep."""
        entry = structured(program.entry)
        if entry is program.entry or _nesting(entry) > MAX_NESTING:
            return program
        return program.with_rewritten_entry(entry)


def structured(body: ir.Body) -> ir.Body:
    """Structure the returns of a body whose end is the end of the kernel."""
    for position, statement in enumerate(body):
        rest = body[position + 1 :]
        if any(map(holds_barrier, rest)):
            continue
        before = body[:position]
        match statement:
            case ir.Return():
                return before
            case ir.Block(inner) | ir.Region(_, _, inner) if not rest:
                new = structured(inner)
                return body if new is inner else (*before, rebuilt(statement, {"body": new}))
            case ir.If(_, (*then, ir.Return()), ()):
                other = structured(rest)
                branch = rebuilt(statement, {"then": structured(tuple(then)), "otherwise": other})
                return (*before, branch)
            case _:
                pass
    return body


def _nesting(body: ir.Body) -> int:
    """Depth of the deepest body in a body, itself included."""
    return 1 + max((_nesting(b) for s in body for b in bodies(s)), default=0)


__all__ = ["StructureReturns"]
