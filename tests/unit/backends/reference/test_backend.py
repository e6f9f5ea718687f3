"""The reference through the contract that all backends keep."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests.unit.backends.reference.programs import program
from vyre.backends.reference.backend import HostMemory, backend
from vyre.diagnostics import DeadlineError, OutOfMemoryError
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Argument, Backend, Device, DeviceMemory, EmitOptions, Executable
from vyre.ir import Program
from vyre.target import Feature

REFERENCE = backend()
(DEVICE,) = REFERENCE.probe()
SCALE = program(
    "tile[lid.x] = a[gid.x] s[gid.x] = 1u32 barrier seq_cst "
    "out[gid.x] = tile[7u32 - lid.x] + s[gid.x]",
    "a: read_only u32[] @0",
    "tile: workgroup u32[8]",
    "out: read_write u32[] @1",
    "s: scratch u32[16]",
)


def loaded(source: Program) -> Executable:
    artifact = REFERENCE.emit(source, REFERENCE.target(DEVICE), EmitOptions())
    return REFERENCE.load(Artifact.from_bytes(artifact.to_bytes()), DEVICE)


def memory(array: np.ndarray) -> DeviceMemory:
    adopted = DEVICE.adopt(array.data.cast("B"))
    assert adopted is not None
    return adopted


def test_it_keeps_the_contract() -> None:
    assert isinstance(REFERENCE, Backend)
    assert isinstance(DEVICE, Device)
    assert isinstance(loaded(SCALE), Executable)
    assert isinstance(DEVICE.allocate(8), DeviceMemory)
    assert REFERENCE.target(DEVICE).features == frozenset(Feature)


def test_launch_changes_memory_in_place() -> None:
    a, out = np.arange(16, dtype=np.uint32), np.zeros(16, np.uint32)
    arguments = [
        Argument(memory(a), 16),
        Argument(memory(out), 16),
        Argument(DEVICE.allocate(64), 16),
    ]
    record = loaded(SCALE).launch(arguments, (2, 1, 1))
    assert out.tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9]
    assert record.kernel_ns
    assert record.kernel_ns > 0


def test_arguments_may_begin_inside_of_memory() -> None:
    source = program("out[gid.x] = gid.x + 1u32", "out: read_write u32[] @0")
    whole = np.zeros(35, np.uint8)
    loaded(source).launch([Argument(memory(whole), 4, offset=3)], (1, 1, 1))
    assert whole[3:19].view(np.uint32).tolist() == [1, 2, 3, 4]
    assert whole[19:].sum() + whole[:3].sum() == 0


def test_vectors_and_stored_types() -> None:
    source = program(
        "out[gid.x] = v[gid.x] h[gid.x] = h[gid.x] * 2.0f32",
        "v: read_only vec2<u32>[] @0",
        "out: read_write vec2<u32>[] @1",
        "h: read_write f8e5m2[] @2",
    )
    v, out = np.arange(8, dtype=np.uint32), np.zeros(8, np.uint32)
    h = np.full(4, 0x3C, np.uint8)
    loaded(source).launch([Argument(memory(x), 4) for x in (v, out, h)], (1, 1, 1))
    assert out.tolist() == v.tolist()
    assert h.tolist() == [0x40] * 4


def test_printed_lines_and_deadlines() -> None:
    source = program('print "x", gid.x', "out: read_write u32[] @0", workgroup=(2, 1, 1))
    argument = Argument(DEVICE.allocate(4), 1)
    printed = loaded(source).launch([argument], (1, 1, 1)).printed
    assert printed == ("(0, 0, 0) x: 0", "(1, 0, 0) x: 1")
    forever = program("while true { }", "out: read_write u32[] @0")
    with pytest.raises(DeadlineError):
        loaded(forever).launch([argument], (1, 1, 1), deadline=0.05)


def test_host_memory() -> None:
    one, two = DEVICE.allocate(8), HostMemory(np.arange(8, dtype=np.uint8))
    assert one.nbytes == 8
    one.copy_from(two, 4)
    one.write(memoryview(b"\x09\x0a"), 6)
    into = bytearray(6)
    one.read(memoryview(into), 2)
    assert bytes(into) == bytes([2, 3, 0, 0, 9, 10])
    view = one.host_view()
    assert view is not None
    assert view.tolist() == [0, 1, 2, 3, 0, 0, 9, 10]
    one.zero()
    assert view.tolist() == [0] * 8
    one.release()
    assert one.nbytes == 0


def test_no_room() -> None:
    with pytest.raises(OutOfMemoryError) as caught:
        DEVICE.allocate(1 << 60)
    assert caught.value.code == "X007"


def test_many_threads_share_one_executable() -> None:
    executable = loaded(SCALE)
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            a, out = np.full(16, number, np.uint32), np.zeros(16, np.uint32)
            scratch = Argument(DEVICE.allocate(64), 16)
            executable.launch(
                [Argument(memory(a), 16), Argument(memory(out), 16), scratch], (2, 1, 1)
            )
            if out.tolist() != [number + 1] * 16:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
