"""The interior of a stage: its program where no guard and no clamp has an effect.

    if i < len(y) { y[i] = x[max(i, 1) - 1] }    ->    y[i] = x[i - 1]      for 1 <= i < len(y)

Index-set splitting: a workgroup all of whose invocations lie in the interior runs this program,
the few others the original. Which conditions are taken away depends on the program's text alone, so
one kernel serves every length: a number that has no length in it counts as small, one that has as
large. The range of invocations for which all that holds is computed for each launch.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.analysis import ProgramFacts
from vyre.ir.walk import map_bodies, map_exprs, rewrite_expr, walk_stmts
from vyre.plan.access_forms import Launched, iterated
from vyre.plan.guards import is_comparison
from vyre.plan.linear_forms import WORD, Evaluator, Form, Span
from vyre.record import dataclass

_MOST_ITERATIONS = 64
"""Iterations of a loop whose stores are listed one by one."""
_HALF = 1 << 31
_SPAN = Span(0, (1 << 28) - 1)
"""Invocations that an interior may have: some numbers more would wrap."""
_TRUE, _FALSE = ir.Expr.bool_(True), ir.Expr.bool_(False)


@dataclass(frozen=True, slots=True)
class Written:
    """Elements that invocations store: at a·v + offset for every offset, if v is in the span."""

    a: int
    offsets: frozenset[int]
    span: Span


@dataclass(frozen=True, slots=True)
class Interior:
    """A program without the guards that hold, and the invocations for which they do."""

    body: ir.Body
    span: Span
    written: Mapping[str, Written]
    """By buffer, what is certainly stored."""


def interior_of(program: ir.Program, launched: Launched) -> Interior:
    """Take away what has no effect for most invocations."""
    walk = _Interior(program, launched)
    body = walk.body(program.entry, {}, _SPAN)
    span = walk.span.meet(Span(0, launched.invocations - 1))
    return Interior(body, span, walk.written)


class _Interior:
    def __init__(self, program: ir.Program, launched: Launched) -> None:
        self.span = _SPAN
        self.written: dict[str, Written] = {}
        self._evaluator = Evaluator(launched.lengths, launched.contents)
        self._assigned = ProgramFacts.of(program).assigns_by_name
        self._is_plain = True

    def body(self, body: ir.Body, outer: Mapping[str, Form | None], path: Span | None) -> ir.Body:
        """A body; `path` are the invocations that certainly execute it, None if that is unknown."""
        env = dict(outer)
        result: list[ir.AnyStmt] = []
        for statement in body:
            result += self._statement(statement, env, path)
        return tuple(result)

    def _statement(
        self, statement: ir.AnyStmt, env: dict[str, Form | None], path: Span | None
    ) -> ir.Body:
        if isinstance(statement, ir.If):
            return self._if(statement, env, path)
        changed = map_exprs(statement, lambda e: self._expr(e, env))
        match changed:
            case ir.Let(name) if isinstance(statement, ir.Let):
                # Of the original: it tells whether a clamp was taken away.
                env[name] = None if name in self._assigned else self._form(statement.value, env)
            case ir.Store(buffer) if isinstance(statement, ir.Store):
                self._store(buffer, self._form(statement.index, env), path)
            case ir.Loop():
                return (self._loop(changed, env, path),)
            case ir.Block() | ir.Region():
                return (map_bodies(changed, lambda inner: self.body(inner, env, path)),)
            case _:
                changed = map_bodies(changed, lambda inner: self.body(inner, env, None))
        return (changed,)

    def _if(self, branch: ir.If, env: dict[str, Form | None], path: Span | None) -> ir.Body:
        condition, asked = self._condition(branch.cond, env)
        if condition in (_TRUE, _FALSE):
            taken = branch.then if condition == _TRUE else branch.otherwise
            inside = None if path is None or asked is None else path.meet(asked)
            body = self.body(taken, env, inside)
            return (ir.Block(body).at(branch.span),) if body else ()
        then = self.body(branch.then, env, None)
        otherwise = self.body(branch.otherwise, env, None)
        return (ir.If(condition, then, otherwise).at(branch.span),)

    def _condition(
        self, condition: ir.AnyExpr, env: dict[str, Form | None]
    ) -> tuple[ir.AnyExpr, Span | None]:
        """A condition, and for which invocations it is that; None if they are not known."""
        before, self.span, self._is_plain = self.span, _SPAN, True
        changed = self._expr(condition, env)
        asked = self.span if self._is_plain else None
        self.span = before.meet(self.span)
        return changed, asked

    def _loop(self, loop: ir.Loop, env: dict[str, Form | None], path: Span | None) -> ir.Loop:
        first, end = self._form(loop.start, env), self._form(loop.stop, env)
        variable = iterated(first, end, _SPAN) if loop.var not in self._assigned else None
        inner = self.body(loop.body, {**env, loop.var: variable}, None)
        if path is not None and variable is not None and variable.is_fixed:
            low, high = (None if each is None else each.constant for each in (first, end))
            if low is not None and high is not None:
                self._unrolled(loop, env, range(low, high), path)
        return map_bodies(loop, lambda _: inner)

    def _unrolled(
        self, loop: ir.Loop, env: dict[str, Form | None], values: range, path: Span
    ) -> None:
        """Go through the iterations one by one, for what is stored in each."""
        if len(values) <= _MOST_ITERATIONS and not _leaves(loop.body):
            for value in values:
                self.body(loop.body, {**env, loop.var: Form(0, value, value)}, path)

    def _store(self, buffer: str, form: Form | None, path: Span | None) -> None:
        if form is None or path is None or form.low != form.high or form.a <= 0:
            return
        if not (form.is_plain and form.is_fixed):
            return
        known = self.written.get(buffer, Written(form.a, frozenset(), path))
        if known.a == form.a:
            offsets = known.offsets | {form.low}
            self.written[buffer] = Written(form.a, offsets, known.span.meet(path))

    def _form(self, expr: ir.AnyExpr, env: Mapping[str, Form | None]) -> Form | None:
        return self._evaluator.form(expr, env, _SPAN, self._resolved)

    def _expr(self, expr: ir.AnyExpr, env: Mapping[str, Form | None]) -> ir.AnyExpr:
        return rewrite_expr(expr, lambda e: self._simpler(e, env))

    def _simpler(self, expr: ir.AnyExpr, env: Mapping[str, Form | None]) -> ir.AnyExpr:
        match expr:
            case ir.Binary(ir.BinOp.AND, left, right) if _TRUE in (left, right):
                return right if left == _TRUE else left
            case ir.Binary(ir.BinOp.AND, left, right) if _FALSE in (left, right):
                return _FALSE
            case ir.Binary(ir.BinOp.OR, left, right) if _FALSE in (left, right):
                return right if left == _FALSE else left
            case ir.Binary(ir.BinOp.OR, left, right) if _TRUE in (left, right):
                return _TRUE
            case ir.Unary(ir.UnOp.NOT, operand) if operand in (_TRUE, _FALSE):
                return _FALSE if operand == _TRUE else _TRUE
            case ir.Select(condition, yes, no) if condition in (_TRUE, _FALSE):
                return yes if condition == _TRUE else no
            case ir.Binary(ir.BinOp.MIN | ir.BinOp.MAX as op, left, right):
                return self._clamp(op, expr, self._form(left, env), self._form(right, env))
            case ir.Binary(op, left, right) if is_comparison(op):
                return self._compare(op, expr, self._form(left, env), self._form(right, env))
            case _:
                return expr

    def _clamp(
        self, op: ir.BinOp, expr: ir.Binary, one: Form | None, two: Form | None
    ) -> ir.AnyExpr:
        if one is None or two is None or self._resolved(op, one, two) is None:
            return expr
        keeps_first = self._is_first(op, one, two)
        return expr.left if keeps_first else expr.right

    def _is_first(self, op: ir.BinOp, one: Form, two: Form) -> bool:
        less = self._is_less(one, two)
        return less if op is ir.BinOp.MIN else not less

    def _resolved(self, op: ir.BinOp, one: Form, two: Form) -> Form | None:
        """The operand that a minimum or maximum is in the interior; None if neither always."""
        if not _is_decidable(one, two):
            return None
        self._require(one, two)
        taken = one if self._is_first(op, one, two) else two
        return Form(taken.a, taken.low, taken.high, taken.is_fixed, False)

    def _compare(
        self, op: ir.BinOp, expr: ir.Binary, one: Form | None, two: Form | None
    ) -> ir.AnyExpr:
        if one is None or two is None or not _is_decidable(one, two):
            return expr
        self._require(one, two)
        less = self._is_less(one, two)
        if op in (ir.BinOp.LT, ir.BinOp.LE):
            return _TRUE if less else _FALSE
        if op in (ir.BinOp.GT, ir.BinOp.GE):
            return _FALSE if less else _TRUE
        return _FALSE if op is ir.BinOp.EQ else _TRUE

    def _is_less(self, one: Form, two: Form) -> bool:
        """Whether the first is the smaller one in the interior."""
        bound = two if two.a == 0 else one
        moving_is_less = not bound.is_fixed
        return moving_is_less == (bound is two)

    def _require(self, one: Form, two: Form) -> None:
        """Keep the invocations for which the one is strictly less than the other."""
        moving, bound = (one, two) if two.a == 0 else (two, one)
        self._is_plain &= one.is_plain and two.is_plain
        # Between these two it does not wrap.
        first = -(moving.low // moving.a)
        last = (WORD - 1 - moving.high) // moving.a
        if bound.is_fixed:
            least = -((moving.low - bound.high - 1) // moving.a)
            self.span = self.span.meet(Span(max(first, least), last))
        else:
            most = (bound.low - 1 - moving.high) // moving.a
            self.span = self.span.meet(Span(first, min(most, last)))


def _is_decidable(one: Form, two: Form) -> bool:
    """Whether one moves with the invocation, and the other stands still."""
    moving, bound = (one, two) if two.a == 0 else (two, one)
    if bound.a or moving.a <= 0:
        return False
    return 0 <= bound.low <= bound.high < _HALF


def _leaves(body: ir.Body) -> bool:
    leaving = (ir.Break, ir.Continue, ir.Return)
    return any(isinstance(each, leaving) for each in walk_stmts(body))
