"""Applies rules to expressions, bottom up, until none fits; literals are folded on the way.

A `Rewriter` remembers what became of every expression object it has seen, together with its type,
so that going over an unchanged program again costs one dictionary look-up per statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from vyre import ir
from vyre.ir.node import MAX_EXPR_DEPTH
from vyre.ir.opcodes import Result
from vyre.ir.walk import expr_children, map_exprs
from vyre.rewrite.effects import has_effects
from vyre.rewrite.folding import fold
from vyre.rewrite.literal_legality import lawful
from vyre.rewrite.matcher import Bound, RuleSet, build, head_of, match, may_apply
from vyre.rewrite.rule import Instance
from vyre.rewrite.term import Term

Prove = Callable[[Term, Bound], bool]
"""Whether a guard over operands that are no literals is known to hold."""

_STEPS = 64
"""Rules applied in a row to one node; more means that rules undo each other."""


class Rewriter:
    """Rules at work on the expressions of one program, and of what passes make of it."""

    def __init__(self, rules: RuleSet, prove: Prove | None = None) -> None:
        self.rules = rules
        self.prove = prove
        self.applied: dict[str, int] = {}
        """How often each rule fired."""
        self.total = 0
        """How many rewrites were made, folded literals included."""
        self.generation = 0
        """Grows when what was found before is void."""
        self._types: dict[str, ir.DataType] = {}
        self._mixed = False
        """Whether a name has several types in one program."""
        self._buffers: Mapping[str, ir.BufferDecl] = {}
        self._done: dict[int, tuple[ir.AnyExpr, ir.AnyExpr, ir.DataType]] = {}

    def begin(self, buffers: Mapping[str, ir.BufferDecl]) -> None:
        """Start on a program; what is remembered stays valid while its buffers are the same.

        Variables may be others. An expression that is still there reads the ones that it read
        before, so of a name that means something else by now, nothing remembered is asked for.
        """
        if self._mixed or any(self._buffers.get(name) != decl for name, decl in buffers.items()):
            self.forget()
        self._buffers = buffers
        self._types = {}
        self._mixed = False

    def bind(self, name: str, dtype: ir.DataType) -> None:
        """A variable of this type is visible from here on."""
        if self._types.get(name, dtype) is not dtype:
            # A sibling scope uses the name for another type: what was said with it is void.
            self.forget()
            self._mixed = True
        self._types[name] = dtype

    def forget(self) -> None:
        """What was found so far does not hold any more."""
        self._done.clear()
        self.generation += 1

    def type_of(self, expr: ir.AnyExpr) -> ir.DataType:
        """The type of an expression."""
        found = self._done.get(id(expr))
        return self._type(expr) if found is None else found[2]

    def rewrite(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """The best form of `expr` that the rules know; the same object if it is that already."""
        if expr.depth == 1:
            return self._length(expr) if type(expr) is ir.BufLen else expr
        found = self._done.get(id(expr))
        if found is not None:
            return found[1]
        new = map_exprs(expr, self.rewrite)
        if new is not expr:
            new = lawful(new, expr, self._buffers)
        new = self._settle(new, _STEPS)
        dtype = self.type_of(new)
        self._done[id(expr)] = (expr, new, dtype)
        if new is not expr:
            self._done[id(new)] = (new, new, dtype)
        return new

    def _length(self, expr: ir.BufLen) -> ir.AnyExpr:
        count = self._buffers[expr.buffer].count
        return ir.Lit(ir.DataType.U32, count) if count else expr

    def _settle(self, expr: ir.AnyExpr, steps: int) -> ir.AnyExpr:
        """`expr`, whose operands are settled, with rules applied at its root."""
        while steps:
            better = self._step(expr)
            if better is None:
                return expr
            steps -= 1
            self.total += 1
            if better.depth == 1:
                return better
            # Parts of what a rule builds are new: settle them before looking at its root.
            settled = map_exprs(better, self.rewrite)
            expr = settled if settled is better else lawful(settled, better, self._buffers)
        return expr

    def _step(self, expr: ir.AnyExpr) -> ir.AnyExpr | None:
        """What one fold or one rule makes of `expr`; None when it is settled."""
        cls = type(expr)
        if cls not in _RULED:
            return _fold_lane(expr) if type(expr) is ir.Lane else None
        operands = expr_children(expr)
        first = type(operands[0]) is ir.Lit
        if first and all(type(operand) is ir.Lit for operand in operands):
            return fold(expr)
        if first and type(expr) is ir.Binary and expr.op.row.commutative:
            # Literals stand on the right, so that rules need to look for them there only.
            return ir.Binary(expr.op, expr.right, expr.left)
        dtype = self.type_of(operands[1] if cls is ir.Select else operands[0])
        below = tuple([head_of(operand) for operand in operands])
        for instance in self.rules.candidates(head_of(expr), dtype, below):
            made = self._try(instance, expr)
            if made is not None:
                name = instance.rule.name
                self.applied[name] = self.applied.get(name, 0) + 1
                return made
        return None

    def _try(self, instance: Instance, expr: ir.AnyExpr) -> ir.AnyExpr | None:
        bound: Bound = {}
        if not match(instance.left, expr, bound, self.type_of):
            return None
        if instance.when is not None and not self._holds(instance, instance.when, bound):
            return None
        if not may_apply(instance, bound, has_effects):
            return None
        if expr.depth + instance.depth > MAX_EXPR_DEPTH:
            return None
        made = build(instance.right, bound)
        return None if made == expr else made

    def _holds(self, instance: Instance, guard: Term, bound: Bound) -> bool:
        literals = [bound[name] for name in instance.guarded]
        if all([type(literal) is ir.Lit for literal in literals]):  # noqa: C419
            return self.rules.holds(instance, guard, cast("list[ir.Lit]", literals))
        return self.prove is not None and self.prove(guard, bound)

    def _type(self, expr: ir.AnyExpr) -> ir.DataType:  # noqa: C901
        match expr:
            case ir.Lit(dtype) | ir.Cast(_, dtype) | ir.Bitcast(_, dtype) | ir.MakeVec(dtype):
                return dtype
            case ir.Builtin() | ir.BufLen():
                return ir.DataType.U32
            case ir.Var(name):
                return self._types[name]
            case ir.Load(buffer):
                return self._buffers[buffer].value_type
            case ir.Atomic(_, buffer):
                return self._buffers[buffer].element
            case ir.Binary(op, left):
                return ir.DataType.BOOL if op.row.result is Result.BOOL else self.type_of(left)
            case ir.Unary(op, operand):
                return ir.DataType.BOOL if op.row.result is Result.BOOL else self.type_of(operand)
            case ir.Select(_, if_true):
                return self.type_of(if_true)
            case ir.Fma(a):
                return self.type_of(a)
            case ir.Lane(value):
                element = self.type_of(value).element
                assert element is not None
                return element
            case ir.Ballot():
                return ir.DataType.VEC4_U32
            case ir.Shuffle(value) | ir.SubgroupReduce(_, value):
                return self.type_of(value)


_RULED: frozenset[type[Any]] = frozenset(
    {ir.Binary, ir.Unary, ir.Select, ir.Fma, ir.Cast, ir.Bitcast}
)


def _fold_lane(expr: ir.Lane) -> ir.AnyExpr | None:
    made = expr.value
    if isinstance(made, ir.MakeVec) and not has_effects(made):
        return made.lanes[expr.index]
    return None
