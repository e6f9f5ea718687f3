"""Every condition of the specification, provoked: a seam is refused by its number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines import suite
from tests.unit.pipelines.kernels import blur, scale


@vy.kernel
def backwards(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[len(x) - 1 - i]


@vy.kernel
def squared_index(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i * i]


@vy.kernel
def two_strides(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[2 * i] + x[3 * i]


@vy.kernel
def first_row(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i, j = vy.gid(0), vy.gid(1)
    if j == 0 and i < len(y):
        y[i] = x[i]


@vy.kernel
def pairs(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    i = vy.gid()
    if i % 2 == 0 and i + 1 < len(y):
        y[i] = x[i]
        y[i + 1] = x[i]


@vy.kernel
def far_apart(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + x[i + 9_000]


@vy.kernel
def halved(x: vy.In[vy.u8], y: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] >> 1


@vy.kernel
def neighbours(x: vy.In[vy.u8], y: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] ^ x[i + 1]


@vy.kernel
def small(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        assert x[i] < 1e9, "too large"
        y[i] = x[i]


@vy.kernel
def counted(x: vy.In[vy.f32], y: vy.Out[vy.f32], n: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(y):
        n.atomic_add(0, 1)
        y[i] = x[i]


@vy.kernel
def shifted_in_place(x: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        x[i] += 1.0


@vy.kernel
def of_group(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + vy.f32(vy.wid())


@vy.kernel
def turned(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    tile = vy.shared(vy.f32, 64)
    i, lane = vy.gid(), vy.lid()
    tile[lane] = x[i]
    vy.barrier()
    if i < len(y):
        y[i] = tile[63 - lane]


@vy.kernel(fast_math=True)
def roughly(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] * 3.0


@vy.pipeline
def l1_backwards(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(2.0, x, t)
    backwards(t, y)


@vy.pipeline
def l1_squares(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(2.0, x, t)
    squared_index(t, y)


@vy.pipeline
def l1_strides(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(2.0, x, t)
    two_strides(t, y)


@vy.pipeline
def l2_empty(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(2.0, x, t, grid=0)
    blur(t, y)


@vy.pipeline
def l2_rows(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    first_row(x, t, grid=(4, 2))
    blur(t, y)


@vy.pipeline
def l3_writers(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    pairs(x, t)
    blur(t, y)


@vy.pipeline
def l4_bytes(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(2.0, x, t)
    far_apart(t, y)


@vy.pipeline
def l5_length(x: vy.In[vy.u8], y: vy.Out[vy.u8]):
    t = vy.scratch_like(x)
    halved(x, t)
    neighbours(t, y)


@vy.pipeline
def l6_trap(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    small(x, t)
    blur(t, y)


@vy.pipeline
def l6_atomic(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t, n = vy.scratch_like(x), vy.scratch(vy.u32, 1)
    counted(x, t, n)
    blur(t, y)


@vy.pipeline
def l7_argument(x: vy.InOut[vy.f32]):
    t = vy.scratch_like(x)
    blur(x, t)
    blur(t, x)


@vy.pipeline
def l7_in_place(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t, u = vy.scratch_like(x), vy.scratch_like(x)
    blur(x, t)
    blur(t, u)
    shifted_in_place(t)
    blur(t, y)


@vy.pipeline
def l8_unused(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t, u = vy.scratch_like(x), vy.scratch_like(x)
    scale(2.0, x, t)
    blur(t, u)
    scale(2.0, x, y)


@vy.pipeline
def l10_ids(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    of_group(x, t)
    blur(t, y)


@vy.pipeline
def l10_memory(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    turned(x, t)
    blur(t, y)


@vy.pipeline
def l10_fast_math(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    roughly(x, t)
    blur(t, y)


@vy.pipeline
def l11_stages(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    a, b = vy.scratch_like(x), vy.scratch_like(x)
    blur(x, a)
    for _ in range(16):
        blur(a, b)
        a, b = b, a
    vy.copy(a, y)


def floats(n: int) -> tuple[Any, ...]:
    return np.random.default_rng(n).random(n, dtype=np.float32), np.zeros(n, np.float32)


def named(why: str) -> tuple[str, str]:
    """A reason without its line number, and the line of this file that it names."""
    lines = Path(__file__).read_text("utf-8").splitlines()
    found = re.search(r"line (\d+)", why)
    return re.sub(r"line \d+", "line N", why), lines[int(found[1]) - 1] if found else ""


PIPELINES: dict[Any, str] = {
    l1_backwards: "L1: the load of t in backwards, line N, does not move with",
    l1_squares: "L1: the load of t in squared_index, line N, is not linear in",
    l1_strides: "L1: accesses to t in two_strides, line N",
    l2_empty: "L2: the grid of scale, line N, has no workgroups",
    l2_rows: "L2: the grid of first_row, line N, has several rows",
    l3_writers: "L3: an element of t has two writers in pairs, line N",
    l4_bytes: "L4: its smallest tiles have 36096 bytes, and 16384 are left",
    l6_trap: "L6: small, line N, prints or traps",
    l6_atomic: "L6: counted, line N, is run twice and has an atomic",
    l7_argument: "L7: blur, line N",
    l8_unused: "L8: blur, line N, writes nothing that is used",
    l10_ids: "L10: of_group, line N, uses workgroup_id",
    l10_memory: "L10: turned, line N, has workgroup memory",
    l10_fast_math: "L10: only one of blur, line N, and roughly has fast_math",
}
"""The reason that the second launch of each is told."""


@pytest.fixture(autouse=True)
def fused() -> Iterator[None]:
    """Whatever is legal is fused, so that cost refuses nothing."""
    with suite.whatever_it_costs():
        yield


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda each: each.__name__)
def test_a_refusal_names_its_condition(pipeline: Any) -> None:
    given = floats(5000)[: len(pipeline.written.parameters)]
    launches = pipeline.plan(*given, device="cpu").launches
    assert len(launches) > 1
    why, line = named(launches[1].apart)
    assert why.startswith(PIPELINES[pipeline])
    assert line == "" or re.search(r"[a-z_0-9]+\(.*\)|x\[|y\[", line)


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda each: each.__name__)
def test_what_is_refused_gives_what_its_stages_give(pipeline: Any) -> None:
    one = floats(5000)[: len(pipeline.written.parameters)]
    two = tuple(each.copy() for each in one)
    pipeline(*one, device="cpu")
    pipeline.apart(*two, device="cpu")
    assert [each.tobytes() for each in one] == [each.tobytes() for each in two]


def test_long_arrays_are_refused() -> None:
    most = 1 << 28
    x, y = np.zeros(most, np.uint8), np.zeros(most, np.uint8)
    shorter = l5_length.plan(x[64:], y[64:], device="cpu")
    assert [seam.where for seam in shorter.seams] == ["tile"]
    refused = l5_length.plan(x, y, device="cpu")
    why, line = named(refused.launches[1].apart)
    assert why.startswith("L5: halved, line N, has 268435456 ")
    assert line.strip() == "halved(x, t)"


def test_a_change_in_place_is_the_reason_that_is_told() -> None:
    """And not that the stages have nothing in common."""
    launches = l7_in_place.plan(*floats(5000), device="cpu").launches
    assert launches[-1].apart.startswith("L7: ")


def test_a_launch_has_at_most_sixteen_stages() -> None:
    launches = l11_stages.plan(*floats(5000), device="cpu").launches
    assert [len(each.stages) for each in launches] == [16, 1]
    assert launches[1].apart == "L11: a launch has at most 16 stages"
