"""Prose uses the words of textbooks: some expressions are banned, and iterations are no rounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.arch import ratchet

ROOT = Path(__file__).parents[2]
LLVM = ROOT / "src/vyre/backends/llvm"
TABLE = "tests/arch/test_words.py"
pytestmark = pytest.mark.filterwarnings("default:lower the number:UserWarning")
GAP = r"[\s#;]+"
BANNED = re.compile(
    rf"\b(nobody|anybody|somebody|whoever|so{GAP}many|so[-\s]manieth|in{GAP}the{GAP}midst)\b",
    re.IGNORECASE,
)
ROUND = re.compile(r"\brounds?\b", re.IGNORECASE)
ROUNDING = re.compile(r"round to nearest|rounds to an integer|UnOp.ROUND: .round.", re.IGNORECASE)
"""Phrases in which a float is rounded."""

BANNED_LEFT: dict[str, int] = {}
"""Banned expressions by folder. These numbers may only fall."""
ROUNDS_LEFT: dict[str, int] = {}
"""`round` and `rounds` that mean iterations, by folder. These numbers may only fall."""


def files() -> Iterable[Path]:
    """All files with prose, except this one."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    python = [path for folder in ("src", "docs", "tests") for path in (ROOT / folder).rglob("*.py")]
    rest = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.ll")]
    return (path for path in (*pages, *python, *rest) if path != Path(__file__))


def counted(paths: Iterable[Path], pattern: re.Pattern[str]) -> Counter[str]:
    """Occurrences by folder, with the lines in which they begin."""
    found: Counter[str] = Counter()
    for path in paths:
        text = ROUNDING.sub("", path.read_text(encoding="utf-8"))
        folder = str(path.parent.relative_to(ROOT))
        for match in pattern.finditer(text):
            found[folder] += 1
            line = text.count("\n", 0, match.start()) + 1
            print(f"{path.relative_to(ROOT)}:{line}: {match[0]}")  # noqa: T201  shown on failure
    return found


def test_banned_expressions_only_get_fewer() -> None:
    how = "say it in plain words; the lines are printed above"
    ratchet.check(counted(files(), BANNED), BANNED_LEFT, TABLE, how)


def test_iterations_are_called_rounds_ever_less() -> None:
    paths = (path for path in LLVM.rglob("*") if path.suffix in (".py", ".ll"))
    how = "say iteration, trip count or unroll factor; rounding of floats belongs into ROUNDING"
    ratchet.check(counted(paths, ROUND), ROUNDS_LEFT, TABLE, how)


def test_a_word_too_many_is_found() -> None:
    """The patterns find words across lines, and the ratchet fails."""
    text = "# There are so\n# many; Nobody's rounds, roundeven."
    assert len(BANNED.findall(text)) == 2
    assert len(ROUND.findall(text)) == 1
    with pytest.raises(AssertionError, match="2 where at most 1"):
        ratchet.check({"src": 2}, {"src": 1}, TABLE, "")
    with pytest.warns(UserWarning, match="lower the number of src"):
        ratchet.check({"src": 0}, {"src": 1}, TABLE, "")
