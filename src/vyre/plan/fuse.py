"""Several programs as one: the arms of a megakernel, kept apart where they must be.

Each program becomes a region. Buffers are shared by name; workgroup memory, scratch and private
arrays stay an arm's own. Between arms stands what their hazards demand. The fused program gives,
on one grid, what the programs give one after the other on that grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import plan as codes
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Body,
    BufferAccess,
    BufferDecl,
    IndirectDispatch,
    MemoryKind,
    MemoryOrdering,
    Node,
    Program,
    Region,
)
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr, walk_stmts
from vyre.plan.epochs import syncs
from vyre.plan.hazards import Hazard, Separation, hazards
from vyre.plan.returns import has_return, without_returns
from vyre.record import dataclass

_BUFFER_FIELDS = ("buffer", "source", "destination", "count_buffer")


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
    if not programs:
        raise PlanError(codes.NOTHING.at())
    arms = tuple(names) if names is not None else _default_names(programs)
    _refuse_mismatches(programs, arms)
    apart = [_kept_apart(program, arm) for program, arm in zip(programs, arms, strict=True)]
    buffers = _shared_buffers(apart, frozenset(scratch))
    body: list[AnyStmt] = []
    decisions: list[Decision] = []
    for position, (program, arm) in enumerate(zip(apart, arms, strict=True)):
        decision = _decide(apart, position, arm, decisions, flat_grid)
        decisions.append(decision)
        if decision.separation is Separation.GRID_SYNC:
            body.append(Node.barrier(MemoryOrdering.GRID_SYNC))
        elif decision.separation is Separation.BARRIER:
            body.append(Node.barrier())
        body.append(Region(arm, None, without_returns(program.entry, arm)))
    fused = Program.wrapped(
        buffers, programs[0].workgroup_size, body, entry_op_id, programs[0].fast_math
    )
    return Fusion(fused, arms, tuple(decisions))


def _default_names(programs: Sequence[Program]) -> tuple[str, ...]:
    return tuple(p.entry_op_id or f"arm{number}" for number, p in enumerate(programs))


def _refuse_mismatches(programs: Sequence[Program], arms: Sequence[str]) -> None:
    first = programs[0]
    for program, arm in zip(programs, arms, strict=True):
        if program.workgroup_size != first.workgroup_size:
            raise PlanError(
                codes.WORKGROUP_SIZES.at(first=first.workgroup_size, second=program.workgroup_size)
            )
        if program.fast_math != first.fast_math:
            raise PlanError(codes.FAST_MATH_DIFFERS.at())
        if any(isinstance(s, IndirectDispatch) for s in walk_stmts(program.entry)):
            raise PlanError(codes.INDIRECT_ARM.at(arm=arm))
        if has_return(program.entry) and any(syncs(s) for s in walk_stmts(program.entry)):
            raise PlanError(codes.RETURN_ACROSS_SYNC.at(arm=arm))


def _decide(
    arms: Sequence[Program],
    position: int,
    name: str,
    earlier: Sequence[Decision],
    flat_grid: bool,
) -> Decision:
    """What must stand before an arm, looking at every earlier arm that is not yet kept apart."""
    needed = Separation.NONE
    found: list[Hazard] = []
    harmless: list[Hazard] = []
    strongest = Separation.NONE
    for other in range(position - 1, -1, -1):
        for hazard in hazards(arms[other], arms[position], flat_grid=flat_grid):
            if hazard.separation > strongest:
                needed = max(needed, hazard.separation)
                found.append(hazard)
            elif hazard.separation is Separation.NONE:
                harmless.append(hazard)
        # Going back past a separation, whatever it keeps apart is settled.
        strongest = max(strongest, earlier[other].separation)
        if strongest is Separation.GRID_SYNC:
            break
    return Decision(name, needed, tuple(found), tuple(harmless))


def _kept_apart(program: Program, arm: str) -> Program:
    """The program with the memory that is its own under names of its own."""
    own = {d.name for d in program.buffers if d.is_on_chip or d.is_scratch}
    if not own:
        return program
    names = {name: f"{arm}.{name}" for name in own}
    buffers = [d.with_name(names.get(d.name, d.name)) for d in program.buffers]
    entry = _with_buffers(program.entry, lambda name: names.get(name, name))
    return program.with_rewritten_buffers(buffers).with_rewritten_entry(entry)


def _with_buffers(body: Body, rename: Callable[[str], str]) -> Body:
    def expr(node: AnyExpr) -> AnyExpr:
        name = getattr(node, "buffer", None)
        if name is None or rename(name) == name:
            return node
        return rebuilt(node, {"buffer": rename(name)})

    def statement(one: AnyStmt) -> AnyStmt:
        one = map_exprs(one, lambda child: rewrite_expr(child, expr))
        changed: dict[str, object] = {}
        for field in _BUFFER_FIELDS:
            name = getattr(one, field, None)
            if isinstance(name, str) and rename(name) != name:
                changed[field] = rename(name)
        if changed:
            one = rebuilt(one, changed)
        return map_bodies(one, lambda inner: tuple(statement(s) for s in inner))

    return tuple(statement(s) for s in body)


def _shared_buffers(programs: Sequence[Program], scratch: frozenset[str]) -> list[BufferDecl]:
    table: dict[str, BufferDecl] = {}
    for program in programs:
        for decl in program.buffers:
            known = table.get(decl.name)
            table[decl.name] = decl if known is None else _joined(known, decl)
    result: list[BufferDecl] = []
    for decl in table.values():
        if decl.name in scratch:
            if not decl.count:
                raise PlanError(codes.UNSIZED_SCRATCH.at(name=decl.name))
            result.append(BufferDecl.scratch(decl.name, decl.count, decl.element))
        elif decl.binding is None:
            result.append(decl)
        else:
            binding = sum(other.binding is not None for other in result)
            result.append(decl.with_binding(binding))
    return result


def _joined(one: BufferDecl, two: BufferDecl) -> BufferDecl:
    """One declaration for two arms: whoever comes first says where the contents come from."""
    fits = one.element is two.element and (one.count == two.count or not one.count * two.count)
    if not fits:
        raise PlanError(codes.BUFFERS_DIFFER.at(name=one.name, first=_form(one), second=_form(two)))
    live_out = one.is_pipeline_live_out or two.is_pipeline_live_out
    if one.is_writable or two.is_writable:
        starts_empty = one.is_device_allocated
        return replace(
            one,
            access=BufferAccess.READ_WRITE,
            kind=MemoryKind.GLOBAL,
            count=one.count or two.count,
            is_output=starts_empty,
            is_pipeline_live_out=live_out or starts_empty,
            has_initial_value=live_out and not starts_empty,
        )
    return replace(one, count=one.count or two.count)


def _form(decl: BufferDecl) -> str:
    return f"{decl.element}[{decl.count or ''}]"
