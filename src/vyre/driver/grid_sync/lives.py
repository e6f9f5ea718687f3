"""Which variables live across a grid-wide barrier, and how each is kept.

A variable is declared at the level of the barriers when its `Let` stands between them rather than
inside some other statement. Used in another stretch than its own, it is recomputed there if that
is pure and cheap, and otherwise kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Binary,
    Bitcast,
    BufLen,
    Builtin,
    BuiltinKind,
    Cast,
    DataType,
    Let,
    Lit,
    Loop,
    Program,
    Scope,
    Select,
    Unary,
    Var,
    type_of,
)
from vyre.ir.walk import bodies, expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

CHEAP_NODES = 8
"""An expression of at most so many nodes is recomputed rather than kept in memory."""

_PURE = (Lit, Var, Builtin, BufLen, Unary, Binary, Cast, Bitcast, Select)


def variable_types(program: Program) -> dict[str, DataType]:
    """The type of every variable of a program whose names are unique."""
    scope = Scope.of(program)
    env = scope.env

    def visit(statements: Iterable[AnyStmt]) -> None:
        for statement in statements:
            if isinstance(statement, Let):
                scope.variables[statement.name] = type_of(statement.value, env)
            elif isinstance(statement, Loop):
                scope.variables[statement.var] = type_of(statement.start, env)
            for body in bodies(statement):
                visit(body)

    visit(program.entry)
    return scope.variables


@dataclass(frozen=True, slots=True)
class Uses:
    """What a stretch of statements does with variables and buffers."""

    reads: frozenset[str]
    writes: frozenset[str]
    """Variables declared or assigned."""
    buffers: frozenset[str]


def uses_of(statements: Iterable[AnyStmt], extra: Iterable[AnyExpr] = ()) -> Uses:
    """The variables and buffers that statements and expressions use."""
    reads: set[str] = set()
    writes: set[str] = set()
    buffers: set[str] = set()

    def look(expr: AnyExpr) -> None:
        for node in walk_expr(expr):
            if isinstance(node, Var):
                reads.add(node.name)
            buffer = getattr(node, "buffer", None)
            if buffer is not None:
                buffers.add(buffer)

    for statement in walk_stmts(tuple(statements)):
        if isinstance(statement, (Let, Assign)):
            writes.add(statement.name)
        for field in ("buffer", "source", "destination"):
            name = getattr(statement, field, None)
            if isinstance(name, str):
                buffers.add(name)
        for child in expr_children(statement):
            look(child)
    for expr in extra:
        look(expr)
    return Uses(frozenset(reads), frozenset(writes), frozenset(buffers))


def recomputable(program: Program) -> Mapping[str, AnyExpr]:
    """Variables that are never assigned, with values that are pure, cheap and the same anywhere."""
    assigned = {s.name for s in walk_stmts(program.entry) if isinstance(s, Assign)}
    found: dict[str, AnyExpr] = {}
    for statement in walk_stmts(program.entry):
        if isinstance(statement, Let) and statement.name not in assigned:
            nodes = list(walk_expr(statement.value))
            if len(nodes) <= CHEAP_NODES and all(_same_anywhere(n, found) for n in nodes):
                found[statement.name] = statement.value
    return found


def _same_anywhere(node: AnyExpr, found: Mapping[str, AnyExpr]) -> bool:
    if isinstance(node, Var):
        return node.name in found
    if isinstance(node, Builtin):
        return node.kind not in (BuiltinKind.SUBGROUP_LANE, BuiltinKind.SUBGROUP_SIZE)
    return isinstance(node, _PURE)
