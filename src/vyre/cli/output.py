"""What commands print: tables and colours for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def console(*, stderr: bool = False) -> Console:
    """Where rich output goes; wide enough for tables when it goes to a file."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=130)


def table(*headings: str, title: str | None = None) -> Table:
    """A table; headings that begin with `>` are of columns that hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for heading in headings:
        right = heading.startswith(">")
        made.add_column(
            heading.removeprefix(">"), justify="right" if right else "left", no_wrap=right
        )
    return made


@contextmanager
def progress() -> Generator[Callable[[str, int, int], None]]:
    """A bar on stderr while something long goes on, for terminals; is told what, done and total."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn())
    screen = console(stderr=True)
    hidden = not screen.is_terminal
    with Progress(
        *columns, TimeElapsedColumn(), console=screen, transient=True, disable=hidden
    ) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield show


def print_json(value: object) -> None:
    """JSON for programs."""
    print(json.dumps(value, indent=2, default=str))


def code(text: str, language: str) -> None:
    """Source text, with colours on a terminal and as it is elsewhere."""
    screen = console()
    if not screen.is_terminal:
        print(text.rstrip("\n"))
        return
    from rich.syntax import Syntax

    screen.print(Syntax(text, language, background_color="default", word_wrap=False))


def seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}" if value / scale < 999.5 else f"{value:.0f} s"
    return f"{value * 1e9:.0f} ns"


def nbytes(value: float) -> str:
    """A size in the unit that suits it."""
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def listing(words: Sequence[str], empty: str = "none") -> str:
    """Words with commas."""
    return ", ".join(words) or empty
