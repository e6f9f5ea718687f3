"""The work of one workgroup: loops over lanes between barriers, and what runs once for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vyre.backends.llvm.codegen.barriers import Piece, Stretch, Together, pieces
from vyre.backends.llvm.codegen.copies import emit_copy
from vyre.backends.llvm.codegen.crossing import Crossing
from vyre.backends.llvm.codegen.guards import with_guards
from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.lanes import Lanes
from vyre.backends.llvm.codegen.peel import Peeling
from vyre.backends.llvm.codegen.shapes import Shapes
from vyre.backends.llvm.codegen.statements import Statements
from vyre.backends.llvm.codegen.strategy import lanes_for, mask_bits
from vyre.backends.llvm.codegen.value import Memory, Slot, Value, uniform
from vyre.backends.llvm.codegen.writer import register_type
from vyre.ir import AsyncLoad, AsyncStore, Body, Break, Continue, If, Let, Loop, Return, While
from vyre.ir.walk import walk_stmts

BREAK, CONTINUE = 1, 2


@dataclass(slots=True)
class _Target:
    """Where a loop of the workgroup goes on."""

    next: str
    done: str
    signal: str
    """Slot of an i8 by which lanes say that the loop is left or goes on early."""


@dataclass(slots=True)
class Group:
    """Emits the work of a workgroup."""

    kernel: Kernel
    body: Body
    work: tuple[Piece, ...] = field(init=False)
    crossing: Crossing = field(init=False)
    targets: list[_Target] = field(default_factory=list[_Target])
    bound: dict[str, Value] = field(default_factory=dict[str, Value])
    """Loop variables of the workgroup's own loops."""
    dead: str | None = None
    end: str = ""

    def __post_init__(self) -> None:
        self.work = pieces(self.body)
        self.crossing = Crossing(self.kernel, self.body, self.work)

    def emit(self) -> None:
        """Emit everything for the workgroup whose ids the kernel holds."""
        w = self.kernel.w
        self.end = w.fresh("group.end")
        self._private_arrays()
        several = len(self.work) > 1 or any(isinstance(p, Together) for p in self.work)
        if several and any(isinstance(s, Return) for s in walk_stmts(self.body)):
            self.dead = self.kernel.take_scratch(self.kernel.invocations)
            self._clear(self.dead, self.kernel.invocations)
        self._pieces(self.work)
        w.block(self.end)

    def _clear(self, pointer: str, nbytes: int) -> None:
        w = self.kernel.w
        name = "llvm.memset.p0.i64"
        w.call(name, "void", ("ptr", pointer), ("i8", "0"), ("i64", str(nbytes)), ("i1", "false"))

    def _private_arrays(self) -> None:
        kernel = self.kernel
        for decl in kernel.program.buffers:
            if decl.is_local:
                nbytes = (decl.size_bytes or 0) * kernel.invocations
                base = kernel.take_scratch(nbytes)
                self._clear(base, nbytes)
                count = str(decl.count)
                kernel.memories[decl.name] = Memory(
                    decl, base, base, count, shared=False, private=True
                )

    def _pieces(self, work: tuple[Piece, ...]) -> None:
        for piece in work:
            if not self.kernel.w.open:
                return
            if isinstance(piece, Stretch):
                self._stretch(piece)
            else:
                self._together(piece)

    # What runs once ------------------------------------------------------------------------------

    def _first_lane(self) -> Statements:
        """The first lane's view, good for whatever is the same for all lanes."""
        lanes = Lanes(self.kernel, 0)
        lanes.names.update(self.crossing.slots)
        lanes.names.update(self.bound)
        statements = Statements(self.kernel, lanes, Shapes(self.kernel.program, (), False), "")
        for name, value in self.crossing.recomputed.items():
            lanes.names.setdefault(name, lanes.value(value))
        return statements

    def _together(self, piece: Together) -> None:
        self._leave_if_dead()
        match piece.statement:
            case If():
                self._if(piece.statement, piece)
            case Loop():
                self._loop(piece.statement, piece)
            case While():
                self._while(piece.statement, piece)
            case AsyncLoad() | AsyncStore():
                emit_copy(self._first_lane(), piece.statement)
            case _:
                raise AssertionError(piece.statement)

    def _leave_if_dead(self) -> None:
        # Lanes that meet again must all have returned together, so the first one speaks for all.
        if self.dead is None:
            return
        w = self.kernel.w
        flag = w.emit(f"load i8, ptr {self.dead}, align 1")
        gone = w.emit(f"icmp ne i8 {flag}, 0")
        alive = w.fresh("alive")
        w.branch(gone, self.end, alive)
        w.block(alive)

    def _if(self, statement: If, piece: Together) -> None:
        w = self.kernel.w
        cond = self._first_lane().lanes.value(statement.cond)
        yes, no, done = (w.fresh(n) for n in ("group.then", "group.else", "group.endif"))
        w.branch(cond.text, yes, no)
        w.block(yes)
        self._pieces(piece.inner[0])
        w.jump(done)
        w.block(no)
        self._pieces(piece.inner[1])
        w.jump(done)
        w.block(done)

    def _loop(self, statement: Loop, piece: Together) -> None:
        w = self.kernel.w
        first = self._first_lane()
        start, stop = first.lanes.value(statement.start), first.lanes.value(statement.stop)
        scalar = register_type(start.dtype)
        slot = w.slot(scalar, statement.var)
        w.do(f"store {scalar} {start.text}, ptr {slot}")
        target = self._enter()
        head, run = w.fresh("group.loop"), w.fresh("group.round")
        w.block(head)
        first.poll()
        now = w.emit(f"load {scalar}, ptr {slot}", statement.var)
        order = "slt" if start.dtype.is_signed else "ult"
        more = w.emit(f"icmp {order} {scalar} {now}, {stop.text}")
        w.branch(more, run, target.done)
        w.block(run)
        self._leave_if_dead()
        self.bound[statement.var] = uniform(start.dtype, now)
        self._pieces(piece.inner[0])
        w.block(target.next)
        following = w.emit(f"add {scalar} {now}, 1")
        w.do(f"store {scalar} {following}, ptr {slot}")
        w.jump(head)
        w.block(target.done)
        del self.bound[statement.var]
        self.targets.pop()

    def _while(self, statement: While, piece: Together) -> None:
        w = self.kernel.w
        target = self._enter()
        run = w.fresh("group.round")
        w.block(target.next)
        self._leave_if_dead()
        first = self._first_lane()
        first.poll()
        cond = first.lanes.value(statement.cond)
        w.branch(cond.text, run, target.done)
        w.block(run)
        self._pieces(piece.inner[0])
        w.jump(target.next)
        w.block(target.done)
        self.targets.pop()

    def _enter(self) -> _Target:
        w = self.kernel.w
        target = _Target(w.fresh("group.next"), w.fresh("group.done"), w.slot("i8", "signal"))
        self.targets.append(target)
        return target

    # What runs lane after lane -------------------------------------------------------------------

    def _stretch(self, stretch: Stretch) -> None:
        w = self.kernel.w
        signal = self._signal_of(stretch)
        if signal is not None:
            w.do(f"store i8 0, ptr {signal}")
        self._lane_loops(stretch)
        if signal is not None:
            self._follow(signal)

    def _signal_of(self, stretch: Stretch) -> str | None:
        if not self.targets or not _leaves_outer_loop(stretch.body):
            return None
        return self.targets[-1].signal

    def _follow(self, signal: str) -> None:
        w = self.kernel.w
        said = w.emit(f"load i8, ptr {signal}")
        leaves = w.emit(f"icmp eq i8 {said}, {BREAK}")
        again, on = w.fresh("again"), w.fresh("on")
        w.branch(leaves, self.targets[-1].done, again)
        w.block(again)
        skips = w.emit(f"icmp eq i8 {said}, {CONTINUE}")
        w.branch(skips, self.targets[-1].next, on)
        w.block(on)

    def _lane_loops(self, stretch: Stretch) -> None:
        """Loops over z and y, and in them a row: full vectors first, then lane by lane."""
        w = self.kernel.w
        closers: list[tuple[int, str, str, str, str]] = []
        local = ["0", "0", "0"]
        for axis in (2, 1):
            if self.kernel.size[axis] > 1:
                slot = w.slot("i32", "xyz"[axis])
                w.do(f"store i32 0, ptr {slot}")
                head, done = w.fresh(f"lane.{'xyz'[axis]}"), w.fresh(f"lane.{'xyz'[axis]}.done")
                w.block(head)
                local[axis] = w.emit(f"load i32, ptr {slot}", "xyz"[axis])
                closers.append((axis, slot, head, done, local[axis]))
        self._row(stretch, local[1], local[2])
        for axis, slot, head, done, now in reversed(closers):
            following = w.emit(f"add i32 {now}, 1")
            w.do(f"store i32 {following}, ptr {slot}")
            more = w.emit(f"icmp ult i32 {following}, {self.kernel.size[axis]}")
            w.branch(more, head, done)
            w.block(done)

    def _row(self, stretch: Stretch, y: str, z: str) -> None:
        kernel, w = self.kernel, self.kernel.w
        body = stretch.body
        guarded = with_guards(body)
        width = self._width(stretch, guarded)
        slot = w.slot("i32", "x")
        w.do(f"store i32 0, ptr {slot}")
        if width:
            peeling = Peeling(kernel.program, guarded, self.crossing.recomputed)
            first = self._lanes(stretch, 0, ("0", y, z)).lanes
            limit = peeling.emit_limit(kernel, first)
            self._x_loop(
                slot,
                limit,
                width,
                lambda x, end: self._vectors(stretch, guarded, peeling, width, (x, y, z), end),
            )
        self._x_loop(
            slot, str(kernel.size[0]), 1, lambda x, end: self._one_lane(stretch, (x, y, z), end)
        )

    def _width(self, stretch: Stretch, guarded: Body) -> int:
        """Lanes that run together; zero where only one at a time is supported."""
        if self._signal_of(stretch) is not None or self.dead is not None:
            return 0
        return lanes_for(self.kernel, guarded)

    def _x_loop(self, slot: str, limit: str, step: int, emit: Callable[[str, str], None]) -> None:
        """Count x in the slot up to the limit, as long as a whole step fits."""
        w = self.kernel.w
        head, run, end, done = (w.fresh(n) for n in ("row", "row.lanes", "row.next", "row.done"))
        last = limit if step == 1 else w.intrinsic("usub.sat", "i32", limit, str(step - 1))
        w.block(head)
        now = w.emit(f"load i32, ptr {slot}", "x")
        more = w.emit(f"icmp ult i32 {now}, {last}")
        w.branch(more, run, done)
        w.block(run)
        emit(now, end)
        w.block(end)
        following = w.emit(f"add nuw i32 {now}, {step}")
        w.do(f"store i32 {following}, ptr {slot}")
        w.jump(head)
        w.block(done)

    def _lanes(
        self,
        stretch: Stretch,
        width: int,
        local: tuple[str, str, str],
        end: str = "",
        body: Body | None = None,
    ) -> Statements:
        """A set of lanes with the names that are visible to a stretch of work."""
        lanes = Lanes(self.kernel, width)
        lanes.local = local
        lanes.lane_index = self._lane_index(local)
        lanes.names.update(self.crossing.slots)
        lanes.names.update(self.bound)
        shapes = Shapes(self.kernel.program, body or stretch.body, bool(width), self._varying())
        statements = Statements(self.kernel, lanes, shapes, end)
        own = {s.name for s in stretch.body if isinstance(s, Let)}
        for name, value in self.crossing.recomputed.items():
            if name not in own and self.crossing.is_used(name, stretch):
                lanes.names[name] = lanes.value(value)
        return statements

    def _varying(self) -> frozenset[str]:
        return frozenset(self.crossing.slots) | frozenset(self.crossing.recomputed)

    def _vectors(
        self,
        stretch: Stretch,
        body: Body,
        peeling: Peeling,
        width: int,
        local: tuple[str, str, str],
        end: str,
    ) -> None:
        """Several lanes together, for which all that was peeled holds."""
        statements = self._lanes(stretch, width, local, end, body)
        statements.known_true = peeling.is_true
        statements.known_false = peeling.is_false
        statements.lanes.inside = peeling.is_inside
        statements.lanes.mask_bits = mask_bits(self.kernel, width)
        if any(isinstance(s, Return) for s in walk_stmts(body)):
            statements.returned = statements.mask_slot("returned")
        self._own_arrays(statements.lanes)
        statements.body(body, self.crossing.names)

    def _one_lane(self, stretch: Stretch, local: tuple[str, str, str], end: str) -> None:
        w = self.kernel.w
        statements = self._lanes(stretch, 0, local, end)
        lanes = statements.lanes
        if self.dead is not None:
            flag_place = w.emit(f"getelementptr i8, ptr {self.dead}, i64 {lanes.lane_index}")
            flag = w.emit(f"load i8, ptr {flag_place}, align 1")
            gone = w.emit(f"icmp ne i8 {flag}, 0")
            alive = w.fresh("alive")
            w.branch(gone, end, alive)
            w.block(alive)
            statements.on_return = lambda: w.do(f"store i8 1, ptr {flag_place}, align 1")
        if self.targets:
            statements.outer_signal = self.targets[-1].signal
        self._own_arrays(lanes)
        statements.body(stretch.body, self.crossing.names)

    def _own_arrays(self, lanes: Lanes) -> None:
        """Private arrays of the lane at hand."""
        w, kernel = self.kernel.w, self.kernel
        for decl in kernel.program.buffers:
            if decl.is_local:
                base = self.crossing.private_bases.setdefault(
                    decl.name, kernel.memories[decl.name].pointer
                )
                nbytes = decl.size_bytes or 0
                offset = w.emit(f"mul i64 {lanes.lane_index}, {nbytes}")
                pointer = w.emit(f"getelementptr i8, ptr {base}, i64 {offset}")
                count = str(decl.count)
                kernel.memories[decl.name] = Memory(
                    decl, pointer, pointer, count, shared=False, private=True
                )

    def _lane_index(self, local: tuple[str, str, str]) -> str:
        w = self.kernel.w
        sx, sy, _ = self.kernel.size
        index = w.emit(f"zext i32 {local[0]} to i64") if local[0] != "0" else "0"
        if local[1] != "0":
            row = w.emit(f"zext i32 {local[1]} to i64")
            row = w.emit(f"mul i64 {row}, {sx}")
            index = w.emit(f"add i64 {index}, {row}")
        if local[2] != "0":
            plane = w.emit(f"zext i32 {local[2]} to i64")
            plane = w.emit(f"mul i64 {plane}, {sx * sy}")
            index = w.emit(f"add i64 {index}, {plane}")
        return index


def _leaves_outer_loop(body: Body) -> bool:
    for statement in body:
        if isinstance(statement, (Break, Continue)):
            return True
        if isinstance(statement, (Loop, While)):
            continue
        if any(_leaves_outer_loop(getattr(statement, name)) for name in statement.body_fields):
            return True
    return False


__all__ = ["BREAK", "CONTINUE", "Group", "Slot"]
