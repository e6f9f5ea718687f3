"""The site that `make docs` builds: every page is in its navigation, and nothing warns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from docs.navigation import HOME, NAVIGATION

ROOT = Path(__file__).parents[2]


def test_every_page_is_in_the_navigation_once() -> None:
    pages = [
        page.relative_to(ROOT).with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")
    ]
    named = [HOME, *(page for group in NAVIGATION.values() for page in group)]
    assert len(named) == len(set(named))
    assert set(pages) - set(named) == set(), "give these pages a place in docs/navigation.py"
    assert [page for page in named if not (ROOT / f"{page}.md").exists()] == []


@pytest.mark.slow
def test_the_site_has_no_warnings(tmp_path: Path) -> None:
    """Pages are read and their links resolved, as when the site is built; no HTML is written."""
    result = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"),
            *("-b", "dummy", "-c", "docs", "-d", str(tmp_path / "read"), ".", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr[-3000:]
