"""If-conversion of compare-exchange: both stores unconditional, each of a select.

    x = a[i]; y = a[j]; if x > y: a[i] = y; a[j] = x
becomes
    a[i] = y if x > y else x; a[j] = x if x > y else y

The branch of a sorting network is unpredictable and diverges between lanes. Where the condition
does not hold, each element is written back as it was loaded. Another invocation that writes these
elements without order to the stores has none to the loads either, so it raced before. Out of
bounds, neither store does anything. An element keeps its bits on the way through a register if it
is an integer, or a float of 32 or 64 bits.

It is no pass of the optimizer, because GPUs mask the stores of lanes that are in order, and here
every lane stores: on llvmpipe, the block sorts of the survey take 1.0 to 2.1 times as long with it.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.ir.walk import assigned_names, map_bodies, walk_expr, walk_stmts, without_blocks
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass

FEWEST = 2
_KEPT = frozenset(
    {
        *(
            ir.DataType.U8,
            ir.DataType.I8,
            ir.DataType.U16,
            ir.DataType.I16,
            ir.DataType.U32,
            ir.DataType.I32,
        ),
        *(ir.DataType.U64, ir.DataType.I64, ir.DataType.F32, ir.DataType.F64),
    }
)
_PURE = (ir.Var, ir.Lit, ir.Binary, ir.Unary, ir.Cast, ir.Select, ir.Builtin)


@vyre_pass(name="if_convert_exchanges", phase=PassPhase.LOWERING, family=CostModelFamily.SCALAR)
class IfConvertExchanges(CpuPass):
    """Replaces a conditional exchange of loaded elements by unconditional stores of selects.

    Legal when the branch only stores back to elements loaded before it, with pure statements in
    between. Profitable when two to four elements are exchanged: the branch would diverge.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip programs without a branch of two statements."""
        if any(isinstance(s, ir.If) and len(s.then) >= FEWEST for s in walk_stmts(program.entry)):
            return PassAnalysis.RUN
        return PassAnalysis.skip("no branch with two stores")

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with exchanges as stores."""
        return program.with_rewritten_entry(_Exchanges(program).body(program.entry))


class _Exchanges:
    def __init__(self, program: ir.Program) -> None:
        self._assigned = assigned_names(program.entry)
        self._buffers = {
            decl.name for decl in program.buffers if decl.element in _KEPT and not decl.is_local
        }

    def body(self, body: ir.Body) -> ir.Body:
        made: list[ir.AnyStmt] = []
        loaded: dict[tuple[str, ir.AnyExpr], str] = {}
        for statement in body:
            stores = self._stores(statement, loaded) if loaded else None
            if stores is None:
                made.append(map_bodies(statement, self.body))
            else:
                made += stores
            self._note(statement, loaded)
        same = len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True))
        return body if same else tuple(made)

    def _note(self, statement: ir.AnyStmt, loaded: dict[tuple[str, ir.AnyExpr], str]) -> None:
        """Record a load; anything but a pure binding invalidates the recorded ones."""
        if not isinstance(statement, ir.Let) or any(
            isinstance(node, ir.Atomic) for node in walk_expr(statement.value)
        ):
            loaded.clear()
            return
        match statement.value:
            case ir.Load(buffer, index) if buffer in self._buffers and self._is_steady(index):
                if statement.name not in self._assigned:
                    loaded[buffer, index] = statement.name
            case _:
                pass

    def _is_steady(self, expr: ir.AnyExpr) -> bool:
        return all(
            isinstance(node, _PURE)
            and not (isinstance(node, ir.Var) and node.name in self._assigned)
            for node in walk_expr(expr)
        )

    def _stores(
        self, statement: ir.AnyStmt, loaded: dict[tuple[str, ir.AnyExpr], str]
    ) -> list[ir.AnyStmt] | None:
        if not isinstance(statement, ir.If) or statement.otherwise or not _is_pure(statement.cond):
            return None
        stores = without_blocks(statement.then)
        if not FEWEST <= len(stores) <= heuristics.MAX_EXCHANGED_ELEMENTS:
            return None
        made: list[ir.AnyStmt] = []
        for store in stores:
            if not isinstance(store, ir.Store) or not isinstance(store.value, ir.Var):
                return None
            before = loaded.get((store.buffer, store.index))
            others = {name for (buffer, _), name in loaded.items() if buffer == store.buffer}
            if before is None or store.value.name not in others - {before}:
                return None
            value = ir.Select(statement.cond, store.value, ir.Var(before))
            made.append(ir.Store(store.buffer, store.index, value))
        return made


def _is_pure(cond: ir.AnyExpr) -> bool:
    """True if a condition may be re-evaluated after some of the stores."""
    return all(isinstance(node, _PURE) for node in walk_expr(cond))


__all__ = ["IfConvertExchanges"]
