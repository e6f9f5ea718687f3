"""What shading languages want of a program, without changing what it means.

- Ids that are the same for a whole workgroup are spelled so that any compiler sees it: along an
  axis where the workgroup has extent 1, the global id is the workgroup's id and the local id is 0.
- Statements that cannot be reached are gone, and so are those that do nothing on one device.
- What the target cannot do at all is refused, all of it at once.
"""

from __future__ import annotations

from vyre import ir
from vyre.diagnostics import CapabilityError, Diagnostic, Location
from vyre.diagnostics.codes import lower as codes
from vyre.ir.walk import map_bodies, rewrite_exprs, walk_stmts
from vyre.target import Feature, Target

_LEAVES = (ir.Return, ir.Break, ir.Continue, ir.Trap)
_NOTHING = (ir.Resume, ir.IndirectDispatch)


def legalise(program: ir.Program, target: Target) -> ir.Program:
    """The program as the target wants it; a `CapabilityError` if it cannot have it."""
    problems = list(_problems(program, target))
    if problems:
        raise CapabilityError(problems)
    body = _trimmed(program.entry)
    if 1 in program.workgroup_size:
        body = rewrite_exprs(body, lambda expr: _uniform_id(expr, program.workgroup_size))
    return program.with_rewritten_entry(body)


def _problems(program: ir.Program, target: Target) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for statement in walk_stmts(program.entry):
        place = Location(span=statement.span)
        match statement:
            case ir.Barrier(ir.MemoryOrdering.GRID_SYNC) if not target.has(Feature.GRID_SYNC):
                found.append(codes.NEEDS_SPLIT.at(place, target=target.name))
            case ir.Print() if not target.has(Feature.PRINT):
                found.append(codes.NO_STATEMENT.at(place, what="print", target=target.name))
            case ir.Opaque(kind):
                found.append(codes.NO_STATEMENT.at(place, what=kind, target=target.name))
            case _:
                pass
    return found


def _trimmed(body: ir.Body) -> ir.Body:
    """The body without what is never reached or does nothing."""
    kept: list[ir.AnyStmt] = []
    for statement in body:
        if isinstance(statement, _NOTHING):
            continue
        kept.append(map_bodies(statement, _trimmed))
        if isinstance(statement, _LEAVES):
            break
    same = len(kept) == len(body) and all(a is b for a, b in zip(kept, body, strict=True))
    return body if same else tuple(kept)


def _uniform_id(expr: ir.AnyExpr, size: tuple[int, int, int]) -> ir.AnyExpr:
    match expr:
        case ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis) if size[axis] == 1:
            return ir.Expr.u32(0)
        case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, axis) if size[axis] == 1:
            return ir.Expr.workgroup_id(axis)
        case _:
            return expr
