"""SHA-256 of many short messages, one invocation each."""

from __future__ import annotations

import hashlib

import numpy as np

import vyre as vy

PRIMES = [p for p in range(2, 312) if all(p % d for d in range(2, p))]
ROUNDS = np.array([int(p ** (1 / 3) % 1 * 2**32) for p in PRIMES], np.uint32)
START = np.array([int(p**0.5 % 1 * 2**32) for p in PRIMES[:8]], np.uint32)


@vy.func
def mix(x, a, b, c):
    return vy.rotr(x, a) ^ vy.rotr(x, b) ^ vy.rotr(x, c)


@vy.kernel(workgroup=64)
def sha256(
    rounds: vy.In[vy.u32], start: vy.In[vy.u32], block: vy.In[vy.u32, 2], digest: vy.Out[vy.u32, 2]
):
    w = vy.local(vy.u32, 64)
    i = vy.gid()
    if i >= block.shape[0]:
        return
    for t in range(16):
        w[t] = block[i, t]
    for t in range(16, 64):
        small = mix(w[t - 15], 7, 18, 0) ^ w[t - 15] ^ w[t - 15] >> 3
        large = mix(w[t - 2], 17, 19, 0) ^ w[t - 2] ^ w[t - 2] >> 10
        w[t] = w[t - 16] + small + w[t - 7] + large
    a, b, c, d = start[0], start[1], start[2], start[3]
    e, f, g, h = start[4], start[5], start[6], start[7]
    for t in range(64):
        first = h + mix(e, 6, 11, 25) + (e & f ^ ~e & g) + rounds[t] + w[t]
        second = mix(a, 2, 13, 22) + (a & b ^ a & c ^ b & c)
        h, g, f, e = g, f, e, d + first
        d, c, b, a = c, b, a, first + second
    digest[i, 0] = a + start[0]
    digest[i, 1] = b + start[1]
    digest[i, 2] = c + start[2]
    digest[i, 3] = d + start[3]
    digest[i, 4] = e + start[4]
    digest[i, 5] = f + start[5]
    digest[i, 6] = g + start[6]
    digest[i, 7] = h + start[7]


def padded(messages: list[bytes]) -> np.ndarray:
    """Messages of at most 55 bytes as blocks of sixteen words."""
    blocks = [m + b"\x80" + bytes(55 - len(m)) + (8 * len(m)).to_bytes(8, "big") for m in messages]
    return np.frombuffer(b"".join(blocks), ">u4").astype(np.uint32).reshape(-1, 16)


def expected(messages: list[bytes]) -> np.ndarray:
    """The same by hashlib, one message after the other."""
    found = b"".join(hashlib.sha256(message).digest() for message in messages)
    return np.frombuffer(found, ">u4").astype(np.uint32).reshape(-1, 8)


def main(device: str | None = None, n: int = 1000) -> None:
    messages = [f"message {number}".encode() for number in range(n)]
    digest = np.zeros((n, 8), np.uint32)
    sha256(ROUNDS, START, padded(messages), digest, device=device)
    np.testing.assert_array_equal(digest, expected(messages))
    print(f"sha256: {n:,} messages, the first is {digest[0].astype('>u4').tobytes().hex()}")


if __name__ == "__main__":
    main()
