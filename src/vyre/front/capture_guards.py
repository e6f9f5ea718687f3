"""Guards of a translation: whether the globals and closure variables it read are unchanged.

Python looks a name up whenever the code that uses it runs, so a call of a kernel has to as well: a
global, a variable of a function around it, an attribute of a module or a default of a device
function may have another value at the next call. Each call compares what is there with what was
read, by identity, in a function that is made for these reads alone. Where it finds another object,
the two are looked at: the same number is the same again, all else is translated anew.

The functions of vyre and those of Python are taken for granted, unless another name hides them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, cast

from vyre.front.captured_state import OWN_MODULES, Marker, Read
from vyre.front.device_functions import DeviceFunction
from vyre.front.source import MISSING, Source


class Outside:
    """What one translation read."""

    __slots__ = ("_reads", "same")

    same: Callable[[], bool]
    """Whether the very objects that were read are still there."""

    def __init__(self, reads: Iterable[Read]) -> None:
        first: dict[tuple[int, str], Read] = {}
        is_steady = True
        for read in reads:
            known = first.setdefault((id(read.owner), read.name), read)
            is_steady = is_steady and known.value is read.value
        self._set(tuple(first.values()))
        if not is_steady:
            # Something was changed while it was read.
            self._reads, self.same = (_NEVER, *self._reads), _never

    def _set(self, reads: tuple[Read, ...]) -> None:
        self._reads = reads
        self.same = self._asked_first

    def _asked_first(self) -> bool:
        # Many kernels are called once: the function is made for the second call.
        self.same = _comparison(self._reads)
        return self.same()

    def means_the_same(self) -> bool:
        """Whether a translation would read the same now."""
        if self.same():
            return True
        found = tuple(Read(one.owner, one.name, _now(one)) for one in self._reads)
        pairs = zip(self._reads, found, strict=True)
        if not all(_are_alike(before.value, now.value) for before, now in pairs):
            return False
        self._set(found)
        return True


def _now(read: Read) -> object:
    """What is there now."""
    if isinstance(read.owner, Source):
        return read.owner.lookup(read.name)
    if isinstance(read.owner, dict):
        return cast("dict[str, object]", read.owner).get(read.name, MISSING)
    return getattr(read.owner, read.name, MISSING)


def _are_alike(before: object, now: object) -> bool:
    """Whether two values are the same to a kernel."""
    if before is now:
        return True
    if isinstance(before, (DeviceFunction, ModuleType)):
        return False
    marker = Marker()
    mark = marker.mark(before)
    return mark is not None and mark == marker.mark(now)


def _comparison(reads: Iterable[Read]) -> Callable[[], bool]:
    """A function that compares all reads with what is there."""
    names: dict[int, str] = {}
    objects: dict[str, object] = {}

    def named(found: object) -> str:
        name = names.setdefault(id(found), f"o{len(names)}")
        objects[name] = found
        return name

    # Functions of one module read the same names.
    tests = dict.fromkeys(test for read in reads if (test := _test(read, named)) is not None)
    if not tests:
        return _always
    # Arguments with defaults are the fastest variables that there are.
    arguments = ", ".join(f"{name}={name}" for name in objects)
    source = (
        f"def same({arguments}):\n"
        f"    try:\n"
        f"        return {' and '.join(tests)}\n"
        f"    except (KeyError, AttributeError, ValueError):\n"
        f"        return False\n"
    )
    scope: dict[str, Any] = dict(objects)
    exec(source, scope)
    return scope["same"]


def _always() -> bool:
    return True


def _never() -> bool:
    return False


_NEVER = Read(None, "", object())
"""Something that nothing is like."""


def _test(read: Read, named: Callable[[object], str]) -> str | None:
    """The code that compares one read; None where there is nothing to compare."""
    owner, name, value = read.owner, read.name, read.value
    if isinstance(owner, Source):
        cell = owner.cell(name)
        if cell is not None:
            return f"{named(cell)}.cell_contents is {named(value)}"
        if name not in owner.scope:
            return f"{name!r} not in {named(owner.scope)}"
        owner = owner.scope
    if isinstance(owner, ModuleType):
        if owner.__name__ in OWN_MODULES:
            return None
        owner = vars(owner) if name in vars(owner) else owner
    if isinstance(owner, dict):
        return f"{named(cast('object', owner))}[{name!r}] is {named(value)}"
    return f"{named(owner)}.{name} is {named(value)}"
