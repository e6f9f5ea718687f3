"""Base64 is decoded, then searched: two kernels that become one program without memory between."""

from __future__ import annotations

import base64

import numpy as np

import vyre as vy
from vyre.plan import fuse


@vy.func
def six_bits(c):
    """The value of a base64 digit."""
    if c >= 97:
        return c - 71
    if c >= 65:
        return c - 65
    if c >= 48:
        return c + 4
    return 62 if c == 43 else 63


@vy.kernel(workgroup=256)
def decode(text: vy.In[vy.u8], decoded: vy.Out[vy.u32]):
    """Four digits are three bytes."""
    i = vy.gid()
    bits = 0
    for k in range(4):
        bits = bits << 6 | six_bits(vy.u32(text[4 * i + k]))
    decoded[i] = bits


@vy.kernel(workgroup=256)
def scan(wanted: vy.u32, decoded: vy.In[vy.u32], found: vy.Out[vy.u32]):
    """How many of the three bytes are the one that is looked for."""
    i = vy.gid()
    bits, count = decoded[i], 0
    for _ in range(3):
        if bits & 0xFF == wanted:
            count += 1
        bits >>= 8
    if i < len(found):
        found[i] = count


def fused(n: int) -> vy.Program:
    """Both kernels in one program; what passes between them is no business of the host."""
    programs = [decode.program(), scan.program()]
    sized = [
        program.with_rewritten_buffers(
            decl.with_count(n) if decl.name == "decoded" else decl for decl in program.buffers
        )
        for program in programs
    ]
    return fuse(sized, ["decode", "scan"], scratch=["decoded"], flat_grid=True).program


def base64_text(n: int) -> np.ndarray:
    """Random bytes as base64: three bytes for each of `n`."""
    plain = np.random.default_rng(0).integers(0, 256, 3 * n, dtype=np.uint8)
    return np.frombuffer(base64.b64encode(plain.tobytes()), np.uint8)


def counted(text: np.ndarray, wanted: int) -> np.ndarray:
    """The same by Python's base64 and numpy."""
    plain = np.frombuffer(base64.b64decode(text.data), np.uint8)
    return (plain.reshape(-1, 3) == wanted).sum(1, dtype=np.uint32)


def main(device: str | None = None, n: int = 100_000) -> None:
    text = base64_text(n)
    expected = counted(text, 10)

    decoded, found = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    decode(text, decoded, device=device)
    scan(10, decoded, found, device=device)
    np.testing.assert_array_equal(found, expected)

    program = fused(n)
    inputs = {"text": text, "wanted": np.array([10], np.uint32)}
    outputs = vy.run(program, inputs, elements=n, sizes={"found": n}, device=device)
    np.testing.assert_array_equal(outputs["found"], expected)
    left = vy.compile(program, device=device).program.buffers
    print(f"decode and scan: {found.sum():,} newlines; buffers left: {[d.name for d in left]}")


if __name__ == "__main__":
    main()
