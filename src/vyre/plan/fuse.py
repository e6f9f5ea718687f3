"""Several programs as one: the arms of a megakernel, kept apart where they must be.

Each program becomes a region. Buffers are shared by name; workgroup memory, scratch and private
arrays stay an arm's own. Between arms stands what their hazards demand, and what a program finds
zeroed when it begins is zero where its arm begins. The fused program gives, on one grid, what the
programs give one after the other on that grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from vyre import ir
from vyre.check import check
from vyre.diagnostics import PlanError, Severity
from vyre.diagnostics.codes import plan as codes
from vyre.ir import Program
from vyre.ir.walk import walk_stmts
from vyre.plan.arms import Arm, FreshNames, apart, named
from vyre.plan.buffers import joined_buffers
from vyre.plan.clearing import with_clearing, zeroed_workgroup_memory
from vyre.plan.epochs import syncs
from vyre.plan.hazards import Hazard, Separation, hazards
from vyre.plan.returns import has_return, returns_before, without_returns
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """What was put before an arm, and why."""

    arm: str
    separation: Separation
    hazards: tuple[Hazard, ...]
    harmless: tuple[Hazard, ...] = ()
    """Buffers in common where every invocation was proven to stay with its own element."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """One program made of several."""

    program: Program
    arms: tuple[str, ...]
    """The generators of the regions, in order."""
    decisions: tuple[Decision, ...]

    def explain(self) -> str:
        """What stands before each arm, and the buffers that demand it."""
        lines: list[str] = []
        for decision in self.decisions:
            name = decision.separation.name.lower().replace("_", " ")
            why = ", ".join(f"{h.buffer} ({h.kind})" for h in decision.hazards)
            lines.append(
                f"{decision.arm}: {name if why else 'nothing'} before it"
                + (f" because of {why}" if why else "")
            )
            lines += [
                f"  {h.buffer} ({h.kind}) is harmless: each invocation keeps to its own element"
                for h in decision.harmless
            ]
        return "\n".join(lines)


def fuse(
    programs: Sequence[Program],
    names: Sequence[str] | None = None,
    scratch: Sequence[str] = (),
    *,
    flat_grid: bool = False,
    entry_op_id: str | None = None,
) -> Fusion:
    """Join programs into one; a `PlanError` says why that cannot be.

    `names` are the generators of the arms' regions. `scratch` names buffers that pass data from arm
    to arm and that the host does not want: they become device memory of the dispatch. With
    `flat_grid` the caller promises grids of one row, where less than a grid barrier may do.
    """
    _refuse_others(programs)
    if not programs:
        raise PlanError(codes.NOTHING.at())
    given = named(programs, names)
    _refuse_mismatches(given)
    fresh = FreshNames(programs)
    arms = apart(given, fresh)
    buffers = joined_buffers(arms, scratch)
    arms = with_clearing(arms, buffers, fresh)
    known = {decl.name for decl in buffers}
    buffers += [d for arm in arms for d in arm.program.buffers if d.name not in known]
    body: list[ir.AnyStmt] = []
    decisions: list[Decision] = []
    for position, arm in enumerate(arms):
        decision = _decide(arms, position, decisions, flat_grid)
        decisions.append(decision)
        body += _BETWEEN[decision.separation]
        region, more = _region(arm, fresh, synced=_syncs(body), last=arm is arms[-1])
        body.append(region)
        buffers += more
    first = programs[0]
    fused = Program.wrapped(buffers, first.workgroup_size, body, entry_op_id, first.fast_math)
    _refuse_invalid(fused, given)
    return Fusion(fused, tuple(arm.name for arm in arms), tuple(decisions))


_BETWEEN: dict[Separation, tuple[ir.AnyStmt, ...]] = {
    Separation.NONE: (),
    Separation.BARRIER: (ir.Node.barrier(),),
    Separation.GRID_SYNC: (ir.Node.barrier(ir.MemoryOrdering.GRID_SYNC),),
}


def _region(
    arm: Arm, fresh: FreshNames, *, synced: bool, last: bool
) -> tuple[ir.Region, list[ir.BufferDecl]]:
    """An arm as a region, and the buffers that it needs besides its program's."""
    body, more = arm.program.entry, list[ir.BufferDecl]()
    if not last and has_return(body):
        body = without_returns(body, fresh.like(f"{arm.name}.over"))
    if synced:
        more, zeros = zeroed_workgroup_memory(arm, fresh)
        body = (*zeros, *body)
    return ir.Region(arm.name, None, body), more


def _syncs(body: Sequence[ir.AnyStmt]) -> bool:
    """Whether a barrier over the grid is among statements."""
    return any(syncs(statement) for statement in walk_stmts(tuple(body)))


def _refuse_others(programs: object) -> None:
    """Refuse what is no list of programs: kernels, names, sets without an order."""
    if not isinstance(programs, (list, tuple)):
        what = f"the arms are given as a {type(programs).__name__}"
        raise PlanError(codes.NO_PROGRAM.at(what=what))
    for number, arm in enumerate(cast("Sequence[object]", programs)):
        if not isinstance(arm, Program):
            what = f"arm {number} is a {type(arm).__name__}"
            raise PlanError(codes.NO_PROGRAM.at(what=what))


def _refuse_mismatches(arms: Sequence[Arm]) -> None:
    one = arms[0]
    for arm in arms:
        program = arm.program
        if program.workgroup_size != one.program.workgroup_size:
            first, second = one.program.workgroup_size, program.workgroup_size
            raise PlanError(
                codes.WORKGROUP_SIZES.at(one=one.name, first=first, two=arm.name, second=second)
            )
        if program.fast_math != one.program.fast_math:
            fast, exact = (arm, one) if program.fast_math else (one, arm)
            raise PlanError(codes.FAST_MATH_DIFFERS.at(fast=fast.name, exact=exact.name))
        if any(isinstance(s, ir.IndirectDispatch) for s in walk_stmts(program.entry)):
            raise PlanError(codes.INDIRECT_ARM.at(arm=arm.name))
        if arm is not arms[-1] and returns_before(program.entry, syncs):
            raise PlanError(codes.RETURN_ACROSS_SYNC.at(arm=arm.name))


def _refuse_invalid(fused: Program, arms: Sequence[Arm]) -> None:
    """What the checker has against the fused program; it may be some arm's own fault."""
    found = [each for each in check(fused, derived=True) if each.severity is Severity.ERROR]
    if not found:
        return
    for arm in arms:
        own = [each for each in check(arm.program) if each.severity is Severity.ERROR]
        if own:
            problem = f"{own[0].code}: {own[0].message}"
            raise PlanError(codes.INVALID_ARM.at(own[0].location, arm=arm.name, problem=problem))
    names = ", ".join(repr(arm.name) for arm in arms)
    problem = f"{found[0].code}: {found[0].message}"
    raise PlanError(codes.INVALID_TOGETHER.at(found[0].location, arms=names, problem=problem))


def _decide(
    arms: Sequence[Arm], position: int, earlier: Sequence[Decision], flat_grid: bool
) -> Decision:
    """What must stand before an arm, looking at every earlier arm that is not yet kept apart."""
    needed = Separation.NONE
    found: list[Hazard] = []
    harmless: list[Hazard] = []
    strongest = Separation.NONE
    arm = arms[position]
    for other in range(position - 1, -1, -1):
        for hazard in hazards(arms[other].program, arm.program, flat_grid=flat_grid):
            if hazard.separation > strongest:
                needed = max(needed, hazard.separation)
                found.append(hazard)
            elif hazard.separation is Separation.NONE:
                harmless.append(hazard)
        # Going back past a separation, whatever it keeps apart is settled.
        strongest = max(strongest, earlier[other].separation)
        if strongest is Separation.GRID_SYNC:
            break
    return Decision(arm.name, needed, tuple(found), tuple(harmless))
