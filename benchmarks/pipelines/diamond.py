"""One decoder and two scanners, pipelines within a pipeline, and a kernel twice in a row."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.pipelines.case import Arguments, PipelineCase
from benchmarks.pipelines.text import HEX, decode_hex


@vy.kernel
def largest_of_three(plain: vy.In[vy.u8], peaks: vy.Out[vy.u8]):
    """Each byte's neighbours and itself; outside is zero."""
    i = vy.gid()
    if i < len(peaks):
        left = plain[i - 1] if i > 0 else vy.u8(0)
        peaks[i] = max(max(left, plain[i]), plain[i + 1])


@vy.kernel
def count_bytes(plain: vy.In[vy.u8], counts: vy.InOut[vy.u32]):
    """How often each byte occurs."""
    i = vy.gid()
    if i < len(plain):
        counts.atomic_add(plain[i], 1)


@vy.pipeline
def decoded(text: vy.In[vy.u8]) -> vy.Array[vy.u8]:
    """The bytes of hexadecimal digits."""
    plain = vy.scratch(vy.u8, len(text) // 2)
    decode_hex(text, plain)
    return plain


@vy.pipeline
def scanned(
    text: vy.In[vy.u8],
) -> tuple[vy.Array[vy.u8], vy.Array[vy.u8], vy.Array[vy.u32]]:
    """Decoded once, scanned twice: the bytes themselves, their peaks twice over, and counts."""
    plain = decoded(text)
    once, twice = vy.scratch_like(plain), vy.scratch_like(plain)
    counts = vy.scratch(vy.u32, 256)
    largest_of_three(plain, once)
    largest_of_three(once, twice)
    count_bytes(plain, counts)
    return plain, twice, counts


def hex_text(n: int) -> Arguments:
    return (HEX[np.random.default_rng(n).integers(0, 16, 2 * n)],)


def define_scanned(text: Array) -> list[Array]:
    plain = np.frombuffer(bytes.fromhex(text.tobytes().decode()), np.uint8)
    peaks = plain
    for _ in range(2):
        ends = np.concatenate([np.zeros(1, np.uint8), peaks, np.zeros(1, np.uint8)])
        peaks = np.maximum(np.maximum(ends[:-2], ends[1:-1]), ends[2:])
    return [plain, peaks, np.bincount(plain, minlength=256).astype(np.uint32)]


CASES = (PipelineCase(15, "one decoder, two scanners", scanned, hex_text, define_scanned),)
