"""Patterns with every type known: what the matcher matches and the prover proves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple, assert_never, cast

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


class Term(NamedTuple):
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
    row = op.row
    same = row.result is Result.OPERAND
    name = _first_name(operands)
    dtype = None if name is None else _lookup(name, binding)
    if dtype is None and same:
        dtype = expected
    args = tuple([typed(operand, binding, dtype) for operand in operands])
    if args[-1].dtype is not args[0].dtype:
        raise UnknownTypeError(f"the operands of {row.spelling} differ in type")
    if args[0].dtype not in row.operands:
        raise UnknownTypeError(f"{row.spelling} does not work on {args[0].dtype}")
    kind = TermKind.UNARY if isinstance(op, UnOp) else TermKind.BINARY
    return Term(kind, args[0].dtype if same else DataType.BOOL, args, op)


def operand_type_name(pattern: Pattern) -> TypeName | None:
    """The type of the operands at the root of a pattern, as `Term.operand_type` gives it."""
    found = cast("AnyPattern", pattern)
    match found:
        case Apply(_, operands):
            return _first_name(operands)
        case Convert(operand):
            return _type_name(operand)
        case Choose():
            return _type_name(found) or "T"
        case _:
            return _type_name(found)


def _infer(pattern: Pattern, binding: Binding) -> DataType | None:
    name = _type_name(pattern)
    return None if name is None else _lookup(name, binding)


def _type_name(pattern: Pattern) -> TypeName | None:
    """The type of a pattern, or the type variable that stands for it; None for a number."""
    found = cast("AnyPattern", pattern)
    match found:
        case Hole(_, dtype, _) | Convert(_, dtype, _):
            return dtype
        case Number():
            return None
        case Special(_, _, dtype):
            return dtype
        case Apply(op, operands):
            return DataType.BOOL if op.row.result is Result.BOOL else _first_name(operands)
        case Choose(_, if_true, if_false):
            return _first_name((if_true, if_false))
        case Fused(a, b, c):
            return _first_name((a, b, c))
    assert_never(found)


def _first_name(patterns: tuple[Pattern, ...]) -> TypeName | None:
    for pattern in patterns:
        name = _type_name(pattern)
        if name is not None:
            return name
    return None


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
