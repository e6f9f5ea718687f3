"""A rule: one line that says what may be rewritten into what, for which types, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple, cast

from vyre.diagnostics import OptimizerError, VyreError
from vyre.diagnostics.codes import optimizer as codes
from vyre.ir import BinOp, DataType
from vyre.rewrite.pattern import (
    Apply,
    Choose,
    Convert,
    Fused,
    Hole,
    Number,
    Pattern,
    Special,
    TypeName,
    as_pattern,
)
from vyre.rewrite.term import (
    AnyPattern,
    Binding,
    Term,
    UnknownTypeError,
    operand_type_name,
    typed,
)


class Instance(NamedTuple):
    """A rule for one choice of types and one order of commutative operands."""

    rule: Rule
    left: Term
    right: Term
    when: Term | None
    keeps_order: bool
    """Whether every operand is evaluated once and in the same order on both sides."""
    copied: frozenset[str]
    """Holes that stand more often on the right than on the left."""
    guarded: tuple[str, ...]
    """The holes that the guard speaks of."""
    depth: int
    """Levels of the right side."""


class Rule:
    """`left` may be replaced by `right`, for the given types, where `when` holds.

    A guard over literals is computed; one over other holes must be proved by the user of
    the rule, and without such a proof the rule does not fire. Both sides and the guard are what the
    prover proves. Whether it makes sense is checked before it is first used: most programs need
    few of the rules.
    """

    __slots__ = ("_instances", "bindings", "fast_math", "left", "name", "right", "when")

    def __init__(
        self,
        name: str,
        left: Pattern,
        right: Pattern | float,
        types: Iterable[DataType | Binding],
        when: Pattern | None = None,
        fast_math: bool = False,
    ) -> None:
        self.name = name
        self.left = left
        self.right = as_pattern(right)
        self.bindings: tuple[Binding, ...] = tuple(
            [{"T": t} if isinstance(t, DataType) else t for t in types]
        )
        self.when = when
        self.fast_math = fast_math
        """Whether it may change float results, and so needs the program's flag."""
        self._instances: dict[DataType | None, list[Instance]] = {}

    def __str__(self) -> str:
        guard = "" if self.when is None else f" when {self.when}"
        return f"{self.name}: {self.left} -> {self.right}{guard}"

    def terms(self, binding: Binding) -> tuple[Term, Term, Term | None]:
        """Both sides and the guard, typed."""
        left = typed(self.left, binding)
        when = None if self.when is None else typed(self.when, binding, DataType.BOOL)
        return left, typed(self.right, binding, left.dtype), when

    def instances(self) -> list[Instance]:
        """The rule for each choice of types and each order of commutative operands."""
        check_rule(self)
        name = operand_type_name(self.left)
        types = dict.fromkeys(_resolved(name, binding) for binding in self.bindings)
        return [instance for dtype in types for instance in self.instances_for(dtype)]

    def instances_for(self, dtype: DataType | None) -> list[Instance]:
        """Those whose root has operands of this type; made when they are first asked for."""
        found = self._instances.get(dtype)
        if found is None:
            if not self._instances:
                check_rule(self)
            found = self._instances[dtype] = []
            name = operand_type_name(self.left)
            fitting = [b for b in self.bindings if _resolved(name, b) is dtype]
            variants = list(orders(self.left)) if fitting else []
            for binding in fitting:
                _, right, when = self.terms(binding)
                found += [_instance(self, typed(v, binding), right, when) for v in variants]
        return found


def _resolved(name: TypeName | None, binding: Binding) -> DataType | None:
    return binding.get(name) if type(name) is str else cast("DataType | None", name)


def _instance(rule: Rule, left: Term, right: Term, when: Term | None) -> Instance:
    before = [hole.name for hole in left.holes() if not hole.constant]
    after = [hole.name for hole in right.holes() if not hole.constant]
    copied = frozenset([name for name in after if after.count(name) > before.count(name)])
    guarded = () if when is None else tuple(dict.fromkeys(hole.name for hole in when.holes()))
    return Instance(rule, left, right, when, before == after, copied, guarded, right.depth)


def orders(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern with the operands of commutative opcodes in every order that can occur.

    Literals stand on the right of commutative opcodes, so orders with one on the left are left
    out.
    """
    found = cast("AnyPattern", pattern)
    match found:
        case Hole() | Number() | Special():
            yield found
        case Apply(op, operands):
            for chosen in product(*map(_orders, operands)):
                yield from _both_ways(Apply(op, chosen))
        case Choose(cond, if_true, if_false):
            for a, b, c in product(_orders(cond), _orders(if_true), _orders(if_false)):
                yield Choose(a, b, c)
        case Fused(a, b, c):
            for chosen in product(_orders(a), _orders(b), _orders(c)):
                yield Fused(*chosen)
        case Convert(operand, dtype, keep_bits):
            for chosen in _orders(operand):
                yield Convert(chosen, dtype, keep_bits)


def _orders(pattern: Pattern) -> list[Pattern]:
    return list(orders(pattern))


def _both_ways(found: Apply) -> Iterator[Apply]:
    if not (isinstance(found.op, BinOp) and found.op.row.commutative):
        yield found
        return
    left, right = found.operands
    if not _is_literal(left) or _is_literal(right):
        yield found
    if left != right and not _is_literal(right):
        yield Apply(found.op, (right, left))


def _is_literal(pattern: Pattern) -> bool:
    return isinstance(pattern, (Number, Special)) or (
        isinstance(pattern, Hole) and pattern.constant
    )


def check_rule(rule: Rule) -> None:
    """Refuse a rule whose sides, guard and types do not fit together."""

    def refuse(problem: str, fix: str) -> OptimizerError:
        return OptimizerError(codes.BAD_RULE.at(name=rule.name, problem=problem, fix=fix))

    if not isinstance(rule.left, (Apply, Choose, Fused, Convert)):
        raise refuse("its left side is not an operation", "start the left side with an opcode")
    if not rule.bindings:
        raise refuse("it holds for no type", "name the types for which it is true")
    # The first choice of types stands for all here: the prover goes through every one of them.
    for binding in rule.bindings[:1]:
        try:
            left, right, when = rule.terms(binding)
        except (UnknownTypeError, VyreError) as error:
            types = ", ".join(f"{name} = {dtype}" for name, dtype in binding.items())
            raise refuse(f"{error} ({types})", "make the types of both sides fit") from error
        if left.dtype is not right.dtype:
            raise refuse(
                f"its sides are {left.dtype} and {right.dtype}", "convert one of the sides"
            )
        bound = {hole.name for hole in left.holes()}
        used = {hole.name for side in (right, when) if side is not None for hole in side.holes()}
        if not used <= bound:
            unbound = ", ".join(sorted(used - bound))
            raise refuse(f"the left side does not bind {unbound}", "use only what stands there")


def table(rules: Iterable[Rule]) -> Mapping[str, Rule]:
    """Rules by name; a name that is given twice is refused."""
    found: dict[str, Rule] = {}
    for rule in rules:
        if rule.name in found:
            raise OptimizerError(
                codes.BAD_RULE.at(
                    name=rule.name, problem="another rule has its name", fix="give it its own"
                )
            )
        found[rule.name] = rule
    return found
