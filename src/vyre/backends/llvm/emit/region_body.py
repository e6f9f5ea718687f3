"""The bodies of a region: lanes in lock-step, filtered lanes, or one scalar lane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.memory.private_arrays import emit_own_array
from vyre.backends.llvm.emit.statements import Statements
from vyre.backends.llvm.emit.values import Memory, Slot, Value, uniform
from vyre.backends.llvm.schedule.lane_filter import LaneFilter
from vyre.backends.llvm.schedule.select_tile import mask_bits
from vyre.ir.walk import walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.region import Position, RegionEmitter

_LATE = "late.first"
"""Name of the first lane that has not run yet."""


def view_of(rows: RegionEmitter, width: int, local: Position) -> LaneContext:
    """Make the context of a set of lanes, with the region's names."""
    lanes = LaneContext(rows.kernel, width)
    lanes.place(local)
    if rows.crossing.slots or rows.dead is not None or _has_private(rows):
        lanes.lane_index = _lane_index(rows, local)
    lanes.names.update(rows.bound)
    lanes.names.update(rows.peeling.periods)
    for name, value in rows.crossing.needed(rows.stretch).items():
        lanes.names[name] = lanes.value(value)
    return lanes


def _has_private(rows: RegionEmitter) -> bool:
    own = rows.kernel.own_arrays
    return any(d.is_local and d.name not in own for d in rows.kernel.program.buffers)


def emit_late_lanes(rows: RegionEmitter, place: Position, begin: str, end: str) -> None:
    """Emit one masked vector; the lanes before `begin` have run."""
    kernel, tile = rows.kernel, rows.tile
    w = kernel.w
    x = ir.Builtin(ir.BuiltinKind.GLOBAL_ID, 0)
    first = w.emit(f"add i32 {kernel.start_of(0)}, {begin}")
    kernel.types = {**kernel.types, _LATE: ir.DataType.U32}
    body = (ir.If(ir.Binary(ir.BinOp.GE, x, ir.Var(_LATE)), rows.peeling.simplified, ()),)
    kernel.retain(body)
    rows.tile = replace(tile, jam=1)
    names = {_LATE: uniform(ir.DataType.U32, first)}
    emit_lock_step(rows, [place], end, rows.peeling.inside, body, names)
    rows.tile = tile


def emit_lock_step(
    rows: RegionEmitter,
    places: list[Position],
    end: str,
    inside: set[int],
    body: ir.Body | None = None,
    names: Mapping[str, Value] = {},
) -> None:
    """Emit the steady-state body for lanes that run together.

    All conditions peeled from the row hold for them. If `body` is given, it is emitted instead,
    with `names` bound in it.
    """
    kernel, tile = rows.kernel, rows.tile
    if body is None:
        body = rows.peeling.simplified
    views: list[LaneContext] = []
    for number, place in enumerate(places):
        view = view_of(rows, tile.width, place)
        view.names.update(names)
        view.inside = inside
        view.apart = rows.peeling.apart
        view.strided = rows.peeling.strided
        view.wide = rows.peeling.wide
        view.ahead = rows.ahead
        if rows.peeling.by_facts <= inside:
            view.sums = rows.peeling.sums
        view.branches = not tile.width
        view.mask_bits = mask_bits(tile.width)
        _own_arrays(rows, view, number)
        views.append(view)
    axes = (0,) if tile.width else ()
    shapes = Divergence(kernel.program, body, axes, rows.varying, in_step=True)
    brought = [_bring(rows, view) for view in views]
    if not tile.lock_step:
        for view, kept in zip(views, brought, strict=True):
            Statements(kernel, (view,), shapes, end, kept=rows.crossing.names).run(body)
            _put_back(view, kept)
        return
    apart = None
    if tile.jam > 1:
        apart = Divergence(kernel.program, body, (tile.axis,), rows.varying)
    statements = Statements(kernel, views, shapes, end, apart, rows.crossing.names)
    if tile.width and _returns(body):
        statements.returned = statements.mask_slot("returned")
    statements.run(body)
    for view, kept in zip(views, brought, strict=True):
        _put_back(view, kept)


def emit_sifted(rows: RegionEmitter, sieve: LaneFilter, place: Position, end: str) -> None:
    """Emit a vector test of many lanes; a scalar loop runs those that pass."""
    w, type_ = rows.kernel.w, f"i{heuristics.LANE_FILTER_LANES}"
    tested = view_of(rows, heuristics.LANE_FILTER_LANES, place)
    tested.inside = rows.peeling.inside | sieve.inside
    for let in sieve.lets:
        tested.names[let.name] = tested.value(let.value)
    flags = tested.vector(tested.value(sieve.cond))
    bits = w.slot(type_, "lanes")
    packed = w.emit(f"bitcast <{heuristics.LANE_FILTER_LANES} x i1> {flags} to {type_}")
    w.do(f"store {type_} {packed}, ptr {bits}")
    head, run = w.fresh("sieve"), w.fresh("found")
    w.block(head)
    left = w.emit(f"load {type_}, ptr {bits}")
    w.branch(w.emit(f"icmp eq {type_} {left}, 0"), end, run)
    w.block(run)
    less = w.emit(f"sub {type_} {left}, 1")
    w.do(f"store {type_} {w.emit(f'and {type_} {left}, {less}')}, ptr {bits}")
    lane = w.intrinsic("cttz", type_, left, extra="i1 true")
    own = w.emit(f"add nuw i32 {place[0]}, {lane}")
    emit_lock_step(rows, [(own, *place[1:])], head, rows.peeling.inside)
    w.jump(head)


def emit_one_lane(rows: RegionEmitter, local: Position, end: str) -> None:
    """Emit one scalar lane's body, with all bounds checks and guards."""
    w = rows.kernel.w
    lanes = view_of(rows, 0, local)
    lanes.branches = not rows.tile.peeled
    body = rows.body
    shapes = Divergence(rows.kernel.program, body, ())
    finish = w.fresh("finish")
    statements = Statements(rows.kernel, (lanes,), shapes, finish, kept=rows.crossing.names)
    if rows.dead is not None:
        flag_place = w.emit(f"getelementptr i8, ptr {rows.dead}, i64 {lanes.lane_index}")
        flag = w.emit(f"load i8, ptr {flag_place}, align 1")
        gone = w.emit(f"icmp ne i8 {flag}, 0")
        alive = w.fresh("alive")
        w.branch(gone, end, alive)
        w.block(alive)
        statements.on_return = lambda: w.do(f"store i8 1, ptr {flag_place}, align 1")
    if rows.target is not None:
        statements.outer_signal = rows.target.signal
    _own_arrays(rows, lanes)
    kept = _bring(rows, lanes)
    statements.run(body)
    w.block(finish)
    _put_back(lanes, kept)


def _bring(rows: RegionEmitter, view: LaneContext) -> list[tuple[Slot, Slot]]:
    """Reload the variables that live across barriers; assigned ones get a slot."""
    changed = {s.name for s in walk_stmts(rows.stretch.body) if isinstance(s, (ir.Let, ir.Assign))}
    declared = {s.name for s in rows.stretch.body if isinstance(s, ir.Let)}
    kept: list[tuple[Slot, Slot]] = []
    for name, slot in rows.crossing.used(rows.stretch).items():
        view.names[name] = slot
        if name not in changed:
            view.names[name] = view.read(name)
            continue
        before = None if name in declared else view.read(name)
        fresh = view.new_slot(name, slot.dtype, slot.form)
        own = replace(fresh, shared=True)
        view.names[name] = own
        if before is not None:
            view.write(own, before, blend=False)
        kept.append((slot, own))
    return kept


def _put_back(view: LaneContext, kept: list[tuple[Slot, Slot]]) -> None:
    for slot, own in kept:
        view.write(slot, view.value_of(own), blend=False)


def _own_arrays(rows: RegionEmitter, lanes: LaneContext, number: int = 0) -> None:
    """Bind the private arrays of these lanes."""
    w, kernel = rows.kernel.w, rows.kernel
    for decl in kernel.program.buffers:
        if decl.name in kernel.own_arrays:
            lanes.own[decl.name] = emit_own_array(kernel, decl, lanes, number)
        elif decl.is_local:
            base = kernel.memories[decl.name].pointer
            offset = w.emit(f"mul i64 {lanes.lane_index}, {decl.size_bytes or 0}")
            pointer = w.emit(f"getelementptr i8, ptr {base}, i64 {offset}")
            lanes.own[decl.name] = Memory(
                decl, pointer, pointer, str(decl.count), shared=False, private=True
            )


def _lane_index(rows: RegionEmitter, local: Position) -> str:
    w = rows.kernel.w
    sx, sy, _ = rows.kernel.size
    index = w.emit(f"zext i32 {local[0]} to i64") if local[0] != "0" else "0"
    for axis, size in ((1, sx), (2, sx * sy)):
        if local[axis] != "0":
            row = w.emit(f"zext i32 {local[axis]} to i64")
            row = w.emit(f"mul i64 {row}, {size}")
            index = w.emit(f"add i64 {index}, {row}")
    return index


def _returns(body: ir.Body) -> bool:
    return any(isinstance(s, ir.Return) for s in walk_stmts(body))
