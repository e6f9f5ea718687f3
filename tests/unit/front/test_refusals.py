"""What kernels cannot do is refused with the line, a caret, the reason and what to write instead.

`refusals.txt` shows each message in full; `--bless` writes what is said now.
"""

from __future__ import annotations

import linecache
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import FrontError

FILE = Path(__file__).with_name("refusals.txt")
NAME = "<refusal>"


def plain(v: float) -> float:
    return v


@vy.kernel
def other(x: vy.InOut[vy.f32]):
    x[0] = 1.0


def cases() -> dict[str, tuple[str, str]]:
    """Source and message by title."""
    found: dict[str, tuple[str, str]] = {}
    for part in FILE.read_text(encoding="utf-8").split("=== ")[1:]:
        title, _, rest = part.partition("\n")
        source, _, message = rest.partition("---\n")
        found[title] = (source, message.strip())
    return found


CASES = cases()


def said_of(source: str) -> str:
    names: dict[str, Any] = {
        "vy": vy,
        "np": np,
        "math": math,
        "plain": plain,
        "weights": np.ones(3, np.float32),
        "names": [1.0, 2.0],
        "square": lambda v: v * v,
        "other": other,
    }
    linecache.cache[NAME] = (0, None, source.splitlines(keepends=True), NAME)
    try:
        exec(compile(source, NAME, "exec"), names)
        names["k"].program()
    except FrontError as error:
        return str(error)
    return "nothing"


@pytest.mark.parametrize("title", CASES)
def test_a_refusal_says_where_why_and_what_to_write(title: str, bless: bool) -> None:
    source, expected = CASES[title]
    said = said_of(source)
    if bless:
        CASES[title] = (source, said)
        parts = [f"=== {t}\n{s}---\n{m}\n" for t, (s, m) in CASES.items()]
        FILE.write_text("\n".join(parts), encoding="utf-8")
        return
    assert said == expected


def test_there_are_many_and_all_of_them_advise() -> None:
    assert len(CASES) >= 20
    for title, (_, message) in CASES.items():
        assert "  fix: " in message, title
        assert "^" in message, title
        assert NAME in message, title


def test_the_traceback_does_not_show_the_way_through_the_translator():
    @vy.kernel
    def wrong(x: vy.InOut[vy.f32]):
        if x[0] > 0.0:
            x[0] = vy.exp(x[0])

    with pytest.raises(FrontError) as caught:
        wrong.program()
    files = {Path(entry.path).name for entry in caught.traceback}
    assert files == {"test_refusals.py", "kernel.py", "kernels.py"}
