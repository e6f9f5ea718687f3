"""Values that any lane of a workgroup can compute for another one.

A value that depends on ids, literals and read-only memory alone is the same whichever lane computes
it: `text[gid.x] == 10` for the lane `l` is `text[wid.x * 256 + l] == 10`. Functions with an error
bound are left out: vectors and scalars may differ in the last bit.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.ir.walk import assigned_names, rewrite_expr, walk_expr

_GROUP = ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, 0)
_SHARED = (ir.BuiltinKind.WORKGROUP_ID, ir.BuiltinKind.NUM_WORKGROUPS)
_PURE = (ir.Lit, ir.Fma, ir.Select, ir.Cast, ir.Bitcast, ir.BufLen)


class Recomputable:
    """The values of a program's variables, where any lane can compute them."""

    def __init__(self, program: ir.Program) -> None:
        self._lanes = program.workgroup_size[0]
        self._is_flat = program.workgroup_size[1:] == (1, 1)
        self._assigned = assigned_names(program.entry)
        self._constant = {
            d.name for d in program.buffers if not (d.is_writable or d.is_on_chip or d.is_scratch)
        }
        self._values: dict[str, ir.AnyExpr] = {}

    def learn(self, name: str, value: ir.AnyExpr) -> None:
        """Record a binding, if any lane can compute its value."""
        if self._is_flat and name not in self._assigned and self._is_recomputable(value):
            whole = self._whole(value)
            if sum(1 for _ in walk_expr(whole)) <= heuristics.MAX_RECOMPUTED_NODES:
                self._values[name] = whole

    def learn_uniform(self, name: str) -> None:
        """Record a variable that is the same in all lanes of the workgroup."""
        self._values[name] = ir.Var(name)

    def in_lane(
        self, value: ir.AnyExpr, first: ir.AnyExpr, further: ir.AnyExpr
    ) -> ir.AnyExpr | None:
        """A value as the lane `first + further` of the workgroup has it; None if only it can."""
        if not self._is_flat or not self._is_recomputable(value):
            return None
        whole = self._whole(value)
        if sum(1 for _ in walk_expr(whole)) > heuristics.MAX_RECOMPUTED_NODES:
            return None
        group = ir.Binary(ir.BinOp.MUL, _GROUP, ir.Expr.u32(self._lanes))
        begin = ir.Binary(ir.BinOp.ADD, group, first)

        def put(node: ir.AnyExpr) -> ir.AnyExpr:
            match node:
                case ir.Builtin(ir.BuiltinKind.LOCAL_ID, 0):
                    return ir.Binary(ir.BinOp.ADD, first, further)
                case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, 0):
                    return ir.Binary(ir.BinOp.ADD, begin, further)
                case _:
                    return node

        return rewrite_expr(whole, put)

    def _is_recomputable(self, value: ir.AnyExpr) -> bool:
        return all(map(self._is_common, walk_expr(value)))

    def _is_common(self, node: ir.AnyExpr) -> bool:
        match node:
            case ir.Var(name):
                return name in self._values
            case ir.Builtin(ir.BuiltinKind.LOCAL_ID | ir.BuiltinKind.GLOBAL_ID, _):
                return True
            case ir.Builtin(kind, _):
                return kind in _SHARED
            case ir.Load(buffer, _):
                return buffer in self._constant
            case ir.Unary(op, _) | ir.Binary(op, _, _):
                return not op.row.approximate
            case _:
                return isinstance(node, _PURE)

    def _whole(self, value: ir.AnyExpr) -> ir.AnyExpr:
        """A value in terms of ids and memory."""

        def put(node: ir.AnyExpr) -> ir.AnyExpr:
            return self._values[node.name] if isinstance(node, ir.Var) else node

        return rewrite_expr(value, put)


__all__ = ["Recomputable"]
