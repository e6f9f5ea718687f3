"""Proves one rule for one choice of types, or finds values for which it is wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import z3

from tests.rules import real, sampling
from tests.rules.encode import Encoder, Formula, looks_at_bits, width
from vyre.ir import DataType
from vyre.rewrite.rule import Rule
from vyre.rewrite.term import Binding, Term

TIMEOUT_MS = 4_000
"""For floats, and for guarded rules, which can be proved by cases; others wait for an answer."""
INTEGER_TIMEOUT_MS = 12_000


class Verdict(StrEnum):
    PROVED = "proved"
    EXHAUSTIVE = "exhaustive"
    """Every value of the operands was tried."""
    SAMPLED = "edges"
    """The solver gave no answer in time; edge values and random ones were tried."""
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Proof:
    rule: str
    types: str
    verdict: Verdict
    seconds: float
    witness: str = ""

    @property
    def good(self) -> bool:
        return self.verdict in (Verdict.PROVED, Verdict.EXHAUSTIVE, Verdict.SAMPLED)


def describe(binding: Binding) -> str:
    return " ".join(str(dtype) for dtype in binding.values())


def prove(rule: Rule, binding: Binding, timeout_ms: int | None = None) -> Proof:
    """Whether the rule holds for these types."""
    if timeout_ms is None:
        floats = any(dtype.is_float for dtype in binding.values())
        timeout_ms = TIMEOUT_MS if floats or rule.when is not None else INTEGER_TIMEOUT_MS
    return _judge(rule.name, binding, *rule.terms(binding), rule.fast_math, timeout_ms)


def _judge(
    name: str,
    binding: Binding,
    left: Term,
    right: Term,
    when: Term | None,
    fast_math: bool,
    timeout_ms: int,
) -> Proof:
    start = time.perf_counter()

    def proof(verdict: Verdict, witness: str = "") -> Proof:
        return Proof(name, describe(binding), verdict, time.perf_counter() - start, witness)

    # Values are cheap to try and find most mistakes at once; only what survives is proved.
    if not fast_math:
        wrong = sampling.counterexample(left, right, when)
        if wrong is not None:
            return proof(Verdict.REFUTED, wrong)
    if fast_math:
        found = _solve(real.refutation(left, right, when), timeout_ms)
    else:
        found = _solve(_refutation(left, right, when), timeout_ms)
    if isinstance(found, str):
        return proof(Verdict.REFUTED, found)
    if found:
        return proof(Verdict.PROVED)
    if fast_math:
        return proof(Verdict.UNKNOWN)
    if _proved_by_cases(left, right, when, timeout_ms):
        return proof(Verdict.PROVED)
    if not any(hole.dtype.is_float for hole in left.holes()):
        return proof(Verdict.UNKNOWN)
    return proof(Verdict.EXHAUSTIVE if sampling.is_exhaustive(left) else Verdict.SAMPLED)


def _solve(refutation: Formula, timeout_ms: int) -> bool | str:
    """True when nothing satisfies it, a witness when something does, False without an answer."""
    solver = z3.Solver()
    solver.set("timeout", timeout_ms)
    solver.add(refutation)
    found = solver.check()
    return str(solver.model()) if found == z3.sat else found == z3.unsat


def _refutation(
    left: Term, right: Term, when: Term | None, cases: dict[str, Any] | None = None
) -> Formula:
    """What would have to be true for the rule to be wrong; `cases` fixes some of the literals."""
    make = Encoder(looks_at_bits(left) or looks_at_bits(right))
    env = {hole.name: make.variable(hole.name, hole.dtype) for hole in left.holes()}
    env.update(cases or {})
    differ = z3.Not(make.equal(left.dtype, make.term(left, env), make.term(right, env)))
    return differ if when is None else z3.And(make.term(when, env), differ)


def _proved_by_cases(left: Term, right: Term, when: Term | None, timeout_ms: int) -> bool:
    """Whether the rule is proved for each case of an operand, the cases being all there are."""
    for hole in left.holes():
        name, dtype = hole.name, hole.dtype
        ways: list[list[Any]] = []
        if dtype.is_bool:
            ways = [[z3.BoolVal(True), z3.BoolVal(False)]]
        elif hole.constant and dtype.is_integer:
            ways = [_by_power(name, dtype, when), _by_amount(name, dtype)]
        for cases in ways:
            if cases and all(
                _solve(_refutation(left, right, when, {name: case}), timeout_ms) is True
                for case in cases
            ):
                return True
    return False


def _by_power(name: str, dtype: DataType, when: Term | None) -> list[Any]:
    """The powers of two, if the guard leaves nothing else for the literal to be."""
    if when is None:
        return []
    make = Encoder()
    env = {hole.name: make.variable(hole.name, hole.dtype) for hole in when.holes()}
    powers = [z3.BitVecVal(1 << i, width(dtype)) for i in range(width(dtype))]
    other = z3.And(make.term(when, env), *(env[name] != power for power in powers))
    return powers if name in env and _solve(other, 15 * TIMEOUT_MS) is True else []


def _by_amount(name: str, dtype: DataType) -> list[Any]:
    """The literal by its lowest bits, those that shifts look at; what is above them stays open."""
    size = width(dtype)
    low = size.bit_length() - 1
    above = z3.BitVec(f"{name}_above", size - low)
    return [z3.Concat(above, z3.BitVecVal(i, low)) for i in range(size)]


def guard_can_hold(rule: Rule, binding: Binding) -> bool:
    """Whether something satisfies the guard: a proof under a false one is worth nothing."""
    _, _, when = rule.terms(binding)
    if when is None:
        return True
    if rule.fast_math:
        return real.satisfiable(when)
    make = Encoder()
    env = {hole.name: make.variable(hole.name, hole.dtype) for hole in when.holes()}
    return isinstance(_solve(make.term(when, env), TIMEOUT_MS), str)


def without_guard(rule: Rule, binding: Binding) -> Proof:
    """The judgement on a copy of the rule without its guard: it must be refuted."""
    left, right, _ = rule.terms(binding)
    return _judge(rule.name, binding, left, right, None, rule.fast_math, TIMEOUT_MS)


def with_wrong_result(rule: Rule, binding: Binding) -> Proof:
    """The judgement on a copy of the rule whose right side is spoilt: it must be refuted."""
    left, right, when = rule.terms(binding)
    return _judge(
        rule.name, binding, left, sampling.spoilt(right), when, rule.fast_math, TIMEOUT_MS
    )


def representative(rule: Rule) -> Iterator[Binding]:
    """One choice of types for each set of widths that the rule has."""
    seen: set[tuple[object, ...]] = set()
    for binding in rule.bindings:
        key = tuple((dtype.bits, dtype.kind) for dtype in binding.values())
        if key not in seen:
            seen.add(key)
            yield binding
