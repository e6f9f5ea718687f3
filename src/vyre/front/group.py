"""Functions that a whole workgroup computes together. Outside of kernels they refuse.

All invocations of the workgroup come to them, as to `vyre.barrier`, and each gives one value, the
zero of an invocation past the end of the data included. They use workgroup memory and barriers
only, so they need nothing that a device may lack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from vyre.front.intrinsics import outside

T = TypeVar("T")


def reduce(op: str | Callable[[Any, Any], Any], x: T) -> T:
    """Join the values of all invocations of the workgroup; each gets the result.

    `op` is `"add"`, `"mul"`, `"min"`, `"max"`, `"and"`, `"or"`, `"xor"` or an associative
    `vy.func` of two values, which need not be commutative; `x` is a number, or for such a function
    a tuple of numbers. The result keeps the type. It is the last one of an inclusive `scan`.
    """
    outside("vy.group.reduce")


def scan(
    op: str | Callable[[Any, Any], Any], x: T, *, exclusive: bool = False, identity: Any = None
) -> T:
    """Join the values of the invocations up to this one, in the order of the local index.

    With `exclusive=True` without its own; the first one gets the identity, which a `vy.func` needs
    as `identity=`. Operators and types are those of `reduce`.
    """
    outside("vy.group.scan")


def any(condition: bool) -> bool:
    """Whether the condition holds for some invocation of the workgroup."""
    outside("vy.group.any")


def all(condition: bool) -> bool:
    """Whether the condition holds for all invocations of the workgroup."""
    outside("vy.group.all")


def compact(keep: bool) -> tuple[int, int]:
    """Number the invocations that keep something, without gaps, and count them.

    `place, count = vy.group.compact(x[i] > 0)`: how many keep something before this one, and how
    many in the workgroup.
    """
    outside("vy.group.compact")
