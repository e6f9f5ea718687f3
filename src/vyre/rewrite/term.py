"""Patterns with every type known: what the matcher matches and the prover proves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import assert_never, cast

from vyre.ir import BinOp, DataType, UnOp, literal
from vyre.ir.opcodes import Result
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
)

Binding = Mapping[str, DataType]
"""What the type variables of a rule stand for."""

AnyPattern = Hole | Number | Special | Apply | Choose | Fused | Convert


class TermKind(Enum):
    """What a term is."""

    HOLE = 0
    LITERAL = 1
    UNARY = 2
    BINARY = 3
    SELECT = 4
    FMA = 5
    CAST = 6
    BITCAST = 7


@dataclass(frozen=True, slots=True)
class Term:
    """A pattern of one type, with terms for operands."""

    kind: TermKind
    dtype: DataType
    args: tuple[Term, ...] = ()
    op: UnOp | BinOp | None = None
    name: str = ""
    constant: bool = False
    bits: int = 0

    @property
    def operand_type(self) -> DataType:
        """The type of the operands that have one type: of both sides, or of what is converted."""
        if self.kind is TermKind.SELECT:
            return self.dtype
        return self.args[0].dtype if self.args else self.dtype

    def holes(self) -> Iterator[Term]:
        """The holes in it, in the order of evaluation, each as often as it stands there."""
        if self.kind is TermKind.HOLE:
            yield self
        for arg in self.args:
            yield from arg.holes()

    @property
    def depth(self) -> int:
        """Levels, itself included."""
        return 1 + max((arg.depth for arg in self.args), default=0)


class UnknownTypeError(Exception):
    """A number stands where nothing says which type it has."""


def typed(pattern: Pattern, binding: Binding, expected: DataType | None = None) -> Term:
    """The pattern with its type variables replaced; numbers take the type around them."""
    found = cast("AnyPattern", pattern)
    match found:
        case Hole(name, dtype, constant):
            return Term(TermKind.HOLE, _lookup(dtype, binding), name=name, constant=constant)
        case Number(value):
            known = _known(expected, found)
            number = float(value) if known.is_float else bool(value) if known.is_bool else value
            return Term(TermKind.LITERAL, known, bits=literal.encode(number, known))
        case Special(_, bits, dtype):
            known = dtype or _known(expected, found)
            return Term(TermKind.LITERAL, known, bits=bits(known))
        case Apply(op, operands):
            return _apply(op, operands, binding, expected)
        case Choose(cond, if_true, if_false):
            dtype = _infer(if_true, binding) or _infer(if_false, binding) or expected
            dtype = dtype or binding.get("T")
            arms = (typed(if_true, binding, dtype), typed(if_false, binding, dtype))
            test = typed(cond, binding, DataType.BOOL)
            if arms[0].dtype is not arms[1].dtype or not test.dtype.is_bool:
                raise UnknownTypeError("the operands of select do not fit")
            return Term(TermKind.SELECT, arms[0].dtype, (test, *arms))
        case Fused(a, b, c):
            dtype = next((t for arg in (a, b, c) if (t := _infer(arg, binding))), expected)
            args = tuple(typed(arg, binding, dtype) for arg in (a, b, c))
            return Term(TermKind.FMA, args[0].dtype, args)
        case Convert(operand, dtype, keep_bits):
            kind = TermKind.BITCAST if keep_bits else TermKind.CAST
            return Term(kind, _lookup(dtype, binding), (typed(operand, binding),))
    assert_never(found)


def _apply(
    op: UnOp | BinOp,
    operands: tuple[Pattern, ...],
    binding: Binding,
    expected: DataType | None,
) -> Term:
    same = op.row.result is Result.OPERAND
    dtype = next((t for operand in operands if (t := _infer(operand, binding))), None)
    if dtype is None and same:
        dtype = expected
    args = tuple(typed(operand, binding, dtype) for operand in operands)
    if any(arg.dtype is not args[0].dtype for arg in args):
        raise UnknownTypeError(f"the operands of {op.row.spelling} differ in type")
    if args[0].dtype not in op.row.operands:
        raise UnknownTypeError(f"{op.row.spelling} does not work on {args[0].dtype}")
    kind = TermKind.UNARY if isinstance(op, UnOp) else TermKind.BINARY
    return Term(kind, args[0].dtype if same else DataType.BOOL, args, op)


def operand_type(pattern: Pattern, binding: Binding) -> DataType | None:
    """The type of the operands at the root of a pattern, as `Term.operand_type` gives it."""
    found = cast("AnyPattern", pattern)
    match found:
        case Apply(_, operands):
            return next((t for operand in operands if (t := _infer(operand, binding))), None)
        case Convert(operand):
            return _infer(operand, binding)
        case Choose():
            return _infer(found, binding) or binding.get("T")
        case _:
            return _infer(found, binding)


def _infer(pattern: Pattern, binding: Binding) -> DataType | None:
    found = cast("AnyPattern", pattern)
    match found:
        case Hole(_, dtype, _) | Convert(_, dtype, _):
            return _lookup(dtype, binding)
        case Number():
            return None
        case Special(_, _, dtype):
            return dtype
        case Apply(op, operands):
            if op.row.result is Result.BOOL:
                return DataType.BOOL
            return next((t for operand in operands if (t := _infer(operand, binding))), None)
        case Choose(_, if_true, if_false):
            return _infer(if_true, binding) or _infer(if_false, binding)
        case Fused(a, b, c):
            return next((t for arg in (a, b, c) if (t := _infer(arg, binding))), None)
    assert_never(found)


def _lookup(dtype: TypeName, binding: Binding) -> DataType:
    if isinstance(dtype, DataType):
        return dtype
    if dtype not in binding:
        raise UnknownTypeError(f"the type variable {dtype} is not bound")
    return binding[dtype]


def _known(expected: DataType | None, pattern: Pattern) -> DataType:
    if expected is None:
        raise UnknownTypeError(f"nothing says which type {pattern} has")
    return expected
