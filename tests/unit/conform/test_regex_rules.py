"""Rule files against RE2: what is read, refused, and found different."""

from __future__ import annotations

from pathlib import Path

import pytest

from vyre.conform.regexes import rules
from vyre.conform.regexes.rules import check_rules, read_rules
from vyre.ops.match.regex import Definition, Match

TOML = r"""
title = "rules"

[[rules]]
id = "first"
regex = '''(?i)\bkey_[0-9a-f]{8}\b'''
keywords = ["key_"]

[[rules]]
id = "path only"
path = '''\.pem$'''

[[rules]]
id = "refused"
regex = '''a(?=b)'''

[[rules]]
id = "large"
regex = '''q[ab]{1200}'''
"""
YAML = r"""
rules:
- name: Second
  id: own.second
  pattern: |
    (?x)
    \b
    (tok_ (?# a comment )
      [a-z]{3,5})   # the value
    (?: $ | [^a-z] )
  examples:
  - 'x = tok_abcd;'
  negative_examples:
  - 'tok_ab'
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "rules.toml").write_text(TOML)
    (tmp_path / "deeper" / "rules.yml").write_text(YAML)
    (tmp_path / "notes.txt").write_text("no rules")
    return tmp_path


def test_rules_are_read(folder: Path) -> None:
    found = {rule.name: rule for rule in read_rules(folder)}
    assert list(found) == [
        "rules.yml:own.second",
        "rules.toml:first",
        "rules.toml:refused",
        "rules.toml:large",
    ]
    assert found["rules.yml:own.second"].examples == ("x = tok_abcd;", "tok_ab")
    assert found["rules.yml:own.second"].dialect == "rust"


def test_rules_agree(folder: Path) -> None:
    report = check_rules(folder, text=b"key_0123abcd tok_abc\n")
    assert (report.patterns, report.accepted) == (4, 3)
    assert [name for name, _ in report.refused] == ["rules.toml:refused"]
    assert report.refused[0][1].startswith("R006 at 1: ")
    assert report.engines == {"re2": 2, "rure": 1}
    assert report.matches > 50
    assert report.differences == []
    assert "4 patterns: 3 taken, 1 refused" in str(report)


def test_a_difference_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Definition):
        def find(self, text: bytes) -> list[Match]:
            return super().find(text)[1:]

    monkeypatch.setattr(rules, "Definition", Wrong)
    report = check_rules(folder)
    assert {name for name, _, _ in report.differences} == {
        "rules.yml:own.second",
        "rules.toml:first",
        "rules.toml:large",
    }
    assert "DIFFERENT" in str(report)
