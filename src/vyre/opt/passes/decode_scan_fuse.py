"""Handoff buffers between the stages of one program, kept on the chip.

A stage decodes into a device buffer, the next one scans it: when every workgroup reads only what
it wrote itself, the round trip through device memory is not needed, and the buffer may be workgroup
memory.

`run`, `count_opportunities` and `candidate_handoffs` judge buffers that the host can see too, as
long as they are not wanted after the dispatch: they are for the owner of the program's slots. The
pass itself keeps the host's view and moves only buffers that the host never sees.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.expr import Atomic
from vyre.ir.walk import walk_all_exprs
from vyre.opt.metadata import CostModelFamily, PassBoundaryClass, PassPhase
from vyre.opt.own_elements import OwnElements
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.opt.workgroup_budget import MOST_PROMOTED_BYTES, room_left
from vyre.rewrite.removable import has_grid_sync
from vyre.target import Target


@vyre_pass(
    name="decode_scan_fuse",
    phase=PassPhase.MEMORY,
    family=CostModelFamily.MEMORY,
    invalidates=("facts", "buffer_layout", "fusion"),
    boundary=PassBoundaryClass.INTERNAL_LAYOUT,
)
class DecodeScanFuse(Pass):
    """Moves small scratch buffers that hand values between stages into workgroup memory.
    Legal when every element a workgroup reads it wrote itself before, with a barrier between where
    the writer is another invocation; no atomics, async copies, indirect use, grid syncs or ordered
    atomics; and all workgroup memory together stays within the target's limit.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a buffer of the right kind and size."""
        found = any(decl.is_scratch and _is_handoff(decl) for decl in program.buffers)
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no scratch buffer of a handoff's size")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Move what is proven, and say of the rest why it is not."""
        found, notes = _promotable(program, context.target, host_visible=False)
        return PassResult(_promoted(program, found), len(found), tuple(notes))


def run(program: ir.Program, target: Target | None = None) -> ir.Program:
    """The program with every promotable buffer in workgroup memory."""
    return _promoted(program, _promotable(program, target, host_visible=True)[0])


def count_opportunities(program: ir.Program, target: Target | None = None) -> int:
    """How many buffers `run` would move."""
    return len(_promotable(program, target, host_visible=True)[0])


def candidate_handoffs(program: ir.Program, target: Target | None = None) -> dict[str, int]:
    """The buffers that `run` would move, with the number of their elements."""
    found = _promotable(program, target, host_visible=True)[0]
    return {name: decl.count for name, decl in found.items()}


def _is_handoff(decl: ir.BufferDecl) -> bool:
    """Whether a buffer has the size, the access and the life of a handoff."""
    if decl.access is not ir.BufferAccess.READ_WRITE or decl.is_on_chip:
        return False
    if decl.is_pipeline_live_out or decl.count == 0:
        return False
    size = decl.size_bytes
    return size is not None and 0 < size <= MOST_PROMOTED_BYTES


def _promotable(
    program: ir.Program, target: Target | None, *, host_visible: bool
) -> tuple[dict[str, ir.BufferDecl], list[str]]:
    """What may be moved, and notes on what may not."""
    found: dict[str, ir.BufferDecl] = {}
    notes: list[str] = []
    handoffs = [
        decl for decl in program.buffers if _is_handoff(decl) and (host_visible or decl.is_scratch)
    ]
    if not handoffs:
        return found, notes
    reason = _program_refusal(program)
    if reason is not None:
        return found, [f"no buffer is moved: {reason}"]
    own = OwnElements(program)
    room = room_left(program, target)
    for decl in handoffs:
        why = own.refusal(decl.name)
        if why is None and (decl.size_bytes or 0) > room:
            why = f"workgroup memory has only {room} bytes left"
        if why is not None:
            notes.append(f"{decl.name} stays in device memory: {why}")
            continue
        room -= decl.size_bytes or 0
        found[decl.name] = decl
    return found, notes


def _program_refusal(program: ir.Program) -> str | None:
    if has_grid_sync(program):
        return "a grid sync would lose workgroup memory"
    for expr in walk_all_exprs(program.entry):
        if isinstance(expr, Atomic) and expr.ordering is not ir.MemoryOrdering.RELAXED:
            return "ordered atomics may hand values between workgroups"
    return None


def _promoted(program: ir.Program, found: dict[str, ir.BufferDecl]) -> ir.Program:
    if not found:
        return program
    return program.with_rewritten_buffers(
        ir.BufferDecl.workgroup(decl.name, decl.count, decl.element).with_hints(decl.hints)
        if decl.name in found
        else decl
        for decl in program.buffers
    )
