"""Table-driven scan of many chunks of bytes: a chain of dependent loads per chunk."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run
from benchmarks.kernels.automaton import (
    CHUNK,
    count_matches,
    count_word_ends,
    text,
    transitions,
)
from benchmarks.programs import groups, program_of


def data(n: int) -> Arrays:
    return {"text": text(n * CHUNK).reshape(n, CHUNK), "table": transitions()[0]}


def define(data: Arrays) -> Arrays:
    return {"found": count_word_ends(data["text"])}


def result(data: Arrays) -> Array:
    return np.zeros(data["text"].shape[0], np.uint32)


def c(gcc: Any, data: Arrays) -> Run:
    found = result(data)
    dfa = gcc.function("dfa", "dfa")
    accepting = transitions()[1]
    launch = dfa(data["text"], data["table"], found, accepting, CHUNK, found.size)
    return Run(launch, {"found": found})


def vyre(launcher: Any, data: Arrays) -> Run:
    found = result(data)
    accepting = np.array([transitions()[1]], np.uint32)
    arrays = {**data, "found": found, "accepting": accepting}
    launch = launcher.bind(program_of("dfa"), arrays, (groups(found.size, 64),))
    return Run(launch, {"found": found})


def numpy(np_: Any, data: Arrays) -> Run:
    found = result(data)
    return Run(lambda: np_.copyto(found, count_matches(data["text"])), {"found": found})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def dfa(text: Array, table: Array, found: Array, accepting: int) -> None:
        for c in nb.prange(text.shape[0]):
            state = np.uint32(0)
            count = np.uint32(0)
            for i in range(text.shape[1]):
                state = np.uint32(table[state * np.uint32(256) + text[c, i]])
                count += np.uint32(state >= accepting)
            found[c] = count

    found, accepting = result(data), np.uint32(transitions()[1])
    return Run(lambda: dfa(data["text"], data["table"], found, accepting), {"found": found})


def taichi(ti: Any, data: Arrays) -> Run:
    page = ti.types.ndarray(dtype=ti.u8, ndim=2)
    codes = ti.types.ndarray(dtype=ti.u8, ndim=1)
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)

    @ti.kernel
    def dfa(text: page, table: codes, found: words, accepting: ti.i32):
        for c in range(text.shape[0]):
            state, count = 0, 0
            for i in range(text.shape[1]):
                state = ti.cast(table[state * 256 + ti.cast(text[c, i], ti.i32)], ti.i32)
                if state >= accepting:
                    count += 1
            found[c] = count

    found, accepting = result(data), transitions()[1]
    return Run(lambda: dfa(data["text"], data["table"], found, accepting), {"found": found})


def pyopencl(device: Any, data: Arrays) -> Run:
    found = result(data)
    text, table = device.buffer(data["text"]), device.buffer(data["table"])
    target = device.buffer(found)
    kernel = device.kernel("dfa", "dfa", (found.size,), None)
    dfa = kernel(text, table, target, np.uint32(transitions()[1]), np.uint32(CHUNK))

    def launch() -> None:
        dfa()
        device.read((target, found))

    return Run(launch, {"found": found})


KERNELS = (
    Kernel(
        name="dfa",
        title=f"automaton over bytes, chunks of {CHUNK}",
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
        work=lambda n: float(n * CHUNK),
        unit="B/s",
        bound=0.35,
    ),
)
