"""SHA-256 of many messages of 64 bytes: rotations and additions, two blocks a message."""
# pyright: standard, reportInvalidTypeForm=false

import hashlib
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run, random
from benchmarks.programs import groups

if TYPE_CHECKING:
    from vyre.ir import Program


def primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % p for p in found):
            found.append(candidate)
        candidate += 1
    return found


def cube_root(value: int) -> int:
    low, high = 0, 1 << 64
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= value else (low, middle - 1)
    return low


CONSTANTS = np.array([cube_root(p << 96) & 0xFFFFFFFF for p in primes(64)], np.uint32)
INITIAL = np.array([isqrt(p << 64) & 0xFFFFFFFF for p in primes(8)], np.uint32)
PADDING = np.array([0x80000000, *[0] * 14, 512], np.uint32)


def data(n: int) -> Arrays:
    """Messages as words: the big-endian reading of the bytes is done when they are made."""
    return {
        "messages": random().integers(0, 1 << 32, (n, 16), dtype=np.uint32),
        "constants": CONSTANTS,
        "initial": INITIAL,
    }


def define(data: Arrays) -> Arrays:
    rows = data["messages"].astype(">u4")
    digests = b"".join(hashlib.sha256(row.tobytes()).digest() for row in rows)
    return {"digests": np.frombuffer(digests, ">u4").astype(np.uint32).reshape(-1, 8)}


def result(data: Arrays) -> Array:
    return np.zeros((data["messages"].shape[0], 8), np.uint32)


def inputs(data: Arrays) -> tuple[Array, Array, Array]:
    return data["messages"], data["constants"], data["initial"]


def c(gcc: Any, data: Arrays) -> Run:
    digests = result(data)
    sha256 = gcc.function("sha256", "sha256")
    return Run(sha256(*inputs(data), digests, digests.shape[0]), {"digests": digests})


def vyre_program() -> "Program":
    """Sixteen rounds written out, four times per block; the schedule is a ring of sixteen words."""
    from vyre.ir import (  # not in the peers' environment
        BinOp,
        BufferDecl,
        DataType,
        Expr,
        Node,
        Program,
    )

    u32, var = Expr.u32, Expr.var

    def turn(x: Expr, n: int) -> Expr:
        return Expr.binary(BinOp.ROTR, x, u32(n))

    def schedule(t: int) -> Node:
        x, y = var(f"w{(t + 1) % 16}"), var(f"w{(t + 14) % 16}")
        s0 = turn(x, 7) ^ turn(x, 18) ^ (x >> u32(3))
        s1 = turn(y, 17) ^ turn(y, 19) ^ (y >> u32(10))
        return Node.assign(f"w{t}", var(f"w{t}") + s0 + var(f"w{(t + 9) % 16}") + s1)

    def step(t: int) -> list[Node]:
        """The round's eight names move by one instead of the values."""
        a, b, c, d, e, f, g, k = (var("abcdefgk"[(i - t) % 8]) for i in range(8))
        key = Expr.load("constants", var("sixteen") * u32(16) + u32(t))
        choice, majority = (e & f) ^ (~e & g), (a & b) ^ (a & c) ^ (b & c)
        s = k + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + key + var(f"w{t}")
        m = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority
        return [
            Node.let(f"s{t}", s),
            Node.assign(d.name, d + var(f"s{t}")),
            Node.assign(k.name, var(f"s{t}") + m),
        ]

    names = "abcdefgk"
    rounds = [
        Node.if_(var("sixteen") > u32(0), [schedule(t) for t in range(16)]),
        *(node for t in range(16) for node in step(t)),
    ]
    block = [
        *(Node.let(name, var(f"h{i}")) for i, name in enumerate(names)),
        Node.loop("sixteen", 0, 4, rounds),
        *(Node.assign(f"h{i}", var(f"h{i}") + var(name)) for i, name in enumerate(names)),
    ]
    padding = [Node.assign(f"w{t}", u32(int(word))) for t, word in enumerate(PADDING)]
    message = var("i") * u32(16)
    body = [
        *(Node.let(f"h{i}", Expr.load("initial", u32(i))) for i in range(8)),
        *(Node.let(f"w{t}", Expr.load("messages", message + u32(t))) for t in range(16)),
        Node.block(block),
        *padding,
        Node.block(block),
        *(Node.store("digests", var("i") * u32(8) + u32(i), var(f"h{i}")) for i in range(8)),
    ]
    buffers = [
        BufferDecl.read("messages", 0, DataType.U32),
        BufferDecl.read("constants", 1, DataType.U32).with_count(64),
        BufferDecl.read("initial", 2, DataType.U32).with_count(8),
        BufferDecl.read_write("digests", 3, DataType.U32),
    ]
    guarded = Node.if_(var("i") < Expr.buf_len("digests") / u32(8), body)
    return Program.wrapped(buffers, (64, 1, 1), [Node.let("i", Expr.gid(0)), guarded])


def vyre(launcher: Any, data: Arrays) -> Run:
    digests = result(data)
    arrays = {**data, "digests": digests}
    launch = launcher.bind(vyre_program(), arrays, (groups(digests.shape[0], 64),))
    return Run(launch, {"digests": digests})


def rotate(x: Array, n: int) -> Array:
    return (x >> np.uint32(n)) | (x << np.uint32(32 - n))


def compress(h: list[Array], block: list[Array]) -> list[Array]:
    """One block of every message at once."""
    w = list(block)
    for t in range(16, 64):
        x, y = w[t - 15], w[t - 2]
        s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >> np.uint32(3))
        s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >> np.uint32(10))
        w.append(w[t - 16] + s0 + w[t - 7] + s1)
    a, b, c, d, e, f, g, k = h
    for t in range(64):
        choice = (e & f) ^ (~e & g)
        s = k + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + CONSTANTS[t] + w[t]
        majority = (a & b) ^ (a & c) ^ (b & c)
        m = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority
        a, b, c, d, e, f, g, k = s + m, a, b, c, d + s, e, f, g
    return [old + new for old, new in zip(h, (a, b, c, d, e, f, g, k), strict=True)]


def numpy(np_: Any, data: Arrays) -> Run:
    digests = result(data)
    n = digests.shape[0]

    def launch() -> None:
        h = [np_.full(n, word) for word in INITIAL]
        h = compress(h, list(np_.ascontiguousarray(data["messages"].T)))
        h = compress(h, [np_.full(n, word) for word in PADDING])
        np_.stack(h, axis=1, out=digests)

    return Run(launch, {"digests": digests})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit
    def turn(x: Any, n: Any) -> Any:
        return np.uint32(x >> np.uint32(n)) | np.uint32(x << np.uint32(32 - n))

    @nb.njit
    def compress(h: Array, w: Array, constants: Array) -> None:
        for t in range(16, 64):
            x = w[t - 15]
            y = w[t - 2]
            s0 = turn(x, 7) ^ turn(x, 18) ^ (x >> np.uint32(3))
            s1 = turn(y, 17) ^ turn(y, 19) ^ (y >> np.uint32(10))
            w[t] = w[t - 16] + s0 + w[t - 7] + s1
        a, b, c, d, e, f, g, k = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
        for t in range(64):
            s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
            s = np.uint32(k + s1 + ((e & f) ^ (~e & g)) + constants[t] + w[t])
            m = np.uint32((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c)))
            k, g, f, e, d, c, b, a = g, f, e, np.uint32(d + s), c, b, a, np.uint32(s + m)
        h[0] += a
        h[1] += b
        h[2] += c
        h[3] += d
        h[4] += e
        h[5] += f
        h[6] += g
        h[7] += k

    @nb.njit(parallel=True)
    def sha256(
        messages: Array, constants: Array, initial: Array, padding: Array, digests: Array
    ) -> None:
        for i in nb.prange(messages.shape[0]):
            w = np.empty(64, np.uint32)
            h = initial.copy()
            w[:16] = messages[i]
            compress(h, w, constants)
            w[:16] = padding
            compress(h, w, constants)
            digests[i] = h

    digests = result(data)
    return Run(lambda: sha256(*inputs(data), PADDING, digests), {"digests": digests})


def taichi(ti: Any, data: Arrays) -> Run:
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)
    tables = ti.types.ndarray(dtype=ti.u32, ndim=2)

    @ti.func
    def turn(x, n: ti.template()):
        return (x >> ti.u32(n)) | (x << ti.u32(32 - n))

    @ti.kernel
    def sha256(messages: tables, constants: words, initial: words, padding: words, digests: tables):
        for i in range(messages.shape[0]):
            for t in range(8):
                digests[i, t] = initial[t]
            for block in range(2):
                w = ti.Vector([ti.u32(0) for _ in range(16)])
                for t in ti.static(range(16)):
                    w[t] = messages[i, t] if block == 0 else padding[t]
                a, b, c, d = digests[i, 0], digests[i, 1], digests[i, 2], digests[i, 3]
                e, f, g, k = digests[i, 4], digests[i, 5], digests[i, 6], digests[i, 7]
                for sixteen in range(4):
                    for t in ti.static(range(16)):
                        if sixteen > 0:
                            x, y = w[(t + 1) % 16], w[(t + 14) % 16]
                            s0 = turn(x, 7) ^ turn(x, 18) ^ (x >> ti.u32(3))
                            s1 = turn(y, 17) ^ turn(y, 19) ^ (y >> ti.u32(10))
                            w[t] = w[t] + s0 + w[(t + 9) % 16] + s1
                        s2 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
                        s = k + s2 + ((e & f) ^ (~e & g)) + constants[sixteen * 16 + t] + w[t]
                        s3 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
                        m = s3 + ((a & b) ^ (a & c) ^ (b & c))
                        k, g, f, e, d, c, b, a = g, f, e, d + s, c, b, a, s + m
                digests[i, 0] += a
                digests[i, 1] += b
                digests[i, 2] += c
                digests[i, 3] += d
                digests[i, 4] += e
                digests[i, 5] += f
                digests[i, 6] += g
                digests[i, 7] += k

    digests = result(data)
    return Run(lambda: sha256(*inputs(data), PADDING, digests), {"digests": digests})


def pyopencl(device: Any, data: Arrays) -> Run:
    digests = result(data)
    target = device.buffer(digests)
    kernel = device.kernel("sha256", "sha256", (digests.shape[0],), None)
    sha256 = kernel(*map(device.buffer, inputs(data)), target)

    def launch() -> None:
        sha256()
        device.read((target, digests))

    return Run(launch, {"digests": digests})


KERNELS = (
    Kernel(
        name="sha256",
        title="SHA-256 of 64-byte messages",
        sizes={"full": 1 << 16, "quick": 1 << 13, "tiny": 1 << 7},
        data=data,
        define=define,
        compare=exact,
        peers={
            "c": c,
            "vyre": vyre,
            "numpy": numpy,
            "numba": numba,
            "taichi": taichi,
            "pyopencl": pyopencl,
        },
        work=lambda n: 64.0 * n,
        unit="B/s",
        bound=0.5,
    ),
)
