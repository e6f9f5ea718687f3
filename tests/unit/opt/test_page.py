"""docs/passes.md says what the declarations say."""

from __future__ import annotations

from pathlib import Path

from vyre.opt import registered_passes
from vyre.opt.page import passes_page

PAGE = Path(__file__).parents[3] / "docs" / "passes.md"


def test_the_page_of_passes_is_current(request) -> None:
    text = passes_page()
    if request.config.getoption("--bless"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "run pytest --bless on this file"


def test_every_pass_is_on_it() -> None:
    text = passes_page()
    for each in registered_passes():
        assert f"### {each.metadata.name}\n" in text
