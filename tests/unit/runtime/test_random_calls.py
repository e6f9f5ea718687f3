"""Calls in any order, on arrays of any form: like calls that look at everything."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.runtime.call_nets import KERNELS, Call, looked_at, referred, repeated
from vyre.runtime import cached_call
from vyre.runtime.kernel import Kernel


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.__name__)
def test_random_calls(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_call, "DEFAULT_HOT_THRESHOLD_NS", 1 << 62)
    looks: list[object] = []
    look = Kernel._call

    def counted(self: Any, *given: Any) -> None:
        looks.append(given)
        look(self, *given)

    monkeypatch.setattr(Kernel, "_call", counted)
    repeats = 0
    for seed in range(200):
        call, before = Call(kernel, seed), len(looks)
        found = call.outcome(repeated)
        repeats += len(looks) == before
        assert found == Call(kernel, seed).outcome(looked_at), seed
        if seed % 8 == 0 and found[0] is None and call.is_deterministic:
            assert found == Call(kernel, seed).outcome(referred), seed
    assert repeats > 25
