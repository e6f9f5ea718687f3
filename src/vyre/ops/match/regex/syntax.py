"""Syntax trees of patterns: frozen nodes, and one fold over them that does not recurse.

Flags are resolved by the parser: case folding is in the byte sets, `.` is a set, `^` and `$` are
the assertions they stand for, and the greediness of a repeat is in the node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, assert_never

from vyre.ops.match.regex.boundaries import Look
from vyre.record import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Class:
    """One byte out of a set (`byte_sets`)."""

    bits: int


@dataclass(frozen=True, slots=True)
class Concat:
    """One after the other; without items, the empty string."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of several; an earlier one is preferred."""

    choices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """At least `least` and at most `most` times (None: without bound); greedy prefers more."""

    body: Node
    least: int
    most: int | None
    greedy: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """A capture group; numbers count opening parentheses from one."""

    body: Node
    number: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition on the boundary between two bytes."""

    look: Look


Node = Class | Concat | Alternation | Repeat | Group | Assertion
EMPTY = Concat(())


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below one."""
    match node:
        case Concat(items):
            return items
        case Alternation(choices):
            return choices
        case Repeat() | Group():
            return (node.body,)
        case Class() | Assertion():
            return ()
        case _:
            assert_never(node)


def fold(root: Node, combine: Callable[[Node, list[T]], T]) -> T:
    """Bottom-up evaluation: `combine` gets a node and the values of its children, in order.

    The walk keeps its own stack: the depth of a pattern is not the depth of Python's calls.
    """
    values: list[T] = []
    pending: list[tuple[Node, bool]] = [(root, False)]
    while pending:
        node, entered = pending.pop()
        below = children(node)
        if entered or not below:
            first = len(values) - len(below)
            values[first:] = [combine(node, values[first:])]
        else:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(below))
    return values[0]


def rebuilt(node: Node, below: list[Node]) -> Node:
    """The node with other children; the same object if they are the same."""
    if all(a is b for a, b in zip(children(node), below, strict=True)):
        return node
    match node:
        case Concat():
            return Concat(tuple(below))
        case Alternation():
            return Alternation(tuple(below))
        case Repeat():
            return Repeat(below[0], node.least, node.most, node.greedy)
        case Group():
            return Group(below[0], node.number, node.name)
        case Class() | Assertion():
            return node
        case _:
            assert_never(node)


def lengths(root: Node) -> tuple[int, int | None]:
    """Least and greatest number of bytes of a match; None is unbounded. Assertions count zero."""
    return fold(root, _lengths)


def _lengths(node: Node, below: list[tuple[int, int | None]]) -> tuple[int, int | None]:
    match node:
        case Class():
            return 1, 1
        case Assertion():
            return 0, 0
        case Concat():
            bounds = [most for _, most in below]
            known = [most for most in bounds if most is not None]
            total = sum(known) if len(known) == len(bounds) else None
            return sum(least for least, _ in below), total
        case Alternation():
            known = [most for _, most in below if most is not None]
            return (
                min(least for least, _ in below),
                max(known) if len(known) == len(below) else None,
            )
        case Repeat():
            least, most = below[0]
            if most == 0 or node.most == 0:
                return 0, 0
            if most is None or node.most is None:
                return least * node.least, None
            return least * node.least, most * node.most
        case Group():
            return below[0]
        case _:
            assert_never(node)


def can_be_empty(root: Node) -> bool:
    """True if the empty string may match: errs towards True, as assertions count as empty."""
    return lengths(root)[0] == 0


def has_assertions(root: Node) -> bool:
    """True if some node is an assertion."""
    return fold(root, lambda node, below: isinstance(node, Assertion) or any(below))
