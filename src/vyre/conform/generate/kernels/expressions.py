"""Indices, conditions and values of random kernels, as text.

Visible everywhere: `i`, the place that no other invocation has; `w`, `h`, `n` and `s`, what the
kernel was told; `v`, what it computes; `m`, a number for indices.
"""

from __future__ import annotations

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.kernels.frame import Frame

NOWHERE = "4294967295u32"
"""An index outside of every buffer."""
_NEAR = (
    *("i", "i", "i", "i + 1", "i - 1", "i + w", "i - w", "i * 2", "i * 3 + 1", "n - 1 - i"),
    *("min(i, n - 1)", "i % w", "i / w", "i >> 1", "i ^ 1", "gid.x", "lid.x", "wid.x"),
    *("gid.y * w + gid.x", "(gid.y + 1) * w + gid.x - 1", "i32(i) - 1i32", "i32(i)"),
    f"select((gid.x < w) & (gid.y < h), gid.y * w + gid.x, {NOWHERE})",
    f"select((gid.x - 1 < w) & (gid.y < h), gid.y * w + gid.x - 1, {NOWHERE})",
    f"select(i + 1 < n, i + 1, {NOWHERE})",
    *("gid.x * s", "gid.x * s + 1", "gid.x * s + 2", "(gid.y * w + gid.x) * s + 1"),
    f"select(1 < s, gid.x * s + 1, {NOWHERE})",
)
_FAR = ("m", "m & 7", "u32(b[i])", "u32(v)", "0", "n", "n - 1", "u32(b[m & 15]) + i", "~i")
_BOUNDS = (
    *("i < n", "i < n", "i + 1 < n", "i - 1 < n", "~(i >= n)", "i < len(out)", "i < len(a)"),
    *("gid.x < w", "(gid.x > 0) & (gid.x + 1 < w)", "(gid.x < w) & (gid.y < h)", "i <= n - 2"),
    *("~((gid.x >= w) | (gid.y >= h))", "lid.x < 7", "lid.x + 1 < 5", "wid.x != 1", "wid.x < 2"),
    *("gid.x >= 3", "i != n - 1", "(i - 1) < (n - 2)", "(i > 2) & (i < n)"),
)
_FLOATS = ("<", "<=", ">", ">=", "==", "!=")
_LIMITS = ("0.0f32", "1.0f32", "f[0]", "f[i + 1]", "-0.5f32", "f[lid.x]")


class Expressions:
    """Texts of expressions, at random."""

    def __init__(self, dice: Dice, frame: Frame) -> None:
        self._dice = dice
        self._frame = frame
        self.counters: list[str] = []
        """Variables of type u32 of the loops around."""

    def index(self) -> str:
        """Some index, of a buffer that need not have it."""
        dice = self._dice
        if self.counters and dice.chance(5):
            counter = dice.pick(self.counters)
            return dice.pick(
                (counter, f"i + {counter}", f"{counter} * w + i", f"i * 4 + {counter}")
                + (f"{counter} + m", f"n - {counter}", f"i - {counter}", f"{counter} & 3")
            )
        return dice.pick(_NEAR) if dice.chance(8) else dice.pick(_FAR)

    def number(self) -> str:
        """Some u32."""
        dice = self._dice
        chosen = dice.pick((self.index(), f"u32({self.value()})", str(dice.below(40)), "m"))
        return f"u32({chosen})" if "i32(" in chosen else f"({chosen})"

    def bound(self) -> str:
        """A guard as it stands before accesses: one comparison, or two."""
        dice = self._dice
        said = self._part()
        if dice.chance(4):
            said = f"({said}) {dice.pick(('&', '|'))} ({self._part()})"
        return f"~({said})" if dice.chance(2) else said

    def _part(self) -> str:
        return self._float_condition() if self._dice.chance(3) else self._dice.pick(_BOUNDS)

    def condition(self) -> str:
        """Some truth value."""
        dice = self._dice
        kind = dice.below(8)
        if kind < 2:
            return self.bound()
        if kind == 2:
            return self._float_condition()
        if kind == 3:
            low = dice.below(200)
            return f"(b[i] >= {low}u8) & (b[i] <= {low + dice.below(50)}u8)"
        if kind == 4:
            return f"b[{self.index()}] {dice.pick(('==', '<', '!='))} {dice.pick((0, 10, 128))}u8"
        if kind == 5:
            return f"{self.value()} {dice.pick(_FLOATS)} {self.value()}"
        if kind == 6:
            return f"({self.number()} & {dice.pick((1, 3, 7))}) == 0"
        return f"{self.number()} {dice.pick(('<', '>', '=='))} {self.number()}"

    def _float_condition(self) -> str:
        dice = self._dice
        said = f"f[{self.index()}] {dice.pick(_FLOATS)} {dice.pick(_LIMITS)}"
        return f"~({said})" if dice.chance(5) else said

    def value(self, depth: int = 2) -> str:
        """Something of the type that is computed with."""
        dice, dtype = self._dice, self._frame.computed
        kind = dice.below(10)
        if depth == 0 or kind < 4:
            return self._leaf()
        left, right = self.value(depth - 1), self.value(depth - 1)
        if kind == 4:
            return f"select({self.bound()}, {left}, {right})"
        if kind == 5:
            return f"{dice.pick(('min', 'max'))}({left}, {right})"
        operators = ("+", "-", "*", "+")
        if not dtype.startswith("f"):
            operators = (*operators, "^", "&", "|", ">>", "/", "%")
        return f"({left} {dice.pick(operators)} {right})"

    def _leaf(self) -> str:
        dice, dtype = self._dice, self._frame.computed
        number = dice.pick((1, 2, 3, 7, 100))
        literal = f"{number}.0{dtype}" if dtype.startswith("f") else f"{number}{dtype}"
        loads = (f"{dtype}(a[{self.index()}])",) * 4 + (f"{dtype}(b[{self.index()}])",) * 2
        others = (f"{dtype}(f[{self.index()}])", f"{dtype}(out[i])", f"{dtype}(i)", "v", literal)
        return dice.pick((*loads, *others, f"{dtype}(mine[{self.index()}])"))
