"""Conversions. A chain of them is shortened where no step in between lost anything that counts."""

from __future__ import annotations

from collections.abc import Iterator

from vyre.ir.types import INTEGER_TYPES, SCALAR_TYPES, DataType
from vyre.rewrite.pattern import ALL_ONES, FALSE, bitcast, c, cast, p, s, x
from vyre.rewrite.rule import Rule
from vyre.rewrite.term import Binding

_INTS = INTEGER_TYPES
_F16, _BF16, _F32, _F64 = DataType.F16, DataType.BF16, DataType.F32, DataType.F64
_NUMBERS = (*_INTS, _F16, _BF16, _F32, _F64)


def _bits(dtype: DataType) -> int:
    return dtype.bits or 0


def _chains() -> Iterator[Binding]:
    """Integers S -> T -> U where going from S to U directly gives the same."""
    for source in _INTS:
        for between in _INTS:
            for target in _INTS:
                cut = _bits(target) <= _bits(between)
                widened = _bits(between) > _bits(source) and (
                    not source.is_signed or between.is_signed
                )
                resigned = _bits(between) == _bits(source) and between.is_signed is source.is_signed
                if cut or widened or resigned:
                    yield {"S": source, "T": between, "U": target}


def _round_trips() -> Iterator[Binding]:
    """S -> T -> S where T holds every value of S."""
    for source, between in ((_F16, _F32), (_F16, _F64), (_F32, _F64), (_BF16, _F32), (_BF16, _F64)):
        yield {"S": source, "T": between}
    for source in _INTS:
        for between, digits in ((_F16, 11), (_F32, 24), (_F64, 53)):
            if _bits(source) - source.is_signed <= digits:
                yield {"S": source, "T": between}


def _narrowings() -> Iterator[Binding]:
    for source in _INTS:
        for target in _INTS:
            if _bits(target) < _bits(source):
                yield {"T": source, "U": target}


def _zero_extensions() -> Iterator[Binding]:
    for source in _INTS:
        for target in _INTS:
            if not source.is_signed and _bits(target) > _bits(source):
                yield {"S": source, "T": target}


def _same_width() -> Iterator[Binding]:
    for source in _NUMBERS:
        for target in _NUMBERS:
            if _bits(source) == _bits(target):
                yield {"S": source, "T": target}


_WIDER_FLOATS = (
    {"S": _F16, "T": _F32, "U": _F64},
    {"S": _BF16, "T": _F32, "U": _F64},
)
_RESIGNED = tuple(b for b in _same_width() if b["S"].is_integer and b["T"].is_integer)
_EXTENDED = tuple(_zero_extensions())
_NARROWED = tuple(_narrowings())

RULES = (
    Rule("cast_same", cast(x, "T"), x, SCALAR_TYPES),
    Rule("bitcast_same", bitcast(x, "T"), x, _NUMBERS),
    Rule("cast_chain", cast(cast(s, "T"), "U"), cast(s, "U"), tuple(_chains())),
    Rule("cast_round_trip", cast(cast(s, "T"), "S"), s, tuple(_round_trips())),
    Rule("cast_wider_floats", cast(cast(s, "T"), "U"), cast(s, "U"), _WIDER_FLOATS),
    Rule("bitcast_back", bitcast(bitcast(s, "T"), "S"), s, tuple(_same_width())),
    Rule("bitcast_integers", bitcast(s, "T"), cast(s, "T"), _RESIGNED),
    Rule("bool_round_trip", cast(cast(p, "T"), DataType.BOOL), p, _NUMBERS),
    Rule("int_to_bool", cast(x, DataType.BOOL), x.ne(0), _INTS),
    Rule("float_to_bool", cast(x, DataType.BOOL), x.ne(0.0), (_F16, _BF16, _F32, _F64)),
    Rule(
        "narrow_masked",
        cast(x & c, "U"),
        cast(x, "U"),
        _NARROWED,
        when=cast(c, "U").eq(ALL_ONES),
    ),
    Rule("narrow_or", cast(x | c, "U"), cast(x, "U"), _NARROWED, when=cast(c, "U").eq(0)),
    Rule(
        "mask_extended",
        cast(s, "T") & c,
        cast(s, "T"),
        _EXTENDED,
        when=cast(c, "S").eq(ALL_ONES),
    ),
    Rule("extended_is_zero", cast(s, "T").eq(0), s.eq(0), _EXTENDED),
    Rule("extended_is_not_zero", cast(s, "T").ne(0), s.ne(0), _EXTENDED),
    Rule(
        "extended_never_eq",
        cast(s, "T").eq(c),
        FALSE,
        _EXTENDED,
        when=cast(cast(c, "S"), "T").ne(c),
    ),
)
