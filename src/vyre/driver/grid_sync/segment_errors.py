"""Errors of one segment of a split program say which one it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from vyre.diagnostics import Diagnostic, VyreError
from vyre.diagnostics.render import render_all
from vyre.signals import is_from_handler


@contextmanager
def in_segment(segment: int, count: int) -> Iterator[None]:
    """Whatever is raised in the block is raised with the segment's number."""
    where = f"segment {segment} of {count} between grid barriers"
    try:
        yield
    except VyreError as error:
        error.diagnostics = tuple(_named(each, where) for each in error.diagnostics)
        error.args = (render_all(error.diagnostics),)
        raise
    except Exception as problem:
        if not is_from_handler(problem):
            problem.add_note(where)
        raise


def _named(diagnostic: Diagnostic, where: str) -> Diagnostic:
    return replace(diagnostic, message=f"{diagnostic.message} ({where})")
