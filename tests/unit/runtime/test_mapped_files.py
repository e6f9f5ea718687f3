"""Arrays in mapped files and shared memory: one file under two addresses is one memory."""

from __future__ import annotations

import ctypes
import gc
import mmap
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import vyre as vy
from vyre.diagnostics import ArgumentError
from vyre.driver.host_memory import is_private, owner_of, share_a_file
from vyre.ir import Program

SIZE = 1 << 14


@pytest.fixture
def file() -> Iterator[Any]:
    with tempfile.TemporaryFile() as made:
        made.truncate(4 * SIZE)
        yield made


def _mapped(file: Any, **options: Any) -> Any:
    return np.frombuffer(mmap.mmap(file.fileno(), 4 * SIZE, **options), np.uint32)


@vy.kernel
def copied(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + 1


def _refused(x: Any, y: Any) -> None:
    for call in (
        lambda: copied(x, y, device="cpu"),
        lambda: vy.run(copied.program(), {"x": x, "y": y}, device="cpu", in_place=True),
    ):
        for _ in range(3):
            with pytest.raises(ArgumentError) as caught:
                call()
            assert caught.value.code == "D011"


def test_two_mappings_of_one_file_are_one_memory(file: Any) -> None:
    one, two = _mapped(file), _mapped(file)
    two[:] = 5
    assert one[3] == 5
    _refused(one, two)
    _refused(one[100:], two[:101])
    copied(one[:100], two[100:200], device="cpu")
    assert two[150] == 6
    copied(one, np.zeros(SIZE, np.uint32), device="cpu")


def test_so_they_are_through_views_with_gaps_and_through_ctypes(file: Any) -> None:
    one, two = _mapped(file), _mapped(file)
    _refused(one[::2], two[::2])
    _refused(one[::-1], two)
    _refused(one, two[::2])
    _refused(as_strided(one, (8,), (4,)), as_strided(two, (8,), (4,)))
    kind = ctypes.c_uint32 * SIZE
    one, two = (kind.from_buffer(mmap.mmap(file.fileno(), 4 * SIZE)) for _ in range(2))
    _refused(one, two)
    _refused(np.ctypeslib.as_array(one)[::2], two)


def test_other_parts_of_a_file_and_other_files_are_not(file: Any) -> None:
    one, two = _mapped(file), _mapped(file)
    copied(one[: SIZE // 2 : 2], two[SIZE // 2 :: 2], device="cpu")
    assert one[SIZE // 2] == 1
    kind = ctypes.c_uint32 * SIZE
    first, other = kind(), kind.from_buffer(mmap.mmap(file.fileno(), 4 * SIZE))
    copied(other, first, device="cpu")
    assert first[SIZE // 2] == 2
    assert owner_of(as_strided(one, (2,), (4,))) is owner_of(one)
    assert owner_of(np.asarray(first)) is first


def test_the_part_of_the_file_counts(file: Any) -> None:
    page = mmap.ALLOCATIONGRANULARITY
    whole = _mapped(file)
    behind = np.frombuffer(mmap.mmap(file.fileno(), page, offset=page), np.uint32)
    _refused(whole, behind)
    _refused(whole[page // 4 + 10 :], behind)
    copied(whole[: page // 4], behind, device="cpu")
    copied(whole[page // 2 :], behind, device="cpu")


def test_other_files_and_mappings_that_are_copies_are_apart(file: Any, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(bytes(4 * SIZE))
    one, other = _mapped(file), np.memmap(path, np.uint32, "r+")
    own = _mapped(file, access=mmap.ACCESS_COPY)
    for _ in range(3):
        copied(one, other, device="cpu")
        copied(one, own, device="cpu")
        copied(np.frombuffer(mmap.mmap(-1, 4 * SIZE), np.uint32), one, device="cpu")
        vy.run(copied.program(), {"x": one, "y": other}, device="cpu", in_place=True)
    assert other[5] == 2
    _refused(own, one)
    _refused(np.memmap(path, np.uint32, "r"), other)


def test_calls_like_one_before_look_too(file: Any) -> None:
    one, two = _mapped(file), _mapped(file)
    free, view = np.zeros(SIZE, np.uint32), np.zeros(2 * SIZE, np.uint32)[SIZE:]
    for x, y in ((free, view), (one, view), (free, one), (free, two), (view, two), (one, free)):
        for _ in range(3):
            copied(x, y, device="cpu")
            vy.run(copied.program(), {"x": x, "y": y}, device="cpu", in_place=True)
        _refused(one, two)
        _refused(two, one)


def test_shared_memory_that_is_attached_twice() -> None:
    one = shared_memory.SharedMemory(create=True, size=4096)
    two = shared_memory.SharedMemory(one.name)
    try:
        buffers: list[Any] = [one.buf, two.buf]
        x, y = (np.frombuffer(buffer, np.uint32) for buffer in buffers)
        _refused(x, y)
        assert share_a_file(x, y)
        del x, y, buffers
        gc.collect()  # what was refused holds them with its frames
    finally:
        two.close()
        one.close()
        one.unlink()


def test_owners_are_found_through_views() -> None:
    own: Any = np.zeros((8, 8), np.uint32)
    assert is_private(own)
    assert is_private(own[2:, ::2].T)
    assert is_private(np.asarray(memoryview(own)[2:]))
    assert is_private(np.frombuffer(bytearray(8), np.uint8))
    mapped = mmap.mmap(-1, 4096)
    for view in (
        np.frombuffer(mapped, np.uint8),
        np.frombuffer(mapped, np.uint8)[5:].view(np.int8),
        np.asarray(memoryview(mapped)[7:]),
        np.ndarray((4,), np.uint8, memoryview(memoryview(mapped))),
    ):
        assert owner_of(view) is mapped
        assert not is_private(view)


WALK = """program workgroup(64, 1, 1)
buffer text: read_only u8[] @0
buffer table: read_only u32[] @1
buffer found: read_write u32[] @2
region "walk" {
    if gid.x < len(found) {
        let state = 0u32
        for i in 0..16u32 {
            state = table[state * 8u32 + u32(text[gid.x * 16u32 + i] & 7u8)]
        }
        found[gid.x] = state
    }
}
"""


def test_what_a_mapped_table_holds_proves_nothing() -> None:
    """While a launch runs, another process changes the table: no access may leave its buffer."""
    script = f"""
import mmap, threading, time
import numpy as np, vyre as vy
program = vy.Program.parse({WALK!r})
mapped = mmap.mmap(-1, 4 * 8 * 500)
table = np.frombuffer(mapped, np.uint32)
text = np.random.default_rng(1).integers(0, 256, 16 << 19).astype(np.uint8)
given = {{"text": text, "table": table, "found": np.zeros(1 << 19, np.uint32)}}
until = time.monotonic() + 1
def disturb():
    while time.monotonic() < until:
        table[:] = 0x3fff0000
        table[:] = 100
thread = threading.Thread(target=disturb)
thread.start()
while time.monotonic() < until:
    vy.run(program, given, device="cpu", in_place=True)
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", script], timeout=60, check=False)
    assert done.returncode == 0


def test_mapped_tables_give_the_same_results() -> None:
    dice = np.random.default_rng(3)
    table = dice.integers(0, 500, 4000).astype(np.uint32)
    mapped = np.frombuffer(mmap.mmap(-1, table.nbytes), np.uint32)
    mapped[:] = table
    text = dice.integers(0, 256, 16 * 600).astype(np.uint8)
    program = Program.parse(WALK)
    found = [
        vy.run(program, {"text": text, "table": t, "found": np.zeros(600, np.uint32)}, device="cpu")
        for t in (table, mapped)
    ]
    np.testing.assert_array_equal(found[0]["found"], found[1]["found"])
