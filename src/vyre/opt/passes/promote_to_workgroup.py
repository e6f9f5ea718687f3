"""Small tables that every invocation reads in loops, kept in workgroup memory."""

from __future__ import annotations

from math import prod

from vyre import ir
from vyre.analysis import TOP, BufferRef, BufferUse, Level, ProgramFacts, Uniformity
from vyre.ir.walk import map_bodies, map_body, map_exprs
from vyre.opt.metadata import CostModelFamily, PassBoundaryClass, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.opt.workgroup_budget import room_left
from vyre.rewrite.names import Names
from vyre.rewrite.removable import has_grid_sync
from vyre.target import Feature

GENERATOR = "vyre.opt.promote_to_workgroup"
LEAST_INVOCATIONS = 32
"""Smaller workgroups spend more on filling the copy than they save."""


@vyre_pass(
    name="promote_to_workgroup",
    phase=PassPhase.MEMORY,
    family=CostModelFamily.MEMORY,
    invalidates=("facts", "buffer_layout"),
    boundary=PassBoundaryClass.INTERNAL_LAYOUT,
)
class PromoteToWorkgroup(Pass):
    """Copies small read-only buffers into workgroup memory first, if loops load from them at
    indices that differ within a workgroup.
    Legal when the number of elements is declared, all workgroup memory together stays within the
    target's limit, and no grid sync loses the copy. Loads on which a workgroup agrees stay: what is
    read from memory that is written counts as divergent. Devices that compute in host memory do not
    profit and are left alone.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is such a buffer."""
        if context.target is not None and context.target.has(Feature.HOST_MEMORY):
            return PassAnalysis.skip("this device has no memory nearer than the host's")
        if not _tables(program, context):
            return PassAnalysis.skip("no small table is read in a loop at indices that differ")
        return PassAnalysis.RUN

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Declare the copies, fill them together, and load from them."""
        names = Names(program)
        copies = {d.name: d.with_name(names.fresh(d.name)) for d in _tables(program, context)}
        declared = [
            ir.BufferDecl.workgroup(copy.name, copy.count, copy.element).with_hints(copy.hints)
            for copy in copies.values()
        ]

        body = _FromCopies(program, copies).body(program.entry)
        fill = ir.Region(GENERATOR, None, tuple(_filling(program, copies, names)))
        # The grid of an indirect dispatch is read first of all.
        first = 1 if body and type(body[0]) is ir.IndirectDispatch else 0
        made = program.with_rewritten_entry((*body[:first], fill, *body[first:]))
        made = made.with_rewritten_buffers([*program.buffers, *declared])
        return PassResult(made, len(copies))


def _tables(program: ir.Program, context: PassContext) -> list[ir.BufferDecl]:
    if prod(program.workgroup_size) < LEAST_INVOCATIONS or has_grid_sync(program):
        return []
    facts = ProgramFacts.of(program)
    if facts.opaques or any(r.generator == GENERATOR for r in facts.regions):
        return []
    room = room_left(program, context.target)
    found: list[ir.BufferDecl] = []
    for decl in program.buffers:
        size = decl.size_bytes
        if decl.access not in (ir.BufferAccess.READ_ONLY, ir.BufferAccess.UNIFORM) or not size:
            continue
        refs = facts.refs_by_buffer.get(decl.name, [])
        plain = all(r.use in (BufferUse.READ, BufferUse.LENGTH) for r in refs)
        looped = any(_in_loop(facts, r.position) and _is_divergent(program, r) for r in refs)
        if plain and looped and size <= room:
            found.append(decl)
            room -= size
    return found


def _in_loop(facts: ProgramFacts, position: int) -> bool:
    while position != TOP:
        if facts.kinds[position] is ir.Loop or facts.kinds[position] is ir.While:
            return True
        position = facts.parents[position]
    return False


def _is_divergent(program: ir.Program, ref: BufferRef) -> bool:
    if type(ref.expr) is not ir.Load:
        return False
    uniformity = Uniformity.of(program)
    return uniformity.level_of(ref.expr.index, ref.position) > Level.WORKGROUP


class _FromCopies:
    """Loads at divergent indices, from the copies."""

    def __init__(self, program: ir.Program, copies: dict[str, ir.BufferDecl]) -> None:
        self.uniformity = Uniformity.of(program)
        self.copies = copies
        self.position = -1

    def body(self, body: ir.Body) -> ir.Body:
        return map_body(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        self.position += 1
        new = map_exprs(statement, self.expr)
        return map_bodies(new, self.body) if new.body_fields else new

    def expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        if expr.depth == 1:
            return expr
        new = map_exprs(expr, self.expr)
        if type(expr) is not ir.Load or type(new) is not ir.Load or new.buffer not in self.copies:
            return new
        if self.uniformity.level_of(expr.index, self.position) <= Level.WORKGROUP:
            return new
        return ir.Load(self.copies[new.buffer].name, new.index)


def _filling(
    program: ir.Program, copies: dict[str, ir.BufferDecl], names: Names
) -> list[ir.AnyStmt]:
    """The workgroup fills the copies, each invocation every n-th element, and waits."""
    width, height, depth = program.workgroup_size
    total = width * height * depth
    linear: ir.AnyExpr = _id(0)
    if height > 1:
        linear = _sum(linear, _times(_id(1), width))
    if depth > 1:
        linear = _sum(linear, _times(_id(2), width * height))
    lane = names.fresh("lane")
    statements: list[ir.AnyStmt] = [ir.Let(lane, linear)]
    for source, copy in copies.items():
        rounds = -(-copy.count // total)
        index = names.fresh("index")
        var = names.fresh("round")
        inside = ir.Binary(ir.BinOp.LT, ir.Var(index), _u32(copy.count))
        element = ir.Store(copy.name, ir.Var(index), ir.Load(source, ir.Var(index)))
        body: tuple[ir.AnyStmt, ...] = (
            ir.Let(index, _sum(_times(ir.Var(var), total), ir.Var(lane))),
            ir.If(inside, (element,), ()),
        )
        statements.append(ir.Loop(var, _u32(0), _u32(rounds), body))
    statements.append(ir.Barrier(ir.MemoryOrdering.ACQ_REL))
    return statements


def _u32(value: int) -> ir.Lit:
    return ir.Lit(ir.DataType.U32, value)


def _id(axis: int) -> ir.Builtin:
    return ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis)


def _sum(a: ir.AnyExpr, b: ir.AnyExpr) -> ir.AnyExpr:
    return ir.Binary(ir.BinOp.ADD, a, b)


def _times(a: ir.AnyExpr, factor: int) -> ir.AnyExpr:
    return ir.Binary(ir.BinOp.MUL, a, _u32(factor))
