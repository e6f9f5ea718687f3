r"""Simplification of syntax trees, and the checks that need the whole tree.

    concatenations and alternations inside of themselves are flattened
    (?:) and repeats of it vanish;  x{0} is empty;  x{1} is x
    a|[bc]  becomes  [a-c]          neighbouring single bytes of an alternation
    \b{5}  becomes  \b             an assertion holds once or always
    x**     becomes  x*             a repeat of a repeat that adds nothing

The matches, their priorities and the captures stay the same.
"""

from __future__ import annotations

from vyre.diagnostics.codes import regex as codes
from vyre.ops.match.regex.limits import MAX_INSTRUCTIONS, MAX_POSITIONS
from vyre.ops.match.regex.source import Source
from vyre.ops.match.regex.syntax import (
    EMPTY,
    Alternation,
    Assertion,
    Class,
    Concat,
    Group,
    Node,
    Repeat,
    can_be_empty,
    fold,
    rebuilt,
)


def check_size(source: Source, root: Node) -> None:
    """Refuse a tree whose automaton would be larger than the limits."""
    positions, instructions = fold(root, _size)
    for size, unit, limit in (
        (positions, "positions", MAX_POSITIONS),
        (instructions, "instructions", MAX_INSTRUCTIONS),
    ):
        if size > limit:
            shown = size if size < 10**18 else "more than 10^18"
            source.position = len(source.text)
            source.refuse(codes.PATTERN_TOO_LARGE, 0, size=shown, unit=unit, limit=limit)


def positions_of(root: Node) -> int:
    """The number of byte sets once repeats are expanded."""
    return fold(root, _size)[0]


def _size(node: Node, below: list[tuple[int, int]]) -> tuple[int, int]:
    """Positions and instructions of the node's program."""
    positions = sum(p for p, _ in below)
    instructions = sum(i for _, i in below)
    match node:
        case Class():
            return 1, 1
        case Assertion():
            return 0, 1
        case Concat():
            return positions, instructions
        case Alternation(choices):
            return positions, instructions + len(choices) - 1
        case Group():
            return positions, instructions + 2
        case Repeat():
            copies = max(node.least, 1) if node.most is None else node.most
            return positions * copies, (instructions + 1) * copies + 1


def is_empty_match_possible(root: Node) -> bool:
    """True if the pattern may match the empty string; assertions count as always true."""
    return can_be_empty(root)


def simplified(root: Node) -> Node:
    """The tree in normal form."""
    return fold(root, _simplified)


def _simplified(node: Node, below: list[Node]) -> Node:
    match node:
        case Concat():
            return _concat(below)
        case Alternation():
            return _alternation(below)
        case Repeat():
            return _repeat(node, below[0])
        case Group() | Class() | Assertion():
            return rebuilt(node, below)


def _concat(below: list[Node]) -> Node:
    items: list[Node] = []
    for item in below:
        items.extend(item.items if isinstance(item, Concat) else [item])
    return items[0] if len(items) == 1 else Concat(tuple(items))


def _alternation(below: list[Node]) -> Node:
    choices: list[Node] = []
    for item in below:
        for choice in item.choices if isinstance(item, Alternation) else [item]:
            last = choices[-1] if choices else None
            if isinstance(choice, Class) and isinstance(last, Class):
                # Neighbours that match one byte each differ in nothing but the byte.
                choices[-1] = Class(last.bits | choice.bits)
            else:
                choices.append(choice)
    return choices[0] if len(choices) == 1 else Alternation(tuple(choices))


def _repeat(node: Repeat, body: Node) -> Node:
    least, most = node.least, node.most
    if most == 0 or body == EMPTY:
        return EMPTY
    if isinstance(body, Assertion):
        least, most = min(least, 1), 1
    if (least, most) == (1, 1):
        return body
    if isinstance(body, Repeat) and body.greedy == node.greedy:
        star = (0, None)
        if (body.least, body.most) == star and (least, most) in (star, (1, None), (0, 1)):
            return body
        if (least, most) == star and (body.least, body.most) in ((1, None), (0, 1)):
            return Repeat(body.body, 0, None, node.greedy)
    if body is node.body and (least, most) == (node.least, node.most):
        return node
    return Repeat(body, least, most, node.greedy)
