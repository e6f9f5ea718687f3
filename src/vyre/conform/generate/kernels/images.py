"""Random kernels over images, as text: a pixel per invocation, in one plane or in several.

Edges are treated apart from the midst, images are mirrored, scaled and shifted, planes lie one
behind the other and are gone through by a loop.
"""

from __future__ import annotations

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.kernels.expressions import NOWHERE
from vyre.conform.generate.kernels.frame import Frame

_X = (
    "gid.x",
    "gid.x",
    "gid.x",
    "w - 1 - gid.x",
    "gid.x + 1",
    "gid.x - 1",
    "gid.x / 2",
    "gid.x * 2",
)
_Y = (
    "gid.y",
    "gid.y",
    "gid.y",
    "h - 1 - gid.y",
    "gid.y + 1",
    "gid.y - 1",
    "gid.y / 2",
    "gid.y * 2",
)
_WITHIN = (
    *("(gid.y > 0) & (gid.y + 1 < h) & (gid.x > 0) & (gid.x + 1 < w)", "(gid.y > 0) & (gid.x > 0)"),
    *("gid.y + 1 < h", "gid.y != 2", "(gid.y >= h / 2) & (gid.x < w / 2)", "(gid.y & 1) == 0"),
    *("~((gid.y == 0) | (gid.x == 0))", "(gid.x < w - 1) & (gid.y == h - 1)"),
)
_PLANES = ("s", "s", "3", "(n & 3) + 1", "told[4]", "h & 3", "1")


class Images:
    """Texts of such kernels."""

    def __init__(self, dice: Dice, frame: Frame) -> None:
        self._dice = dice
        self._frame = frame
        self._own = ("out[at]",) if dice.chance(3) else ()
        """What a pixel was before, in kernels that read it."""

    def kernel(self) -> str:
        """The body of a kernel."""
        dice = self._dice
        planes = dice.pick(_PLANES)
        work = f"let c = 0u32\n{self._pixel('1')}"
        if dice.chance(6):
            # An invocation of every layer has planes of its own, so that no place is written twice.
            work = f"for c in 0..{planes} {{\n{self._pixel(planes)}}}\n"
        kind = dice.below(3)
        if kind == 0:
            return f"if (gid.x >= w) | (gid.y >= h) {{\nreturn\n}}\n{work}"
        if kind == 1:
            return f"if gid.y < h {{\nif gid.x < w {{\n{work}}}\n}}\n"
        return f"if (gid.x < w) & (gid.y < h) {{\n{work}}}\n"

    def _pixel(self, planes: str) -> str:
        """What is done for one pixel of one plane."""
        dice = self._dice
        text = f"let p = gid.z * ({planes}) + c\nlet at = (p * h + gid.y) * w + gid.x\n"
        if dice.chance(4):
            other = self._stored() if dice.chance(7) else ""
            return f"{text}if {dice.pick(_WITHIN)} {{\n{self._stored()}}} else {{\n{other}}}\n"
        return text + self._stored()

    def _stored(self) -> str:
        written, value = self._frame.written, self._value(2)
        if self._dice.chance(2):
            value = f"select({self._dice.pick(_WITHIN)}, {value}, {self._value(1)})"
        if written == "bool":
            return f"out[at] = {value} > {self._value(0)}\n"
        return (
            f"out[at] = {f'bf16(f32({value}))' if written == 'bf16' else f'{written}({value})'}\n"
        )

    def _value(self, depth: int) -> str:
        dice, dtype = self._dice, self._frame.computed
        if depth and dice.chance(7):
            left, right = self._value(depth - 1), self._value(depth - 1)
            if dice.chance(3):
                return f"{dice.pick(('min', 'max'))}({left}, {right})"
            return f"({left} {dice.pick(('+', '-', '*'))} {right})"
        place = self._place()
        loads = (f"a[{place}]", f"a[{place}]", f"b[{place}]", f"f[{place}]", "a[c]", *self._own)
        return f"{dtype}({dice.pick((*loads, 'c', 'gid.x'))})"

    def _place(self) -> str:
        dice = self._dice
        x, y = dice.pick(_X), dice.pick(_Y)
        if dice.chance(3):
            x, y = f"min({x}, w - 1)", f"min({y}, h - 1)"
        plane = dice.pick(("p", "p", "c", "0"))
        place = f"({plane} * h + {y}) * w + {x}"
        if dice.chance(3):
            return f"select(({x} < w) & ({y} < h), {place}, {NOWHERE})"
        return place
