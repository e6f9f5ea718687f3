"""A call of a kernel like one before: the same arrays of the host, the same numbers.

Loops call a kernel with the same arguments again and again, or with a few sets of them in turns.
What a call finds out about them, it remembers: which program and grid they come to, and what of the
outputs has to be cleared. Arrays are known by where they lie, as in `repeated`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.config import config
from vyre.driver import routing
from vyre.opt.hot_paths import hint_keys
from vyre.record import dataclass
from vyre.runtime.kernel_outputs import Cuts, clear
from vyre.runtime.repeated import Repeated

if TYPE_CHECKING:
    from vyre.driver.routing import Route
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram

Wish = tuple[str | None, Sequence[int] | int | None, int | None, float | None]
"""What the caller said: `device`, `grid`, `elements` and `deadline`."""

_REMEMBERED = 4
"""Calls of a kernel that are remembered."""
_LAUNCHES = 256
"""Calls in a row that look at nothing else: then there may be better code for the program."""
_NUMBERS = (int, bool)
_WISHES = (type(None), str, int, float, tuple)


@dataclass(slots=True)
class Call:
    """A call that may come again."""

    program: Program
    _arguments: tuple[object, ...]
    """Places of arrays, and numbers."""
    _wish: Wish
    _cuts: tuple[tuple[int, Cuts], ...]
    """Which arguments are cleared before, and where."""
    _compiled: CompiledProgram
    _route: Route
    _known: Repeated
    _names: tuple[str, ...]
    left: int = _LAUNCHES
    """How often it may be done again without looking at everything."""

    def matches(self, args: tuple[object, ...], wish: Wish) -> bool:
        """Whether a call asks for the same."""
        if wish != self._wish or len(args) != len(self._arguments):
            return False
        for value, known in zip(args, self._arguments, strict=True):
            if (_place(value) if type(value) is np.ndarray else _as_number(value)) != known:
                return False
        return routing.choose.cache.get(wish[0]) is self._route

    def again(self, args: tuple[Any, ...]) -> None:
        """Do the same once more."""
        for position, cuts in self._cuts:
            clear(args[position], cuts)
        self.left -= 1
        if self._known.launch_again(self._names, is_for_hot=self._compiled.is_for_hot):
            self.left = 0


class Recall:
    """The last calls of a kernel."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: tuple[Call, ...] = ()

    def find(self, args: tuple[object, ...], wish: Wish) -> Call | None:
        """A call before that asked for the same."""
        if not self._calls or type(wish[1]) not in _WISHES or config().check:
            return None
        for call in self._calls:
            if call.matches(args, wish):
                return call if call.left else None
        return None

    def remember(
        self,
        names: Mapping[str, object],
        args: tuple[object, ...],
        wish: Wish,
        cuts: Mapping[str, Cuts],
        compiled: CompiledProgram,
        known: Repeated | None,
    ) -> None:
        """Keep a call that went well, if it can be done again without looking at everything.

        `names` are the parameters in their order, `known` is what its dispatch has left.
        """
        if known is None or known.launch is None or known.resident or config().check:
            return
        if any(type(said) not in _WISHES for said in wish):
            return
        described: list[object] = []
        for value in args:
            one = _place(value) if type(value) is np.ndarray else _as_number(value)
            if one is None:
                return
            described.append(one)
        places = {name: position for position, name in enumerate(names)}
        made = Call(
            compiled.compilation.source,
            tuple(described),
            wish,
            tuple((places[name], where) for name, where in cuts.items()),
            compiled,
            compiled.route,
            known,
            hint_keys(compiled.compilation.source),
        )
        others = [call for call in self._calls if not call.matches(args, wish)]
        self._calls = (made, *others[: _REMEMBERED - 1])


def _place(array: np.ndarray[Any, Any]) -> tuple[object, ...]:
    """All that tells an array from another: where it lies, whether it may be written, its form."""
    told = array.__array_interface__
    return told["data"], told["strides"], array.shape, array.dtype


def _as_number(value: object) -> tuple[type, object] | None:
    """A number as something that is equal only to the same number of the same type."""
    kind = type(value)
    if isinstance(value, float) and kind is float:
        # Zeros of either sign are equal, and of NaN there are many that look alike.
        return (kind, value.hex()) if value == value else None
    return (kind, value) if kind in _NUMBERS else None


__all__ = ["Call", "Recall"]
