"""Words at any byte offset, `text.u32(i)`, against numpy's: inside, at the ends, outside."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.diagnostics import VyreError

At = TypeVar("At", bound=int)


@vy.kernel
def u16_everywhere(text: vy.In[vy.u8], out: vy.Out[vy.u16]):
    i = vy.gid()
    if i < len(out):
        out[i] = text.u16(i)


@vy.kernel
def u32_everywhere(text: vy.In[vy.u8], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(out):
        out[i] = text.u32(i)


@vy.kernel
def u64_everywhere(text: vy.In[vy.u8], out: vy.Out[vy.u64]):
    i = vy.gid()
    if i < len(out):
        out[i] = text.u64(i)


@vy.kernel
def u16_at(text: vy.In[vy.u8], at: vy.In[At], out: vy.Out[vy.u16]):
    i = vy.gid()
    if i < len(out):
        out[i] = text.u16(at[i])


@vy.kernel
def u32_at(text: vy.In[vy.u8], at: vy.In[At], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(out):
        out[i] = text.u32(at[i])


@vy.kernel
def u64_at(text: vy.In[vy.u8], at: vy.In[At], out: vy.Out[vy.u64]):
    i = vy.gid()
    if i < len(out):
        out[i] = text.u64(at[i])


EVERYWHERE = {np.uint16: u16_everywhere, np.uint32: u32_everywhere, np.uint64: u64_everywhere}
AT = {np.uint16: u16_at, np.uint32: u32_at, np.uint64: u64_at}
RANDOM = np.random.default_rng(11)


def text_of(count: int) -> Any:
    return RANDOM.integers(1, 256, count).astype(np.uint8)


def words(text: Any, places: list[int], kind: Any) -> Any:
    """By numpy: what is read of the bytes between zeros, at each place."""
    size = np.dtype(kind).itemsize
    zeros = np.zeros(size, np.uint8)
    around = np.concatenate([zeros, text, zeros])

    def one(place: int) -> Any:
        begin = min(max(place + size, 0), len(text) + size)
        return np.frombuffer(around[begin : begin + size].tobytes(), kind)[0]

    return np.array([one(place) for place in places], kind)


@pytest.mark.parametrize("kind", EVERYWHERE)
@pytest.mark.parametrize("count", [0, 1, 3, 8, 67, 300])
def test_every_offset_and_past_the_end(kind: Any, count: int) -> None:
    text, out = text_of(count), np.zeros(count + 20, kind)
    expected = words(text, list(range(count + 20)), kind)
    np.testing.assert_array_equal(run(EVERYWHERE[kind], text, out)[-1], expected)


@pytest.mark.parametrize("kind", AT)
@pytest.mark.parametrize("at", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
def test_offsets_of_every_type_from_end_to_end(kind: Any, at: str) -> None:
    text, limits = text_of(300), np.iinfo(at)
    near = [*range(-9, 12), *range(290, 310), 126, 127, 128, 250, 255]
    far = [limits.max - n for n in range(9)] + [limits.min + n for n in range(9)]
    places = [place for place in near + far if limits.min <= place <= limits.max]
    places += places[::-1]
    out = np.zeros(len(places), kind)
    found = run(AT[kind], text, np.array(places, at), out)[-1]
    np.testing.assert_array_equal(found, words(text, places, kind))


@vy.kernel(workgroup=32)
def before(text: vy.In[vy.u8], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(out):
        out[i] = text.u32(i - 2)


def test_an_offset_before_the_first_byte() -> None:
    text = text_of(50)
    found = run(before, text, np.zeros(50, np.uint32))[-1]
    np.testing.assert_array_equal(found, words(text, list(range(-2, 48)), np.uint32))


@vy.kernel
def of_rows(text: vy.In[vy.u8, 2], out: vy.Out[vy.u32, 2]):
    row, i = vy.gid(1), vy.gid(0)
    if row < out.shape[0] and i < out.shape[1]:
        out[row, i] = text.u32((row, i))


@pytest.mark.parametrize("layout", ["rows", "columns", "backwards"])
def test_words_of_a_row_end_with_it(layout: str) -> None:
    whole = text_of(7 * 40).reshape(7, 40)
    text = {"rows": whole, "columns": whole.T, "backwards": whole[:, ::-3]}[layout]
    columns = text.shape[1] + 3
    expected = [words(np.ascontiguousarray(row), list(range(columns)), np.uint32) for row in text]
    for device in ("reference", "cpu"):
        out = np.zeros((len(text), columns), np.uint32)
        of_rows(text, out, device=device)
        np.testing.assert_array_equal(out, np.array(expected))


@vy.kernel(workgroup=64)
def of_shared(text: vy.In[vy.u8], out: vy.Out[vy.u64]):
    tile = vy.shared(vy.u8, 64)
    own = vy.local(vy.u8, 8)
    lane, i = vy.lid(), vy.gid()
    tile[lane] = text[i]
    vy.barrier()
    for k in range(8):
        own[k] = tile[(lane + k) % 64]
    out[i] = tile.u64(lane) ^ own.u64(lane & 3)


def test_words_of_shared_and_private_memory() -> None:
    text = text_of(64)
    found = run(of_shared, text, np.zeros(64, np.uint64), elements=64)[-1]
    owns = [text[(lane + np.arange(8)) % 64] for lane in range(64)]
    own = [words(one, [lane & 3], np.uint64)[0] for lane, one in enumerate(owns)]
    expected = words(text, list(range(64)), np.uint64) ^ np.array(own, np.uint64)
    np.testing.assert_array_equal(found, expected)


@vy.kernel
def walks(text: vy.In[vy.u8], at: vy.In[vy.u32], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(out):
        p, h = at[i], vy.u32(1)
        while p < len(text):
            h = (h ^ text.u32(p) ^ text.u32(p + 1)) * 0x9E3779B1
            p += 4
        out[i] = h


def test_a_loop_over_words_from_any_offset() -> None:
    text = text_of(101)
    at = np.arange(110, dtype=np.uint32)
    found = run(walks, text, at, np.zeros(110, np.uint32))[-1]
    every = words(text, list(range(120)), np.uint32).astype(object)
    for start, value in zip(at.tolist(), found.tolist(), strict=True):
        h = 1
        for p in range(start, 101, 4):
            h = (h ^ every[p] ^ every[p + 1]) * 0x9E3779B1 % (1 << 32)
        assert h == value


def test_bytes_are_read_in_place() -> None:
    out = np.zeros(3, np.uint32)
    u32_everywhere(b"abcdef", out, device="cpu")
    assert out.tobytes() == b"abcdbcdecdef"


def test_words_of_other_elements_are_refused() -> None:
    @vy.kernel
    def floats(x: vy.In[vy.f32], out: vy.Out[vy.u32]):
        out[0] = x.u32(0)

    with pytest.raises(VyreError, match="F067"):
        floats.program()
