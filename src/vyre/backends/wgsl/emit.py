"""A program as a WGSL shader."""

from __future__ import annotations

from math import prod

from vyre.backends.wgsl import prelude
from vyre.backends.wgsl.access import write_functions, write_zeroing
from vyre.backends.wgsl.atomics import STORAGE_LOCKS, WORKGROUP_LOCKS
from vyre.backends.wgsl.barriers import Barriers
from vyre.backends.wgsl.context import ENTRY_POINT, LAUNCH, ZERO, Context
from vyre.backends.wgsl.expressions import Expressions
from vyre.backends.wgsl.memory import Buffer, Space, make_buffers
from vyre.backends.wgsl.shader import GRID_FIELDS, Bound, Shader
from vyre.backends.wgsl.statements import Statements
from vyre.backends.wgsl.traps import RECORD, RECORD_WORDS, Traps
from vyre.diagnostics import CapabilityError, Diagnostic
from vyre.diagnostics.codes import lower as codes
from vyre.emit import Writer
from vyre.ir import BufferAccess, Program
from vyre.lower import bindings, legalise
from vyre.lower.bindings import has_ordered_atomics
from vyre.target import Target

_BUILTINS = {
    "gid": ("global_invocation_id", "vec3<u32>"),
    "lid": ("local_invocation_id", "vec3<u32>"),
    "wid": ("workgroup_id", "vec3<u32>"),
    "grid": ("num_workgroups", "vec3<u32>"),
    "local_index": ("local_invocation_index", "u32"),
}


def emit_shader(program: Program, target: Target) -> Shader:
    """The program in WGSL, for a target."""
    program = legalise(program, target)
    ctx = Context(program, target)
    ordered = has_ordered_atomics(program)
    found = make_buffers(ctx, bindings(program), ordered=ordered)
    body = Writer(depth=1)
    traps = Traps(ctx)
    exprs = Expressions(ctx, {buffer.decl.name: buffer for buffer in found}, body)
    barriers = Barriers(program.workgroup_size, found)
    Statements(exprs, barriers, traps).program()
    functions = Writer()
    for buffer in found:
        write_functions(ctx, buffer, functions)
    for buffer in found:
        if not buffer.used:
            ctx.tell(f"len_{buffer.name}")
    _check_limits(ctx, found, bool(traps.tags))
    prologue = _prologue(ctx, found, traps)
    if traps.tags:
        traps.write_function(functions)
    parts = (functions.text(), prologue + body.text())
    plain = _assemble(ctx, found, *parts, tuple(ctx.fields), traps, general=False)
    fields = (*ctx.fields, *ctx.measured, *GRID_FIELDS)
    general = _assemble(ctx, found, *parts, fields, traps, general=True)
    places = {f"len_{b.name}": b.argument for b in found if b.argument is not None}
    return Shader(
        text=plain,
        general=general,
        fields=tuple(ctx.fields),
        general_fields=fields,
        bindings=tuple(
            Bound(b.decl.name, b.argument or 0, _access(b), (b.decl.element.bits or 0) // 8)
            for b in _bound(found)
        ),
        lengths=tuple((name, places[name]) for name in fields if name in places),
        measured=tuple(places[name] for name in ctx.measured),
        tags=tuple(traps.tags),
        locked="storage" in ctx.locks,
        workgroup_size=program.workgroup_size,
    )


def _bound(buffers: list[Buffer]) -> list[Buffer]:
    return [b for b in buffers if b.used and b.space in (Space.STORAGE, Space.UNIFORM)]


def _access(buffer: Buffer) -> str:
    if buffer.space is Space.UNIFORM:
        return "uniform"
    return "read_write" if buffer.written else "read"


def _check_limits(ctx: Context, buffers: list[Buffer], has_traps: bool) -> None:
    """What only the emitter knows: how many bytes and bindings its own inventions take."""
    limits, target = ctx.target.limits, ctx.target.name
    shared = sum(b.cell_count * b.cell_bytes for b in buffers if b.space is Space.WORKGROUP)
    exchanged = sum(size for _, size in ctx.workgroup_variables.values())
    locks = 4 * WORKGROUP_LOCKS if "workgroup" in ctx.locks else 0
    private = sum(b.cell_count * b.cell_bytes for b in buffers if b.space is Space.PRIVATE)
    storage = [b for b in _bound(buffers) if b.space is Space.STORAGE]
    moved = sum(b.decl.access is BufferAccess.UNIFORM and b.decl.count > 0 for b in storage)
    uniform = sum(b.space is Space.UNIFORM for b in _bound(buffers))
    problems: list[Diagnostic] = []
    for code, amount, added, limit in (
        (
            codes.WORKGROUP_MEMORY,
            shared,
            {"for values of the workgroup": exchanged, "for 64-bit atomics": locks},
            limits.max_workgroup_bytes,
        ),
        (codes.PRIVATE_MEMORY, private, {}, limits.max_local_bytes),
        (
            codes.TOO_MANY_BUFFERS,
            len(storage) - moved,
            {
                f"uniform ones beyond the {uniform} that fit there": moved,
                "for its traps": int(has_traps),
                "for 64-bit atomics": int("storage" in ctx.locks),
            },
            limits.max_storage_buffers,
        ),
    ):
        found = amount + sum(added.values())
        if found > limit:
            parts = [f"{amount} of its own", *(f"{n} {why}" for why, n in added.items() if n)]
            own = f" ({', '.join(parts)})" if parts[1:] else ""
            problems.append(code.at(found=found, own=own, limit=limit, target=target))
    if problems:
        raise CapabilityError(problems)


def _prologue(ctx: Context, buffers: list[Buffer], traps: Traps) -> str:
    """What comes before the program's first statement: workgroup memory is zero at the start."""
    out = Writer(depth=1)
    size = prod(ctx.program.workgroup_size)
    shared = [b for b in buffers if b.space is Space.WORKGROUP and b.used]
    if "workgroup" in ctx.locks:
        head = f"for (var k = local_index; k < {WORKGROUP_LOCKS}u; k += {size}u)"
        with out.block(head):
            out.line("atomicStore(&workgroup_locks[k], 0u);")
    for buffer in shared:
        ctx.builtins.add("local_index")
        write_zeroing(buffer, size, out)
    if shared and size > 1:
        out.line("workgroupBarrier();")
    traps.declare(out)
    out.blank()
    return out.text()


def _assemble(
    ctx: Context,
    buffers: list[Buffer],
    functions: str,
    body: str,
    fields: tuple[str, ...],
    traps: Traps,
    *,
    general: bool,
) -> str:
    out = Writer()
    for extension in sorted(ctx.enables):
        out.line(f"enable {extension};")
    out.blank()
    if fields:
        with out.block("struct Launch"):
            for name in fields:
                out.line(f"{name}: u32,")
        out.blank()
    _write_variables(ctx, buffers, bool(fields), bool(traps.tags), out)
    _write_entry_point(ctx, body, general, out)
    out.blank()
    out.lines(functions)
    out.blank()
    for helper in ctx.helpers.values():
        out.lines(helper)
        out.blank()
    own = {"hidden_zero"} if ctx.hides else set[str]()
    for function in prelude.closure(ctx.functions | own):
        out.lines(function.text)
        out.blank()
    return ctx.filled(out.text().rstrip(), general=general) + "\n"


def _write_variables(
    ctx: Context, buffers: list[Buffer], has_launch: bool, has_traps: bool, out: Writer
) -> None:
    number = 0
    for buffer in _bound(buffers):
        access = _access(buffer)
        space = "uniform" if access == "uniform" else f"storage, {access}"
        out.line(f"@group(0) @binding({number}) var<{space}> {buffer.declaration};")
        number += 1
    if has_launch:
        out.line(f"@group(0) @binding({number}) var<uniform> {LAUNCH}: Launch;")
        number += 1
    if has_traps:
        record = f"{RECORD}: array<atomic<u32>, {RECORD_WORDS}>"
        out.line(f"@group(0) @binding({number}) var<storage, read_write> {record};")
        number += 1
    if "storage" in ctx.locks:
        locks = f"storage_locks: array<atomic<u32>, {STORAGE_LOCKS}>"
        out.line(f"@group(0) @binding({number}) var<storage, read_write> {locks};")
    if "workgroup" in ctx.locks:
        out.line(f"var<workgroup> workgroup_locks: array<atomic<u32>, {WORKGROUP_LOCKS}>;")
    for buffer in buffers:
        if buffer.used and buffer.space in (Space.WORKGROUP, Space.PRIVATE):
            out.line(f"var<{buffer.space.value}> {buffer.declaration};")
    for name, (kind, _) in ctx.workgroup_variables.items():
        out.line(f"var<workgroup> {name}: {kind};")
    out.blank()


def _write_entry_point(ctx: Context, body: str, general: bool, out: Writer) -> None:
    size = ", ".join(map(str, ctx.program.workgroup_size))
    used = ctx.builtins
    if general:
        inputs = [name for name in ("lid", "local_index") if name in used or name == "lid"]
        parameters = ["@builtin(workgroup_id) launched_id: vec3<u32>"]
        parameters.append("@builtin(num_workgroups) launched: vec3<u32>")
    else:
        wanted = used | {"grid"} if ctx.hides else used
        inputs = [name for name in _BUILTINS if name in wanted]
        parameters = []
    for name in inputs:
        builtin, kind = _BUILTINS[name]
        parameters.append(f"@builtin({builtin}) {name}: {kind}")
    if ctx.program.entry_op_id:
        out.line(f"// {ctx.program.entry_op_id}")
    out.line(f"@compute @workgroup_size({size})")
    with out.block(f"fn {ENTRY_POINT}({', '.join(parameters)})"):
        if ctx.hides:
            out.line(f"let {ZERO} = hidden_zero({'launched' if general else 'grid'});")
        if general:
            _write_unfolding(used, size, out)
        out.verbatim(body)


def _write_unfolding(used: set[str], size: str, out: Writer) -> None:
    """The workgroup that this one stands for, in the grid that was asked for."""
    out.line("let row = launched_id.y + launched.y * launched_id.z;")
    out.line("let number = launched_id.x + launched.x * row;")
    with out.block(f"if (number >= {LAUNCH}.total)"):
        out.line("return;")
    if used & {"gid", "wid", "grid"}:
        out.line(f"let grid = vec3<u32>({LAUNCH}.grid_x, {LAUNCH}.grid_y, {LAUNCH}.grid_z);")
        rest = "(number / grid.x) % grid.y, number / (grid.x * grid.y)"
        out.line(f"let wid = vec3<u32>(number % grid.x, {rest});")
        out.line(f"let gid = wid * vec3<u32>({size}) + lid;")
