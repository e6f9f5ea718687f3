"""Indices and bounds as they look along a row of lanes: constant, rising by a step, or neither."""

from __future__ import annotations

from collections.abc import Mapping

from vyre.backends.llvm.analysis.index_folding import folded
from vyre.ir import (
    AnyExpr,
    Assign,
    Binary,
    BinOp,
    Body,
    BufferAccess,
    BufLen,
    Builtin,
    BuiltinKind,
    Cast,
    DataType,
    Let,
    Lit,
    Load,
    Loop,
    Program,
    Select,
    Unary,
    UnOp,
    Var,
)
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import rewrite_expr, walk_expr, walk_stmts

MOST_NODES = 40
"""Expressions that grow larger than this when names are written out are left alone."""

Axes = tuple[int, ...]
X: Axes = (0,)
ALL_AXES: Axes = (0, 1, 2)

_IDS = frozenset({BuiltinKind.GLOBAL_ID, BuiltinKind.LOCAL_ID})
_CONSTANT = (BufferAccess.READ_ONLY, BufferAccess.UNIFORM)
_WORDS = (DataType.U32, DataType.I32)
_NOWHERE = 0xFFFFFFFF
"""The index of what is outside along some axis."""


class LinearForms:
    """What is known of pure expressions over ids, lengths, constants and shared names."""

    def __init__(
        self,
        program: Program,
        body: Body,
        outer: Mapping[str, AnyExpr],
        leaves: frozenset[str],
        types: Mapping[str, DataType],
    ) -> None:
        self._env = TypeEnv({decl.name: decl for decl in program.buffers}, types)
        self.private = {decl.name for decl in program.buffers if decl.is_local}
        self._constant = {d.name for d in program.buffers if d.access in _CONSTANT}
        self._leaves = set(leaves)
        self._counters: set[str] = set()
        self._values: dict[str, AnyExpr] = {}
        self._expanded: dict[AnyExpr, AnyExpr] = {}
        self._open: set[str] = set()
        """Names in what was expanded that nothing was known of."""
        self._types: dict[AnyExpr, DataType] = {}
        self._purity: dict[AnyExpr, bool] = {}
        self._constancy: dict[tuple[AnyExpr, Axes], bool] = {}
        """What has been asked before, as long as nothing new is learned."""
        for name, value in outer.items():
            self.know(name, value)
        assigned = {s.name for s in walk_stmts(body) if isinstance(s, Assign)}
        for statement in walk_stmts(body):
            if isinstance(statement, Loop):
                self.count(statement.var)
            elif isinstance(statement, Let) and statement.name not in assigned:
                self.know(statement.name, statement.value)

    def count(self, counter: str) -> None:
        """Learn of a loop's counter."""
        if counter not in self._counters:
            self._counters.add(counter)
            self._forget()

    def share(self, name: str, dtype: DataType) -> None:
        """Learn of a name that is the same for all lanes of a row."""
        self._leaves.add(name)
        self._forget()
        self.learn_type(name, dtype)

    def _forget(self) -> None:
        self._purity.clear()
        self._constancy.clear()

    def learn_type(self, name: str, dtype: DataType) -> None:
        """Learn of a new name."""
        self._env = TypeEnv(self._env.buffers, {**self._env.variables, name: dtype})
        self._types.clear()

    def know(self, name: str, value: AnyExpr) -> None:
        """Learn what a name stands for that never changes, if its value is pure."""
        written = self.expand(value)
        if self.is_pure(written):
            if name in self._open or name in self._values:
                self._expanded.clear()
                self._open.clear()
            self._values[name] = written

    def expand(self, expr: AnyExpr) -> AnyExpr:
        """The expression with names written out as far as they are pure.

        Shifts become products and what is negated a difference; literals are put together.
        """
        found = self._expanded.get(expr)
        if found is None:
            found = self._expanded[expr] = self._expand(expr)
        return found

    def _expand(self, expr: AnyExpr) -> AnyExpr:
        known = self._values

        def one(node: AnyExpr) -> AnyExpr:
            if isinstance(node, Var):
                value = known.get(node.name)
                if value is None:
                    self._open.add(node.name)
                    return node
                return value
            if isinstance(node, Binary) and node.op is BinOp.SHL:
                node = _as_product(node)
            if isinstance(node, Unary) and node.op is UnOp.NEG:
                node = self._as_difference(node)
            return folded(node)

        return rewrite_expr(expr, one)

    def _as_difference(self, node: Unary) -> AnyExpr:
        """A negated number of 32 bits as zero less that number."""
        dtype = self.word(node.operand)
        return node if dtype is None else Binary(BinOp.SUB, Lit(dtype, 0), node.operand)

    def is_pure(self, expr: AnyExpr) -> bool:
        """Whether the value is the same wherever the loops around it are at the same round."""
        found = self._purity.get(expr)
        if found is None:
            found = self._purity[expr] = self._is_pure(expr)
        return found

    def _is_pure(self, expr: AnyExpr) -> bool:
        for count, node in enumerate(walk_expr(expr)):
            if count >= MOST_NODES or not self._pure_node(node):
                return False
        return True

    def _pure_node(self, node: AnyExpr) -> bool:
        match node:
            case Lit() | BufLen() | Cast() | Select():
                return True
            case Var(name):
                return name in self._leaves or name in self._counters
            case Builtin(kind, _):
                return kind not in (BuiltinKind.SUBGROUP_LANE, BuiltinKind.SUBGROUP_SIZE)
            case Binary(op, _, _):
                return not op.row.approximate
            case Load(buffer, _):
                return buffer in self._constant
            case _:
                return False

    def type_of(self, expr: AnyExpr) -> DataType:
        """The type of a value."""
        found = self._types.get(expr)
        if found is None:
            found = self._types[expr] = type_of(expr, self._env)
        return found

    def is_u32(self, expr: AnyExpr) -> bool:
        """Whether the value is a `u32`."""
        return self.type_of(expr) is DataType.U32

    def is_integer(self, expr: AnyExpr) -> bool:
        """Whether the value is an integer of any type."""
        return self.type_of(expr).is_integer

    def word(self, expr: AnyExpr) -> DataType | None:
        """The type of an integer of 32 bits; None for other values."""
        found = self.type_of(expr)
        return found if found in _WORDS else None

    def is_recast(self, expr: AnyExpr) -> bool:
        """Whether it is another expression's 32 bits, taken as signed or as unsigned."""
        return isinstance(expr, Cast) and expr.dtype in _WORDS and self.word(expr.value) is not None

    def is_row_constant(self, expr: AnyExpr) -> bool:
        """Whether the value is the same for all lanes of a row, and known before they run."""
        return self.is_constant_along(expr, X)

    def is_constant_along(self, expr: AnyExpr, axes: Axes) -> bool:
        """Whether the value is the same for lanes that lie along some axes, and known before."""
        key = (expr, axes)
        found = self._constancy.get(key)
        if found is None:
            found = self.is_pure(expr) and not any(self._moves(n, axes) for n in walk_expr(expr))
            self._constancy[key] = found
        return found

    def _moves(self, node: AnyExpr, axes: Axes) -> bool:
        if isinstance(node, Var):
            return node.name in self._counters and node.name not in self._leaves
        return is_id_along(node, axes)

    def stride(self, expr: AnyExpr) -> int | None:
        """The step from lane to lane; None when it is not known to be one."""
        match expr:
            case Builtin(kind, 0) if kind in _IDS:
                return 1
            case Binary(BinOp.ADD, left, right):
                return self._joined(left, right, 1)
            case Binary(BinOp.SUB, left, right):
                return self._joined(left, right, -1)
            case Binary(BinOp.MUL, left, right):
                if isinstance(left, Lit):
                    left, right = right, left
                inner = self.stride(left)
                return inner * int(right.value) if inner and isinstance(right, Lit) else None
            case Cast(value, _) if self.is_recast(expr):
                return self.stride(value)
            case _:
                return None

    def _joined(self, left: AnyExpr, right: AnyExpr, sign: int) -> int | None:
        steps: list[int] = []
        for side in (left, right):
            step = 0 if self.is_row_constant(side) else self.stride(side)
            if step is None:
                return None
            steps.append(step)
        return steps[0] + sign * steps[1] or None

    def offset(self, expr: AnyExpr) -> int:
        """The literal that is added to an index at its top."""
        match expr:
            case Binary(BinOp.ADD, left, Lit() as right):
                return int(right.value) + self.offset(left)
            case Binary(BinOp.ADD, Lit() as left, right):
                return int(left.value) + self.offset(right)
            case _:
                return 0

    def without_offset(self, expr: AnyExpr) -> AnyExpr:
        """An index less the literal that is added at its top."""
        match expr:
            case Binary(BinOp.ADD, left, Lit()):
                return self.without_offset(left)
            case Binary(BinOp.ADD, Lit(), right):
                return self.without_offset(right)
            case _:
                return expr

    def is_global(self, expr: AnyExpr) -> bool:
        """Whether it rises with the position in the grid, not just in the workgroup."""
        kinds = {n.kind for n in walk_expr(expr) if isinstance(n, Builtin) and is_lane_id(n)}
        return kinds == {BuiltinKind.GLOBAL_ID}

    def may_wrap(self, expr: AnyExpr) -> bool:
        """Whether it may pass the greatest number within a row."""
        return not isinstance(expr, Builtin)

    def is_same_in_y(self, *exprs: AnyExpr) -> bool:
        """Whether values are the same in all rows of a workgroup."""
        return not any(
            isinstance(node, Builtin) and node.kind in _IDS and node.axis == 1
            for expr in exprs
            for node in walk_expr(expr)
        )


def _as_product(shift: Binary) -> AnyExpr:
    """A shift of a `u32` by a literal as the multiplication that it is."""
    amount = shift.right
    if not isinstance(amount, Lit) or amount.dtype is not DataType.U32:
        return shift
    return Binary(BinOp.MUL, shift.left, Lit(DataType.U32, 1 << (amount.bits & 31)))


def flat_index(index: AnyExpr) -> AnyExpr:
    """An index without the test of its axes."""
    match index:
        case Select(_, flat, Lit(DataType.U32, bits)) if bits == _NOWHERE:
            return flat
        case _:
            return index


def is_lane_id(node: AnyExpr) -> bool:
    """Whether a node is a position along x."""
    return is_id_along(node, X)


def is_id_along(node: AnyExpr, axes: Axes) -> bool:
    """Whether a node is a position along one of some axes."""
    return isinstance(node, Builtin) and node.kind in _IDS and node.axis in axes


__all__ = ["ALL_AXES", "Axes", "LinearForms", "X", "flat_index", "is_id_along", "is_lane_id"]
