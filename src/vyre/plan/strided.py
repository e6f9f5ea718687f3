"""Stride loop: a capped grid whose workgroups go on with the next ones that are left.

    body(wid)   ->   for turn in 0 .. ceil((needed - wid) / n) { body(wid + turn * n) }

Legal when every invocation ends with the last statement (returns are dissolved before), and nothing
but buffers of the host is used: no workgroup memory and no private arrays, which begin as zeros, no
barrier, no subgroup, no number of workgroups.
Profitable when the device knows how many workgroups are needed and the host only an upper limit.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import rewrite_exprs, walk_all_exprs, walk_stmts
from vyre.plan.arms import FreshNames
from vyre.plan.epochs import syncs
from vyre.plan.returns import has_return, without_returns

_KINDS = ir.BuiltinKind
_TELLING = (_KINDS.NUM_WORKGROUPS, _KINDS.SUBGROUP_LANE, _KINDS.SUBGROUP_SIZE)
_MEETING = (ir.Ballot, ir.Shuffle, ir.SubgroupReduce)


def asks_for_grid(program: ir.Program) -> bool:
    """True if a program can tell how many workgroups there are."""
    return any(
        isinstance(expr, ir.Builtin) and expr.kind is _KINDS.NUM_WORKGROUPS
        for expr in walk_all_exprs(program.entry)
    )


def can_stride(program: ir.Program) -> bool:
    """True if workgroups of a program can be done one after the other by one."""
    if any(decl.is_on_chip or decl.is_scratch for decl in program.buffers):
        return False
    for statement in walk_stmts(program.entry):
        if syncs(statement) or isinstance(statement, (ir.Barrier, ir.Opaque, ir.IndirectDispatch)):
            return False
    for expr in walk_all_exprs(program.entry):
        if isinstance(expr, _MEETING):
            return False
        if isinstance(expr, ir.Builtin) and expr.kind in _TELLING:
            return False
    return True


def strided(program: ir.Program, needed: ir.AnyExpr) -> ir.Program:
    """The program for a capped grid; `needed` is the number of workgroups along x."""
    fresh = FreshNames([program])
    at, turn, all_ = (fresh.like(f"stride.{name}") for name in ("group", "turn", "needed"))
    over = fresh.like("stride.over")
    body = without_returns(program.entry, over) if has_return(program.entry) else program.entry
    width = ir.Expr.u32(program.workgroup_size[0])

    def change(expr: ir.AnyExpr) -> ir.AnyExpr:
        match expr:
            case ir.Builtin(_KINDS.WORKGROUP_ID, 0):
                return ir.Expr.var(at)
            case ir.Builtin(_KINDS.GLOBAL_ID, 0):
                return ir.Expr.var(at) * width + ir.Expr.local_id(0)
            case _:
                return expr

    own, step = ir.Expr.workgroup_id(0), ir.Expr.num_workgroups(0)
    left = ir.Expr.var(all_)
    turns = (left - ir.Expr.u32(1) - own) / step + ir.Expr.u32(1)
    group = ir.Node.let(at, own + ir.Expr.var(turn) * step)
    loop = ir.Node.loop(turn, 0, turns, [group, *rewrite_exprs(body, change)])
    entry = (ir.Node.let(all_, needed), ir.Node.if_(own < left, [loop]))
    return program.with_rewritten_entry(entry)
