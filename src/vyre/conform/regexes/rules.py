"""Rule files of others: every pattern against RE2 on examples, near misses and a text.

    python -m vyre.conform rules DIR

Reads gitleaks and betterleaks TOML (`regex`), and Nosey Parker, Titus and Kingfisher YAML
(`pattern`, `examples`). Patterns with repeats over 1 000, which RE2 refuses, go to Rust's regex.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any, cast

from vyre.conform.regexes.oracles import (
    Re2,
    Rure,
    re2_is_exact,
    re2_refuses,
    rure_is_exact,
    rure_refuses,
)
from vyre.conform.regexes.texts import changed, word
from vyre.diagnostics import RegexError
from vyre.ops.match.regex import Definition, parse
from vyre.ops.match.regex.parse import Pattern
from vyre.ops.match.regex.program import compile_program
from vyre.ops.match.regex.unparse import unparse
from vyre.record import dataclass

_COMMENT = re.compile(r"\(\?#[^)]*\)")
WORDS = 6
"""Words of each pattern's language, and as many near misses."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of a rule file."""

    name: str
    pattern: str
    dialect: str
    examples: tuple[str, ...] = ()


@dataclass
class RulesReport:
    """What became of the patterns of a folder."""

    patterns: int = 0
    accepted: int = 0
    texts: int = 0
    matches: int = 0
    engines: Counter[str] = field(default_factory=Counter[str])
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Names of rules that are refused, and why."""
    differences: list[tuple[str, bytes, str]] = field(default_factory=list[tuple[str, bytes, str]])

    def __str__(self) -> str:
        engines = ", ".join(f"{count} by {name}" for name, count in sorted(self.engines.items()))
        lines = [
            f"{self.patterns} patterns: {self.accepted} taken, {len(self.refused)} refused; "
            f"{self.texts} texts, {self.matches} matches; judged: {engines or 'none'}; "
            f"{len(self.differences)} differences"
        ]
        lines += [f"refused: {name}: {why}" for name, why in self.refused]
        lines += [f"DIFFERENT: {name} on {text!r}: {what}" for name, text, what in self.differences]
        return "\n".join(lines)


def read_rules(folder: Path) -> Iterator[Rule]:
    """The rules of every .toml, .yml and .yaml file below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".toml":
            yield from _toml_rules(path)
        elif path.suffix in (".yml", ".yaml"):
            yield from _yaml_rules(path)


def _toml_rules(path: Path) -> Iterator[Rule]:
    with path.open("rb") as file:
        rules: list[dict[str, Any]] = tomllib.load(file).get("rules", [])
    for number, rule in enumerate(rules):
        if isinstance(rule.get("regex"), str):
            yield Rule(f"{path.name}:{rule.get('id', number)}", rule["regex"], "go")


def _yaml_rules(path: Path) -> Iterator[Rule]:
    import yaml

    contents = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(contents, dict):
        return
    rules = cast("dict[str, list[dict[str, Any]]]", contents).get("rules", [])
    for number, rule in enumerate(rules):
        if isinstance(rule.get("pattern"), str):
            examples = tuple(
                each for key in ("examples", "negative_examples") for each in rule.get(key) or ()
            )
            name = f"{path.name}:{rule.get('id', number)}"
            # Nosey Parker takes comments out before Rust's regex sees the pattern.
            pattern = _COMMENT.sub("", rule["pattern"]).strip()
            yield Rule(name, pattern, "rust", examples)


def check_rules(folder: Path, text: bytes = b"", seed: int = 0) -> RulesReport:
    """Run every pattern of a folder against another engine."""
    report = RulesReport()
    for rule in read_rules(folder):
        report.patterns += 1
        try:
            pattern = parse(rule.pattern, rule.dialect)
        except RegexError as error:
            message = error.diagnostics[0].message
            report.refused.append((rule.name, f"{error.code} at {error.offset}: {message}"))
            continue
        report.accepted += 1
        _check_rule(rule, pattern, text, random.Random(f"{seed} {rule.name}"), report)
    return report


def _check_rule(
    rule: Rule, pattern: Pattern, text: bytes, dice: random.Random, report: RulesReport
) -> None:
    engines = list(engines_for(pattern))
    report.engines.update(name for name, _ in engines)
    if not engines:
        report.engines["no engine"] += 1
    definition = Definition(compile_program(pattern.root, pattern.groups))
    for each in _texts(rule, pattern, text, dice):
        expected = definition.find(each)
        report.texts += 1
        report.matches += len(expected)
        for name, engine in engines:
            found = engine.find(each)
            ours = [match[:2] for match in expected] if isinstance(engine, Rure) else expected
            theirs = [match[:2] for match in found] if isinstance(engine, Rure) else found
            if ours != theirs:
                what = f"{name} finds {theirs}, the definition {ours}"
                report.differences.append((rule.name, each, what))


def engines_for(pattern: Pattern) -> Iterator[tuple[str, Re2 | Rure]]:
    """The other engines that take a pattern: as it is written, or written again for Go."""
    judged_by_rure = pattern.dialect == "rust" and rure_is_exact(pattern.root)
    if judged_by_rure and rure_refuses(pattern.text) is None:
        yield "rure", Rure(pattern.text)
    as_is = pattern.dialect == "go" and pattern.text.isascii()
    written = pattern.text if as_is else unparse(pattern.root)
    if written is None or not re2_is_exact(pattern.root):
        return
    if re2_refuses(written) is None:
        yield "re2", Re2(written)
    elif pattern.dialect == "go":
        again = unparse(pattern.root)
        if again is not None and rure_is_exact(pattern.root) and rure_refuses(again) is None:
            yield "rure", Rure(again)


def _texts(rule: Rule, pattern: Pattern, text: bytes, dice: random.Random) -> Iterator[bytes]:
    yield from (example.encode() for example in rule.examples)
    words = [word(dice, pattern.root) for _ in range(WORDS)]
    for each in words:
        for edge in (b"", b" ", b"\n", b'"', b"x"):
            yield edge + each + dice.choice((b"", b" ", b"\n", b'"', b"x", edge))
        yield dice.choice((b"", b" ", b"key = ")) + changed(dice, each) + b"\n"
    if text:
        yield text
    yield b"\n".join(words) + b"\n"
