"""Links of every page lead somewhere: to a file, and to a heading that is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "tests", "benchmarks", "src")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md"))),
]
MARKDOWN = MarkdownIt("commonmark").enable("table")
IN_HTML = re.compile(r"""\b(?:href|src)=["']([^"']*)["']""")
ID_IN_HTML = re.compile(r"""\b(?:id|name)=["']([^"']*)["']""")
NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


@cache
def tokens_of(page: Path) -> tuple[Token, ...]:
    return tuple(_flat(MARKDOWN.parse(page.read_text(encoding="utf-8"))))


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """The anchors of the headings, named as hosts of repositories and the site name them."""
    found: set[str] = set()
    counts: Counter[str] = Counter()
    tokens = tokens_of(page)
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            parts = token.children or []
            text = "".join(part.content for part in parts if part.type in ("text", "code_inline"))
            anchor = NOT_IN_ANCHORS.sub("", text.strip().lower()).replace(" ", "-")
            found.add(f"{anchor}-{counts[anchor]}" if counts[anchor] else anchor)
            counts[anchor] += 1
        if token.type in ("html_inline", "html_block"):
            found.update(ID_IN_HTML.findall(token.content))
    return frozenset(found)


def links_of(page: Path) -> Iterator[str]:
    for token in tokens_of(page):
        if token.type == "link_open":
            yield str(token.attrs["href"])
        elif token.type == "image":
            yield str(token.attrs["src"])
        elif token.type in ("html_inline", "html_block"):
            yield from IN_HTML.findall(token.content)


def leads_somewhere(page: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.exists():
        return False
    if not parts.fragment:
        return True
    return target.suffix == ".md" and unquote(parts.fragment) in anchors_of(target)


def dead_links(page: Path) -> list[str]:
    return [link for link in links_of(page) if not leads_somewhere(page, link)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert dead_links(page) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Two `words(a, b)`\n\n# Twice\n\n# Twice\n", "utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n\n"
        "[a](other.md) [b](other.md#two-wordsa-b) [c](#here) [d](other.md#twice-1)\n"
        "[e](https://example.org) `[f](code.md)`\n\n"
        "[1](gone.md) [2](other.md#gone) [3](#gone) [4](other.md#twice-2)\n"
        '![5](gone.png) <img src="gone.svg">\n\n'
        "| table |\n| --- |\n| [7](gone-too.md) |\n\n"
        "[8][below]\n\n[below]: gone-below.md\n\n"
        "```\n[g](code.md)\n```\n",
        "utf-8",
    )
    assert dead_links(page) == [
        *("gone.md", "other.md#gone", "#gone", "other.md#twice-2", "gone.png", "gone.svg"),
        *("gone-too.md", "gone-below.md"),
    ]
