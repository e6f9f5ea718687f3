"""Bytes: encodings in and out, cases, keys, line ends, UTF-8."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, integers, zeros

HEX = b"0123456789abcdef"
BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
CHUNK = 64


def text(n: int, alphabet: bytes = bytes(range(32, 127)) + b"\r\n", seed: int = 1) -> Array:
    return np.frombuffer(alphabet, np.uint8)[random(seed).integers(0, len(alphabet), n)]


@vy.kernel
def hex_encode(data: vy.In[vy.u8], out: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(data):
        out[2 * i] = HEX[data[i] >> 4]
        out[2 * i + 1] = HEX[data[i] & 15]


def hex_encode_data(n: int) -> Arguments:
    return {"data": integers(np.uint8, 0, 256, n), "out": zeros(2 * n, dtype=np.uint8)}


@vy.func
def nibble(c):
    if ord("0") <= c <= ord("9"):
        return c - ord("0")
    if ord("a") <= c <= ord("f"):
        return c - ord("a") + 10
    if ord("A") <= c <= ord("F"):
        return c - ord("A") + 10
    return 255


@vy.kernel
def hex_decode(text: vy.In[vy.u8], out: vy.Out[vy.u8], errors: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(out):
        high, low = nibble(text[2 * i]), nibble(text[2 * i + 1])
        if high == 255 or low == 255:
            errors.atomic_add(0, 1)
        out[i] = (high << 4) | (low & 15)


def hex_decode_data(n: int) -> Arguments:
    data = text(2 * n, b"0123456789abcdefABCDEF" * 20 + b"x")
    return {"text": data, "out": zeros(n, dtype=np.uint8), "errors": zeros(1, dtype=np.uint32)}


@vy.kernel
def base64_encode(data: vy.In[vy.u8], out: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(data) // 3:
        a, b, c = vy.u32(data[3 * i]), vy.u32(data[3 * i + 1]), vy.u32(data[3 * i + 2])
        word = (a << 16) | (b << 8) | c
        for k in range(4):
            out[4 * i + k] = BASE64[(word >> (18 - 6 * k)) & 63]


def base64_encode_data(n: int) -> Arguments:
    return {"data": integers(np.uint8, 0, 256, 3 * n), "out": zeros(4 * n, dtype=np.uint8)}


@vy.kernel
def swap_case(data: vy.In[vy.u8], out: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(data):
        c = data[i]
        if ord("a") <= c <= ord("z"):
            c -= 32
        elif ord("A") <= c <= ord("Z"):
            c += 32
        out[i] = c


def swap_case_data(n: int) -> Arguments:
    return {"data": text(n), "out": zeros(n, dtype=np.uint8)}


@vy.kernel
def xor_key(data: vy.In[vy.u8], key: vy.In[vy.u8], out: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(data):
        out[i] = data[i] ^ key[i % len(key)]


def xor_key_data(n: int) -> Arguments:
    key = integers(np.uint8, 0, 256, 13, seed=2)
    return {"data": text(n), "key": key, "out": zeros(n, dtype=np.uint8)}


@vy.kernel
def line_ends(data: vy.In[vy.u8], counts: vy.Out[vy.u32]):
    """How many lines end in each chunk: a CR LF is one end, a CR or an LF alone one, too."""
    i = vy.gid()
    if i < len(counts):
        found = 0
        for k in range(i * CHUNK, min((i + 1) * CHUNK, len(data))):
            if data[k] == ord("\n"):
                if k == 0 or data[k - 1] != ord("\r"):
                    found += 1
            elif data[k] == ord("\r"):
                found += 1
        counts[i] = found


def line_ends_data(n: int) -> Arguments:
    data = text(n, b"abcdefgh\r\n\r\n")
    return {"data": data, "counts": zeros(-(-n // CHUNK), dtype=np.uint32)}


@vy.kernel
def utf8_lengths(data: vy.In[vy.u8], lengths: vy.Out[vy.u8]):
    """The bytes of the code point that begins here: 0 within one, 255 where none can begin."""
    i = vy.gid()
    if i < len(data):
        c = data[i]
        length: vy.u8 = 255
        if c < 0x80:
            length = 1
        elif c < 0xC0:
            length = 0
        elif 0xC2 <= c < 0xE0:
            length = 2
        elif 0xE0 <= c < 0xF0:
            length = 3
        elif 0xF0 <= c < 0xF5:
            length = 4
        if 1 < length < 255:
            for k in range(1, vy.u32(length)):
                if i + k >= len(data) or (data[i + k] & 0xC0) != 0x80:
                    length = 255
                    break
        lengths[i] = length


def utf8_lengths_data(n: int) -> Arguments:
    words = "plain words, naïve café, Ελληνικά, 日本語, 🙂🚀 and on "
    data = np.frombuffer((words * (n // 40)).encode()[:n], np.uint8).copy()
    data[random().integers(0, len(data), len(data) // 100)] = 0xC3
    return {"data": data, "lengths": zeros(len(data), dtype=np.uint8)}


@vy.kernel(workgroup=1024)
def class_ballots(text: vy.In[vy.u8], masks: vy.Out[vy.u32]):
    """Which bytes are digits or line ends, a bit each: by the votes of subgroups."""
    i = vy.gid()
    c = text[i]
    votes = vy.subgroup_ballot(c == 10 or 48 <= c <= 57)
    if vy.subgroup_lane() == 0:
        masks[i // 32] = votes[0]


def class_ballots_data(n: int) -> Arguments:
    return {"text": text(32 * n), "masks": zeros(n, dtype=np.uint32)}


def class_ballots_launch(text: Array, masks: Array) -> None:
    class_ballots(text, masks, elements=len(text))


@vy.kernel
def class_bits(text: vy.In[vy.u8], masks: vy.Out[vy.u32]):
    """The same by a loop that sets the bits."""
    i = vy.gid()
    if i < len(masks):
        mask: vy.u32 = 0
        for k in range(32):
            c = text[32 * i + k]
            mask |= vy.u32(c == 10 or 48 <= c <= 57) << k
        masks[i] = mask


CASES = (
    Case(
        "class_ballots",
        "bytes",
        [class_ballots],
        class_ballots_data,
        125_001,
        33,
        ["masks"],
        ["masks"],
        class_ballots_launch,
    ),
    Case(
        "class_bits", "bytes", [class_bits], class_ballots_data, 125_001, 33, ["masks"], ["masks"]
    ),
    Case("hex_encode", "bytes", [hex_encode], hex_encode_data, 2_000_001, 77, ["out"], ["data"]),
    Case(
        "hex_decode",
        "bytes",
        [hex_decode],
        hex_decode_data,
        1_000_001,
        377,
        ["out", "errors"],
        ["out"],
    ),
    Case(
        "base64_encode",
        "bytes",
        [base64_encode],
        base64_encode_data,
        1_000_001,
        77,
        ["out"],
        ["data"],
    ),
    Case("swap_case", "bytes", [swap_case], swap_case_data, 4_000_001, 301, ["out"], ["data"]),
    Case("xor_key", "bytes", [xor_key], xor_key_data, 4_000_001, 301, ["out"], ["data", "key"]),
    Case("line_ends", "bytes", [line_ends], line_ends_data, 4_000_001, 1001, ["counts"], ["data"]),
    Case(
        "utf8_lengths",
        "bytes",
        [utf8_lengths],
        utf8_lengths_data,
        2_000_001,
        801,
        ["lengths"],
        ["data"],
    ),
)
