"""Guards that hold for great ids again: negative factors, hashes, differences of signed numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.analysis.default_grid.nets import kernel_from
from vyre.diagnostics import DispatchError

N = 1000
STEP = "    step = -1\n"
HASH = "    h = vy.u32(i) * 2654435769 + n\n"

EVERY_ONE = {
    "a place that falls by a product": "    y[len(y) - 1 + i * -1] = 1\n",
    "a place that falls by a variable": STEP + "    y[len(y) - 1 + step * i] = 1\n",
    "a hash that is compared": HASH + "    if h >> 28 < 4: y[i] = 1\n",
    "a hash beside a guard": HASH + "    if i < len(y):\n        if h >> 28 < 4: y[i] = 1\n",
    "a generator of random numbers": (
        "    if i < len(y) and (i * 1664525 + 1013904223) >> 8 < 8388608: y[i] = 1\n"
    ),
    "a small factor that still wraps around": "    if vy.u32(i) * 40503000 < 9000: y[i] = 1\n",
    "a product with a negative literal": "    if -1 * i + 10 < 5: y[i] = 1\n",
    "a counter less an id": "    for k in range(m):\n        if k - i <= 0: y[i] = 1\n",
    "a masked number less an id": "    if (m & 7) - i < 3: y[i] = 1\n",
    "a remainder less an id": "    if d[0] % 8 - vy.i32(i) < 3: y[i] = 1\n",
    "a counter from an id on": "    for k in range(i - 5, 40):\n        if -k < 3: y[i] = 1\n",
    "a number that a launch divides by": (
        "    if i < len(y) and (n == 0 or i < len(y) // n): y[i] = 1\n"
    ),
}


@pytest.mark.parametrize("numbers", [(3, 5), (0, 1), (77, 130)], ids=str)
@pytest.mark.parametrize("title", EVERY_ONE)
def test_the_default_grid_does_what_a_larger_one_does(title: str, numbers: tuple[int, int]) -> None:
    head = "@vy.kernel\ndef k(n: vy.u32, m: vy.i32, d: vy.In[vy.i32], y: vy.InOut[vy.u32]):\n"
    kernel = kernel_from(f"{head}    i = vy.gid()\n{EVERY_ONE[title]}", f"<{title}>")
    d, found, expected = np.array([13], np.int32), np.zeros(N, np.uint32), np.zeros(N, np.uint32)
    kernel(*numbers, d, found, device="cpu")
    kernel(*numbers, d, expected, elements=4 * N, device="cpu")
    assert found.tolist() == expected.tolist()


def test_effects_that_only_a_hash_guards_are_refused() -> None:
    source = (
        "@vy.kernel\ndef k(n: vy.u32, t: vy.InOut[vy.u32]):\n    i = vy.gid()\n"
        + HASH
        + "    if h < 4096: t.atomic_add(0, 1)\n"
    )
    with pytest.raises(DispatchError) as caught:
        kernel_from(source, "<hash>")(1, np.zeros(1, np.uint32), device="cpu")
    assert caught.value.code == "D009"


def test_rounds_that_data_may_add_to_are_no_bound() -> None:
    source = (
        "@vy.kernel\ndef k(n: vy.u32, d: vy.In[vy.i32], t: vy.InOut[vy.u32]):\n    i = vy.gid()\n"
        "    for k in range(3 if i < n else max(d[0], 0)): t.atomic_add(0, 1)\n"
    )
    with pytest.raises(DispatchError) as caught:
        kernel_from(source, "<rounds>")(
            1, np.ones(1, np.int32), np.zeros(1, np.uint32), device="cpu"
        )
    assert caught.value.code == "D009"
