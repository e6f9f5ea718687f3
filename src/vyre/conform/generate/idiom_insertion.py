"""Inserts idioms that passes transform into random programs.

A fragment is a few pieces of text and the buffers they need. Its pieces go into one body of a
random program, with whatever stands there before, between and after them, and under conditions and
in loops where that body happens to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from math import prod

from vyre.analysis import TOP, ProgramFacts
from vyre.analysis.types import VariableTypes
from vyre.conform.generate import GeneratedCase, Profile, generate
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.values import array
from vyre.ir import Body, DataType, Program
from vyre.ir.walk import rebuilt
from vyre.record import dataclass

ATTEMPTS = 8
"""How often an idiom is tried where the checker refuses it."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """An idiom as text: its pieces stay in order, other statements may come between them."""

    buffers: tuple[str, ...]
    pieces: tuple[str, ...]
    together: bool = False
    """Whether the whole workgroup must be there, because of a barrier."""


@dataclass(slots=True)
class Site:
    """Where a fragment goes, and what it can use there."""

    dice: Dice
    size: tuple[int, int, int]
    grid: tuple[int, int, int]
    prefix: str
    """What the names of the fragment begin with."""
    variables: list[str] = field(default_factory=list[str])
    """Variables of type u32 that are visible."""

    @property
    def lanes(self) -> int:
        """How many invocations a workgroup has."""
        return prod(self.size)

    @property
    def total(self) -> int:
        """How many invocations there are."""
        return self.lanes * prod(self.grid)

    @property
    def is_flat(self) -> bool:
        """Whether there is only one axis."""
        return self.size[1] * self.size[2] * self.grid[1] * self.grid[2] == 1

    @property
    def own(self) -> str:
        """A number that is this invocation's alone."""
        return self.dice.pick(("invocation", "gid.x", "gid.x")) if self.is_flat else "invocation"

    @property
    def lane(self) -> str:
        """The number of the invocation in its workgroup."""
        x, y, z = self.size
        text = "lid.x"
        if y > 1:
            text += f" + lid.y * {x}u32"
        return f"({text} + lid.z * {x * y}u32)" if z > 1 else f"({text})" if y > 1 else text

    def value(self) -> str:
        """Some number of type u32."""
        dice = self.dice
        known = dice.pick(self.variables) if self.variables else "gid.x"
        number = dice.pick((0, 1, 2, 3, 5, 8, 31, 255, 65_536, 4_294_967_295))
        simple = (known, known, "gid.x", "lid.x", "wid.x", f"{number}u32")
        left, right = dice.pick(simple), dice.pick(simple)
        if dice.chance(4):
            return left
        if dice.chance(1):
            return f"select({left} < {right}, {right}, {left})"
        return f"({left} {dice.pick(('+', '*', '^', '&', '-', '>>'))} {right})"

    def condition(self) -> str:
        """Some truth value; now and then one on which the workgroup agrees."""
        dice = self.dice
        if dice.chance(2):
            return dice.pick(("wid.x == 1u32", "true", "false", "wid.x < 2u32", "wid.x > 0u32"))
        return f"{self.value()} {dice.pick(('<', '==', '!=', '>'))} {self.value()}"


Idiom = Callable[[Site], Fragment]


def woven(label: str, profile: Profile, idioms: Sequence[Idiom]) -> GeneratedCase:
    """A random program with these idioms in it; the same for the same label."""
    dice = Dice(label)
    case = replace(generate(dice.bits(30), profile), label=label)
    for number, idiom in enumerate(idioms):
        for _ in range(ATTEMPTS):
            found = _with(case, idiom, f"p{number}_", dice)
            if not any(d.severity == "error" for d in found.program.check()):
                case = found
                break
    return case


def _with(case: GeneratedCase, idiom: Idiom, prefix: str, dice: Dice) -> GeneratedCase:
    program = case.program
    facts = ProgramFacts.of(program)
    # The first statement in the root region numbers the invocations.
    top = facts.children(0)[1:]
    position = dice.pick(top) if dice.chance(6) else dice.between(2, len(facts) - 1)
    site = Site(dice, program.workgroup_size, case.grid, prefix, _visible(program, position))
    fragment = idiom(site)
    if fragment.together and position not in top:
        position = dice.pick(top)
        site.variables = _visible(program, position)
        fragment = idiom(site)
    pieces = _parsed(program, fragment)
    entry = _put(program.entry, _steps(facts, position), pieces, dice)
    buffers = pieces[0].buffers
    made = program.with_rewritten_entry(entry).with_rewritten_buffers([*program.buffers, *buffers])
    inputs = dict(case.inputs)
    for decl in buffers:
        if decl.is_host_input:
            inputs[decl.name] = array(dice, decl.element, decl.count or site.total, tame=False)
    return replace(case, program=made, inputs=inputs)


def _visible(program: Program, position: int) -> list[str]:
    """The variables of type u32 that can be read at a statement."""
    types = VariableTypes.of(program)
    facts = ProgramFacts.of(program)
    names = {row.name for row in (*facts.lets, *facts.loop_variables)}
    return sorted(name for name in names if types.visible(name, position) is DataType.U32)


def _parsed(program: Program, fragment: Fragment) -> list[Program]:
    """The pieces, each with the declarations of the whole fragment."""
    bound = sum(decl.binding is not None for decl in program.buffers)
    lines = [f"program workgroup({', '.join(map(str, program.workgroup_size))})", ""]
    for line in fragment.buffers:
        lines.append(f"buffer {line}")
        if line.endswith("@"):
            lines[-1] += str(bound)
            bound += 1
    head = "\n".join([*lines, "", ""])
    return [Program.parse(head + piece) for piece in fragment.pieces]


def _steps(facts: ProgramFacts, position: int) -> list[tuple[str, int]]:
    """Bodies and indices from the entry down to a statement."""
    steps: list[tuple[str, int]] = []
    while position != TOP:
        steps.append((facts.fields[position], facts.indices[position]))
        position = facts.parents[position]
    return steps[::-1]


def _put(body: Body, steps: list[tuple[str, int]], pieces: list[Program], dice: Dice) -> Body:
    """The body with the pieces before the statement that the steps lead to, or after it."""
    index = steps[0][1]
    if len(steps) > 1:
        statement, name = body[index], steps[1][0]
        inner = _put(getattr(statement, name), steps[1:], pieces, dice)
        return (*body[:index], rebuilt(statement, {name: inner}), *body[index + 1 :])
    out = list(body)
    for piece in pieces:
        out[index:index] = piece.entry
        index = min(index + len(piece.entry) + dice.pick((0, 0, 0, 1, 2)), len(out))
    return tuple(out)
