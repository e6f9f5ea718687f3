"""Symbolic evaluation of one loop iteration.

Computes the value of every loop-carried variable after an iteration, as conditional reduction steps
on its value before:

    if b == 10 { lines = lines + 1 } else if b == 44 { fields = fields + 1 }

gives `lines` the step `+ 1` under `b == 10`, and `fields` the step `+ 1` under `b != 10, b == 44`;
so does `select(b == 10, lines, select(b == 44, fields + 1, fields))`. The arms of branches are then
computed in every iteration (if-conversion): they have no side effects, and a load out of bounds
gives zero.

The other recurrence is an arg-extremum, `if v > best { best = v  at = k }`: `best` and the
variables assigned with it are replaced under a comparison. Anything else raises `Unclear`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from vyre import ir
from vyre.ir.opcodes import MIRRORED, NEGATED
from vyre.ir.walk import rewrite_expr, walk_expr, without_blocks
from vyre.record import dataclass
from vyre.rewrite.names import Names

STEPS = frozenset(
    {ir.BinOp.ADD, ir.BinOp.XOR, ir.BinOp.MUL, ir.BinOp.AND, ir.BinOp.OR}
    | {ir.BinOp.MIN, ir.BinOp.MAX, ir.BinOp.MINIMUM, ir.BinOp.MAXIMUM}
)
"""Associative and commutative operators: steps may be reordered."""
_ORDERS = frozenset({ir.BinOp.LT, ir.BinOp.LE, ir.BinOp.GT, ir.BinOp.GE})

Conditions = tuple[ir.AnyExpr, ...]
"""Conjuncts, the outer ones first, so that nested branches share a prefix."""


@dataclass(frozen=True, slots=True)
class Step:
    """`x = x op value`, in iterations in which the conjuncts hold."""

    op: ir.BinOp
    when: Conditions
    value: ir.AnyExpr


@dataclass(frozen=True, slots=True)
class Stepped:
    """A variable after some steps of this iteration."""

    name: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Better:
    """A condition: a value compared with a variable before this iteration."""

    name: str
    op: ir.BinOp
    value: ir.AnyExpr
    when: Conditions
    """Further conjuncts."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A variable that is replaced where a comparison holds."""

    name: str
    better: Better
    value: ir.AnyExpr


Known = ir.AnyExpr | Stepped | Better | Replaced
"""A value: an expression without loop-carried variables, or a state of one."""
_OF_VARIABLES = (Stepped, Better, Replaced)


class Unclear(Exception):
    """The iteration is not a set of reductions and arg-extrema."""


@dataclass(slots=True)
class Iteration:
    """Symbolic state of an iteration, statement by statement."""

    env: ir.TypeEnv
    types: dict[str, ir.DataType]
    """Types of the variables of `env`; new ones are added."""
    names: Names
    carried: frozenset[str]
    """Loop-carried variables: bound outside the loop, assigned in it."""
    changed: frozenset[str]
    """Loop-carried variables, and the loop's own that are reassigned."""
    made: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])
    """Statements that compute values without loop-carried variables."""
    now: dict[str, Known] = field(default_factory=dict[str, Known])
    """Symbolic values of names that differ from the name itself."""
    _conditions: dict[ir.AnyExpr, ir.Var] = field(default_factory=dict[ir.AnyExpr, ir.Var])

    def take(self, statements: list[ir.AnyStmt]) -> None:
        """Evaluate statements; `Unclear` if they have side effects."""
        for statement in statements:
            match statement:
                case ir.Let(name, value):
                    self._bind(name, self.evaluated(value))
                case ir.Assign(name, value):
                    result = self.evaluated(value)
                    if name in self.carried:
                        self.now[name] = result
                    else:
                        self._bind(name, result)
                case ir.If():
                    self._branch(statement)
                case _:
                    raise Unclear

    def _bind(self, name: str, value: Known) -> None:
        if isinstance(value, _OF_VARIABLES):
            self.now[name] = value
            return
        if name in self.changed:
            fresh = self._fresh(name, value)
            self.now[name] = ir.Var(fresh)
            name = fresh
        self.made.append(ir.Let(name, value))

    def _fresh(self, like: str, value: ir.AnyExpr) -> str:
        name = self.names.fresh(like)
        self.types[name] = ir.type_of(value, self.env)
        return name

    def _branch(self, statement: ir.If) -> None:
        condition = self.evaluated(statement.cond)
        before = self.now
        arms: list[dict[str, Known]] = []
        for body in (statement.then, statement.otherwise):
            self.now = dict(before)
            self.take(without_blocks(body))
            arms.append(self.now)
        self.now = before
        yes, no = arms
        for name in {**yes, **no}:
            if name not in self.changed:
                # Bound in an arm, and out of scope after it.
                continue
            self._bind_chosen(name, condition, yes, no)

    def _bind_chosen(
        self, name: str, condition: Known, yes: dict[str, Known], no: dict[str, Known]
    ) -> None:
        is_carried = name in self.carried
        if not is_carried and name not in self.now:
            return
        sides = [arm.get(name, Stepped(name)) for arm in (yes, no)]
        if sides[0] == sides[1]:
            self.now[name] = sides[0]
            return
        chosen = self._chosen(condition, *sides)
        if is_carried:
            self.now[name] = chosen
        else:
            self._bind(name, chosen)

    # Expressions ---------------------------------------------------------------------------------

    def evaluated(self, expr: ir.AnyExpr) -> Known:
        """Symbolic value of an expression."""
        if isinstance(expr, ir.Var):
            own = Stepped(expr.name) if expr.name in self.carried else expr
            return self.now.get(expr.name, own)
        if not self._reads_variables(expr):
            return rewrite_expr(expr, self._written)
        match expr:
            case ir.Select(cond, if_true, if_false):
                sides = self.evaluated(if_true), self.evaluated(if_false)
                return self._chosen(self.evaluated(cond), *sides)
            case ir.Binary(op, left, right):
                return self._binary(op, self.evaluated(left), self.evaluated(right))
            case _:
                raise Unclear

    def _reads_variables(self, expr: ir.AnyExpr) -> bool:
        names = [node.name for node in walk_expr(expr) if isinstance(node, ir.Var)]
        return any(isinstance(self.evaluated(ir.Var(name)), _OF_VARIABLES) for name in names)

    def _written(self, node: ir.AnyExpr) -> ir.AnyExpr:
        value = self.now.get(node.name) if isinstance(node, ir.Var) else None
        assert not isinstance(value, _OF_VARIABLES)
        return node if value is None else value

    def _binary(self, op: ir.BinOp, left: Known, right: Known) -> Known:
        if isinstance(left, _OF_VARIABLES) and isinstance(right, _OF_VARIABLES):
            raise Unclear
        if isinstance(left, Stepped):
            assert not isinstance(right, _OF_VARIABLES)
            return self._step(op, left, right)
        if isinstance(right, Stepped):
            assert not isinstance(left, _OF_VARIABLES)
            if op is ir.BinOp.SUB:
                raise Unclear
            return self._step(MIRRORED.get(op, op), right, left)
        for comparison, conjunct in ((left, right), (right, left)):
            if isinstance(comparison, Better) and op is ir.BinOp.AND:
                assert not isinstance(conjunct, _OF_VARIABLES)
                return replace(comparison, when=(conjunct, *comparison.when))
        raise Unclear

    def _step(self, op: ir.BinOp, variable: Stepped, value: ir.AnyExpr) -> Known:
        """`variable op value`."""
        if op in _ORDERS and not variable.steps:
            return Better(variable.name, MIRRORED[op], value, ())
        if op is ir.BinOp.SUB and ir.type_of(value, self.env).is_integer:
            op, value = ir.BinOp.ADD, _negative(value)
        if op not in STEPS:
            raise Unclear
        step = Step(op, (), value)
        match value:
            case ir.Cast(flag, dtype) if op is ir.BinOp.ADD and ir.type_of(flag, self.env).is_bool:
                if dtype.is_integer:
                    step = Step(op, (self.bound(flag),), ir.Lit(dtype, 1))
            case _:
                pass
        return replace(variable, steps=(*variable.steps, step))

    def _chosen(self, condition: Known, yes: Known, no: Known) -> Known:
        """Symbolic value of `select(condition, yes, no)`."""
        if isinstance(condition, Better):
            return self._better(condition, yes, no)
        if isinstance(condition, _OF_VARIABLES):
            raise Unclear
        if not isinstance(yes, _OF_VARIABLES) and not isinstance(no, _OF_VARIABLES):
            return ir.Select(condition, yes, no)
        condition = self.bound(condition)
        for literal, state, holds in ((yes, no, condition), (no, yes, _not(condition))):
            if isinstance(literal, ir.Lit) and literal.dtype.is_bool and isinstance(state, Stepped):
                # Assigning true is an `or` reduction, assigning false an `and` reduction.
                flag = (ir.BinOp.OR, holds) if literal.bits else (ir.BinOp.AND, _not(holds))
                return replace(state, steps=(*state.steps, Step(flag[0], (), flag[1])))
        for state, before, holds in ((yes, no, condition), (no, yes, _not(condition))):
            if isinstance(state, Replaced) and before == Stepped(state.name):
                better = replace(state.better, when=(holds, *state.better.when))
                return replace(state, better=better)
        if not isinstance(yes, Stepped) or not isinstance(no, Stepped) or yes.name != no.name:
            raise Unclear
        return self._joined(condition, yes, no)

    def _better(self, condition: Better, yes: Known, no: Known) -> Known:
        if isinstance(yes, Stepped) and not isinstance(no, _OF_VARIABLES):
            # With NaN, a comparison and its negation are not complementary.
            if condition.when or not self.types[condition.name].is_integer:
                raise Unclear
            condition, yes, no = replace(condition, op=NEGATED[condition.op]), no, yes
        if isinstance(yes, _OF_VARIABLES) or not isinstance(no, Stepped) or no.steps:
            raise Unclear
        return Replaced(no.name, condition, yes)

    def _joined(self, condition: ir.AnyExpr, yes: Stepped, no: Stepped) -> Stepped:
        """Merge the steps of both arms after their common prefix."""
        shared = 0
        for lhs, rhs in zip(yes.steps, no.steps, strict=False):
            if lhs != rhs:
                break
            shared += 1
        mine, others = yes.steps[shared:], no.steps[shared:]
        match mine, others:
            case (Step(op, (), a),), (Step(same, (), b),) if op is same:
                steps = (Step(op, (), ir.Select(condition, a, b)),)
            case _:
                refused = _not(condition)
                steps = (
                    *(replace(step, when=(condition, *step.when)) for step in mine),
                    *(replace(step, when=(refused, *step.when)) for step in others),
                )
        return Stepped(yes.name, (*yes.steps[:shared], *steps))

    def all_of(self, conditions: Conditions) -> ir.AnyExpr | None:
        """Conjunction of conditions; None if there are none."""
        conjunction: ir.AnyExpr | None = None
        for condition in conditions:
            conjunction = (
                condition
                if conjunction is None
                else self.bound(ir.Binary(ir.BinOp.AND, conjunction, condition))
            )
        return conjunction

    def bound(self, condition: ir.AnyExpr) -> ir.AnyExpr:
        """Bind a condition to a name, for repeated use."""
        if isinstance(condition, (ir.Var, ir.Lit)):
            return condition
        flag = self._conditions.get(condition)
        if flag is None:
            flag = ir.Var(self._fresh("holds", condition))
            self.made.append(ir.Let(flag.name, condition))
            self._conditions[condition] = flag
        return flag


def _negative(value: ir.AnyExpr) -> ir.AnyExpr:
    if isinstance(value, ir.Lit):
        return ir.Lit(value.dtype, -value.bits & ((1 << (value.dtype.bits or 0)) - 1))
    return ir.Unary(ir.UnOp.NEG, value)


def _not(condition: ir.AnyExpr) -> ir.AnyExpr:
    return ir.Unary(ir.UnOp.NOT, condition)


def values_of(now: Mapping[str, Known], carried: frozenset[str]) -> list[Stepped | Replaced]:
    """Final state of each loop-carried variable; `Unclear` for other values."""
    values = [now.get(name, Stepped(name)) for name in sorted(carried)]
    states = [value for value in values if isinstance(value, (Stepped, Replaced))]
    if len(states) < len(values):
        raise Unclear
    return states
