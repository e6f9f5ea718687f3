"""Loops that stride over the grid and sum up, four rounds at a time.

A round of a row of lanes brings what each of them has summed up from memory and puts it back, and
goes through one piece of every buffer. With four rounds together that is done once for all, and
the machine fetches from four pieces at a time. Every lane adds in the order in which it did.

    for k in 0..n: if lane < left(k): round(k)

becomes

    for q in 0..m: round(4q), round(4q + 1), round(4q + 2), round(4q + 3)
    for k in 4m..n: if lane < left(k): round(k)

where `m` is such that all lanes of the longest row that there may be have the last of those rounds.
"""

from __future__ import annotations

from vyre.backends.llvm.codegen.groups.common_loops import with_common_loops
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Binary,
    BinOp,
    Block,
    Body,
    Builtin,
    BuiltinKind,
    Expr,
    If,
    Let,
    Load,
    Loop,
    Program,
    Region,
    Select,
    Var,
    While,
)
from vyre.ir.walk import expr_children, rebuilt, rewrite_exprs, walk_expr, walk_stmts
from vyre.record import dataclass
from vyre.rewrite.names import Names
from vyre.rewrite.unique_names import with_unique_names

TOGETHER = 4
"""Rounds at a time; with eight, the machine does not follow all of the pieces any more."""
MOST_GROUPS = 16
"""Workgroups in the longest row."""
MOST_NODES = 24
"""Expressions in a round that waits for memory more than memory for it."""
_ZERO, _ONE = Expr.u32(0), Expr.u32(1)
_PLAIN = (Let, Assign, Block, Region)


@dataclass(frozen=True, slots=True)
class RoundsTogether:
    """A program with loops rewritten, and what is known of it."""

    program: Program
    counts: frozenset[str]
    """Numbers of rounds: they look at the first lane's place."""
    outside: frozenset[str]
    """Counters of loops around the lanes of a row."""
    longest_row: int
    """Lanes of a row for which it is right; 0 for any."""


def with_rounds_together(program: Program, counts: frozenset[str]) -> RoundsTogether:
    """The program with loops rewritten whose numbers of rounds are `counts`.

    Names are unique, before and after.
    """
    size = program.workgroup_size[0]
    rewriter = _Rewriter(program, counts)
    made = program.with_rewritten_entry(rewriter.entry(program)) if counts else program
    if made is program:
        return RoundsTogether(program, counts, frozenset(), 0)
    new = frozenset(rewriter.counts)
    outside = frozenset(rewriter.outside)
    return RoundsTogether(with_unique_names(made), counts | new, outside, size * MOST_GROUPS)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """A loop with a round for each lane that is less than what is left."""

    start: Builtin
    stop: AnyExpr
    step: AnyExpr
    body: Body


class _Rewriter:
    def __init__(self, program: Program, counts: frozenset[str]) -> None:
        self._known = counts
        self._size = program.workgroup_size[0]
        self._names = Names(program)
        self.counts: list[str] = []
        self.outside: list[str] = []

    def entry(self, program: Program) -> Body:
        """All that the program does, with loops rewritten."""
        return with_common_loops(program.entry, self._loop)

    def _loop(self, loop: Loop | While, _body: Body, _place: int) -> list[AnyStmt]:
        if not isinstance(loop, Loop):
            return [loop]
        found = self._rounds_of(loop)
        if found is None or not sums_up(found.body):
            return [loop]
        whole, counter = self._names.fresh("whole"), self._names.fresh("fours")
        self.counts.append(whole)
        self.outside.append(counter)
        begin = Binary(BinOp.MUL, Var(counter), Expr.u32(TOGETHER))
        rounds = tuple(
            Block(_with(found.body, loop.var, Binary(BinOp.ADD, begin, Expr.u32(n))))
            for n in range(TOGETHER)
        )
        done = Binary(BinOp.MUL, Var(whole), Expr.u32(TOGETHER))
        return [
            Let(whole, self._whole(found, loop.stop)),
            Loop(counter, _ZERO, Var(whole), rounds),
            rebuilt(loop, {"start": done}),
        ]

    def _rounds_of(self, loop: Loop) -> _Rounds | None:
        if loop.start != _ZERO or not isinstance(loop.stop, Var):
            return None
        if loop.stop.name not in self._known or len(loop.body) != 1:
            return None
        match loop.body[0]:
            case If(
                Binary(
                    BinOp.LT,
                    Builtin() as start,
                    Binary(BinOp.SUB, stop, Binary(BinOp.MUL, Var(name), step)),
                ),
                body,
                (),
            ) if name == loop.var:
                return _Rounds(start, stop, step, body)
            case _:
                return None

    def _whole(self, found: _Rounds, rounds: AnyExpr) -> AnyExpr:
        """How often all lanes have so many rounds.

        Where the first lane has one, the step is not zero and its place is less than the stop.
        """
        first = _ZERO
        if found.start.kind is BuiltinKind.GLOBAL_ID:
            first = Binary(BinOp.MUL, Builtin(BuiltinKind.WORKGROUP_ID, 0), Expr.u32(self._size))
        row = Expr.u32(self._size * MOST_GROUPS)
        room = Binary(BinOp.SUB, found.stop, first)
        enough = Binary(BinOp.AND, Binary(BinOp.NE, rounds, _ZERO), Binary(BinOp.GE, room, row))
        left = Binary(BinOp.DIV, Binary(BinOp.SUB, room, row), found.step)
        full = Binary(BinOp.DIV, Binary(BinOp.ADD, left, _ONE), Expr.u32(TOGETHER))
        return Select(enough, full, _ZERO)


def _with(body: Body, name: str, value: AnyExpr) -> Body:
    return rewrite_exprs(body, lambda expr: value if expr == Var(name) else expr)


def sums_up(body: Body) -> bool:
    """Whether rounds load, keep something for the next one, and do little else."""
    own = {s.name for s in walk_stmts(body) if isinstance(s, Let)}
    kept = loads = nodes = 0
    for statement in walk_stmts(body):
        if not isinstance(statement, _PLAIN):
            return False
        kept += isinstance(statement, Assign) and statement.name not in own
        for child in expr_children(statement):
            for node in walk_expr(child):
                if isinstance(node, Atomic):
                    return False
                nodes += 1
                loads += isinstance(node, Load)
    return bool(kept and loads) and nodes <= MOST_NODES
