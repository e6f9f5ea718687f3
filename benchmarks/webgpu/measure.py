"""`python -m benchmarks.webgpu.measure DEVICE SCALE`: one device, in a process of its own."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from benchmarks.kernel import Scale
from benchmarks.peers.foreign import load
from benchmarks.webgpu.by_hand import ByHand
from benchmarks.webgpu.shaders import BY_HAND, ONE, ONE_BY_HAND, PROGRAM, WORKGROUP

ELEMENTS: dict[Scale, int] = {"full": 1 << 22, "quick": 1 << 20, "tiny": 1 << 12}
COPIED: dict[Scale, int] = {"full": 64 << 20, "quick": 16 << 20, "tiny": 1 << 16}
LAUNCHES: dict[Scale, int] = {"full": 1024, "quick": 256, "tiny": 64}
AWAITED = 50
ROUNDS: dict[Scale, int] = {"full": 9, "quick": 5, "tiny": 2}

Pair = dict[str, list[float]]


def main(device: str, scale: Scale) -> None:
    """Prints everything as JSON: seconds per round, vyre's and by hand."""
    ours = load("vyre.driver.routing").choose(device).device
    hand = ByHand(ours.info.name)
    rounds = ROUNDS[scale]
    found = {
        "device": device,
        "name": ours.info.name,
        # Short and at the mercy of how the system shares its cores: many rounds tell more.
        "launch": launches(ours, hand, LAUNCHES[scale], 4 * rounds),
        "awaited": awaited(ours, hand, 4 * rounds),
        **copies(ours, hand, COPIED[scale], rounds),
        "copied": COPIED[scale],
        "elements": ELEMENTS[scale],
        "kernels": {kind: kernel(kind, ours, hand, ELEMENTS[scale], rounds) for kind in BY_HAND},
    }
    print(json.dumps(found))


def in_turns(rounds: int, vyre: Callable[[], object], by_hand: Callable[[], object]) -> Pair:
    """Seconds of both, one after the other in every round, so that noise hits both alike."""
    found: Pair = {"vyre": [], "by hand": []}
    for turn in range(rounds + 1):
        for name, operation in (("vyre", vyre), ("by hand", by_hand)):
            started = time.perf_counter()
            operation()
            if turn:
                found[name].append(time.perf_counter() - started)
    return found


def per(pair: Pair, count: int) -> Pair:
    """The same for one of `count` operations."""
    return {name: [seconds / count for seconds in times] for name, times in pair.items()}


def launches(ours: Any, hand: ByHand, count: int, rounds: int) -> Pair:
    """Launches with nothing to do, the host waiting once at the end."""
    vyre, one = load("vyre"), load("vyre").Program.parse(ONE)
    x = vyre.array(np.zeros(1, np.uint32), device=ours.info.id)
    pipeline = hand.pipeline(ONE_BY_HAND)
    buffer = hand.buffer(16)
    group = hand.bound(pipeline, buffer)

    def by_vyre() -> None:
        for _ in range(count):
            vyre.run(one, {"x": x}, grid=1, device=ours.info.id)
        ours.synchronize()

    def by_hand() -> None:
        hand.launch(pipeline, group, 1, count)
        hand.wait()

    pair = in_turns(rounds, by_vyre, by_hand)
    into = np.zeros(4, np.uint32)
    hand.read(buffer, into)
    check("launch", x.numpy()[0], into[0])
    return per(pair, count)


def awaited(ours: Any, hand: ByHand, rounds: int) -> Pair:
    """Launches that the host waits for, one by one."""
    vyre, one = load("vyre"), load("vyre").Program.parse(ONE)
    x = vyre.array(np.zeros(1, np.uint32), device=ours.info.id)
    pipeline = hand.pipeline(ONE_BY_HAND)
    group = hand.bound(pipeline, hand.buffer(16))

    def by_vyre() -> None:
        for _ in range(AWAITED):
            vyre.run(one, {"x": x}, grid=1, device=ours.info.id)
            ours.synchronize()

    def by_hand() -> None:
        for _ in range(AWAITED):
            hand.launch(pipeline, group, 1, 1)
            hand.wait()

    return per(in_turns(rounds, by_vyre, by_hand), AWAITED)


def copies(ours: Any, hand: ByHand, nbytes: int, rounds: int) -> dict[str, Pair]:
    """Uploads and readbacks of one large array."""
    vyre = load("vyre")
    host = np.arange(nbytes // 4, dtype=np.uint32)
    array, buffer = vyre.array(host, device=ours.info.id), hand.filled(host)
    back, by_us = np.empty_like(host), np.empty_like(host)

    def write() -> None:
        array.write(host)
        ours.synchronize()

    def write_by_hand() -> None:
        hand.write(buffer, host)
        hand.wait()

    upload = in_turns(rounds, write, write_by_hand)
    readback = in_turns(
        rounds,
        lambda: array.memory().read(by_us.view(np.uint8).data),
        lambda: hand.read(buffer, back),
    )
    check("copy", by_us, back)
    check("copy", by_us, host)
    return {"upload": upload, "readback": readback}


def kernel(kind: str, ours: Any, hand: ByHand, n: int, rounds: int) -> Pair:
    """One elementwise kernel, from the launch until the host knows that it has ended."""
    vyre = load("vyre")
    x = np.random.default_rng(1).integers(0, 256, n * np.dtype(_numpy(kind)).itemsize, np.uint8)
    x = x.view(_numpy(kind))
    program = vyre.Program.parse(PROGRAM.format(type=kind))
    dx, dy = (vyre.array(a, device=ours.info.id) for a in (x, np.zeros_like(x)))
    pipeline = hand.pipeline(BY_HAND[kind])
    hx, hy = hand.filled(x), hand.buffer(x.nbytes)
    group = hand.bound(pipeline, hx, hy)
    grid = n // WORKGROUP

    def by_vyre() -> None:
        vyre.run(program, {"x": dx, "y": dy}, grid=grid, device=ours.info.id)
        ours.synchronize()

    def by_hand() -> None:
        hand.launch(pipeline, group, grid, 1)
        hand.wait()

    pair = in_turns(rounds, by_vyre, by_hand)
    back = np.empty_like(x)
    hand.read(hy, back)
    a = x * x.dtype.type(3) + x.dtype.type(1)
    expected = a ^ (a >> x.dtype.type(3))
    check(f"{kind} by hand", back, expected)
    check(f"{kind} by vyre", dy.numpy(), expected)
    return pair


def _numpy(kind: str) -> str:
    return {"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64"}[kind]


def check(what: str, found: Any, expected: Any) -> None:
    """Nothing wrong is timed."""
    if not np.array_equal(found, expected):
        raise AssertionError(f"{what}: wrong result")


if __name__ == "__main__":
    main(sys.argv[1], cast("Scale", sys.argv[2]))
