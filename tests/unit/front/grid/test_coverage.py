"""What the sanitizer says of a grid that a call gives."""

# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre as vy


def words(*shape: int) -> Any:
    return np.zeros(shape, np.uint32)


def codes(findings: Any) -> list[str]:
    return [finding.code for finding in findings]


@vy.kernel
def first(n: vy.u32, y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < n:
        y[i] = 1


@vy.kernel
def own(y: vy.InOut[vy.u32]):
    y[vy.gid()] += 1


@vy.kernel(workgroup=(8, 8))
def plane(y: vy.InOut[vy.u32, 2]):
    r, c = vy.gid(1), vy.gid(0)
    if r < y.shape[0] and c < y.shape[1]:
        y[r, c] += 1


@vy.kernel
def strided(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    for i in range(vy.gid(), len(x), vy.num_groups() * 64):
        y[i] += 1


def test_a_guard_that_is_not_reached_is_reported() -> None:
    [found] = first.reference(900, words(1000), grid=4)
    assert found.code == "X110"
    assert "let 900 invocations along vy.gid() through, and the launch has 256" in str(found)
    assert found.location.span is not None
    assert found.location.span.source == "        y[i] = 1"
    assert codes(first.reference(900, words(1000), elements=300)) == ["X110"]
    assert codes(first.reference(256, words(1000), grid=4)) == []
    assert codes(first.reference(900, words(1000), elements=900)) == []
    assert codes(first.reference(900, words(1000))) == []


def test_following_its_fix_makes_it_reach() -> None:
    [found] = plane.reference(words(30, 50), grid=(7, 2))
    assert "elements=(56, 30)" in found.fix
    y = words(30, 50)
    assert codes(plane.reference(y, elements=(56, 30))) == []
    assert (y == 1).all()


def test_what_needs_no_more_is_not_reported() -> None:
    # An element of its own may be wanted for some only, and a loop shares among any number.
    assert codes(own.reference(words(1000), elements=64)) == []
    assert codes(strided.reference(words(1000), words(1000), grid=2)) == []
    assert codes(first.reference(900, words(1000), grid=4, sanitize=False)) == []


@vy.kernel
def total(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    t.atomic_add(0, x[vy.gid()] + 1)


@vy.kernel(workgroup=(8, 4))
def total_of_plane(t: vy.InOut[vy.u32]):
    t.atomic_add(0, vy.gid(0) + vy.gid(1))


@vy.kernel
def positive(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    i = vy.gid()
    if x[i] > 0:
        t.atomic_add(0, 1)


@vy.kernel
def together(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    tile = vy.shared(vy.u32, 64)
    tile[vy.lid()] = x[vy.gid()] if vy.gid() < len(x) else 0
    vy.barrier()
    t.atomic_add(vy.lid(), tile[vy.lid()])


def test_an_effect_past_the_elements_is_reported() -> None:
    t = words(1)
    found = total.reference(np.ones(100, np.uint32), t, elements=10)
    assert codes(found) == ["X111"]
    assert t[0] == 128  # a workgroup is whole
    assert "invocation (10, 0, 0)" in str(found[0])
    assert "54 times" in str(found[0])
    assert found[0].fix == "guard it: if vy.gid() < w: with w: vy.u32 among the parameters"
    [found] = total_of_plane.reference(words(1), elements=(8, 5))
    assert "(0, 5, 0) does this, and elements=(8, 5) ends before it" in str(found)
    guard = "guard it: if vy.gid() < w and vy.gid(1) < h:"
    assert found.fix == f"{guard} with w: vy.u32 and h: vy.u32 among the parameters"
    said = total.reference(np.ones(10, np.uint32), t, elements=10)
    [found] = [each for each in said if each.code == "X111"]
    assert found.fix == "guard it: if vy.gid() < len(x):"


def test_what_none_past_them_does_is_not_reported() -> None:
    x = np.ones(10, np.uint32)
    assert "X111" not in codes(total.reference(np.ones(64, np.uint32), words(1), elements=64))
    assert "X111" not in codes(total.reference(np.ones(64, np.uint32), words(1), grid=1))
    assert "X111" not in codes(positive.reference(x, words(1), elements=10))
    assert "X111" not in codes(together.reference(x, words(64), elements=10))
    assert "X111" not in codes(own.reference(words(100), elements=10))


@pytest.mark.parametrize("elements", [0, (0, 3)])
def test_no_elements_are_no_invocations(elements: Any) -> None:
    y = words(30, 50)
    assert set(codes(plane.reference(y, elements=elements))) <= {"X110"}
    assert not y.any()
