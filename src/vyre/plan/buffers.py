"""One declaration for a buffer that several arms have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import plan as codes
from vyre.ir import BufferAccess, BufferDecl, MemoryKind
from vyre.plan.arms import Arm


def joined_buffers(arms: Sequence[Arm], scratch: Sequence[str]) -> list[BufferDecl]:
    """The buffers of all arms, each once, with bindings in their order.

    Those named in `scratch` become device memory of the dispatch.
    """
    table: dict[str, BufferDecl] = {}
    first: dict[str, str] = {}
    for arm in arms:
        for decl in arm.program.buffers:
            known = table.get(decl.name)
            if known is None:
                table[decl.name], first[decl.name] = decl, arm.name
                continue
            if not _fits(known, decl):
                raise PlanError(
                    codes.BUFFERS_DIFFER.at(
                        name=decl.name,
                        one=first[decl.name],
                        first=_form(known),
                        two=arm.name,
                        second=_form(decl),
                    )
                )
            table[decl.name] = _joined(known, decl)
    for name in scratch:
        if name not in table or table[name].binding is None:
            known = [each.name for each in table.values() if each.binding is not None]
            raise PlanError(codes.UNKNOWN_SCRATCH.at(name=name, known=", ".join(known) or "none"))
    return _bound(table.values(), frozenset(scratch))


def _bound(decls: Iterable[BufferDecl], scratch: frozenset[str]) -> list[BufferDecl]:
    result: list[BufferDecl] = []
    for decl in decls:
        if decl.name in scratch:
            if not decl.count:
                raise PlanError(codes.UNSIZED_SCRATCH.at(name=decl.name))
            result.append(BufferDecl.scratch(decl.name, decl.count, decl.element))
        elif decl.binding is None:
            result.append(decl)
        else:
            binding = sum(other.binding is not None for other in result)
            result.append(decl.with_binding(binding))
    return result


def _fits(one: BufferDecl, two: BufferDecl) -> bool:
    return one.element is two.element and (one.count == two.count or not one.count * two.count)


def _joined(one: BufferDecl, two: BufferDecl) -> BufferDecl:
    """Whichever comes first says where the contents come from."""
    count = one.count or two.count
    live_out = one.is_pipeline_live_out or two.is_pipeline_live_out
    if one.is_writable or two.is_writable:
        starts_empty = one.is_device_allocated
        return replace(
            one,
            access=BufferAccess.READ_WRITE,
            kind=MemoryKind.GLOBAL,
            count=count,
            is_output=starts_empty,
            is_pipeline_live_out=live_out or starts_empty,
            has_initial_value=live_out and not starts_empty,
        )
    if one.access is not two.access or one.kind is not two.kind:
        # What one arm wants small and uniform, another may have as large as it likes.
        return replace(one, access=BufferAccess.READ_ONLY, kind=MemoryKind.READONLY, count=count)
    return replace(one, count=count)


def _form(decl: BufferDecl) -> str:
    return f"{decl.element}[{decl.count or ''}]"
