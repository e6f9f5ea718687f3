"""Cost: a rough weight of what a program executes, to compare two forms of it.

    expr_cost(expr)              one evaluation
    body_cost(body)              one execution by one invocation
    program_cost(program)        the whole entry

The unit is about one simple instruction. Loops count their rounds when both bounds are literals,
and a guess otherwise; of an if, the dearer arm counts. No cost is a time: it only orders choices.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import expr_children

LOAD, STORE, ATOMIC, BARRIER, GRID_SYNC = 8, 8, 24, 16, 4096
DIVISION, FUNCTION, SUBGROUP = 12, 16, 6
GUESSED_ROUNDS = 8
MOST_ROUNDS = 1 << 20

_FREE = (ir.Lit, ir.Var, ir.Builtin, ir.BufLen)


def expr_cost(expr: ir.AnyExpr) -> int:
    """The weight of one evaluation."""
    if isinstance(expr, _FREE):
        return 0
    return _own(expr) + sum(expr_cost(child) for child in expr_children(expr))


def _own(expr: ir.AnyExpr) -> int:
    match expr:
        case ir.Load():
            return LOAD
        case ir.Atomic():
            return ATOMIC
        case ir.Ballot() | ir.Shuffle() | ir.SubgroupReduce():
            return SUBGROUP
        case ir.Binary(op):
            division = op is ir.BinOp.DIV or op is ir.BinOp.REM
            return DIVISION if division else FUNCTION if op.row.approximate else 1
        case ir.Unary(op):
            slow = op.row.approximate or op is ir.UnOp.SQRT
            return FUNCTION if slow else 1
        case _:
            return 1


def is_slow(node: ir.AnyExpr) -> bool:
    """Whether one operation takes as long as many others: a division, or a whole function."""
    match node:
        case ir.Binary(ir.BinOp.DIV | ir.BinOp.REM, _, right):
            return not isinstance(right, ir.Lit)
        case ir.Binary(op, _, _) | ir.Unary(op, _):
            return op.row.approximate
        case _:
            return False


def statement_cost(statement: ir.AnyStmt) -> int:
    """The weight of one execution by one invocation, everything in its bodies included."""
    operands = sum(expr_cost(child) for child in expr_children(statement))
    match statement:
        case ir.Store() | ir.AsyncLoad() | ir.AsyncStore():
            return operands + STORE
        case ir.Assign():
            return operands + 1
        case ir.Barrier(ordering):
            return GRID_SYNC if ordering is ir.MemoryOrdering.GRID_SYNC else BARRIER
        case ir.AsyncWait():
            return BARRIER
        case ir.If():
            arms = max(body_cost(statement.then), body_cost(statement.otherwise))
            return operands + 1 + arms
        case ir.Loop():
            return operands + rounds(statement) * (2 + body_cost(statement.body))
        case ir.While():
            return GUESSED_ROUNDS * (operands + 1 + body_cost(statement.body))
        case _:
            inner = sum(body_cost(getattr(statement, name)) for name in statement.body_fields)
            return operands + inner


def rounds(loop: ir.Loop) -> int:
    """How many rounds a loop runs, a guess when its bounds are not literals."""
    if isinstance(loop.start, ir.Lit) and isinstance(loop.stop, ir.Lit):
        return min(max(int(loop.stop.value) - int(loop.start.value), 0), MOST_ROUNDS)
    return GUESSED_ROUNDS


def body_cost(body: ir.Body) -> int:
    """The weight of one execution of a body by one invocation."""
    return sum(statement_cost(statement) for statement in body)


def program_cost(program: ir.Program) -> int:
    """The weight of a program for one invocation, computed once per program object."""
    return program.memo("cost", lambda this: body_cost(this.entry))
