"""The type of an expression. One function per question, and the opcode table decides.

`node_type` answers for one node whose operands' types are known: the checker calls it to find
every mistake. `type_of` answers for a whole expression of a program that is known to be sound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from vyre.diagnostics import CheckError, Diagnostic
from vyre.diagnostics.codes import typing as codes
from vyre.ir.buffer import BufferDecl
from vyre.ir.expr import (
    AnyExpr,
    Atomic,
    Ballot,
    Binary,
    Bitcast,
    BufLen,
    Builtin,
    Cast,
    Fma,
    Lane,
    Lit,
    Load,
    MakeVec,
    Select,
    Shuffle,
    SubgroupReduce,
    Unary,
    Var,
)
from vyre.ir.opcodes import AtomicOp, BinOp, ReduceOp, Result, Row, UnOp
from vyre.ir.types import ARITHMETIC_FLOATS, DataType
from vyre.ir.walk import expr_children
from vyre.record import dataclass

Answer = DataType | Diagnostic
"""A type, or what is wrong."""


@dataclass(frozen=True, slots=True)
class TypeEnv:
    """What names stand for at one place in a program."""

    buffers: Mapping[str, BufferDecl]
    variables: Mapping[str, DataType]


def type_of(expr: AnyExpr, env: TypeEnv) -> DataType:
    """The type of `expr`; a `CheckError` if it has none."""
    match expr:
        case Lit(dtype) | Cast(_, dtype) | Bitcast(_, dtype) | MakeVec(dtype):
            return dtype
        case Builtin() | BufLen():
            return DataType.U32
        case Var(name) if name in env.variables:
            return env.variables[name]
        case _:
            operands = [type_of(child, env) for child in expr_children(expr)]
            answer = node_type(expr, operands, env)
            if isinstance(answer, Diagnostic):
                raise CheckError(answer)
            return answer


def node_type(expr: AnyExpr, operands: Sequence[DataType], env: TypeEnv) -> Answer:  # noqa: C901
    """The type of a node whose operands have these types, or what is wrong with it."""
    match expr:
        case Lit(dtype):
            return dtype
        case Var(name):
            return _variable(name, env)
        case Load(buffer):
            return _load(buffer, operands[0], env)
        case BufLen(buffer):
            known = _buffer(buffer, env)
            return known if isinstance(known, Diagnostic) else DataType.U32
        case Builtin():
            return DataType.U32
        case Unary(op):
            return unary_type(op, operands[0])
        case Binary(op):
            return binary_type(op, operands[0], operands[1])
        case Fma():
            return _fma(operands)
        case Select():
            return _select(operands)
        case Cast(_, dtype):
            return cast_type(operands[0], dtype)
        case Bitcast(_, dtype):
            return bitcast_type(operands[0], dtype)
        case MakeVec(dtype):
            return _make_vec(dtype, operands)
        case Lane(_, index):
            return _lane(operands[0], index)
        case Atomic(op, buffer, _, _, expected):
            return _atomic(op, buffer, operands, expected is not None, env)
        case Ballot():
            return _bool(operands[0], "a ballot") or DataType.VEC4_U32
        case Shuffle():
            return _shuffle(operands)
        case SubgroupReduce(op):
            return reduce_type(op, operands[0])
    assert_never(expr)


def unary_type(op: UnOp, operand: DataType) -> Answer:
    """What an opcode of one operand gives."""
    return _by_row(op.row, operand)


def binary_type(op: BinOp, left: DataType, right: DataType) -> Answer:
    """What an opcode of two operands gives."""
    if left is not right:
        return codes.OPERANDS_DIFFER.at(op=op.row.spelling, left=left, right=right)
    return _by_row(op.row, left)


def reduce_type(op: ReduceOp, operand: DataType) -> Answer:
    """What joining values gives."""
    return _by_row(op.row, operand)


def cast_type(found: DataType, target: DataType) -> Answer:
    """What a conversion by value gives."""
    if found.is_scalar and target.is_scalar:
        return target
    return codes.CAST_TYPE.at(found=found, target=target)


def bitcast_type(found: DataType, target: DataType) -> Answer:
    """What reading the same bits as another type gives."""
    numeric = all(t.is_integer or t.is_float for t in (found, target))
    if not numeric:
        return codes.CAST_TYPE.at(found=found, target=target)
    if found.bits != target.bits:
        return codes.BITCAST_WIDTH.at(
            found=found, target=target, from_bits=found.bits, to_bits=target.bits
        )
    return target


def _by_row(row: Row, operand: DataType) -> Answer:
    if operand not in row.operands:
        return codes.OPERAND_TYPE.at(
            op=row.spelling, found=operand, hint=_operand_hint(row, operand)
        )
    return DataType.BOOL if row.result is Result.BOOL else operand


def _operand_hint(row: Row, operand: DataType) -> str:
    if operand is DataType.BF16:
        return "bf16 is for storage: convert to f32, compute, and convert back"
    if operand.is_vector:
        return "take the lanes apart with lane(v, i)"
    return "it works on " + ", ".join(sorted(str(t) for t in row.operands)) + ": convert first"


def _variable(name: str, env: TypeEnv) -> Answer:
    found = env.variables.get(name)
    if found is not None:
        return found
    close = _closest(name, env.variables)
    return codes.UNKNOWN_VARIABLE.at(
        name=name, suggestion=f"; did you mean {close!r}?" if close else ""
    )


def _buffer(name: str, env: TypeEnv) -> BufferDecl | Diagnostic:
    found = env.buffers.get(name)
    if found is not None:
        return found
    known = ", ".join(list(env.buffers)[:8]) or "none is declared"
    return codes.UNKNOWN_BUFFER.at(name=name, known=known)


def _load(buffer: str, index: DataType, env: TypeEnv) -> Answer:
    decl = _buffer(buffer, env)
    if isinstance(decl, Diagnostic):
        return decl
    if not index.is_integer:
        return codes.INDEX_TYPE.at(what=f"the index of {buffer}", found=index)
    if not decl.value_type.is_value:
        return codes.NO_VALUE.at(found=decl.element)
    return decl.value_type


def _fma(operands: Sequence[DataType]) -> Answer:
    a, b, c = operands
    for other in (b, c):
        if other is not a:
            return codes.OPERANDS_DIFFER.at(op="fma", left=a, right=other)
    if a not in ARITHMETIC_FLOATS:
        return codes.OPERAND_TYPE.at(op="fma", found=a, hint="it works on f16, f32 and f64")
    return a


def _select(operands: Sequence[DataType]) -> Answer:
    cond, if_true, if_false = operands
    if wrong := _bool(cond, "the condition of a select"):
        return wrong
    if if_true is not if_false:
        return codes.ARMS_DIFFER.at(left=if_true, right=if_false)
    return if_true


def _make_vec(dtype: DataType, operands: Sequence[DataType]) -> Answer:
    fits = dtype.is_vector and len(operands) == dtype.lanes
    if fits and all(operand is dtype.element for operand in operands):
        return dtype
    return codes.VECTOR_LANES.at(
        target=dtype,
        expected=f"{dtype.lanes} lanes of {dtype.element}",
        found=", ".join(map(str, operands)),
    )


def _lane(operand: DataType, index: int) -> Answer:
    if operand.is_vector and operand.element is not None and 0 <= index < operand.lanes:
        return operand.element
    return codes.LANE_OF_SCALAR.at(found=operand, index=index)


def _atomic(
    op: AtomicOp, buffer: str, operands: Sequence[DataType], has_expected: bool, env: TypeEnv
) -> Answer:
    decl = _buffer(buffer, env)
    if isinstance(decl, Diagnostic):
        return decl
    index, *values = operands
    if not index.is_integer:
        return codes.INDEX_TYPE.at(what=f"the index of {buffer}", found=index)
    if decl.element not in op.row.operands:
        return codes.ATOMIC_TYPE.at(op=op.row.spelling, found=decl.element)
    if has_expected != (op is AtomicOp.COMPARE_EXCHANGE):
        problem = "takes no expected value" if has_expected else "needs an expected value"
        return codes.ATOMIC_EXPECTED.at(op=op.row.spelling, problem=problem)
    for value in values:
        if value is not decl.element:
            return codes.VALUE_TYPE.at(
                what=f"{op.row.spelling} on {buffer}", expected=decl.element, found=value
            )
    return decl.element


def _shuffle(operands: Sequence[DataType]) -> Answer:
    value, lane = operands
    if not lane.is_integer:
        return codes.INDEX_TYPE.at(what="the lane of a shuffle", found=lane)
    if not value.is_scalar:
        return codes.OPERAND_TYPE.at(
            op="shuffle", found=value, hint="shuffle the lanes of a vector one by one"
        )
    return value


def _bool(found: DataType, what: str) -> Diagnostic | None:
    return None if found.is_bool else not_bool(found, what)


def not_bool(found: DataType, what: str) -> Diagnostic:
    """The problem that a value is no truth value."""
    example = f"it with something, for example x != 0{found}"
    if not found.is_scalar:
        example = "one of its parts with something"
    return codes.NOT_BOOL.at(what=what, found=found, example=example)


def _closest(name: str, known: Mapping[str, object]) -> str | None:
    # Suggestions are for small scopes; on large ones looking would cost more than it helps.
    if len(known) > 64:
        return None
    from difflib import get_close_matches

    found = get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else None
