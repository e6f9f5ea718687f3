"""Register handoff: scratch between fused stages becomes a value of each invocation.

    t[gid.x] = v        let own: element[1] = 0
    … t[gid.x] …   ->   if gid.x < t.length { own[0] = v }    … own[0] …

Legal when every access to the scratch is a load or a store at `gid.x`, on a grid of one row: no
other invocation has that element. A store out of bounds has no effect and a load out of bounds
gives zero, so the store is guarded by the length, which becomes a number that the host passes; and
the value begins as zero, as fresh scratch does. The value has the element type of the scratch:
what is stored is rounded or wrapped as in memory.
Profitable always: two accesses to memory less, and no scratch.
"""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.analysis import BufferUse, ProgramFacts
from vyre.ir.walk import map_bodies, map_exprs, rewrite_expr
from vyre.plan.hazards import is_own_element

_PLAIN = frozenset({BufferUse.READ, BufferUse.WRITE, BufferUse.LENGTH})
LENGTH = "_length"
"""Ends the name of the number that holds the length of scratch that has become a value."""


def with_registers(program: ir.Program, scratch: Iterable[str]) -> tuple[ir.Program, list[str]]:
    """The program without the scratch that can be a value, and the names of that scratch."""
    promoted = [name for name in scratch if is_promotable(program, name)]
    if not promoted:
        return program, []
    own = {name: f"{name}.own" for name in promoted}
    entry = tuple(_statement(each, own) for each in program.entry)
    buffers: list[ir.BufferDecl] = []
    for decl in program.buffers:
        if decl.name in own:
            buffers.append(ir.BufferDecl.local(own[decl.name], 1, decl.element))
        elif decl.binding is not None:
            buffers.append(decl.with_binding(sum(b.binding is not None for b in buffers)))
        else:
            buffers.append(decl)
    for name in promoted:
        binding = sum(each.binding is not None for each in buffers)
        uniform = ir.BufferDecl.uniform(name + LENGTH, binding, ir.DataType.U32)
        buffers.append(uniform.with_count(1))
    return program.with_rewritten_buffers(buffers).with_rewritten_entry(entry), promoted


def is_promotable(program: ir.Program, name: str) -> bool:
    """True if each access to a buffer is proven to be at its invocation's own element."""
    facts = ProgramFacts.of(program)
    refs = facts.refs_by_buffer.get(name, [])
    return not facts.opaques and all(
        ref.use in _PLAIN and (ref.use is BufferUse.LENGTH or is_own_element(ref, program))
        for ref in refs
    )


def _statement(statement: ir.AnyStmt, own: dict[str, str]) -> ir.AnyStmt:
    changed = map_exprs(statement, lambda child: rewrite_expr(child, lambda e: _expr(e, own)))
    if isinstance(changed, ir.Store) and changed.buffer in own:
        store = ir.Node.store(own[changed.buffer], ir.Expr.u32(0), changed.value)
        return ir.Node.if_(ir.Expr.gid(0) < _length(changed.buffer), [store])
    return map_bodies(changed, lambda body: tuple(_statement(each, own) for each in body))


def _expr(expr: ir.AnyExpr, own: dict[str, str]) -> ir.AnyExpr:
    match expr:
        case ir.Load(buffer) if buffer in own:
            return ir.Expr.load(own[buffer], ir.Expr.u32(0))
        case ir.BufLen(buffer) if buffer in own:
            return _length(buffer)
        case _:
            return expr


def _length(buffer: str) -> ir.AnyExpr:
    return ir.Expr.load(buffer + LENGTH, ir.Expr.u32(0))
