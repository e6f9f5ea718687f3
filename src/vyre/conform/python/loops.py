"""Random loops: `range` with steps of all kinds, loops over tuples, and `while`."""

from __future__ import annotations

from vyre.conform.python.scope import PAIR, WHOLE
from vyre.conform.python.statements import Statements


class Loops(Statements):
    """Statements with loops among them."""

    def loop(self, depth: int) -> None:
        """A loop of any form; each ends after few rounds."""
        self.dice.weighted(
            (
                (6, self._counted),
                (2, self._counted_from_a_variable),
                (3, self._over_tuple),
                (1, self._over_pairs),
                (1, self._numbered),
                (1, self._zipped),
                (3, self._while),
                (1, self._while_true),
                (1, self._while_asked),
            )
        )(depth)

    def _rounds(self, depth: int, most: int) -> None:
        before = self.in_loop
        self.in_loop = True
        if self.dice.chance(2):
            self.left(depth)
        self.inner(depth, most)
        if self.dice.chance(3):
            self.left(depth)
        self.in_loop = before

    def _noted(self, depth: int, name: str, but: tuple[str, ...] = ()) -> None:
        """What a loop counts changes a number that is seen later."""
        names = [one for one in self.changed() if one not in but]
        if names:
            noted, world = self.dice.pick(names), self.make.world
            text = f"{noted} * 3 + vy.{world.dtype}({name})"
            self.line(depth, f"{noted} = {text if world.wraps else f'({text}) % 1009'}")

    # --- range ---------------------------------------------------------------------------------

    def _few(self) -> str:
        """A number of the run that is at least 0 and less than 6."""
        return f"({self.make.settled(1)}) % {self.dice.between(2, 6)}"

    def _range(self) -> str:
        few, less = self._few(), self._few()
        options = [few, f"{less}, {few}", f"{less}, 7", "4", f"1, {few}, 2", f"{few}, 9, 3"]
        options += [f"{few}, 8, {less} + 1", f"1, {few}, {less} + 1"]
        if self.make.world.is_signed:
            options += [
                *[f"{few}, -1, -1", f"{few}, -4, -2"] * 3,
                f"-3, {few}, 2",
                f"6, {less}, -1",
                f"{few}, {less} - 9, -3",
                f"{few}, {less}, -1 - {few}",
                f"-2, {few}, {less} - 7",
            ]
            # The sign of the step is known when it runs.
            options += [f"{few}, {less}, 1 if {self.make.truth(1)} else -2"] * 8
            if not self.make.world.wraps:
                options += ["5, -5, -2", "3, -1, -1", "-2, 3"]
        return self.dice.pick(options)

    def _counted(self, depth: int) -> None:
        bounds = self._range()
        if self.dice.chance(2):
            bounds = f"reversed(range({bounds}))"
        else:
            bounds = f"range({bounds})"
        name = self._counter()
        self.line(depth, f"for {name} in {bounds}:")
        with self.scope.block():
            self.scope.unbind(name)
            self.scope.counters.append(name)
            if not self.make.world.wraps and self.dice.chance(2):
                # A loop variable that is assigned counts on all the same.
                self.line(depth + 1, f"{name} = ({name} + {self.make.settled(1)}) % 31")
            if self.dice.chance(5):
                self._noted(depth + 1, name)
            self._rounds(depth + 1, 3)
        self.scope.unbind(name)
        if name in self.scope.kinds or self.dice.chance(2):
            # Behind the loop it may have a value of its own again.
            self.line(depth, f"{name} = {self.make.settled(1)}")
            self.scope.bind(name, WHOLE)

    def _counted_from_a_variable(self, depth: int) -> None:
        """The bounds and the step are what they were before the first round."""
        start, step = (self.scope.new(self.dice, WHOLE) for _ in range(2))
        self.line(depth, f"{start}, {step} = {self._few()}, {self._few()} + 1")
        self.scope.bind(start, WHOLE)
        self.scope.bind(step, WHOLE)
        name = self.scope.fresh("k")
        text = f"range({start}, 9, {self.dice.pick((step, step, '2'))})"
        text = f"reversed({text})" if self.dice.chance(3) else text
        self.line(depth, f"for {name} in {text}:")
        with self.scope.block():
            self.scope.counters.append(name)
            self.line(depth + 1, f"{start} += {self.dice.between(1, 3)}")
            self.line(depth + 1, f"{step} += {self.dice.below(2)}")
            self._noted(depth + 1, name, (start, step))
            self._rounds(depth + 1, 1)

    def _counter(self) -> str:
        """A new name, or that of a variable where no loop around would come back to it."""
        names = [one for one in self.scope.names(WHOLE) if one not in self.scope.fixed]
        if names and not self.in_loop and not self.make.world.wraps and self.dice.chance(2):
            return self.dice.pick(names)
        return self.scope.fresh("k")

    # --- what is known now ---------------------------------------------------------------------

    def _over_tuple(self, depth: int) -> None:
        count = self.dice.between(2, 4)
        members = ", ".join(self.make.settled(1) for _ in range(count))
        text = f"({members})" if self.dice.chance(7) else f"[{members}]"
        pairs = self.scope.names(PAIR)
        if pairs and self.dice.chance(4):
            text = self.dice.pick(pairs)
        elif self.outside.table is not None and self.dice.chance(3):
            text = self.outside.table
        if self.dice.chance(2):
            text = f"reversed({text})"
        self._written_out(depth, self.scope.fresh("v"), text)

    def _written_out(self, depth: int, names: str, text: str) -> None:
        self.line(depth, f"for {names} in {text}:")
        with self.scope.block():
            for name in names.split(", "):
                self.scope.bind(name, WHOLE)
                if self.make.world.wraps or self.dice.chance(5):
                    self.scope.fixed.add(name)
            self.in_loop, before = True, self.in_loop
            if self.dice.chance(5):
                self.left(depth + 1)
            self.in_loop = before
            self._rounds(depth + 1, 2)
            self._noted(depth + 1, names.split(", ")[0], tuple(names.split(", ")))
        for name in names.split(", "):
            # A name that a loop has given values is not bound again: that has its own kind.
            self.scope.fixed.add(name)

    def _over_pairs(self, depth: int) -> None:
        first, second = self.make.tuple_of(PAIR, 1), self.make.tuple_of(PAIR, 1)
        names = f"{self.scope.fresh('v')}, {self.scope.fresh('v')}"
        self._written_out(depth, names, f"({first}, {second})")

    def _numbered(self, depth: int) -> None:
        members = ", ".join(self.make.settled(1) for _ in range(3))
        start = self.dice.pick(("", ", 1", f", start={self.dice.below(4)}"))
        count, member = self.scope.fresh("k"), self.scope.fresh("v")
        self.line(depth, f"for {count}, {member} in enumerate(({members}){start}):")
        with self.scope.block():
            self.scope.counters.append(count)
            self.scope.bind(member, WHOLE)
            self.scope.fixed.add(member)
            self._rounds(depth + 1, 2)
        self.scope.unbind(member)

    def _zipped(self, depth: int) -> None:
        first = f"({', '.join(self.make.settled(1) for _ in range(3))})"
        if not self.make.world.wraps and self.dice.chance(4):
            first = self.dice.pick(("range(3)", "range(5, -3, -2)", "reversed((4, 2))"))
        second = self.make.tuple_of(PAIR, 1)
        names = f"{self.scope.fresh('v')}, {self.scope.fresh('v')}"
        self._written_out(depth, names, f"zip({first}, {second})")

    # --- while ---------------------------------------------------------------------------------

    def _while(self, depth: int) -> None:
        name = self._clock(depth)
        end = self.dice.between(2, 5)
        condition = f"{name} < {end}"
        match self.dice.below(4):
            case 0:
                condition += f" and {self.make.truth(2)}"
            case 1:
                condition = f"{self.make.truth(1)} and {condition}"
            case 2:
                condition = f"not ({self.make.truth(1)} or {name} >= {end})"
            case _:
                pass
        self.line(depth, f"while {condition}:")
        with self.scope.block():
            self.line(depth + 1, f"{name} += 1")
            self._rounds(depth + 1, 3)

    def _while_true(self, depth: int) -> None:
        name = self._clock(depth)
        self.line(depth, "while True:")
        with self.scope.block():
            self.line(depth + 1, f"{name} += 1")
            self.line(depth + 1, f"if {name} > 3:")
            self.line(depth + 2, "break")
            self._rounds(depth + 1, 3)

    def _while_asked(self, depth: int) -> None:
        """An assignment in the condition, which is computed in every round."""
        clock = self._clock(depth)
        name = self.scope.target(self.dice, WHOLE)
        text = self.make.settled(1)
        self.line(depth, f"while ({name} := {text}) > 3 and {clock} < 4:")
        with self.scope.block():
            self.scope.bind(name, WHOLE)
            self.line(depth + 1, f"{clock} += 1")
            self._rounds(depth + 1, 2)

    def _clock(self, depth: int) -> str:
        """A variable that counts the rounds, and that nothing else changes."""
        name = self.scope.fresh("c")
        self.line(depth, f"{name} = {self.make.typed(0)}")
        self.scope.bind(name, WHOLE)
        self.scope.fixed.add(name)
        return name
