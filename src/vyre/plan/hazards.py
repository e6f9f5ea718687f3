"""What must stand between two arms so that the second sees what the first did.

Arms that touch no buffer in common, or only read it, need nothing. Where every invocation stays
with its own element, its own order is enough; where every workgroup stays with its own elements, a
barrier is; anything else needs a barrier over the grid.
"""

from __future__ import annotations

from enum import IntEnum

from vyre import ir
from vyre.analysis import BufferRef, ProgramFacts, Ranges, body_effects
from vyre.record import dataclass


class Separation(IntEnum):
    """How two arms are kept apart, from nothing to everything."""

    NONE = 0
    BARRIER = 1
    GRID_SYNC = 2


@dataclass(frozen=True, slots=True)
class Hazard:
    """A buffer that keeps two arms from running at the same time."""

    buffer: str
    kind: str
    """`read after write`, `write after read` or `write after write`."""
    separation: Separation


class _Reach(IntEnum):
    """Whose elements an access may touch."""

    OWN_ELEMENT = 0
    OWN_WORKGROUP = 1
    ANY = 2


def hazards(first: ir.Program, second: ir.Program, *, flat_grid: bool) -> list[Hazard]:
    """The hazards between an arm and a later one; both have one workgroup size.

    Only on a grid of one row do equal ids along x mean the same invocation, so without that promise
    every hazard takes a barrier over the grid.
    """
    one, two = ProgramFacts.of(first), ProgramFacts.of(second)
    found = _events(first, second)
    for decl in first.buffers:
        name = decl.name
        if second.buffer(name) is None or decl.is_on_chip:
            continue
        kind = _kind(name, one, two)
        if kind is not None:
            reach = _Reach.ANY
            if flat_grid:
                reach = max(_reach(name, first), _reach(name, second))
            found.append(Hazard(name, kind, Separation(reach)))
    return found


def _events(first: ir.Program, second: ir.Program) -> list[Hazard]:
    """What the host hears of while a program runs: it must hear of the first arm's first."""
    effects = [body_effects(program.entry) for program in (first, second)]
    one, two = ("trap" if each.traps else "print" if each.prints else "" for each in effects)
    if not one or not two:
        return []
    return [Hazard("what the host is told", f"{two} after {one}", Separation.GRID_SYNC)]


def _kind(name: str, one: ProgramFacts, two: ProgramFacts) -> str | None:
    writes_one, writes_two = name in one.written_buffers, name in two.written_buffers
    if writes_one and name in two.read_buffers:
        return "read after write"
    if writes_one and writes_two:
        return "write after write"
    if writes_two and name in one.read_buffers:
        return "write after read"
    return None


def _reach(name: str, program: ir.Program) -> _Reach:
    facts = ProgramFacts.of(program)
    if facts.opaques:
        return _Reach.ANY
    worst = _Reach.OWN_ELEMENT
    for ref in facts.refs_by_buffer.get(name, []):
        if isinstance(ref.expr, ir.BufLen):
            continue
        index = _index(ref, facts)
        if index is None:
            return _Reach.ANY
        worst = max(worst, _reach_of(index, ref.position, program))
    return worst


def _index(ref: BufferRef, facts: ProgramFacts) -> ir.AnyExpr | None:
    """The index of an access to one element."""
    if isinstance(ref.expr, (ir.Load, ir.Atomic)):
        return ref.expr.index
    statement = facts.statements[ref.position]
    return statement.index if ref.expr is None and isinstance(statement, ir.Store) else None


def is_own_element(ref: BufferRef, program: ir.Program) -> bool:
    """True if an access is at `gid.x`: on a grid of one row, an element of that invocation."""
    index = _index(ref, ProgramFacts.of(program))
    reach = None if index is None else _reach_of(index, ref.position, program)
    return reach is _Reach.OWN_ELEMENT


def _reach_of(index: ir.AnyExpr, position: int, program: ir.Program) -> _Reach:
    written, position = _written_out(index, position, program)
    if written == ir.Builtin(ir.BuiltinKind.GLOBAL_ID, 0) and _is_one_dimensional(program):
        return _Reach.OWN_ELEMENT
    if _is_own_workgroup(written, position, program):
        return _Reach.OWN_WORKGROUP
    return _Reach.ANY


def _is_one_dimensional(program: ir.Program) -> bool:
    _, y, z = program.workgroup_size
    return y == 1 and z == 1


def _written_out(expr: ir.AnyExpr, position: int, program: ir.Program) -> tuple[ir.AnyExpr, int]:
    """A name that is bound once replaced by its value, and where that stands."""
    facts = ProgramFacts.of(program)
    while isinstance(expr, ir.Var):
        bound = facts.binding(expr.name, position)
        statement = None if bound is None else facts.statements[bound]
        if not isinstance(statement, ir.Let) or statement.name in facts.assigns_by_name:
            return expr, position
        expr, position = statement.value, bound if bound is not None else position
    return expr, position


def _is_own_workgroup(expr: ir.AnyExpr, position: int, program: ir.Program) -> bool:
    """Whether the index is wid.x * size + something from 0 to size - 1."""
    size = program.workgroup_size[0]
    match expr:
        case ir.Binary(
            ir.BinOp.ADD,
            ir.Binary(ir.BinOp.MUL, ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, 0), ir.Lit(_, n)),
            rest,
        ):
            interval = Ranges.of(program).interval(rest, position)
            return n == size and interval is not None and interval.low >= 0 and interval.high < size
        case _:
            return False
