"""What one round of a loop does to the variables that go on from round to round.

In `if b == 10 { lines = lines + 1 } else if b == 44 { fields = fields + 1 }` each variable takes
a step under a condition of its own, whichever way the program is written: with branches, or with
`select(b == 10, lines, select(b == 44, fields + 1, fields))`. A look at a whole round finds these
steps and conditions. The arms of branches are computed in every round then: they have no effects,
and a load out of bounds gives zero.

`if v > best { best = v  at = k }` is the other thing that such variables do: `best` and those that
come with it are replaced by what is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from vyre import ir
from vyre.ir.walk import rewrite_expr, walk_expr, without_blocks
from vyre.record import dataclass
from vyre.rewrite.names import Names

STEPS = frozenset(
    {ir.BinOp.ADD, ir.BinOp.XOR, ir.BinOp.MUL, ir.BinOp.AND, ir.BinOp.OR}
    | {ir.BinOp.MIN, ir.BinOp.MAX, ir.BinOp.MINIMUM, ir.BinOp.MAXIMUM}
)
"""Operators for which the order of steps does not matter."""
MIRRORED = {
    ir.BinOp.LT: ir.BinOp.GT,
    ir.BinOp.LE: ir.BinOp.GE,
    ir.BinOp.GT: ir.BinOp.LT,
    ir.BinOp.GE: ir.BinOp.LE,
}
_NEGATED = {
    ir.BinOp.LT: ir.BinOp.GE,
    ir.BinOp.LE: ir.BinOp.GT,
    ir.BinOp.GT: ir.BinOp.LE,
    ir.BinOp.GE: ir.BinOp.LT,
}

Conditions = tuple[ir.AnyExpr, ...]
"""All of these hold; the outer ones come first, so that what is nested has them in common."""


@dataclass(frozen=True, slots=True)
class Step:
    """`x = x op value`, in rounds in which something holds."""

    op: ir.BinOp
    when: Conditions
    value: ir.AnyExpr


@dataclass(frozen=True, slots=True)
class Stepped:
    """A variable after some steps of this round."""

    name: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Better:
    """A condition: how a value compares with what a variable was before this round."""

    name: str
    op: ir.BinOp
    value: ir.AnyExpr
    when: Conditions
    """What must hold besides."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A variable that has a new value where something was better."""

    name: str
    better: Better
    value: ir.AnyExpr


Known = ir.AnyExpr | Stepped | Better | Replaced
"""A value: an expression without variables that go on from round to round, or one of those."""
_OF_VARIABLES = (Stepped, Better, Replaced)


class Unclear(Exception):
    """A round does something else."""


@dataclass(slots=True)
class Round:
    """A round while it is looked at, statement by statement."""

    env: ir.TypeEnv
    types: dict[str, ir.DataType]
    """The variables of `env`: new ones are added."""
    names: Names
    carried: frozenset[str]
    """Variables from outside the loop that it changes."""
    changed: frozenset[str]
    """These, and its own that change."""
    made: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])
    """What is computed, without these variables."""
    now: dict[str, Known] = field(default_factory=dict[str, Known])
    """What names stand for, if not for themselves."""
    _conditions: dict[ir.AnyExpr, ir.Var] = field(default_factory=dict[ir.AnyExpr, ir.Var])

    def take(self, statements: list[ir.AnyStmt]) -> None:
        """Go through statements; `Unclear` if they do anything but compute."""
        for statement in statements:
            match statement:
                case ir.Let(name, value):
                    self._bind(name, self.evaluated(value))
                case ir.Assign(name, value):
                    found = self.evaluated(value)
                    if name in self.carried:
                        self.now[name] = found
                    else:
                        self._bind(name, found)
                case ir.If():
                    self._branch(statement)
                case _:
                    raise Unclear

    def _bind(self, name: str, found: Known) -> None:
        if isinstance(found, _OF_VARIABLES):
            self.now[name] = found
            return
        if name in self.changed:
            fresh = self._fresh(name, found)
            self.now[name] = ir.Var(fresh)
            name = fresh
        self.made.append(ir.Let(name, found))

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
                # Bound in an arm, and not to be seen behind it.
                continue
            self._bind_chosen(name, condition, yes, no)

    def _bind_chosen(
        self, name: str, condition: Known, yes: dict[str, Known], no: dict[str, Known]
    ) -> None:
        mine = name in self.carried
        if not mine and name not in self.now:
            return
        sides = [arm.get(name, Stepped(name)) for arm in (yes, no)]
        if sides[0] == sides[1]:
            self.now[name] = sides[0]
            return
        found = self._chosen(condition, *sides)
        if mine:
            self.now[name] = found
        else:
            self._bind(name, found)

    # Expressions ---------------------------------------------------------------------------------

    def evaluated(self, expr: ir.AnyExpr) -> Known:
        """What an expression comes to."""
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
        found = self.now.get(node.name) if isinstance(node, ir.Var) else None
        assert not isinstance(found, _OF_VARIABLES)
        return node if found is None else found

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
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Better) and op is ir.BinOp.AND:
                assert not isinstance(other, _OF_VARIABLES)
                return replace(one, when=(other, *one.when))
        raise Unclear

    def _step(self, op: ir.BinOp, variable: Stepped, value: ir.AnyExpr) -> Known:
        """`variable op value`."""
        if op in MIRRORED and not variable.steps:
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
        """One of two values."""
        if isinstance(condition, Better):
            return self._better(condition, yes, no)
        if isinstance(condition, _OF_VARIABLES):
            raise Unclear
        if not isinstance(yes, _OF_VARIABLES) and not isinstance(no, _OF_VARIABLES):
            return ir.Select(condition, yes, no)
        condition = self.bound(condition)
        for one, other, holds in ((yes, no, condition), (no, yes, _not(condition))):
            if isinstance(one, ir.Lit) and one.dtype.is_bool and isinstance(other, Stepped):
                # Set to true is joined by or, set to false by and.
                flag = (ir.BinOp.OR, holds) if one.bits else (ir.BinOp.AND, _not(holds))
                return replace(other, steps=(*other.steps, Step(flag[0], (), flag[1])))
        for one, other, holds in ((yes, no, condition), (no, yes, _not(condition))):
            if isinstance(one, Replaced) and other == Stepped(one.name):
                better = replace(one.better, when=(holds, *one.better.when))
                return replace(one, better=better)
        if not isinstance(yes, Stepped) or not isinstance(no, Stepped) or yes.name != no.name:
            raise Unclear
        return self._joined(condition, yes, no)

    def _better(self, condition: Better, yes: Known, no: Known) -> Known:
        if isinstance(yes, Stepped) and not isinstance(no, _OF_VARIABLES):
            # Of numbers that may be NaN, none is the greater one either way.
            if condition.when or not self.types[condition.name].is_integer:
                raise Unclear
            condition, yes, no = replace(condition, op=_NEGATED[condition.op]), no, yes
        if isinstance(yes, _OF_VARIABLES) or not isinstance(no, Stepped) or no.steps:
            raise Unclear
        return Replaced(no.name, condition, yes)

    def _joined(self, condition: ir.AnyExpr, yes: Stepped, no: Stepped) -> Stepped:
        """The steps of both arms after those that they have in common."""
        shared = 0
        for one, other in zip(yes.steps, no.steps, strict=False):
            if one != other:
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
        """Whether all of some conditions hold; None if there are none."""
        found: ir.AnyExpr | None = None
        for condition in conditions:
            found = (
                condition
                if found is None
                else self.bound(ir.Binary(ir.BinOp.AND, found, condition))
            )
        return found

    def bound(self, condition: ir.AnyExpr) -> ir.AnyExpr:
        """A condition under a name, as it is asked more than once."""
        if isinstance(condition, (ir.Var, ir.Lit)):
            return condition
        found = self._conditions.get(condition)
        if found is None:
            found = ir.Var(self._fresh("holds", condition))
            self.made.append(ir.Let(found.name, condition))
            self._conditions[condition] = found
        return found


def _negative(value: ir.AnyExpr) -> ir.AnyExpr:
    if isinstance(value, ir.Lit):
        return ir.Lit(value.dtype, -value.bits & ((1 << (value.dtype.bits or 0)) - 1))
    return ir.Unary(ir.UnOp.NEG, value)


def _not(condition: ir.AnyExpr) -> ir.AnyExpr:
    return ir.Unary(ir.UnOp.NOT, condition)


def values_of(now: Mapping[str, Known], carried: frozenset[str]) -> list[Stepped | Replaced]:
    """What a round does to each of its variables; `Unclear` if that is something else."""
    found = [now.get(name, Stepped(name)) for name in sorted(carried)]
    clear = [one for one in found if isinstance(one, (Stepped, Replaced))]
    if len(clear) < len(found):
        raise Unclear
    return clear
