"""base64 decode, then the automaton over what came out, chunk by chunk."""
# pyright: standard, reportInvalidTypeForm=false

import base64
from typing import Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run
from benchmarks.kernels.automaton import count_matches, count_word_ends, text, transitions
from benchmarks.kernels.base64_decode import combine, six_bits_of
from benchmarks.programs import groups, program_of

DECODED = 3072
ENCODED = DECODED // 3 * 4


def data(n: int) -> Arrays:
    encoded = base64.b64encode(text(n * DECODED).tobytes())
    return {
        "text": np.frombuffer(encoded, np.uint8).reshape(n, ENCODED).copy(),
        "six_bits": six_bits_of(),
        "table": transitions()[0],
    }


def define(data: Arrays) -> Arrays:
    decoded = np.frombuffer(base64.b64decode(data["text"].tobytes()), np.uint8)
    return {"found": count_word_ends(decoded.reshape(-1, DECODED))}


def result(data: Arrays) -> Array:
    return np.zeros(data["text"].shape[0], np.uint32)


def inputs(data: Arrays) -> tuple[Array, Array, Array]:
    return data["text"], data["six_bits"], data["table"]


def c(gcc: Any, data: Arrays) -> Run:
    found, accepting = result(data), transitions()[1]
    decode_scan = gcc.function("decode_scan", "decode_scan")
    return Run(decode_scan(*inputs(data), found, accepting, found.size), {"found": found})


def vyre(launcher: Any, data: Arrays) -> Run:
    found = result(data)
    accepting = np.array([transitions()[1]], np.uint32)
    arrays = {**data, "found": found, "accepting": accepting}
    launch = launcher.bind(program_of("decode_scan"), arrays, (groups(found.size, 64),))
    return Run(launch, {"found": found})


def numpy(np_: Any, data: Arrays) -> Run:
    found = result(data)
    decoded = np.zeros(found.size * DECODED, np.uint8)

    def launch() -> None:
        combine(np_.take(data["six_bits"], data["text"].reshape(-1)), decoded)
        np_.copyto(found, count_matches(decoded.reshape(-1, DECODED)))

    return Run(launch, {"found": found})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def decode_scan(text: Array, six: Array, table: Array, found: Array, accepting: int) -> None:
        for chunk in nb.prange(text.shape[0]):
            decoded = np.empty(3072, np.uint8)
            for g in range(1024):
                a = np.uint32(six[text[chunk, 4 * g]])
                b = np.uint32(six[text[chunk, 4 * g + 1]])
                c = np.uint32(six[text[chunk, 4 * g + 2]])
                d = np.uint32(six[text[chunk, 4 * g + 3]])
                decoded[3 * g] = a << 2 | b >> 4
                decoded[3 * g + 1] = b << 4 | c >> 2
                decoded[3 * g + 2] = c << 6 | d
            state = np.uint32(0)
            count = np.uint32(0)
            for i in range(decoded.size):
                state = np.uint32(table[state * np.uint32(256) + decoded[i]])
                count += np.uint32(state >= accepting)
            found[chunk] = count

    found, accepting = result(data), np.uint32(transitions()[1])
    return Run(lambda: decode_scan(*inputs(data), found, accepting), {"found": found})


def taichi(ti: Any, data: Arrays) -> Run:
    page = ti.types.ndarray(dtype=ti.u8, ndim=2)
    codes = ti.types.ndarray(dtype=ti.u8, ndim=1)
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)

    @ti.kernel
    def decode_scan(
        text: page, six: codes, table: codes, found: words, accepting: ti.i32, decoded: page
    ):
        for chunk in range(text.shape[0]):
            for g in range(decoded.shape[1] // 3):
                a = ti.cast(six[ti.cast(text[chunk, 4 * g], ti.i32)], ti.i32)
                b = ti.cast(six[ti.cast(text[chunk, 4 * g + 1], ti.i32)], ti.i32)
                c = ti.cast(six[ti.cast(text[chunk, 4 * g + 2], ti.i32)], ti.i32)
                d = ti.cast(six[ti.cast(text[chunk, 4 * g + 3], ti.i32)], ti.i32)
                decoded[chunk, 3 * g] = ti.cast(a << 2 | b >> 4, ti.u8)
                decoded[chunk, 3 * g + 1] = ti.cast(b << 4 | c >> 2, ti.u8)
                decoded[chunk, 3 * g + 2] = ti.cast(c << 6 | d, ti.u8)
            state, count = 0, 0
            for i in range(decoded.shape[1]):
                state = ti.cast(table[state * 256 + ti.cast(decoded[chunk, i], ti.i32)], ti.i32)
                if state >= accepting:
                    count += 1
            found[chunk] = count

    found, accepting = result(data), transitions()[1]
    decoded = np.zeros((found.size, DECODED), np.uint8)
    return Run(lambda: decode_scan(*inputs(data), found, accepting, decoded), {"found": found})


def pyopencl(device: Any, data: Arrays) -> Run:
    found = result(data)
    target = device.buffer(found)
    scratch = device.scratch(found.size * DECODED, np.uint8)
    kernel = device.kernel("decode_scan", "decode_scan", (found.size,), None)
    buffers = map(device.buffer, inputs(data))
    decode_scan = kernel(*buffers, target, np.uint32(transitions()[1]), scratch)

    def launch() -> None:
        decode_scan()
        device.read((target, found))

    return Run(launch, {"found": found})


KERNELS = (
    Kernel(
        name="decode_scan",
        title="base64 decode, then automaton",
        sizes={"full": 4096, "quick": 1024, "tiny": 16},
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
        work=lambda n: float(n * ENCODED),
        unit="B/s",
    ),
)
