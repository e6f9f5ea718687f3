"""Stores that go past the caches: which buffers get them, and that results stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import load, source
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.memory.nontemporal import nontemporal_buffers
from vyre.backends.llvm.host import Host
from vyre.ir import Program

X86 = Host("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2,+fma,+f16c")
ARM = Host("aarch64-unknown-linux-gnu", "generic", "")

COPY = "if gid.x < len(out) { out[gid.x] = a[gid.x] + 1 }"


def program(body: str, workgroup: str = "256, 1, 1") -> Program:
    return Program.parse(f"""
program workgroup({workgroup})
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer other: read_write u32[] @2
region "r" {{ {body} }}""")


def test_buffers_that_are_never_read() -> None:
    assert nontemporal_buffers(program(COPY), X86) == {"out"}
    assert not nontemporal_buffers(program(COPY), ARM)
    assert not nontemporal_buffers(program("out[gid.x] = out[gid.x] + 1"), X86)
    assert not nontemporal_buffers(program("out[gid.x] = atomic_add(other[0], 1)"), X86)


def test_stores_in_loops_and_short_rows_are_plain() -> None:
    loop = "for k in 0..9 { out[k * 4096 + gid.x] = a[gid.x] }"
    tile = "out[gid.y * 4096 + wid.x * 16 + lid.x] = a[gid.x]"
    assert "!nontemporal" in source(program(COPY))
    assert "!nontemporal" not in source(program(loop))
    assert "!nontemporal" not in source(program(tile, "16, 16, 1"))


@pytest.mark.parametrize("shift", [0, 1])
def test_large_results_at_any_alignment(shift: int) -> None:
    count = heuristics.NONTEMPORAL_BYTES // 4 + 77
    a = np.arange(count, dtype=np.uint32)
    room = np.zeros(count + 2 + shift, np.uint32)
    out = room[1 + shift : 1 + shift + count]
    other = np.zeros(1, np.uint32)
    places = [(int(array.ctypes.data), int(array.size)) for array in (a, out, other)]
    outcome = load(program(COPY)).launch_raw(places, (-(-count // 256), 1, 1), 30.0)
    assert outcome is None
    assert np.array_equal(out, a + 1)
    assert not room[: 1 + shift].any()
    assert not room[-1:].any()


@pytest.mark.parametrize("shift", [0, 3])
def test_three_bytes_of_every_lane(shift: int) -> None:
    text = """program workgroup(256, 1, 1)
buffer a: read_only u8[] @0
buffer out: read_write u8[] @1
region "r" {
    if gid.x < len(out) / 3 {
        out[3 * gid.x] = a[gid.x]
        out[3 * gid.x + 1] = a[gid.x] ^ 85u8
        out[3 * gid.x + 2] = ~a[gid.x]
    }
}
"""
    lanes = heuristics.NONTEMPORAL_BYTES // 3 + 77
    a = (np.arange(lanes) * 7 % 251).astype(np.uint8)
    room = np.zeros(3 * lanes + 16 + shift, np.uint8)
    out = room[shift : shift + 3 * lanes]
    places = [(int(array.ctypes.data), int(array.size)) for array in (a, out)]
    assert "!nontemporal" in source(Program.parse(text))
    kernel = load(Program.parse(text))
    assert kernel.launch_raw(places, (-(-lanes // 256), 1, 1), 30.0) is None
    assert np.array_equal(out.reshape(-1, 3), np.stack([a, a ^ 85, ~a], axis=1))
    assert not room[shift + 3 * lanes :].any()
