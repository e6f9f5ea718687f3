"""The API reference has every public name, each with a docstring and an example that uses it."""

from __future__ import annotations

import re
from inspect import isclass, isfunction
from pathlib import Path

import pytest

from docs.api_chapters import CHAPTERS
from docs.api_members import members
from docs.api_page import Cell, cells, page, public, resolved
from vyre import config
from vyre.front.parameters import View

NAMES = [name for cell in cells() for name in cell.names]
CALLED = [(name, cell) for cell in cells() for name in cell.names if name.startswith(("vy.", "x."))]


def test_every_public_name_has_an_entry() -> None:
    assert sorted(public() - set(NAMES)) == []


def test_no_entry_is_left_over_or_there_twice() -> None:
    others = {"vyre.cli.main", "vyre.config.read"}
    assert sorted(NAMES) == sorted(public() | others)


@pytest.mark.parametrize("name, cell", CALLED, ids=[name for name, _ in CALLED])
def test_an_example_uses_what_it_is_an_example_of(name: str, cell: Cell) -> None:
    if name.startswith("x."):
        member = members(View)[name.removeprefix("x.")]
        used = re.sub(r"\(.*|\[.*", "", member.in_kernel).removeprefix("x")
        assert used in cell.code
        assert member.text
    elif not isclass(value := resolved(name)):
        assert re.search(rf"{re.escape(name)}\b", cell.code)
        assert isinstance(value, float) or value.__doc__
        assert not isfunction(value) or f"@{name}" in cell.code or f"{name}(" in cell.code


def test_every_chapter_begins_with_an_example() -> None:
    assert [name for name in CHAPTERS if name not in {cell.names[0] for cell in cells()}] == []


def test_every_variable_of_the_environment_is_listed() -> None:
    source = Path(config.__file__).parent
    read = {
        name
        for file in source.rglob("*.py")
        for name in re.findall(r'"(VYRE_[A-Z]+(?:_[A-Z]+)*)"', file.read_text(encoding="utf-8"))
    }
    text = page()
    assert sorted(name for name in read if f"| `{name}` |" not in text) == []
