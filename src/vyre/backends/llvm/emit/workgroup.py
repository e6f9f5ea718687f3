"""The work of one workgroup: loops over lanes between barriers, and workgroup-uniform code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from vyre import ir
from vyre.analysis.used_names import uses_of
from vyre.backends.llvm.analysis.column_walks import walks_columns
from vyre.backends.llvm.analysis.live_across_barriers import LiveAcrossBarriers
from vyre.backends.llvm.analysis.parallel_regions import Once, ParallelRegion, Piece, Together
from vyre.backends.llvm.analysis.workgroup_uniform import WorkgroupUniform
from vyre.backends.llvm.emit.builder import register_type
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.memory.async_copies import emit_copy
from vyre.backends.llvm.emit.memory.private_arrays import own_arrays
from vyre.backends.llvm.emit.region import RegionEmitter, Target, Window
from vyre.backends.llvm.emit.safepoint import emit_poll
from vyre.backends.llvm.emit.values import LaneShape, Memory, Slot, Value, uniform
from vyre.backends.llvm.emit.workgroup_row import emit_one_row, groups_in_one_row
from vyre.backends.llvm.emit.workgroup_state import WorkgroupStates, cut_around_loop
from vyre.backends.llvm.techniques import Technique
from vyre.ir.walk import walk_own_exprs, walk_stmts
from vyre.record import dataclass

BREAK, CONTINUE = 1, 2
_GROUPED = (ir.Barrier, ir.AsyncLoad, ir.AsyncStore, ir.AsyncWait)
_WITHIN_GROUP = frozenset({ir.BuiltinKind.LOCAL_ID, ir.BuiltinKind.WORKGROUP_ID})


@dataclass(slots=True)
class Group:
    """Emits the work of a workgroup."""

    kernel: Kernel
    body: ir.Body
    sharing: WorkgroupUniform = field(init=False)
    crossing: LiveAcrossBarriers = field(init=False)
    targets: list[Target] = field(default_factory=list[Target])
    bound: dict[str, Value | Slot] = field(default_factory=dict[str, Value | Slot])
    """Workgroup-uniform variables."""
    dead: str | None = None
    window: Window | None = None
    """The lanes that parallel regions are emitted for, if not all."""
    end: str = ""
    is_flat: bool = field(init=False)
    """True if workgroups along x may run as one long row: no value distinguishes them."""

    def __post_init__(self) -> None:
        self.sharing = WorkgroupUniform(self.kernel, self.body)
        sharing = self.sharing
        constant = sharing.names - sharing.assigned
        self.kernel.own_arrays = own_arrays(self.kernel, sharing.work)
        self.crossing = LiveAcrossBarriers(self.kernel, sharing.work, sharing.names, constant)
        self.is_flat = self._is_flat()

    def _is_flat(self) -> bool:
        if not self.kernel.allows(Technique.COALESCE_WORKGROUPS):
            return False
        program, work = self.kernel.program, self.sharing.work
        kept = [d for d in program.buffers if d.is_on_chip and d.name not in self.kernel.own_arrays]
        if kept or self.crossing.slots or self.kernel.longest_row:
            return False
        if any(isinstance(s, _GROUPED) for s in walk_stmts(self.body)):
            return False
        if self._is_several(work) and any(isinstance(s, ir.Return) for s in walk_stmts(self.body)):
            return False
        if walks_columns(self.kernel, self.body):
            return False
        return not any(
            isinstance(expr, ir.Builtin) and expr.axis == 0 and expr.kind in _WITHIN_GROUP
            for statement in walk_stmts(self.body)
            if not (
                isinstance(statement, ir.Let)
                and statement.name in self.kernel.first_lane_trip_counts
            )
            for expr in walk_own_exprs(statement)
        )

    @staticmethod
    def _is_several(work: tuple[Piece, ...]) -> bool:
        """True if the workgroup has more than one parallel region."""
        return len(work) > 1 or any(isinstance(p, Together) for p in work)

    def emit_several(
        self, group: str, decode: Callable[[str], object], room: Callable[[], str]
    ) -> str:
        """Emit the work of several consecutive workgroups; returns how many, an i64.

        If they cannot run together, it emits no code and returns an empty string. `room` emits how
        many workgroups are consecutive along x.
        """
        kernel, w = self.kernel, self.kernel.w
        cut = cut_around_loop(kernel, self.sharing)
        if cut is None or not kernel.allows(Technique.WORKGROUP_ROWS):
            return ""
        together = groups_in_one_row(kernel, cut, self.crossing)
        if not together:
            return ""
        kernel.applies(Technique.WORKGROUP_ROWS)
        self._private_arrays()
        several = WorkgroupStates(kernel, self.crossing, self.bound, self._of_window, together)
        count = w.intrinsic("umin", "i64", room(), str(together))
        emit_one_row(kernel, several, cut, group, decode, count)
        return count

    def _of_window(self, work: tuple[Piece, ...], window: Window | None) -> None:
        self.window = window
        self._pieces(work)
        self.window = None

    def emit(self) -> None:
        """Emit the work of the workgroup whose ids the kernel holds."""
        w = self.kernel.w
        self.end = w.fresh("group.end")
        self._private_arrays()
        work = self.sharing.work
        if self._is_several(work) and any(isinstance(s, ir.Return) for s in walk_stmts(self.body)):
            self.dead = self.kernel.take_scratch(self.kernel.invocations)
            self._clear(self.dead, self.kernel.invocations)
        self._pieces(work)
        w.block(self.end)

    def _clear(self, pointer: str, nbytes: int) -> None:
        w = self.kernel.w
        name = "llvm.memset.p0.i64"
        w.call(name, "void", ("ptr", pointer), ("i8", "0"), ("i64", str(nbytes)), ("i1", "false"))

    def _private_arrays(self) -> None:
        kernel = self.kernel
        for decl in kernel.program.buffers:
            if decl.name in kernel.own_arrays:
                kernel.memories[decl.name] = Memory(
                    decl, "null", "null", str(decl.count), shared=False, private=True
                )
            elif decl.is_local:
                nbytes = (decl.size_bytes or 0) * kernel.invocations
                base = kernel.take_scratch(nbytes)
                self._clear(base, nbytes)
                kernel.memories[decl.name] = Memory(
                    decl, base, base, str(decl.count), shared=False, private=True
                )

    def _pieces(self, work: tuple[Piece, ...]) -> None:
        for piece in work:
            if not self.kernel.w.open:
                return
            match piece:
                case ParallelRegion():
                    self._stretch(piece)
                case Once():
                    self._once(piece)
                case Together():
                    self._together(piece)

    # Workgroup-uniform code -----------------------------------------------------------------------

    def _first_lane(self) -> LaneContext:
        """The context of the first lane, valid for every uniform value."""
        lanes = LaneContext(self.kernel, 0)
        lanes.place(("0", "0", "0"))
        lanes.names.update(self.crossing.slots)
        lanes.names.update(self.bound)
        for name, value in self.crossing.recomputed.items():
            # A value that depends on variables of an inner scope is computed only there.
            if uses_of((), [value]).reads <= lanes.names.keys():
                lanes.names[name] = lanes.value(value)
        return lanes

    def _once(self, piece: Once) -> None:
        lanes = self._first_lane()
        for statement in piece.body:
            name, value = statement.name, lanes.value(statement.value)
            if isinstance(statement, ir.Let) and name not in self.sharing.assigned:
                lanes.names[name] = self.bound[name] = value
                continue
            slot = self.bound.get(name)
            if not isinstance(slot, Slot):
                allocated = lanes.new_slot(name, value.dtype, LaneShape.UNIFORM)
                slot = Slot(value.dtype, allocated.pointers, LaneShape.UNIFORM, shared=True)
                lanes.names[name] = self.bound[name] = slot
            lanes.write(slot, value, blend=False)

    def _together(self, piece: Together) -> None:
        self._leave_if_dead()
        match piece.statement:
            case ir.If():
                self._if(piece.statement, piece)
            case ir.Loop():
                self._loop(piece.statement, piece)
            case ir.While():
                self._while(piece.statement, piece)
            case ir.AsyncLoad() | ir.AsyncStore():
                emit_copy(self.kernel, self._first_lane(), piece.statement)
            case _:
                raise AssertionError(piece.statement)

    def _leave_if_dead(self) -> None:
        # Lanes that reconverge must all have returned together, so the first lane's flag decides.
        if self.dead is None:
            return
        w = self.kernel.w
        flag = w.emit(f"load i8, ptr {self.dead}, align 1")
        gone = w.emit(f"icmp ne i8 {flag}, 0")
        alive = w.fresh("alive")
        w.branch(gone, self.end, alive)
        w.block(alive)

    def _if(self, statement: ir.If, piece: Together) -> None:
        w = self.kernel.w
        cond = self._first_lane().value(statement.cond)
        yes, no, done = (w.fresh(n) for n in ("group.then", "group.else", "group.endif"))
        w.branch(cond.text, yes, no)
        w.block(yes)
        self._inner(piece.inner[0])
        w.jump(done)
        w.block(no)
        self._inner(piece.inner[1])
        w.jump(done)
        w.block(done)

    def _loop(self, statement: ir.Loop, piece: Together) -> None:
        w = self.kernel.w
        first = self._first_lane()
        start, stop = first.value(statement.start), first.value(statement.stop)
        scalar = register_type(start.dtype)
        slot = w.slot(scalar, statement.var)
        w.do(f"store {scalar} {start.text}, ptr {slot}")
        target = self._enter()
        head, run = w.fresh("group.loop"), w.fresh("group.iteration")
        w.block(head)
        emit_poll(self.kernel)
        now = w.emit(f"load {scalar}, ptr {slot}", statement.var)
        order = "slt" if start.dtype.is_signed else "ult"
        more = w.emit(f"icmp {order} {scalar} {now}, {stop.text}")
        w.branch(more, run, target.done)
        w.block(run)
        self._leave_if_dead()
        self.bound[statement.var] = uniform(start.dtype, now)
        self._inner(piece.inner[0])
        w.block(target.next)
        following = w.emit(f"add {scalar} {now}, 1")
        w.do(f"store {scalar} {following}, ptr {slot}")
        w.jump(head)
        w.block(target.done)
        del self.bound[statement.var]
        self.targets.pop()

    def _while(self, statement: ir.While, piece: Together) -> None:
        w = self.kernel.w
        target = self._enter()
        run = w.fresh("group.iteration")
        w.block(target.next)
        self._leave_if_dead()
        emit_poll(self.kernel)
        cond = self._first_lane().value(statement.cond)
        w.branch(cond.text, run, target.done)
        w.block(run)
        self._inner(piece.inner[0])
        w.jump(target.next)
        w.block(target.done)
        self.targets.pop()

    def _inner(self, work: tuple[Piece, ...]) -> None:
        """Emit an inner block; its bindings end with it, as its code may not have run."""
        outer = set(self.bound)
        self._pieces(work)
        for name in self.bound.keys() - outer:
            del self.bound[name]

    def _enter(self) -> Target:
        w = self.kernel.w
        target = Target(w.fresh("group.next"), w.fresh("group.done"), w.slot("i8", "signal"))
        self.targets.append(target)
        return target

    # Parallel regions -----------------------------------------------------------------------------

    def _stretch(self, stretch: ParallelRegion) -> None:
        w = self.kernel.w
        target = self.targets[-1] if self.targets else None
        signals = target is not None and _leaves_outer_loop(stretch.body)
        if signals and target is not None:
            w.do(f"store i8 0, ptr {target.signal}")
        RegionEmitter(
            self.kernel,
            stretch,
            self.crossing,
            self.bound,
            dead=self.dead,
            target=target if signals else None,
            window=self.window,
        ).emit()
        if signals and target is not None:
            self._follow(target)

    def _follow(self, target: Target) -> None:
        w = self.kernel.w
        signal = w.emit(f"load i8, ptr {target.signal}")
        leaves = w.emit(f"icmp eq i8 {signal}, {BREAK}")
        again, on = w.fresh("again"), w.fresh("on")
        w.branch(leaves, target.done, again)
        w.block(again)
        skips = w.emit(f"icmp eq i8 {signal}, {CONTINUE}")
        w.branch(skips, target.next, on)
        w.block(on)


def _leaves_outer_loop(body: ir.Body) -> bool:
    for statement in body:
        if isinstance(statement, (ir.Break, ir.Continue)):
            return True
        if isinstance(statement, (ir.Loop, ir.While)):
            continue
        if any(_leaves_outer_loop(getattr(statement, name)) for name in statement.body_fields):
            return True
    return False
