"""Runs that end early: traps with their tags, and deadlines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre.conform.suite.case import Ending, Trial
from vyre.conform.suite.texts import written
from vyre.diagnostics import DeadlineError, TrapError

_AREA = "endings"
_SHORT = 0.2
"""Seconds that a run without an end is given."""


def trials() -> Iterator[Trial]:
    """The whole area."""
    for count in (1, 64, 1000):
        for guilty in sorted({0, count // 2, count - 1}):
            yield _trap(count, guilty)
    yield _which_tag(0, "low")
    yield _which_tag(900, "high")
    yield _in_a_loop()
    yield _after_a_barrier()
    yield _between_segments()
    yield _untouched()
    yield _resumed()
    yield _too_long()


def _trap(count: int, guilty: int) -> Trial:
    """One invocation of many raises it."""
    text = f"""
    program workgroup(32, 1, 1)

    buffer bad: uniform u32[1] @0
    buffer out: read_write u32[{count}] @1 output live_out

    if gid.x < {count} {{
        if gid.x == bad[0] {{
            trap "found it"
        }}
        out[gid.x] = gid.x
    }}
    """
    ending = Ending(TrapError, tag="found it")
    inputs = {"bad": np.array([guilty], np.uint32)}
    grid = (-(-count // 32), 1, 1)
    return written(_AREA, f"trap of {guilty} in {count}", text, inputs, grid, ending=ending)


def _which_tag(value: int, tag: str) -> Trial:
    text = """
    program workgroup(8, 1, 1)

    buffer v: read_only u32[8] @0
    buffer out: read_write u32[8] @1 output live_out

    let x = v[gid.x]
    if x < 10 {
        trap "low"
    }
    if x > 800 {
        trap "high"
    }
    out[gid.x] = x
    """
    data = np.full(8, 100, np.uint32)
    data[5] = value
    return written(
        _AREA, f"the tag {tag!r} of two", text, {"v": data}, (1, 1, 1),
        ending=Ending(TrapError, tag=tag),
    )  # fmt: skip


def _in_a_loop() -> Trial:
    text = """
    program workgroup(8, 1, 1)

    buffer out: read_write u32[8] @0 output live_out

    let r = gid.x
    for k in 0..100 {
        r = r + k
        if r == 47 {
            trap "in the loop"
        }
    }
    out[gid.x] = r
    """
    ending = Ending(TrapError, tag="in the loop")
    return written(_AREA, "trap in a loop", text, {}, (1, 1, 1), ending=ending)


def _after_a_barrier() -> Trial:
    text = """
    program workgroup(16, 1, 1)

    buffer out: read_write u32[64] @0 output live_out
    buffer tile: workgroup u32[16]

    tile[lid.x] = lid.x
    barrier acq_rel
    if tile[15 - lid.x] + wid.x == 18 {
        trap "after"
    }
    barrier acq_rel
    out[gid.x] = tile[lid.x]
    """
    ending = Ending(TrapError, tag="after")
    return written(_AREA, "trap between barriers", text, {}, (4, 1, 1), ending=ending)


def _between_segments() -> Trial:
    text = """
    program workgroup(16, 1, 1)

    buffer out: read_write u32[64] @0 output live_out

    out[gid.x] = gid.x
    barrier grid_sync
    if out[63 - gid.x] == 3 {
        trap "second half"
    }
    barrier grid_sync
    out[gid.x] = 0
    """
    ending = Ending(TrapError, tag="second half")
    return written(_AREA, "trap between grid barriers", text, {}, (4, 1, 1), ending=ending)


def _untouched() -> Trial:
    """A trap that no invocation raises changes nothing."""
    text = """
    program workgroup(16, 1, 1)

    buffer out: read_write u32[64] @0 output live_out

    if gid.x > 1000 {
        trap "never"
    }
    out[gid.x] = gid.x + 1
    """
    expected = {"out": np.arange(1, 65, dtype=np.uint32)}
    return written(_AREA, "a trap that no invocation raises", text, {}, (4, 1, 1), expected)


def _resumed() -> Trial:
    """A resume does nothing by itself."""
    text = """
    program workgroup(16, 1, 1)

    buffer out: read_write u32[16] @0 output live_out

    if gid.x > 1000 {
        trap "again"
    }
    resume "again"
    out[gid.x] = gid.x + 1
    """
    expected = {"out": np.arange(1, 17, dtype=np.uint32)}
    return written(_AREA, "resume", text, {}, (1, 1, 1), expected)


def _too_long() -> Trial:
    """A loop that never ends is ended."""
    text = """
    program workgroup(16, 1, 1)

    buffer stop: uniform u32[1] @0
    buffer out: read_write u32[16] @1 output live_out

    let r = gid.x
    while stop[0] == 0 {
        r = r * 31 + 7
    }
    out[gid.x] = r
    """
    inputs = {"stop": np.zeros(1, np.uint32)}
    ending = Ending(DeadlineError)
    return written(_AREA, "a deadline", text, inputs, (4, 1, 1), ending=ending, deadline=_SHORT)
