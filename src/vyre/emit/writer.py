"""Source text with braces, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

INDENT = "    "


class Writer:
    """Collects lines at the right depth of indentation."""

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        self._lines: list[str] = []

    def line(self, text: str) -> None:
        """One line at the present depth."""
        self._lines.append(INDENT * self.depth + text if text else "")

    def lines(self, text: str) -> None:
        """Several lines, each at the present depth beyond its own indentation."""
        for line in text.splitlines():
            self.line(line)

    def verbatim(self, text: str) -> None:
        """Lines that have their indentation already."""
        self._lines += text.splitlines()

    def blank(self) -> None:
        """An empty line, unless one is there or nothing is yet."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def open(self, head: str) -> None:
        """`head {`; what follows stands inside."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1

    def close(self, tail: str = "}") -> None:
        """The closing brace."""
        self.depth -= 1
        self.line(tail)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """`head {`, what is written inside, and the closing brace."""
        self.open(head)
        yield
        self.close()

    def text(self) -> str:
        """All lines, ending in a newline."""
        return "\n".join(self._lines) + "\n" if self._lines else ""
