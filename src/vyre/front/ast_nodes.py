"""All syntax nodes of a Python statement, collected once."""

from __future__ import annotations

import ast

_KEPT = "_vyre_parts"
"""The attribute of a statement that holds the nodes in it."""


def parts(node: ast.AST) -> list[ast.AST]:
    """A node and all nodes below it.

    Those of statements are kept with them: translating asks about each of their names, and
    `ast.walk` takes longer than all the rest.
    """
    known: list[ast.AST] | None = getattr(node, _KEPT, None)
    if known is not None:
        return known
    found = [node]
    for name in node._fields:
        below: object = getattr(node, name, None)
        if isinstance(below, ast.AST):
            found += parts(below)
        elif isinstance(below, list):
            for each in below:  # pyright: ignore[reportUnknownVariableType]
                if isinstance(each, ast.AST):
                    found += parts(each)
    if isinstance(node, ast.stmt):
        setattr(node, _KEPT, found)
    return found


__all__ = ["parts"]
