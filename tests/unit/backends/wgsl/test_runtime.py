"""Launches, memory and failures of a WebGPU device, on both drivers, each in its own process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre
from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker
from tests.unit.backends.wgsl.running import check, the_device
from vyre.backends.wgsl.backend import WgpuBackend
from vyre.backends.wgsl.recorder import FIRST, LARGEST_KEPT
from vyre.diagnostics import BackendError, DeadlineError, VyreError
from vyre.driver import routing
from vyre.driver.backend import Argument, EmitOptions
from vyre.ir import Program
from vyre.runtime import dispatch

pytestmark = pytest.mark.device
drivers = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)

COUNT_UP = """program workgroup(1, 1, 1)
buffer x: read_write u32[1] @0
x[gid.x] = x[gid.x] + 1u32
"""
DOUBLE = """program workgroup(64, 1, 1)
buffer x: read_only {0}[] @0
buffer y: read_write {0}[] @1
if gid.x < len(y) {{ y[gid.x] = x[gid.x] + x[gid.x] }}
"""


def counted(launches: int) -> tuple[int, int]:
    """The sum of many launches, and the submissions that they took."""
    device: Any = routing.choose("wgpu:0").device
    x = vyre.array(np.zeros(1, np.uint32), device="wgpu:0")
    # Compiled once: on a busy machine the program would be found to be hot, and code made anew for
    # it is timed at first, with a submission for each measurement.
    compiled = vyre.compile(Program.parse(COUNT_UP), device="wgpu:0")
    for _ in range(FIRST // 2):
        dispatch(compiled, {"x": x}, grid=1)
    device.synchronize()
    before = device.recorder.submissions
    for _ in range(launches - FIRST // 2):
        dispatch(compiled, {"x": x}, grid=1)
    device.synchronize()
    return int(x.numpy()[0]), device.recorder.submissions - before


@drivers
def test_many_launches_share_a_submission(driver: Driver) -> None:
    total, submissions = worker(driver).call(counted, 1000)
    assert total == 1000
    # Batches of 64, 128, 256 and 512, the rest, and the copy that is read.
    assert submissions == 6


SEVERAL_OUTPUTS = """program workgroup(64, 1, 1)
buffer x: read_only u32[] @0
buffer b: read_only u8[] @1
buffer twice: read_write u32[] @2 output live_out
buffer odd: read_write u8[7] @3 output live_out
buffer wide: read_write u64[] @4 output live_out
buffer none: read_write u32[] @5 output live_out
if gid.x < len(x) {
  twice[gid.x] = x[gid.x] + x[gid.x]
  wide[gid.x] = cast<u64>(x[gid.x]) << 33u64
}
odd[gid.x] = b[gid.x]
"""


def read_back() -> list[tuple[int, int]]:
    """Submissions and waits of dispatches with two uploads and several outputs."""
    device: Any = routing.choose("wgpu:0").device
    program = Program.parse(SEVERAL_OUTPUTS)
    found: list[tuple[int, int]] = []
    for turn in range(8):
        x = np.arange(100 + turn, dtype=np.uint32)
        b = np.arange(turn, turn + 7).astype(np.uint8)
        before = device.recorder.submissions, device.recorder.waits
        sizes = {"twice": x.size, "wide": x.size, "none": 1}
        got = vyre.run(program, {"x": x, "b": b}, sizes=sizes, grid=2, device="wgpu:0")
        spent = device.recorder.submissions - before[0], device.recorder.waits - before[1]
        found.append(spent)
        assert np.array_equal(got["twice"], x + x)
        assert np.array_equal(got["odd"], b)
        assert np.array_equal(got["wide"], x.astype(np.uint64) << np.uint64(33))
        assert not got["none"].any()
    return found


@drivers
def test_all_outputs_of_a_dispatch_are_read_back_at_once(driver: Driver) -> None:
    """Uploads, the launch and the copies are one submission, and the host waits once for it."""
    found = worker(driver).call(read_back)
    # The first launch opens the device. A few others are timed, for which the host waits too.
    assert found[1:].count((1, 1)) >= 4
    assert set(found[1:]) <= {(1, 1), (2, 2)}


def read_together(sizes: list[int]) -> tuple[int, list[bool]]:
    """The waits for reading memory of some sizes, and whether each had the right bytes."""
    device = the_device()
    values = [np.random.default_rng(k).integers(0, 256, n, np.uint8) for k, n in enumerate(sizes)]
    memory = [device.allocate(n) for n in sizes]
    for piece, value in zip(memory, values, strict=True):
        piece.write(value.data)
    back = [np.zeros_like(value) for value in values]
    before = device.recorder.waits
    device.read_many([(piece, into.data) for piece, into in zip(memory, back, strict=True)])
    waits = device.recorder.waits - before
    for piece in memory:
        piece.release()
    return waits, [np.array_equal(a, b) for a, b in zip(values, back, strict=True)]


@drivers
def test_pieces_of_any_size_are_read_together(driver: Driver) -> None:
    sizes = [1, 0, 6, 4, 255, 1001, 0, *range(60, 140)]
    assert worker(driver).call(read_together, sizes) == (1, [True] * len(sizes))
    large = [LARGEST_KEPT // 2 + 3, 5, LARGEST_KEPT // 2, LARGEST_KEPT + 9, 7]
    assert worker(driver).call(read_together, large) == (4, [True] * 5)
    assert worker(driver).call(read_together, []) == (0, [])


def read_in_the_middle() -> list[list[int]]:
    memory = the_device().allocate(16)
    memory.write(np.arange(16, dtype=np.uint8).data)
    found: list[list[int]] = []
    for start, size in ((0, 16), (1, 2), (3, 2), (4, 3), (7, 9), (15, 1)):
        back = bytearray(size)
        memory.read(memoryview(back), start)
        found.append(list(back))
    return found


@drivers
def test_a_part_of_memory_is_read_from_any_byte(driver: Driver) -> None:
    spans = ((0, 16), (1, 3), (3, 5), (4, 7), (7, 16), (15, 16))
    assert worker(driver).call(read_in_the_middle) == [list(range(*span)) for span in spans]


def written_between() -> list[int]:
    x, program = vyre.array(np.zeros(1, np.uint32), device="wgpu:0"), Program.parse(COUNT_UP)
    seen: list[int] = []
    for start in (10, 20, 30):
        vyre.run(program, {"x": x}, grid=1, device="wgpu:0")
        x.write(np.array([start], np.uint32))
        vyre.run(program, {"x": x}, grid=1, device="wgpu:0")
        seen.append(int(x.numpy()[0]))
    return seen


@drivers
def test_a_write_comes_after_the_launches_before_it(driver: Driver) -> None:
    assert worker(driver).call(written_between) == [11, 21, 31]


def read_twice_at_an_odd_place() -> list[int]:
    """An input whose offset WebGPU does not bind, changed between two launches."""
    backend, device = WgpuBackend(), the_device()
    program = Program.parse(DOUBLE.format("u32"))
    artifact = backend.emit(program, backend.target(device), EmitOptions())
    executable = backend.load(artifact, device)
    source, target = device.allocate(32), device.allocate(4)
    arguments = [Argument(source, 1, 4), Argument(target, 1)]
    seen: list[int] = []
    for value in (5, 6):
        source.write(np.full(8, value, np.uint32).data)
        executable.launch(arguments, (1, 1, 1))
        back = np.zeros(1, np.uint32)
        target.read(back.data)
        seen.append(int(back[0]))
    return seen


@drivers
def test_a_copy_that_stands_in_for_an_input_is_made_anew(driver: Driver) -> None:
    assert worker(driver).call(read_twice_at_an_odd_place) == [10, 12]


@drivers
@pytest.mark.parametrize("dtype", ["u32", "u64", "u8", "vec3<f32>"])
def test_lengths_that_fill_no_cell(driver: Driver, dtype: str) -> None:
    """Shaders take lengths from what is bound; empty buffers and odd ends count right too."""
    text = f"""program workgroup(64, 1, 1)
buffer x: read_only {dtype}[] @0
buffer y: read_write {dtype}[] @1 output live_out
buffer n: read_write u32[3] @2 output live_out
n[0] = len(x)
n[1] = len(y)
y[gid.x] = x[gid.x]
"""
    plain = {"u32": np.uint32, "u64": np.uint64, "u8": np.uint8, "vec3<f32>": np.float32}[dtype]
    lanes = 3 if dtype.startswith("vec3") else 1
    for given, taken in ((5, 5), (1, 3), (0, 2), (3, 0), (0, 0)):
        x = np.arange(1, 1 + given * lanes).astype(plain)
        got = check(driver, Program.parse(text), {"x": x}, (1, 1, 1), {"y": taken})
        assert got["n"].tolist() == [given, taken, 0]


def from_many_threads() -> tuple[int, list[str]]:
    shared = vyre.array(np.zeros(1, np.uint32), device="wgpu:0")
    count, double = Program.parse(COUNT_UP), Program.parse(DOUBLE.format("u64"))
    problems: list[str] = []

    def work(number: int) -> None:
        try:
            own = vyre.array(np.zeros(1, np.uint32), device="wgpu:0")
            for turn in range(60):
                vyre.run(count, {"x": own}, grid=1, device="wgpu:0")
                vyre.run(count, {"x": shared}, grid=1, device="wgpu:0")
                if turn % 10 == 0:
                    x = np.arange(300 + number, dtype=np.uint64) << np.uint64(31)
                    y = vyre.run(double, {"x": x, "y": x}, device="wgpu:0")["y"]
                    assert np.array_equal(y, x + x)
                    assert own.numpy()[0] == turn + 1
        except (AssertionError, VyreError) as problem:
            problems.append(repr(problem))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return int(shared.numpy()[0]), problems


@drivers
def test_eight_threads_launch_at_once(driver: Driver) -> None:
    assert worker(driver).call(from_many_threads) == (480, [])


def after_a_loss() -> list[str]:
    """The codes of what is tried on a device that is gone."""
    device: Any = routing.choose("wgpu:0").device
    x, program = vyre.array(np.zeros(1, np.uint32), device="wgpu:0"), Program.parse(COUNT_UP)
    for _ in range(20):
        vyre.run(program, {"x": x}, grid=1, device="wgpu:0")
    device.handle.destroy()
    vyre.run(program, {"x": x}, grid=1, device="wgpu:0")
    tried: list[Callable[[], object]] = [device.synchronize, x.numpy]
    tried += [
        lambda: x.write(np.ones(1, np.uint32)),
        lambda: vyre.zeros(1 << 18, "u4", device="wgpu:0"),
    ]
    codes: list[str] = []
    for attempt in tried:
        try:
            attempt()
        except BackendError as problem:
            codes.append(problem.code)
        else:
            codes.append("no error")
    return codes


@drivers
def test_a_lost_device_is_an_error(driver: Driver) -> None:
    try:
        assert worker(driver).call(after_a_loss) == ["B201"] * 4
    finally:
        worker(driver).stop()


def after_a_deadline() -> list[str]:
    endless = Program.parse("""program workgroup(1, 1, 1)
buffer x: read_write u32[2] @0
while x[0] == 0u32 { x[1] = 1u32 }
""")
    x = vyre.array(np.zeros(2, np.uint32), device="wgpu:0")
    with pytest.raises(DeadlineError):
        vyre.run(endless, {"x": x}, grid=1, device="wgpu:0", deadline=1.0)
    with pytest.raises(BackendError) as caught:
        vyre.run(endless, {"x": x}, grid=1, device="wgpu:0", deadline=1.0)
    return [caught.value.code]


def test_a_device_with_an_endless_kernel_is_used_no_more() -> None:
    swiftshader = DRIVERS[1]
    try:
        assert worker(swiftshader).call(after_a_deadline) == ["B201"]
    finally:
        worker(swiftshader).stop()


def measured() -> list[int | None]:
    """The kernel's nanoseconds for little and for much work."""
    device: Any = the_device()
    device.always_timed = True
    backend = WgpuBackend()
    program = Program.parse(DOUBLE.format("u32"))
    artifact = backend.emit(program, backend.target(device), EmitOptions())
    executable = backend.load(artifact, device)
    found: list[int | None] = []
    for count in (64, 1 << 21):
        memory = [Argument(device.allocate(4 * count), count) for _ in range(2)]
        times = [executable.launch(memory, (count // 64, 1, 1)).kernel_ns for _ in range(3)]
        found.append(min((t for t in times if t is not None), default=None))
    return found


@drivers
def test_timestamps_tell_the_time_of_kernels(driver: Driver) -> None:
    little, much = worker(driver).call(measured)
    if little is not None:
        assert much is not None
        assert little < much < 10_000_000_000
