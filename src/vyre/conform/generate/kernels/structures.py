"""Random kernels in which every invocation has a structure of a few elements, as text.

Structures lie one behind the other: pixels of several channels, small matrices, bytes of words.
Their parts are read and written one by one or by short loops, forwards and backwards, some of them
or all, and parts that were written are read again. How large they are is a literal, or told.
"""

from __future__ import annotations

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.kernels.expressions import NOWHERE
from vyre.conform.generate.kernels.frame import Frame

_SIZES = (2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 12, 16, 16, 17, 20)


class Structures:
    """Texts of such kernels."""

    def __init__(self, dice: Dice, frame: Frame) -> None:
        self._dice = dice
        self._frame = frame
        self._size = dice.pick(_SIZES)
        self._told = dice.chance(3)
        """Whether the size is known only when the kernel runs."""
        self._loops = 0

    def kernel(self) -> str:
        """The body of a kernel."""
        dice = self._dice
        size = "s" if self._told else str(self._size)
        zero = self._literal(0)
        text = f"let i = {self._frame.number}\n"
        inner = f"let v = {zero}\nlet x = {zero}\n"
        for _ in range(dice.between(1, 4)):
            inner += self._statement()
        if dice.chance(5):
            place = self._at("out", str(dice.below(self._size)))
            inner += f"out[{place}] = {self._written('v + x')}\n"
        guard = dice.pick((f"i < n / {size}", f"i < len(out) / {size}", f"i < n / {size} + 1"))
        return f"{text}if {guard} {{\n{inner}}}\n"

    def _statement(self) -> str:
        dice = self._dice
        kind = dice.below(8)
        if kind < 4:
            return self._loop()
        if kind == 4 and self._size % 4 == 0:
            return self._nest()
        places = [dice.below(self._size) for _ in range(dice.between(1, 5))]
        if kind == 5:
            places = list(range(self._size))
        return "".join(self._work(str(place)) for place in places)

    def _loop(self) -> str:
        dice = self._dice
        self._loops += 1
        k = f"k{self._loops}"
        start = dice.pick((0, 0, 0, 1))
        stop = dice.pick((self._size, self._size, max(self._size - 1, 1)))
        work = "".join(self._work(self._turned(k)) for _ in range(dice.between(1, 2)))
        if dice.chance(2):
            signed = "".join(self._work(f"u32({k})") for _ in range(dice.between(1, 2)))
            return f"for {k} in {start}i32..{stop}i32 {{\n{signed}}}\n"
        return f"for {k} in {start}..{stop} {{\n{work}}}\n"

    def _turned(self, counter: str) -> str:
        return f"({self._size - 1} - {counter})" if self._dice.chance(2) else counter

    def _nest(self) -> str:
        self._loops += 1
        j, k = f"j{self._loops}", f"k{self._loops}"
        work = self._work(f"({j} * 4 + {k})")
        return f"for {j} in 0..{self._size // 4} {{\nfor {k} in 0..4 {{\n{work}}}\n}}\n"

    def _work(self, place: str) -> str:
        """Something with one part."""
        dice = self._dice
        value = self._value(place, 2)
        if dice.chance(6):
            text = f"out[{self._at('out', place)}] = {self._written(value)}\n"
        else:
            text = dice.pick((f"v = v + {value}\n", f"x = max(x, {value})\n", f"v = {value} - v\n"))
        if dice.chance(1):
            return f"if {self._value(place, 1)} < x {{\n{text}}}\n"
        return text

    def _at(self, buffer: str, place: str) -> str:
        """Where a part is; what lies beyond the end of a structure is nowhere."""
        if not self._told:
            return f"i * {self._size} + {place}"
        inside = f"{place} < s"
        if buffer != "out" and self._dice.chance(5):
            return f"i * s + {place}"
        return f"select({inside}, i * s + {place}, {NOWHERE})"

    def _value(self, place: str, depth: int) -> str:
        dice, dtype = self._dice, self._frame.computed
        if depth and dice.chance(7):
            left, right = self._value(place, depth - 1), self._value(place, depth - 1)
            return f"({left} {dice.pick(('+', '-', '*'))} {right})"
        other = str(dice.below(self._size))
        loads = (
            *(f"a[{self._at('a', place)}]", f"a[{self._at('a', place)}]"),
            *(f"b[{self._at('b', place)}]", f"f[{self._at('f', other)}]"),
            *(f"out[{self._at('out', place)}]", f"out[{self._at('out', other)}]"),
            *(f"a[{self._at('a', other)}]", f"a[i * 3 + {other}]", "b[i]"),
        )
        others = ("v", "x", self._literal(dice.pick((1, 2, 5))))
        return dice.pick((*(f"{dtype}({load})" for load in loads), *others))

    def _literal(self, number: int) -> str:
        dtype = self._frame.computed
        return f"{number}.0{dtype}" if dtype.startswith("f") else f"{number}{dtype}"

    def _written(self, value: str) -> str:
        written = self._frame.written
        if written == "bool":
            return f"{value} > v"
        return f"bf16(f32({value}))" if written == "bf16" else f"{written}({value})"
