"""Random expressions of whole numbers.

Where nothing may overflow, the text of a whole number comes with a bound on its size. Where numbers
wrap, every operation has an operand of the declared type, as Python's own integers do not wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vyre.conform.generate.dice import Dice
from vyre.conform.python.around import Device, Outside, Whole
from vyre.conform.python.scope import MOST, SMALL, WHOLE, Kind, Scope, World


class Wholes:
    """Writes whole numbers over the names of a scope."""

    def __init__(self, dice: Dice, world: World, scope: Scope, outside: Outside) -> None:
        self.dice = dice
        self.world = world
        self.scope = scope
        self.outside = outside

    def value(self, kind: Kind, depth: int) -> str:
        """A value that a name or an element may hold."""
        raise NotImplementedError

    def truth(self, depth: int) -> str:
        """A condition."""
        raise NotImplementedError

    def settled_real(self, depth: int) -> str:
        """A real number that stays small."""
        raise NotImplementedError

    # --- what is there -------------------------------------------------------------------------

    def calls(self, kind: Kind) -> list[Device]:
        """The functions that give such a value."""
        return [one for one in self.outside.functions if one.result == kind]

    def call(self, device: Device, depth: int) -> str:
        """A call with random arguments, by position and by name."""
        place = self.place() if device.has_effect else ""
        arguments = [place] if device.has_effect else []
        given = list(device.parameters)
        if device.optional:
            given = given[: len(given) - self.dice.below(device.optional + 1)]
        by_name = False
        for name, kind in given:
            text = self.value(kind, depth)
            if place and kind == WHOLE and self.dice.chance(8):
                # What the function changes is what it was given, too.
                text = element_at(place)
            by_name = by_name or name in device.keyword or self.dice.chance(1)
            arguments.append(f"{name}={text}" if by_name else text)
        return f"{device.name}({', '.join(arguments)})"

    def members(self, kind: str) -> list[str]:
        """All names and members of tuples that hold such a number."""
        scope = self.scope
        return scope.names(kind) + [f"{n}{p}" for n, of in scope.tuples() for p in _paths(of, kind)]

    def place(self) -> str:
        """An array and an index of an element that no other lane uses: two arguments."""
        return self.dice.pick(self.outside.places)

    def element(self) -> str:
        """Such an element."""
        return element_at(self.place())

    # --- whole numbers -------------------------------------------------------------------------

    def typed(self, number: int) -> str:
        """A literal that stands alone."""
        return f"vy.{self.world.dtype}({number})" if self.world.wraps else str(number)

    def literal(self) -> str:
        """A literal that meets a typed number."""
        # What is never negative is not compared with 0.
        low = -12 if self.world.is_signed else 1
        number = self.dice.between(low, 40)
        return f"({number})" if number < 0 else str(number)

    def settled(self, depth: int) -> str:
        """A whole number that stays small where nothing may overflow."""
        found = self.whole(depth)
        if self.world.wraps or found.bound <= SMALL:
            return found.text
        return self.dice.pick(
            [
                f"{found.text} % 997",
                f"{found.text} & 511",
                f"{found.text} % -613",
                f"max(min({found.text}, 900), -900)",
            ]
        )

    def leaf(self) -> Whole:
        """A number that is there."""
        options = self._readable()
        options += [self.typed(self.dice.between(-9 if self.world.is_signed else 0, 40))] * 2
        return Whole(self.dice.pick(options))

    def _readable(self) -> list[str]:
        """Numbers that have the declared type, or become it."""
        scope = self.scope
        found = self.members(WHOLE) + scope.names(WHOLE) * 2 + list(self.outside.wholes)
        for counter in scope.counters:
            found.append(f"vy.{self.world.dtype}({counter})" if self.world.wraps else counter)
        return found

    def divisor(self) -> str:
        """A number that is not zero."""
        inner = self.settled(0)
        options = [str(self.dice.between(1, 9)), f"({inner} % 7 + 1)"]
        if self.world.is_signed:
            options += [f"({inner} % -5 - 1)", f"({-self.dice.between(1, 9)})"]
        if self.world.wraps:
            options.append(f"({inner} | 1)")
        return self.dice.pick(options)

    def place_in(self, extent: int, depth: int) -> str:
        """An index into this number of elements; now and then a wild one."""
        found = self.settled(depth)
        if self.dice.chance(2) and self.outside.arrays:
            # An element makes it a number of the run: a constant one is refused.
            return f"{self.dice.pick(self.outside.arrays)}[0] + {found}"
        return f"({found}) % {extent}"

    def whole(self, depth: int) -> Whole:
        """A whole number."""
        if depth <= 0 or self.dice.chance(1):
            return self.leaf()
        forms: Sequence[tuple[int, Callable[[int], Whole]]] = (
            (8, self._sum),
            (3, self._product),
            (6, self._division),
            (4, self._bitwise),
            (3, self._shift),
            (3, self._unary),
            (5, self._extreme),
            (3, self._chosen),
            (4, self._called),
            (3, self._loaded),
            (2, self.effect),
            (3, self._interfering),
            (1, self._converted),
            (1, self._from_tuple),
            (1, self._power),
        )
        found = self.dice.weighted(forms)(depth - 1)
        return found if self.world.wraps or found.bound <= MOST else self.leaf()

    def operands(self, depth: int) -> tuple[Whole, Whole]:
        """Two numbers, of which one may be a literal."""
        left = self.whole(depth)
        if self.dice.chance(3):
            literal = Whole(self.literal(), 40)
            return (literal, left) if self.dice.chance(4) else (left, literal)
        return left, self.whole(depth)

    def _sum(self, depth: int) -> Whole:
        a, b = self.operands(depth)
        return Whole(f"({a.text} {self.dice.pick('+-')} {b.text})", a.bound + b.bound)

    def _product(self, depth: int) -> Whole:
        a, b = self.operands(depth)
        return Whole(f"({a.text} * {b.text})", a.bound * b.bound)

    def _division(self, depth: int) -> Whole:
        a = self.whole(depth)
        if self.dice.chance(1):
            part = self.dice.below(2)
            return Whole(f"divmod({a.text}, {self.divisor()})[{part}]", a.bound + 10)
        op = self.dice.pick(("//", "%"))
        return Whole(f"({a.text} {op} {self.divisor()})", a.bound + 10)

    def _bitwise(self, depth: int) -> Whole:
        a, b = self.operands(depth)
        bound = 1 << max(a.bound, b.bound).bit_length()
        return Whole(f"({a.text} {self.dice.pick('&|^')} {b.text})", bound)

    def _shift(self, depth: int) -> Whole:
        a = self.whole(depth)
        if self.dice.chance(5):
            amount = self.dice.pick(("3", f"({self.settled(0)} & 7)", str(self.world.bits - 1)))
            return Whole(f"({a.text} >> {amount})", a.bound)
        amount = self.dice.pick(("1", "4", f"({self.settled(0)} & 3)"))
        return Whole(f"({a.text} << {amount})", a.bound << 4)

    def _unary(self, depth: int) -> Whole:
        a = self.whole(depth)
        if not self.world.is_signed:
            return Whole(f"(~{a.text})", a.bound)
        form = self.dice.pick(("(-{})", "(~{})", "abs({})", "(+{})"))
        return Whole(form.format(a.text), a.bound + 1)

    def _extreme(self, depth: int) -> Whole:
        values = [self.whole(depth), self.whole(depth)]
        if self.dice.chance(6):
            # Python gives the literal itself, so it needs a type where numbers wrap.
            values.append(Whole(self.typed(self.dice.below(40))))
        bound = max(one.bound for one in values)
        inner = ", ".join(one.text for one in values)
        return Whole(f"{self.dice.pick(('min', 'max'))}({inner})", bound)

    def _chosen(self, depth: int) -> Whole:
        a, b = self.whole(depth), self.whole(depth)
        truth = self.truth(depth)
        bound = max(a.bound, b.bound)
        if self.dice.chance(2):
            name = self.dice.pick(("vy.select", "vy.math.where"))
            return Whole(f"{name}({truth}, {a.text}, {b.text})", bound)
        return Whole(f"({a.text} if {truth} else {b.text})", bound)

    def _called(self, depth: int) -> Whole:
        calls = self.calls(WHOLE)
        if not calls:
            return self._sum(depth)
        return Whole(self.call(self.dice.pick(calls), min(depth, 1)))

    def _loaded(self, depth: int) -> Whole:
        outside = self.outside
        options = [f"{one}[{self.place_in(8, depth)}]" for one in outside.arrays]
        options += [f"{one}[{self.place_in(5, depth)}]" for one in outside.own]
        for one in (*outside.planes, *outside.own_planes):
            options.append(f"{one}[{self.place_in(2, depth)}, {self.place_in(3, depth)}]")
        if outside.places:
            options.append(self.element())
        return Whole(self.dice.pick(options)) if options else self.leaf()

    def _interfering(self, depth: int) -> Whole:
        """Operands of which one changes what the other reads."""
        if not self.outside.places:
            return self._sum(depth)
        place = self.place()
        operands = [element_at(place), self.effect(0, place).text]
        if self.dice.chance(4):
            operands.reverse()
        if self.dice.chance(3):
            operands.append(self.settled(0))
        form = self.dice.pick(("({})", "({})", "min({})", "({})[0]"))
        joint = ", " if "min" in form or "[" in form else self.dice.pick((" - ", " + ", " ^ "))
        return Whole(form.format(joint.join(operands)), 4 * SMALL)

    def effect(self, depth: int, place: str = "") -> Whole:
        """A number that is computed by changing an element."""
        if not self.outside.places:
            return self._called(depth)
        place = place or self.place()
        if self.world.has_atomics and self.dice.chance(5):
            array, index = place.split(", ", 1)
            names = ["atomic_exchange", "atomic_max", "atomic_min"]
            names += ["atomic_add"] * self.world.wraps
            name = self.dice.pick(names)
            return Whole(f"{array}.{name}({index}, {self.settled(depth)})")
        if self.dice.chance(3):
            array, index = place.split(", ", 1)
            here = self.dice.pick((array, array, _array(self.place())))
            return Whole(f"move({array}, {here}, {index}, {self.settled(depth)})")
        return Whole(f"bump({place}, {self.settled(depth)})")

    def _converted(self, depth: int) -> Whole:
        name = f"vy.{self.world.dtype}"
        if self.dice.chance(5):
            return Whole(f"{name}({self.truth(depth)})", 1)
        return Whole(f"{name}(vy.f32({self.settled_real(depth)}))")

    def _from_tuple(self, depth: int) -> Whole:
        if self.outside.table is not None and self.dice.chance(5):
            return Whole(f"{self.outside.table}[({self.settled(depth)}) % 4]")
        first, second = self.settled(depth), self.settled(depth)
        return Whole(f"({first}, {second})[{self.dice.pick((0, 1, -1))}]")

    def _power(self, depth: int) -> Whole:
        exponent = self.dice.below(4)
        return Whole(f"({self.leaf().text} ** {exponent})", SMALL**3)


def _array(place: str) -> str:
    return place.split(", ", 1)[0]


def element_at(place: str) -> str:
    """An element, of which there are the array and the index."""
    array, index = place.split(", ", 1)
    return f"{array}[{index}]"


def _paths(kind: Kind, wanted: str, before: str = "") -> list[str]:
    """The subscripts that lead to such members of a tuple."""
    if not isinstance(kind, tuple):
        return [before] if kind == wanted and before else []
    found: list[str] = []
    for position, one in enumerate(kind):
        found += _paths(one, wanted, f"{before}[{position}]")
    return found
