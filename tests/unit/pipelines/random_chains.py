"""Random chains of stages: strides, halos, ratios, clamps, types and lengths of many kinds."""

from __future__ import annotations

import linecache
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from tests.unit.pipelines.suite import bits, copies
from vyre.plan import tile_cost

TYPES = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "f32": np.float32}
_LENGTHS = (0, 1, 31, 64, 65, 500, 2047, 4100, 20_011)
_HEAD = "from __future__ import annotations\nimport vyre as vy\n\n"


@contextmanager
def whatever_it_costs() -> Iterator[None]:
    """Fuse whatever is legal."""
    before = dict(tile_cost.COSTS)
    for kind, costs in before.items():
        tile_cost.COSTS[kind] = replace(costs, most=1e9)
    try:
        yield
    finally:
        tile_cost.COSTS.update(before)


class _Source:
    """The text of a module with the kernels of a chain, and its pipeline."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.body: list[str] = []
        self.arrays: list[tuple[str, str]] = []
        """Names and types, the input first."""

    def text(self) -> str:
        rng = self.rng
        first = rng.choice(list(TYPES))
        self.arrays.append(("x", first))
        for number in range(rng.randint(2, 5)):
            self._stage(number)
        kept = rng.random() < 0.3 and len(self.arrays) > 2
        returned = [self.arrays[-1][0]]
        if kept:
            returned.append(rng.choice(self.arrays[1:-1])[0])
        if rng.random() < 0.3:
            self._histogram()
            returned.append("counts")
        many = len(returned) > 1
        types = [dict([*self.arrays, ("counts", "u32")])[name] for name in returned]
        result = ", ".join(f"vy.Array[vy.{each}]" for each in types)
        self.lines += [
            "@vy.pipeline",
            f"def chain(x: vy.In[vy.{first}]) -> {f'tuple[{result}]' if many else result}:",
            *(f"    {line}" for line in self.body),
            f"    return {', '.join(returned)}",
        ]
        return _HEAD + "\n".join(self.lines) + "\n"

    def _index(self, source: str, offset: int, scale: int) -> str:
        """An index into an array, clamped in one of several ways."""
        at = "i" if scale == 1 else f"{scale} * i"
        if offset < 0:
            return self.rng.choice([f"max({at}, {-offset}) - {-offset}", f"{at} - {-offset}"])
        plain = f"{at} + {offset}" if offset else at
        return self.rng.choice([plain, f"min({plain}, len({source}) - 1)"])

    def _stage(self, number: int) -> None:
        rng = self.rng
        source, kind = self.arrays[-1]
        other = rng.choice(self.arrays)
        target, to = f"t{number}", rng.choice(list(TYPES))
        up, down = rng.choice([(1, 1)] * 4 + [(3, 1), (2, 1), (1, 2), (1, 4), (3, 2)])
        loads = [self._index("x", rng.randint(-3, 3), down) for _ in range(rng.randint(1, 3))]
        second = other if up == down == 1 and rng.random() < 0.3 else None
        parameters = f"x: vy.In[vy.{kind}], " + (f"z: vy.In[vy.{second[1]}], " if second else "")
        terms = [f"vy.{to}(x[{load}])" for load in loads]
        if second:
            terms.append(f"vy.{to}(z[{self._index('z', rng.randint(-2, 2), 1)}])")
        value = " + ".join(terms)
        guard = rng.choice(
            [f"{up} * i < len(y)" if up > 1 else "i < len(y)", "i < len(x)", "", "i % 3 != 1"]
        )
        body = [f"v = {value}"]
        if up == 1:
            body.append("y[i] = v")
        elif rng.random() < 0.5:
            body += [f"for k in range({up}):", f"    y[{up} * i + k] = v + vy.{to}(k)"]
        else:
            body += [
                f"y[{up} * i + {k}] = v + vy.{to}({k})"
                for k in range(up)
                if k != 1 or rng.random() < 0.7
            ]
        if guard:
            body = [f"if {guard}:", *(f"    {line}" for line in body)]
        size = rng.choice([64, 64, 128])
        self.lines += [
            f"@vy.kernel(workgroup={size})",
            f"def k{number}({parameters}y: vy.Out[vy.{to}]):",
            "    i = vy.gid()",
            *(f"    {line}" for line in body),
            "",
            "",
        ]
        length = f"len({source}) * {up} // {down}"
        length += rng.choice(["", "", " + 1", " // 2", " + 70"])
        called = f"k{number}({source}, " + (f"{second[0]}, " if second else "") + target
        elements = rng.choice(
            ["", "", f", elements=len({target})", f", elements=len({source})", ", elements=100"]
        )
        self.body += [f"{target} = vy.scratch(vy.{to}, {length})", f"{called}{elements})"]
        self.arrays.append((target, to))

    def _histogram(self) -> None:
        source, kind = self.arrays[-1]
        self.lines += [
            "@vy.kernel",
            f"def count(x: vy.In[vy.{kind}], counts: vy.InOut[vy.u32]):",
            "    i = vy.gid()",
            "    if i < len(x):",
            "        counts.atomic_add(vy.u32(x[i]) % 16, 1)",
            "",
            "",
        ]
        self.body += ["counts = vy.scratch(vy.u32, 16)", f"count({source}, counts)"]


def chain_of(seed: int) -> Any:
    """A random pipeline of one argument."""
    text = _Source(seed).text()
    name = f"<chain {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: dict[str, Any] = {"__name__": f"chain_{seed}"}
    exec(compile(text, name, "exec"), module)
    return module["chain"]


def argument(chain: Any, length: int, seed: int) -> np.ndarray[Any, Any]:
    kind = str(chain.__wrapped__.__annotations__["x"]).removesuffix("]").rsplit(".", 1)[1]
    dtype = TYPES[kind]
    values = np.random.default_rng(seed).integers(0, 1 << 16, length)
    return (values % 256).astype(dtype) if dtype is not np.uint32 else values.astype(dtype)


def differences(seed: int, device: str = "cpu", lengths: int = 3) -> tuple[list[str], int]:
    """What differs from the stages apart, and how many values are in tiles."""
    rng = random.Random(seed)
    found: list[str] = []
    tiles = 0
    with whatever_it_costs():
        chain = chain_of(seed)
        for length in rng.sample(_LENGTHS, lengths):
            given = (argument(chain, length, seed),)
            own = copies(given)
            plan = chain.plan(*own, device=device)
            tiles += sum(seam.where in ("tile", "written through") for seam in plan.seams)
            if bits(chain(*own, device=device)) != bits(chain.apart(*given, device=device)):
                found.append(f"chain {seed}, {length} elements")
    return found, tiles
