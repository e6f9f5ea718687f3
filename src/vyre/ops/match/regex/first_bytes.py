"""The bytes that can start a match."""

from __future__ import annotations

from vyre.ops.match.regex.program import ASSERT, BYTE, JUMP, SAVE, SPLIT, Program


def first_set(program: Program) -> int:
    """The set of bytes that some match starts with; assertions count as true."""
    bits = 0
    reached: set[int] = set()
    pending = [0]
    while pending:
        pc = pending.pop()
        if pc in reached:
            continue
        reached.add(pc)
        op, x, y = program.code[pc]
        if op == BYTE:
            bits |= program.sets[x]
        elif op == SPLIT:
            pending += (x, y)
        elif op == JUMP:
            pending.append(x)
        elif op in (SAVE, ASSERT):
            pending.append(pc + 1)
    return bits


def first_bytes(program: Program) -> bytes:
    """One entry per byte value: 1 if a match can start with it."""
    bits = first_set(program)
    return bytes(bits >> byte & 1 for byte in range(256))
