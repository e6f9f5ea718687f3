from __future__ import annotations

import json

import pytest

from vyre.backends.llvm.kernel_info import BufferSlot, KernelInfo, PrintFormat
from vyre.diagnostics import BackendError

INFO = KernelInfo(
    buffers=(BufferSlot("a", "f32", 4, False), BufferSlot("b", "u8", 1, True)),
    workgroup_size=(64, 2, 1),
    scratch_bytes=4096,
    trap_tags=("overflow",),
    prints=(PrintFormat("x = {}", ("f32",)),),
    polls=True,
    divergent=True,
    group_cost_ns=120,
)


def test_it_survives_json() -> None:
    assert KernelInfo.from_json(json.loads(json.dumps(INFO.to_json()))) == INFO


@pytest.mark.parametrize(
    "change",
    [
        {"abi": 0},
        {"buffers": 3},
        {"buffers": [{"name": "a"}]},
        {"workgroup_size": [1, 2]},
        {"prints": [{}]},
        {"surprise": 1},
        {"trap_tags": None},
    ],
)
def test_foreign_metadata_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(BackendError) as caught:
        KernelInfo.from_json({**INFO.to_json(), **change})
    assert caught.value.code == "B101"
