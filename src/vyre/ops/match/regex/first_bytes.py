"""What a match can start with: the bytes, or its end."""

from __future__ import annotations

from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.program import ASSERT, BYTE, JUMP, MATCH, SAVE, SPLIT, Program


def _reached(program: Program) -> list[int]:
    """The instructions reached from the start without consuming; assertions count as true."""
    reached: dict[int, None] = {}
    pending = [0]
    while pending:
        pc = pending.pop()
        if pc in reached:
            continue
        reached[pc] = None
        op, x, y = program.code[pc]
        if op == SPLIT:
            pending += (x, y)
        elif op == JUMP:
            pending.append(x)
        elif op in (SAVE, ASSERT):
            pending.append(pc + 1)
    return list(reached)


def can_match_empty(program: Program) -> bool:
    """True if a match may consume nothing; errs towards True."""
    return any(program.code[pc][0] == MATCH for pc in _reached(program))


def first_bytes(program: Program) -> bytes:
    """One entry per byte value: 1 if a match can start with it."""
    bits = 0
    for pc in _reached(program):
        op, x, _ = program.code[pc]
        if op == BYTE:
            bits |= program.sets[x]
    return byte_sets.flags(bits)
