"""base64 decoding of valid, unpadded text: by arithmetic on the characters, and by a table."""
# pyright: standard, reportInvalidTypeForm=false

import base64
from typing import Any, Literal

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Implementation, Kernel, Run, random
from benchmarks.programs import groups, program_of

Form = Literal["arithmetic", "table"]
ALPHABET = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)


def six_bits_of() -> Array:
    """The value of every character; 0 for those outside the alphabet."""
    table = np.zeros(256, np.uint8)
    table[ALPHABET] = np.arange(64, dtype=np.uint8)
    return table


def data(n: int) -> Arrays:
    return {"text": ALPHABET[random().integers(0, 64, 4 * n)], "table": six_bits_of()}


def define(data: Arrays) -> Arrays:
    decoded = base64.b64decode(data["text"].tobytes(), validate=True)
    return {"decoded": np.frombuffer(decoded, np.uint8)}


def result(data: Arrays) -> Array:
    return np.zeros(data["text"].size // 4 * 3, np.uint8)


def c(form: Form) -> Implementation:
    def implement(gcc: Any, data: Arrays) -> Run:
        out = result(data)
        tables = (data["table"],) if form == "table" else ()
        decode = gcc.function("base64_decode", f"by_{form}")
        return Run(decode(data["text"], *tables, out, out.size // 3), {"decoded": out})

    return implement


def vyre(form: Form) -> Implementation:
    def implement(launcher: Any, data: Arrays) -> Run:
        out = result(data)
        arrays = {"text": data["text"], "decoded": out}
        if form == "table":
            arrays["table"] = data["table"]
        grid = (groups(out.size // 3, 256),)
        return Run(launcher.bind(program_of(f"base64_{form}"), arrays, grid), {"decoded": out})

    return implement


def combine(six: Array, out: Array) -> None:
    """Four columns of six bits into three columns of bytes."""
    a, b, c, d = six.reshape(-1, 4).T
    triples = out.reshape(-1, 3)
    triples[:, 0] = (a << np.uint8(2)) | (b >> np.uint8(4))
    triples[:, 1] = (b << np.uint8(4)) | (c >> np.uint8(2))
    triples[:, 2] = (c << np.uint8(6)) | d


def numpy_arithmetic(np_: Any, data: Arrays) -> Run:
    text, out = data["text"], result(data)

    def launch() -> None:
        offset = 4 - 69 * (text >= ord("A")).view(np.uint8)
        offset -= 6 * (text >= ord("a")).view(np.uint8)
        offset += 15 * (text == ord("+")).view(np.uint8)
        offset += 12 * (text == ord("/")).view(np.uint8)
        combine(text + offset, out)

    return Run(launch, {"decoded": out})


def numpy_table(np_: Any, data: Arrays) -> Run:
    text, out = data["text"], result(data)
    return Run(lambda: combine(np_.take(data["table"], text), out), {"decoded": out})


def numba_arithmetic(nb: Any, data: Arrays) -> Run:
    @nb.njit
    def six(c: Any) -> Any:
        return np.uint8(c + 4 - 69 * (c >= 65) - 6 * (c >= 97) + 15 * (c == 43) + 12 * (c == 47))

    @nb.njit(parallel=True)
    def decode(text: Array, out: Array) -> None:
        for g in nb.prange(out.size // 3):
            a = six(text[4 * g])
            b = six(text[4 * g + 1])
            c = six(text[4 * g + 2])
            d = six(text[4 * g + 3])
            out[3 * g] = a << 2 | b >> 4
            out[3 * g + 1] = b << 4 | c >> 2
            out[3 * g + 2] = c << 6 | d

    out = result(data)
    return Run(lambda: decode(data["text"], out), {"decoded": out})


def numba_table(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def decode(text: Array, table: Array, out: Array) -> None:
        for g in nb.prange(out.size // 3):
            a = np.uint32(table[text[4 * g]])
            b = np.uint32(table[text[4 * g + 1]])
            c = np.uint32(table[text[4 * g + 2]])
            d = np.uint32(table[text[4 * g + 3]])
            out[3 * g] = a << 2 | b >> 4
            out[3 * g + 1] = b << 4 | c >> 2
            out[3 * g + 2] = c << 6 | d

    out = result(data)
    return Run(lambda: decode(data["text"], data["table"], out), {"decoded": out})


def taichi(form: Form) -> Implementation:
    def implement(ti: Any, data: Arrays) -> Run:
        codes = ti.types.ndarray(dtype=ti.u8, ndim=1)

        @ti.func
        def six(c, table: ti.template()):
            value = ti.u32(0)
            if ti.static(form == "table"):
                value = ti.cast(table[ti.cast(c, ti.i32)], ti.u32)
            else:
                code = ti.cast(c, ti.i32)
                letter = 69 * (code >= 65) + 6 * (code >= 97)
                value = ti.cast(code + 4 - letter + 15 * (code == 43) + 12 * (code == 47), ti.u32)
            return value

        @ti.kernel
        def decode(text: codes, table: codes, out: codes):
            for g in range(out.shape[0] // 3):
                a = six(text[4 * g], table)
                b = six(text[4 * g + 1], table)
                c = six(text[4 * g + 2], table)
                d = six(text[4 * g + 3], table)
                out[3 * g] = ti.cast(a << 2 | b >> 4, ti.u8)
                out[3 * g + 1] = ti.cast(b << 4 | c >> 2, ti.u8)
                out[3 * g + 2] = ti.cast(c << 6 | d, ti.u8)

        out = result(data)
        return Run(lambda: decode(data["text"], data["table"], out), {"decoded": out})

    return implement


def pyopencl(form: Form) -> Implementation:
    def implement(device: Any, data: Arrays) -> Run:
        out = result(data)
        target = device.buffer(out)
        tables = (device.buffer(data["table"]),) if form == "table" else ()
        kernel = device.kernel("base64_decode", f"by_{form}", (out.size // 3,), None)
        decode = kernel(device.buffer(data["text"]), target, *tables)

        def launch() -> None:
            decode()
            device.read((target, out))

        return Run(launch, {"decoded": out})

    return implement


def kernel(form: Form, bound: float, numpy: Implementation, numba: Implementation) -> Kernel:
    return Kernel(
        name=f"base64_{form}",
        title=f"base64 decode by {form}",
        sizes={"full": 1 << 24, "quick": 1 << 20, "tiny": 1 << 10},
        data=data,
        define=define,
        compare=exact,
        peers={
            "c": c(form),
            "vyre": vyre(form),
            "numpy": numpy,
            "numba": numba,
            "taichi": taichi(form),
            "pyopencl": pyopencl(form),
        },
        work=lambda n: 4.0 * n,
        unit="B/s",
        bound=bound,
    )


KERNELS = (
    kernel("arithmetic", 0.8, numpy_arithmetic, numba_arithmetic),
    kernel("table", 1.0, numpy_table, numba_table),
)
