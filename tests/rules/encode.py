"""Terms as formulas of an SMT solver: what every opcode means, said a second time.

Integers are bit vectors, truth values are booleans. Floats are IEEE numbers of the solver, which
knows one NaN only; where an opcode looks at the sign or the bits of a NaN, they are bit vectors
that are read as numbers when an opcode computes with them. `test_encode.py` compares this with
`vyre.semantics`, opcode by opcode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import z3

from vyre.ir import BinOp, DataType, UnOp, literal
from vyre.rewrite.term import Term, TermKind

Formula = Any
Env = Mapping[str, Formula]

_SORTS = {
    DataType.F16: (5, 11),
    DataType.BF16: (8, 8),
    DataType.F32: (8, 24),
    DataType.F64: (11, 53),
}
_MODES = {
    UnOp.FLOOR: z3.RTN,
    UnOp.CEIL: z3.RTP,
    UnOp.TRUNC: z3.RTZ,
    UnOp.ROUND: z3.RNA,
    UnOp.ROUND_EVEN: z3.RNE,
}


def width(dtype: DataType) -> int:
    assert dtype.bits is not None
    return dtype.bits


def sort(dtype: DataType) -> z3.FPSortRef:
    return z3.FPSort(*_SORTS[dtype])


def looks_at_bits(term: Term) -> bool:
    """Whether the sign or the bits of a NaN could be seen."""
    seen = term.op is BinOp.COPYSIGN or (
        term.kind is TermKind.BITCAST and (term.dtype.is_float or term.operand_type.is_float)
    )
    return seen or any(map(looks_at_bits, term.args))


@dataclass(frozen=True, slots=True)
class Encoder:
    """Makes formulas, with floats as numbers or as bits."""

    floats_as_bits: bool = False

    def variable(self, name: str, dtype: DataType) -> Formula:
        if dtype.is_bool:
            return z3.Bool(name)
        if dtype.is_float and not self.floats_as_bits:
            return z3.FP(name, sort(dtype))
        return z3.BitVec(name, width(dtype))

    def literal(self, dtype: DataType, bits: int) -> Formula:
        if dtype.is_bool:
            return z3.BoolVal(bool(bits))
        value = z3.BitVecVal(bits, width(dtype))
        as_number = dtype.is_float and not self.floats_as_bits
        return z3.simplify(z3.fpBVToFP(value, sort(dtype))) if as_number else value

    def term(self, term: Term, env: Env) -> Formula:
        if term.kind is TermKind.HOLE:
            return env[term.name]
        if term.kind is TermKind.LITERAL:
            return self.literal(term.dtype, term.bits)
        args = [self.term(arg, env) for arg in term.args]
        match term.kind:
            case TermKind.UNARY:
                assert isinstance(term.op, UnOp)
                return self.unary(term.op, term.operand_type, args[0])
            case TermKind.BINARY:
                assert isinstance(term.op, BinOp)
                return self.binary(term.op, term.operand_type, args[0], args[1])
            case TermKind.SELECT:
                return z3.If(*args)
            case TermKind.FMA:
                a, b, c = (self.number(term.dtype, arg) for arg in args)
                return self.held(z3.fpFMA(z3.RNE(), a, b, c))
            case TermKind.CAST:
                return self.cast(term.operand_type, term.dtype, args[0])
            case _:
                return args[0]

    def equal(self, dtype: DataType, left: Formula, right: Formula) -> Formula:
        """Whether two results are the same; any NaN is the same as any other."""
        if not (dtype.is_float and self.floats_as_bits):
            return left == right
        nan = z3.And(self.is_nan(dtype, left), self.is_nan(dtype, right))
        return z3.Or(left == right, nan)

    def number(self, dtype: DataType, value: Formula) -> Formula:
        return z3.fpBVToFP(value, sort(dtype)) if self.floats_as_bits else value

    def held(self, number: Formula) -> Formula:
        return z3.fpToIEEEBV(number) if self.floats_as_bits else number

    def is_nan(self, dtype: DataType, value: Formula) -> Formula:
        return z3.fpIsNaN(self.number(dtype, value))

    def unary(self, op: UnOp, dtype: DataType, a: Formula) -> Formula:
        if dtype.is_bool:
            assert op is UnOp.NOT
            return z3.Not(a)
        return self._float_unary(op, dtype, a) if dtype.is_float else _integer_unary(op, dtype, a)

    def binary(self, op: BinOp, dtype: DataType, a: Formula, b: Formula) -> Formula:
        if dtype.is_bool:
            return _bool_binary(op, a, b)
        if dtype.is_float:
            return self._float_binary(op, dtype, a, b)
        return _integer_binary(op, dtype, a, b)

    def _float_unary(self, op: UnOp, dtype: DataType, a: Formula) -> Formula:
        value = self.number(dtype, a)
        match op:
            case UnOp.NEG:
                return a ^ _sign_bit(dtype) if self.floats_as_bits else z3.fpNeg(a)
            case UnOp.ABS:
                return a & ~_sign_bit(dtype) if self.floats_as_bits else z3.fpAbs(a)
            case UnOp.IS_NAN:
                return z3.fpIsNaN(value)
            case UnOp.IS_INF:
                return z3.fpIsInf(value)
            case UnOp.IS_FINITE:
                return z3.Not(z3.Or(z3.fpIsNaN(value), z3.fpIsInf(value)))
            case UnOp.SQRT:
                return self.held(z3.fpSqrt(z3.RNE(), value))
            case _:
                return self.held(z3.fpRoundToIntegral(_MODES[op](), value))

    def _float_binary(  # noqa: C901
        self, op: BinOp, dtype: DataType, a: Formula, b: Formula
    ) -> Formula:
        x, y = self.number(dtype, a), self.number(dtype, b)
        match op:
            case BinOp.ADD:
                return self.held(z3.fpAdd(z3.RNE(), x, y))
            case BinOp.SUB:
                return self.held(z3.fpSub(z3.RNE(), x, y))
            case BinOp.MUL:
                return self.held(z3.fpMul(z3.RNE(), x, y))
            case BinOp.DIV:
                return self.held(z3.fpDiv(z3.RNE(), x, y))
            case BinOp.MIN:
                zero = z3.If(z3.fpIsNegative(x), a, b)
                lesser = z3.If(z3.fpEQ(x, y), zero, z3.If(z3.fpLT(x, y), a, b))
                return z3.If(z3.fpIsNaN(x), b, z3.If(z3.fpIsNaN(y), a, lesser))
            case BinOp.MAX:
                zero = z3.If(z3.fpIsNegative(x), b, a)
                greater = z3.If(z3.fpEQ(x, y), zero, z3.If(z3.fpGT(x, y), a, b))
                return z3.If(z3.fpIsNaN(x), b, z3.If(z3.fpIsNaN(y), a, greater))
            case BinOp.MINIMUM:
                zero = z3.If(z3.fpIsNegative(x), a, b)
                lesser = z3.If(z3.fpEQ(x, y), zero, z3.If(z3.fpLT(x, y), a, b))
                return z3.If(z3.fpIsNaN(x), a, z3.If(z3.fpIsNaN(y), b, lesser))
            case BinOp.MAXIMUM:
                zero = z3.If(z3.fpIsNegative(x), b, a)
                greater = z3.If(z3.fpEQ(x, y), zero, z3.If(z3.fpGT(x, y), a, b))
                return z3.If(z3.fpIsNaN(x), a, z3.If(z3.fpIsNaN(y), b, greater))
            case BinOp.COPYSIGN:
                assert self.floats_as_bits
                return (a & ~_sign_bit(dtype)) | (b & _sign_bit(dtype))
            case BinOp.EQ:
                return z3.fpEQ(x, y)
            case BinOp.NE:
                return z3.Not(z3.fpEQ(x, y))
            case BinOp.LT:
                return z3.fpLT(x, y)
            case BinOp.LE:
                return z3.fpLEQ(x, y)
            case BinOp.GT:
                return z3.fpGT(x, y)
            case BinOp.GE:
                return z3.fpGEQ(x, y)
            case _:
                raise NotImplementedError(op)

    def cast(self, source: DataType, target: DataType, a: Formula) -> Formula:
        if source is target:
            return a
        if target.is_bool:
            return z3.Not(z3.fpIsZero(self.number(source, a))) if source.is_float else a != 0
        if source.is_bool:
            one = literal.encode(1.0 if target.is_float else 1, target)
            return z3.If(a, self.literal(target, one), self.literal(target, 0))
        if source.is_float and target.is_float:
            return self.held(z3.fpFPToFP(z3.RNE(), self.number(source, a), sort(target)))
        if target.is_float:
            convert = z3.fpSignedToFP if source.is_signed else z3.fpUnsignedToFP
            return self.held(convert(z3.RNE(), a, sort(target)))
        if source.is_float:
            return self._float_to_integer(source, target, a)
        grow = width(target) - width(source)
        if grow > 0:
            return z3.SignExt(grow, a) if source.is_signed else z3.ZeroExt(grow, a)
        return z3.Extract(width(target) - 1, 0, a) if grow else a

    def _float_to_integer(self, source: DataType, target: DataType, a: Formula) -> Formula:
        low, high = target.integer_range
        size, wide = width(target), sort(DataType.F64)
        value = self.number(source, a)
        if source is not DataType.F64:
            value = z3.fpFPToFP(z3.RNE(), value, wide)
        # Just outside the ends in f64, where they are exact or truncate to the same side.
        convert = z3.fpToSBV if target.is_signed else z3.fpToUBV
        below = z3.fpLEQ(value, z3.FPVal(float(low - 1) if size <= 32 else float(low), wide))
        above = z3.fpGEQ(value, z3.FPVal(float(high + 1), wide))
        inside = convert(z3.RTZ(), value, z3.BitVecSort(size))
        held = z3.If(above, z3.BitVecVal(high, size), inside)
        held = z3.If(below, z3.BitVecVal(low, size), held)
        return z3.If(z3.fpIsNaN(value), z3.BitVecVal(0, size), held)


def _sign_bit(dtype: DataType) -> Formula:
    return z3.BitVecVal(1 << (width(dtype) - 1), width(dtype))


def _integer_unary(op: UnOp, dtype: DataType, a: Formula) -> Formula:
    size = width(dtype)
    bit = [z3.Extract(i, i, a) for i in range(size)]
    match op:
        case UnOp.NEG:
            return -a
        case UnOp.NOT:
            return ~a
        case UnOp.ABS:
            return z3.If(a < 0, -a, a) if dtype.is_signed else a
        case UnOp.POPCOUNT:
            return sum((z3.ZeroExt(size - 1, b) for b in bit), start=z3.BitVecVal(0, size))
        case UnOp.CLZ:
            return _first(reversed(bit), size)
        case UnOp.CTZ:
            return _first(bit, size)
        case UnOp.REVERSE_BITS:
            return z3.Concat(*bit)
        case UnOp.BYTE_SWAP:
            parts = [z3.Extract(i + 7, i, a) for i in range(0, size, 8)]
            return z3.Concat(*parts) if len(parts) > 1 else a
        case _:
            raise NotImplementedError(op)


def _first(bits: Any, size: int) -> Formula:
    found = z3.BitVecVal(size, size)
    for i, bit in reversed(list(enumerate(bits))):
        found = z3.If(bit == 1, z3.BitVecVal(i, size), found)
    return found


def _bool_binary(op: BinOp, a: Formula, b: Formula) -> Formula:
    match op:
        case BinOp.AND:
            return z3.And(a, b)
        case BinOp.OR:
            return z3.Or(a, b)
        case BinOp.XOR | BinOp.NE:
            return z3.Xor(a, b)
        case BinOp.EQ:
            return a == b
        case _:
            raise NotImplementedError(op)


def _integer_binary(  # noqa: C901
    op: BinOp, dtype: DataType, a: Formula, b: Formula
) -> Formula:
    size, signed = width(dtype), dtype.is_signed
    zero, ones = z3.BitVecVal(0, size), z3.BitVecVal(-1, size)
    amount = b & (size - 1)
    less = a < b if signed else z3.ULT(a, b)
    match op:
        case BinOp.ADD:
            return a + b
        case BinOp.SUB:
            return a - b
        case BinOp.MUL:
            return a * b
        case BinOp.DIV:
            return z3.If(b == zero, ones, a / b if signed else z3.UDiv(a, b))
        case BinOp.REM:
            return z3.If(b == zero, zero, z3.SRem(a, b) if signed else z3.URem(a, b))
        case BinOp.AND:
            return a & b
        case BinOp.OR:
            return a | b
        case BinOp.XOR:
            return a ^ b
        case BinOp.SHL:
            return a << amount
        case BinOp.SHR:
            return a >> amount if signed else z3.LShR(a, amount)
        case BinOp.ROTL:
            return (a << amount) | z3.LShR(a, -amount & (size - 1))
        case BinOp.ROTR:
            return z3.LShR(a, amount) | (a << (-amount & (size - 1)))
        case BinOp.MIN:
            return z3.If(less, a, b)
        case BinOp.MAX:
            return z3.If(less, b, a)
        case BinOp.EQ:
            return a == b
        case BinOp.NE:
            return a != b
        case BinOp.LT:
            return less
        case BinOp.LE:
            return a <= b if signed else z3.ULE(a, b)
        case BinOp.GT:
            return a > b if signed else z3.UGT(a, b)
        case BinOp.GE:
            return a >= b if signed else z3.UGE(a, b)
        case BinOp.ADD_SAT | BinOp.SUB_SAT:
            return _saturating(op, dtype, a, b)
        case BinOp.MUL_HI:
            extend = z3.SignExt if signed else z3.ZeroExt
            return z3.Extract(2 * size - 1, size, extend(size, a) * extend(size, b))
        case _:
            raise NotImplementedError(op)


def _saturating(op: BinOp, dtype: DataType, a: Formula, b: Formula) -> Formula:
    size = width(dtype)
    extend = z3.SignExt if dtype.is_signed else z3.ZeroExt
    low, high = dtype.integer_range
    wide_a, wide_b = extend(2, a), extend(2, b)
    exact = wide_a + wide_b if op is BinOp.ADD_SAT else wide_a - wide_b
    least, most = z3.BitVecVal(low, size + 2), z3.BitVecVal(high, size + 2)
    held = z3.If(exact < least, least, z3.If(exact > most, most, exact))
    return z3.Extract(size - 1, 0, held)
