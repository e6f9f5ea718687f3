"""Programs on buffers of other names."""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr

_FIELDS = ("buffer", "source", "destination", "count_buffer")


def renamed_buffers(program: ir.Program, names: Mapping[str, str]) -> ir.Program:
    """The same program with other names for its buffers."""
    decls = [decl.with_name(names[decl.name]) for decl in program.buffers]

    def expr(node: ir.AnyExpr) -> ir.AnyExpr:
        name = getattr(node, "buffer", None)
        return node if name is None else rebuilt(node, {"buffer": names[name]})

    def statement(one: ir.AnyStmt) -> ir.AnyStmt:
        one = map_exprs(one, lambda child: rewrite_expr(child, expr))
        changed = {f: names[getattr(one, f)] for f in _FIELDS if hasattr(one, f)}
        one = rebuilt(one, dict(changed)) if changed else one
        return map_bodies(one, body)

    def body(inner: ir.Body) -> ir.Body:
        return tuple(statement(each) for each in inner)

    return program.with_rewritten_buffers(decls).with_rewritten_entry(body(program.entry))
