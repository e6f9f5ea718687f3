"""Random kernels of pipelines: each as its text, and as what plain Python runs for it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.unit.pipelines.plain_python import TYPES, Host, Kernel, Store, run_stores

FLOATS = ("f16", "f32")
Parameters = list[tuple[str, str, str]]
"""Names, modes (empty for a number) and types."""
_WAYS = [(1, 1)] * 5 + [(3, 1), (2, 1), (1, 2), (1, 4), (3, 4)]


@dataclass(frozen=True)
class Array:
    """A name of a pipeline that stands for an array."""

    name: str
    kind: str
    length: str
    """Arrays of one text are as long as each other."""
    scale: float = 1.0
    """Its length, relative to that of the argument."""
    mode: str = "scratch"
    is_counted: bool = False

    @property
    def is_writable(self) -> bool:
        return self.mode != "In" and not self.is_counted


class Kernels:
    """The kernels of a module."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.plain: dict[str, Kernel] = {}
        self._names = 0

    def fresh(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def way(self) -> tuple[int, int]:
        """How many elements are written for how many that are read."""
        return self.rng.choice(_WAYS)

    def stores(self, parameters: Parameters, stores: list[Store], workgroup: int = 64) -> str:
        """A kernel of guarded stores."""
        body = ["i = vy.gid()"]
        for guard, target, index, value in stores:
            effect = f"{target}[{index}] = {value}"
            if target.endswith("+"):
                effect = f"{target[:-1]}.atomic_add({index}, {value})"
            if target.endswith("|"):
                effect = f"{target[:-1]}.atomic_max({index}, {value})"
            body += [f"if {guard}:", f"    {effect}"] if guard else [effect]
        return self._add(Kernel(parameters, stores, workgroup), body)

    def single(self, parameters: Parameters, body: list[str], whole: Any) -> str:
        """A kernel of one invocation; `whole` is what it does."""
        own = ["if vy.gid() == 0:", *(f"    {line}" for line in body)]
        return self._add(Kernel(parameters, [], 1, whole), own)

    def turned(self, kind: str) -> str:
        """Elements of a workgroup in reverse order, by way of shared memory."""
        body = [
            f"part = vy.shared(vy.{kind}, 64)",
            "i = vy.gid()",
            "part[vy.lid()] = x[i]",
            "vy.barrier()",
            "if i < len(y):",
            "    y[i] = part[63 - vy.lid()]",
        ]
        store = ("i < len(y)", "y", "i", "x[i // 64 * 64 + 63 - i % 64]")
        return self._add(Kernel([("x", "In", kind), ("y", "Out", kind)], [store], 64), body)

    def _add(self, kernel: Kernel, body: list[str]) -> str:
        name = self.fresh("k")
        shown = ", ".join(
            f"{each}: vy.{mode}[vy.{kind}]" if mode else f"{each}: vy.{kind}"
            for each, mode, kind in kernel.parameters
        )
        self.lines += [f"@vy.kernel(workgroup={kernel.workgroup})", f"def {name}({shown}):"]
        self.lines += [*(f"    {line}" for line in body), "", ""]
        self.plain[name] = kernel
        return name

    def sums(self, of: str, to: str) -> str:
        """Sums of all elements so far."""
        value = self.value(to, of, ["x[j]"])
        body = [f"total = vy.{to}(0)", "for j in range(min(len(x), len(y))):"]
        body += [f"    total += {value}", "    y[j] = total"]

        def whole(x: Host, y: Host) -> None:
            many = min(len(x), len(y))
            own = np.zeros(many, TYPES[to])
            store = ("", "y", "i", value.replace("[j]", "[i]"))
            run_stores([store], {"x": x, "y": own}, {}, many)
            y[:many] = np.cumsum(own, dtype=TYPES[to])

        return self.single([("x", "In", of), ("y", "Out", to)], body, whole)

    def selection(self, kind: str) -> str:
        """Every n-th element, and how many there are."""
        step = self.rng.choice([1, 2, 3, 1000])
        body = ["at = vy.u32(0)", "for j in range(len(x)):"]
        body += [f"    if j % {step} == {step} // 2:", "        found[at] = x[j]"]
        body += ["        at += vy.u32(1)", "n[0] = at"]

        def whole(x: Host, found: Host, n: Host) -> None:
            taken = x[step // 2 :: step]
            found[: len(taken)] = taken
            n[0] = len(taken)

        parameters = [("x", "In", kind), ("found", "Out", kind), ("n", "Out", "u32")]
        return self.single(parameters, body, whole)

    def countdown(self) -> str:
        """Counts calls, and sets a flag as long as there are fewer than many."""

        def whole(done: Host, flag: Host, many: Any) -> None:
            done[0] += np.uint32(1)
            if done[0] < many:
                flag[0] = 1

        parameters = [("done", "InOut", "u32"), ("many", "", "u32"), ("flag", "InOut", "u32")]
        return self.single(
            parameters, ["done[0] += 1", "if done[0] < many:", "    flag[0] = 1"], whole
        )

    def index(self, name: str, reach: int, scale: int = 1) -> str:
        """An index that is clamped, or not, in one of several ways."""
        offset = self.rng.randint(-reach, reach)
        at = "i" if scale == 1 else f"{scale} * i"
        if offset < 0:
            return self.rng.choice([f"max({at}, {-offset}) - {-offset}", f"{at} - {-offset}"])
        plain = f"{at} + {offset}" if offset else at
        last, fixed = f"min({plain}, len({name}) - 1)", f"min({plain}, {self.rng.randint(1, 90)})"
        return self.rng.choice([plain, plain, last, fixed])

    def loads(self, scale: int) -> list[str]:
        """Loads of `x`: neighbours mostly."""
        way = self.rng.random()
        if way < 0.08:
            return ["x[len(x) - 1 - i]"]
        if way < 0.12:
            return [f"x[(i * {self.rng.choice([3, 7])}) % max(len(x), 1)]"]
        reach = self.rng.choice([0, 0, 1, 3, 9])
        many = self.rng.randint(1, 3)
        return [f"x[{self.index('x', reach, scale)}]" for _ in range(many)]

    def value(self, to: str, of: str, loads: list[str]) -> str:
        """A value of a type that is made of loads of another."""
        if to == "bool_":
            return f"vy.{wide(of)}({loads[0]}) > vy.{wide(of)}(2)"
        if to in FLOATS:
            scale = self.rng.choice(["0.5", "0.25", "0.75"])
            text = f"({' + '.join(f'vy.f32({each})' for each in loads)}) * vy.f32({scale})"
            text = f"min(max({text}, vy.f32(-500.0)), vy.f32(500.0))"
            return text if to == "f32" else f"vy.f16({text})"
        if of in FLOATS:
            loads = [f"vy.i32(min(max(vy.f32({e}), vy.f32(-500.0)), vy.f32(500.0)))" for e in loads]
        text = " + ".join(f"vy.{to}({each})" for each in loads)
        factor = self.rng.choice([1, 3, 5])
        return text if factor == 1 else f"({text}) * vy.{to}({factor})"


def wide(kind: str) -> str:
    """A type that holds all values of another, to compare them."""
    signed = dict.fromkeys(("i8", "i16", "i32"), "i32")
    return ({"f16": "f32", "f32": "f32", "u64": "u64"} | signed).get(kind, "u32")


def joined(kind: str, one: str, two: str) -> str:
    """A value of two values of one type."""
    if kind == "bool_":
        return f"({one}) == ({two})"
    if kind == "f16":
        return f"vy.f16(vy.f32({one}) + vy.f32({two}))"
    return f"({one}) + ({two})"


def stepped(kind: str) -> str:
    """What an element becomes when it is changed in place."""
    if kind == "bool_":
        return "y[i] == (i % 2 == 0)"
    if kind == "f16":
        return "vy.f16(vy.f32(y[i]) * vy.f32(0.5) + vy.f32(1.0))"
    if kind == "f32":
        return "min(y[i] + vy.f32(1.0), vy.f32(500.0))"
    return f"y[i] * vy.{kind}(3) + vy.{kind}(1)"
