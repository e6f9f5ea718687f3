"""Legality of inner-loop vectorisation.

In `for i in 0..n { count = count + u32(text[start + i] == 10u8) }` lanes are far apart in memory,
but iterations are not. One invocation then runs many iterations at once, as the elements of a
vector. Legal for loops whose iterations are independent but for these recurrences:

- Reductions: sums, products, extrema and bitwise operations of integers, which are associative and
  commutative, wrapped or not, and extrema of floats, which are as well: of two zeros either may
  result. Every vector element accumulates a partial result; these are combined after the loop. An
  iteration may use the running value of a reduction: that is an inclusive scan of the vector.
- Arg-extrema: `if v > best { best = v  at = i }`. Every vector element keeps its own best and the
  iteration that found it; the iteration of the overall best is executed once more (see
  `emit.arg_extremum`).
- Appends: `if p { out[m] = v  m = m + 1 }` (see `analysis.appends`).
- Stores go to consecutive elements, and a buffer that is stored to is accessed only at the element
  that is stored: no iteration sees a store of another one.
- Lookups in small tables of bytes may be at any index (see `analysis.loop_lookups`).

Every other access must be proven in bounds. The analysis errs towards None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.appends import Append, append_of, are_independent
from vyre.backends.llvm.analysis.loop_lookups import Lookup, lookup_of
from vyre.backends.llvm.emit.arg_extremum import ArgExtremum, best_of
from vyre.backends.llvm.emit.storage_formats import STORAGE_ONLY
from vyre.ir.walk import (
    assigned_names,
    declared_names,
    expr_children,
    rewrite_expr,
    variables_of,
    walk_expr,
    without_blocks,
)
from vyre.record import dataclass

MOST_ELEMENTS = 1 << 32
"""In larger buffers, a wrapped 32-bit index may be in bounds again."""
_COUNTERS = frozenset({ir.DataType.U32, ir.DataType.I32})
IDENTITY = {ir.BinOp.ADD: 0, ir.BinOp.XOR: 0, ir.BinOp.MUL: 1}
"""Identity element of each reduction operator that is not idempotent."""
EXTREMES = frozenset({ir.BinOp.MIN, ir.BinOp.MAX, ir.BinOp.MINIMUM, ir.BinOp.MAXIMUM})
IDEMPOTENT = frozenset({ir.BinOp.AND, ir.BinOp.OR}) | EXTREMES
"""Idempotent operators: `x op x = x`, so the accumulator itself initialises a partial result."""
_OPERATIONS = (ir.Binary, ir.Unary)
BITS = frozenset({ir.BinOp.AND, ir.BinOp.OR, ir.BinOp.XOR})
FLOATS = frozenset({ir.DataType.F32, ir.DataType.F64})


@dataclass(frozen=True, slots=True)
class VectorizableLoop:
    """A loop whose iterations may run as elements of a vector."""

    results: Mapping[str, ir.BinOp]
    """Reduction variables and their operators."""
    followed: frozenset[str]
    """Those among them whose running value iterations read: scans."""
    bests: tuple[ArgExtremum, ...]
    """Arg-min and arg-max recurrences."""
    appends: tuple[Append, ...]
    """Stream compactions."""
    accesses: tuple[ir.Load | ir.Store, ...]
    """Accesses that are consecutive across iterations."""
    lookups: tuple[Lookup, ...]
    """Loads from small tables of bytes."""
    widest: int
    """Bits of the widest values that iterations compute with."""
    operations: int
    costly: bool
    """True if some of the operations are maths functions."""

    @property
    def stores(self) -> bool:
        """True if iterations store."""
        return any(isinstance(access, ir.Store) for access in self.accesses)


def vectorizable_loop(loop: ir.Loop, env: ir.TypeEnv) -> VectorizableLoop | None:
    """Describe the recurrences of a loop; None if it must not be vectorised."""
    if ir.type_of(loop.start, env) not in _COUNTERS or _is_short(loop):
        return None
    return _LoopAnalysis(loop, env).result()


class _LoopAnalysis:
    """Collects the recurrences, accesses and values of a loop."""

    def __init__(self, loop: ir.Loop, env: ir.TypeEnv) -> None:
        self._loop = loop
        self._env = env
        self._results: dict[str, ir.BinOp] = {}
        self._values: dict[str, ir.AnyExpr] = {}
        """Values of the names that the loop binds and never reassigns."""
        self._parts: list[ir.AnyExpr] = []
        """All computed expressions, without the reduction operations."""
        self._stores: list[ir.Store] = []
        self._appends: list[Append] = []
        self._followed: set[str] = set()
        self._conditional: set[str] = set()
        """Reductions that are conditional or have several updates per iteration."""
        self._bests: dict[str, ArgExtremum] = {}
        """Arg-extrema by the name of the condition that replaces them."""
        self._replaced: dict[str, ArgExtremum] = {}
        self._own = declared_names(loop.body)
        self._changed = assigned_names(loop.body)

    def result(self) -> VectorizableLoop | None:
        if not all(map(self._take, without_blocks(self._loop.body))):
            return None
        nodes = [node for part in self._parts for node in walk_expr(part)]
        nodes += [node for store in self._stores for node in walk_expr(store.index)]
        if not all(_is_plain(node, self._env) for node in nodes):
            return None
        accesses: list[ir.Load | ir.Store] = []
        lookups: list[Lookup] = []
        for access in (*(n for n in nodes if isinstance(n, ir.Load)), *self._stores):
            step = self._step(access.index)
            steps = (1, -1) if isinstance(access, ir.Load) else (1,)
            if step in steps and self._env.buffers[access.buffer].count < MOST_ELEMENTS:
                accesses.append(access)
            elif step is None and isinstance(access, ir.Load):
                lookup = lookup_of(access, self._substituted(access.index), self._env)
                if lookup is None:
                    return None
                lookups.append(lookup)
            elif step != 0 or isinstance(access, ir.Store):
                return None
        if (
            not accesses
            or not self._stores_are_independent(nodes)
            or not self._appends_are_independent(nodes)
            or self._followed & self._conditional
        ):
            return None
        if self._bests and (self._followed or not self._are_replaced()):
            return None
        values = [node for part in self._parts for node in _values_in(part)]
        return VectorizableLoop(
            results=self._results,
            followed=frozenset(self._followed),
            bests=tuple(self._bests.values()),
            appends=tuple(self._appends),
            accesses=tuple(accesses),
            lookups=tuple(lookups),
            widest=self._widest(values),
            operations=sum(not isinstance(node, (ir.Lit, ir.Var, ir.Load)) for node in values),
            costly=any(isinstance(n, _OPERATIONS) and n.op.row.approximate for n in values),
        )

    def _take(self, statement: ir.AnyStmt) -> bool:
        """Record a statement; False if it prevents vectorisation."""
        match statement:
            case ir.Let(name, value):
                best = best_of(statement, self._changed - self._own)
                if best is not None and name not in self._changed:
                    self._bests[name] = best
                    return self._compute(*best.parts)
                if name not in self._changed:
                    self._values[name] = value
                return self._compute(value)
            case ir.Assign(name, value) if name in self._own:
                return self._compute(value)
            case ir.Assign(name, ir.Select(ir.Var(cond), value, ir.Var(own))) if (
                cond in self._bests
            ):
                fits = name == own and name not in self._results and name not in self._replaced
                self._replaced[name] = self._bests[cond]
                return fits and self._compute(value)
            case ir.Assign():
                return self._take_result(statement)
            case ir.If():
                return self._take_append(statement)
            case ir.Store(buffer, index, value):
                self._stores.append(statement)
                plain = _is_plain_buffer(self._env.buffers[buffer])
                return plain and self._compute(value) and not self._read(index)
            case _:
                return False

    def _compute(self, *parts: ir.AnyExpr) -> bool:
        """Record expressions; True if they read only reductions updated before."""
        self._parts += parts
        read = {name for part in parts for name in self._read(part)}
        self._followed |= read
        return read <= self._results.keys()

    def _read(self, expr: ir.AnyExpr) -> frozenset[str]:
        """Loop-carried variables that an expression reads."""
        return variables_of(expr) & self._changed - self._own

    def _take_result(self, statement: ir.Assign) -> bool:
        name, update = statement.name, step_of(statement)
        dtype = self._env.variables.get(name)
        if update is None or dtype is None or dtype.is_vector or name in self._replaced:
            return False
        op, parts = update
        if not self._compute(*parts) or self._results.get(name, op) is not op:
            return False
        if len(parts) > 1 or name in self._results:
            self._conditional.add(name)
        self._results[name] = op
        if dtype.is_bool:
            return op in BITS
        return dtype.is_integer or (op in EXTREMES and dtype in FLOATS)

    def _take_append(self, statement: ir.If) -> bool:
        append = append_of(statement, self._env)
        if append is None or append.counter in self._own:
            return False
        if append.base_variables & (self._own | self._changed | {self._loop.var}):
            return False
        self._appends.append(append)
        # The counter is no result, so that any other use of it prevents vectorisation.
        return self._compute(append.cond, *(store.value for store in append.stores))

    def _appends_are_independent(self, nodes: Iterable[ir.AnyExpr]) -> bool:
        used = {node.buffer for node in nodes if isinstance(node, ir.Load)}
        used |= {store.buffer for store in self._stores}
        return are_independent(self._appends, used, self._results.keys() | self._replaced.keys())

    def _are_replaced(self) -> bool:
        """True if every arg-extremum replaces its own variable, a scalar number."""
        for best in self._bests.values():
            dtype = self._env.variables.get(best.name)
            if self._replaced.get(best.name) is not best or dtype is None:
                return False
            if not dtype.is_integer and dtype not in FLOATS:
                return False
        return True

    def _step(self, expr: ir.AnyExpr) -> int | None:
        """Stride of an index per iteration; None if it is not constant."""
        match expr:
            case ir.Var(name):
                if name == self._loop.var:
                    return 1
                if name in self._values:
                    return self._step(self._values[name])
                return None if name in self._own | self._changed else 0
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
                a, b = self._step(left), self._step(right)
                if a is None or b is None:
                    return None
                return a + b if op is ir.BinOp.ADD else a - b
            case ir.Cast(
                value, ir.DataType.U32 | ir.DataType.I32 | ir.DataType.U64 | ir.DataType.I64
            ):
                return self._step(value)
            case _:
                still = all(self._step(child) == 0 for child in expr_children(expr))
                return 0 if still else None

    def _stores_are_independent(self, nodes: Iterable[ir.AnyExpr]) -> bool:
        """True if stored buffers are accessed only at the stored element."""
        indices: dict[str, set[ir.AnyExpr]] = {}
        for store in self._stores:
            indices.setdefault(store.buffer, set()).add(self._substituted(store.index))
        for node in nodes:
            if isinstance(node, ir.Load) and node.buffer in indices:
                indices[node.buffer].add(self._substituted(node.index))
        return all(len(distinct) == 1 for distinct in indices.values())

    def _substituted(self, index: ir.AnyExpr) -> ir.AnyExpr:
        """Substitute the loop's bindings into an index."""

        def substitute(node: ir.AnyExpr) -> ir.AnyExpr:
            value = self._values.get(node.name) if isinstance(node, ir.Var) else None
            return node if value is None else self._substituted(value)

        return rewrite_expr(index, substitute)

    def _widest(self, values: Iterable[ir.AnyExpr]) -> int:
        buffers, types = self._env.buffers, self._env.variables
        dtypes = [types[name] for name in self._results]
        dtypes += [buffers[store.buffer].element for store in self._stores]
        for node in values:
            if isinstance(node, ir.Load):
                dtypes.append(buffers[node.buffer].element)
            elif isinstance(node, ir.Cast):
                dtypes.append(node.dtype)
        return max(8 * (dtype.size_bytes or 4) for dtype in dtypes)


def _is_short(loop: ir.Loop) -> bool:
    if not isinstance(loop.start, ir.Lit) or not isinstance(loop.stop, ir.Lit):
        return False
    return int(loop.stop.value) - int(loop.start.value) < heuristics.MIN_VECTORISED_TRIP_COUNT


def step_of(statement: ir.Assign) -> tuple[ir.BinOp, list[ir.AnyExpr]] | None:
    """Operator of `x = x op value`, perhaps conditional, and the operands besides `x`."""
    own, value = ir.Var(statement.name), statement.value
    match value:
        case ir.Select(cond, ir.Binary(op, left, right), other) if other == own:
            tested = [cond]
        case ir.Select(cond, other, ir.Binary(op, left, right)) if other == own:
            tested = [cond]
        case ir.Binary(op, left, right):
            tested = []
        case _:
            return None
    if op not in IDENTITY and op not in IDEMPOTENT:
        return None
    if left == own:
        return op, [*tested, right]
    return (op, [*tested, left]) if right == own else None


def _values_in(expr: ir.AnyExpr) -> Iterator[ir.AnyExpr]:
    """Nodes of an expression, without those of indices."""
    yield expr
    if not isinstance(expr, ir.Load):
        for child in expr_children(expr):
            yield from _values_in(child)


def _is_plain(node: ir.AnyExpr, env: ir.TypeEnv) -> bool:
    match node:
        case ir.Atomic() | ir.Ballot() | ir.Shuffle() | ir.SubgroupReduce():
            return False
        case ir.Load(buffer, _):
            return _is_plain_buffer(env.buffers[buffer])
        case _:
            return True


def _is_plain_buffer(decl: ir.BufferDecl) -> bool:
    return not decl.is_local and not decl.element.is_vector and decl.element not in STORAGE_ONLY
