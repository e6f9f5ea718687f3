"""Arms without returns: a return ends its arm, not the invocation that has more arms to do.

What follows an `if` that returns goes into its other branch, so that barriers before a return stay
where the whole workgroup meets. Where that cannot be said so, as behind a loop, a variable
remembers that the arm is over.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.ir.walk import map_bodies, walk_stmts


def has_return(body: ir.Body) -> bool:
    """Whether some invocation may return."""
    return any(isinstance(statement, ir.Return) for statement in walk_stmts(body))


def returns_before(body: ir.Body, meets: Callable[[ir.AnyStmt], object]) -> bool:
    """Whether a statement that `meets` may come after a return, in the text or in a loop."""
    returned = False
    for statement in walk_stmts(body):
        match statement:
            case ir.Loop() | ir.While() if has_return(statement.body):
                if any(map(meets, walk_stmts(statement.body))):
                    return True
            case ir.Return():
                returned = True
            case _ if returned and meets(statement):
                return True
            case _:
                pass
    return False


def without_returns(body: ir.Body, over: str) -> ir.Body:
    """The body with what a return skips under conditions; `over` is a name for a variable."""
    if not has_return(body):
        return body
    lowered = _Lowering(over)
    result = lowered.body(body, remember=False)
    return (ir.Node.let(over, ir.Expr.bool_(False)), *result) if lowered.remembers else result


class _Lowering:
    def __init__(self, over: str) -> None:
        self.over = over
        self.remembers = False
        """Whether the variable is needed."""

    def body(self, body: ir.Body, *, remember: bool) -> ir.Body:
        """A body outside of loops; `remember` says whether others must know that it returned."""
        result: list[ir.AnyStmt] = []
        for position, statement in enumerate(body):
            if isinstance(statement, ir.Return):
                return (*result, *self.note(remember))
            if not has_return((statement,)):
                result.append(statement)
                continue
            rest = () if _always_returns(statement) else body[position + 1 :]
            return (*result, *self.followed(statement, rest, remember=remember))
        return tuple(result)

    def followed(self, statement: ir.AnyStmt, rest: ir.Body, *, remember: bool) -> ir.Body:
        """A statement that may return, and what happens only if it does not."""
        if isinstance(statement, ir.If) and rest:
            then, otherwise = statement.then, statement.otherwise
            if _ends(then) and not has_return(otherwise):
                return (self.branches(statement, then, _after(otherwise, rest), remember=remember),)
            if _ends(otherwise) and not has_return(then):
                return (self.branches(statement, _after(then, rest), otherwise, remember=remember),)
        if isinstance(statement, (ir.Loop, ir.While)):
            first = map_bodies(statement, self.in_loop)
        else:
            inner = remember or bool(rest)
            first = map_bodies(statement, lambda body: self.body(body, remember=inner))
        if not rest:
            return (first,)
        self.remembers = True
        going_on = self.body(rest, remember=remember)
        return (first, ir.Node.if_(ir.Expr.var(self.over), [], going_on)) if going_on else (first,)

    def branches(
        self, statement: ir.If, then: ir.Body, otherwise: ir.Body, *, remember: bool
    ) -> ir.AnyStmt:
        sides = [self.body(side, remember=remember) for side in (then, otherwise)]
        return ir.If(statement.cond, *sides).at(statement.span)

    def note(self, remember: bool) -> ir.Body:
        self.remembers |= remember
        return (ir.Node.assign(self.over, ir.Expr.bool_(True)),) if remember else ()

    def in_loop(self, body: ir.Body) -> ir.Body:
        """A body in a loop: a return leaves that loop, and all loops around it."""
        result: list[ir.AnyStmt] = []
        for statement in body:
            match statement:
                case ir.Return():
                    return (*result, *self.note(True), ir.Break())
                case ir.Loop() | ir.While() if has_return(statement.body):
                    leave: list[ir.AnyStmt] = [ir.Break()]
                    result.append(map_bodies(statement, self.in_loop))
                    result.append(ir.Node.if_(ir.Expr.var(self.over), leave))
                case _:
                    result.append(map_bodies(statement, self.in_loop))
        return tuple(result)


def _after(branch: ir.Body, rest: ir.Body) -> ir.Body:
    """A branch and what follows it, each with names of its own."""
    return (ir.Block(branch), *rest) if branch else rest


def _ends(body: ir.Body) -> bool:
    return any(_always_returns(statement) for statement in body)


def _always_returns(statement: ir.AnyStmt) -> bool:
    match statement:
        case ir.Return():
            return True
        case ir.Block(body) | ir.Region(_, _, body):
            return _ends(body)
        case ir.If(_, then, otherwise):
            return _ends(then) and _ends(otherwise)
        case _:
            return False
