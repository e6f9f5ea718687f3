"""A random kernel: globals, device functions, and one part per workgroup, each a function alone."""

from __future__ import annotations

from textwrap import indent

from vyre.conform.generate.dice import Dice
from vyre.conform.python.around import Outside
from vyre.conform.python.expressions import Expressions
from vyre.conform.python.functions import Functions, shared_functions
from vyre.conform.python.loops import Loops
from vyre.conform.python.scope import PAIR, REAL, TRUTH, TUPLES, WHOLE, Kind, Scope, World
from vyre.record import dataclass

WORKGROUP = 4
"""Invocations of a part, each with other data."""
SLOTS = 4
"""Elements that each invocation has for itself in every array that it changes."""
_PARAMETERS = (
    "x",
    "f",
    "m",
    "n",
    "r",
    "y",
    "g",
    "mine",
    "plane",
    "o",
    "part",
    "bump",
    "move",
    "vy",
    "k",
)
_WORLDS = (
    *[World("i32", wraps=False)] * 6,
    *[World("i64", wraps=False)] * 2,
    *[World("i32", wraps=True)] * 2,
    *[World("u32", wraps=True)] * 3,
    *(World(dtype, wraps=True) for dtype in ("u8", "i8", "u16", "i16", "u64", "i64")),
)


@dataclass(frozen=True, slots=True)
class Written:
    """The source of a kernel `k`."""

    seed: int
    world: World
    before: str
    """What stands above the kernel."""
    parts: tuple[str, ...]
    """What the workgroups do: the last part stands alone, and the others come to it."""
    after: str
    """What stands below it."""
    is_closure: bool = False
    """Whether all of it stands in a function, so that what is around a kernel are its variables."""

    @property
    def source(self) -> str:
        """The whole text."""
        dtype = f"vy.{self.world.dtype}"
        lines = [
            self.before,
            f"@vy.kernel(workgroup={WORKGROUP})",
            f"def k(x: vy.In[{dtype}], f: vy.In[vy.f32], m: vy.In[{dtype}, 2], n: {dtype},",
            f"      r: vy.InOut[{dtype}], y: vy.InOut[{dtype}], g: vy.Out[vy.f32]):",
            f"    mine = vy.local({dtype}, 5)",
            f"    plane = vy.local({dtype}, 2, 3)",
            f"    o = {SLOTS} * vy.gid()",
            "    part = vy.wid()",
        ]
        for number, part in enumerate(self.parts[:-1]):
            lines.append(f"    if part == {number}:")
            lines += ["    " + line for line in part.splitlines()]
        text = "\n".join([*lines, self.parts[-1], self.after])
        if not self.is_closure:
            return text
        return f"def make():\n{indent(text, '    ')}\n    return k\n\nk = make()\n"


def write_kernel(seed: int, parts: int) -> Written:
    """The kernel with this seed and this number of parts."""
    dice = Dice(f"python {seed}")
    world = dice.pick(_WORLDS)
    before, after, around = _globals(dice, world)
    functions = Functions(dice, world, around)
    for number in range(dice.between(3, 5)):
        functions.write(number)
    before += [*shared_functions(world), "", *functions.lines]
    scope = Scope()
    made: list[str] = []
    for number in range(parts):
        outside = _kernel_outside(around)
        is_last = number == parts - 1
        body = Part(Expressions(dice, world, scope, outside), leaves=True)
        scope.bound = {"n": WHOLE}
        scope.kinds["n"] = WHOLE
        scope.taken.update((*_PARAMETERS, *around.wholes, *around.reals))
        scope.taken.update(one.name for one in around.functions)
        scope.taken.add("TABLE")
        body.part(is_last=is_last)
        made.append("\n".join(body.lines))
    texts = "\n".join(before), tuple(made), "\n".join(after)
    return Written(seed, world, *texts, is_closure=dice.chance(3))


def _globals(dice: Dice, world: World) -> tuple[list[str], list[str], Outside]:
    """Values outside of the kernel, some of which are another one when it runs."""

    def number() -> str:
        value = dice.between(-9 if world.is_signed else 0, 30)
        return f"vy.{world.dtype}({value})" if world.wraps else str(value)

    before = [f"G = {number()}", f"LATER = {number()}", f"H = {dice.pick(('0.5', '1.75', '-2.0'))}"]
    before.append(f"TABLE = ({', '.join(number() for _ in range(4))})")
    after = [f"LATER = {number()}", ""]
    return before, after, Outside([], ("G", "LATER"), ("H",), "TABLE")


def _kernel_outside(around: Outside) -> Outside:
    """What a part has at hand."""
    # Few of them, so that what one expression changes is what another one reads.
    places = ("r, o", "r, o", "r, o + 1", "y, o + 2")
    return Outside(
        around.functions,
        (*around.wholes,),
        around.reals,
        around.table,
        places,
        arrays=("x",),
        own=("mine",),
        own_planes=("plane",),
        planes=("m",),
        real_arrays=("f",),
    )


class Part(Loops):
    """What one workgroup does."""

    def part(self, *, is_last: bool) -> None:
        """Statements over numbers of its own; what they leave behind is stored."""
        lane = f"(vy.{self.make.world.dtype}(vy.lid()) + {self.dice.below(5)})"
        self._begin(WHOLE, f"x[{lane} % 8]")
        self._begin(WHOLE, self.make.typed(self.dice.between(0, 30)))
        self._begin(REAL, f"f[{lane} % 8]")
        self._begin(REAL, self.dice.pick(("0", "3", "0.0", "1.5")))
        if self.dice.chance(5):
            self._begin(TRUTH, self.make.truth(1))
        kind: Kind = self.dice.pick((PAIR, PAIR, *TUPLES))
        self._begin(kind, self.make.tuple_of(kind, 1))
        for _ in range(self.dice.between(3, 5)):
            self.statement(1)
            if self.dice.chance(3):
                self.store(1)
        self.store(1)
        self.store_all(1)
        if not is_last and self.dice.chance(5):
            self.line(1, "return")

    def _begin(self, kind: Kind, text: str) -> None:
        name = self.scope.target(self.dice, kind)
        self.line(1, f"{name} = {text}")
        self.scope.bind(name, kind)

    def store_all(self, depth: int) -> None:
        """One number of everything that the part has left behind."""
        name = f"vy.{self.make.world.dtype}"
        texts = self.make.members(WHOLE)
        texts += [f"{name}({one})" for one in self.make.members(TRUTH)]
        sums = [f"{text} * {factor}" for factor, text in enumerate(texts, 1)]
        self.line(depth, f"y[o + 3] += {' - '.join(sums)}")
        self.line(depth, f"g[o + 3] += {' - '.join(self.make.members(REAL))}")

    def store(self, depth: int) -> None:
        """What names hold, where it can be seen."""
        make = self.make
        texts = [make.settled(0) for _ in range(2)]
        kind = self.dice.pick((WHOLE, PAIR))
        seen = make.value(kind, 1)
        slot = self.dice.below(2)
        self.line(depth, f"y[o + {slot}] = {texts[0]}")
        if kind == PAIR:
            self.line(depth, f"y[o + {1 - slot}], y[o + 3] = {seen}")
        else:
            self.line(depth, f"y[o + 3] = {seen}")
        self.line(depth, f"g[o + {self.dice.below(SLOTS)}] = {make.settled_real(0)}")
