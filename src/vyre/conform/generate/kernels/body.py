"""The statements of random kernels, as text."""

from __future__ import annotations

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.kernels.expressions import NOWHERE, Expressions
from vyre.conform.generate.kernels.frame import Frame
from vyre.conform.generate.kernels.images import Images
from vyre.conform.generate.kernels.rows import Rows
from vyre.conform.generate.kernels.structures import Structures

_DEPTH = 2


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


class Statements:
    """Texts of statements, at random."""

    def __init__(self, dice: Dice, frame: Frame, expressions: Expressions) -> None:
        self._dice = dice
        self._frame = frame
        self._exprs = expressions
        self._names = 0
        # One kind in a kernel: their order would show if an addition met a maximum.
        self._counts = dice.pick(("atomic_add", "atomic_add", "atomic_max", "atomic_xor"))
        self._leave: list[str] = []
        """What may end the round or the loop that is being written, or the invocation."""

    def kernel(self) -> str:
        """The body of a kernel, one level deep."""
        if self._frame.is_deep and self._dice.chance(4):
            return _indented(Images(self._dice, self._frame).kernel())
        kind = self._dice.below(14)
        if kind > 11:
            return _indented(Structures(self._dice, self._frame).kernel())
        if kind > 9:
            return _indented(Rows(self._dice, self._frame).kernel())
        if kind < 2:
            return _indented(self._tiled())
        if kind < 4:
            return _indented(self._striding())
        return _indented(self._plain())

    # --- whole kernels ------------------------------------------------------------------------

    def _plain(self) -> str:
        """A place per invocation, mostly under a guard."""
        dice = self._dice
        if dice.chance(3):
            # In a row that is no wider than `w`, places differ only where the guard holds.
            said = dice.pick(("(gid.x < w) & (gid.y < h)", "gid.x < w", "~(gid.x >= w)"))
            flat = "gid.y * w + gid.x" if self._frame.size[2] * self._frame.grid[2] == 1 else ""
            if flat:
                body = f"let i = {flat}\n{self._start()}{self._work(3)}{self._store()}"
                return f"if {said} {{\n{_indented(body)}}}\n"
        place = f"let i = {self._place()}\n{self._start()}"
        kind = dice.below(4)
        if kind == 0:
            return f"{place}{self._work(3)}{self._store()}"
        if kind == 1:
            ends = f"if ~({self._exprs.bound()}) {{\n    return\n}}\n"
            if dice.chance(5):
                ends = f"if {self._exprs.bound()} {{\n    return\n}}\n"
            return f"{place}{ends}{self._work(3)}{self._store()}"
        body = f"{self._work(3)}{self._store()}"
        other = self._work(1) + self._store() if kind == 3 and dice.chance(5) else ""
        text = f"{place}if {self._exprs.bound()} {{\n{_indented(body)}}}"
        return text + (f" else {{\n{_indented(other)}}}\n" if other else "\n")

    def _striding(self) -> str:
        """A loop over places that begins at the invocation's and steps over all invocations."""
        dice, total = self._dice, self._frame.total
        step = dice.pick((total, total, total + 1, total * 2))
        limit = dice.pick(("n", "n", "len(a)", "n - 1", str(total * 3 + 5)))
        start = self._frame.number
        if not self._frame.is_deep and dice.chance(3):
            shift = dice.pick((0, 3, 40, 0xFFFFFFF0, 0xFFFFFF00))
            start = f"((wid.x * {self._frame.lanes} + {shift}) + lid.x)"
        kind = dice.below(3)
        if kind == 2:
            each = dice.pick((2, 3, 4))
            head = f"for r in 0..{each} {{\n    let i = {start} * {each} + r\n"
        elif kind == 1:
            head = f"let p = {start}\nwhile p < {limit} {{\n    let i = p\n    p = p + {step}\n"
        else:
            rounds = f"select(o < z, (z - o - 1) / {step} + 1, 0)"
            head = f"let o = {start}\nlet z = {limit}\nfor r in 0..{rounds} {{\n"
            head += f"    let i = o + r * {step}\n"
        self._leave = ["break", "continue"]
        body = self._start() + self._work(2) + self._store()
        return f"{head}{_indented(body)}}}\n"

    def _tiled(self) -> str:
        """Values that go round through workgroup memory."""
        dice, lanes = self._dice, self._frame.lanes
        text = f"let i = {self._place()}\n{self._start()}"
        for _ in range(dice.between(1, 2)):
            text += self._guarded(self._work(1))
            text += f"tile[{self._frame.lane}] = v\nbarrier acq_rel\n"
            lane = self._frame.lane
            reads = (
                *(f"{lane} + 1", f"{lane} - 1", f"{lanes - 1} - {lane}", f"{lane} ^ 1", "0"),
                *(f"({lane} + 3) % {lanes}", self._exprs.index()),
            )
            if dice.chance(3):
                text += dice.pick((self._exchange, self._elimination))()
            text += f"v = v + tile[{dice.pick(reads)}]\nbarrier acq_rel\n"
        if dice.chance(4):
            text += self._tree()
        return text + self._guarded(self._store())

    def _exchange(self) -> str:
        """Pairs of neighbours, put in order."""
        dice, lane = self._dice, self._frame.lane
        first = dice.pick((f"{lane} * 2", f"{lane} * 2 + 1", f"{self._frame.lanes} - {lane} * 2"))
        return (
            f"if {lane} * 2 + {dice.below(3)} < {self._frame.lanes} {{\n"
            f"    let p = {first}\n    let x = tile[p]\n    let y = tile[p + 1]\n"
            f"    if x {dice.pick('<>')} y {{\n"
            "        tile[p] = y\n        tile[p + 1] = x\n    }\n"
            "}\nbarrier acq_rel\n"
        )

    def _elimination(self) -> str:
        """Something of one lane, added to all after it; the next round begins a lane later."""
        dice, lane = self._dice, self._frame.lane
        guard = dice.pick((f"{lane} > k", f"{lane} >= k + 1", f"{lane} > k + 2", f"k < {lane}"))
        return (
            f"for k in 0..{dice.between(2, 9)} {{\n    if {guard} {{\n"
            f"        tile[{lane}] = tile[{lane}] + tile[k]\n    }}\n    barrier acq_rel\n}}\n"
        )

    def _tree(self) -> str:
        """A sum over the workgroup."""
        lane = self._frame.lane
        return (
            f"tile[{lane}] = v\nbarrier acq_rel\nfor t in 0..8 {{\n    let reach = 128 >> t\n"
            f"    if {lane} < reach {{\n"
            f"        tile[{lane}] = tile[{lane}] + tile[{lane} + reach]\n    }}\n"
            f"    barrier acq_rel\n}}\nv = v + tile[0]\n"
        )

    def _guarded(self, text: str) -> str:
        if not self._dice.chance(5):
            return text
        return f"if {self._exprs.bound()} {{\n{_indented(text)}}}\n"

    def _place(self) -> str:
        """A number that is this invocation's alone, or lies outside of every buffer."""
        dice, number = self._dice, self._frame.number
        first = f"wid.x * {self._frame.lanes} + lid.x"
        plain = (number, number, number, number if self._frame.is_deep else first)
        odd = (f"n - 1 - {number}", f"{number} * 2 + 1", f"{number} ^ 1", f"{number} + 2")
        guarded = f"select({number} < n - 1, {number}, {NOWHERE})"
        return dice.pick((*plain, *plain, *odd, guarded))

    # --- statements ---------------------------------------------------------------------------

    def _start(self) -> str:
        dtype = self._frame.computed
        value = f"0.0{dtype}" if dtype.startswith("f") else f"0{dtype}"
        if self._dice.chance(5):
            value = f"{dtype}(a[i])"
        return f"let v = {value}\nlet m = {self._dice.pick(('0', 'i', 'lid.x', 'u32(b[i])'))}\n"

    def _store(self) -> str:
        written = self._frame.written
        value = {"bool": "v > v - v", "bf16": "bf16(f32(v))"}.get(written, f"{written}(v)")
        return f"out[i] = {value}\n"

    def _work(self, most: int, depth: int = _DEPTH) -> str:
        return "".join(self._statement(depth) for _ in range(self._dice.between(1, most)))

    def _statement(self, depth: int) -> str:
        kind = self._dice.below(14 if depth else 8)
        if kind < 3:
            return f"v = {self._exprs.value()}\n"
        if kind == 3:
            return f"v = v + {self._exprs.value(1)}\n"
        if kind == 4:
            return f"m = {self._exprs.number()}\n"
        if kind == 5:
            return self._memory()
        if kind in (6, 7) and not depth:
            return self._ending()
        if kind in (6, 7, 8, 9):
            return self._branch(depth - 1)
        if kind in (10, 11):
            return self._counted(depth - 1)
        if kind == 12:
            return self._chasing() if self._dice.chance(5) else self._waiting(depth - 1)
        return self._store()

    def _memory(self) -> str:
        exprs = self._exprs
        return self._dice.pick(
            (
                f"mine[{exprs.index()}] = {exprs.number()}\n",
                f"m = mine[{exprs.index()}]\n",
                f"eval {self._counts}(bins[{exprs.number()} & 15], 1)\n",
                f"eval {self._counts}(bins[{exprs.index()}], {exprs.number()})\n",
            )
        )

    def _ending(self) -> str:
        if not self._leave:
            return f"m = m + {self._exprs.number()}\n"
        ends = self._dice.pick(self._leave)
        return f"if {self._exprs.condition()} {{\n    {ends}\n}}\n"

    def _branch(self, depth: int) -> str:
        dice = self._dice
        text = f"if {self._exprs.condition()} {{\n{_indented(self._work(2, depth))}}}"
        while dice.chance(3):
            inner = _indented(self._work(1, depth))
            text += f" else if {self._exprs.condition()} {{\n{inner}}}"
        if dice.chance(4):
            text += f" else {{\n{_indented(self._work(1, depth))}}}"
        return text + "\n"

    def _counted(self, depth: int) -> str:
        """A loop over a range: the same for all, or each its own."""
        dice = self._dice
        name = self._new("k")
        start, end = dice.pick(
            (
                *(("0", "4"), ("1", "6"), ("0", "w & 7"), ("0", "n & 15"), ("i & 3", "7")),
                *(("0", "m & 15"), ("u32(b[i]) & 7", "u32(b[i + 1]) & 15"), ("0", "len(a) & 3")),
                *(("i", "i + 3"), ("n - (n & 7)", "n"), ("i", "min(i + 9, n)")),
                *(("i * (w & 7)", "(i + 1) * (w & 7)"), ("i - 9", "i - 4")),
            )
        )
        return self._loop(f"for {name} in {start}..{end}", name, "", depth)

    def _waiting(self, depth: int) -> str:
        """A loop as long as a condition holds, with a counter that moves towards its end."""
        dice = self._dice
        name = self._new("j")
        if dice.chance(3):
            start, holds, step = f"{self._exprs.number()} & 31", f"{name} > 0", f"{name} - 1"
        else:
            start = dice.pick(("i", "0", "lid.x", "m", f"{self._exprs.number()} & 63"))
            limit = dice.pick(("n", "min(n, i + 20)", "len(b)", "64", "w"))
            least = max(1, self._frame.total // 40)
            holds, step = f"{name} < {limit}", f"{name} + {least + dice.below(3)}"
        if dice.chance(3):
            holds = f"({holds}) & ({self._exprs.condition()})"
        loop = self._loop(f"while {holds}", name, f"{name} = {step}\n", depth)
        return f"let {name} = {start}\n{loop}"

    def _chasing(self) -> str:
        """A loop along links from element to element, for a few steps."""
        dice, name = self._dice, self._new("c")
        link = dice.pick(("u32(b[m])", "u32(b[m]) + 1", "u32(b[m & 63])", "m ^ u32(b[m])"))
        ends = dice.pick(("u32(b[m]) != 0", "m < n", "m != i", "(b[m] > b[i])"))
        step = dice.pick((f"v = v + {self._exprs.value(1)}\n", ""))
        body = _indented(f"m = {link}\n{step}{name} = {name} + 1\n")
        most = dice.pick(("9", "(m & 31)", "(i & 15)"))
        return f"let {name} = 0\nwhile ({name} < {most}) & ({ends}) {{\n{body}}}\n"

    def _loop(self, head: str, name: str, step: str, depth: int) -> str:
        around = self._leave
        self._leave = ["break"] if step else ["break", "continue"]
        self._exprs.counters.append(name)
        body = self._work(2, depth)
        self._exprs.counters.remove(name)
        self._leave = around
        first = bool(step) and self._dice.chance(3)
        body = step + body if first else body + step
        return f"{head} {{\n{_indented(body)}}}\n"

    def _new(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"
