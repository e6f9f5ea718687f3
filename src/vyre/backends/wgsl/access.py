"""The functions of a buffer: load, store and atomic updates of one element, with bounds checked.

They have one exit each: SwiftShader compiles calls of functions with several, inside of nested
loops, in time that doubles with every level.
"""

from __future__ import annotations

from vyre.backends.wgsl.atomics import from_u64, from_word, to_u64, to_word, write_atomic
from vyre.backends.wgsl.context import Context
from vyre.backends.wgsl.memory import Buffer, Cells, Space, length
from vyre.backends.wgsl.types import held, is_array, is_half, is_wide, zero
from vyre.emit import Writer
from vyre.ir import DataType, TypeKind


def write_functions(ctx: Context, buffer: Buffer, out: Writer) -> None:
    """Write every function of the buffer that the shader calls, and those that they call."""
    by_lanes = buffer.lanes > 1 and not buffer.is_native_vector
    if "cell" in buffer.functions or (by_lanes and "load" in buffer.functions):
        _write_cell_load(ctx, buffer, out)
    if "set_cell" in buffer.functions or (by_lanes and "store" in buffer.functions):
        _write_cell_store(ctx, buffer, out)
    for function, op in buffer.functions.items():
        if op is not None:
            write_atomic(ctx, buffer, function, op, out)
        elif function == "load":
            _write_load(ctx, buffer, out)
        elif function == "store":
            _write_store(ctx, buffer, out)
        out.blank()


def write_zeroing(buffer: Buffer, size: int, out: Writer) -> None:
    """Fill workgroup memory with zeros, each invocation its part."""
    count = buffer.cell_count
    k = "k" if count > size else "local_index"
    if buffer.cells is Cells.PLAIN:
        clear = f"{buffer.name}[{k}] = {buffer.cell_type}();"
    else:
        clear = f"atomicStore(&{buffer.name}[{k}], 0);"
        if buffer.cells is Cells.PACKED and not buffer.shares_words:
            clear = f"{buffer.name}[{k}] = 0u;"
    if count == size:
        out.line(clear)
        return
    head = f"for (var k = local_index; k < {count}u; k += {size}u)"
    with out.block(head if count > size else f"if (local_index < {count}u)"):
        out.line(clear)


def _write_load(ctx: Context, buffer: Buffer, out: Writer) -> None:
    value_type = buffer.decl.value_type
    with out.block(f"fn load_{buffer.name}(i: u32) -> {held(value_type)}"):
        count = length(ctx, buffer)
        if is_array(value_type):
            out.line(f"var value: {held(value_type)};")
            with out.block(f"for (var k = 0u; i < {count} && k < {buffer.lanes}u; k++)"):
                out.line(f"value[k] = cell_{buffer.name}({buffer.lanes}u * i + k);")
            out.line("return value;")
            return
        # Something is read in any case: a choice is cheaper to compile and to run than a branch.
        # WGSL keeps every read inside of the memory that is bound; which one does not matter.
        place = "i"
        if buffer.space is not Space.STORAGE:
            out.line(f"let k = min(i, {buffer.decl.count - 1}u);")
            place = "k"
        if buffer.lanes == 1:
            value = read_scalar(ctx, buffer, place)
        elif buffer.is_native_vector:
            value = f"{buffer.name}[{place}]"
        else:
            lanes = [f"cell_{buffer.name}({_lane(buffer, n, place)})" for n in range(buffer.lanes)]
            value = f"{held(value_type)}({', '.join(lanes)})"
        out.line(f"return select({zero(value_type)}, {value}, i < {count});")


def _write_store(ctx: Context, buffer: Buffer, out: Writer) -> None:
    value_type = buffer.decl.value_type
    head = f"fn store_{buffer.name}(i: u32, value: {held(value_type)})"
    with out.block(head), out.block(f"if (i < {length(ctx, buffer)})"):
        if buffer.lanes == 1:
            write_scalar(ctx, buffer, "i", "value", out)
        elif buffer.is_native_vector:
            out.line(f"{buffer.name}[i] = value;")
        elif is_array(value_type):
            # WGSL indexes no parameter with a variable; its copy it does.
            out.line("var lanes = value;")
            with out.block(f"for (var k = 0u; k < {buffer.lanes}u; k++)"):
                out.line(f"set_cell_{buffer.name}({buffer.lanes}u * i + k, lanes[k]);")
        else:
            for k in range(buffer.lanes):
                out.line(f"set_cell_{buffer.name}({_lane(buffer, k, 'i')}, value[{k}]);")


def _lane(buffer: Buffer, lane: int, index: str) -> str:
    return f"{buffer.lanes}u * {index}" + (f" + {lane}u" if lane else "")


def _write_cell_load(ctx: Context, buffer: Buffer, out: Writer) -> None:
    with out.block(f"fn cell_{buffer.name}(i: u32) -> {held(buffer.scalar.value_type)}"):
        out.line(f"return {read_scalar(ctx, buffer, 'i')};")
    out.blank()


def _write_cell_store(ctx: Context, buffer: Buffer, out: Writer) -> None:
    with out.block(f"fn set_cell_{buffer.name}(i: u32, value: {held(buffer.scalar.value_type)})"):
        write_scalar(ctx, buffer, "i", "value", out)
    out.blank()


def read_scalar(ctx: Context, buffer: Buffer, index: str) -> str:
    """The value of the scalar at an index that is in bounds."""
    match buffer.cells:
        case Cells.PLAIN:
            return f"{buffer.name}[{index}]"
        case Cells.ATOMIC:
            return from_word(buffer.scalar, f"atomicLoad(&{buffer.name}[{index}])")
        case Cells.PAIRS:
            low = f"atomicLoad(&{buffer.name}[2u * {index}])"
            return f"vec2<u32>({low}, atomicLoad(&{buffer.name}[2u * {index} + 1u]))"
        case Cells.ATOMIC64:
            return from_u64(ctx, f"atomicLoad(&{buffer.name}[{index}])", buffer.scalar)
        case Cells.PACKED:
            place, shift = _place(buffer, index)
            word = f"{buffer.name}[{place}]"
            word = f"atomicLoad(&{word})" if buffer.shares_words else word
            return _decoded(ctx, buffer.scalar, f"({word} >> {shift})")
        case Cells.UNIFORM:
            return _read_uniform(ctx, buffer, index)


def _read_uniform(ctx: Context, buffer: Buffer, index: str) -> str:
    if is_wide(buffer.scalar):
        low, high = (_uniform_word(buffer, f"(2u * {index}{more})") for more in ("", " + 1u"))
        return f"vec2<u32>({low}, {high})"
    if buffer.scalar.bits == 32:
        word = _uniform_word(buffer, index)
        return word if held(buffer.scalar) == "u32" else f"bitcast<{held(buffer.scalar)}>({word})"
    place, shift = _place(buffer, index)
    return _decoded(ctx, buffer.scalar, f"({_uniform_word(buffer, f'({place})')} >> {shift})")


def _uniform_word(buffer: Buffer, place: str) -> str:
    return f"{buffer.name}[{place} >> 2u][{place} & 3u]"


def write_scalar(ctx: Context, buffer: Buffer, index: str, value: str, out: Writer) -> None:
    """Statements that set the scalar at an index that is in bounds."""
    match buffer.cells:
        case Cells.PLAIN:
            if buffer.is_converted:
                value = _decoded(ctx, buffer.scalar, _encoded(ctx, buffer.scalar, value))
            out.line(f"{buffer.name}[{index}] = {value};")
        case Cells.ATOMIC:
            out.line(f"atomicStore(&{buffer.name}[{index}], {to_word(buffer.scalar, value)});")
        case Cells.PAIRS:
            out.line(f"atomicStore(&{buffer.name}[2u * {index}], {value}.x);")
            out.line(f"atomicStore(&{buffer.name}[2u * {index} + 1u], {value}.y);")
        case Cells.ATOMIC64:
            word = to_u64(ctx, value, buffer.scalar)
            out.line(f"atomicStore(&{buffer.name}[{index}], {word});")
        case Cells.PACKED:
            place, shift = _place(buffer, index)
            mask = (1 << (buffer.scalar.bits or 0)) - 1
            bits = _encoded(ctx, buffer.scalar, value)
            out.line(f"let shift = {shift};")
            # Two steps that keep the other elements of the word, also under concurrent stores.
            out.line(f"atomicAnd(&{buffer.name}[{place}], ~({mask:#x}u << shift));")
            out.line(f"atomicOr(&{buffer.name}[{place}], {bits} << shift);")
        case Cells.UNIFORM:
            raise AssertionError("the checker lets no program write a uniform buffer")


def _place(buffer: Buffer, index: str) -> tuple[str, str]:
    """The word that holds a scalar, and how far up in it."""
    if buffer.scalar.bits == 8:
        return f"{index} >> 2u", f"(({index} & 3u) << 3u)"
    return f"{index} >> 1u", f"(({index} & 1u) << 4u)"


def _decoded(ctx: Context, scalar: DataType, bits: str) -> str:
    """A value from the lower bits of a word."""
    if scalar.is_bool:
        return f"({bits} & 0xffu) != 0u"
    if scalar.is_signed:
        shift = 32 - (scalar.bits or 0)
        return f"bitcast<i32>({bits} << {shift}u) >> {shift}u"
    masked = f"{bits} & {(1 << (scalar.bits or 0)) - 1:#x}u"
    if is_half(scalar) or scalar.kind is TypeKind.PACKED:
        return ctx.call(f"{held(scalar.value_type)}_from_{scalar}", masked)
    return masked


def _encoded(ctx: Context, scalar: DataType, value: str) -> str:
    """The lower bits of a word from a value; those above are zero."""
    if scalar.is_bool:
        return f"u32({value})"
    if scalar.is_signed:
        return f"(bitcast<u32>({value}) & {(1 << (scalar.bits or 0)) - 1:#x}u)"
    if is_half(scalar) or scalar.kind is TypeKind.PACKED:
        return ctx.call(f"{scalar}_from_{held(scalar.value_type)}", value)
    return value
