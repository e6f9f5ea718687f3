"""Lowering of traps and prints: messages from lanes to the host."""

from __future__ import annotations

from vyre.backends.llvm.emit.builder import register_type
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.values import Value
from vyre.ir import AnyExpr, DataType, Expr


def emit_trap(kernel: Kernel, lanes: LaneContext, tag: str) -> None:
    """Emit a trap: a report of the first active lane, and a return."""
    w = kernel.w
    number = kernel.trap_tag(tag)
    x, y, z = _first_active_id(kernel, lanes)
    w.do(f"call void @vyre_trap(ptr %control, i32 {number}, i32 {x}, i32 {y}, i32 {z})")
    w.leave()
    w.block(w.fresh("unreachable"))


def emit_print(kernel: Kernel, lanes: LaneContext, label: str, values: tuple[AnyExpr, ...]) -> None:
    """Emit a record in the print ring for every active lane."""
    w = kernel.w
    shown = [lanes.value(value) for value in values]
    flat = [piece for value in shown for piece in (value.parts or (value,))]
    types = tuple(value.dtype for value in flat)
    text = label.replace("{", "{{").replace("}", "}}")
    if shown:
        text += ": " + ", ".join(_shown(value) for value in shown)
    number = kernel.print_format(text, types)
    ids = [lanes.spread(v) for v in _ids(lanes)]

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
            _argument(kernel, record, position, lanes.lane_of(value, lane))
        w.jump(done)
        w.block(done)

    lanes.for_each_active(one)


def _shown(value: Value) -> str:
    return f"({', '.join(['{}'] * len(value.parts))})" if value.parts else "{}"


def _argument(kernel: Kernel, record: str, position: int, value: Value) -> None:
    w = kernel.w
    text, dtype = value.text, value.dtype
    if dtype is DataType.BF16:
        text, dtype = kernel.arithmetic.bf16_to_f32(0, text), DataType.F32
    bits = "i1" if dtype.is_bool else f"i{dtype.bits}"
    if dtype.is_float:
        text = w.emit(f"bitcast {register_type(dtype)} {text} to {bits}")
    if bits != "i64":
        text = w.emit(f"zext {bits} {text} to i64")
    place = w.emit(f"getelementptr i64, ptr {record}, i64 {position}")
    w.do(f"store i64 {text}, ptr {place}, align 8")


def _ids(lanes: LaneContext) -> list[Value]:
    return [lanes.value(Expr.gid(axis)) for axis in range(3)]


def _first_active_id(kernel: Kernel, lanes: LaneContext) -> tuple[str, str, str]:
    w = kernel.w
    x, y, z = (value.text for value in _ids(lanes))
    if lanes.width and lanes.mask is not None:
        bits = lanes.mask_as_integer()
        type_ = f"i{lanes.width}"
        first = w.intrinsic("cttz", type_, bits, extra="i1 false")
        resize = "trunc" if lanes.width > 32 else "zext" if lanes.width < 32 else ""
        lane = w.emit(f"{resize} {type_} {first} to i32") if resize else first
        x = w.emit(f"add i32 {x}, {lane}")
    return x, y, z
