"""Random kernels whose effects are guarded in all the ways in which people guard them.

All effects are atomic additions, which count: the result says how many invocations did what.
"""

from __future__ import annotations

import random

SHAPES = ((8,), (4,), (1,), (4, 2), (2, 4), (1, 8), (8, 1), (2, 2, 2), (1, 1, 1))
HEAD = (
    "def k(n: vy.u32, m: vy.i32, x: vy.In[vy.u32], a: vy.In[vy.u32, 2], y: vy.InOut[vy.u32],\n"
    "      z: vy.InOut[vy.u32, 2], v: vy.InOut[vy.u32, 3], t: vy.InOut[vy.u32]):"
)


class Writer:
    """Writes one kernel. Extents are at least 5, so that nothing that is subtracted wraps."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.lines: list[str] = []
        self.size = self.dice.choice(SHAPES)
        self.ids: list[str] = []
        self.fresh = 0

    def function(self) -> str:
        shown = self.size[0] if len(self.size) == 1 else self.size
        self.line(0, f"@vy.kernel(workgroup={shown})")
        self.line(0, HEAD)
        for axis in range(len(self.size)):
            self.ids.append("ijk"[axis])
            self.line(1, f"{'ijk'[axis]} = {self.id(axis)}")
        if self.dice.random() < 0.15:
            self.share(1, self.ids[0], self.ids[1:])
            return "\n".join(self.lines) + "\n"
        for _ in range(self.dice.randint(1, 3)):
            self.guarded(1)
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def new(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def id(self, axis: int) -> str:
        size = self.size[axis]
        return self.dice.choice(
            [
                *[f"vy.gid({axis})"] * 3,
                f"vy.wid({axis}) * {size} + vy.lid({axis})",
                f"vy.lid({axis}) + vy.group_size({axis}) * vy.wid({axis})",
            ]
        )

    def extent(self, depth: int = 2) -> str:
        plain = [
            *("len(x)", "len(y)", "x.size", "z.shape[0]", "z.shape[1]", "a.shape[0]", "z.size"),
            *("n", "n", "7", "13", "v.shape[0]", "v.shape[1]"),
        ]
        if depth == 0 or self.dice.random() < 0.5:
            return self.dice.choice(plain)
        one, other = self.extent(depth - 1), self.extent(0)
        return self.dice.choice(
            [
                f"({other} - {self.dice.randint(1, 4)})",
                f"({one} + {self.dice.randint(1, 4)})",
                f"({one} // {self.dice.randint(2, 3)})",
                f"({one} * 2)",
                f"min({one}, {other})",
                f"max({one}, {other})",
                f"({one} + {other})",
            ]
        )

    def moved(self, name: str) -> str:
        number = self.dice.randint(1, 4)
        return self.dice.choice(
            [
                *[name] * 5,
                *(f"{name} + {number}", f"{number} + {name}", f"{name} * 2", f"2 * {name} + 1"),
                *(f"{name} // 2", f"{name} >> 1", f"{name} << 1", f"max({name}, 2)"),
            ]
        )

    def test(self, name: str) -> str:
        """A comparison that ends an id, in one of its forms."""
        left, right = self.moved(name), self.extent()
        return self.dice.choice(
            [
                *[f"{left} < {right}"] * 4,
                *(f"{left} <= {right}", f"{right} > {left}", f"{right} >= {left}"),
                *(f"not ({left} >= {right})", f"0 <= {left} < {right}"),
                f"({left} < {right} and {self.data()})",
                f"({self.data()} and {left} < {right})",
                f"({left} < {right} or {self.moved(name)} < {self.extent()})",
                f"{name} == {self.dice.randint(0, 9)}",
                f"vy.i32({name}) < m",
                f"vy.i32({name}) - 1 < m // 2",
                f"vy.i64({name}) < vy.i64({right})",
            ]
        )

    def data(self) -> str:
        name = self.dice.choice(self.ids)
        return self.dice.choice(
            [
                *(f"x[{name}] % 3 != 1", f"{name} % 2 == 0", f"{name} != 3", f"x[{name}] < 90"),
                self.hashed(name),
                self.falling(name),
            ]
        )

    def hashed(self, name: str) -> str:
        """A comparison of what wraps around: it holds again and again, and ends nothing."""
        return self.dice.choice(
            [
                f"vy.u32({name}) * 2654435769 < 2147483648",
                f"({name} * 1664525 + 1013904223) >> 8 < 8388608",
                f"(vy.u32({name}) * 2246822519 + n) >> 28 < 9",
                f"({name} + 4294967290) % 16 < 8",
            ]
        )

    def falling(self, name: str) -> str:
        """A comparison that greater ids fulfil."""
        return self.dice.choice(
            [
                f"-1 * {name} + 6 < 3",
                f"{name} * -2 < 3",
                f"(m & 7) - {name} < 2",
                f"vy.i32(x[{name}] & 7) - vy.i32({name}) < 3",
                f"3 - {name} <= 0",
            ]
        )

    def guarded(self, depth: int) -> None:
        """Some effects, with a guard for most axes, or for none."""
        names = [name for name in self.ids if self.dice.random() < 0.85]
        self.dice.shuffle(names)
        self.guard(depth, names)

    def guard(self, depth: int, names: list[str]) -> None:
        if not names:
            for _ in range(self.dice.randint(1, 2)):
                self.effect(depth)
            return
        name, *rest = names
        forms = [self.nested, self.nested, self.variable, self.loop, self.repeat, self.inverse]
        forms += [self.share, self.fall, self.causal]
        if rest:
            forms += [self.all_of, self.all_of]
        if depth == 1:
            forms.append(self.leave)
        self.dice.choice(forms)(depth, name, rest)

    def nested(self, depth: int, name: str, rest: list[str]) -> None:
        self.line(depth, f"if {self.test(name)}:")
        self.guard(depth + 1, rest)

    def inverse(self, depth: int, name: str, rest: list[str]) -> None:
        self.line(depth, f"if not ({self.test(name)}) or {self.data()}:")
        self.line(depth + 1, "pass")
        self.line(depth, "else:")
        self.guard(depth + 1, rest)

    def all_of(self, depth: int, name: str, rest: list[str]) -> None:
        tests = [self.test(one) for one in (name, *rest)]
        if self.dice.random() < 0.3:
            tests.insert(self.dice.randint(0, len(tests)), self.data())
        self.line(depth, f"if {' and '.join(tests)}:")
        self.guard(depth + 1, [])

    def variable(self, depth: int, name: str, rest: list[str]) -> None:
        inside = self.new("inside")
        self.line(depth, f"{inside} = {self.test(name)}")
        if self.dice.random() < 0.5:
            self.line(depth, f"{inside} = {inside} and {self.data()}")
        self.line(depth, f"if {inside}:")
        self.guard(depth + 1, rest)

    def leave(self, depth: int, name: str, rest: list[str]) -> None:
        self.line(depth, f"if not ({self.test(name)}):")
        self.line(depth + 1, "return")
        self.guard(depth, rest)

    def loop(self, depth: int, name: str, rest: list[str]) -> None:
        step = self.dice.choice(["", "", ", 3"])
        first, end = self.moved(name), self.extent()
        self.line(depth, f"for {self.new('p')} in range({first}, {end}{step}):")
        self.guard(depth + 1, rest)

    def share(self, depth: int, name: str, rest: list[str]) -> None:
        """A loop over all that the grid shares, or almost."""
        axis, count = "ijk".index(name), self.new("p")
        first = self.dice.choice([name, name, name, f"{name} + 2", self.moved(name)])
        everyone = f"vy.num_groups({axis}) * {self.size[axis]}"
        if self.dice.random() < 0.5:
            # Then there may be fewer invocations than turns.
            self.line(depth, f"if {name} < {self.dice.randint(1, 4)}:")
            depth += 1
        self.line(depth, f"for {count} in range({first}, len(x), {everyone}):")
        if rest:
            self.line(depth + 1, f"if {' and '.join(self.test(one) for one in rest)}:")
            depth += 1
        self.line(depth + 1, f"t.atomic_add({count} % 7, {count})")
        match self.dice.randint(0, 3):
            case 0:
                self.line(depth + 1, f"if x[{count}] % 4 == 0:")
                self.line(depth + 2, "break")
            case 1:
                self.line(depth + 1, f"t.atomic_add({name} % 3, 1)")
            case _:
                pass

    def fall(self, depth: int, name: str, rest: list[str]) -> None:
        """A variable that comes below a bound in some round."""
        count = self.new("r")
        self.line(depth, f"{count} = {name} + 9")
        self.line(depth, f"for _ in range({self.dice.randint(2, 4)}):")
        self.line(depth + 1, f"if {count} < {self.extent()}:")
        self.guard(depth + 2, rest)
        self.line(depth + 1, f"{count} -= 3")

    def causal(self, depth: int, name: str, rest: list[str]) -> None:
        """A counter that is compared with an id: it ends nothing."""
        count = self.new("s")
        self.line(depth, f"if {self.test(name)}:")
        self.line(depth + 1, f"for {count} in range({self.dice.choice(['m', 'len(y)', '5'])}):")
        self.line(depth + 2, f"if {count} - {name} {self.dice.choice(['<= 0', '< 3', '> -4'])}:")
        self.guard(depth + 3, rest)

    def repeat(self, depth: int, name: str, rest: list[str]) -> None:
        count = self.new("q")
        self.line(depth, f"{count} = {self.moved(name)}")
        both = f" and x[{count}] < 80" if self.dice.random() < 0.4 else ""
        self.line(depth, f"while {count} < {self.extent()}{both}:")
        self.guard(depth + 1, rest)
        self.line(depth + 1, f"{count} += {self.dice.choice(['9', 'len(y)', 'n'])}")

    def effect(self, depth: int) -> None:
        name = self.dice.choice(self.ids)
        others = [one for one in self.ids if one != name] or [name]
        other = self.dice.choice(others)
        places = [
            *[f"y.atomic_add({name}, 1)"] * 3,
            *(f"y.atomic_add({name} + 2, 1)", f"y.atomic_add(2 * {name} + 1, 1)"),
            *(
                f"y.atomic_add(len(y) - 1 + {name} * -1, 1)",
                f"y.atomic_add(len(y) - 1 - {name}, 1)",
            ),
            *(f"y.atomic_add({name} // 2, 1)", f"y.atomic_add({name} * 3 + x[{name}] % 3, 1)"),
            *(f"z.atomic_add(({name}, {other}), 1)",) * 3,
            *(f"z.atomic_add(({name}, 0), 1)", f"z.atomic_add((1, {name} + 1), 1)"),
            *(f"z.atomic_add(({name} // z.shape[1], {name} % z.shape[1]), 1)",),
            *(f"v.atomic_add(({other}, {name}, 1), 1)", f"v.atomic_add((2, {other}, {name}), 1)"),
            *(f"y.atomic_add({name} * z.shape[1] + {other}, 1)", "t.atomic_add(0, 1)"),
            *(f"t.atomic_add(x[{name}] % 8, 1)", f"t.atomic_add(vy.lid({0}), 1)"),
            *(f"t.atomic_add(vy.wid({'ijk'.index(name)}), 1)",),
            *[("", "y[i] += 1", "z[i, j] += 1", "v[k, i, j] += 1")[len(self.ids)]] * 4,
        ]
        self.line(depth, self.dice.choice(places))
