"""Loops whose rounds run side by side: which ones these are.

In `for i in 0..n { count = count + u32(text[start + i] == 10u8) }` lanes lie far apart in memory,
but rounds do not. One lane then does many rounds at once, as if they were lanes of a vector. That
holds for loops whose rounds have nothing to do with one another:

- What they change outside of the loop are sums, products, extremes and bits of integers, which do
  not depend on the order, wrapped around or not, and extremes of floats, which do not either: of
  two zeros any may come out. Every place of a vector has a part of the result, and the parts are
  joined behind the loop. A round may go on to use what such a result has come to by then: the
  places of a vector are joined with all places before them.
- Or they are replaced by what is better, as in `if v > best { best = v  at = i }`. Every place of
  a vector has its best then, and the round that it found it in; the round of the best of all is
  done once more (see `best`).
- What they store goes to neighbouring elements, and a buffer that they store to is looked at
  nowhere but at the element that is stored: no round sees what another one wrote.

Every access at the counter must be known to be in bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm.emit.arg_extremum import ArgExtremum, best_of
from vyre.backends.llvm.emit.loop_versioning import followed_by
from vyre.backends.llvm.emit.storage_formats import STORAGE_ONLY
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.ir.walk import expr_children, rewrite_expr, walk_expr, walk_stmts
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel

SHORT_LOOP = 32
"""Loops known to have fewer rounds than this are left to lanes side by side."""
WIDE = 4
"""Bytes of elements that lanes collect as well as any."""
MOST_ELEMENTS = 1 << 32
"""In a buffer with more of them, an index of 32 bits may wrap around and be in bounds again."""
_COUNTERS = frozenset({ir.DataType.U32, ir.DataType.I32})
FREE = {ir.BinOp.ADD: 0, ir.BinOp.XOR: 0, ir.BinOp.MUL: 1}
"""Operators with the number that changes nothing."""
EXTREMES = frozenset({ir.BinOp.MIN, ir.BinOp.MAX, ir.BinOp.MINIMUM, ir.BinOp.MAXIMUM})
REPEATED = frozenset({ir.BinOp.AND, ir.BinOp.OR}) | EXTREMES
"""Operators for which it does not matter how often a number takes part."""
BITS = frozenset({ir.BinOp.AND, ir.BinOp.OR, ir.BinOp.XOR})
FLOATS = frozenset({ir.DataType.F32, ir.DataType.F64})


@dataclass(frozen=True, slots=True)
class VectorizableLoop:
    """A loop whose rounds may run side by side."""

    results: Mapping[str, ir.BinOp]
    """The variables that it changes, and how."""
    followed: frozenset[str]
    """Those among them that rounds look at."""
    bests: tuple[ArgExtremum, ...]
    """Further variables, which are replaced by what is better."""
    accesses: tuple[ir.Load | ir.Store, ...]
    """Those of neighbours in neighbouring rounds."""
    widest: int
    """Bits of the largest values that rounds compute with."""
    operations: int
    costly: bool
    """Whether some of these are whole functions."""

    @property
    def stores(self) -> bool:
        """Whether rounds leave something behind each."""
        return any(isinstance(access, ir.Store) for access in self.accesses)


def vectorizable_loop(loop: ir.Loop, env: ir.TypeEnv) -> VectorizableLoop | None:
    """How a loop gathers its results, if that is all that it does."""
    if ir.type_of(loop.start, env) not in _COUNTERS or _is_short(loop):
        return None
    return _Rounds(loop, env).found()


def should_vectorise_inner_loops(
    kernel: Kernel, body: ir.Body, inside: set[int], scattered: set[int]
) -> bool:
    """Whether all accesses that are scattered from lane to lane are neighbours in loops.

    They must be in bounds, or a test before each loop can tell. That pays in any case for narrow
    elements, which lanes are slow to collect, whatever else there is outside of loops; of others,
    lanes with few rounds each had better read their own.
    """
    loops = [s for s in walk_stmts(body) if isinstance(s, ir.Loop)] if scattered else []
    asked = [(loop, vectorizable_loop(loop, kernel.env)) for loop in loops]
    gathering = [(loop, found) for loop, found in asked if found is not None]
    if not gathering:
        return False
    covered: set[int] = set()
    narrow: set[int] = set()
    known = inside | kernel.proven
    for loop, found in gathering:
        covered |= {id(one) for one in found.accesses}
        if all(_is_narrow(kernel.memories[one.buffer].decl) for one in found.accesses):
            narrow |= {id(one) for one in found.accesses}
            known = known | _testable(kernel, loop, known)
    if not covered <= known:
        return False
    in_loops = scattered & {0, *_accesses_in_loops(body)}
    return scattered <= covered or (bool(in_loops) and in_loops <= narrow)


def _accesses_in_loops(body: ir.Body) -> Iterator[int]:
    for loop in walk_stmts(body):
        if isinstance(loop, (ir.Loop, ir.While)):
            for statement in (loop, *walk_stmts(loop.body)):
                yield id(statement)
                for child in expr_children(statement):
                    yield from map(id, walk_expr(child))


def _testable(kernel: Kernel, loop: ir.Loop, known: AbstractSet[int]) -> AbstractSet[int]:
    """Accesses that one test before the loop would prove to be in bounds."""
    if is_large(kernel.program):
        return frozenset()
    counter = kernel.types[loop.var]
    found = followed_by(loop, counter, kernel.env, lambda access: id(access) in known)
    return frozenset() if found is None else found.accesses


def _is_narrow(decl: ir.BufferDecl) -> bool:
    return (decl.element.size_bytes or WIDE) < WIDE


class _Rounds:
    """A look at all that a loop does."""

    def __init__(self, loop: ir.Loop, env: ir.TypeEnv) -> None:
        self._loop = loop
        self._env = env
        self._results: dict[str, ir.BinOp] = {}
        self._values: dict[str, ir.AnyExpr] = {}
        """What names stand for that are bound in the loop and never change."""
        self._parts: list[ir.AnyExpr] = []
        """All that is computed, but for the results themselves."""
        self._stores: list[ir.Store] = []
        self._followed: set[str] = set()
        self._conditional: set[str] = set()
        """Results that change in some rounds only, or in several steps."""
        self._bests: dict[str, ArgExtremum] = {}
        """By the condition under which they are replaced."""
        self._replaced: dict[str, ArgExtremum] = {}
        self._own = {s.name for s in walk_stmts(loop.body) if isinstance(s, ir.Let)}
        self._changed = {s.name for s in walk_stmts(loop.body) if isinstance(s, ir.Assign)}

    def found(self) -> VectorizableLoop | None:
        if not all(map(self._take, flat(self._loop.body))):
            return None
        nodes = [node for part in self._parts for node in walk_expr(part)]
        nodes += [node for store in self._stores for node in walk_expr(store.index)]
        if not all(_is_plain(node, self._env) for node in nodes):
            return None
        accesses: list[ir.Load | ir.Store] = []
        for access in (*(n for n in nodes if isinstance(n, ir.Load)), *self._stores):
            step = self._step(access.index)
            steps = (1, -1) if isinstance(access, ir.Load) else (1,)
            if step in steps and self._env.buffers[access.buffer].count < MOST_ELEMENTS:
                accesses.append(access)
            elif step != 0 or isinstance(access, ir.Store):
                return None
        if not accesses or not self._keeps_apart(nodes) or self._followed & self._conditional:
            return None
        if self._bests and (self._followed or not self._are_replaced()):
            return None
        values = [node for part in self._parts for node in _values_in(part)]
        return VectorizableLoop(
            results=self._results,
            followed=frozenset(self._followed),
            bests=tuple(self._bests.values()),
            accesses=tuple(accesses),
            widest=self._widest(values),
            operations=sum(not isinstance(node, (ir.Lit, ir.Var, ir.Load)) for node in values),
            costly=any(map(_is_costly, values)),
        )

    def _take(self, statement: ir.AnyStmt) -> bool:
        """Note a statement; whether rounds with it may run side by side."""
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
            case ir.Store(buffer, index, value):
                self._stores.append(statement)
                plain = _is_plain_buffer(self._env.buffers[buffer])
                return plain and self._compute(value) and not self._read(index)
            case _:
                return False

    def _compute(self, *parts: ir.AnyExpr) -> bool:
        """Note what is computed; whether it looks only at results as they are by then."""
        self._parts += parts
        read = {name for part in parts for name in self._read(part)}
        self._followed |= read
        return read <= self._results.keys()

    def _read(self, expr: ir.AnyExpr) -> set[str]:
        """The variables in an expression that go on from round to round."""
        names = {node.name for node in walk_expr(expr) if isinstance(node, ir.Var)}
        return names & self._changed - self._own

    def _take_result(self, statement: ir.Assign) -> bool:
        name, found = statement.name, step_of(statement)
        dtype = self._env.variables.get(name)
        if found is None or dtype is None or dtype.is_vector or name in self._replaced:
            return False
        op, parts = found
        if not self._compute(*parts) or self._results.get(name, op) is not op:
            return False
        if len(parts) > 1 or name in self._results:
            self._conditional.add(name)
        self._results[name] = op
        if dtype.is_bool:
            return op in BITS
        return dtype.is_integer or (op in EXTREMES and dtype in FLOATS)

    def _are_replaced(self) -> bool:
        """Whether each best is what its variable becomes, and that is a plain number."""
        for best in self._bests.values():
            dtype = self._env.variables.get(best.name)
            if self._replaced.get(best.name) is not best or dtype is None:
                return False
            if not dtype.is_integer and dtype not in FLOATS:
                return False
        return True

    def _step(self, expr: ir.AnyExpr) -> int | None:
        """The step of an index from round to round; None when there is no constant one."""
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

    def _keeps_apart(self, nodes: Iterable[ir.AnyExpr]) -> bool:
        """Whether all accesses to a buffer that is stored to are to the element that is stored."""
        places: dict[str, set[ir.AnyExpr]] = {}
        for store in self._stores:
            places.setdefault(store.buffer, set()).add(self._written(store.index))
        for node in nodes:
            if isinstance(node, ir.Load) and node.buffer in places:
                places[node.buffer].add(self._written(node.index))
        return all(len(found) == 1 for found in places.values())

    def _written(self, index: ir.AnyExpr) -> ir.AnyExpr:
        """An index with the names of the loop written out."""

        def one(node: ir.AnyExpr) -> ir.AnyExpr:
            value = self._values.get(node.name) if isinstance(node, ir.Var) else None
            return node if value is None else self._written(value)

        return rewrite_expr(index, one)

    def _widest(self, values: Iterable[ir.AnyExpr]) -> int:
        buffers, types = self._env.buffers, self._env.variables
        found = [types[name] for name in self._results]
        found += [buffers[store.buffer].element for store in self._stores]
        for node in values:
            if isinstance(node, ir.Load):
                found.append(buffers[node.buffer].element)
            elif isinstance(node, ir.Cast):
                found.append(node.dtype)
        return max(8 * (dtype.size_bytes or 4) for dtype in found)


@dataclass(frozen=True, slots=True)
class Count:
    """A sum that grows by the same number in every round in which something holds."""

    flag: ir.AnyExpr
    holds: bool
    """Whether it grows where the flag is set, or where it is not."""
    by: ir.Lit | None
    """One if there is no number."""


def count_of(statement: ir.Assign, env: ir.TypeEnv) -> Count | None:
    """What a statement of a gathering loop counts, if it counts."""
    own = ir.Var(statement.name)
    match statement.value:
        case ir.Select(flag, ir.Binary(ir.BinOp.ADD, left, right), other) if other == own:
            holds = True
        case ir.Select(flag, other, ir.Binary(ir.BinOp.ADD, left, right)) if other == own:
            holds = False
        case ir.Binary(ir.BinOp.ADD, left, right):
            added = right if left == own else left
            if isinstance(added, ir.Cast) and ir.type_of(added.value, env).is_bool:
                return Count(added.value, holds=True, by=None)
            return None
        case _:
            return None
    added = right if left == own else left
    return Count(flag, holds, added) if isinstance(added, ir.Lit) else None


def _is_short(loop: ir.Loop) -> bool:
    if not isinstance(loop.start, ir.Lit) or not isinstance(loop.stop, ir.Lit):
        return False
    return int(loop.stop.value) - int(loop.start.value) < SHORT_LOOP


def flat(body: ir.Body) -> list[ir.AnyStmt]:
    """Statements without the blocks and regions around them."""
    found: list[ir.AnyStmt] = []
    for statement in body:
        if isinstance(statement, (ir.Block, ir.Region)):
            found.extend(flat(statement.body))
        else:
            found.append(statement)
    return found


def step_of(statement: ir.Assign) -> tuple[ir.BinOp, list[ir.AnyExpr]] | None:
    """The operator of `x = x op value`, perhaps under a condition, and what does not read `x`."""
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
    if op not in FREE and op not in REPEATED:
        return None
    if left == own:
        return op, [*tested, right]
    return (op, [*tested, left]) if right == own else None


def _values_in(expr: ir.AnyExpr) -> Iterator[ir.AnyExpr]:
    """What an expression computes, leaving out where in memory something is."""
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


def _is_costly(node: ir.AnyExpr) -> bool:
    return isinstance(node, (ir.Binary, ir.Unary)) and node.op.row.approximate
