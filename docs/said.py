"""What vyre says about the example of a code."""

from __future__ import annotations

import linecache

from vyre.check import check
from vyre.diagnostics import Diagnostic, VyreError
from vyre.text import parse


def found_by(example: str) -> tuple[Diagnostic, ...]:
    """The problems of an example: program text, or Python source."""
    try:
        if example.startswith("program"):
            return tuple(check(parse(example)))
        # Kernels are read from their source, as in a notebook.
        linecache.cache["<example>"] = (0, None, example.splitlines(keepends=True), "<example>")
        exec(compile(example, "<example>", "exec"), {"__name__": "example"})
    except VyreError as error:
        return error.diagnostics
    return ()
