"""Index-set splitting: guards and bounds checks removed from a row's steady state.

    for lane { if gid.x < n { … a[gid.x] … } }
->
    for lane in 0..min(n, length of a) - first { … a[gid.x] … }     full vectors, no checks
    for the other lanes that pass the guard { … checked a[gid.x] … }

The bounds are computed once per row, from the values of its first lane.

Legal when a guard compares a linear value with a uniform one, or is uniform along the row, and
when an index is affine in the lane and in the loops around it. Lanes that fail a guard are skipped
if everything the region does is inside that guard; otherwise they run the checked version.
Profitable for rows of many lanes; limits on conditions and strides keep the tests per row few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import LinearForms
from vyre.backends.llvm.analysis.range_checks import Assumption, assumption_of
from vyre.backends.llvm.analysis.table_ranges import TableRanges
from vyre.backends.llvm.analysis.triangular_guards import is_triangular_guard
from vyre.backends.llvm.emit.range_expander import LoopRange, RangeExpander, rises
from vyre.backends.llvm.emit.values import Strided, Value
from vyre.backends.llvm.rewrites.simplify_indices import IndexSimplifier
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.backends.llvm.techniques import Technique, Techniques
from vyre.ir.walk import bodies, rebuilt, variables_of, walk_expr, walk_own_exprs, without_blocks
from vyre.record import dataclass
from vyre.rewrite.conditions import Conjunct, both, conjunction, conjuncts_of


@dataclass(slots=True)
class RowPartition:
    """Guards and accesses of a region that hold in the steady state."""

    program: ir.Program
    body: ir.Body
    outer: Mapping[str, ir.AnyExpr]
    """Pure values of names bound outside, the same at every position."""
    leaves: frozenset[str]
    """Workgroup-uniform names."""
    types: Mapping[str, ir.DataType]
    proven: frozenset[int]
    """Accesses that are proven in bounds without the partition."""
    kept: frozenset[str]
    """Variables that other regions read."""
    interior: IndexSimplifier
    """The rewrite that made this body from the original, and its assumptions."""
    techniques: Techniques
    parts: list[Conjunct] = field(default_factory=list[Conjunct])
    """Conjuncts that hold for the lanes of the steady state."""
    ends: list[bool] = field(default_factory=list[bool])
    """For each of them, True if failing lanes are skipped."""
    rows: list[ir.AnyExpr] = field(default_factory=list[ir.AnyExpr])
    """Row-uniform conditions that must hold."""
    accesses: dict[tuple[str, ir.AnyExpr], tuple[int, int]] = field(
        default_factory=dict[tuple[str, ir.AnyExpr], tuple[int, int]]
    )
    """Buffer and index, with stride across lanes and member within it.

    The stride is -1 where lanes go backwards.
    """
    under: dict[tuple[str, ir.AnyExpr], ir.AnyExpr | None] = field(
        default_factory=dict[tuple[str, ir.AnyExpr], "ir.AnyExpr | None"]
    )
    """For each of them, the row-uniform condition under which it executes; None for any row."""
    in_loops: dict[tuple[str, ir.AnyExpr], None] = field(
        default_factory=dict[tuple[str, ir.AnyExpr], None]
    )
    inside: set[int] = field(default_factory=set[int])
    """Identities of accesses that are in bounds in the steady state."""
    strided: dict[int, Strided] = field(default_factory=dict[int, Strided])
    wide: dict[int, ir.AnyExpr] = field(default_factory=dict[int, ir.AnyExpr])
    """Expanded 64-bit indices of those in loops: they never wrap."""
    facts: dict[tuple[str, ir.AnyExpr], None] = field(
        default_factory=dict[tuple[str, ir.AnyExpr], None]
    )
    """Buffer and index of accesses in loops that table ranges may prove."""
    by_facts: set[int] = field(default_factory=set[int])
    """Identities of these accesses."""
    sums: dict[int, tuple[ir.AnyExpr, ir.AnyExpr]] = field(
        default_factory=dict[int, tuple[ir.AnyExpr, ir.AnyExpr]]
    )
    """Loads among them at `invariant + loop-carried value`."""
    apart: set[int] = field(default_factory=set[int])
    """Accesses among all these with varying counters: inactive lanes keep counting, so nothing is
    proven of those lanes."""
    narrowed: bool = False
    """True if lanes for which the conjuncts fail have no side effects."""
    single: bool = False
    """True if at most one lane remains."""
    simplified: ir.Body = ()
    """Body of the steady state: the lanes for which the conjuncts hold."""
    forms: LinearForms = field(init=False)
    loops: dict[str, LoopRange] = field(default_factory=dict[str, LoopRange])
    """Loops whose bounds are available before a row starts."""
    contents: TableRanges = field(init=False)
    periods: dict[str, Value] = field(default_factory=dict[str, Value])
    """Values of delinearised remainders and quotients in the current lanes."""
    _under: ir.AnyExpr | None = None
    """Row-uniform condition under which the current statements execute."""

    def __post_init__(self) -> None:
        self.forms = LinearForms(self.program, self.body, self.outer, self.leaves, self.types)
        self.narrowed = self._has_one_effect(self.body)
        self.contents = TableRanges(self.program, self.body, self.types, self.kept)
        self.simplified = self._take(self.body, self.narrowed)
        self._join_steps()
        if not is_large(self.program) and self.techniques.allow(Technique.TABLE_RANGES):
            # They justify a second version of the whole region.
            self._take_facts(self.simplified, in_loop=False)

    # Guards and accesses -------------------------------------------------------------------------

    def _take(self, body: ir.Body, alone: bool) -> ir.Body:
        """Collect the guards and accesses of a body; returns it without those guards."""
        result: list[ir.AnyStmt] = []
        for statement in body:
            self._accesses(statement)
            match statement:
                case ir.Block(inner) | ir.Region(_, _, inner):
                    result.append(rebuilt(statement, {"body": self._take(inner, alone)}))
                case ir.If():
                    result.extend(self._take_if(statement, alone))
                case ir.Loop():
                    self._take_loop(statement)
                    result.append(statement)
                case _:
                    result.append(statement)
        return tuple(result)

    def _take_if(self, statement: ir.If, alone: bool) -> ir.Body:
        """Replacement of a conditional some of whose conjuncts are assumed."""
        for negated in _directions(statement):
            chosen = statement.otherwise if negated else statement.then
            other = statement.then if negated else statement.otherwise
            cond, is_integer = self.forms.expand(statement.cond), self.forms.is_integer
            parts = conjuncts_of(cond, negated=negated, is_integer=is_integer)
            narrows = alone and not other and self.interior.is_as_written(statement.cond)
            held = [part for part in parts if self._peelable(part, narrows)]
            edges = self._is_edge if other else self._interior_part
            held += [p for p in parts if p not in held and edges(p)]
            left = [part for part in parts if part not in held]
            by_row = bool(left) and all(map(self._same_in_row, left))
            if not (held or by_row) or (other and left and not by_row):
                continue
            for part in held:
                if self._peelable(part, narrows):
                    self._peel(part, narrows)
                else:
                    self._assume(part)
            if not left:
                return self._take(chosen, narrows and self._has_one_effect(chosen))
            cond = conjunction(left)
            if by_row:
                return (self._take_by_row(statement, cond, chosen, other),)
            return (rebuilt(statement, {"cond": cond, "then": chosen, "otherwise": ()}),)
        return (statement,)

    def _take_by_row(
        self, statement: ir.If, cond: ir.AnyExpr, chosen: ir.Body, other: ir.Body
    ) -> ir.AnyStmt:
        """Rewrite a row-uniform conditional: its guards and accesses are collected, too.

        They hold only in the rows that execute the branch.
        """
        before = self._under
        self._under = both(before, cond)
        then = self._take(chosen, alone=False)
        self._under = both(before, ir.Unary(ir.UnOp.NOT, cond))
        otherwise = self._take(other, alone=False)
        self._under = before
        return rebuilt(statement, {"cond": cond, "then": then, "otherwise": otherwise})

    def _interior_part(self, part: Conjunct) -> Assumption | None:
        """Assumption of a conjunct that fails near borders, in scalar lanes."""
        written = Conjunct(part.op, self.forms.expand(part.left), self.forms.expand(part.right))
        if self._is_triangular(self._written(part)):
            return None
        inner = self.interior
        assumption = assumption_of(written, inner.forms, inner.loops)
        return assumption if assumption is not None and assumption.step else None

    def _is_edge(self, part: Conjunct) -> bool:
        """True if a conjunct fails for a few lanes only: the others share a branch."""
        assumption = self._interior_part(part)
        if assumption is None:
            return False
        op, right = assumption.part.op, assumption.part.right
        if op in (ir.BinOp.GT, ir.BinOp.GE):
            return isinstance(right, ir.Lit) and int(right.value) <= heuristics.MAX_BORDER_LANES
        return op is ir.BinOp.NE or _is_near_end(assumption.part)

    def _assume(self, part: Conjunct) -> None:
        assumption = self._interior_part(part)
        assert assumption is not None
        self.interior.require(assumption, self._under)

    def _written(self, part: Conjunct) -> Conjunct:
        """Expand a conjunct and put its linear side on the left."""
        written = Conjunct(part.op, self.forms.expand(part.left), self.forms.expand(part.right))
        if part.op is None or self.forms.stride(written.left) is not None:
            return written
        return written if self._same_in_row(written) else written.mirrored()

    def _same_in_row(self, part: Conjunct) -> bool:
        return self.forms.is_row_constant(part.left) and self.forms.is_row_constant(part.right)

    def _peelable(self, part: Conjunct, narrows: bool) -> bool:
        if self._under is not None:
            # It holds for lanes of some rows only.
            return False
        written = self._written(part)
        if self._is_triangular(written):
            return False
        if self.interior.repeats(written.left) or self.interior.repeats(written.right):
            # Its value changes from period to period of the row.
            return False
        if self._same_in_row(written):
            return narrows
        if written.op is None or self.forms.stride(written.left) != 1:
            return False
        if not self.forms.is_u32(written.left):
            return False
        if not self.forms.is_row_constant(written.right):
            return False
        bounded = written.op in (ir.BinOp.LT, ir.BinOp.LE) and self.forms.is_global(written.left)
        return narrows or bounded

    def _peel(self, part: Conjunct, narrows: bool) -> None:
        written = self._written(part)
        if self._same_in_row(written):
            self.rows.append(written.condition())
            return
        self.parts.append(written)
        self.ends.append(narrows)
        self.single = self.single or written.op is ir.BinOp.EQ

    def _take_loop(self, statement: ir.Loop) -> None:
        """Collect accesses of a loop whose bounds are available beforehand."""
        start, stop = self.forms.expand(statement.start), self.forms.expand(statement.stop)
        if not all(RangeExpander.supports(end, self.forms, self.loops) for end in (start, stop)):
            return
        if self.forms.word(start) is None:
            return
        self.loops[statement.var] = LoopRange(start, stop)
        for inner in statement.body:
            match inner:
                case ir.Loop():
                    self._accesses(inner)
                    self._take_loop(inner)
                case ir.Block(body) | ir.Region(_, _, body):
                    for deeper in body:
                        self._accesses(deeper)
                case _:
                    self._accesses(inner)

    def _reachable(self, expr: ir.AnyExpr) -> bool:
        supported = RangeExpander.supports(expr, self.forms, self.loops)
        return supported and self.forms.is_u32(expr)

    def _take_facts(self, body: ir.Body, *, in_loop: bool) -> None:
        """Collect accesses in loops that table ranges may prove in bounds."""
        for statement in body:
            inner = in_loop or isinstance(statement, (ir.Loop, ir.While))
            # The condition of `while` is evaluated in every iteration.
            repeated = in_loop or isinstance(statement, ir.While)
            for access in self._own_accesses(statement) if repeated else ():
                if id(access) not in self.inside and id(access) not in self.proven:
                    self._fact(access)
            for nested in bodies(statement):
                self._take_facts(nested, in_loop=inner)

    def _fact(self, access: ir.Load | ir.Store | ir.Atomic) -> None:
        index = self.forms.expand(access.index)
        key = (access.buffer, index)
        if not self.forms.is_u32(index) or self.forms.is_row_constant(index):
            return
        if not RangeExpander.supports(index, self.forms, self.loops, contents=self.contents):
            return
        if key in self.facts or len(self.facts) < heuristics.MAX_ROW_CONDITIONS:
            self.facts[key] = None
            self.by_facts.add(id(access))
            self._note_apart(access, index)
            self._note_sum(access)

    def _note_sum(self, access: ir.Load | ir.Store | ir.Atomic) -> None:
        """Record a sum: an index proven by table ranges wraps only if it subtracts."""
        if not isinstance(access, ir.Load) or not isinstance(access.index, ir.Binary):
            return
        whole = access.index
        if whole.op is not ir.BinOp.ADD or any(
            isinstance(node, ir.Binary) and node.op is ir.BinOp.SUB
            for node in walk_expr(self.forms.expand(whole))
        ):
            return
        late = [side for side in (whole.left, whole.right) if self.contents.is_carried(side)]
        if len(late) == 1:
            early = whole.left if late[0] is whole.right else whole.right
            self.sums[id(access)] = (early, late[0])

    def _note_apart(self, access: ir.Load | ir.Store | ir.Atomic, index: ir.AnyExpr) -> None:
        ranges = [self.loops[name] for name in variables_of(index) if name in self.loops]
        bounds = [bound for each in ranges for bound in (each.start, each.stop)]
        if not all(self._is_shared(bound) for bound in bounds):
            self.apart.add(id(access))

    def _is_shared(self, expr: ir.AnyExpr) -> bool:
        """True if the value is uniform along a row in every iteration."""
        if self.forms.is_row_constant(expr):
            return True
        match expr:
            case ir.Var(name):
                loop = self.loops.get(name)
                return loop is not None and all(map(self._is_shared, (loop.start, loop.stop)))
            case ir.Binary(_, left, right):
                return self._is_shared(left) and self._is_shared(right)
            case _:
                return False

    def _accesses(self, statement: ir.AnyStmt) -> None:
        """Record the accesses of a statement itself, without its bodies."""
        for access in self._own_accesses(statement):
            self._access(access)

    def _own_accesses(self, statement: ir.AnyStmt) -> list[ir.Load | ir.Store | ir.Atomic]:
        accesses: list[ir.Load | ir.Store | ir.Atomic] = [
            node for node in walk_own_exprs(statement) if isinstance(node, (ir.Load, ir.Atomic))
        ]
        if isinstance(statement, ir.Store):
            accesses.append(statement)
        return [access for access in accesses if access.buffer not in self.forms.private]

    def _access(self, access: ir.Load | ir.Store | ir.Atomic) -> None:
        index = self.forms.expand(access.index)
        key = (access.buffer, index)
        stride = self.forms.stride(index) if self.forms.is_u32(index) else None
        if id(access) in self.proven and not (
            stride and 1 < stride <= heuristics.MAX_STRUCT_STRIDE
        ):
            return
        if stride is not None and 0 < stride <= heuristics.MAX_PROVEN_STRIDE:
            offset = self.forms.offset(index)
            self._note_under(key)
            self.accesses[key] = (stride, offset % stride)
            self.inside.add(id(access))
            if stride > 1:
                base = self.forms.without_offset(index)
                self.strided[id(access)] = Strided(stride, offset % stride, base, offset // stride)
        elif stride == -1 and not isinstance(access, ir.Atomic):
            self._note_under(key)
            self.accesses[key] = (-1, 0)
            self.inside.add(id(access))
        elif self._under is not None:
            # In other rows it may be out of bounds.
            return
        elif self.loops and (
            key in self.in_loops or len(self.in_loops) < heuristics.MAX_ROW_CONDITIONS
        ):
            if not self._reachable(index) or self.forms.is_row_constant(index):
                return
            if self._cancels(index):
                return
            self.in_loops[key] = None
            self.inside.add(id(access))
            self.wide[id(access)] = self._widened(index)
            self._note_apart(access, index)

    def _note_under(self, key: tuple[str, ir.AnyExpr]) -> None:
        known = self.under.get(key, self._under) if key in self.accesses else self._under
        self.under[key] = known if known == self._under else None

    def _join_steps(self) -> None:
        """Keep one access per structure: all accessed members must be in bounds.

        The last member implies those before it, also that none of them wraps.
        """
        last: dict[tuple[str, int, ir.AnyExpr, int, ir.AnyExpr | None], tuple[int, ir.AnyExpr]] = {}
        for (buffer, index), (stride, member) in self.accesses.items():
            base, block = self.forms.without_offset(index), self.forms.offset(index) // stride
            key = (buffer, stride, base, block, self.under[buffer, index])
            if key not in last or member > last[key][0]:
                last[key] = (member, index)
        self.accesses = {
            (buffer, index): (stride, member)
            for (buffer, stride, _, _, _), (member, index) in last.items()
        }

    def _widened(self, index: ir.AnyExpr) -> ir.AnyExpr:
        """Widen an index that is proven in bounds to 64 bits.

        Operands that are opaque to the range analysis stay opaque here: they may have wrapped.
        """
        if isinstance(index, ir.Lit):
            return ir.Lit(ir.DataType.U64, int(index.value) % (1 << 64))
        if self.forms.is_row_constant(index) or not isinstance(index, (ir.Binary, ir.Cast)):
            return ir.Cast(index, ir.DataType.U64)
        if isinstance(index, ir.Cast):
            return self._widened(index.value)
        return ir.Binary(index.op, self._widened(index.left), self._widened(index.right))

    def _cancels(self, expr: ir.AnyExpr) -> bool:
        """True if both sides of a subtraction vary: spans are then too wide.

        The distance from the least of one side to the greatest of the other is never small enough,
        and a row with an unproven access runs as scalars.
        """
        if not isinstance(expr, ir.Binary):
            return False
        if expr.op is ir.BinOp.SUB and not (
            self._is_shared(expr.left) or self._is_shared(expr.right)
        ):
            return True
        return self._cancels(expr.left) or self._cancels(expr.right)

    def _has_one_effect(self, body: ir.Body) -> bool:
        """True if all side effects are in one conditional with one branch."""
        effects = [s for s in without_blocks(body) if not self.is_quiet(s)]
        if len(effects) != 1:
            return False
        only = effects[0]
        return isinstance(only, ir.If) and not (only.then and only.otherwise)

    def is_quiet(self, statement: ir.AnyStmt) -> bool:
        """True if a statement has no side effects: lanes may skip it."""
        if not isinstance(statement, ir.Let) or statement.name in self.kept:
            return False
        return not any(isinstance(node, ir.Atomic) for node in walk_expr(statement.value))

    # Properties of the partition -----------------------------------------------------------------

    @property
    def has_edges(self) -> bool:
        """True if scalar lanes run before the vectors, or between them."""
        return bool(self.interior.assumptions or self.interior.periods)

    def _is_triangular(self, part: Conjunct) -> bool:
        """True if vectors should begin with the row, masked."""
        if not self.techniques.allow(Technique.TRIANGULAR_GUARDS):
            return False
        triangular = is_triangular_guard(part, self.program)
        if triangular:
            self.techniques.note(Technique.TRIANGULAR_GUARDS)
        return triangular

    def begins_late(self) -> bool:
        """True if the steady state may have a prologue of scalar lanes."""
        inner = self.interior
        if inner.periods:
            return True
        return any(
            assumption.step
            and not (
                assumption.part.op in (ir.BinOp.LT, ir.BinOp.LE)
                and inner.forms.is_u32(assumption.part.left)
                and rises(assumption.part.left, inner.forms)
            )
            for assumption in inner.assumptions
        )

    def depends_on_y(self) -> bool:
        """True if the steady states of a workgroup's rows differ."""
        return any(not self.forms.is_same_in_y(part.left, part.right) for part in self.parts)


def _is_near_end(part: Conjunct) -> bool:
    """True if the bound is reduced by a small margin."""
    match part.op, part.left, part.right:
        case ir.BinOp.LT | ir.BinOp.LE, _, ir.Binary(ir.BinOp.SUB, _, ir.Lit() as margin):
            return 0 < int(margin.value) <= heuristics.MAX_BORDER_LANES
        case ir.BinOp.LT | ir.BinOp.LE, ir.Binary(ir.BinOp.ADD, _, ir.Lit() as margin), _:
            return 0 < int(margin.value) <= heuristics.MAX_BORDER_LANES
        case _:
            return False


def _directions(statement: ir.If) -> tuple[bool, ...]:
    """Branches to consider, as `negated` flags: those that are not empty."""
    if not statement.then:
        return (True,)
    return (False, True) if statement.otherwise else (False,)
