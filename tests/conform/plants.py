"""Thirty-odd typical miscompiles, each planted by itself.

There are three kinds: wrong rewrite rules in the optimizer, wrong instructions in the text that the
CPU backend gives to LLVM, and wrong lowerings, which are modelled as a rewriting of the program
just before it is emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from unittest.mock import patch

from tests.conform.lowerings import LOWERINGS, missing_grid_barrier
from vyre import compiler
from vyre.backends.llvm import compile as native
from vyre.driver import registry
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Backend, Device, EmitOptions, Executable
from vyre.ir import DataType, Program
from vyre.ir.types import ARITHMETIC_FLOATS, INTEGER_TYPES
from vyre.opt import rules
from vyre.opt.passes import simplify
from vyre.rewrite.matcher import RuleSet
from vyre.rewrite.pattern import TRUE, c, d, x, y
from vyre.rewrite.rule import Rule
from vyre.target import Target


@dataclass(frozen=True)
class Plant:
    """One bug, and how to plant it."""

    name: str
    planted: Callable[[], AbstractContextManager[Backend]]
    profile: str | None = None


class Wrapped:
    """A backend that emits another program than it is given."""

    def __init__(self, inner: Backend, change: Callable[[Program], Program]) -> None:
        self._inner = inner
        self._change = change
        self.name = inner.name

    def probe(self) -> Sequence[Device]:
        return self._inner.probe()

    def target(self, device: Device) -> Target:
        return self._inner.target(device)

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        return self._inner.emit(self._change(program), target, options)

    def load(self, artifact: Artifact, device: Device) -> Executable:
        return self._inner.load(artifact, device)


def _lowering(base: str, change: Callable[[Program], Program]):
    @contextmanager
    def planted() -> Iterator[Backend]:
        yield Wrapped(registry.backend(base), change)

    return planted


def _before_splitting(change: Callable[[Program], Program]):
    """A driver that splits, or does not split, another program than it is given."""

    @contextmanager
    def planted() -> Iterator[Backend]:
        right = compiler.emit_segments

        def emit_segments(program: Program, *rest):
            return right(change(program), *rest)

        with patch.object(compiler, "emit_segments", emit_segments):
            yield registry.backend("cpu")

    return planted


def _rule(rule: Rule):
    """An optimizer that believes one thing more."""

    @contextmanager
    def planted() -> Iterator[Backend]:
        known = [each for name in rules._EXACT for each in rules.TABLES[name]]
        wrong = RuleSet([rule, *known])
        with patch.object(simplify, "exact_rules", lambda: wrong):
            yield registry.backend("reference")

    return planted


def _instruction(old: str, new: str):
    """A code generator that writes one instruction for another."""

    @contextmanager
    def planted() -> Iterator[Backend]:
        right = native.generate

        def generate(*arguments, **options):
            made = right(*arguments, **options)
            return replace(made, text=made.text.replace(old, new))

        with patch.object(native, "generate", generate):
            yield registry.backend("cpu")

    return planted


_F, _I = ARITHMETIC_FLOATS, INTEGER_TYPES

RULES = (
    Rule("x == x is true", x.eq(x), TRUE, _F),
    Rule("x - x is zero", x - x, 0.0, _F),
    Rule("x / x is one", x / x, 1, _I),
    Rule("x + 0.0 is x", x + 0.0, x, _F),
    Rule("x * 0.0 is zero", x * 0.0, 0.0, _F),
    Rule("shifts merged without masks", (x << c) << d, x << (c + d), _I),
    Rule("not less is greater or equal", ~(x < y), x >= y, _F),
    Rule("division by a constant as a shift", x / 2, x >> 1, (DataType.I32, DataType.I8)),
)
INSTRUCTIONS = {
    "arithmetic shift made logical": ("= ashr ", "= lshr "),
    "signed comparison made unsigned": ("icmp slt ", "icmp ult "),
    "signed division made unsigned": ("= sdiv ", "= udiv "),
    "sign extension made zero extension": ("= sext i", "= zext i"),
    "ordered comparison made unordered": ("fcmp olt ", "fcmp ult "),
    "unsigned to float made signed": ("= uitofp ", "= sitofp "),
    "atomic addition made subtraction": ("atomicrmw add ", "atomicrmw sub "),
    "float minimum picks NaN": ("fcmp uno ", "fcmp ord "),
}

PLANTS = (
    *(Plant(f"optimizer: {rule.name}", _rule(rule), "release") for rule in RULES),
    *(Plant(f"instruction: {name}", _instruction(*pair)) for name, pair in INSTRUCTIONS.items()),
    *(
        Plant(f"lowering: {name}", _lowering(base, change))
        for name, (base, change) in LOWERINGS.items()
    ),
    Plant("driver: missing grid barrier", _before_splitting(missing_grid_barrier)),
)
