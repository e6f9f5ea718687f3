"""The statements of a program of seams, and the rules that keep it valid and free of races.

A relay is written at an invocation's own element, or read anywhere, but not both between two grid
barriers. Where a loop begins or ends, or is left, no relay is in use: a barrier sees to that first.
Workgroup barriers stand only where no invocation can have returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.seams.frame import BOUNDS, Cells, Frame
from vyre.record import dataclass

_COUNTERS = ("u32", "u32", "i32", "u8", "u64", "i64")
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class _Place:
    """Where statements are made that the whole grid executes."""

    depth: int = 0
    counters: tuple[str, ...] = ()
    """Numbers on which the whole grid agrees, of the loops around."""
    waits: bool = False
    """Whether the loop around holds a workgroup barrier."""
    only: Cells | None = None
    """A private array that is used in the loop around, and nowhere else."""


@dataclass(slots=True)
class _State:
    """What is known at the place where the next statement goes."""

    variables: list[str] = field(default_factory=list[str])
    """Of type u32, and assignable."""
    written: set[str] = field(default_factory=set[str])
    """Relays written since the last grid barrier."""
    read: set[str] = field(default_factory=set[str])
    held: set[str] = field(default_factory=set[str])
    """Workgroup memory written since the last grid barrier."""
    names: int = 0
    together: bool = True
    """Whether no invocation can have returned."""


class Stretches:
    """Makes the statements of one program."""

    def __init__(self, dice: Dice, frame: Frame) -> None:
        self._dice = dice
        self._frame = frame
        self._state = _State()
        self._budget = dice.between(6, 22)
        first, *rest = frame.private
        self._common = [first, *(cells for cells in rest if dice.chance(4))]
        """Private arrays that are used anywhere."""
        self._reserved = [cells for cells in rest if cells not in self._common]
        """Private arrays that wait for a loop of their own."""

    def program(self) -> list[str]:
        """All of it."""
        dice, frame = self._dice, self._frame
        lines = [f"let me = {frame.linear()}", f"let lane = {frame.lane()}"]
        lines += self._let(_Place())
        for cells in frame.shared:
            if dice.chance(4):
                # Zero at the beginning, for every reader.
                lines += [self._show(cells.loaded(self._index(cells))), "barrier seq_cst"]
        lines += self._grid_level(_Place(), self._budget)
        lines += [self._show(name) for name in self._state.variables]
        shown = [cells for cells in self._common if dice.chance(5)]
        return [*lines, *(self._show(c.loaded(str(k))) for c in shown for k in range(c.count))]

    # --- statements of the whole grid ---------------------------------------------------------

    def _grid_level(self, place: _Place, count: int) -> list[str]:
        lines: list[str] = []
        outside, names = len(self._state.variables), self._state.names
        for _ in range(count):
            if self._budget <= 0:
                break
            self._budget -= 1
            lines += self._dice.weighted(self._options(place))(place)
        if place.depth:
            del self._state.variables[outside:]
            if self._dice.chance(5):
                # What comes after this scope may use its names again.
                self._state.names = names
        return lines

    def _options(self, place: _Place) -> list[tuple[int, Callable[[_Place], list[str]]]]:
        state = self._state
        options: list[tuple[int, Callable[[_Place], list[str]]]] = [
            *((6, self._plain), (4, self._let), (5, self._put), (5, self._take)),
            *((4, self._sync), (1, self._count)),
        ]
        if place.depth < 2:
            options += [(4, self._counted), (3, self._while), (1, self._nested)]
        if place.depth == 0:
            options.append((2, self._collective))
        if place.counters:
            options.append((2, self._leave))
        if self._frame.shared and state.together:
            options.append((4, self._exchange))
            if state.held:
                options.append((4, self._recall))
        if not place.waits and (place.depth == 0 or not self._waits_later(place)):
            options.append((1, self._return))
        return options

    def _waits_later(self, place: _Place) -> bool:
        """Whether a return here would be missing at a barrier of this loop, in the next round."""
        return bool(self._frame.shared) and self._state.together and place.depth > 0

    def _sync(self, place: _Place) -> list[str]:
        self._state.written.clear()
        self._state.read.clear()
        self._state.held.clear()
        return ["barrier grid_sync"]

    def _settled(self) -> list[str]:
        """A barrier, if a relay is in use."""
        return self._sync(_Place()) if self._state.written or self._state.read else []

    def _put(self, place: _Place) -> list[str]:
        name = self._dice.pick(self._frame.relays)
        before = [] if name not in self._state.read else self._sync(place)
        self._state.written.add(name)
        return [*before, *self._perhaps(f"{name}[me] = {self._value(place)}")]

    def _take(self, place: _Place) -> list[str]:
        name = self._dice.pick(self._frame.relays)
        before = [] if name not in self._state.written else self._sync(place)
        self._state.read.add(name)
        far = f"{name}[(me + {self._dice.below(9)}u32) % {self._frame.total}u32]"
        return [*before, *self._use(far)]

    def _use(self, value: str) -> list[str]:
        """Something that keeps a number, or shows it."""
        dice, variables = self._dice, self._state.variables
        if variables and dice.chance(5):
            name = dice.pick(variables)
            return self._perhaps(f"{name} = {name} * 3u32 + {value}")
        if dice.chance(5):
            cells = dice.pick(self._common)
            return self._perhaps(f"{cells.name}[{self._index(cells)}] = {cells.stored(value)}")
        return [self._show(value)]

    def _count(self, place: _Place) -> list[str]:
        return [f"eval atomic_add(count[{self._dice.below(4)}], {self._value(place)})"]

    def _plain(self, place: _Place) -> list[str]:
        kind = self._dice.below(4)
        value = self._value(place)
        if kind == 0 and self._state.variables:
            name = self._dice.pick(self._state.variables)
            return self._perhaps(f"{name} = {value}")
        if kind == 1:
            return [self._show(value)]
        cells = self._cells(place)
        index = self._index(cells)
        return self._perhaps(
            f"{cells.name}[{index}] = {cells.stored(f'{cells.loaded(index)} * 5u32 + {value}')}"
        )

    def _let(self, place: _Place) -> list[str]:
        name = self._name()
        line = f"let {name} = {self._value(place)}"
        self._state.variables.append(name)
        return [line]

    def _exchange(self, place: _Place) -> list[str]:
        """Through workgroup memory; where a part is not written, it may be zeros or older."""
        cells = self._dice.pick(self._frame.shared)
        store = f"{cells.name}[lane] = {cells.stored(self._value(place))}"
        self._state.held.add(cells.name)
        far = cells.loaded(f"(lane + {self._dice.below(9)}u32) % {cells.count}u32")
        return [*self._perhaps(store), "barrier seq_cst", *self._use(far), "barrier seq_cst"]

    def _recall(self, place: _Place) -> list[str]:
        """What workgroup memory holds from before, perhaps from before a loop or a round of it."""
        cells = self._dice.pick([c for c in self._frame.shared if c.name in self._state.held])
        far = cells.loaded(f"(lane + {self._dice.below(9)}u32) % {cells.count}u32")
        return [*self._use(far), "barrier seq_cst"]

    def _held_again(self, place: _Place, held: set[str]) -> list[str]:
        """Workgroup memory as a round found it: written since the last grid barrier."""
        lost = [cells for cells in self._frame.shared if cells.name in held - self._state.held]
        self._state.held |= held
        stores = [f"{c.name}[lane] = {c.stored(self._value(place))}" for c in lost]
        return [*stores, "barrier seq_cst"] if stores else []

    def _collective(self, place: _Place) -> list[str]:
        # Barriers before and after, in one statement.
        self._sync(place)
        dice, relays = self._dice, self._frame.relays
        one, two = dice.pick(relays), dice.pick(relays)
        return [
            dice.pick(
                (
                    *(f"all_gather {one} -> {two}", f"reduce_scatter add {one} -> {two}"),
                    *(f"all_reduce max {one}", f"broadcast {one} from 0"),
                    *(f"all_gather given -> {two}", f"all_gather {one} -> tail"),
                )
            )
        ]

    def _return(self, place: _Place) -> list[str]:
        self._state.together = False
        self._state.held.clear()
        words = [self._show(self._value(place))] if self._dice.chance(5) else []
        return _if(self._condition(), [*words, "return"])

    # --- bodies -------------------------------------------------------------------------------

    def _nested(self, place: _Place) -> list[str]:
        head = self._dice.pick(("{", 'region "seam" {'))
        body = self._grid_level(replace(place, depth=place.depth + 1), self._dice.between(1, 4))
        return [head, *(_INDENT + line for line in body), "}"]

    def _counted(self, place: _Place) -> list[str]:
        dice, name = self._dice, self._name()
        dtype = dice.pick(_COUNTERS)
        first = dice.below(2)
        last = f"{first + dice.below(4)}{dtype}" if dice.chance(4) else self._bound(dtype)
        before = self._settled()
        counter = name if dtype == "u32" else f"u32({name})"
        inner = self._loop_body(place, counter)
        return [*before, f"for {name} in {first}{dtype}..{last} {{", *inner, "}"]

    def _while(self, place: _Place) -> list[str]:
        name = self._name()
        before = self._settled()
        line = f"let {name} = {self._bound('u32')}"
        inner = self._loop_body(place, name)
        step = f"{_INDENT}{name} = {name} - 1u32"
        return [*before, line, f"while {name} > 0u32 {{", step, *inner, "}"]

    def _loop_body(self, place: _Place, counter: str) -> list[str]:
        waits = bool(self._frame.shared) and self._state.together
        only = place.only
        if self._reserved and self._dice.chance(7):
            only = self._reserved.pop()
        inner = _Place(place.depth + 1, (*place.counters, counter), waits, only)
        held = set(self._state.held)
        body = self._grid_level(inner, self._dice.between(1, 6))
        if only is not place.only and only is not None:
            body += self._own_array(inner, only)
        body += self._settled()
        if not any("grid_sync" in line for line in body) and self._dice.chance(8):
            body += self._sync(inner)
        body += self._held_again(inner, held)
        return [_INDENT + line for line in body]

    def _own_array(self, place: _Place, cells: Cells) -> list[str]:
        """An array that only this loop uses goes on from iteration to iteration."""
        index = self._index(cells)
        more = cells.stored(f"{cells.loaded(index)} * 5u32 + {self._value(place)}")
        return [f"{cells.name}[{index}] = {more}", self._show(cells.loaded(index))]

    def _leave(self, place: _Place) -> list[str]:
        """A break or a continue that the whole grid takes, or no invocation."""
        dice = self._dice
        before = self._settled()
        cond = f"{place.counters[-1]} == {dice.below(4)}u32"
        words = self._plain(place) if dice.chance(5) else []
        return [*before, *_if(cond, [*words, dice.pick(("break", "continue"))])]

    # --- parts --------------------------------------------------------------------------------

    def _cells(self, place: _Place) -> Cells:
        """A private array that may be used here."""
        if place.only is not None and self._dice.chance(5):
            return place.only
        return self._dice.pick(self._common)

    def _name(self) -> str:
        self._state.names += 1
        return f"v{self._state.names}"

    def _bound(self, dtype: str) -> str:
        bound = f"n[{self._dice.below(BOUNDS)}]"
        return bound if dtype == "u32" else f"{dtype}({bound})"

    def _show(self, value: str) -> str:
        return f"out[me] = out[me] * 31u32 + {value}"

    def _index(self, cells: Cells) -> str:
        dice = self._dice
        near = dice.below(cells.count)
        # Now and then outside: such a store does nothing, such a load gives zero.
        return dice.pick(
            (f"{near}", f"(me + {near}u32) % {cells.count}u32", f"me % {cells.count + 1}u32")
        )

    def _value(self, place: _Place) -> str:
        dice, state = self._dice, self._state
        cells = self._cells(place)
        leaves = [
            *("me", "lane", "given[me]", f"{dice.below(100)}u32"),
            *(cells.loaded(self._index(cells)), cells.loaded(self._index(cells))),
            *state.variables[-3:],
            *place.counters[-2:],
        ]
        one, two = dice.pick(leaves), dice.pick(leaves)
        return one if dice.chance(3) else f"({one} {dice.pick(('+', '*', '^', '-'))} {two})"

    def _condition(self) -> str:
        dice = self._dice
        choices = ("given[me] % 3u32 == 1u32", "me % 2u32 == 1u32", f"me > {dice.below(12)}u32")
        return dice.pick(choices)

    def _perhaps(self, line: str) -> list[str]:
        """A statement, now and then only for some invocations."""
        return _if(self._condition(), [line]) if self._dice.chance(2) else [line]


def _if(cond: str, body: list[str]) -> list[str]:
    return [f"if {cond} {{", *(_INDENT + line for line in body), "}"]
