"""Thompson programs with priorities: the automaton that every matcher here starts from.

    BYTE s       consume one byte of the set s, go on
    SPLIT x y    go on at x; at y with lower priority
    JUMP x       go on at x
    SAVE n       store the offset in slot n (2k and 2k + 1 are the ends of group k)
    ASSERT r     go on if the boundary satisfies the relation r (`boundaries`)
    MATCH        a match ends here

Repeats are expanded into copies: x{2,4} is x x (x (x)?)?, x{2,} is x x+. A star over a body that
can be empty is (x+)?, which keeps the priorities of the empty iteration right (as in RE2).
Fragments are entered at their first instruction and left behind their last, and jumps are relative
while they are built, so a copy is a copy of the list.
"""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.boundaries import RELATIONS, transposed
from vyre.ops.match.regex.normal_form import simplified
from vyre.ops.match.regex.syntax import (
    Alternation,
    Assertion,
    Class,
    Concat,
    Group,
    Node,
    Repeat,
    fold,
    rebuilt,
)
from vyre.record import dataclass


class Op(IntEnum):
    """What an instruction does."""

    BYTE = 0
    SPLIT = 1
    JUMP = 2
    SAVE = 3
    ASSERT = 4
    MATCH = 5


BYTE, SPLIT, JUMP, SAVE, ASSERT, MATCH = map(int, Op)
"""The opcodes as plain integers: comparing members of an enumeration takes ten times as long."""

Instruction = tuple[int, int, int]
"""Op and two operands; targets are absolute in a program."""


@dataclass(frozen=True, slots=True)
class Program:
    """A Thompson program; execution starts at instruction zero."""

    code: tuple[Instruction, ...]
    sets: tuple[int, ...]
    """The byte sets that BYTE refers to, without duplicates."""
    groups: int
    """Capture groups beyond the match itself."""
    is_reversed: bool = False
    """True if it reads the text backwards: its relations are transposed."""

    @property
    def positions(self) -> int:
        """The number of BYTE instructions."""
        return sum(op == BYTE for op, _, _ in self.code)

    @property
    def has_assertions(self) -> bool:
        """True if some instruction is an ASSERT."""
        return any(op == ASSERT for op, _, _ in self.code)


def compile_program(root: Node, groups: int = 0, unanchored: bool = False) -> Program:
    """The program of a tree; an unanchored one skips any bytes first, at the lowest priority."""
    root = simplified(root)
    if unanchored:
        root = Concat((Repeat(Class(byte_sets.ALL), 0, None, greedy=False), root))
    return _assembled(root, groups, is_reversed=False)


def compile_reversed(root: Node, unanchored: bool = False) -> Program:
    """The program that matches the reversals of the tree's matches, without captures."""
    backwards = fold(simplified(root), _reversed)
    if unanchored:
        backwards = Concat((Repeat(Class(byte_sets.ALL), 0, None, greedy=False), backwards))
    return _assembled(backwards, 0, is_reversed=True)


def _reversed(node: Node, below: list[Node]) -> Node:
    match node:
        case Concat():
            return Concat(tuple(reversed(below)))
        case Group():
            return below[0]
        case _:
            return rebuilt(node, below)


@dataclass(frozen=True, slots=True)
class _Fragment:
    code: list[Instruction]
    can_be_empty: bool


def _assembled(root: Node, groups: int, is_reversed: bool) -> Program:
    sets: dict[int, int] = {}

    def fragment(node: Node, below: list[_Fragment]) -> _Fragment:
        match node:
            case Class(bits):
                return _Fragment([(BYTE, sets.setdefault(bits, len(sets)), 0)], False)
            case Assertion(look):
                relation = RELATIONS[look]
                operand = transposed(relation) if is_reversed else relation
                return _Fragment([(ASSERT, operand, 0)], True)
            case Group(_, number):
                first, last = (SAVE, 2 * number, 0), (SAVE, 2 * number + 1, 0)
                return _Fragment([first, *below[0].code, last], below[0].can_be_empty)
            case Concat():
                code = [instruction for part in below for instruction in part.code]
                return _Fragment(code, all(part.can_be_empty for part in below))
            case Alternation():
                code = _alternation([part.code for part in below])
                return _Fragment(code, any(part.can_be_empty for part in below))
            case Repeat():
                return _repeat(node, below[0])
            case _:
                assert_never(node)

    code = [*fold(root, fragment).code, (MATCH, 0, 0)]
    return Program(tuple(_absolute(code)), tuple(sets), groups, is_reversed)


def _absolute(code: list[Instruction]) -> list[Instruction]:
    targets: list[Instruction] = []
    for place, (op, x, y) in enumerate(code):
        if op == SPLIT:
            targets.append((op, place + x, place + y))
        elif op == JUMP:
            targets.append((op, place + x, 0))
        else:
            targets.append((op, x, y))
    return targets


def _alternation(choices: list[list[Instruction]]) -> list[Instruction]:
    code: list[Instruction] = []
    # A SPLIT before and a JUMP behind every choice but the last.
    size = sum(map(len, choices)) + 2 * (len(choices) - 1)
    for choice in choices[:-1]:
        code.append((SPLIT, 1, len(choice) + 2))
        code += choice
        code.append((JUMP, size - len(code), 0))
    return code + choices[-1]


def _repeat(node: Repeat, body: _Fragment) -> _Fragment:
    code, size = body.code, len(body.code)

    def split(stay: int, leave: int) -> Instruction:
        return (SPLIT, stay, leave) if node.greedy else (SPLIT, leave, stay)

    can_be_empty = body.can_be_empty or node.least == 0
    if node.most is not None:
        optional = node.most - node.least
        copies = code * node.least
        for copy in range(optional):
            copies.append(split(1, (optional - copy) * (size + 1)))
            copies += code
        return _Fragment(copies, can_be_empty)
    plus = [*code, split(-size, 1)]
    if node.least:
        return _Fragment(code * (node.least - 1) + plus, can_be_empty)
    if body.can_be_empty:
        return _Fragment([split(1, len(plus) + 1), *plus], True)
    return _Fragment([split(1, size + 2), *code, (JUMP, -size - 1, 0)], True)
