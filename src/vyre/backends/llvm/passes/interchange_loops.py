"""Interchange of a loop over planes with the loops over lanes.

    if y < h and x < w: for c in range(n): o[c, y, x] = ...
becomes
    for c in range(n): if y < h and x < w: o[c, y, x] = ...

with the loop around all lanes of the workgroup. As written, lanes jump from plane to plane with
every vector; interchanged, rows of lanes go through whole lines of one plane after the other. Every
lane keeps its order, and as nothing reads what is stored, the order among lanes is not observable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.analysis.types import variable_types
from vyre.backends.llvm.analysis.affine_forms import LinearForms, flat_index
from vyre.backends.llvm.analysis.divergence import Shapes
from vyre.backends.llvm.analysis.idempotence import is_repeatable
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Block,
    Body,
    Break,
    Builtin,
    BuiltinKind,
    Continue,
    If,
    Let,
    Lit,
    Load,
    Loop,
    Program,
    Region,
    Return,
    Store,
    Var,
    While,
)
from vyre.ir.walk import accesses_of, rebuilt, walk_expr, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import vyre_pass

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROW = Builtin(BuiltinKind.GLOBAL_ID, 1)


@vyre_pass(name="interchange_loops", phase=PassPhase.LOWERING, family=CostModelFamily.LOOP)
class InterchangeLoops(CpuPass):
    """Moves a loop over planes around the lanes of the workgroup.

    Legal when the loop is all that the program does, its bounds are uniform, it carries no value,
    and invocations may be repeated. Profitable when lanes store contiguously in each iteration.
    """

    def rewrite(self, program: Program, context: CpuContext) -> Program:
        """The program with that loop around all of its work."""
        changed, counters = _interchanged(program)
        context.facts.outer_counters |= counters
        return changed


def _interchanged(program: Program) -> tuple[Program, frozenset[str]]:
    """The program with a loop around all its work, and the counter of that; or the very same."""
    within, loop = _work(program.entry)
    if loop is None or isinstance(loop.stop, Lit):
        return program, frozenset()
    shapes = Shapes(program, program.entry, (0, 1, 2), over_time=True)
    written = {decl.name for decl in program.buffers if decl.is_writable}
    bound = {s.name: s.value for s in within if isinstance(s, Let)}
    ends = tuple(_expanded(end, bound) for end in (loop.start, loop.stop))
    for end in ends:
        reads = (n for n in walk_expr(end) if isinstance(n, (Load, Var)))
        if shapes.is_varying(end) or any(isinstance(n, Var) or n.buffer in written for n in reads):
            return program, frozenset()
    if not _is_plain(program, loop) or not _goes_through_planes(program, within, loop):
        return program, frozenset()
    inner = loop.body
    for statement in reversed(within):
        inner = (
            (statement, *inner)
            if isinstance(statement, Let)
            else (rebuilt(statement, {"then" if isinstance(statement, If) else "body": inner}),)
        )
    made = rebuilt(loop, {"start": ends[0], "stop": ends[1], "body": inner})
    return program.with_rewritten_entry((made,)), frozenset((loop.var,))


def _work(body: Body) -> tuple[list[AnyStmt], Loop | None]:
    """What stands around and before the loop that is all that a body does; None if none is."""
    found: list[AnyStmt] = []
    while body:
        *before, last = body
        if not all(isinstance(s, Let) for s in before):
            break
        found += before
        match last:
            case Loop():
                return found, last
            case Block(inner) | Region(_, _, inner) | If(_, inner, ()):
                found.append(last)
                body = inner
            case _:
                break
    return [], None


def _is_plain(program: Program, loop: Loop) -> bool:
    """Whether lanes keep nothing from round to round, and have all rounds."""
    if not is_repeatable(program, program.entry, frozenset()):
        return False
    own = {s.name for s in walk_stmts(loop.body) if isinstance(s, Let)}
    for statement in walk_stmts(loop.body):
        if isinstance(statement, (Loop, While, Break, Continue, Return)):
            return False
        if isinstance(statement, Assign) and statement.name not in own:
            return False
    return True


def _goes_through_planes(program: Program, within: Iterable[AnyStmt], loop: Loop) -> bool:
    """Whether lanes store side by side in every round, to places that rows and rounds tell."""
    outer = {s.name: s.value for s in within if isinstance(s, Let)}
    types = variable_types(program)
    forms = LinearForms(program, loop.body, outer, frozenset((loop.var,)), types)
    stores = False
    for statement in walk_stmts(loop.body):
        for _, index in accesses_of(statement):
            written = flat_index(forms.expand(index))
            if Var(loop.var) not in walk_expr(written):
                continue
            step = 0 if forms.is_row_constant(written) else forms.stride(written)
            if step not in (0, 1):
                return False
        if isinstance(statement, Store):
            written = flat_index(forms.expand(statement.index))
            if forms.stride(written) != 1 or _ROW not in walk_expr(written):
                return False
            stores = True
    return stores


def _expanded(expr: AnyExpr, values: dict[str, AnyExpr]) -> AnyExpr:
    """An expression with the values of variables in their place."""
    while isinstance(expr, Var) and expr.name in values:
        expr = values[expr.name]
    return expr


__all__ = ["InterchangeLoops"]
