"""Arms without returns: a return ends its arm, not the invocation that has more arms to do.

What follows an `if` that returns goes into its other branch, so that barriers before a return stay
where the whole workgroup meets. Where that cannot be said so, as behind a loop, a variable
remembers that the arm is over.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre.ir import AnyStmt, Block, Body, Break, Expr, If, Loop, Node, Region, Return, While
from vyre.ir.walk import map_bodies, walk_stmts


def has_return(body: Body) -> bool:
    """Whether some invocation may return."""
    return any(isinstance(statement, Return) for statement in walk_stmts(body))


def returns_before(body: Body, meets: Callable[[AnyStmt], object]) -> bool:
    """Whether a statement that `meets` may come after a return, in the text or in a loop."""
    returned = False
    for statement in walk_stmts(body):
        match statement:
            case Loop() | While() if has_return(statement.body):
                if any(map(meets, walk_stmts(statement.body))):
                    return True
            case Return():
                returned = True
            case _ if returned and meets(statement):
                return True
            case _:
                pass
    return False


def without_returns(body: Body, over: str) -> Body:
    """The body with what a return skips under conditions; `over` is a name for a variable."""
    if not has_return(body):
        return body
    lowered = _Lowering(over)
    result = lowered.body(body, remember=False)
    return (Node.let(over, Expr.bool_(False)), *result) if lowered.remembers else result


class _Lowering:
    def __init__(self, over: str) -> None:
        self.over = over
        self.remembers = False
        """Whether the variable is needed."""

    def body(self, body: Body, *, remember: bool) -> Body:
        """A body outside of loops; `remember` says whether others must know that it returned."""
        result: list[AnyStmt] = []
        for position, statement in enumerate(body):
            if isinstance(statement, Return):
                return (*result, *self.note(remember))
            if not has_return((statement,)):
                result.append(statement)
                continue
            rest = () if _always_returns(statement) else body[position + 1 :]
            return (*result, *self.followed(statement, rest, remember=remember))
        return tuple(result)

    def followed(self, statement: AnyStmt, rest: Body, *, remember: bool) -> Body:
        """A statement that may return, and what happens only if it does not."""
        if isinstance(statement, If) and rest:
            then, otherwise = statement.then, statement.otherwise
            if _ends(then) and not has_return(otherwise):
                return (self.branches(statement, then, _after(otherwise, rest), remember=remember),)
            if _ends(otherwise) and not has_return(then):
                return (self.branches(statement, _after(then, rest), otherwise, remember=remember),)
        if isinstance(statement, (Loop, While)):
            first = map_bodies(statement, self.in_loop)
        else:
            inner = remember or bool(rest)
            first = map_bodies(statement, lambda body: self.body(body, remember=inner))
        if not rest:
            return (first,)
        self.remembers = True
        going_on = self.body(rest, remember=remember)
        return (first, Node.if_(Expr.var(self.over), [], going_on)) if going_on else (first,)

    def branches(self, statement: If, then: Body, otherwise: Body, *, remember: bool) -> AnyStmt:
        sides = [self.body(side, remember=remember) for side in (then, otherwise)]
        return If(statement.cond, *sides).at(statement.span)

    def note(self, remember: bool) -> Body:
        self.remembers |= remember
        return (Node.assign(self.over, Expr.bool_(True)),) if remember else ()

    def in_loop(self, body: Body) -> Body:
        """A body in a loop: a return leaves that loop, and all loops around it."""
        result: list[AnyStmt] = []
        for statement in body:
            match statement:
                case Return():
                    return (*result, *self.note(True), Break())
                case Loop() | While() if has_return(statement.body):
                    leave: list[AnyStmt] = [Break()]
                    result.append(map_bodies(statement, self.in_loop))
                    result.append(Node.if_(Expr.var(self.over), leave))
                case _:
                    result.append(map_bodies(statement, self.in_loop))
        return tuple(result)


def _after(branch: Body, rest: Body) -> Body:
    """A branch and what follows it, each with names of its own."""
    return (Block(branch), *rest) if branch else rest


def _ends(body: Body) -> bool:
    return any(_always_returns(statement) for statement in body)


def _always_returns(statement: AnyStmt) -> bool:
    match statement:
        case Return():
            return True
        case Block(body) | Region(_, _, body):
            return _ends(body)
        case If(_, then, otherwise):
            return _ends(then) and _ends(otherwise)
        case _:
            return False
