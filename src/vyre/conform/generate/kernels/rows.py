"""Random kernels in which every invocation goes through a row of its own, as text.

The rows of a matrix lie one behind the other, and a loop over the columns comes by neighbours:
rounds that have nothing to do with one another, sums and extremes, values that go on from column
to column, all of them stored or not.
"""

from __future__ import annotations

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.kernels.expressions import NOWHERE
from vyre.conform.generate.kernels.frame import Frame

_WIDTHS = ("3", "8", "9", "33", "40", "70", "(w & 63) + 1", "h", "s", "s", "s")
_GUARDS = ("i < n / c", "i < n / c", "i * c + c <= n", "i < n / c + 1", "i < len(out) / c")


class Rows:
    """Texts of such kernels."""

    def __init__(self, dice: Dice, frame: Frame) -> None:
        self._dice = dice
        self._frame = frame
        self._loops = 0

    def kernel(self) -> str:
        """The body of a kernel."""
        dice, dtype = self._dice, self._frame.computed
        zero = self._literal("0")
        text = f"let i = {self._frame.number}\nlet c = {dice.pick(_WIDTHS)}\n"
        inner = f"let v = {zero}\nlet x = {zero}\nlet m = 0u32\n"
        for _ in range(dice.between(1, 3)):
            inner += self._loop()
        if dice.chance(5):
            inner += f"out[i * c] = {self._written(f'v + x + {dtype}(m)')}\n"
        return f"{text}if {dice.pick(_GUARDS)} {{\n{inner}}}\n"

    def _loop(self) -> str:
        dice = self._dice
        self._loops += 1
        k, p = f"k{self._loops}", f"p{self._loops}"
        start = dice.pick(("0", "0", "0", "1", "m & 3"))
        at = f"i * c + {k}"
        if dice.chance(4):
            at = f"select((i < n / c) & ({k} < c), {at}, {NOWHERE})"
        body = "".join(self._statement(k, p) for _ in range(dice.between(1, 3)))
        return f"for {k} in {start}..c {{\nlet {p} = {at}\n{body}}}\n"

    def _statement(self, k: str, p: str) -> str:
        dice = self._dice
        value = self._value(k, p, 2)
        statements = (
            *(f"v = v + {value}\n", f"v = max(v, {value})\n", f"v = v * {value} + x\n"),
            *(f"x = min({value}, x)\n", f"x = select({value} < x, {value}, x)\n", f"v = {value}\n"),
            *(f"m = m + u32(b[{p}])\n", f"m = m ^ u32({value})\n", f"m = m * 3 + {k}\n"),
        )
        if dice.chance(8):
            return f"out[{p}] = {self._written(value)}\n"
        if dice.chance(2):
            return f"if {value} < {self._value(k, p, 1)} {{\n{dice.pick(statements)}}}\n"
        return dice.pick(statements)

    def _value(self, k: str, p: str, depth: int) -> str:
        dice, dtype = self._dice, self._frame.computed
        if depth and dice.chance(8):
            left, right = self._value(k, p, depth - 1), self._value(k, p, depth - 1)
            if dice.chance(4):
                return f"{dice.pick(('min', 'max'))}({left}, {right})"
            return f"({left} {dice.pick(('+', '-', '*'))} {right})"
        loads = (f"a[{p}]", f"a[{p}]", f"b[{p}]", f"f[{p}]", f"out[{p}]", f"a[{k}]", f"b[i + {k}]")
        others = (f"{dtype}({k})", "v", "x", self._literal(str(dice.pick((1, 2, 5)))))
        return dice.pick((*(f"{dtype}({load})" for load in loads), *others))

    def _literal(self, number: str) -> str:
        dtype = self._frame.computed
        return f"{number}.0{dtype}" if dtype.startswith("f") else f"{number}{dtype}"

    def _written(self, value: str) -> str:
        written = self._frame.written
        if written == "bool":
            return f"{value} > v"
        return f"bf16(f32({value}))" if written == "bf16" else f"{written}({value})"
