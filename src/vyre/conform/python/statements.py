"""Random statements: bindings of all forms, stores, branches, ways out of loops and functions."""

from __future__ import annotations

from collections.abc import Callable

from vyre.conform.python.expressions import Expressions
from vyre.conform.python.scope import NUMBERS, PAIR, REAL, TRUTH, TUPLES, WHOLE, Kind
from vyre.conform.python.wholes import element_at

DEEPEST = 3
"""How many branches and loops are inside of each other."""

Form = Callable[[int], None]


class Statements:
    """Writes the lines of one block after the other."""

    def __init__(self, expressions: Expressions, *, leaves: bool) -> None:
        self.make = expressions
        self.dice = expressions.dice
        self.scope = expressions.scope
        self.outside = expressions.outside
        self.lines: list[str] = []
        self.in_loop = False
        self.leaves = leaves
        """Whether a `return` may stand anywhere, as in a kernel."""
        self.depth = 0
        """How many branches and loops are around."""

    def line(self, depth: int, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * depth + text)

    def body(self, depth: int, most: int) -> None:
        """Some statements, at least one."""
        for _ in range(self.dice.between(1, most)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        """One statement, or few that belong together."""
        forms: list[tuple[int, Form]] = [
            (8, self._assign),
            (4, self._augmented),
            (2, self._other_augmented),
            (3, self._unpacked),
            (2, self._swapped),
            (3, self._turned),
            (2, self._several_targets),
            (3, self._stored),
            (1, self._annotated),
            (1, self._effect),
            (1, self._again),
        ]
        if self.depth < DEEPEST:
            forms += [(5, self._branch), (3, self._both_branches), (6, self.loop)]
            forms += [(1, self._asked_first)]
        if self.in_loop:
            forms.append((4, self.left))
        elif self.leaves and self.depth:
            forms.append((1, self._returned))
        self.dice.weighted(forms)(depth)

    def loop(self, depth: int) -> None:
        """A loop of any form."""
        raise NotImplementedError

    def inner(self, depth: int, most: int) -> None:
        """A block inside of a statement."""
        self.depth += 1
        self.body(depth, most)
        self.depth -= 1

    # --- bindings ------------------------------------------------------------------------------

    def kind(self) -> Kind:
        """What a name shall hold."""
        return self.dice.weighted(
            [(6, WHOLE), (2, REAL), (2, TRUTH), *((1, one) for one in TUPLES)]
        )

    def _assign(self, depth: int) -> None:
        kind = self.kind()
        text = self.make.value(kind, 2)
        name = self.scope.target(self.dice, kind)
        self.line(depth, f"{name} = {text}")
        self.scope.bind(name, kind)

    def changed(self) -> list[str]:
        """Whole numbers that may be changed."""
        return [name for name in self.scope.names(WHOLE) if name not in self.scope.fixed]

    def _augmented(self, depth: int) -> None:
        names = self.changed()
        if not names:
            return self._assign(depth)
        name = self.dice.pick(names)
        self._change(depth, name)
        return None

    def _other_augmented(self, depth: int) -> None:
        """A real number or a truth value that is changed."""
        kind = self.dice.pick((REAL, TRUTH))
        names = [name for name in self.scope.names(kind) if name not in self.scope.fixed]
        if not names:
            return self._assign(depth)
        name = self.dice.pick(names)
        if kind == TRUTH:
            self.line(depth, f"{name} {self.dice.pick('&|^')}= {self.make.truth(1)}")
        else:
            self.line(depth, f"{name} {self.dice.pick('+-*')}= {self.make.real(1)}")
            self.line(depth, f"{name} = vy.math.clip({name}, -32.0, 32.0)")
        return None

    def _change(self, depth: int, target: str, text: str = "") -> None:
        """`target op= value`, which stays small where it must."""
        op = self.dice.pick(("+", "-", "*", "&", "|", "^", "//", "%", ">>", "<<"))
        if text:
            op = self.dice.pick("+-^")
        text = text or self.make.settled(1)
        if op in ("//", "%"):
            text = self.make.divisor()
        elif op in (">>", "<<"):
            text = f"({text}) & 3"
        self.line(depth, f"{target} {op}= {text}")
        if not self.make.world.wraps and op not in ("//", "%", ">>"):
            self.line(depth, f"{target} %= {self.dice.pick(('1009', '-211', '512'))}")

    def _target(self, kind: Kind, taken: set[str]) -> str:
        """A target of an unpacking: a name, an element, or names for a tuple."""
        if isinstance(kind, tuple) and self.dice.chance(5):
            return f"({', '.join(self._target(one, taken) for one in kind)})"
        if kind == WHOLE and self.outside.places and self.dice.chance(1):
            return self.make.element()
        name = self.scope.target(self.dice, kind)
        if name in taken:
            name = self.scope.new(self.dice, kind)
        taken.add(name)
        return name

    def _bind_names(self, names: set[str]) -> None:
        for name in names:
            self.scope.bind(name, self.scope.kinds[name])

    def _unpacked(self, depth: int) -> None:
        kind = self.dice.pick(TUPLES)
        assert isinstance(kind, tuple)
        text = self.make.tuple_of(kind, 2)
        taken: set[str] = set()
        targets = [self._target(one, taken) for one in kind]
        self.line(depth, f"{', '.join(targets)} = {text}")
        self._bind_names(taken)

    def _swapped(self, depth: int) -> None:
        kind = self.dice.pick(NUMBERS)
        names = [name for name in self.scope.names(kind) if name not in self.scope.fixed]
        if len(names) < 2:
            return self._unpacked(depth)
        count = min(len(names), self.dice.between(2, 3))
        start = self.dice.below(len(names) - count + 1)
        chosen = names[start : start + count]
        values = [*chosen[1:], chosen[0] if self.dice.chance(5) else self.make.value(kind, 1)]
        self.line(depth, f"{', '.join(chosen)} = {', '.join(values)}")
        return None

    def _turned(self, depth: int) -> None:
        """A tuple of its own members, in another order."""
        names = self.scope.names(PAIR)
        if not names:
            return self._unpacked(depth)
        name = self.dice.pick(names)
        members = [f"{name}[1]", f"{name}[0]"]
        if self.dice.chance(5):
            members[self.dice.below(2)] = self.make.settled(1)
        self.line(depth, f"{name} = ({', '.join(members)})")
        return None

    def _several_targets(self, depth: int) -> None:
        kind = self.dice.pick((WHOLE, REAL, PAIR, TUPLES[1]))
        text = self.make.value(kind, 2)
        taken: set[str] = set()
        targets = [self._target(kind, taken) for _ in range(2)]
        self.line(depth, f"{' = '.join(targets)} = {text}")
        self._bind_names(taken)

    def _annotated(self, depth: int) -> None:
        text = self.make.settled(1)
        name = self.scope.new(self.dice, WHOLE)
        if self.make.world.wraps:
            self.line(depth, f"{name}: vy.{self.make.world.dtype} = {text}")
        else:
            # The annotation alone decides about the type where there are literals only.
            self.line(
                depth, f"{name}: vy.{self.make.world.dtype} = vy.{self.make.world.dtype}({text})"
            )
        self.scope.bind(name, WHOLE)

    def _again(self, depth: int) -> None:
        """A second name for an array or a function, used where it is bound."""
        name = self.scope.fresh("same_")
        plain = [one for one in self.outside.functions if one.result == WHOLE]
        if plain and self.dice.chance(5):
            device = self.dice.pick(plain)
            call = self.make.call(device, 1)
            self.line(depth, f"{name} = {device.name}")
            text = name + call[len(device.name) :]
        elif self.outside.arrays:
            self.line(depth, f"{name} = {self.dice.pick(self.outside.arrays)}")
            text = f"{name}[{self.make.place_in(8, 1)}]"
        else:
            return self._assign(depth)
        target = self.scope.target(self.dice, WHOLE)
        self.line(depth, f"{target} = {text}")
        self.scope.bind(target, WHOLE)
        return None

    # --- stores --------------------------------------------------------------------------------

    def _stored(self, depth: int) -> None:
        outside = self.outside
        if outside.places and self.dice.chance(4):
            place = self.make.place()
            # What is added may change what it is added to.
            text = self.make.effect(0, place).text if self.dice.chance(4) else ""
            self._change(depth, element_at(place), text)
            return None
        targets = [self.make.element() for _ in outside.places[:2]]
        targets += [f"{one}[{self.make.place_in(5, 1)}]" for one in outside.own]
        for one in outside.own_planes:
            targets.append(f"{one}[{self.make.place_in(2, 0)}, {self.make.place_in(3, 1)}]")
        if not targets:
            return self._assign(depth)
        self.line(depth, f"{self.dice.pick(targets)} = {self.make.settled(2)}")
        return None

    def _effect(self, depth: int) -> None:
        if not self.outside.places:
            return self._assign(depth)
        self.line(depth, f"bump({self.make.place()}, {self.make.settled(1)})")
        return None

    # --- branches ------------------------------------------------------------------------------

    def _branch(self, depth: int) -> None:
        self.line(depth, f"if {self.make.truth(2)}:")
        with self.scope.block():
            self.inner(depth + 1, 3)
        if self.dice.chance(3):
            self.line(depth, f"elif {self.make.truth(1)}:")
            with self.scope.block():
                self.inner(depth + 1, 2)
        if self.dice.chance(5):
            self.line(depth, "else:")
            with self.scope.block():
                self.inner(depth + 1, 2)

    def _both_branches(self, depth: int) -> None:
        """A name that has its first value in either branch."""
        kind = self.kind()
        name = self.scope.target(self.dice, kind)
        self.line(depth, f"if {self.make.truth(2)}:")
        for end in ("else:", None):
            with self.scope.block():
                if self.dice.chance(4):
                    self.inner(depth + 1, 2)
                self.line(depth + 1, f"{name} = {self.make.value(kind, 2)}")
                if self.dice.chance(2):
                    # It may be changed again before it is read behind the branches.
                    self.scope.bind(name, kind)
                    self.inner(depth + 1, 1)
            if end is not None:
                self.line(depth, end)
        self.scope.bind(name, kind)

    def _asked_first(self, depth: int) -> None:
        """An assignment in a condition."""
        name = self.scope.target(self.dice, WHOLE)
        text = self.make.settled(1)
        self.line(depth, f"if ({name} := {text}) {self.dice.pick('<>')} {self.make.leaf().text}:")
        self.scope.bind(name, WHOLE)
        with self.scope.block():
            self.inner(depth + 1, 2)

    # --- ways out ------------------------------------------------------------------------------

    def left(self, depth: int) -> None:
        """`break` or `continue`, in either branch."""
        word = self.dice.pick(("break", "continue"))
        if self.leaves and self.dice.chance(3):
            word = "return"
        self.line(depth, f"if {self.make.truth(1)}:")
        if self.dice.chance(7):
            self.line(depth + 1, word)
            if self.dice.chance(6):
                self.line(depth, "else:")
                with self.scope.block():
                    self.inner(depth + 1, 1)
            return
        with self.scope.block():
            self.inner(depth + 1, 1)
        self.line(depth, "else:")
        self.line(depth + 1, word)

    def _returned(self, depth: int) -> None:
        self.line(depth, f"if {self.make.truth(1)}:")
        self.line(depth + 1, "return")
