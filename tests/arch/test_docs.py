"""Generated pages say what the tables say, and links between pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import PAGES, REFERENCE

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
"""What is code holds no links: `f[blocks, threads](x)` is a call."""


@pytest.mark.parametrize("name", PAGES)
def test_generated_page_is_current(name: str, bless: bool) -> None:
    path, text = REFERENCE / name, PAGES[name]()
    if bless:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run: make docs"


@pytest.mark.parametrize(
    "page",
    [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), *ROOT.glob("tests/**/*.md")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    assert [target for target in targets if not (page.parent / target).exists()] == []
