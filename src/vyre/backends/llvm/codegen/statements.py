"""Statements over a set of lanes: branches where lanes agree, masks where they do not.

With one lane at a time everything is a branch. With several, a condition that differs between
lanes becomes a mask, both arms run under it, and a loop runs until no lane is left in it. Lanes
that have left (by return, break or continue) are remembered in masks of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from vyre.backends.llvm.codegen.arithmetic import reduce_any
from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.lanes import Lanes
from vyre.backends.llvm.codegen.reads import reads_of_body, reads_of_stmt
from vyre.backends.llvm.codegen.shapes import Shapes
from vyre.backends.llvm.codegen.value import Form, Slot, Value, uniform
from vyre.backends.llvm.codegen.writer import constant, register_type, widened
from vyre.ir import (
    AllGather,
    AllReduce,
    AnyExpr,
    AnyStmt,
    Assign,
    AsyncLoad,
    AsyncStore,
    AsyncWait,
    Barrier,
    BinOp,
    Block,
    Body,
    Break,
    Broadcast,
    Continue,
    DataType,
    Eval,
    If,
    IndirectDispatch,
    Let,
    Lit,
    Loop,
    Opaque,
    Print,
    ReduceScatter,
    Region,
    Resume,
    Return,
    Store,
    Trap,
    While,
)
from vyre.ir.walk import walk_stmts

STRIP = 1 << 16
"""Rounds of a long loop between two looks at the stop flag."""
SHORT_LOOP = 1 << 16
"""A loop known to have at most so many rounds does not look at the flag."""


@dataclass(slots=True)
class _Loop:
    """A loop that is being emitted."""

    next: str
    done: str
    broke: str | None = None
    """Slot of the mask of lanes that left the loop."""
    continued: str | None = None
    outer_mask: str | None = None
    loose: frozenset[str] = frozenset()
    """Variables that nobody reads after the loop: lanes that have left need not keep them."""
    live_mask: str | None = None


class Statements:
    """Emits statements into a kernel for one set of lanes."""

    def __init__(self, kernel: Kernel, lanes: Lanes, shapes: Shapes, end: str) -> None:
        self.kernel = kernel
        self.w = kernel.w
        self.lanes = lanes
        self.shapes = shapes
        self.end = end
        """The block where a lane (or all lanes) that is done goes on."""
        self.on_return: Callable[[], None] | None = None
        """What to emit before one lane ends, when lanes run one at a time."""
        self.outer_signal: str | None = None
        """Slot by which lanes tell a loop of the whole workgroup that they leave it."""
        self.loops: list[_Loop] = []
        self.returned: str | None = None
        self.declared_under: dict[str, str | None] = {}
        self.known_true: Callable[[AnyExpr], bool] = lambda _cond: False
        self.known_false: Callable[[AnyExpr], bool] = lambda _cond: False

    def body(self, body: Body, after: frozenset[str]) -> None:
        """Emit statements in order; `after` are the variables read later."""
        later: list[frozenset[str]] = []
        reads = after
        for statement in reversed(body):
            later.append(reads)
            reads = reads | reads_of_stmt(statement)
        for statement, behind in zip(body, reversed(later), strict=True):
            if not self.w.open:
                return
            self.statement(statement, behind)

    def statement(self, statement: AnyStmt, after: frozenset[str]) -> None:  # noqa: C901
        """Emit one statement."""
        match statement:
            case Let(name, value):
                self.let(name, self.lanes.value(value))
            case Assign(name, value):
                self.assign(name, self.lanes.value(value))
            case Store():
                self.store(statement)
            case Eval(value):
                self.lanes.value(value)
            case If():
                self.if_(statement, after)
            case Loop():
                self.loop(statement, after)
            case While():
                self.while_(statement, after)
            case Break() | Continue() | Return():
                self.leave(statement)
            case Block(body) | Region(_, _, body):
                self.body(body, after)
            case Trap(tag):
                self.trap(tag)
            case Print(label, values):
                self.print_(label, values)
            case Resume() | IndirectDispatch() | Barrier() | AsyncWait():
                pass
            case AsyncLoad() | AsyncStore():
                raise AssertionError("copies are emitted for the whole workgroup")
            case AllReduce() | AllGather() | ReduceScatter() | Broadcast() | Opaque():
                raise AssertionError("the driver never hands these to a backend")
            case _:
                assert_never(statement)

    # Variables -----------------------------------------------------------------------------------

    def let(self, name: str, value: Value) -> None:
        """Bind a variable: to a slot if it changes or lives across a barrier, else to the value."""
        slot = self.lanes.names.get(name)
        if isinstance(slot, Slot):
            self.lanes.write(slot, value, blend=False)
        elif name in self.shapes.assigned:
            form = Form.VARYING if name in self.shapes.varying else Form.UNIFORM
            slot = self.lanes.new_slot(name, value.dtype, form)
            self.lanes.write(slot, value, blend=False)
        else:
            self.lanes.names[name] = value
        self.declared_under[name] = self.lanes.mask

    def assign(self, name: str, value: Value) -> None:
        """Change a variable in the active lanes."""
        slot = self.lanes.names[name]
        assert isinstance(slot, Slot)
        same = self.declared_under.get(name, "elsewhere") == self.lanes.mask
        loose = any(name in loop.loose and loop.live_mask == self.lanes.mask for loop in self.loops)
        self.lanes.write(slot, value, blend=not (same or loose))

    def store(self, statement: Store) -> None:
        """Write an element."""
        buffer, index = statement.buffer, statement.index
        at = self.lanes.value(index)
        stored = self.lanes.value(statement.value)
        proven = self.lanes.proven(buffer, index, statement)
        self.lanes.memory.store(self.kernel.memories[buffer], at, stored, proven=proven)

    # Branches ------------------------------------------------------------------------------------

    def if_(self, statement: If, after: frozenset[str]) -> None:
        """One of two bodies, or both under masks."""
        if self.known_true(statement.cond):
            self.body(statement.then, after)
            return
        if self.known_false(statement.cond):
            self.body(statement.otherwise, after)
            return
        cond = self.lanes.value(statement.cond)
        if cond.is_uniform:
            self._branch(cond.text, statement, after)
        else:
            self._masked_if(cond, statement, after)

    def _branch(self, cond: str, statement: If, after: frozenset[str]) -> None:
        w = self.w
        before = self.lanes.mask
        yes, no, done = (w.fresh(n) for n in ("then", "else", "endif"))
        w.branch(cond, yes, no if statement.otherwise else done)
        w.block(yes)
        self.body(statement.then, after)
        w.jump(done)
        if statement.otherwise:
            self.lanes.mask = before
            w.block(no)
            self.body(statement.otherwise, after)
            w.jump(done)
        w.block(done)
        self._rejoin(before, statement)

    def _masked_if(self, cond: Value, statement: If, after: frozenset[str]) -> None:
        w, lanes = self.w, self.lanes
        before = lanes.mask
        chosen = lanes.as_mask(cond)
        yes = self._and(before, chosen)
        self._under(yes, statement.then, after)
        if statement.otherwise:
            ones = constant(f"i{lanes.mask_bits}", -1, lanes.width)
            flipped = w.emit(f"xor {lanes.mask_type} {chosen}, {ones}")
            self._under(self._and(before, flipped), statement.otherwise, after)
        self._rejoin(before, statement)

    def _under(self, mask: str, body: Body, after: frozenset[str]) -> None:
        w, lanes = self.w, self.lanes
        if not body:
            return
        some = reduce_any(w, lanes.mask_type, mask)
        run, skip = w.fresh("some"), w.fresh("none")
        w.branch(some, run, skip)
        w.block(run)
        lanes.mask = mask
        self.body(body, after)
        w.jump(skip)
        w.block(skip)

    def _and(self, mask: str | None, other: str) -> str:
        if mask is None:
            return other
        return self.w.emit(f"and {self.lanes.mask_type} {mask}, {other}")

    def _rejoin(self, before: str | None, statement: AnyStmt) -> None:
        """The mask after a statement: as before, less the lanes that left inside."""
        self.lanes.mask = before
        if not self.lanes.width or not _may_leave(statement):
            return
        gone = [self.returned] if self.returned else []
        if self.loops:
            gone += [s for s in (self.loops[-1].broke, self.loops[-1].continued) if s]
        for slot in gone:
            left = self.w.emit(f"load {self.lanes.mask_type}, ptr {slot}")
            ones = constant(f"i{self.lanes.mask_bits}", -1, self.lanes.width)
            here = self.w.emit(f"xor {self.lanes.mask_type} {left}, {ones}")
            self.lanes.mask = self._and(self.lanes.mask, here)

    # Leaving -------------------------------------------------------------------------------------

    def leave(self, statement: Break | Continue | Return) -> None:
        """Return, break or continue in the active lanes."""
        if (self.lanes.width and self.lanes.mask is not None) or self._must_mark(statement):
            self._mark(statement)
            return
        if isinstance(statement, Return):
            if self.on_return is not None:
                self.on_return()
            self.w.jump(self.end)
        elif self.loops:
            loop = self.loops[-1]
            self.w.jump(loop.done if isinstance(statement, Break) else loop.next)
        else:
            said = 1 if isinstance(statement, Break) else 2
            self.w.do(f"store i8 {said}, ptr {self.outer_signal}")
            self.w.jump(self.end)

    def _must_mark(self, statement: Break | Continue | Return) -> bool:
        # All active lanes leave, but others may be waiting outside: then they are marked too.
        if not self.lanes.width:
            return False
        if isinstance(statement, Return):
            return self.returned is not None
        loop = self.loops[-1]
        return (loop.broke if isinstance(statement, Break) else loop.continued) is not None

    def _mark(self, statement: Break | Continue | Return) -> None:
        lanes, w = self.lanes, self.w
        if isinstance(statement, Return):
            slot = self.returned
        else:
            loop = self.loops[-1]
            slot = loop.broke if isinstance(statement, Break) else loop.continued
        assert slot is not None
        all_lanes = constant(f"i{lanes.mask_bits}", -1, lanes.width)
        mask = all_lanes if lanes.mask is None else lanes.mask
        old = w.emit(f"load {lanes.mask_type}, ptr {slot}")
        new = w.emit(f"or {lanes.mask_type} {old}, {mask}")
        w.do(f"store {lanes.mask_type} {new}, ptr {slot}")
        # Nothing is active in the rest of this body.
        lanes.mask = constant(f"i{lanes.mask_bits}", 0, lanes.width)

    def mask_slot(self, name: str) -> str:
        """A slot for a mask, empty at first."""
        slot = self.w.slot(self.lanes.mask_type, name)
        zero = constant(f"i{self.lanes.mask_bits}", 0, self.lanes.width)
        self.w.do(f"store {self.lanes.mask_type} {zero}, ptr {slot}")
        return slot

    # Loops ---------------------------------------------------------------------------------------

    def loop(self, statement: Loop, after: frozenset[str]) -> None:
        """Count; lanes together where the bounds agree."""
        start = self.lanes.value(statement.start)
        stop = self.lanes.value(statement.stop)
        behind = after | reads_of_body(statement.body)
        if start.is_uniform and stop.is_uniform:
            self._counted(statement, start, stop, behind, after)
        else:
            self._counted_apart(statement, start, stop, behind, after)

    def _counted(
        self,
        statement: Loop,
        start: Value,
        stop: Value,
        behind: frozenset[str],
        after: frozenset[str],
    ) -> None:
        w = self.w
        dtype = start.dtype
        scalar = register_type(dtype)
        slot = w.slot(scalar, statement.var)
        w.do(f"store {scalar} {start.text}, ptr {slot}")
        limit, strip = self._strip(statement, start, stop)
        head, run, step, done = (w.fresh(n) for n in ("loop", "round", "next", "endloop"))
        state = self._enter(statement.body, step, done, after)
        w.block(head)
        now = w.emit(f"load {scalar}, ptr {slot}", statement.var)
        order = "slt" if dtype.is_signed else "ult"
        bound = stop.text if limit is None else w.emit(f"load {scalar}, ptr {limit}")
        more = w.emit(f"icmp {order} {scalar} {now}, {bound}")
        w.branch(more, run, strip if strip else done)
        w.block(run)
        self.lanes.names[statement.var] = uniform(dtype, now)
        self._round(state, statement.body, behind)
        w.block(step)
        following = w.emit(f"add {scalar} {now}, 1")
        w.do(f"store {scalar} {following}, ptr {slot}")
        self._again(state, head, done)
        if limit is not None and strip is not None:
            self._next_strip(strip, head, done, slot, limit, stop, dtype)
        w.block(done)
        self._exit(state, statement)

    def _strip(self, statement: Loop, start: Value, stop: Value) -> tuple[str | None, str | None]:
        """Cut a loop of unknown length into strips, between which the stop flag is looked at."""
        if isinstance(statement.start, Lit) and isinstance(statement.stop, Lit):
            rounds = int(statement.stop.value) - int(statement.start.value)
            if rounds <= SHORT_LOOP:
                return None, None
        bits = start.dtype.bits or 0
        if bits <= 16:
            return None, None
        self.kernel.polls = True
        scalar = register_type(start.dtype)
        limit = self.w.slot(scalar, "strip")
        first = self._strip_end(start.text, stop.text, start.dtype)
        self.w.do(f"store {scalar} {first}, ptr {limit}")
        return limit, self.w.fresh("strip")

    def _strip_end(self, now: str, stop: str, dtype: DataType) -> str:
        arithmetic = self.kernel.arithmetic
        far = arithmetic.binary(BinOp.ADD_SAT, dtype, 0, now, str(STRIP))
        return arithmetic.binary(BinOp.MIN, dtype, 0, far, stop)

    def _next_strip(
        self,
        strip: str,
        head: str,
        done: str,
        slot: str,
        limit: str,
        stop: Value,
        dtype: DataType,
    ) -> None:
        w = self.w
        scalar = register_type(dtype)
        w.block(strip)
        self.poll()
        now = w.emit(f"load {scalar}, ptr {slot}")
        order = "slt" if dtype.is_signed else "ult"
        more = w.emit(f"icmp {order} {scalar} {now}, {stop.text}")
        end = self._strip_end(now, stop.text, dtype)
        w.do(f"store {scalar} {end}, ptr {limit}")
        w.branch(more, head, done)

    def _counted_apart(
        self,
        statement: Loop,
        start: Value,
        stop: Value,
        behind: frozenset[str],
        after: frozenset[str],
    ) -> None:
        """Every lane has its own counter; a lane is out when its counter is through."""
        w, lanes = self.w, self.lanes
        dtype = start.dtype
        type_ = register_type(dtype, lanes.width)
        slot = w.slot(type_, statement.var)
        w.do(f"store {type_} {lanes.vector(start)}, ptr {slot}")
        limit = lanes.vector(stop)
        head, run, step, done = (w.fresh(n) for n in ("loop", "round", "next", "endloop"))
        state = self._enter(statement.body, step, done, after, divergent=True)
        w.block(head)
        self.poll()
        now = w.emit(f"load {type_}, ptr {slot}", statement.var)
        order = "slt" if dtype.is_signed else "ult"
        more = w.emit(f"icmp {order} {type_} {now}, {limit}")
        self._stay(state, Value(DataType.BOOL, Form.VARYING, more), run, done)
        w.block(run)
        lanes.names[statement.var] = Value(dtype, Form.VARYING, now)
        self._round(state, statement.body, behind)
        w.block(step)
        following = w.emit(f"add {type_} {now}, {constant(register_type(dtype), 1, lanes.width)}")
        w.do(f"store {type_} {following}, ptr {slot}")
        self._again(state, head, done)
        w.block(done)
        self._exit(state, statement)

    def while_(self, statement: While, after: frozenset[str]) -> None:
        """Repeat while the condition holds, in the lanes where it does."""
        w = self.w
        behind = after | reads_of_stmt(statement)
        divergent = bool(self.lanes.width) and self.shapes.is_varying(statement.cond)
        head, run, done = (w.fresh(n) for n in ("while", "round", "endwhile"))
        state = self._enter(statement.body, head, done, after, divergent=divergent)
        self.kernel.polls = True
        w.block(head)
        self.poll()
        if state.live_mask is not None:
            self._refresh(state)
        cond = self.lanes.value(statement.cond)
        if divergent:
            self._stay(state, cond, run, done)
        else:
            w.branch(cond.text, run, done)
        w.block(run)
        self._round(state, statement.body, behind)
        self._again(state, head, done)
        w.block(done)
        self._exit(state, statement)

    def _enter(
        self, body: Body, next_: str, done: str, after: frozenset[str], *, divergent: bool = False
    ) -> _Loop:
        """Prepare a loop; masks are needed where lanes may leave it one by one."""
        state = _Loop(next_, done, outer_mask=self.lanes.mask)
        if self.lanes.width and (divergent or self._leaves_apart(body)):
            state.broke = self.mask_slot("broke")
            if _contains(body, Continue):
                state.continued = self.mask_slot("continued")
            state.live_mask = "pending"
            state.loose = self.shapes.assigned - after
        self.loops.append(state)
        return state

    def _leaves_apart(self, body: Body) -> bool:
        under_mask = self.lanes.mask is not None
        leaves = _may_leave_loop(body)
        returns = self.returned is not None and _contains(body, Return)
        return (leaves and (under_mask or self.shapes.leaves_divergently(body))) or returns

    def _stay(self, state: _Loop, cond: Value, run: str, done: str) -> None:
        """Lanes whose condition fails leave; go on while any stays."""
        w, lanes = self.w, self.lanes
        assert state.broke is not None
        self._refresh(state)
        holds = lanes.as_mask(cond)
        live = self._and(lanes.mask, holds)
        ones = constant(f"i{lanes.mask_bits}", -1, lanes.width)
        out = w.emit(f"xor {lanes.mask_type} {live}, {ones}")
        w.do(f"store {lanes.mask_type} {out}, ptr {state.broke}")
        lanes.mask = live
        state.live_mask = live
        some = reduce_any(w, lanes.mask_type, live)
        w.branch(some, run, done)

    def _refresh(self, state: _Loop) -> None:
        """The mask of lanes that are still in the loop."""
        w, lanes = self.w, self.lanes
        assert state.broke is not None
        mask = state.outer_mask
        gone = [state.broke] + ([self.returned] if self.returned else [])
        for slot in gone:
            left = w.emit(f"load {lanes.mask_type}, ptr {slot}")
            ones = constant(f"i{lanes.mask_bits}", -1, lanes.width)
            here = w.emit(f"xor {lanes.mask_type} {left}, {ones}")
            mask = self._and(mask, here)
        lanes.mask = mask
        state.live_mask = mask

    def _round(self, state: _Loop, body: Body, behind: frozenset[str]) -> None:
        w, lanes = self.w, self.lanes
        if state.continued is not None:
            zero = constant(f"i{lanes.mask_bits}", 0, lanes.width)
            w.do(f"store {lanes.mask_type} {zero}, ptr {state.continued}")
        if state.live_mask == "pending":
            self._refresh(state)
        inside = lanes.mask
        self.body(body, behind)
        lanes.mask = inside

    def _again(self, state: _Loop, head: str, done: str) -> None:
        """Go round again, unless no lane is left."""
        w, lanes = self.w, self.lanes
        if state.live_mask is None or not w.open:
            w.jump(head)
            return
        self._refresh(state)
        assert lanes.mask is not None
        some = reduce_any(w, lanes.mask_type, lanes.mask)
        w.branch(some, head, done)

    def _exit(self, state: _Loop, statement: AnyStmt) -> None:
        self.loops.pop()
        self.lanes.mask = state.outer_mask
        if self.lanes.width and _contains((statement,), Return):
            self._rejoin(state.outer_mask, statement)

    def poll(self) -> None:
        """Leave the kernel when it has been told to stop."""
        w = self.w
        self.kernel.polls = True
        flag = w.emit("load atomic i32, ptr %control monotonic, align 4", "stop")
        stop = w.emit(f"icmp ne i32 {flag}, 0")
        leave, stay = w.fresh("stopped"), w.fresh("running")
        w.branch(stop, leave, stay)
        w.block(leave)
        w.leave()
        w.block(stay)

    # Talking to the host -------------------------------------------------------------------------

    def trap(self, tag: str) -> None:
        """Report the first active lane and leave the kernel."""
        w, lanes = self.w, self.lanes
        number = self.kernel.trap_tag(tag)
        x, y, z = self._first_active_id()
        w.do(f"call void @vyre_trap(ptr %control, i32 {number}, i32 {x}, i32 {y}, i32 {z})")
        w.leave()
        w.block(w.fresh("unreachable"))
        del lanes

    def print_(self, label: str, values: tuple[AnyExpr, ...]) -> None:
        """Put a record into the print ring for every active lane."""
        w, lanes = self.w, self.lanes
        found = [lanes.value(value) for value in values]
        flat = [piece for value in found for piece in (value.parts or (value,))]
        types = tuple(value.dtype for value in flat)
        text = " ".join([_braced(label), *["{}"] * len(flat)])
        number = self.kernel.print_format(text, types)
        ids = [lanes.spread(v) for v in self._ids()]

        def one(lane: str) -> None:
            x, y, z = (lanes.lane_of(v, lane).text for v in ids)
            record = w.emit(
                f"call ptr @vyre_print(ptr %control, i32 {number}, i32 {len(flat)}, "
                f"i32 {x}, i32 {y}, i32 {z})"
            )
            room = w.emit(f"icmp ne ptr {record}, null")
            write, done = w.fresh("print"), w.fresh("printed")
            w.branch(room, write, done)
            w.block(write)
            for position, value in enumerate(flat):
                self._print_argument(record, position, lanes.lane_of(value, lane))
            w.jump(done)
            w.block(done)

        lanes.for_each_active(one)

    def _print_argument(self, record: str, position: int, value: Value) -> None:
        w = self.w
        text, dtype = value.text, value.dtype
        if dtype is DataType.BF16:
            text, dtype = self.kernel.arithmetic.bf16_to_f32(0, text), DataType.F32
        bits = "i1" if dtype.is_bool else f"i{dtype.bits}"
        if dtype.is_float:
            text = w.emit(f"bitcast {register_type(dtype)} {text} to {bits}")
        if bits != "i64":
            text = w.emit(f"zext {bits} {text} to i64")
        place = w.emit(f"getelementptr i64, ptr {record}, i64 {position}")
        w.do(f"store i64 {text}, ptr {place}, align 8")

    def _ids(self) -> list[Value]:
        lanes, kernel = self.lanes, self.kernel
        found: list[Value] = []
        for axis in range(3):
            base = self.w.emit(f"mul i32 {kernel.group[axis]}, {kernel.size[axis]}")
            total = self.w.emit(f"add i32 {base}, {lanes.local[axis]}")
            form = Form.LINEAR if axis == 0 and lanes.width else Form.UNIFORM
            found.append(Value(DataType.U32, form, total, 1 if axis == 0 else 0))
        return found

    def _first_active_id(self) -> tuple[str, str, str]:
        w, lanes = self.w, self.lanes
        x, y, z = (value.text for value in self._ids())
        if lanes.width and lanes.mask is not None:
            bits = lanes.mask_as_integer()
            type_ = f"i{lanes.width}"
            first = w.intrinsic("cttz", type_, bits, extra="i1 false")
            resize = "trunc" if lanes.width > 32 else "zext" if lanes.width < 32 else ""
            lane = w.emit(f"{resize} {type_} {first} to i32") if resize else first
            x = w.emit(f"add i32 {x}, {lane}")
        return x, y, z


def _braced(label: str) -> str:
    return label.replace("{", "{{").replace("}", "}}")


def _contains(body: Body, kind: type[AnyStmt]) -> bool:
    return any(isinstance(statement, kind) for statement in walk_stmts(body))


def _may_leave(statement: AnyStmt) -> bool:
    return any(isinstance(s, (Break, Continue, Return)) for s in walk_stmts((statement,)))


def _may_leave_loop(body: Body) -> bool:
    """Whether statements may break or continue the loop that they are the body of."""
    for statement in body:
        if isinstance(statement, (Break, Continue)):
            return True
        if isinstance(statement, (Loop, While)):
            continue
        if any(_may_leave_loop(getattr(statement, name)) for name in statement.body_fields):
            return True
    return False


__all__ = ["Statements", "widened"]
