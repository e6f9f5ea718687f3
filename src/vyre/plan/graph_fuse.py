"""A graph as one program: its arms on the grid that all nodes share.

    first: y[gid.x] = f(x[gid.x])          own = f(x[gid.x])
    second: z[gid.x] = g(y[gid.x])    ->   z[gid.x] = g(own)

Legal when all nodes have one grid (L2) and one workgroup size (L10), none of them needs another
one's elements across workgroups (L7), and no output of a later node holds something else before
it. Between nodes that need no more than their own workgroup stands a barrier.
Profitable when launches and passes over memory are what a run takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vyre import ir
from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import graph as codes
from vyre.ir.walk import map_bodies, map_exprs, rewrite_expr
from vyre.plan.arms import with_buffer_names
from vyre.plan.fuse import Fusion, fuse
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Role
from vyre.plan.hazards import Separation
from vyre.plan.register_handoff import LENGTH, with_registers


def fuse_graph(graph: Graph) -> ir.Program:
    """All nodes of a graph as one program; a `PlanError` names the condition that fails."""
    first = graph.nodes[0]
    for node in graph.nodes:
        if node.grid is None or node.grid != first.grid:
            condition = (
                f"L2: {first.name!r} has the grid {_shown(first)}, {node.name!r} {_shown(node)}"
            )
            raise _refused(graph.name, condition)
        if node.program.workgroup_size != first.program.workgroup_size:
            condition = f"L10: the workgroups of {first.name!r} and {node.name!r} differ in size"
            raise _refused(graph.name, condition)
    programs = [_renamed(graph, node) for node in graph.nodes]
    names = [node.name for node in graph.nodes]
    scratch = [each.name for each in graph.buffers if each.role is Role.SCRATCH]
    used = {decl.name for program in programs for decl in program.buffers}
    flat = first.grid is not None and first.grid[1:] == (1, 1)
    fusion = fuse(programs, names, [name for name in scratch if name in used], flat_grid=flat)
    refuse_grid_syncs(graph.name, fusion)
    return without_handoffs(fusion.program, scratch) if flat else fusion.program


def refuse_grid_syncs(name: str, fusion: Fusion) -> None:
    """Refuse arms that need more than their own workgroups' elements of each other."""
    for decision in fusion.decisions:
        for hazard in decision.hazards:
            if hazard.separation is Separation.GRID_SYNC:
                number = "L6" if "what the host" in hazard.buffer else "L7"
                condition = f"{number}: {hazard.kind} of {hazard.buffer} in {decision.arm}"
                raise _refused(name, condition)


def without_handoffs(program: ir.Program, scratch: Sequence[str]) -> ir.Program:
    """The program with scratch at own elements as values; lengths of it become numbers."""
    counts = {decl.name: decl.count for decl in program.buffers}
    made, promoted = with_registers(program, [each for each in scratch if each in counts])
    lengths = {name + LENGTH: counts[name] for name in promoted}

    def expr(node: ir.AnyExpr) -> ir.AnyExpr:
        if isinstance(node, ir.Load) and node.buffer in lengths:
            return ir.Expr.u32(lengths[node.buffer])
        return node

    def statement(one: ir.AnyStmt) -> ir.AnyStmt:
        changed = map_exprs(one, lambda child: rewrite_expr(child, expr))
        return map_bodies(changed, lambda body: tuple(statement(each) for each in body))

    entry = tuple(statement(each) for each in made.entry)
    kept = [decl for decl in made.buffers if decl.name not in lengths]
    return made.with_rewritten_buffers(kept).with_rewritten_entry(entry)


def _renamed(graph: Graph, node: GraphNode) -> ir.Program:
    """A node's program with the graph's names, counts and roles for its buffers."""
    program = with_buffer_names(node.program, dict(node.connections))
    known = {each.name: each for each in graph.buffers}
    return program.with_rewritten_buffers(
        decl if decl.binding is None else _declared(decl, known[decl.name])
        for decl in program.buffers
    )


def _declared(decl: ir.BufferDecl, buffer: GraphBuffer) -> ir.BufferDecl:
    return replace(decl, count=decl.count or buffer.count)


def _refused(name: str, condition: str) -> PlanError:
    return PlanError(codes.NOT_ONE_PROGRAM.at(name=name, condition=condition))


def _shown(node: GraphNode) -> str:
    return "of its longest buffer" if node.grid is None else "x".join(map(str, node.grid))
