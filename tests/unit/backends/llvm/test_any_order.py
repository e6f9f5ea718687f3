"""Programs whose workgroups may run in any order: no observable result depends on it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.native_kernels import INCREMENT, address, kernel
from vyre.backends.llvm.analysis.reordering import may_reorder_workgroups
from vyre.ir import Program

TEXT = """program workgroup(64, 1, 1)
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
region "r" {{
    {body}
}}
"""
FINE = {
    "a map": "out[gid.x] = a[gid.x] * 2",
    "a count": "eval atomic_add(out[a[gid.x]], 1)",
    "a search": "let i = 0 while a[i] < gid.x { i = i + 1 } out[gid.x] = i",
    "a loop that ends early": "for i in 0..len(a) { if a[i] == gid.x { break } } out[gid.x] = 1",
}
ORDERED = {
    "places in a list": "let at = atomic_add(out[0], 1) out[at + 1] = gid.x",
    "an atomic in an index": "eval atomic_add(out[atomic_add(out[0], 1)], 1)",
    "waits by an atomic": "while atomic_or(out[wid.x], 0) == 0 { } out[wid.x + 1] = 1",
    "waits by a load": "while out[wid.x] == 0 { } out[wid.x + 1] = 1",
    "waits for a while": "for i in 0..99 { if out[wid.x] != 0 { break } } out[wid.x + 1] = 1",
    "waits and returns": "for i in 0..99 { if out[wid.x] != 0 { return } } out[wid.x + 1] = 1",
    "messages": 'print "here", gid.x',
    "traps": 'if a[gid.x] > 7 { trap "large" }',
}


@pytest.mark.parametrize("name", FINE)
def test_nobody_could_tell(name: str) -> None:
    assert may_reorder_workgroups(Program.parse(TEXT.format(body=FINE[name]), name))


@pytest.mark.parametrize("name", ORDERED)
def test_somebody_could_tell(name: str) -> None:
    assert not may_reorder_workgroups(Program.parse(TEXT.format(body=ORDERED[name]), name))


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("divergent", [False, True])
def test_every_workgroup_runs_once_in_every_launch(any_order: bool, divergent: bool) -> None:
    made = kernel(INCREMENT, any_order=any_order, divergent=divergent)
    for groups in (1, 2, 3, 7, 8, 9, 1000, 100_003):
        data = np.zeros(groups, np.int32)
        launch = made.bind([address(data)], (groups, 1, 1))
        for times in range(1, 9):
            assert launch() is None
            assert (data == times).all()
