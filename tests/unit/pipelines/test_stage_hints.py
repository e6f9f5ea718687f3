"""The stages of a fused kernel have times of their own, from calls that run them apart."""

from __future__ import annotations

from itertools import accumulate, cycle

import numpy as np
import pytest

import vyre as vy
from vyre.opt import HotPathHints
from vyre.opt.hot_paths import dispatch_keys, name_of, region_keys
from vyre.pipelines import stage_hints
from vyre.pipelines.stage_hints import SAMPLED_CALLS
from vyre.runtime import telemetry


@vy.kernel
def cheap(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + 1.0


@vy.kernel
def dear(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = vy.math.sqrt(x[i])


@vy.pipeline
def both(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    cheap(x, t)
    dear(t, y)


@pytest.fixture
def hints(monkeypatch: pytest.MonkeyPatch) -> HotPathHints:
    made = HotPathHints()
    monkeypatch.setattr(telemetry, "_hints", made)
    return made


def test_each_stage_has_its_own_time(hints: HotPathHints, monkeypatch: pytest.MonkeyPatch) -> None:
    # Read before and after each launch: the first stage takes 100 ns, the second 5 000.
    clock = accumulate(cycle([7, 100, 7, 5000]))
    monkeypatch.setattr(stage_hints, "perf_counter_ns", lambda: next(clock))
    x = np.arange(100_000, dtype=np.float32)
    wanted = np.zeros_like(x)
    both.apart(x, wanted, device="cpu")
    for _ in range(max(SAMPLED_CALLS) + 2):
        y = np.zeros_like(x)
        both(x, y, device="cpu")
        assert y.tobytes() == wanted.tobytes()
    names = {name_of(key): key for key in hints._entries}
    one, other = (key for name, key in names.items() if name in ("0.cheap", "1.dear"))
    assert one.rpartition("@")[2] == other.rpartition("@")[2]
    assert hints.dispatch_count(one) == hints.dispatch_count(other) == len(SAMPLED_CALLS) - 1
    assert hints.mean_kernel_ns(names["0.cheap"]) == 100
    assert hints.mean_kernel_ns(names["1.dear"]) == 5000
    assert "0.cheap+1.dear" in names


PROGRAM = """program workgroup(64, 1, 1){entry}
buffer x: read_write u32[] @0
region "first" {{ x[gid.x] = 1u32 }}
region "second" {{ x[gid.x] = 2u32 }}
"""


@pytest.mark.parametrize(("entry", "whole"), [("", "first+second"), (' op "all"', "all")])
def test_a_dispatch_of_several_regions_is_not_the_time_of_each(entry: str, whole: str) -> None:
    program = vy.ir.Program.parse(PROGRAM.format(entry=entry))
    [key] = dispatch_keys(program)
    assert name_of(key) == whole
    assert [name_of(each) for each in region_keys(program)] == ["first", "second"]
    assert all(each.endswith(f"@{program.digest()[:16]}") for each in region_keys(program))
    hints = HotPathHints()
    hints.record(key, hints.hot_threshold_ns, 0)
    assert hints.is_hot_program(program)
    assert not hints.is_hot("first")
    hot = HotPathHints()
    hot.record(region_keys(program)[1], hot.hot_threshold_ns, 0)
    assert hot.is_hot("second")
    assert hot.is_hot_program(program)
