"""Arrays that stay on a device, and the pool under them."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any, cast

import numpy as np
import pytest

from vyre import devices
from vyre.diagnostics import ArgumentError, OutOfMemoryError
from vyre.driver import routing
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.runtime import array, run, zeros
from vyre.runtime.memory_pool import MemoryPool, pool_of, size_class
from vyre.runtime.telemetry import transfers

I = Expr.gid(0)  # noqa: E741
STEP = Program.wrapped(
    [BufferDecl.read_write("x", 0, DataType.U32)],
    (64, 1, 1),
    [Node.store("x", I, Expr.load("x", I) * Expr.u32(3) + Expr.u32(1))],
)


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_ten_dispatches_on_a_resident_array_move_nothing(device):
    x = array(np.arange(256, dtype=np.uint32), device=device)
    before = (transfers.uploads, transfers.readbacks)
    for _ in range(10):
        outputs = run(STEP, {"x": x}, device=device)
        assert outputs["x"] is x
    assert (transfers.uploads, transfers.readbacks) == before
    expected = np.arange(256, dtype=np.uint32)
    for _ in range(10):
        expected = expected * np.uint32(3) + np.uint32(1)
    assert np.array_equal(x.numpy(), expected)
    assert transfers.readbacks == before[1] + 1


def test_numpy_and_dlpack_both_ways():
    source = np.arange(12, dtype=np.float32).reshape(3, 4)
    made = array(source, device="cpu")
    assert made.shape == (3, 4)
    assert np.array_equal(np.asarray(made), source)
    assert np.array_equal(np.from_dlpack(cast("Any", made)), source)

    class Foreign:
        def __dlpack__(self, **options):
            return source.__dlpack__(**options)

        def __dlpack_device__(self):
            return source.__dlpack_device__()

    assert np.array_equal(array(Foreign(), device="cpu").numpy(), source)
    assert zeros((2, 3), np.uint8, device="cpu").numpy().tolist() == [[0] * 3] * 2


def test_memory_comes_back_by_hand_by_with_and_by_collection():
    pool = pool_of(routing.choose("cpu").device)
    gc.collect()  # what other tests have left must not come back in between
    before = pool.counters.in_use
    made = zeros(1000, np.uint32, device="cpu")
    assert pool.counters.in_use > before
    made.free()
    made.free()
    with zeros(1000, np.uint32, device="cpu") as held:
        assert not held.is_free
    assert held.is_free
    zeros(1000, np.uint32, device="cpu")
    gc.collect()
    assert pool.counters.in_use == before
    with pytest.raises(ArgumentError):
        made.numpy()


def test_an_array_of_another_device_is_refused():
    elsewhere = zeros(4, np.uint32, device="reference")
    with pytest.raises(ArgumentError) as caught:
        run(STEP, {"x": elsewhere}, device="cpu")
    assert caught.value.code == "D015"
    with pytest.raises(ArgumentError) as caught:
        run(STEP, {"x": zeros(4, np.float32, device="cpu")}, device="cpu")
    assert caught.value.code == "D005"


def test_the_pool_reuses_clears_and_keeps_to_its_cap():
    pool = MemoryPool(routing.choose("cpu").device, cap=4096)
    first = pool.take(1000)
    first.write(memoryview(b"\xff" * 1000))
    pool.give(first)
    second = pool.take(1001)
    assert second is first
    view = second.host_view()
    assert view is not None
    assert bytes(view[:1000]) == bytes(1000)
    pool.give(second)
    large = pool.take(1 << 20)
    pool.give(large)
    assert pool.counters.idle <= 4096
    assert pool.counters.peak >= 1 << 20
    assert (pool.counters.reuses, pool.counters.allocations) == (1, 2)


def test_sizes_are_rounded_by_at_most_a_quarter_or_256_bytes():
    for size in (1, 256, 257, 1000, 4097, 1 << 20, (1 << 20) + 1):
        assert size <= size_class(size) <= size + max(256, size / 4)


def test_out_of_memory_says_so_and_leaves_the_pool_usable():
    pool = MemoryPool(routing.choose("cpu").device)
    with pytest.raises(OutOfMemoryError) as caught:
        pool.take(1 << 60)
    assert caught.value.fix
    assert pool.counters.in_use == 0
    pool.give(pool.take(100))


DEVICES = [info.id for info in devices() if info.available]


def _pickled(made: Any) -> Any:
    return pickle.loads(pickle.dumps(made))  # noqa: S301


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])
def test_a_copy_has_memory_of_its_own(device, copied):
    x = array(np.arange(6, dtype=np.uint32).reshape(2, 3), device=device)
    y = copied(x)
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    run(STEP, {"x": x}, device=device)
    assert y.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    x.free()
    with pytest.raises(ArgumentError) as refused:
        copied(x)
    assert refused.value.code == "D017"


@pytest.mark.parametrize("device", DEVICES)
def test_where_no_copy_is_wanted_there_is_none(device):
    x = array(np.arange(6, dtype=np.uint32), device=device)
    with pytest.raises(ValueError, match="without a copy"):
        np.array(x, copy=False)
    with pytest.raises(BufferError, match="without a copy"):
        np.from_dlpack(cast("Any", x), copy=False)
    assert np.asarray(x).tolist() == np.array(x, copy=True).tolist() == list(range(6))


def test_contents_of_another_shape_are_refused():
    x = zeros((2, 3), np.uint8, device="cpu")
    values = np.arange(6, dtype=np.uint8)
    for other in (values, values.reshape(3, 2), values.reshape(6, 1), values.tolist()):
        with pytest.raises(ArgumentError) as refused:
            x.write(other)
        assert refused.value.code == "D033"
        assert "reshape((2, 3))" in str(refused.value)
    assert not x.numpy().any()
    for good in (values.reshape(2, 3), values.reshape(1, 2, 3), values.tobytes()):
        x.write(np.zeros((2, 3), np.uint8))
        x.write(good)
        assert x.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    one = zeros(1, np.uint8, device="cpu")
    one.write(7)
    assert one.numpy().tolist() == [7]
