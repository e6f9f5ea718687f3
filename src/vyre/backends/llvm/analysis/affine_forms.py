"""Affine forms of indices and bounds along a row of lanes.

Classifies pure expressions as uniform (`is_row_constant`), linear (`stride` elements from lane to
lane) or neither. Names are substituted by their pure values first (`expand`). All arithmetic is
modulo 2^32, so a linear value may wrap within a row. Answers err towards "neither".
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.index_folding import folded
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import assigned_names, rewrite_expr, walk_expr, walk_stmts

Axes = tuple[int, ...]
X: Axes = (0,)
ALL_AXES: Axes = (0, 1, 2)

_IDS = frozenset({ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.LOCAL_ID})
_CONSTANT = (ir.BufferAccess.READ_ONLY, ir.BufferAccess.UNIFORM)
_PURE = frozenset({ir.Lit, ir.BufLen, ir.Cast, ir.Select})
"""Pure whatever their operands are."""
_WORDS = (ir.DataType.U32, ir.DataType.I32)
_NOWHERE = 0xFFFFFFFF
"""Index of an access that is out of bounds along some axis."""


class LinearForms:
    """Affine facts on pure expressions over ids, lengths, constants and uniform names."""

    def __init__(
        self,
        program: ir.Program,
        body: ir.Body,
        outer: Mapping[str, ir.AnyExpr],
        leaves: frozenset[str],
        types: Mapping[str, ir.DataType],
    ) -> None:
        self._env = TypeEnv({decl.name: decl for decl in program.buffers}, types)
        self.private = {decl.name for decl in program.buffers if decl.is_local}
        self._constant = {d.name for d in program.buffers if d.access in _CONSTANT}
        self._leaves = set(leaves)
        self._counters: set[str] = set()
        self._values: dict[str, ir.AnyExpr] = {}
        self._expanded: dict[ir.AnyExpr, ir.AnyExpr] = {}
        self._open: set[str] = set()
        """Names in expanded expressions that had no value."""
        self._types: dict[ir.AnyExpr, ir.DataType] = {}
        self._purity: dict[ir.AnyExpr, bool] = {}
        self._constancy: dict[tuple[ir.AnyExpr, Axes], bool] = {}
        """Memoised answers, cleared when a new fact is added."""
        for name, value in outer.items():
            self.know(name, value)
        assigned = assigned_names(body)
        for statement in walk_stmts(body):
            if isinstance(statement, ir.Loop):
                self.count(statement.var)
            elif isinstance(statement, ir.Let) and statement.name not in assigned:
                self.know(statement.name, statement.value)

    def count(self, counter: str) -> None:
        """Add the induction variable of a loop."""
        if counter not in self._counters:
            self._counters.add(counter)
            self._forget()

    def share(self, name: str, dtype: ir.DataType) -> None:
        """Add a name that is uniform along a row."""
        self._leaves.add(name)
        self._forget()
        self.learn_type(name, dtype)

    def _forget(self) -> None:
        self._purity.clear()
        self._constancy.clear()

    def learn_type(self, name: str, dtype: ir.DataType) -> None:
        """Add a new name and its type."""
        self._env = TypeEnv(self._env.buffers, {**self._env.variables, name: dtype})
        self._types.clear()

    def know(self, name: str, value: ir.AnyExpr) -> None:
        """Add the value of an immutable name, if that value is pure."""
        written = self.expand(value)
        if self.is_pure(written):
            if name in self._open or name in self._values:
                self._expanded.clear()
                self._open.clear()
            self._values[name] = written

    def expand(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """Substitute the pure values of names into an expression.

        Shifts become products and negations differences; literals are folded.
        """
        expanded = self._expanded.get(expr)
        if expanded is None:
            expanded = self._expanded[expr] = self._expand(expr)
        return expanded

    def _expand(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        known = self._values

        def substitute(node: ir.AnyExpr) -> ir.AnyExpr:
            if isinstance(node, ir.Var):
                value = known.get(node.name)
                if value is None:
                    self._open.add(node.name)
                    return node
                return value
            if isinstance(node, ir.Binary) and node.op is ir.BinOp.SHL:
                node = _as_product(node)
            if isinstance(node, ir.Unary) and node.op is ir.UnOp.NEG:
                node = self._as_difference(node)
            return folded(node)

        return rewrite_expr(expr, substitute)

    def _as_difference(self, node: ir.Unary) -> ir.AnyExpr:
        """Rewrite the negation of a 32-bit integer as `0 - x`."""
        dtype = self.word(node.operand)
        return node if dtype is None else ir.Binary(ir.BinOp.SUB, ir.Lit(dtype, 0), node.operand)

    def is_pure(self, expr: ir.AnyExpr) -> bool:
        """True if the value depends on lane and iterations only."""
        pure = self._purity.get(expr)
        if pure is None:
            pure = self._purity[expr] = self._is_pure(expr)
        return pure

    def _is_pure(self, expr: ir.AnyExpr) -> bool:
        for count, node in enumerate(walk_expr(expr)):
            if count >= heuristics.MAX_AFFINE_NODES:
                return False
            if type(node) not in _PURE and not self._pure_node(node):
                return False
        return True

    def _pure_node(self, node: ir.AnyExpr) -> bool:
        match node:
            case ir.Var(name):
                return name in self._leaves or name in self._counters
            case ir.Builtin(kind, _):
                return kind not in (ir.BuiltinKind.SUBGROUP_LANE, ir.BuiltinKind.SUBGROUP_SIZE)
            case ir.Binary(op, _, _):
                return not op.row.approximate
            case ir.Load(buffer, _):
                return buffer in self._constant
            case _:
                return False

    def type_of(self, expr: ir.AnyExpr) -> ir.DataType:
        """Type of an expression."""
        dtype = self._types.get(expr)
        if dtype is None:
            dtype = self._types[expr] = type_of(expr, self._env)
        return dtype

    def is_u32(self, expr: ir.AnyExpr) -> bool:
        """True if the value is a `u32`."""
        return self.type_of(expr) is ir.DataType.U32

    def is_integer(self, expr: ir.AnyExpr) -> bool:
        """True if the value is an integer of any width."""
        return self.type_of(expr).is_integer

    def word(self, expr: ir.AnyExpr) -> ir.DataType | None:
        """Type of a 32-bit integer; None for other values."""
        dtype = self.type_of(expr)
        return dtype if dtype in _WORDS else None

    def is_recast(self, expr: ir.AnyExpr) -> bool:
        """True if it reinterprets a 32-bit integer as signed or unsigned."""
        return (
            isinstance(expr, ir.Cast) and expr.dtype in _WORDS and self.word(expr.value) is not None
        )

    def is_row_constant(self, expr: ir.AnyExpr) -> bool:
        """True if the value is uniform along a row, available beforehand."""
        return self.is_constant_along(expr, X)

    def is_constant_along(self, expr: ir.AnyExpr, axes: Axes) -> bool:
        """True if the value is uniform along some axes, and available beforehand."""
        key = (expr, axes)
        uniform = self._constancy.get(key)
        if uniform is None:
            uniform = self.is_pure(expr) and not any(self._moves(n, axes) for n in walk_expr(expr))
            self._constancy[key] = uniform
        return uniform

    def _moves(self, node: ir.AnyExpr, axes: Axes) -> bool:
        if isinstance(node, ir.Var):
            return node.name in self._counters and node.name not in self._leaves
        return is_id_along(node, axes)

    def stride(self, expr: ir.AnyExpr) -> int | None:
        """Stride from lane to lane; None if the value is not provably linear."""
        match expr:
            case ir.Builtin(kind, 0) if kind in _IDS:
                return 1
            case ir.Binary(ir.BinOp.ADD, left, right):
                return self._joined(left, right, 1)
            case ir.Binary(ir.BinOp.SUB, left, right):
                return self._joined(left, right, -1)
            case ir.Binary(ir.BinOp.MUL, left, right):
                if isinstance(left, ir.Lit):
                    left, right = right, left
                inner = self.stride(left)
                return inner * int(right.value) if inner and isinstance(right, ir.Lit) else None
            case ir.Cast(value, _) if self.is_recast(expr):
                return self.stride(value)
            case _:
                return None

    def _joined(self, left: ir.AnyExpr, right: ir.AnyExpr, sign: int) -> int | None:
        steps: list[int] = []
        for side in (left, right):
            step = 0 if self.is_row_constant(side) else self.stride(side)
            if step is None:
                return None
            steps.append(step)
        return steps[0] + sign * steps[1] or None

    def offset(self, expr: ir.AnyExpr) -> int:
        """Constant term of an index: the sum of the literals added at its top."""
        match expr:
            case ir.Binary(ir.BinOp.ADD, left, ir.Lit() as right):
                return int(right.value) + self.offset(left)
            case ir.Binary(ir.BinOp.ADD, ir.Lit() as left, right):
                return int(left.value) + self.offset(right)
            case _:
                return 0

    def without_offset(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """An index without its constant term."""
        match expr:
            case ir.Binary(ir.BinOp.ADD, left, ir.Lit()):
                return self.without_offset(left)
            case ir.Binary(ir.BinOp.ADD, ir.Lit(), right):
                return self.without_offset(right)
            case _:
                return expr

    def is_global(self, expr: ir.AnyExpr) -> bool:
        """True if it varies with the global id only."""
        kinds = {n.kind for n in walk_expr(expr) if isinstance(n, ir.Builtin) and is_lane_id(n)}
        return kinds == {ir.BuiltinKind.GLOBAL_ID}

    def may_wrap(self, expr: ir.AnyExpr) -> bool:
        """True if it may wrap within a row; errs towards True."""
        return not isinstance(expr, ir.Builtin)

    def is_same_in_y(self, *exprs: ir.AnyExpr) -> bool:
        """True if values are the same in all rows of a workgroup."""
        return not any(
            isinstance(node, ir.Builtin) and node.kind in _IDS and node.axis == 1
            for expr in exprs
            for node in walk_expr(expr)
        )


def _as_product(shift: ir.Binary) -> ir.AnyExpr:
    """Rewrite a shift of a `u32` by a literal as a product."""
    amount = shift.right
    if not isinstance(amount, ir.Lit) or amount.dtype is not ir.DataType.U32:
        return shift
    return ir.Binary(ir.BinOp.MUL, shift.left, ir.Lit(ir.DataType.U32, 1 << (amount.bits & 31)))


def flat_index(index: ir.AnyExpr) -> ir.AnyExpr:
    """Strip the per-axis bounds test of a multi-dimensional index."""
    match index:
        case ir.Select(_, flat, ir.Lit(ir.DataType.U32, bits)) if bits == _NOWHERE:
            return flat
        case _:
            return index


def is_lane_id(node: ir.AnyExpr) -> bool:
    """True if a node is the invocation's id along x."""
    return is_id_along(node, X)


def is_id_along(node: ir.AnyExpr, axes: Axes) -> bool:
    """True if a node is the invocation's id along given axes."""
    return isinstance(node, ir.Builtin) and node.kind in _IDS and node.axis in axes


__all__ = ["ALL_AXES", "Axes", "LinearForms", "X", "flat_index", "is_id_along", "is_lane_id"]
