"""Make the source of a failing kernel short: statements and operands go while the failure stays."""

from __future__ import annotations

import ast
import copy
import sys
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

from vyre.conform.python.oracle import FILE
from vyre.record import dataclass

Fails = Callable[[str], bool]
"""Whether a source, which need not even be one that Python takes, still shows the failure."""

_MOST_LINES = 200_000
"""A loop that has lost its end is left after this number of lines of Python."""
_KEPT = ("decorator_list", "annotation")
"""What says how a kernel is run, which CPython does not look at."""
_GONE = -1
"""Instead of a part of a node: nothing, or the number 1."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """One piece of code less: the piece is replaced by something in it."""

    owner: int
    """The node that the piece belongs to, by its place in `ast.walk`."""
    name: str
    position: int | None
    """Where it stands, if the node has several of that name."""
    by: int
    """Which of the things in it takes its place."""


def shrink_source(source: str, fails: Fails, attempts: int = 2000) -> str:
    """The shortest failing source that is found in this number of attempts."""
    tree = ast.parse(source)
    number, changed = 0, False
    edits = list(_edits(tree))
    for _ in range(attempts):
        if number == len(edits):
            if not changed:
                break
            number, changed = 0, False
        smaller = _applied(tree, edits[number])
        text = ast.unparse(smaller)
        if len(text) < len(ast.unparse(tree)) and _fails(text + "\n", fails):
            tree, changed = smaller, True
            edits = list(_edits(tree))
            number = min(number, len(edits))
        else:
            number += 1
    return ast.unparse(tree) + "\n"


def _fails(text: str, fails: Fails) -> bool:
    with warnings.catch_warnings(), _few_lines():
        # Python wonders about much that is left after an edit.
        warnings.simplefilter("ignore", SyntaxWarning)
        return fails(text)


@contextmanager
def _few_lines() -> Generator[None]:
    """The oracle's code is stopped by a `TimeoutError` that no kernel expects."""
    left = _MOST_LINES

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise TimeoutError("a loop does not end")
        return count

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        return count if frame.f_code.co_filename == FILE else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _edits(tree: ast.Module) -> Iterator[_Edit]:
    """Statements first, those that stand last first; then expressions."""
    later: list[_Edit] = []
    for owner, name, position, piece in _pieces(tree):
        made = [_Edit(owner, name, position, by) for by in range(_GONE, len(_inside(piece)))]
        if isinstance(piece, ast.stmt):
            yield from made
        elif isinstance(piece, ast.expr):
            later += made
    yield from later


def _pieces(tree: ast.Module) -> Iterator[tuple[int, str, int | None, object]]:
    """All pieces of code, with the numbers of the nodes that they belong to."""
    for owner, node in enumerate(ast.walk(tree)):
        for name, value in cast("Iterator[tuple[str, object]]", ast.iter_fields(node)):
            if name in _KEPT:
                continue
            if isinstance(value, list):
                several = cast("list[object]", value)
                for position in reversed(range(len(several))):
                    yield owner, name, position, several[position]
            else:
                yield owner, name, None, value


def _inside(piece: object) -> list[list[ast.stmt]] | list[ast.expr]:
    """What can take the place of a piece of code."""
    if isinstance(piece, (ast.If, ast.For, ast.While)):
        return [piece.body, piece.orelse]
    if isinstance(piece, ast.expr):
        return [one for one in ast.iter_child_nodes(piece) if isinstance(one, ast.expr)]
    return []


def _applied(tree: ast.Module, edit: _Edit) -> ast.Module:
    """The tree with a piece replaced, whether that makes sense or not."""
    tree = copy.deepcopy(tree)
    for number, owner in enumerate(ast.walk(tree)):
        if number == edit.owner:
            _replace(owner, edit)
            break
    return ast.fix_missing_locations(tree)


def _replace(owner: ast.AST, edit: _Edit) -> None:
    found = getattr(owner, edit.name)
    piece = found if edit.position is None else found[edit.position]
    new: object = [] if isinstance(piece, ast.stmt) else ast.Constant(1)
    if edit.by != _GONE:
        new = _inside(piece)[edit.by]
    if edit.position is None:
        setattr(owner, edit.name, new)
    elif isinstance(piece, ast.stmt):
        found[edit.position : edit.position + 1] = new
        if not found and edit.name == "body":
            found.append(ast.Pass())
    else:
        found[edit.position] = new
