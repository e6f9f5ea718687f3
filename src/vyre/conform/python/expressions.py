"""Random expressions of real numbers, truth values, tuples, and of any of all kinds."""

from __future__ import annotations

from collections.abc import Callable

from vyre.conform.python.scope import PAIR, REAL, TRUTH, WHOLE, Kind
from vyre.conform.python.wholes import Wholes


class Expressions(Wholes):
    """Writes expressions over the names of a scope."""

    # --- any kind ------------------------------------------------------------------------------

    def value(self, kind: Kind, depth: int) -> str:
        """A value that a name or an element may hold."""
        if kind == WHOLE:
            return self.settled(depth)
        if kind == REAL:
            return self.settled_real(depth)
        if kind == TRUTH:
            return self.truth(depth)
        return self.tuple_of(kind, depth)

    def tuple_of(self, kind: Kind, depth: int) -> str:
        """A tuple: written out, named, chosen, or the result of a function."""
        assert isinstance(kind, tuple)
        options: list[tuple[int, Callable[[], str]]] = [
            (4, lambda: f"({', '.join(self.value(one, depth - 1) for one in kind)})")
        ]
        names = self.scope.names(kind)
        if names:
            options.append((4, lambda: self.dice.pick(names)))
        inner = [
            f"{n}[{k}]" for n, of in self.scope.tuples() for k, o in enumerate(of) if o == kind
        ]
        if inner:
            options.append((3, lambda: self.dice.pick(inner)))
        calls = self.calls(kind)
        if calls and depth > 0:
            options.append((4, lambda: self.call(self.dice.pick(calls), depth - 1)))
        if depth > 0:
            options.append((2, lambda: self._choice(lambda: self.tuple_of(kind, depth - 1), depth)))
        if kind == PAIR and depth > 0:
            options.append((2, lambda: f"divmod({self.settled(1)}, {self.divisor()})"))
        return self.dice.weighted(options)()

    def _choice(self, make: Callable[[], str], depth: int) -> str:
        first = make()
        return f"({first} if {self.truth(depth - 1)} else {make()})"

    # --- real numbers --------------------------------------------------------------------------

    def settled_real(self, depth: int) -> str:
        """A real number that stays small."""
        found = self.real(depth)
        if found.isidentifier():
            return found
        form = self.dice.pick(
            ("vy.math.clip({}, -32.0, 32.0)", "vy.math.floor(vy.math.clip({}, -16.0, 16.0) * 8.0)")
        )
        return form.format(found)

    def real(self, depth: int) -> str:
        """A real number."""
        if depth <= 0 or self.dice.chance(2):
            return self._real_leaf()
        a, b = self.real(depth - 1), self.real(depth - 1)
        match self.dice.below(9):
            case 0 | 1 | 2:
                return f"({a} {self.dice.pick('+-')} {b})"
            case 3:
                return f"({a} * {b})"
            case 4:
                # Both have the type of the arrays: what Python divides is rounded otherwise.
                return f"(vy.f32({a}) / (abs(vy.f32({b})) + 1.0))"
            case 5:
                return f"{self.dice.pick(('min', 'max', 'vy.math.minimum'))}({a}, {b})"
            case 6:
                first = self.dice.pick((a, a, "1"))  # beside a real number it is one, too
                return f"({first} if {self.truth(depth - 1)} else {b})"
            case 7:
                form = self.dice.pick(
                    ("abs({})", "(-{})", "vy.math.trunc(vy.f32({}))", "vy.math.ceil(vy.f32({}))")
                )
                return form.format(a)
            case _:
                calls = self.calls(REAL)
                if calls:
                    return self.call(self.dice.pick(calls), 0)
                return f"vy.f32(({self.settled(depth - 1)}) & 63)"

    def _real_leaf(self) -> str:
        options = self.members(REAL) * 2 + list(self.outside.reals)
        options += [f"{one}[{self.place_in(8, 0)}]" for one in self.outside.real_arrays]
        options.append(self.dice.pick(("0.5", "2.0", "1.25", "0.125", "3.0")))
        return self.dice.pick(options)

    # --- truth values --------------------------------------------------------------------------

    def truth(self, depth: int) -> str:
        """A condition."""
        if depth <= 0:
            return self._plain_truth()
        match self.dice.below(12):
            case 0 | 1:
                word = self.dice.pick(("and", "or"))
                parts = [self.truth(depth - 1) for _ in range(self.dice.between(2, 3))]
                return f"({f' {word} '.join(parts)})"
            case 2:
                return f"(not {self.truth(depth - 1)})"
            case 3 | 4:
                return self._chain(depth - 1)
            case 5:
                return f"({self.real(depth - 1)} {self._relation()} {self.real(depth - 1)})"
            case 6:
                return self._membership(depth - 1)
            case 7:
                return self._tuples_compared(depth - 1)
            case 8:
                op = self.dice.pick(("==", "!=", "&", "|", "^"))
                return f"({self.truth(depth - 1)} {op} {self.truth(depth - 1)})"
            case 9:
                return self._choice(lambda: self.truth(depth - 1), depth)
            case _:
                a, b = self.operands(depth - 1)
                return f"({a.text} {self._relation()} {b.text})"

    def _relation(self) -> str:
        return self.dice.pick(("<", "<=", ">", ">=", "==", "!="))

    def _plain_truth(self) -> str:
        options = self.members(TRUTH)
        options += [f"({self.leaf().text} {self._relation()} {self.leaf().text})"] * 3
        if self.outside.places:
            # Whether it is evaluated can be seen afterwards.
            options.append(f"({self.effect(0).text} {self._relation()} {self.literal()})")
        return self.dice.pick(options)

    def _chain(self, depth: int) -> str:
        parts = [self.whole(depth).text]
        for _ in range(self.dice.between(2, 3)):
            operand = self.effect(0) if self.dice.chance(3) else self.whole(depth)
            parts += [self._relation(), operand.text]
        return f"({' '.join(parts)})"

    def _membership(self, depth: int) -> str:
        members = [self.settled(depth), self.literal(), self.settled(0)]
        word = self.dice.pick(("in", "not in"))
        return f"({self.settled(depth)} {word} ({', '.join(members)}))"

    def _tuples_compared(self, depth: int) -> str:
        left, right = self.tuple_of(PAIR, depth), self.tuple_of(PAIR, depth)
        return f"({left} {self._relation()} {right})"
