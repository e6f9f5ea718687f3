"""Index simplification in the steady state of a row.

A multi-dimensional index is `select(in bounds, flat, out of bounds)`; kernels handle borders by
`min`, `max`, `%` and conditional values. In the steady state all these are one affine expression:

    a[min(x + 1, w - 1)]    ->    a[x + 1]                   assuming x + 1 <= w - 1
    select(i < n, i, -1)    ->    i                          assuming i < n
    i % w                   ->    i - period                 within one line of w elements

Legal when the assumptions are affine range checks: the lanes for which all of them hold run this
version of the region, the others the original.
Profitable when the result is linear across lanes, so that accesses become contiguous or strided.
There are at most `MAX_INDEX_ASSUMPTIONS` assumptions, and `MAX_PERIODS` periods outside of indices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import LinearForms
from vyre.backends.llvm.analysis.delinearise import (
    Period,
    PeriodSearch,
    as_division,
    numbers_of_two_signs,
)
from vyre.backends.llvm.analysis.range_checks import Assumption, assumption_of, step_of
from vyre.backends.llvm.analysis.slices import deciding_names, index_names, without_unread
from vyre.backends.llvm.analysis.struct_strides import speculated_strides
from vyre.backends.llvm.emit.range_expander import LoopRange, RangeExpander
from vyre.backends.llvm.rewrites.rebase_loops import RebasedLoop, trip_count_between
from vyre.backends.llvm.rewrites.rebuilt_accesses import RebuiltAccesses
from vyre.backends.llvm.techniques import Technique, Techniques
from vyre.ir.walk import (
    assigned_names,
    map_bodies,
    map_body,
    map_exprs,
    reads_any,
    rebuilt,
)
from vyre.record import dataclass
from vyre.rewrite.conditions import Conjunct, both, conjunction, conjuncts_of


@dataclass(frozen=True, slots=True)
class Speculation:
    """Assumptions of one version of a region."""

    techniques: Techniques
    sought: PeriodSearch
    """Where remainders and quotients are delinearised."""
    more: int = 0
    """Bit mask of structures speculated to have one extra, unaccessed member."""
    usual: int = 0
    """Speculated size of structures of which each row accesses one member; 0 for none."""


class IndexSimplifier:
    """Rewrites the indices of a region."""

    def __init__(
        self,
        program: ir.Program,
        body: ir.Body,
        outer: Mapping[str, ir.AnyExpr],
        leaves: frozenset[str],
        types: Mapping[str, ir.DataType],
        kept: frozenset[str],
        speculation: Speculation,
    ) -> None:
        """`speculation` are the assumed strides, and where to delinearise."""
        self.assumptions: dict[Assumption, ir.AnyExpr | None] = {}
        """With the row-uniform condition under which they must hold; None for any row."""
        self._under: ir.AnyExpr | None = None
        self.periods: dict[ir.AnyExpr, Period] = {}
        self.divides_values = False
        """True if some of these serve values and conditions only."""
        self.even: dict[RebasedLoop, None] = {}
        """Rebased loops, assumed to have a uniform trip count."""
        self.rebuilt = RebuiltAccesses()
        self._simpler: set[str] = set()
        """Variables that equal the original ones only under the assumptions."""
        self._simpler_conditions: set[ir.AnyExpr] = set()
        self.loops: dict[str, LoopRange] = {}
        self._program = program
        self._outer = outer
        self.leaves = leaves
        self.types = dict(types)
        self._private = {decl.name for decl in program.buffers if decl.is_local}
        self._assigned = assigned_names(body)
        self._wanted = index_names(body, outer) - self._assigned
        self._sought = sought = speculation.sought
        self._deciding = frozenset[str]()
        if sought is PeriodSearch.IN_DECISIONS:
            self._deciding = deciding_names(body)
        self.forms = LinearForms(program, (), outer, leaves, types)
        techniques = speculation.techniques
        self._rebases = techniques.allow(Technique.REBASE_LOOPS)
        more, usual = speculation.more, speculation.usual
        guesses: Mapping[ir.AnyExpr, ir.Lit] = {}
        if techniques.allow(Technique.SPECULATE_STRIDES):
            guesses = speculated_strides(program, body, outer, leaves, types, more, usual)
        self._largest = partial(speculated_strides, program, body, outer, leaves, types, more)
        self._guesses = len(guesses)
        self.steps = {
            distance: number
            for distance, number in guesses.items()
            if self._assume([Conjunct(ir.BinOp.EQ, distance, number)])
        }
        """Strides that are assumed to be literals."""
        self.body = map_body(body, self._statement)
        if self.body is not body:
            self.body = without_unread(self.body, kept)

    @property
    def has_parts_of_rows(self) -> bool:
        """True if rows access one member each of structures of unknown size."""
        return len(self._largest(max(heuristics.SPECULATED_STRUCT_SIZES))) > self._guesses

    def _statement(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        if isinstance(statement, ir.Let) and statement.name not in self._assigned:
            rewritten = map_exprs(statement, self._change_of(statement))
            if rewritten is not statement or self._reads_simpler(rewritten.value):
                self._simpler.add(rewritten.name)
            self.forms.know(rewritten.name, rewritten.value)
            return rewritten
        rewritten = map_exprs(statement, self._change_of(statement))
        if (
            isinstance(rewritten, ir.If)
            and isinstance(statement, ir.If)
            and rewritten.cond is not statement.cond
        ):
            self._simpler_conditions.add(rewritten.cond)
        if isinstance(rewritten, ir.Loop):
            rewritten = self._rebased(rewritten)
            self._learn_loop(rewritten)
        if isinstance(rewritten, ir.Store):
            index = self._index(rewritten.buffer, rewritten.index)
            if index is not rewritten.index:
                rewritten = ir.Store(rewritten.buffer, index, rewritten.value)
        if isinstance(rewritten, ir.Store):
            self._note(statement, rewritten)
        if isinstance(rewritten, ir.If):
            return self._arms(rewritten)
        return map_bodies(rewritten, lambda inner: map_body(inner, self._statement))

    def _arms(self, statement: ir.If) -> ir.AnyStmt:
        """Rewrite both branches, each for the rows that execute it."""
        before = self._under
        arms: dict[str, object] = {}
        for name, arm, negated in (
            ("then", statement.then, False),
            ("otherwise", statement.otherwise, True),
        ):
            parts = self._row_parts(statement.cond, negated) if arm else []
            self._under = both(before, conjunction(parts)) if parts else before
            rewritten = map_body(arm, self._statement)
            if rewritten is not arm:
                arms[name] = rewritten
        self._under = before
        return rebuilt(statement, arms) if arms else statement

    def _row_parts(self, cond: ir.AnyExpr, negated: bool) -> list[Conjunct]:
        """Row-uniform conjuncts of a condition or of its negation."""
        written, is_integer = self.forms.expand(cond), self.forms.is_integer
        parts = conjuncts_of(written, negated=negated, is_integer=is_integer)
        constant = self.forms.is_row_constant
        return [part for part in parts if constant(part.left) and constant(part.right)]

    def _change_of(self, statement: ir.AnyStmt) -> Callable[[ir.AnyExpr], ir.AnyExpr]:
        """Rewrite for the expressions of a statement itself."""
        name = statement.name if isinstance(statement, ir.Let) else ""
        if name in self._wanted:
            return self._simplified
        decides = isinstance(statement, ir.If) or name in self._deciding
        if decides or self._sought is PeriodSearch.ANYWHERE:
            return self._delinearised
        return self._with_indices

    def is_as_written(self, cond: ir.AnyExpr) -> bool:
        """True if a condition is unchanged near borders: failing lanes may be skipped."""
        return cond not in self._simpler_conditions and not self._reads_simpler(cond)

    def _reads_simpler(self, expr: ir.AnyExpr) -> bool:
        return bool(self._simpler) and reads_any(expr, self._simpler)

    def _rebased(self, loop: ir.Loop) -> ir.Loop:
        """Rebase a loop to zero, if that makes it uniform."""
        start, stop = self.forms.expand(loop.start), self.forms.expand(loop.stop)
        if not self.forms.is_u32(start) or self.forms.is_row_constant(start):
            return loop
        if not self.forms.is_pure(start) or not RangeExpander.supports(
            start, self.forms, self.loops
        ):
            return loop
        trip_count = trip_count_between(start, stop, self.forms)
        if (
            not self._rebases
            or trip_count is None
            or len(self.even) >= heuristics.MAX_INDEX_ASSUMPTIONS
        ):
            return loop
        self.even[RebasedLoop(start, trip_count)] = None
        counter = f"{loop.var}.iteration"
        while counter in self.types:
            counter += "."
        self.types[counter] = ir.DataType.U32
        self.forms.learn_type(counter, ir.DataType.U32)
        now = ir.Let(loop.var, ir.Binary(ir.BinOp.ADD, loop.start, ir.Var(counter)))
        return ir.Loop(counter, ir.Lit(ir.DataType.U32, 0), trip_count, (now, *loop.body))

    def _learn_loop(self, loop: ir.Loop) -> None:
        self.forms.count(loop.var)
        start, stop = self.forms.expand(loop.start), self.forms.expand(loop.stop)
        known = (RangeExpander.supports(end, self.forms, self.loops) for end in (start, stop))
        if all(known) and self.forms.word(start) is not None:
            self.loops[loop.var] = LoopRange(start, stop)

    # Expressions ---------------------------------------------------------------------------------

    def _with_indices(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """Simplify the indices in an expression."""
        if expr.depth <= 1:
            return expr
        rewritten = map_exprs(expr, self._with_indices)
        return (
            self._access(expr, rewritten)
            if isinstance(rewritten, (ir.Load, ir.Atomic))
            else rewritten
        )

    def _delinearised(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """The same, with remainders and quotients delinearised."""
        if expr.depth <= 1:
            return expr
        rewritten = map_exprs(expr, self._delinearised)
        match rewritten:
            case ir.Load() | ir.Atomic():
                return self._access(expr, rewritten)
            case ir.Select():
                return self._same_sign(rewritten)
            case ir.Binary():
                return self._divided(rewritten, in_index=False)
            case _:
                return rewritten

    def _access(self, old: ir.AnyExpr, rewritten: ir.Load | ir.Atomic) -> ir.AnyExpr:
        index = self._index(rewritten.buffer, rewritten.index)
        if index is not rewritten.index:
            rewritten = (
                ir.Load(rewritten.buffer, index)
                if isinstance(rewritten, ir.Load)
                else ir.Atomic(
                    rewritten.op,
                    rewritten.buffer,
                    index,
                    rewritten.value,
                    rewritten.expected,
                    rewritten.ordering,
                )
            )
        self._note(old, rewritten)
        return rewritten

    def _note(self, old: ir.AnyExpr | ir.AnyStmt, rewritten: ir.AnyExpr | ir.AnyStmt) -> None:
        if rewritten is not old:
            self.rebuilt.add(rewritten, old)

    def _index(self, buffer: str, index: ir.AnyExpr) -> ir.AnyExpr:
        if buffer in self._private:
            return index
        rewritten = self._simplified(index)
        written = self.forms.expand(rewritten)
        if self.forms.word(written) is ir.DataType.I32 and not self.forms.is_row_constant(written):
            # A negative index is out of bounds of every buffer, whatever its length.
            zero = ir.Lit(ir.DataType.I32, 0)
            if self._assume([Conjunct(ir.BinOp.GE, written, zero)]):
                return ir.Cast(rewritten, ir.DataType.U32)
        return rewritten

    def _simplified(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """Simplify an expression in the backward slice of an index."""
        if isinstance(expr, ir.Var):
            return self._name(expr)
        if expr.depth <= 1:
            return expr
        if isinstance(expr, ir.Load) and self.steps:
            step = self.steps.get(self.forms.expand(expr))
            if step is not None:
                return step
        rewritten = map_exprs(expr, self._simplified)
        match rewritten:
            case ir.Load() | ir.Atomic():
                return self._access(expr, rewritten)
            case ir.Select():
                same = self._same_sign(rewritten)
                return self._select(rewritten) if same is rewritten else same
            case ir.Binary(ir.BinOp.MIN | ir.BinOp.MAX, _, _):
                return self._bounded(rewritten)
            case ir.Binary():
                return self._divided(rewritten, in_index=True)
            case _:
                return rewritten

    def _name(self, name: ir.Var) -> ir.AnyExpr:
        """Substitute a rematerialised value if that simplifies it."""
        step = self.steps.get(name)
        if step is not None:
            return step
        value = self._outer.get(name.name)
        if value is None or value.depth <= 1:
            return name
        rewritten = self._simplified(value)
        return name if rewritten is value else rewritten

    def _select(self, node: ir.Select) -> ir.AnyExpr:
        if_true, if_false = self.forms.expand(node.if_true), self.forms.expand(node.if_false)
        for negated in (False, True):
            chosen, border = (if_false, if_true) if negated else (if_true, if_false)
            if not self._spans(chosen) or not self.forms.is_row_constant(border):
                continue
            cond, is_integer = self.forms.expand(node.cond), self.forms.is_integer
            parts = conjuncts_of(cond, negated=negated, is_integer=is_integer)
            held = [part for part in parts if assumption_of(part, self.forms, self.loops)]
            arm = node.if_false if negated else node.if_true
            if len(held) == len(parts):
                return arm if self._assume(held) else node
            if held and not negated and self._assume(held):
                left = conjunction([part for part in parts if part not in held])
                return ir.Select(left, arm, node.if_false)
        return node

    def _bounded(self, node: ir.Binary) -> ir.AnyExpr:
        op = ir.BinOp.LE if node.op is ir.BinOp.MIN else ir.BinOp.GE
        left, right = self.forms.expand(node.left), self.forms.expand(node.right)
        for chosen, arm, limit in ((left, node.left, right), (right, node.right, left)):
            if self._moves(chosen) and self.forms.is_row_constant(limit):
                return arm if self._assume([Conjunct(op, chosen, limit)]) else node
        return node

    def _same_sign(self, node: ir.Select) -> ir.AnyExpr:
        """Drop a sign correction, assuming that both operands are nonnegative."""
        numbers = numbers_of_two_signs(self.forms.expand(node.cond))
        if numbers is None or all(map(self.forms.is_row_constant, numbers)):
            return node
        if any(isinstance(number, ir.Lit) and int(number.value) < 0 for number in numbers):
            return node
        zero = ir.Lit(ir.DataType.I32, 0)
        parts = [Conjunct(ir.BinOp.GE, n, zero) for n in numbers if not isinstance(n, ir.Lit)]
        return node.if_false if self._assume(parts) else node

    def _divided(self, node: ir.Binary, *, in_index: bool) -> ir.AnyExpr:
        division = as_division(node)
        if division is None or self._sought is PeriodSearch.NOWHERE:
            return node
        number, divisor = self.forms.expand(division.left), self.forms.expand(division.right)
        step, dtype = self.forms.stride(number), self.forms.word(number)
        if dtype is None or step is None or step < 1 or not self.forms.is_row_constant(divisor):
            return node
        near = in_index and division is node
        shortest = heuristics.MIN_PERIOD_LANES if near else heuristics.MIN_CONTIGUOUS_PERIOD_LANES
        if isinstance(divisor, ir.Lit) and int(divisor.value) < shortest * step:
            return node
        written = ir.Binary(division.op, number, divisor)
        period = self.periods.get(written)
        if period is None:
            if not near and (
                not self.forms.is_global(number) or len(self.periods) >= heuristics.MAX_PERIODS
            ):
                return node
            self.divides_values = self.divides_values or not in_index
            period = self._new_period(written, step, dtype)
        name = ir.Var(period.name)
        return name if written.op is ir.BinOp.DIV else ir.Binary(ir.BinOp.SUB, division.left, name)

    def _new_period(self, written: ir.Binary, step: int, dtype: ir.DataType) -> Period:
        name = f"period.{len(self.periods)}"
        while name in self.types:
            name += "."
        value = written
        if written.op is ir.BinOp.REM:
            value = ir.Binary(ir.BinOp.SUB, written.left, written)
        period = Period(name, value, written.left, written.right, step)
        self.periods[written] = period
        self.types[name] = dtype
        self.leaves |= {name}
        self.forms.share(name, dtype)
        return period

    def divisors(self) -> list[ir.AnyExpr]:
        """Divisors known only at launch (row lengths)."""
        divisors = dict.fromkeys(period.divisor for period in self.periods.values())
        return [d for d in divisors if not isinstance(d, ir.Lit) and not self.repeats(d)]

    def repeats(self, expr: ir.AnyExpr) -> bool:
        """True if an expanded expression contains a delinearised `%` or `/`."""
        names = {period.name for period in self.periods.values()}
        return reads_any(expr, names)

    def _spans(self, expr: ir.AnyExpr) -> bool:
        """True if it varies in lane or loops, within a computable span."""
        if self.forms.is_row_constant(expr) or self.forms.word(expr) is None:
            return False
        return RangeExpander.supports(expr, self.forms, self.loops)

    def _moves(self, expr: ir.AnyExpr) -> bool:
        """True if it is affine in lane and loops, not uniform."""
        if self.forms.is_row_constant(expr):
            return False
        return step_of(expr, self.forms, self.loops) is not None

    def _assume(self, parts: list[Conjunct]) -> bool:
        checks = [assumption_of(part, self.forms, self.loops) for part in parts]
        new = {check for check in checks if check is not None} - self.assumptions.keys()
        if None in checks or len(self.assumptions) + len(new) > heuristics.MAX_INDEX_ASSUMPTIONS:
            return False
        for check in checks:
            if check is not None:
                self.require(check, self._under)
        return True

    def require(self, assumption: Assumption, under: ir.AnyExpr | None) -> None:
        """Add an assumption for the rows that satisfy a condition."""
        known = self.assumptions.get(assumption, under)
        self.assumptions[assumption] = under if known == under else None


__all__ = ["IndexSimplifier"]
