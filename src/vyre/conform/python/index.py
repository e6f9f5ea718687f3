"""Random index expressions: ids, lengths, and what is counted and computed from them.

To CPython these are integers without an end, and so are the elements of the arrays here. The forms
are those of the kernel language: an index is never negative, a difference of indices has a sign,
and either takes the type of the data that it meets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vyre.conform.generate.dice import Dice
from vyre.conform.python.kernel import SLOTS, Written
from vyre.conform.python.scope import World
from vyre.record import dataclass

INDEX_VALUES = True
"""Whether ids and lengths are index values in kernels, and are tried."""

MOST = 1 << 20
"""What index expressions stay within."""
_WORLDS = (World("i32", wraps=False), World("i64", wraps=False), World("u32", wraps=True))
_IDS = (
    *("vy.gid()", "vy.lid()", "vy.wid()", "vy.num_groups()", "len(x)", "x.size", "len(r)"),
    *("m.shape[0]", "m.shape[1]", "i", "i", "j"),
)


@dataclass(frozen=True, slots=True)
class Index:
    """The text of an index expression."""

    text: str
    has_sign: bool = False
    """Whether it may be negative."""
    bound: int = 256
    """How far from zero it can be."""


class Indices:
    """Writes the lines of one part."""

    def __init__(self, dice: Dice, world: World, number: int) -> None:
        self.dice = dice
        self.world = world
        self.number = number
        self.lines: list[str] = []
        self.names: list[Index] = []
        self.count = 0

    def part(self) -> None:
        """Numbers from ids and lengths, compared, counted, converted and stored."""
        self._line(1, "i = vy.gid()")
        self._line(1, "j = vy.lid()")
        for _ in range(self.dice.between(5, 8)):
            self.dice.pick(
                (self._named, self._chosen, self._counted, self._stored, self._converted)
            )(1)
        self._stored(1)
        self._converted(1)

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _fresh(self, prefix: str) -> str:
        """A name of this part's own: one that another part shares has the signs of both."""
        self.count += 1
        return f"{prefix}{self.number}_{self.count}"

    # --- expressions ---------------------------------------------------------------------------

    def index(self, depth: int) -> Index:
        """An index of either form."""
        if depth <= 0 or self.dice.chance(1):
            return self.dice.pick([*map(Index, _IDS), *self.names, *self.names])
        forms: Sequence[tuple[int, Callable[[int], Index]]] = (
            (6, self._difference),
            (5, self._sum),
            (3, self._division),
            (2, self._bits),
            (2, self._shifted),
            (2, self._unary),
            (3, self._extreme),
            (2, self._choice),
        )
        found = self.dice.weighted(forms)(depth - 1)
        return found if found.bound <= MOST else self.index(0)

    def _operand(self, depth: int) -> Index:
        if self.dice.chance(3):
            number = self.dice.pick((-7, -1, 0, 1, 2, 3, 5, 12))
            return Index(f"({number})" if number < 0 else str(number), number < 0, 12)
        return self.index(depth)

    def _pair(self, depth: int) -> tuple[Index, Index]:
        left, right = self.index(depth), self._operand(depth)
        return (right, left) if self.dice.chance(4) else (left, right)

    def _difference(self, depth: int) -> Index:
        a, b = self._pair(depth)
        return Index(f"({a.text} - {b.text})", has_sign=True, bound=a.bound + b.bound)

    def _sum(self, depth: int) -> Index:
        a, b = self._pair(depth)
        has_sign = a.has_sign or b.has_sign
        if self.dice.chance(3):
            return Index(f"({a.text} * {b.text})", has_sign, a.bound * b.bound)
        return Index(f"({a.text} + {b.text})", has_sign, a.bound + b.bound)

    def _division(self, depth: int) -> Index:
        a = self.index(depth)
        divisor = self.dice.pick(
            (
                Index("3"),
                Index("len(x)"),
                Index("(vy.lid() + 1)"),
                Index("(-4)", has_sign=True),
                Index("(vy.lid() - 9)", has_sign=True),
            )
        )
        if self.dice.chance(5):
            has_sign = a.has_sign or divisor.has_sign
            return Index(f"({a.text} // {divisor.text})", has_sign, a.bound + 1)
        return Index(f"({a.text} % {divisor.text})", divisor.has_sign, 300)

    def _bits(self, depth: int) -> Index:
        a, b = self._pair(depth)
        op = self.dice.pick("&|^")
        has_sign = a.has_sign and b.has_sign if op == "&" else a.has_sign or b.has_sign
        bound = 1 << max(a.bound, b.bound).bit_length()
        return Index(f"({a.text} {op} {b.text})", has_sign, bound)

    def _shifted(self, depth: int) -> Index:
        a = self.index(depth)
        op, amount = self.dice.pick(("<<", ">>")), self.dice.pick(("1", "2", "(j & 3)"))
        return Index(f"({a.text} {op} {amount})", a.has_sign, a.bound << 3)

    def _unary(self, depth: int) -> Index:
        a = self.index(depth)
        form = self.dice.pick(("(-{})", "(~{})", "abs({})", "abs({})"))
        return Index(form.format(a.text), "abs" not in form, a.bound + 1)

    def _extreme(self, depth: int) -> Index:
        a, b = self._pair(depth)
        name = self.dice.pick(("min", "max"))
        has_sign = a.has_sign or b.has_sign
        if name == "max":
            has_sign = a.has_sign and b.has_sign
        return Index(f"{name}({a.text}, {b.text})", has_sign, max(a.bound, b.bound))

    def _choice(self, depth: int) -> Index:
        a, b = self.index(depth), self.index(depth)
        has_sign, bound = a.has_sign or b.has_sign, max(a.bound, b.bound)
        if self.dice.chance(3):
            return Index(f"vy.select({self._truth(0)}, {a.text}, {b.text})", has_sign, bound)
        return Index(f"({a.text} if {self._truth(0)} else {b.text})", has_sign, bound)

    def _truth(self, depth: int) -> str:
        """A comparison, also of data, which is exact whatever the signs are."""
        a, b = self._pair(depth)
        relation = self.dice.pick(("<", "<=", ">", ">=", "==", "!="))
        if self.dice.chance(3):
            return f"(x[j] {relation} {self.index(depth).text})"
        if self.dice.chance(2):
            return f"({a.text} {relation} {b.text} <= {self.index(0).text})"
        return f"({a.text} {relation} {b.text})"

    # --- statements ----------------------------------------------------------------------------

    def _named(self, depth: int) -> None:
        found = self.index(2)
        name = self._fresh("a")
        self._line(depth, f"{name} = {found.text}")
        self.names.append(Index(name, found.has_sign, found.bound))

    def _chosen(self, depth: int) -> None:
        """A variable with several values, of which one may have a sign."""
        a, b = self.index(2), self.index(2)
        name = self._fresh("b")
        begin = self.dice.chance(3)
        if begin:
            self._line(depth, f"{name} = {self.dice.below(3)}")
        self._line(depth, f"if {self._truth(1)}:")
        self._line(depth + 1, f"{name} = {a.text}")
        if not begin or self.dice.chance(5):
            self._line(depth, "else:")
            self._line(depth + 1, f"{name} = {b.text}")
        self.names.append(Index(name, a.has_sign or b.has_sign, max(a.bound, b.bound)))

    def _counted(self, depth: int) -> None:
        """Counters of ranges between indices, in both directions."""
        near = self.index(1)
        forms = [
            ("{0} - 1, {0} + 2", True),
            ("{0} - 3, {0} + 4, 2", True),
            ("{0} + 2, {0} - 3, -2", True),
            ("-1, 2", True),
            ("{0}, {0} + 3", near.has_sign),
            ("m.shape[1]", False),
            ("j, len(x), 3", False),
        ]
        text, has_sign = self.dice.pick(forms)
        counter = self._fresh("k")
        self._line(depth, f"for {counter} in range({text.format(near.text)}):")
        inner = self.dice.pick(
            (f"x[i + {counter}]", f"x[{counter}]", f"m[{counter}, j]", f"x[abs({counter}) % 8]")
        )
        self._line(depth + 1, f"y[o + 1] += {inner}")
        if self.world.is_signed or not has_sign:
            self._line(depth + 1, f"y[o + 2] += {counter}")

    def _stored(self, depth: int) -> None:
        """An index where data is wanted, alone or with data."""
        found = self.index(3)
        slot = self.dice.below(SLOTS)
        if self.dice.chance(4):
            op = self.dice.pick("+-*&|^")
            sides = ["x[j]", found.text]
            if self.dice.chance(4):
                sides.reverse()
            self._line(depth, f"y[o + {slot}] = {f' {op} '.join(sides)}")
        elif self.world.is_signed or not found.has_sign:
            self._line(depth, f"y[o + {slot}] = {found.text}")
        else:
            self._line(depth, f"y[o + {slot}] = vy.u32({found.text})")

    def _converted(self, depth: int) -> None:
        found = self.index(2)
        slot = self.dice.below(SLOTS)
        self._line(depth, f"g[o + {slot}] = vy.f32({found.text})")
        wide = self.dice.pick(("vy.i64", "vy.i32"))
        self._line(depth, f"g[o + {slot}] += vy.f32({wide}({found.text}) % 1000)")


def write_index_kernel(seed: int, parts: int) -> Written:
    """The kernel of index expressions with this seed."""
    dice = Dice(f"index {seed}")
    world = dice.pick(_WORLDS)
    made: list[str] = []
    for number in range(parts):
        part = Indices(dice, world, number)
        part.part()
        made.append("\n".join(part.lines))
    return Written(seed, world, "", tuple(made), "")
