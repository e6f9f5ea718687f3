"""Checks a program against a target: features that it lacks, limits that it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from vyre import ir
from vyre.check.findings import Findings
from vyre.check.notes import Notes
from vyre.diagnostics.codes import check as codes
from vyre.ir.stmt import Body, Break, Return
from vyre.ir.walk import walk_own_exprs, walk_stmts
from vyre.target import Feature, Limits, Target

_ADVICE = {
    Feature.F16: "compute in f32: loading, storing and converting f16 works everywhere",
    Feature.F64: "use f32, or a device with double floats",
    Feature.ATOMIC64: "use 32-bit atomics, or another device",
    Feature.ATOMIC_F32: "use integer atomics, or another device",
    Feature.SUBGROUPS: "use workgroup memory and barriers, or another device",
    Feature.TRAP: "write a flag to an output buffer, or use another device",
    Feature.PRINT: "remove the print, or run on the reference or the CPU",
    Feature.INDIRECT_DISPATCH: "give the grid when launching, or use another device",
}
"""Features without which a program that uses them cannot run; all others are emulated."""


def check_target(program: ir.Program, target: Target, notes: Notes, findings: Findings) -> None:
    """Report what the target cannot do."""
    for feature, (position, what) in notes.features.items():
        if feature in _ADVICE and not target.has(feature):
            missing = codes.MISSING_FEATURE.at(
                target=target.name, feature=feature.value, what=what, advice=_ADVICE[feature]
            )
            findings.add(position, missing)
    for position, statement in notes.opaques:
        unknown = codes.OPAQUE_ON_TARGET.at(target=target.name, kind=statement.kind)
        findings.add(position, unknown)
    _check_limits(program, target, findings)


_MOST_NAMED = 4
"""Buffers that a sentence names; more would hide the largest."""

_ANY_ROUNDS = Limits().max_loop_rounds


def _least_rounds(body: Body) -> int:
    """Rounds of loops with literal bounds that some invocation makes if it comes here."""
    total = 0
    for statement in body:
        match statement:
            case ir.Loop(_, ir.Lit() as start, ir.Lit() as stop, inner):
                if not any(isinstance(s, (Break, Return)) for s in walk_stmts(inner)):
                    rounds = max(0, int(stop.value) - int(start.value))
                    total += rounds * (1 + _least_rounds(inner))
            case ir.If(_, then, otherwise):
                total += max(_least_rounds(then), _least_rounds(otherwise))
            case ir.Block(inner) | ir.Region(_, _, inner):
                total += _least_rounds(inner)
            case _:
                pass
    return total


def _about_workgroup_memory(program: ir.Program, limit: int) -> str:
    """What to do where there is too much of it: arms that were fused may each have little."""
    sizes = {decl.name: decl.size_bytes or 0 for decl in program.buffers if decl.is_workgroup}
    arms: list[tuple[str, int]] = []
    for region in _arms(program.entry):
        used = {name for statement in walk_stmts((region,)) for name in _buffers_of(statement)}
        nbytes = sum(size for name, size in sizes.items() if name in used)
        if nbytes:
            arms.append((region.generator, nbytes))
    if len(arms) < 2 or max(nbytes for _, nbytes in arms) > limit:
        return "use smaller workgroup buffers"
    each = ", ".join(f"{name!r} {nbytes}" for name, nbytes in arms)
    return (
        f"run the programs one after the other instead of fusing them: of these bytes, {each}; "
        "or use smaller workgroup buffers"
    )


def _largest(sizes: Mapping[str, int]) -> str:
    """Where most of the memory goes."""
    ordered = sorted(sizes, key=lambda name: -sizes[name])
    each = ", ".join(f"{name!r} {sizes[name]}" for name in ordered[:_MOST_NAMED])
    rest = "" if len(ordered) <= _MOST_NAMED else f", and {len(ordered) - _MOST_NAMED} others"
    return f" ({each}{rest})"


def _first_use(program: ir.Program, buffer: str) -> int | None:
    """The position of the first statement that uses a buffer."""
    for position, statement in enumerate(walk_stmts(program.entry)):
        if buffer in _buffers_of(statement):
            return position
    return None


def _arms(body: Body) -> list[ir.Region]:
    """The regions that follow one another, which may be all in one."""
    found = [statement for statement in body if isinstance(statement, ir.Region)]
    if len(found) == 1 and len(body) == 1:
        return _arms(found[0].body) or found
    return found


def _buffers_of(statement: ir.AnyStmt) -> Iterator[str]:
    for name in ("buffer", "source", "destination"):
        value: object = getattr(statement, name, None)
        if isinstance(value, str):
            yield value
    for inner in walk_own_exprs(statement):
        value = getattr(inner, "buffer", None)
        if isinstance(value, str):
            yield value


def _check_limits(program: ir.Program, target: Target, findings: Findings) -> None:
    limits = target.limits

    def over(
        place: str, what: str, found: int, limit: int, advice: str, most: str | None = None
    ) -> None:
        if found > limit:
            wrong = codes.TARGET_LIMIT.at(
                what=what, found=found, target=target.name, limit=limit, advice=advice
            )
            related = None if most is None else _first_use(program, most)
            findings.add_declaration(place, wrong, related=related)

    smaller = "use a smaller workgroup"
    for axis, name in enumerate("xyz"):
        words = f"the workgroup's extent in {name}"
        extent, limit = program.workgroup_size[axis], limits.max_workgroup_size[axis]
        over("workgroup_size", words, extent, limit, smaller)
    invocations = prod(program.workgroup_size)
    over("workgroup_size", "the workgroup's size", invocations, limits.max_invocations, smaller)

    shared = {decl.name: decl.size_bytes or 0 for decl in program.buffers if decl.is_workgroup}
    words = "the workgroup memory in bytes"
    if sum(shared.values()) > limits.max_workgroup_bytes:
        advice = _about_workgroup_memory(program, limits.max_workgroup_bytes) + _largest(shared)
        most = max(shared, key=shared.__getitem__)
        over("buffers", words, sum(shared.values()), limits.max_workgroup_bytes, advice, most)
    local = {decl.name: decl.size_bytes or 0 for decl in program.buffers if decl.is_local}
    words = "the memory of one invocation's arrays in bytes"
    if sum(local.values()) > limits.max_local_bytes:
        advice = "use smaller local arrays" + _largest(local)
        most = max(local, key=local.__getitem__)
        over("buffers", words, sum(local.values()), limits.max_local_bytes, advice, most)
    device = [decl for decl in program.buffers if not decl.is_on_chip]
    stored = sum(decl.access is not ir.BufferAccess.UNIFORM for decl in device)
    words = "the number of device buffers"
    advice = "join some of them into one buffer; small ones may be uniform, which do not count"
    over("buffers", words, stored, limits.max_storage_buffers, advice)
    if limits.max_loop_rounds < _ANY_ROUNDS:
        words = "the number of rounds that one invocation makes in loops"
        advice = "spread the work over more invocations, or use a device without this limit"
        over("entry", words, _least_rounds(program.entry), limits.max_loop_rounds, advice)
    for index, decl in enumerate(program.buffers):
        if decl.is_on_chip:
            continue
        uniform = decl.access is ir.BufferAccess.UNIFORM
        limit = limits.max_uniform_bytes if uniform else limits.max_buffer_bytes
        words = f"the size of {decl.name!r} in bytes"
        advice = "declare it read_only instead of uniform" if uniform else "split the buffer"
        over(f"buffers[{index}]", words, decl.size_bytes or 0, limit, advice)
