"""The variable of a `for` loop has no value after the loop.

In Python it keeps the last one. A name that is also a variable before the loop has therefore either
value behind it, and also in the next iteration of a loop around: reading it is refused there.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from vyre.front.context import Context, LoopVariableLeft, Variable
from vyre.front.variable_scopes import loop_variables


def loop_variable_left(ctx: Context, name: str) -> None:
    """The loop with this variable ends here."""
    found = ctx.frame.names.get(name)
    if isinstance(found, LoopVariableLeft):
        return
    ctx.frame.names[name] = LoopVariableLeft(found if isinstance(found, Variable) else None)


def leave_loop_variables(ctx: Context, body: Sequence[ast.stmt]) -> None:
    """A loop with this body begins: loops in it may have run before."""
    names = ctx.frame.names
    for name in loop_variables(body):
        found = names.get(name)
        if isinstance(found, Variable):
            names[name] = LoopVariableLeft(found)
