"""Generated pages say what the tables say."""

from __future__ import annotations

import pytest

from docs.generate import PAGES, REFERENCE


@pytest.mark.parametrize("name", PAGES)
def test_generated_page_is_current(name: str, bless: bool) -> None:
    path, text = REFERENCE / name, PAGES[name]()
    if bless:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run: make docs"
