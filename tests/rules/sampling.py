"""Rules tried on values, with the semantics that the reference executes."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from vyre import semantics
from vyre.ir import BinOp, DataType, UnOp
from vyre.rewrite.term import Term, TermKind
from vyre.semantics import Array

_MOST_EXHAUSTIVE = 1 << 17
_SAMPLES = 1 << 12


def evaluate(term: Term, env: dict[str, Array]) -> Array:
    """The values of a term."""
    args = [evaluate(arg, env) for arg in term.args]
    match term.kind:
        case TermKind.HOLE:
            return env[term.name]
        case TermKind.LITERAL:
            return semantics.literal(term.dtype, term.bits)
        case TermKind.UNARY:
            assert isinstance(term.op, UnOp)
            return semantics.unary_function(term.op, term.operand_type)(*args)
        case TermKind.BINARY:
            assert isinstance(term.op, BinOp)
            args = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*args)]
            return semantics.binary_function(term.op, term.operand_type)(*args)
        case TermKind.SELECT:
            return np.where(*args)
        case TermKind.FMA:
            args = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*args)]
            return semantics.fma(*args)
        case TermKind.CAST:
            return semantics.cast_function(term.operand_type, term.dtype)(args[0])
        case TermKind.BITCAST:
            return semantics.bitcast_function(term.operand_type, term.dtype)(args[0])


def counterexample(left: Term, right: Term, when: Term | None) -> str | None:
    """Values for which the sides differ while the guard holds, if any are found."""
    holes = {hole.name: hole.dtype for hole in left.holes()}
    bits = _inputs(tuple(holes.values()))
    env = {
        name: semantics.from_bits(dtype, column)
        for (name, dtype), column in zip(holes.items(), bits, strict=True)
    }
    with np.errstate(all="ignore"):
        a, b = np.broadcast_arrays(evaluate(left, env), evaluate(right, env), *env.values())[:2]
        wrong = ~_same(left.dtype, a, b)
        if when is not None:
            wrong &= evaluate(when, env)
    if not wrong.any():
        return None
    at = int(np.argmax(wrong))
    values = ", ".join(f"{name} = {column[at]!r}" for name, column in env.items())
    return f"{values}: {a[at]!r} is not {b[at]!r}"


def is_exhaustive(term: Term) -> bool:
    """Whether the values tried are all there are."""
    holes = {hole.name: hole.dtype for hole in term.holes()}
    return _combinations(tuple(holes.values())) <= _MOST_EXHAUSTIVE


def spoilt(term: Term) -> Term:
    """A term that gives something else than `term` for every value."""
    if term.dtype.is_bool:
        return Term(TermKind.UNARY, term.dtype, (term,), UnOp.NOT)
    if term.dtype.is_float:
        one = Term(TermKind.LITERAL, term.dtype, bits=_one(term.dtype))
        if term.dtype is DataType.BF16:
            return one
        return Term(TermKind.BINARY, term.dtype, (term, one), BinOp.ADD)
    one = Term(TermKind.LITERAL, term.dtype, bits=1)
    return Term(TermKind.BINARY, term.dtype, (term, one), BinOp.XOR)


def _one(dtype: DataType) -> int:
    from vyre.ir import literal

    return literal.encode_float(1.0, dtype)


def _same(dtype: DataType, a: Array, b: Array) -> Array:
    same = semantics.to_bits(dtype, np.ascontiguousarray(a)) == semantics.to_bits(
        dtype, np.ascontiguousarray(b)
    )
    if dtype.is_float:
        same |= np.isnan(a) & np.isnan(b)
    return same


def _combinations(dtypes: tuple[DataType, ...]) -> int:
    total = 1
    for dtype in dtypes:
        total *= 2 if dtype.is_bool else 1 << (dtype.bits or 0)
    return total


@cache
def _inputs(dtypes: tuple[DataType, ...]) -> list[Array]:
    """Bits for every operand: all combinations when they are few, else edges and random ones."""
    if _combinations(dtypes) <= _MOST_EXHAUSTIVE:
        columns = [_all_of(dtype) for dtype in dtypes]
        return [c.ravel() for c in np.meshgrid(*columns, indexing="ij")]
    rows = 20_000
    per = max(4, int(rows ** (1 / len(dtypes))))
    edges = [_edges(dtype)[:per] for dtype in dtypes]
    grid = [c.ravel() for c in np.meshgrid(*edges, indexing="ij")]
    random = np.random.default_rng(7)
    return [
        np.concatenate((column, _random(random, dtype)))
        for column, dtype in zip(grid, dtypes, strict=True)
    ]


def _container(dtype: DataType) -> type[np.unsignedinteger]:
    bits = 8 if dtype.is_bool else dtype.bits or 0
    return {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]


def _all_of(dtype: DataType) -> Array:
    last = 2 if dtype.is_bool else 1 << (dtype.bits or 0)
    return np.arange(last, dtype=np.uint32).astype(_container(dtype))


def _random(random: np.random.Generator, dtype: DataType) -> Array:
    if dtype.is_bool:
        return random.integers(0, 2, _SAMPLES).astype(np.uint8)
    top = 1 << (dtype.bits or 0)
    values = (
        random.integers(0, top, _SAMPLES, dtype=np.uint64, endpoint=False)
        if top < 1 << 64
        else (random.integers(0, top - 1, _SAMPLES, dtype=np.uint64, endpoint=True))
    )
    # Small numbers meet each other and the literals of guards far more often than large ones do.
    few = random.integers(0, 2, _SAMPLES).astype(bool)
    small = random.integers(0, 70, _SAMPLES).astype(np.uint64)
    return np.where(few, small, values).astype(_container(dtype))


def _edges(dtype: DataType) -> Array:
    bits = dtype.bits or 0
    if dtype.is_bool:
        return np.array([0, 1], np.uint8)
    top = 1 << bits
    if dtype.is_float:
        numbers = _float_edges(dtype)
    else:
        numbers = [0, 1, top - 1, top // 2, top // 2 - 1, 2, top - 2, bits - 1, bits, bits + 1, 3]
        numbers += [top // 2 + 1, 4, 5, 7, top - 3, 8, 16, 255 % top, 127]
        numbers += [1 << i for i in range(bits)]
        numbers += [(1 << i) - 1 for i in range(2, bits)]
    return np.array(list(dict.fromkeys(numbers)), dtype=np.uint64).astype(_container(dtype))


def _float_edges(dtype: DataType) -> list[int]:
    exponent = {DataType.F16: 5, DataType.BF16: 8, DataType.F32: 8, DataType.F64: 11}[dtype]
    digits = (dtype.bits or 0) - 1 - exponent
    infinity = ((1 << exponent) - 1) << digits
    one = ((1 << (exponent - 1)) - 1) << digits
    half, two = one - (1 << digits), one + (1 << digits)
    whole = two + (digits - 2 << digits)
    positive = [0, infinity, one, infinity | 1 << (digits - 1), infinity - 1, 1, half, two]
    positive += [one + 1, one - 1, 1 << digits, (1 << digits) - 1, whole, whole + 1, half + 1]
    positive += [two + (1 << (digits - 1)), one + (1 << (digits - 1)), infinity - (1 << digits)]
    sign = 1 << ((dtype.bits or 0) - 1)
    return [bits | s for bits, s in product(positive, (0, sign))]
