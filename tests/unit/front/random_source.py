"""Random functions that are both Python and kernels, so that Python itself says what they mean."""

from __future__ import annotations

import random

MODULUS = 1009
NAMES = ("a", "b", "c", "d")


class Writer:
    """Writes one function; values stay small enough for 64 bits."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.lines: list[str] = []
        self.fresh = 0
        self.extra: list[str] = []
        """Loop variables and variables of branches that have a value here."""

    def function(self) -> str:
        self.line(0, "@vy.kernel(workgroup=8)")
        self.line(0, "def k(x: vy.In[vy.i64], y: vy.Out[vy.i64]):")
        self.line(1, "i = vy.gid()")
        self.line(1, "if i < len(x):")
        self.line(2, "a, b, c, d = x[i], x[i] * 3 + 1, 5, -7")
        self.body(2, 5, in_loop=False)
        self.line(2, "y[i] = a + b * 7 - c * 11 + d * 13")
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def body(self, depth: int, count: int, in_loop: bool) -> None:
        known = list(self.extra)
        for _ in range(self.dice.randint(1, count)):
            self.statement(depth, in_loop)
        self.extra = known

    def statement(self, depth: int, in_loop: bool) -> None:
        forms = [self.assign, self.assign, self.change, self.swap]
        if depth < 5:
            forms += [self.branch, self.both, self.loop, self.loop, self.repeat]
        if in_loop:
            forms.append(self.leave)
        self.dice.choice(forms)(depth, in_loop)

    def assign(self, depth: int, in_loop: bool) -> None:
        self.line(depth, f"{self.dice.choice(NAMES)} = ({self.value(3)}) % {MODULUS}")

    def change(self, depth: int, in_loop: bool) -> None:
        name, op = self.dice.choice(NAMES), self.dice.choice("+-^|&")
        self.line(depth, f"{name} {op}= {self.value(1)}")
        self.line(depth, f"{name} %= {MODULUS}")

    def swap(self, depth: int, in_loop: bool) -> None:
        one, two = self.dice.sample(NAMES, 2)
        self.line(depth, f"{one}, {two} = {two}, ({self.value(1)}) % {MODULUS}")

    def branch(self, depth: int, in_loop: bool) -> None:
        self.line(depth, f"if {self.truth(2)}:")
        self.body(depth + 1, 3, in_loop)
        if self.dice.random() < 0.4:
            self.line(depth, f"elif {self.truth(1)}:")
            self.body(depth + 1, 2, in_loop)
        if self.dice.random() < 0.6:
            self.line(depth, "else:")
            self.body(depth + 1, 3, in_loop)

    def both(self, depth: int, in_loop: bool) -> None:
        """A variable that both branches give a value."""
        name = self.new("v")
        self.line(depth, f"if {self.truth(2)}:")
        self.line(depth + 1, f"{name} = ({self.value(2)}) % {MODULUS}")
        self.line(depth, "else:")
        self.body(depth + 1, 2, in_loop=False)
        self.line(depth + 1, f"{name} = {self.dice.randint(-9, 9)}")
        self.extra.append(name)

    def loop(self, depth: int, in_loop: bool) -> None:
        name, end = self.new("n"), f"({self.value(1)}) % 6"
        bounds = self.dice.choice([end, f"1, {end}, 2", f"{end}, -3, -2", "4", f"{end}, 5"])
        self.line(depth, f"for {name} in range({bounds}):")
        known = list(self.extra)
        self.extra.append(name)
        self.body(depth + 1, 3, in_loop=True)
        self.extra = known

    def repeat(self, depth: int, in_loop: bool) -> None:
        name = self.new("w")
        self.line(depth, f"{name} = 0")
        self.line(depth, f"while {name} < 4 and {self.truth(1)}:")
        self.line(depth + 1, f"{name} += 1")
        self.body(depth + 1, 3, in_loop=True)

    def leave(self, depth: int, in_loop: bool) -> None:
        self.line(depth, f"if {self.truth(1)}:")
        self.line(depth + 1, self.dice.choice(["break", "continue"]))

    def new(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def value(self, depth: int) -> str:
        if depth == 0 or self.dice.random() < 0.2:
            return self.dice.choice([*NAMES, *self.extra, str(self.dice.randint(0, 40)), "x[i]"])
        left, right = self.value(depth - 1), self.value(depth - 1)
        kind = self.dice.randint(0, 9)
        if kind == 0:
            return f"(({left}) // (({right}) % 7 - 8))"
        if kind == 1:
            return f"(({left}) % (({right}) % 5 + 1))"
        if kind == 2:
            return f"({left} if {self.truth(depth - 1)} else {right})"
        if kind == 3:
            return f"{self.dice.choice(['min', 'max'])}({left}, {right})"
        if kind == 4:
            return f"abs({left})"
        if kind == 5:
            return f"(x[vy.u32(({left}) % 8)] - {right})"
        return f"({left} {self.dice.choice(['+', '-', '&', '|', '^', '+'])} {right})"

    def truth(self, depth: int) -> str:
        if depth == 0:
            return f"{self.value(0)} {self.dice.choice(['<', '<=', '==', '!=', '>'])} a"
        kind = self.dice.randint(0, 4)
        if kind == 0:
            return f"(not {self.truth(depth - 1)})"
        if kind == 1:
            word = self.dice.choice(["and", "or"])
            return f"({self.truth(depth - 1)} {word} {self.truth(depth - 1)})"
        if kind == 2:
            return f"({self.value(1)} < b <= {self.value(1)})"
        return f"{self.value(1)} {self.dice.choice(['<', '>=', '!='])} c"
