"""What the optimizer's benchmark counts, and that every pass earns its place by it."""

from __future__ import annotations

import numpy as np

from benchmarks.executed import Launch, executed
from benchmarks.plain_launches import launches
from benchmarks.programs import plain_programs
from benchmarks.suites.optimizer import losses
from vyre.ir import Program
from vyre.opt import registered_passes

TEXT = """\
program workgroup(4, 1, 1)

buffer a: read_only u32[] @0
buffer h: read_write u32[1] @1
buffer tile: workgroup u32[4]
buffer tmp: scratch u32[16]

tile[lid.x] = a[gid.x] * 3u32
barrier seq_cst
for i in 0u32..3u32 {
    if lid.x == 0u32 {
        eval atomic_add(h[0], tile[i])
    }
}
let n = 2u32
while n > 0u32 {
    n = n - 1u32
}
"""


def test_counts_are_of_what_is_executed() -> None:
    inputs = {"a": np.arange(8, dtype=np.uint32), "h": np.zeros(1, np.uint32)}
    found = executed(Program.parse(TEXT), Launch(inputs, (2, 1, 1)))
    assert found["dear"] == 8
    assert found["device"] == 8
    assert found["workgroup"] == 8 + 2 * 3
    assert found["device_atomics"] == 2 * 3
    assert found["barriers"] == 2
    # Loop: one entry and three rounds; if: three; while: one entry and two rounds.
    assert found["branches"] == 8 * (4 + 3 + 3)
    # Only the length of a is not known.
    assert found["bounds_checks"] == 8
    assert found["scratch_bytes"] == 64
    assert found["workgroup_bytes"] == 16
    store, loop, tests, whiles = 3, 1 + 3, 2 * 3, 2 * 3 + 2 * 2
    assert found["instructions"] == 8 * (store + 1 + loop + tests + whiles) + 2 * 3 * 2


def test_every_access_counts_a_check_when_none_is_proven() -> None:
    inputs = {"a": np.arange(8, dtype=np.uint32), "h": np.zeros(1, np.uint32)}
    found = executed(Program.parse(TEXT), Launch(inputs, (2, 1, 1)), checked=True)
    assert found["bounds_checks"] == 8 + 8 + 2 * 3 * 2


def test_every_kernel_has_a_launch() -> None:
    assert launches().keys() == plain_programs().keys()


def test_without_any_pass_more_would_be_executed() -> None:
    table = losses(plain_programs(), launches())
    helped = {row[0] for row in table.rows if any(cell.startswith("+") for cell in row[2:])}
    assert helped == {each.metadata.name for each in registered_passes()}
