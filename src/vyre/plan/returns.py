"""Arms without returns: a return ends its arm, not the invocation that has more arms to do."""

from __future__ import annotations

from vyre.ir import AnyStmt, Body, Break, Expr, Loop, Node, Return, While
from vyre.ir.walk import map_bodies, walk_stmts


def has_return(body: Body) -> bool:
    """Whether some invocation may return."""
    return any(isinstance(statement, Return) for statement in walk_stmts(body))


def without_returns(body: Body, prefix: str) -> Body:
    """The body with each return leaving a loop of one round around it.

    Inside further loops, a variable remembers that the arm is over, and each of them is left.
    """
    if not has_return(body):
        return body
    over = f"{prefix}.over"
    nested = _returns_in_loop(body)
    inner = _rewritten(body, over, in_loop=False)
    once = Node.loop(f"{prefix}.once", Expr.u32(0), Expr.u32(1), inner)
    return (Node.let(over, Expr.bool_(False)), once) if nested else (once,)


def _returns_in_loop(body: Body) -> bool:
    return any(
        has_return(statement.body)
        for statement in walk_stmts(body)
        if isinstance(statement, (Loop, While))
    )


def _rewritten(body: Body, over: str, *, in_loop: bool) -> Body:
    result: list[AnyStmt] = []
    for statement in body:
        match statement:
            case Return():
                if in_loop:
                    result.append(Node.assign(over, Expr.bool_(True)))
                result.append(Break())
            case Loop() | While() if has_return(statement.body):
                result.append(
                    map_bodies(statement, lambda inner: _rewritten(inner, over, in_loop=True))
                )
                leave: list[AnyStmt] = [Break()]
                result.append(Node.if_(Expr.var(over), leave))
            case _:
                result.append(
                    map_bodies(statement, lambda inner: _rewritten(inner, over, in_loop=in_loop))
                )
    return tuple(result)
