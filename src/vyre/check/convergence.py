"""Checks that what a workgroup or the grid does together is reached by all of it together."""

from __future__ import annotations

from vyre import ir
from vyre.analysis.uniformity import Cause, Level, Uniformity
from vyre.check.describe import show
from vyre.check.findings import Findings
from vyre.check.notes import Notes
from vyre.diagnostics.codes import check as codes


def check_convergence(program: ir.Program, notes: Notes, findings: Findings) -> None:
    """Report barriers, subgroup operations, copies and grid syncs that some may miss."""
    if not notes.needs_uniformity:
        return
    uniformity = Uniformity.of(program)
    for position, _ in notes.barriers:
        _barrier(uniformity, findings, position, "barrier")
    for position, _ in notes.waits:
        _barrier(uniformity, findings, position, "async_wait")
    for position, expr in notes.subgroup_ops:
        _subgroup_op(uniformity, findings, position, expr, position in notes.round_conditions)
    for position, statement in notes.copies:
        what = "async_load" if isinstance(statement, ir.AsyncLoad) else "async_store"
        _copy(uniformity, findings, position, what)
    for position in notes.grid_syncs:
        _grid_sync(uniformity, findings, position)


def _barrier(uniformity: Uniformity, findings: Findings, position: int, what: str) -> None:
    cause = uniformity.why_missing(position, Level.WORKGROUP)
    if cause is not None:
        code = codes.BARRIER_AFTER_LEAVING if cause.left else codes.DIVERGENT_BARRIER
        diagnostic = code.at(what=what, reason=_reason(cause))
        findings.add(position, diagnostic, related=cause.position)


def _subgroup_op(
    uniformity: Uniformity, findings: Findings, position: int, expr: ir.AnyExpr, in_round: bool
) -> None:
    if in_round:
        cause = uniformity.why_missing_round(position, Level.WORKGROUP)
    else:
        cause = uniformity.why_missing(position, Level.WORKGROUP)
    if cause is not None:
        diagnostic = codes.DIVERGENT_SUBGROUP.at(what=show(expr), reason=_reason(cause))
        findings.add(position, diagnostic, expr, related=cause.position)


def _copy(uniformity: Uniformity, findings: Findings, position: int, what: str) -> None:
    cause = uniformity.why_missing(position, Level.WORKGROUP)
    if cause is not None:
        diagnostic = codes.DIVERGENT_ASYNC.at(what=what, reason=_reason(cause))
        findings.add(position, diagnostic, related=cause.position)
    if uniformity.operands(position) > Level.WORKGROUP:
        leaf = _leaf(uniformity.why_operands(position))
        findings.add(position, codes.ASYNC_OPERAND.at(reason=f"one of them depends on {leaf}"))


def _grid_sync(uniformity: Uniformity, findings: Findings, position: int) -> None:
    # Invocations that returned take no further part in the grid: they are not waited for.
    cause = uniformity.why_missing(position, Level.GRID, returns=False)
    if cause is not None:
        diagnostic = codes.GRID_SYNC_LOOP.at(reason=_reason(cause))
        findings.add(position, diagnostic, related=cause.position)


def _reason(cause: Cause) -> str:
    leaf = _leaf(cause.leaf)
    if cause.left:
        return f"some leave before it, depending on {leaf}"
    return f"whether they go there depends on {leaf}"


def _leaf(leaf: ir.AnyExpr | None) -> str:
    match leaf:
        case None:
            return "what differs between them"
        case ir.Load(buffer):
            return f"{show(leaf)}, a load from {buffer!r}, which the program may write"
        case ir.Atomic():
            return f"what {show(leaf)} gives"
        case _:
            return show(leaf)
