"""Random bodies of pipelines: their statements, and what names stand for after each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.unit.pipelines.plain_python import Store
from tests.unit.pipelines.random_kernels import FLOATS, Array, Kernels, joined, stepped

_TESTS = ("len(x) % 4 == 0", "steps > 1", "len(x) > 64", "steps % 2")


class Body:
    """One pipeline; `inner` is one that it may call."""

    def __init__(
        self, kernels: Kernels, kinds: tuple[str, ...], name: str, many: int, inner: Body | None
    ) -> None:
        self.kernels, self.kinds, self.rng, self.inner = kernels, kinds, kernels.rng, inner
        self.arrays = [Array("x", self.rng.choice(kinds), "x", mode="In")]
        if self.rng.random() < 0.5:
            mode = self.rng.choice(["InOut", "Out"])
            self.arrays.append(Array("w", self.rng.choice(kinds), "x", mode=mode))
        self.arguments = list(self.arrays)
        self._lines: list[str] = []
        self._depth = 0
        self._in_branch = False
        for _ in range(many):
            self._statement()
        results = [each for each in self.arrays if each.mode == "scratch"]
        while not results:
            self._stage()
            results = [each for each in self.arrays if each.mode == "scratch"]
        self.result = results[-1]
        also = results[:-1] if inner is not None or name == "outer" else []
        returned = [self.result]
        if also and self.rng.random() < 0.5:
            returned.append(self.rng.choice(also))
        self.text = self._whole(name, returned)

    def _whole(self, name: str, returned: list[Array]) -> list[str]:
        shown = [f"{a.name}: vy.{a.mode}[vy.{a.kind}]" for a in self.arguments]
        types = [f"vy.Array[vy.{each.kind}]" for each in returned]
        result = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        head = f"def {name}({', '.join([*shown, 'steps: vy.u32'])}) -> {result}:"
        self._add(f"return {', '.join(each.name for each in returned)}")
        return ["@vy.pipeline", head, *self._lines, "", ""]

    def _add(self, line: str) -> None:
        self._lines.append("    " * (self._depth + 1) + line)

    def _statement(self) -> None:
        choices = (
            [self._chain] * 7
            + [self._stage] * 3
            + [self._into_known] * 2
            + [self._in_place, self._histogram]
        )
        choices += [self._keep, self._host_branch, self._counted, self._copied]
        if self._depth < 2:
            choices += [self._swaps] * 3 + [self._loop] + [self._until] * 2 + [self._device_branch]
        if self.inner is not None:
            choices += [self._nested] * 2
        self.rng.choice(choices)()

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        """What is written inside is the body of a statement; its names end with it."""
        before = list(self.arrays)
        self._add(head)
        self._depth += 1
        lines = len(self._lines)
        yield
        if len(self._lines) == lines:
            self._add("pass")
        self._depth -= 1
        self.arrays = before

    def _some(self, *, writable: bool = False) -> Array:
        """An array, a late one mostly; the input if none can be written."""
        found = [each for each in self.arrays if each.is_writable or not writable]
        return self.rng.choice(found[-3:] + found) if found else self.arrays[0]

    def _like(self, array: Array) -> Array:
        """New scratch of the type and the length of an array."""
        name = self.kernels.fresh("t")
        self._add(f"{name} = vy.scratch_like({array.name})")
        return Array(name, array.kind, array.length, array.scale, is_counted=array.is_counted)

    # Stages

    def _chain(self) -> None:
        """Stages of which each reads what the one before has written."""
        self._stage()
        for _ in range(self.rng.randint(1, 3)):
            self._stage(self.arrays[-1])

    def _stage(self, source: Array | None = None) -> None:
        """New scratch, and a stage that writes it."""
        source, rng = source or self._some(), self.rng
        up, down = self.kernels.way()
        if source.scale * up / down > 6 or source.is_counted:
            up = down = 1
        if up == down == 1 and rng.random() < 0.4:
            target = self._like(source)
        else:
            name, kind = self.kernels.fresh("t"), rng.choice(self.kinds)
            extra = rng.choice(["", "", "", " + 1", " + 70"])
            base = "x" if source.is_counted else source.name
            ratio = (f" * {up}" if up > 1 else "") + (f" // {down}" if down > 1 else "")
            self._add(f"{name} = vy.scratch(vy.{kind}, len({base}){ratio}{extra})")
            length = "x" if source.is_counted else source.length
            is_alike = not (ratio or extra)
            target = Array(name, kind, length if is_alike else name, source.scale * up / down)
        self._call(source, target, up, down)
        self.arrays.append(target)

    def _into_known(self) -> None:
        """A stage that writes an array which has been used before."""
        target, source = self._some(writable=True), self._some()
        if target.is_writable and target.name != source.name:
            self._call(source, target, 1, 1)

    def _call(self, source: Array, target: Array, up: int, down: int) -> None:
        is_counted = source.is_counted or target.is_counted
        way = self.rng.random()
        if not is_counted and way < 0.08 and target.kind not in (*FLOATS, "bool_"):
            name = self.kernels.sums(source.kind, target.kind)
            self._add(f"{name}({source.name}, {target.name}, grid=1)")
        elif not is_counted and way < 0.13 and target.kind == source.kind:
            name = self.kernels.turned(source.kind)
            self._add(f"{name}({source.name}, {target.name})")
        else:
            self._elementwise(source, target, up, down)

    def _elementwise(self, source: Array, target: Array, up: int, down: int) -> None:
        rng, kernels, to = self.rng, self.kernels, target.kind
        value = kernels.value(to, source.kind, kernels.loads(down))
        parameters, given = [("x", "In", source.kind)], [source.name]
        other = self._some()
        if other.name != target.name and rng.random() < 0.35:
            parameters.append(("z", "In", other.kind))
            given.append(other.name)
            load = f"z[{kernels.index('z', 1)}]"
            value = joined(to, value, kernels.value(to, other.kind, [load]))
        if rng.random() < 0.3 and to not in (*FLOATS, "bool_"):
            parameters.append(("a", "", "u32"))
            numbers = ["3", "steps", "len(x)", "len(x) // 2 + 1", "steps * 2 + 1"]
            given.append(rng.choice(numbers))
            value = joined(to, value, f"vy.{to}(a)")
        parameters.append(("y", "Out", to))
        given.append(target.name)
        is_counted = source.is_counted or target.is_counted
        guards = ["i < len(y)"] * 2 + ([] if is_counted else ["", "i % 3 != 1", "i < len(x)"])
        stores = self._stores(rng.choice(guards), value, up)
        name = kernels.stores(parameters, stores, rng.choice([64, 64, 64, 128, 32]))
        extent = "" if is_counted else self._extent(source, target)
        call = f"{name}({', '.join([*given, *([extent] if extent else [])])})"
        for _ in range(1 + (rng.random() < 0.08)):
            self._add(call)

    def _stores(self, guard: str, value: str, up: int) -> list[Store]:
        if up == 1:
            return [(guard, "y", "i", value)]
        guard = f"{up} * i < len(y)" if guard == "i < len(y)" else guard
        written = [k for k in range(up) if k != 1 or self.rng.random() < 0.7]
        return [(guard, "y", f"{up} * i + {k}", value) for k in written]

    def _extent(self, source: Array, target: Array) -> str:
        lengths = [f"elements=len({each.name})" for each in (source, target)]
        other = [f"{lengths[0]} // 2", "elements=100", "grid=2"]
        return self.rng.choice([""] * 6 + lengths * 2 + other)

    def _in_place(self) -> None:
        target, other = self._some(writable=True), self._some()
        if not target.is_writable:
            return
        parameters, given, value = (
            [("y", "InOut", target.kind)],
            [target.name],
            stepped(target.kind),
        )
        if other.name != target.name and self.rng.random() < 0.6:
            parameters.append(("x", "In", other.kind))
            given.append(other.name)
            load = f"x[{self.kernels.index('x', 2)}]"
            more = self.kernels.value(target.kind, other.kind, [load])
            value = joined(target.kind, value, more)
        guards = ["i < len(y)"] if other.is_counted else ["i < len(y)", "i % 2 == 0", ""]
        name = self.kernels.stores(parameters, [(self.rng.choice(guards), "y", "i", value)])
        self._add(f"{name}({', '.join(given)})")

    def _histogram(self) -> None:
        source = self._some()
        if source.kind in ("f16", "bool_"):
            return
        index = "vy.u32(x[i]) % 16"
        if source.kind in ("f32", "i8", "i16", "i32"):
            index = f"vy.u32(x[i] > vy.{source.kind}(3))"
        parameters = [("x", "In", source.kind), ("y", "InOut", "u32")]
        kernel = self.kernels.stores(parameters, [("i < len(x)", "y+", index, "vy.u32(1)")])
        name = self.kernels.fresh("t")
        self._add(f"{name} = vy.scratch(vy.u32, 16)")
        self._add(f"{kernel}({source.name}, {name})")
        self.arrays.append(Array(name, "u32", name))

    def _counted(self) -> None:
        """A selection, whose length the device knows."""
        source = self._some()
        if source.kind in ("f16", "bool_"):
            return
        kernel = self.kernels.selection(source.kind)
        n, found = self.kernels.fresh("n"), self.kernels.fresh("t")
        start = self.rng.choice(["", ", start=4", ", start=64", ", start=len(x) // 3"])
        limit = f"vy.at_most(len({source.name}){start})"
        self._add(f"{n} = vy.scratch(vy.u32, 1)")
        self._add(f"{found} = vy.scratch(vy.{source.kind}, {limit}, count={n})")
        self._add(f"{kernel}({source.name}, {found}, {n}, grid=1)")
        self.arrays.append(Array(found, source.kind, found, source.scale, is_counted=True))

    def _copied(self) -> None:
        source = self._some()
        if not source.is_counted:
            target = self._like(source)
            self._add(f"vy.copy({source.name}, {target.name})")
            self.arrays.append(target)

    def _keep(self) -> None:
        found = [each for each in self.arrays if each.mode == "scratch"]
        if found:
            self._add(f"vy.keep({self.rng.choice(found).name})")

    def _nested(self) -> None:
        assert self.inner is not None
        given: list[Array] = []
        for wanted in self.inner.arguments:
            fit = [
                each
                for each in self.arrays
                if each.kind == wanted.kind and not each.is_counted and each not in given
                if wanted.mode == "In" or each.is_writable
            ]
            if not fit:
                return
            given.append(self.rng.choice(fit))
        name, result = self.kernels.fresh("t"), self.inner.result
        steps = self.rng.choice(["steps", "2", "steps + 1"])
        self._add(f"{name} = inner({', '.join([*(a.name for a in given), steps])})")
        length = given[0].length if result.length == "x" else name
        scale = result.scale * given[0].scale
        self.arrays.append(Array(name, result.kind, length, scale, is_counted=result.is_counted))

    # Loops and branches

    def _swaps(self) -> None:
        """Ping-pong between two names a known number of times."""
        steps = self.rng.choice(["steps", "steps % 3", "2", "3", "len(x) % 4"])
        self._ping_pong(f"for {self.kernels.fresh('s')} in range({steps}):", "")

    def _ping_pong(self, head: str, last: str) -> None:
        one = self._some(writable=True)
        if self._in_branch or not one.is_writable:
            return
        two = self._like(one)
        a, b = self.kernels.fresh("a"), self.kernels.fresh("b")
        self._add(f"{a}, {b} = {one.name}, {two.name}")
        first, second = (Array(each, one.kind, one.length, one.scale) for each in (a, b))
        with self._block(head):
            # What the names stand for depends on the iteration, so no other name is used for them.
            self.arrays = [each for each in self.arrays if each.name != one.name]
            self._call(first, second, 1, 1)
            if self.rng.random() < 0.4:
                self._statement()
            if last:
                self._add(last)
            self._add(f"{a}, {b} = {b}, {a}")
        if self.rng.random() < 0.5:
            self._add(f"vy.copy({a}, {one.name})")
            return
        result = self._like(one)
        self._call(first, result, 1, 1)
        self.arrays.append(result)

    def _loop(self) -> None:
        many = self.rng.choice(["2", "steps % 4", "3"])
        with self._block(f"for {self.kernels.fresh('s')} in range({many}):"):
            for _ in range(self.rng.randint(1, 3)):
                self._statement()

    def _host_branch(self) -> None:
        if self._depth > 2:
            return
        with self._block(f"if {self.rng.choice(_TESTS)}:"):
            self._statement()
        if self.rng.random() < 0.5:
            with self._block("else:"):
                self._statement()

    def _until(self) -> None:
        """A loop that the device ends, after a number of iterations that it counts."""
        kernel = self.kernels.countdown()
        done, flag = self.kernels.fresh("done"), self.kernels.fresh("flag")
        many = self.rng.choice(["steps", "3", "1", "steps + 2", "9"])
        self._add(f"{done} = vy.scratch(vy.u32, 1)")
        self._add(f"{flag} = vy.flag()")
        head, last = (
            f"while vy.again({flag}, most=100):",
            f"{kernel}({done}, {many}, {flag}, grid=1)",
        )
        if self.rng.random() < 0.5:
            self._ping_pong(head, last)
            return
        with self._block(head):
            for _ in range(self.rng.randint(1, 3)):
                self._statement()
            self._add(last)

    def _device_branch(self) -> None:
        source = self._some()
        if source.kind in ("bool_", "f16"):
            return
        flag, cut = self.kernels.fresh("flag"), self.rng.choice([3, 100, 119])
        parameters = [("x", "In", source.kind), ("flag", "InOut", "u32")]
        is_large = f"vy.u32(x[i] > vy.{source.kind}({cut}))"
        kernel = self.kernels.stores(parameters, [("i < len(x)", "flag|", "0", is_large)])
        self._add(f"{flag} = vy.flag()")
        self._add(f"{kernel}({source.name}, {flag})")
        was, self._in_branch = self._in_branch, True
        with self._block(f"if vy.when({flag}):"):
            for _ in range(self.rng.randint(1, 2)):
                self._statement()
        if self.rng.random() < 0.6:
            with self._block("else:"):
                self._statement()
        self._in_branch = was
