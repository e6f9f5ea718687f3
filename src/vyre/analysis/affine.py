"""Affine forms: integers written as constant + Σ coefficient · symbol, modulo the type's width.

    forms = AffineForms.of(program)
    forms.of_expr(expr, position)      the form of an integer expression at a statement
    forms.stride(expr, position)       how much it grows from one invocation to the next along x:
                                       0 is uniform, n is linear, None is anything else
    forms.difference(e, p, f, q)       e at p minus f at q, when it is a constant

Variables that are never assigned are looked through. What is left as a symbol is an id, a length, a
variable (told apart by its binding), or anything else, then equal only to itself. All of it
holds modulo 2**width, as the arithmetic does: that a sum did not wrap is for `Ranges` to say.
"""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.analysis.agreement_levels import is_constant
from vyre.analysis.def_use import DefUse
from vyre.analysis.types import VariableTypes
from vyre.analysis.uniformity import Level, Uniformity
from vyre.ir.walk import expr_children
from vyre.record import dataclass

_MOVING = (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.LOCAL_ID)
MOST_TERMS = 8
"""A variable whose form has more terms is a symbol of its own."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """An expression that is not looked into, as one statement evaluates it."""

    position: int
    expr: ir.AnyExpr


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, by the position of its binding."""

    binding: int


Symbol = ir.Builtin | ir.BufLen | Variable | Opaque


@dataclass(frozen=True, slots=True)
class Affine:
    """constant + Σ coefficient · symbol, modulo 2**bits; no coefficient is zero."""

    bits: int
    constant: int
    terms: dict[Symbol, int] = field(default_factory=dict[Symbol, int])

    def __add__(self, other: Affine) -> Affine:
        terms = dict(self.terms)
        for symbol, coefficient in other.terms.items():
            terms[symbol] = terms.get(symbol, 0) + coefficient
        return _made(self.bits, self.constant + other.constant, terms)

    def __sub__(self, other: Affine) -> Affine:
        return self + other.times(-1)

    def times(self, factor: int) -> Affine:
        """The form multiplied by a constant."""
        terms = {symbol: value * factor for symbol, value in self.terms.items()}
        return _made(self.bits, self.constant * factor, terms)

    def signed(self, value: int) -> int:
        """A coefficient read as a signed number."""
        return value - (1 << self.bits) if value >> (self.bits - 1) else value


def _made(bits: int, constant: int, terms: dict[Symbol, int]) -> Affine:
    mask = (1 << bits) - 1
    kept = {symbol: value & mask for symbol, value in terms.items() if value & mask}
    return Affine(bits, constant & mask, kept)


class AffineForms:
    """The affine forms of one program; get them with `AffineForms.of`."""

    def __init__(self, program: ir.Program) -> None:
        self._def_use = DefUse.of(program)
        self._uniformity = Uniformity.of(program)
        self._types = VariableTypes.of(program)
        self._constant_buffers = {d.name for d in program.buffers if is_constant(d)}
        self._forms: dict[int, Affine | None] = {}
        """By binding: the form of a variable that keeps its first value."""
        # In the order of the text, so that every form rests on forms already known.
        for binding in self._def_use.variables:
            if self._def_use.is_constant(binding):
                self._forms[binding] = self._defined(binding)

    @staticmethod
    def of(program: ir.Program) -> AffineForms:
        """The forms of a program, computed once per program object, as they are asked for."""
        return program.memo(AffineForms, AffineForms)

    def of_expr(self, expr: ir.AnyExpr, position: int) -> Affine | None:
        """The form of an expression in the statement at `position`; None if it is no integer."""
        match expr:
            case ir.Lit(dtype, bits) if dtype.is_integer:
                return Affine(dtype.bits or 0, bits)
            case ir.Builtin() | ir.BufLen():
                return Affine(32, 0, {expr: 1})
            case ir.Var(name):
                return self._variable(name, position)
            case ir.Unary(ir.UnOp.NEG, operand):
                form = self.of_expr(operand, position)
                return None if form is None else form.times(-1)
            case ir.Binary():
                return self._binary(expr, position)
            case ir.Cast(value, dtype) if dtype.is_integer:
                form = self.of_expr(value, position)
                if form is not None and form.bits == dtype.bits:
                    return form
                return self._opaque(expr, position)
            case _:
                return self._opaque(expr, position)

    def difference(
        self, first: ir.AnyExpr, at_first: int, second: ir.AnyExpr, at_second: int
    ) -> int | None:
        """`first` minus `second` as a signed number, when it is always the same.

        Both are taken as one invocation evaluates them in the same round of the loops around both.
        """
        a, b = self.of_expr(first, at_first), self.of_expr(second, at_second)
        if a is None or b is None or a.bits != b.bits:
            return None
        rest = a - b
        return None if rest.terms else rest.signed(rest.constant)

    def stride(self, expr: ir.AnyExpr, position: int) -> int | None:
        """How much more the next invocation along x gets, the wrap-around of the type aside."""
        form = self.of_expr(expr, position)
        if form is None:
            return None
        total = 0
        for symbol, coefficient in form.terms.items():
            step = self._step(symbol)
            if step is None:
                return None
            total += step * coefficient
        return form.signed(total & ((1 << form.bits) - 1))

    def agrees_but_for_id(self, form: Affine, axis: int) -> bool:
        """Whether a workgroup agrees on all of a form but its ids along one axis."""
        return all(
            (isinstance(symbol, ir.Builtin) and symbol.axis == axis and symbol.kind in _MOVING)
            or self._level(symbol) <= Level.WORKGROUP
            for symbol in form.terms
        )

    def _level(self, symbol: Symbol) -> Level:
        match symbol:
            case Variable(binding):
                return self._uniformity.variable(binding)
            case Opaque(position, expr):
                return self._uniformity.level_of(expr, position)
            case ir.Builtin() | ir.BufLen():
                return self._uniformity.level_of(symbol, 0)

    def _step(self, symbol: Symbol) -> int | None:
        if isinstance(symbol, ir.Builtin) and symbol.kind in _MOVING:
            return int(symbol.axis == 0)
        return 0 if self._level(symbol) <= Level.WORKGROUP else None

    def _variable(self, name: str, position: int) -> Affine | None:
        binding = self._def_use.resolve(name, position)
        if binding is None:
            return None
        if binding in self._forms:
            return self._forms[binding]
        return _symbol(Opaque(position, ir.Var(name)), self._types.variable(binding))

    def _defined(self, binding: int) -> Affine | None:
        value = self._def_use.value(binding)
        if value is not None:
            form = self.of_expr(value, binding)
            if form is not None and len(form.terms) <= MOST_TERMS:
                return form
        return _symbol(Variable(binding), self._types.variable(binding))

    def _binary(self, expr: ir.Binary, position: int) -> Affine | None:
        if expr.op in (ir.BinOp.ADD, ir.BinOp.SUB, ir.BinOp.MUL, ir.BinOp.SHL):
            left = self.of_expr(expr.left, position)
            right = self.of_expr(expr.right, position)
            if left is None or right is None:
                return None
            if expr.op is ir.BinOp.ADD:
                return left + right
            if expr.op is ir.BinOp.SUB:
                return left - right
            if expr.op is ir.BinOp.SHL and not right.terms:
                return left.times(1 << (right.constant & (right.bits - 1)))
            if expr.op is ir.BinOp.MUL and not right.terms:
                return left.times(right.constant)
            if expr.op is ir.BinOp.MUL and not left.terms:
                return right.times(left.constant)
        return self._opaque(expr, position)

    def _opaque(self, expr: ir.AnyExpr, position: int) -> Affine | None:
        if not self._is_steady(expr):
            return None
        return _symbol(Opaque(position, expr), self._types.of_expr(expr, position))

    def _is_steady(self, expr: ir.AnyExpr) -> bool:
        """Whether evaluating the expression twice in one statement gives the same twice."""
        if isinstance(expr, (ir.Atomic, ir.Ballot, ir.Shuffle, ir.SubgroupReduce)):
            return False
        if isinstance(expr, ir.Load) and expr.buffer not in self._constant_buffers:
            return False
        return expr.depth == 1 or all(self._is_steady(child) for child in expr_children(expr))


def _symbol(symbol: Symbol, dtype: ir.DataType) -> Affine | None:
    return Affine(dtype.bits or 0, 0, {symbol: 1}) if dtype.is_integer else None
