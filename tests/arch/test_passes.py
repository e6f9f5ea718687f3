"""A pass has one name: of its file, of its registry entry, and on the command line."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PASSES = ROOT / "src" / "vyre" / "opt" / "passes"


def test_every_pass_file_has_a_text_test() -> None:
    tests = {path.stem for path in (ROOT / "tests" / "files").rglob("*.vy")}
    files = {path.stem for path in PASSES.glob("*.py") if path.stem != "__init__"}
    assert sorted(files - tests) == []
