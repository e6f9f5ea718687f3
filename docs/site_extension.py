"""What the site has beyond the pages themselves: an extension of Sphinx.

- The navigation: pages stay plain Markdown, without directives.
- Links to source files lead to pages that show them, as nothing else is there when the site is
  read offline.
- Entries of the API reference and codes are names that the search leads to.
- Program text is highlighted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.domains import Domain, ObjType

from docs.navigation import HOME, toctrees
from vyre.ir.types import SCALAR_TYPES
from vyre.text.words import RESERVED, STORAGE

API, CODES = "docs/reference/api", "docs/reference/codes"
CODE = re.compile(r"[A-Z]\d{3}: ")


class Entries(Domain):
    """Entries of the reference pages. The search finds them by parts of their names.

    It shows what they are as label and type, and finds these words too: a search for `vy.atomic`
    leads to `x.atomic_add`, a vyre name.
    """

    name = "vyre"
    label = "vyre"
    object_types: ClassVar = {"name": ObjType("name"), "code": ObjType("code")}
    initial_data: ClassVar = {"entries": [], "sources": set()}

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Name, shown name, type, page, anchor and priority of every entry."""
        for name, kind, page, anchor in self.data["entries"]:
            # The search lists priority 0 before pages, and priority 1 among them.
            yield name, name, kind, page, anchor, int(kind != "name")

    def resolve_any_xref(self, *_: Any, **__: Any) -> list[tuple[str, nodes.reference]]:
        """Nothing: pages refer to headings, not to entries."""
        return []


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Let the home page name all others."""
    if page == HOME:
        source[0] += f"\n\n{toctrees()}"


def note_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Collect the entries of a reference page."""
    page = app.env.current_document.docname
    entries: list[tuple[str, str, str, str]] = app.env.domaindata["vyre"]["entries"]
    for section in doctree.findall(nodes.section):
        title = section[0]
        text, anchor = title.astext(), section["ids"][0]
        if page == API and isinstance(title.children[0], nodes.literal):
            entries.append((text.partition("(")[0], "name", page, anchor))
        if page == CODES and CODE.match(text):
            entries.append((text, "code", page, anchor))


def link_sources(app: Sphinx, doctree: nodes.document) -> None:
    """Lead links to Python files to the pages that show them, not to downloads."""
    page = app.env.current_document.docname
    for link in list(doctree.findall(addnodes.download_reference)):
        path = app.env.relfn2path(link["reftarget"], page)[0]
        if path.endswith(".py"):
            app.env.domaindata["vyre"]["sources"].add(path)
            uri = app.builder.get_relative_uri(page, f"sources/{path}")
            link.replace_self(nodes.reference("", "", *link.children, refuri=uri, internal=True))


def colour_programs(app: Sphinx, doctree: nodes.document) -> None:
    """Highlight blocks without a language that are whole programs."""
    for block in doctree.findall(nodes.literal_block):
        if block.astext().startswith("program ") and "language" not in block:
            block["language"] = "vyre"


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for every source file that some page links to."""
    builder = app.builder
    assert isinstance(builder, StandaloneHTMLBuilder), "no other builder collects pages"
    for path in sorted(app.env.domaindata["vyre"]["sources"]):
        text = (Path(app.srcdir) / path).read_text(encoding="utf-8")
        title = html.escape(path)
        body = builder.highlighter.highlight_block(text, "python")
        yield f"sources/{path}", {"title": title, "body": f"<h1>{title}</h1>{body}"}, "page.html"


class ProgramText(RegexLexer):
    """The readable form of programs, as far as colours need it."""

    name = "vyre"
    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"//.*", Comment),
            (r'"[^"\n]*"', String),
            (words([str(dtype) for dtype in SCALAR_TYPES], suffix=r"\b"), Keyword.Type),
            (words(sorted(RESERVED | STORAGE.keys()), suffix=r"\b"), Keyword),
            (r"\d(?:\w|\.(?=\w))*", Number),
            (r"[A-Za-z_][\w.]*", Name),
            (r".", Operator),
        ]
    }


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of all this."""
    app.add_domain(Entries)
    app.add_lexer("vyre", ProgramText)
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", note_entries)
    app.connect("doctree-read", colour_programs)
    # Before Sphinx collects the files to download, which it does at the usual priority of 500.
    app.connect("doctree-read", link_sources, priority=400)
    app.connect("html-collect-pages", source_pages)
    return {"parallel_read_safe": False}
