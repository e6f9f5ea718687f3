"""Subgroup operations in WGSL, by the device's own subgroups or through workgroup memory.

The checker lets subgroup operations stand only where a whole workgroup arrives, so every lane takes
part, and a lane exists when its invocation does. Where the device has no subgroups, or the
workgroup has several dimensions (whose lanes no device promises to number as we do), invocations
exchange values through workgroup memory, and consecutive ones form a subgroup.

WGSL joins 32-bit integers over a subgroup itself. Everything else is joined lane by lane: in the
order of the lanes, as floats must be, and for types that WGSL lacks.
"""

from __future__ import annotations

from math import prod

from vyre.backends.wgsl import operators
from vyre.backends.wgsl.context import ZERO, Context, spell
from vyre.backends.wgsl.types import held, is_narrow, is_wide, zero
from vyre.backends.wgsl.value import Seen, Value
from vyre.emit import Level, Writer
from vyre.ir import BinOp, DataType, ReduceOp

NATIVE = ("subgroups", "native")
"""The detail of a target whose device has subgroups of a known, fixed width."""
INDEX = "local_index"
"""The invocation's number in its workgroup, an input of the entry point."""

_BINARY = {
    ReduceOp.ADD: BinOp.ADD,
    ReduceOp.MUL: BinOp.MUL,
    ReduceOp.MIN: BinOp.MIN,
    ReduceOp.MAX: BinOp.MAX,
    ReduceOp.AND: BinOp.AND,
    ReduceOp.OR: BinOp.OR,
    ReduceOp.XOR: BinOp.XOR,
}


def is_native(ctx: Context) -> bool:
    """Whether the device's own subgroups do the work."""
    _, y, z = ctx.program.workgroup_size
    return NATIVE in ctx.target.details and y == z == 1


def size(ctx: Context) -> Value:
    """How many lanes the subgroup has."""
    return Value(f"{ctx.target.subgroup_width}u", DataType.U32, constant=True)


def lane(ctx: Context) -> Value:
    """The invocation's lane."""
    ctx.builtins.add(INDEX)
    return spell(f"{INDEX} % {ctx.target.subgroup_width}u", DataType.U32, Level.PRODUCT)


def ballot(ctx: Context, cond: Value) -> Value:
    """A bit per lane."""
    if is_native(ctx):
        ctx.enables.add("subgroups")
        return spell(f"subgroupBallot({cond.text})", DataType.VEC4_U32)
    name = "subgroup_ballot"
    if name not in ctx.helpers:
        with _Helper(ctx, name, DataType.BOOL, "", "vec4<u32>") as out:
            out.line("var bits: vec4<u32>;")
            with _each_lane(ctx, DataType.BOOL, out):
                out.line("bits[lane >> 5u] |= u32(other) << (lane & 31u);")
            _leave(ctx, out)
            out.line("return bits;")
    return spell(f"{name}({cond.text}, {_index(ctx)})", DataType.VEC4_U32)


def shuffle(ctx: Context, value: Value, source: str) -> Value:
    """The value that another lane holds; zero when there is no such lane."""
    dtype = value.dtype
    name = f"subgroup_shuffle_{dtype}"
    if name not in ctx.helpers:
        with _Helper(ctx, name, dtype, "lane: u32, ", held(dtype)) as out:
            out.line(f"let first = index - index % {ctx.target.subgroup_width}u;")
            count = prod(ctx.program.workgroup_size)
            width = ctx.target.subgroup_width
            out.line(f"let exists = lane < {width}u && first + lane < {count}u;")
            out.line(f"let other = {_of_lane(ctx, dtype, 'select(0u, lane, exists)')};")
            _leave(ctx, out)
            out.line(f"return select({zero(dtype)}, other, exists);")
    return spell(f"{name}({value.text}, {source}, {_index(ctx)})", dtype)


def reduce(ctx: Context, op: ReduceOp, value: Value) -> Value:
    """All values of the subgroup joined."""
    dtype = value.dtype
    if is_native(ctx) and dtype.is_integer and not is_wide(dtype):
        ctx.enables.add("subgroups")
        joined = spell(f"subgroup{op.row.spelling.capitalize()}({value.text})", dtype)
        return operators.wrapped(joined) if is_narrow(dtype) else joined
    name = f"subgroup_{op.row.spelling}_{dtype}"
    if name not in ctx.helpers:
        total, other = spell("total", dtype), spell("other", dtype)
        joined = operators.binary(ctx, _BINARY[op], total, other)
        joined = ctx.hidden(joined, Seen.ALL) if dtype.is_float else joined
        more = f"{ZERO}: vec2<u32>, " if dtype.is_float else ""
        with _Helper(ctx, name, dtype, more, held(dtype)) as out:
            out.line(f"var total: {held(dtype)};")
            with _each_lane(ctx, dtype, out):
                out.line(f"total = select({joined.text}, other, lane == 0u);")
            _leave(ctx, out)
            out.line("return total;")
    more = f"{ctx.zero()}, " if dtype.is_float else ""
    return spell(f"{name}({value.text}, {more}{_index(ctx)})", dtype)


def _index(ctx: Context) -> str:
    ctx.builtins.add(INDEX)
    return INDEX


class _Helper:
    """Writes a function that every lane calls with its value and its index."""

    def __init__(self, ctx: Context, name: str, dtype: DataType, more: str, gives: str) -> None:
        self.ctx, self.name, self.dtype = ctx, name, dtype
        self.out = Writer()
        self.head = f"fn {name}(value: {held(dtype)}, {more}index: u32) -> {gives}"

    def __enter__(self) -> Writer:
        self.out.open(self.head)
        if is_native(self.ctx):
            self.ctx.enables.add("subgroups")
        else:
            _enter(self.ctx, self.dtype, self.out)
        return self.out

    def __exit__(self, *problem: object) -> None:
        self.out.close()
        self.ctx.helpers[self.name] = self.out.text()


def _each_lane(ctx: Context, dtype: DataType, out: Writer) -> _Lanes:
    return _Lanes(ctx, dtype, out)


class _Lanes:
    """A loop over the lanes that exist, in order, with the value of each as `other`."""

    def __init__(self, ctx: Context, dtype: DataType, out: Writer) -> None:
        self.ctx, self.dtype, self.out = ctx, dtype, out

    def __enter__(self) -> None:
        width, count = self.ctx.target.subgroup_width, prod(self.ctx.program.workgroup_size)
        self.out.line(f"let first = index - index % {width}u;")
        self.out.open(f"for (var lane = 0u; lane < {min(width, count)}u; lane++)")
        # The exchange itself stands where all lanes arrive.
        self.out.line(f"let other = {_of_lane(self.ctx, self.dtype, 'lane')};")
        self.out.open(f"if (first + lane < {count}u)")

    def __exit__(self, *problem: object) -> None:
        self.out.close()
        self.out.close()


def _of_lane(ctx: Context, dtype: DataType, source: str) -> str:
    """The value that a lane holds, where the exchange has begun."""
    if is_native(ctx):
        if dtype.is_bool:
            return f"subgroupShuffle(u32(value), {source}) != 0u"
        return f"subgroupShuffle(value, {source})"
    last = prod(ctx.program.workgroup_size) - 1
    cell = f"exchange[min(first + {source}, {last}u)]"
    if is_wide(dtype):
        return cell
    if dtype.is_bool:
        return f"{cell}.x != 0u"
    return f"{cell}.x" if held(dtype) == "u32" else f"bitcast<{held(dtype)}>({cell}.x)"


def _enter(ctx: Context, dtype: DataType, out: Writer) -> None:
    """Every lane shows its value to the others."""
    count = prod(ctx.program.workgroup_size)
    ctx.workgroup_variables["exchange"] = (f"array<vec2<u32>, {count}>", 8 * count)
    if is_wide(dtype):
        out.line("exchange[index] = value;")
    elif dtype.is_bool or held(dtype) == "u32":
        out.line("exchange[index] = vec2<u32>(u32(value), 0u);")
    else:
        out.line("exchange[index] = vec2<u32>(bitcast<u32>(value), 0u);")
    if count > 1:
        out.line("workgroupBarrier();")


def _leave(ctx: Context, out: Writer) -> None:
    """No invocation shows another value before all have read this one."""
    if not is_native(ctx) and prod(ctx.program.workgroup_size) > 1:
        out.line("workgroupBarrier();")
