"""The kernel function: the loop over workgroups around the work of one."""

from __future__ import annotations

from math import prod

from vyre import ir
from vyre.analysis import Ranges, program_cost
from vyre.analysis.types import variable_types
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.block_reductions import BlockReductions, with_block_reductions
from vyre.backends.llvm.analysis.reordering import may_reorder_workgroups
from vyre.backends.llvm.emit.context import Kernel, element_bytes
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.memory.block_reductions import emit_blocks, reserve_slots
from vyre.backends.llvm.emit.memory.nontemporal import emit_fence, nontemporal_buffers
from vyre.backends.llvm.emit.memory.privatised_reductions import (
    emit_privatised_reductions,
    privatisable_reductions,
    reserve,
)
from vyre.backends.llvm.emit.memory.table_lookup import table_sizes
from vyre.backends.llvm.emit.workgroup import Group
from vyre.backends.llvm.emit.workgroup_range import Span, emit_rows, emit_span
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.kernel_info import BufferSlot, KernelInfo
from vyre.backends.llvm.pass_context import LaunchFacts, Tiling
from vyre.backends.llvm.pipeline import Lowered, lower
from vyre.backends.llvm.schedule.safepoints import max_trip_counts, strips
from vyre.backends.llvm.techniques import Technique, Techniques
from vyre.ir.walk import walk_own_exprs, walk_stmts
from vyre.record import dataclass

LONGEST_ROW = 1 << 30
"""Maximum number of lanes of workgroups that run as one row; lane numbers in it are 32-bit."""


def generate(
    program: ir.Program,
    host: Host,
    *,
    unchecked: bool = False,
    thorough: bool = True,
    without: frozenset[str] = frozenset(),
) -> Generated:
    """Generate the LLVM IR of a program, its metadata and its record.

    The metadata is for launches; the record says how the code was compiled. Without `thorough`,
    work is not versioned for properties of a launch: versions take as long to compile as the work
    itself. `unchecked` omits bounds checks, to measure their cost; `without` names passes and
    techniques to omit.
    """
    lowered = lower(program, host, thorough=thorough, without=without)
    work = _Work.of(lowered, host, Techniques(without), unchecked=unchecked, thorough=thorough)
    if lowered.facts.tiling is not None and not work.group.is_flat:
        # Lanes would not run along whole rows, which was the reason for re-tiling.
        fewer = without | {"retile_workgroups"}
        lowered = lower(program, host, thorough=thorough, without=fewer)
        work = _Work.of(lowered, host, Techniques(without), unchecked=unchecked, thorough=thorough)
    work.emit(lowered.facts)
    kernel = work.kernel
    info = _info(kernel, program.workgroup_size)
    return Generated(kernel.text(), info, lowered, kernel.techniques.applied, tuple(kernel.regions))


@dataclass(frozen=True, slots=True)
class Generated:
    """The LLVM IR of a kernel, and the record of its compilation."""

    text: str
    info: KernelInfo
    lowered: Lowered
    applied: tuple[Technique, ...]
    regions: tuple[str, ...]
    """Description of how the lanes of each region run; a region may have several versions."""


@dataclass(frozen=True, slots=True)
class _Work:
    """A kernel, and the work of one of its workgroups."""

    kernel: Kernel
    group: Group
    header: str
    """Pointer to the header of a thread's memory; empty if the kernel keeps nothing there."""
    shared: list[tuple[str, int]]
    """Workgroup memory: pointers and sizes."""

    @staticmethod
    def of(
        lowered: Lowered, host: Host, techniques: Techniques, *, unchecked: bool, thorough: bool
    ) -> _Work:
        """Compute the facts needed before any code is emitted."""
        facts = lowered.facts
        by_blocks = BlockReductions(lowered.program, {})
        if techniques.allow(Technique.BLOCK_REDUCTIONS):
            by_blocks = with_block_reductions(lowered.program)
        kernel = Kernel(
            by_blocks.program,
            host,
            techniques=techniques,
            unchecked=unchecked,
            turned=facts.interchanged_axis,
            first_lane_trip_counts=facts.trip_counts,
            outside=facts.outer_counters,
            version_flags=facts.version_flags,
            longest_row=facts.longest_row,
            thorough=thorough,
        )
        kernel.types = variable_types(kernel.program)
        kernel.proven = _proven_accesses(kernel.program)
        kernel.max_trip_counts = max_trip_counts(kernel.program, kernel.types)
        kernel.strips = strips(kernel.program, kernel.max_trip_counts)
        if kernel.allows(Technique.TABLE_LOOKUP):
            kernel.table_sizes = table_sizes(kernel.program)
        if kernel.allows(Technique.NONTEMPORAL_STORES):
            kernel.streamed = nontemporal_buffers(kernel.program, kernel.host)
        if kernel.streamed:
            kernel.applies(Technique.NONTEMPORAL_STORES)
        kernel.read_launch()
        privatise = kernel.allows(Technique.PRIVATISE_REDUCTIONS)
        plans = privatisable_reductions(kernel.program) if privatise else ()
        if plans:
            kernel.applies(Technique.PRIVATISE_REDUCTIONS)
        header = reserve(kernel, plans) if plans or by_blocks.reductions else ""
        if by_blocks.reductions:
            kernel.applies(Technique.BLOCK_REDUCTIONS)
            reserve_slots(kernel, by_blocks.reductions)
        shared = kernel.workgroup_memory()
        return _Work(kernel, Group(kernel, kernel.program.entry), header, shared)

    def emit(self, facts: LaunchFacts) -> None:
        """Emit the loop over workgroups."""
        kernel = self.kernel
        w = kernel.w
        w.label = "start"
        w.lines.append("start:")
        hand_over = emit_privatised_reductions(kernel, self.header) if kernel.kept else None
        span = emit_span(kernel, facts.tiling)
        if kernel.accumulators:
            emit_blocks(kernel, span, lambda own: self._groups(own, None), self._first_lane)
        else:
            self._groups(span, facts.tiling)
        if kernel.streamed:
            emit_fence(w)
        w.leave()
        if hand_over is not None:
            hand_over()

    def _first_lane(self) -> LaneContext:
        lanes = LaneContext(self.kernel, 0)
        lanes.place(("0", "0", "0"))
        return lanes

    def _groups(self, span: Span, tiling: Tiling | None) -> None:
        """Emit the loop over a range of workgroups."""
        kernel, group = self.kernel, self.group
        w = kernel.w
        slot = w.slot("i64", "group")
        w.do(f"store i64 {span.first}, ptr {slot}")
        head, done = w.fresh("groups"), w.fresh("groups.done")
        if tiling is not None:
            some = w.emit(f"icmp ult i64 {span.first}, {span.last}")
            w.branch(some, head, done)
        w.block(head)
        now = w.emit(f"load i64, ptr {slot}", "group")
        step = ""
        if not group.is_flat and kernel.thorough:
            step = group.emit_several(
                now,
                lambda n: _decode(kernel, n, span),
                lambda: _room(kernel, now, span),
            )
        if not step:
            step = _decode(kernel, now, span, several=group.is_flat)
            if group.is_flat:
                kernel.applies(Technique.COALESCE_WORKGROUPS)
            if tiling is not None:
                emit_rows(kernel, span, tiling)
            for pointer, nbytes in self.shared:
                sized = (("i64", str(nbytes)), ("i1", "false"))
                w.call("llvm.memset.p0.i64", "void", ("ptr", pointer), ("i8", "0"), *sized)
            group.emit()
        following = w.emit(f"add i64 {now}, {step}")
        w.do(f"store i64 {following}, ptr {slot}")
        more = w.emit(f"icmp ult i64 {following}, {span.last}")
        w.branch(more, head, done)
        w.block(done)


def _proven_accesses(program: ir.Program) -> frozenset[int]:
    """Identities of accesses that are in bounds at every position."""
    ranges = Ranges.of(program)
    proven: set[int] = set()
    open_: set[int] = set()
    for position, statement in enumerate(walk_stmts(program.entry)):
        accesses: list[ir.Load | ir.Atomic | ir.Store] = [
            node for node in walk_own_exprs(statement) if isinstance(node, (ir.Load, ir.Atomic))
        ]
        if isinstance(statement, ir.Store):
            accesses.append(statement)
        for access in accesses:
            inside = ranges.is_in_bounds(access, position)
            (proven if inside else open_).add(id(access))
    return frozenset(proven - open_)


def _decode(kernel: Kernel, group: str, span: Span, *, several: bool = False) -> str:
    """Emit the ids of the workgroup; returns how many workgroups run as one row."""
    w = kernel.w
    nx, ny = span.extents
    x = w.emit(f"urem i64 {group}, {nx}")
    rest = w.emit(f"udiv i64 {group}, {nx}")
    y = w.emit(f"urem i64 {rest}, {ny}")
    z = w.emit(f"udiv i64 {rest}, {ny}")
    ids = [w.emit(f"trunc i64 {part} to i32", "wid") for part in (x, y, z)]
    kernel.set_group((ids[0], ids[1], ids[2]))
    if not several:
        return "1"
    count = w.intrinsic(
        "umin", "i64", _room(kernel, group, span), str(LONGEST_ROW // kernel.size[0])
    )
    lanes = w.emit(f"mul i64 {count}, {kernel.size[0]}")
    kernel.row = w.emit(f"trunc i64 {lanes} to i32", "row")
    return count


def _room(kernel: Kernel, group: str, span: Span) -> str:
    """Emit the number of consecutive workgroups along x from `group` on."""
    w, nx = kernel.w, span.extents[0]
    left = w.emit(f"sub i64 {nx}, {w.emit(f'urem i64 {group}, {nx}')}")
    return w.intrinsic("umin", "i64", left, w.emit(f"sub i64 {span.last}, {group}"))


def _info(kernel: Kernel, workgroup_size: tuple[int, int, int]) -> KernelInfo:
    program = kernel.program
    return KernelInfo(
        buffers=tuple(
            BufferSlot(d.name, d.element.spelling, element_bytes(d), d.is_writable)
            for d in program.buffers
            if not d.is_on_chip
        ),
        workgroup_size=workgroup_size,
        scratch_bytes=kernel.scratch_bytes,
        trap_tags=tuple(kernel.trap_tags),
        prints=tuple(kernel.prints),
        polls=kernel.polls,
        divergent=kernel.divergent,
        group_cost_ns=_cost(kernel, prod(workgroup_size)),
        keeps=bool(kernel.kept),
        any_order=may_reorder_workgroups(program),
        proving=kernel.proving,
    )


def _cost(kernel: Kernel, invocations: int) -> int:
    """Estimated nanoseconds of one workgroup; 0 if a trip count is unknown."""
    for statement in walk_stmts(kernel.program.entry):
        if isinstance(statement, ir.While):
            return 0
        if isinstance(statement, ir.Loop) and not (
            isinstance(statement.start, ir.Lit) and isinstance(statement.stop, ir.Lit)
        ):
            return 0
    return max(1, invocations * program_cost(kernel.program) // heuristics.OPERATIONS_PER_NS)
