"""Early returns as guards: `if c { return }` and the rest becomes `if c { } else { the rest }`."""

from __future__ import annotations

from vyre.ir import Block, Body, If, Region, Return
from vyre.ir.walk import rebuilt


def with_guards(body: Body) -> Body:
    """The body with returns at the end of a branch turned into the other branch."""
    for position, statement in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(statement, Return):
            return body[:position]
        if isinstance(statement, (Block, Region)):
            inner = with_guards(statement.body)
            if inner is not statement.body:
                body = (*body[:position], rebuilt(statement, {"body": inner}), *rest)
        elif isinstance(statement, If) and _returns(statement.then) and not statement.otherwise:
            then = with_guards(statement.then[:-1])
            guarded = rebuilt(statement, {"then": then, "otherwise": with_guards(rest)})
            return (*body[:position], guarded)
    return body


def _returns(body: Body) -> bool:
    return bool(body) and isinstance(body[-1], Return)
