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
    repeats = 0
    for seed in range(200):
        call = Call(kernel, seed)
        with monkeypatch.context() as watched:
            seen: list[object] = []
            look = Kernel._call
            watched.setattr(Kernel, "_call", lambda *given: (seen.append(0), look(*given)))
            found = call.outcome(repeated)
        repeats += not seen
        assert found == Call(kernel, seed).outcome(looked_at), seed
        if seed % 8 == 0 and found[0] is None and call.is_deterministic:
            assert found == Call(kernel, seed).outcome(referred), seed
    assert repeats > 25
