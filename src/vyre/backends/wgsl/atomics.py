"""Atomic updates of one element.

WGSL has atomics of 32-bit integers. Floats are updated by compare-exchange. 64-bit integers use
atomics of 64 bits where the device has them (an extension of naga). Elsewhere, sums and bit
operations whose result is unused update the halves one after the other, which gives the same
total in any order; everything else happens under a lock.
"""

from __future__ import annotations

from vyre.backends.wgsl.context import Context
from vyre.backends.wgsl.memory import Buffer, Cells, Space, length
from vyre.backends.wgsl.types import held
from vyre.emit import Writer
from vyre.ir import AtomicOp, DataType

STORAGE_LOCKS = 64
WORKGROUP_LOCKS = 16
"""Locks that elements share; more would only help where many are updated at once."""

BUILT_IN = {
    AtomicOp.ADD: "atomicAdd",
    AtomicOp.SUB: "atomicSub",
    AtomicOp.AND: "atomicAnd",
    AtomicOp.OR: "atomicOr",
    AtomicOp.XOR: "atomicXor",
    AtomicOp.MIN: "atomicMin",
    AtomicOp.MAX: "atomicMax",
    AtomicOp.EXCHANGE: "atomicExchange",
}
_BITWISE = {AtomicOp.AND: "&", AtomicOp.OR: "|", AtomicOp.XOR: "^"}


def write_atomic(ctx: Context, buffer: Buffer, function: str, op: AtomicOp, out: Writer) -> None:
    """The function that updates one element and gives its old value."""
    kind = held(buffer.scalar)
    expected = f", expected: {kind}" if op is AtomicOp.COMPARE_EXCHANGE else ""
    with out.block(f"fn {function}_{buffer.name}(i: u32, value: {kind}{expected}) -> {kind}"):
        out.line(f"var result: {kind};")
        with out.block(f"if (i < {length(ctx, buffer)})"):
            if buffer.cells is Cells.ATOMIC64:
                _write_native64(ctx, buffer, op, out)
            elif buffer.cells is Cells.PAIRS and buffer.separable:
                _write_halves(buffer, op, out)
            elif buffer.cells is Cells.PAIRS:
                _write_locked(ctx, buffer, op, out)
            else:
                _write_word(ctx, buffer, op, out)
        out.line("return result;")


def from_word(dtype: DataType, word: str) -> str:
    """A 32-bit value from what an atomic cell holds."""
    return f"bitcast<f32>({word})" if dtype.is_float else word


def to_word(dtype: DataType, value: str) -> str:
    """What an atomic cell holds for a 32-bit value."""
    return f"bitcast<u32>({value})" if dtype.is_float else value


def from_u64(ctx: Context, value: str, dtype: DataType) -> str:
    """A native 64-bit integer as a pair."""
    return ctx.call("pair_from_native", f"u64({value})" if dtype.is_signed else value)


def to_u64(ctx: Context, value: str, dtype: DataType) -> str:
    """A pair as a native 64-bit integer."""
    word = ctx.call("native_from_pair", value)
    return f"i64({word})" if dtype.is_signed else word


def _write_word(ctx: Context, buffer: Buffer, op: AtomicOp, out: Writer) -> None:
    cell = f"&{buffer.name}[i]"
    if op is AtomicOp.COMPARE_EXCHANGE:
        _write_strong_exchange(cell, "expected", "value", out)
        out.line("result = old;")
    elif op is AtomicOp.EXCHANGE:
        old = f"atomicExchange({cell}, {to_word(buffer.scalar, 'value')})"
        out.line(f"result = {from_word(buffer.scalar, old)};")
    elif buffer.scalar.is_float:
        _write_float_update(ctx, cell, op, out)
    else:
        out.line(f"result = {BUILT_IN[op]}({cell}, value);")


def _write_strong_exchange(cell: str, expected: str, value: str, out: Writer) -> None:
    """WGSL's compare-exchange may fail for no reason; ours must not. Leaves the result in `old`."""
    out.line(f"var old = {expected};")
    with out.block("loop"):
        out.line(f"let tried = atomicCompareExchangeWeak({cell}, {expected}, {value});")
        out.line("old = tried.old_value;")
        with out.block(f"if (tried.exchanged || old != {expected})"):
            out.line("break;")


def _write_float_update(ctx: Context, cell: str, op: AtomicOp, out: Writer) -> None:
    old = "bitcast<f32>(old)"
    if op is AtomicOp.ADD:
        new = f"{old} + value"
    else:
        new = ctx.call("f32_min" if op is AtomicOp.MIN else "f32_max", old, "value")
    out.line(f"var old = atomicLoad({cell});")
    with out.block("loop"):
        out.line(f"let tried = atomicCompareExchangeWeak({cell}, old, bitcast<u32>({new}));")
        with out.block("if (tried.exchanged)"):
            out.line("break;")
        out.line("old = tried.old_value;")
    out.line(f"result = {old};")


def _write_native64(ctx: Context, buffer: Buffer, op: AtomicOp, out: Writer) -> None:
    cell, scalar = f"&{buffer.name}[i]", buffer.scalar
    out.line(f"let operand = {to_u64(ctx, 'value', scalar)};")
    if op is AtomicOp.COMPARE_EXCHANGE:
        out.line(f"let wanted = {to_u64(ctx, 'expected', scalar)};")
        _write_strong_exchange(cell, "wanted", "operand", out)
        out.line(f"result = {from_u64(ctx, 'old', scalar)};")
    else:
        old = f"{BUILT_IN[op]}({cell}, operand)"
        out.line(f"result = {from_u64(ctx, old, scalar)};")


def _write_halves(buffer: Buffer, op: AtomicOp, out: Writer) -> None:
    """The sum is right once all have added; the value given back is not, and is unused."""
    low, high = f"&{buffer.name}[2u * i]", f"&{buffer.name}[2u * i + 1u]"
    if op in _BITWISE:
        out.line(f"let low = {BUILT_IN[op]}({low}, value.x);")
        out.line(f"result = vec2<u32>(low, {BUILT_IN[op]}({high}, value.y));")
        return
    if op is AtomicOp.SUB:
        out.line(f"let low = atomicSub({low}, value.x);")
        out.line("let borrow = select(0u, 1u, low < value.x);")
        out.line(f"result = vec2<u32>(low, atomicSub({high}, value.y + borrow));")
        return
    out.line(f"let low = atomicAdd({low}, value.x);")
    out.line("let carry = select(0u, 1u, low + value.x < low);")
    out.line(f"result = vec2<u32>(low, atomicAdd({high}, value.y + carry));")


def _write_locked(ctx: Context, buffer: Buffer, op: AtomicOp, out: Writer) -> None:
    """Take the lock, update, open it; lanes that wait go round in step with the one inside."""
    space = "workgroup" if buffer.space is Space.WORKGROUP else "storage"
    ctx.locks.add(space)
    count = WORKGROUP_LOCKS if space == "workgroup" else STORAGE_LOCKS
    lock = f"&{space}_locks[i % {count}u]"
    low, high = f"&{buffer.name}[2u * i]", f"&{buffer.name}[2u * i + 1u]"
    out.line("var waiting = true;")
    taken = f"if (atomicExchange({lock}, 1u) == 0u)"
    with out.block("while (waiting)"), out.block(taken):
        out.line(f"let old = vec2<u32>(atomicLoad({low}), atomicLoad({high}));")
        out.line(f"let next = {_joined(ctx, op, buffer.scalar)};")
        # Exchanges go through to memory, where the next one who takes the lock looks.
        out.line(f"atomicExchange({low}, next.x);")
        out.line(f"atomicExchange({high}, next.y);")
        out.line(f"atomicExchange({lock}, 0u);")
        out.line("result = old;")
        out.line("waiting = false;")


def _joined(ctx: Context, op: AtomicOp, dtype: DataType) -> str:
    """What an element becomes."""
    if op is AtomicOp.EXCHANGE:
        return "value"
    if op is AtomicOp.COMPARE_EXCHANGE:
        return "select(old, value, all(old == expected))"
    if op in _BITWISE:
        return f"old {_BITWISE[op]} value"
    if op in (AtomicOp.MIN, AtomicOp.MAX):
        return ctx.call(f"{dtype}_{op.name.lower()}", "old", "value")
    return ctx.call(f"u64_{op.name.lower()}", "old", "value")
