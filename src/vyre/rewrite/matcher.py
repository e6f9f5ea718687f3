"""Finds the rule that fits an expression, without trying all of them.

Instances are kept by what stands at the root and one level below it, so that most nodes meet no
rule at all, and the others meet a few. The tables are built when a root is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vyre import ir
from vyre.rewrite.folding import fold, value_of
from vyre.rewrite.pattern import Apply, Choose, Convert, Fused, Hole, Pattern
from vyre.rewrite.rule import Instance, Rule
from vyre.rewrite.term import Term, TermKind

TypeOf = Callable[[ir.AnyExpr], ir.DataType]
Bound = dict[str, ir.AnyExpr]
Prove = Callable[[Term, Bound], bool]
"""Whether a guard over operands that are no literals is known to hold."""

_KINDS: dict[TermKind, type] = {
    TermKind.SELECT: ir.Select,
    TermKind.FMA: ir.Fma,
    TermKind.CAST: ir.Cast,
    TermKind.BITCAST: ir.Bitcast,
}
_MOST_HELD = 10_000
_CHEAP = (ir.Var, ir.Lit, ir.Builtin)


def head_of(expr: ir.AnyExpr) -> object:
    """What rules are found by."""
    if type(expr) is ir.Binary or type(expr) is ir.Unary:
        return expr.op
    return type(expr)


def _term_head(term: Term) -> object:
    if term.kind is TermKind.HOLE:
        return ir.Lit if term.constant else None
    if term.kind is TermKind.LITERAL:
        return ir.Lit
    return term.op if term.op is not None else _KINDS[term.kind]


def _head_of_pattern(pattern: Pattern) -> object:
    """As `head_of` of what the pattern fits; None where that can be anything."""
    if isinstance(pattern, Apply):
        return pattern.op
    if isinstance(pattern, Hole):
        return ir.Lit if pattern.constant else None
    if isinstance(pattern, Convert):
        return ir.Bitcast if pattern.keep_bits else ir.Cast
    if isinstance(pattern, (Choose, Fused)):
        return ir.Select if isinstance(pattern, Choose) else ir.Fma
    return ir.Lit


def _heads_below(pattern: Pattern) -> tuple[object, ...]:
    match pattern:
        case Apply(_, operands):
            below: tuple[Pattern, ...] = operands
        case Choose(cond, if_true, if_false):
            below = (cond, if_true, if_false)
        case Fused(a, b, c):
            below = (a, b, c)
        case Convert(operand):
            below = (operand,)
        case _:
            below = ()
    return tuple([_head_of_pattern(operand) for operand in below])


def _fits(wanted: tuple[object, ...], below: tuple[object, ...]) -> bool:
    return all(want is None or want is head for want, head in zip(wanted, below, strict=True))


class RuleSet:
    """Rules, ready to be looked up."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_root: dict[object, list[tuple[Rule, tuple[object, ...]]]] = {}
        for rule in self.rules:
            row = (rule, _heads_below(rule.left))
            self._by_root.setdefault(_head_of_pattern(rule.left), []).append(row)
        self._found: dict[tuple[object, ...], tuple[Instance, ...]] = {}
        self._held: dict[tuple[int, ...], bool] = {}
        """What guards came to, by their identity and the literals: instances live forever."""

    def candidates(
        self, root: object, operand_type: ir.DataType, below: tuple[object, ...]
    ) -> tuple[Instance, ...]:
        """The instances that might fit a node with these heads."""
        key = (root, operand_type, *below)
        found = self._found.get(key)
        if found is None:
            # Rules that cannot fit in any order of their operands stay as they were written.
            swapped = below[::-1] if isinstance(root, ir.BinOp) and root.row.commutative else below
            found = self._found[key] = tuple(
                instance
                for rule, heads in self._by_root.get(root, ())
                if _fits(heads, below) or _fits(heads, swapped)
                for instance in rule.instances_for(operand_type)
                if _fits(tuple(map(_term_head, instance.left.args)), below)
            )
        return found

    def holds(self, instance: Instance, guard: Term, literals: list[ir.Lit]) -> bool:
        """Whether the guard of an instance holds for these values of its holes."""
        key = (id(guard), *[literal.bits for literal in literals])
        found = self._held.get(key)
        if found is None:
            if len(self._held) >= _MOST_HELD:
                self._held.clear()
            value = value_of(build(guard, dict(zip(instance.guarded, literals, strict=True))))
            found = self._held[key] = value is not None and value.bits == 1
        return found


def match(term: Term, expr: ir.AnyExpr, bound: Bound, type_of: TypeOf) -> bool:  # noqa: C901
    """Whether `expr` has the form of `term`; fills in what the holes stand for."""
    kind = term.kind
    if kind is TermKind.HOLE:
        if term.constant and type(expr) is not ir.Lit:
            return False
        known = bound.get(term.name)
        if known is None:
            if type_of(expr) is not term.dtype:
                return False
            bound[term.name] = expr
            return True
        return known == expr
    if kind is TermKind.LITERAL:
        return type(expr) is ir.Lit and expr.bits == term.bits and expr.dtype is term.dtype
    match expr:
        case ir.Binary(op, left, right):
            if op is not term.op:
                return False
            a, b = term.args
            return match_(a, left, bound, type_of) and match_(b, right, bound, type_of)
        case ir.Unary(op, operand):
            return op is term.op and match_(term.args[0], operand, bound, type_of)
        case ir.Select(cond, if_true, if_false) if kind is TermKind.SELECT:
            children = (cond, if_true, if_false)
        case ir.Fma(a, b, c) if kind is TermKind.FMA:
            children = (a, b, c)
        case ir.Cast(value, dtype) if kind is TermKind.CAST and dtype is term.dtype:
            children = (value,)
        case ir.Bitcast(value, dtype) if kind is TermKind.BITCAST and dtype is term.dtype:
            children = (value,)
        case _:
            return False
    return all(
        match_(arg, child, bound, type_of) for arg, child in zip(term.args, children, strict=True)
    )


match_ = match


def build(term: Term, bound: Bound) -> ir.AnyExpr:
    """The expression that `term` stands for, with operations on literals computed."""
    if term.kind is TermKind.HOLE:
        return bound[term.name]
    if term.kind is TermKind.LITERAL:
        return ir.Lit(term.dtype, term.bits)
    args = [build(arg, bound) for arg in term.args]
    made = _made(term, args)
    if all(type(arg) is ir.Lit for arg in args):
        value = fold(made)
        return made if value is None else value
    return made


def _made(term: Term, args: list[ir.AnyExpr]) -> ir.AnyExpr:
    if isinstance(term.op, ir.BinOp):
        return ir.Binary(term.op, args[0], args[1])
    if isinstance(term.op, ir.UnOp):
        return ir.Unary(term.op, args[0])
    if term.kind is TermKind.SELECT:
        return ir.Select(args[0], args[1], args[2])
    if term.kind is TermKind.FMA:
        return ir.Fma(args[0], args[1], args[2])
    kind = ir.Cast if term.kind is TermKind.CAST else ir.Bitcast
    return kind(args[0], term.dtype)


def may_apply(instance: Instance, bound: Bound, has_effects: Callable[[ir.AnyExpr], bool]) -> bool:
    """Whether the operands allow it: none with an effect is dropped, repeated or moved.

    An operand that would stand twice must cost nothing: a name, a literal or an id.
    """
    if any(type(bound[name]) not in _CHEAP for name in instance.copied):
        return False
    return instance.keeps_order or not any(
        has_effects(expr) for expr in bound.values() if expr.depth > 1
    )
