"""Hashes, checksums and a cipher, each over many messages at once."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import random
from benchmarks.survey.case import Arguments, Case, integers, zeros


def strings(n: int) -> Arguments:
    """Words of 1 to 40 bytes one after the other, and where each begins."""
    lengths = random().integers(1, 41, n)
    start = np.zeros(n + 1, np.uint32)
    start[1:] = np.cumsum(lengths)
    return {"text": integers(np.uint8, 0, 256, int(start[-1]), seed=2), "start": start}


@vy.kernel
def fnv1a(text: vy.In[vy.u8], start: vy.In[vy.u32], hashed: vy.Out[vy.u64]):
    i = vy.gid()
    if i < len(hashed):
        h: vy.u64 = 0xCBF29CE484222325
        for k in range(start[i], start[i + 1]):
            h = (h ^ vy.u64(text[k])) * 0x100000001B3
        hashed[i] = h


def fnv1a_data(n: int) -> Arguments:
    return {**strings(n), "hashed": zeros(n, dtype=np.uint64)}


@vy.kernel
def murmur3(seed: vy.u32, words: vy.In[vy.u32, 2], hashed: vy.Out[vy.u32]):
    i = vy.gid()
    if i < words.shape[0]:
        h = seed
        for k in range(words.shape[1]):
            h ^= vy.rotl(words[i, k] * 0xCC9E2D51, 15) * 0x1B873593
            h = vy.rotl(h, 13) * 5 + 0xE6546B64
        h ^= vy.u32(4 * words.shape[1])
        h = (h ^ (h >> 16)) * 0x85EBCA6B
        h = (h ^ (h >> 13)) * 0xC2B2AE35
        hashed[i] = h ^ (h >> 16)


def murmur3_data(n: int) -> Arguments:
    words = integers(np.uint32, 0, 2**32 - 1, n, 7)
    return {"seed": 42, "words": words, "hashed": zeros(n, dtype=np.uint32)}


@vy.kernel
def crc32(table: vy.In[vy.u32], text: vy.In[vy.u8], start: vy.In[vy.u32], hashed: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(hashed):
        crc: vy.u32 = 0xFFFFFFFF
        for k in range(start[i], start[i + 1]):
            crc = table[(crc ^ vy.u32(text[k])) & 255] ^ (crc >> 8)
        hashed[i] = ~crc


def crc32_data(n: int) -> Arguments:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, np.uint32(0xEDB88320) ^ (table >> 1), table >> 1)
    return {"table": table.astype(np.uint32), **strings(n), "hashed": zeros(n, dtype=np.uint32)}


@vy.kernel
def adler32(text: vy.In[vy.u8, 2], hashed: vy.Out[vy.u32]):
    i = vy.gid()
    if i < text.shape[0]:
        a: vy.u32 = 1
        b: vy.u32 = 0
        for k in range(text.shape[1]):
            a = (a + vy.u32(text[i, k])) % 65521
            b = (b + a) % 65521
        hashed[i] = (b << 16) | a


def adler32_data(n: int) -> Arguments:
    return {"text": integers(np.uint8, 0, 256, n, 65), "hashed": zeros(n, dtype=np.uint32)}


@vy.kernel
def sha1(block: vy.In[vy.u32, 2], hashed: vy.Out[vy.u32, 2]):
    """One block of 16 words for each message."""
    w = vy.local(vy.u32, 80)
    i = vy.gid()
    if i < block.shape[0]:
        for t in range(16):
            w[t] = block[i, t]
        for t in range(16, 80):
            w[t] = vy.rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1)
        a: vy.u32 = 0x67452301
        b: vy.u32 = 0xEFCDAB89
        c: vy.u32 = 0x98BADCFE
        d: vy.u32 = 0x10325476
        e: vy.u32 = 0xC3D2E1F0
        for t in range(80):
            k: vy.u32 = 0x5A827999
            if t < 20:
                f = (b & c) | (~b & d)
            elif t < 40:
                f, k = b ^ c ^ d, 0x6ED9EBA1
            elif t < 60:
                f, k = (b & c) | (b & d) | (c & d), 0x8F1BBCDC
            else:
                f, k = b ^ c ^ d, 0xCA62C1D6
            following = vy.rotl(a, 5) + f + e + k + w[t]
            a, b, c, d, e = following, a, vy.rotl(b, 30), c, d
        hashed[i, 0] = a + 0x67452301
        hashed[i, 1] = b + 0xEFCDAB89
        hashed[i, 2] = c + 0x98BADCFE
        hashed[i, 3] = d + 0x10325476
        hashed[i, 4] = e + 0xC3D2E1F0


def sha1_data(n: int) -> Arguments:
    block = integers(np.uint32, 0, 2**32 - 1, n, 16)
    return {"block": block, "hashed": zeros(n, 5, dtype=np.uint32)}


@vy.func
def quarter(x, a: vy.static[int], b: vy.static[int], c: vy.static[int], d: vy.static[int]):
    x[a] += x[b]
    x[d] = vy.rotl(x[d] ^ x[a], 16)
    x[c] += x[d]
    x[b] = vy.rotl(x[b] ^ x[c], 12)
    x[a] += x[b]
    x[d] = vy.rotl(x[d] ^ x[a], 8)
    x[c] += x[d]
    x[b] = vy.rotl(x[b] ^ x[c], 7)


@vy.kernel
def chacha20(state: vy.In[vy.u32], text: vy.In[vy.u32, 2], out: vy.Out[vy.u32, 2]):
    """A block of 16 words for each invocation; the counter is word 12."""
    x = vy.local(vy.u32, 16)
    i = vy.gid()
    if i < text.shape[0]:
        for k in range(16):
            x[k] = state[k]
        x[12] += i
        for _ in range(10):
            quarter(x, 0, 4, 8, 12)
            quarter(x, 1, 5, 9, 13)
            quarter(x, 2, 6, 10, 14)
            quarter(x, 3, 7, 11, 15)
            quarter(x, 0, 5, 10, 15)
            quarter(x, 1, 6, 11, 12)
            quarter(x, 2, 7, 8, 13)
            quarter(x, 3, 4, 9, 14)
        for k in range(16):
            start = state[k] + i if k == 12 else state[k]
            out[i, k] = text[i, k] ^ (x[k] + start)


def chacha20_data(n: int) -> Arguments:
    state = integers(np.uint32, 0, 2**31, 16, seed=3)
    text = integers(np.uint32, 0, 2**32 - 1, n, 16)
    return {"state": state, "text": text, "out": zeros(n, 16, dtype=np.uint32)}


@vy.func
def sip_round(v0, v1, v2, v3):
    v0 += v1
    v2 += v3
    v1 = vy.rotl(v1, 13) ^ v0
    v3 = vy.rotl(v3, 16) ^ v2
    v0 = vy.rotl(v0, 32)
    v2 += v1
    v0 += v3
    v1 = vy.rotl(v1, 17) ^ v2
    v3 = vy.rotl(v3, 21) ^ v0
    v2 = vy.rotl(v2, 32)
    return v0, v1, v2, v3


@vy.kernel
def siphash(k0: vy.u64, k1: vy.u64, words: vy.In[vy.u64, 2], hashed: vy.Out[vy.u64]):
    """SipHash-2-4 of rows of whole words."""
    i = vy.gid()
    if i < words.shape[0]:
        v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
        v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
        for k in range(words.shape[1] + 1):
            m = vy.u64(8 * words.shape[1]) << 56
            if k < words.shape[1]:
                m = words[i, k]
            v3 ^= m
            v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
            v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
            v0 ^= m
        v2 ^= 255
        for _ in range(4):
            v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
        hashed[i] = v0 ^ v1 ^ v2 ^ v3


def siphash_data(n: int) -> Arguments:
    words = integers(np.uint64, 0, 2**63, n, 5)
    keys = {"k0": 0x0706050403020100, "k1": 0x0F0E0D0C0B0A0908}
    return {**keys, "words": words, "hashed": zeros(n, dtype=np.uint64)}


@vy.kernel
def wyhash(text: vy.In[vy.u8], start: vy.In[vy.u32], hashed: vy.Out[vy.u64]):
    """Words of eight bytes from wherever a string begins; the last one may have fewer."""
    i = vy.gid()
    if i < len(hashed):
        p, end = start[i], start[i + 1]
        h = vy.u64(end - p) * 0xA0761D6478BD642F
        while end - p >= 8:
            m = text.u64(p) ^ 0xE7037ED1A0B428DB
            h = (h ^ m) * 0x8EBC6AF09C88C6E3
            h ^= h >> 32
            p += 8
        if p < end:
            m = text.u64(p) & ((vy.u64(1) << vy.u64(8 * (end - p))) - 1)
            h = (h ^ m) * 0x589965CC75374CC3
        hashed[i] = h ^ (h >> 29)


def wyhash_data(n: int) -> Arguments:
    made = strings(n)
    # So that C can read eight bytes at the last string.
    made["text"] = np.concatenate([made["text"], np.zeros(8, np.uint8)])
    return {**made, "hashed": zeros(n, dtype=np.uint64)}


@vy.kernel
def four_grams(bitmap: vy.In[vy.u32], text: vy.In[vy.u8], hits: vy.Out[vy.u8]):
    """Whether the four bytes at each offset may be in a set: one bit by their hash."""
    i = vy.gid()
    if i < len(hits):
        h = (text.u32(i) * 0x9E3779B1) >> 17
        hits[i] = vy.u8((bitmap[h >> 5] >> (h & 31)) & 1)


def four_grams_data(n: int) -> Arguments:
    bitmap = integers(np.uint32, 0, 2**32 - 1, 1024, seed=5) & integers(
        np.uint32, 0, 2**32 - 1, 1024, seed=6
    )
    text = integers(np.uint8, 0, 256, n + 3, seed=7)
    return {"bitmap": bitmap, "text": text, "hits": zeros(n, dtype=np.uint8)}


CASES = (
    Case("fnv1a", "hashing", [fnv1a], fnv1a_data, 100_001, 131, ["hashed"], ["hashed"]),
    Case("murmur3", "hashing", [murmur3], murmur3_data, 200_001, 131, ["hashed"], ["words"]),
    Case("crc32", "hashing", [crc32], crc32_data, 100_001, 131, ["hashed"], ["hashed"]),
    Case("adler32", "hashing", [adler32], adler32_data, 20_001, 131, ["hashed"], ["text"]),
    Case("sha1", "hashing", [sha1], sha1_data, 20_001, 77, ["hashed"], ["block"]),
    Case("chacha20", "hashing", [chacha20], chacha20_data, 20_001, 77, ["out"], ["text"]),
    Case("siphash", "hashing", [siphash], siphash_data, 100_001, 77, ["hashed"], ["words"]),
    Case("wyhash", "hashing", [wyhash], wyhash_data, 100_001, 131, ["hashed"], ["hashed"]),
    Case(
        "four_grams", "hashing", [four_grams], four_grams_data, 4_000_001, 131, ["hits"], ["hits"]
    ),
)
