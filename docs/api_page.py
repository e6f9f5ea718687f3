"""The API reference, written from docstrings and from the examples in `docs/api_examples`.

An example is a cell of a Python file: `# %%` and the names that it shows, then code with asserts.
The cells are the page, in their order: before each stand its names with signature and docstring.
The page runs with the tests of the docs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from inspect import cleandoc, isclass, isfunction
from operator import attrgetter
from pathlib import Path
from typing import Any

import vyre
from docs.api_chapters import CHAPTERS
from docs.api_members import members, signature, written_signature
from vyre.front.parameters import View
from vyre.pipelines import language

EXAMPLES = Path(__file__).parent / "api_examples"
FILES = ("kernels", "language", "mathematics", "pipelines", "host")
CELL = re.compile(r"^# %% (.+)\n", re.MULTILINE)
HEAD = """\
# API reference

Every public name with its signature, its docstring, and an example that runs with the tests. What
Python means in kernels: [kernels](../spec/kernels.md). `make docs` writes this page. The examples
begin with:

```python
import subprocess
import sys

import numpy as np

import vyre as vy
```"""


@dataclass(frozen=True)
class Cell:
    """An example, and the names that it is an example of."""

    names: tuple[str, ...]
    code: str


@lru_cache(maxsize=1)
def cells() -> tuple[Cell, ...]:
    """All examples, in the order of the page."""
    found: list[Cell] = []
    for file in FILES:
        _, *parts = CELL.split((EXAMPLES / f"{file}.py").read_text(encoding="utf-8"))
        for names, code in zip(parts[::2], parts[1::2], strict=True):
            found.append(Cell(tuple(names.split()), code.strip("\n")))
    return tuple(found)


def public() -> set[str]:
    """The names that must have an entry."""
    names = {f"vy.{name}" for name in vyre.__all__ if name not in ("group", "math", "subgroup")}
    names |= {f"vy.group.{name}" for name, value in vars(vyre.group).items() if _is_group(value)}
    names |= {f"vy.plan.{name}" for name in vyre.plan.__all__}
    names |= {f"vy.math.{name}" for name, value in vars(vyre.math).items() if _is_math(name, value)}
    return names | {f"x.{name}" for name in members(View)}


def _is_group(value: object) -> bool:
    return isfunction(value) and value.__module__ == vyre.group.__name__


def _is_math(name: str, value: object) -> bool:
    if isfunction(value):
        return value.__module__ == vyre.math.__name__
    return isinstance(value, float) and not name.startswith("_")


def resolved(name: str) -> Any:
    """The value of a name such as `vy.math.sqrt` or `vyre.cli.main`."""
    if name.startswith("vy."):
        return attrgetter(name.removeprefix("vy."))(vyre)
    home, _, last = name.rpartition(".")
    return getattr(import_module(home), last)


def page() -> str:
    """The whole page."""
    titles = ", ".join(_link(chapter.title) for chapter in CHAPTERS.values())
    lines = [HEAD, "", f"Chapters: {titles}."]
    for cell in cells():
        chapter = CHAPTERS.get(cell.names[0])
        if chapter is not None:
            lines += ["", f"## {chapter.title}", "", chapter.text]
        for name in cell.names:
            lines += ["", *_entry(name)]
        lines += ["", "```python", cell.code, "```"]
    return "\n".join(lines) + "\n"


def _link(title: str) -> str:
    anchor = re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")
    return f"[{title}](#{anchor})"


def _entry(name: str) -> list[str]:
    if name.startswith("x."):
        member = members(View)[name.removeprefix("x.")]
        return [f"### `{member.in_kernel}`", "", member.text]
    value = resolved(name)
    if isinstance(value, float):
        return [f"### `{name}`", "", f"The number {value!r}."]
    is_form = isfunction(value) and value.__module__ == language.__name__
    is_for_kernels = isfunction(value) and value.__module__.startswith("vyre.front.")
    form = signature(value, typed=False) if is_for_kernels else ""
    if is_form:
        form = written_signature(language, value.__name__)
    text = [f"### `{name}{form}`", ""]
    if isfunction(value) and not is_for_kernels and not is_form:
        text += ["```text", f"{name}{signature(value, typed=True)}", "```", ""]
    text.append(cleandoc(value.__doc__ or ""))
    if isclass(value):
        found = members(value)
        text += [""] * bool(found)
        text += [
            f"- `{member.shown}`" + f": {member.text}" * bool(member.text)
            for member in found.values()
        ]
    return text
