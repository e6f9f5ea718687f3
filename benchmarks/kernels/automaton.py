"""The automaton that the scanning kernels run: which of a few words end at each byte."""

from functools import cache

import numpy as np

from benchmarks.kernel import Array, random

WORDS = (b"error", b"password", b"GET ", b"http://", b"token=", b"kernel", b"rror", b"0x00")
ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz GET/:=0x.", np.uint8)
CHUNK = 4096


@cache
def transitions() -> tuple[Array, int]:
    """The Aho-Corasick automaton of WORDS as a flat table of states × 256, and its first accepting
    state: states are numbered so that those from there on accept.
    """
    tries: list[dict[int, int]] = [{}]
    accepts = [False]
    for word in WORDS:
        state = 0
        for byte in word:
            if byte not in tries[state]:
                tries[state][byte] = len(tries)
                tries.append({})
                accepts.append(False)
            state = tries[state][byte]
        accepts[state] = True
    steps = np.zeros((len(tries), 256), np.int64)
    fallback = [0] * len(tries)
    queue = [0]
    for state in queue:
        steps[state] = steps[fallback[state]] if state else 0
        for byte, child in tries[state].items():
            fallback[child] = int(steps[state][byte])
            accepts[child] = accepts[child] or accepts[fallback[child]]
            steps[state][byte] = child
            queue.append(child)
    order = sorted(range(len(tries)), key=lambda state: accepts[state])
    number = np.argsort(order)
    table = number[steps[order]].astype(np.uint8)
    return table.reshape(-1), len(tries) - sum(accepts)


def text(n: int) -> Array:
    """n bytes of noise from a small alphabet with the words strewn in."""
    source = random(2)
    noise = ALPHABET[source.integers(0, ALPHABET.size, n)]
    for word in WORDS:
        starts = source.integers(0, max(1, n - len(word)), n // 2048)
        for offset, byte in enumerate(word):
            noise[starts + offset] = byte
    return noise


def count_matches(chunks: Array) -> Array:
    """Accepting positions per row, one step of all rows at a time."""
    table, accepting = transitions()
    columns = np.ascontiguousarray(chunks.T)
    state = np.zeros(chunks.shape[0], np.uint16)
    found = np.zeros(chunks.shape[0], np.uint32)
    for column in columns:
        state = table[(state << np.uint16(8)) | column].astype(np.uint16)
        found += state >= accepting
    return found


def count_word_ends(chunks: Array) -> Array:
    """Positions per row where some word ends, by comparing every window: no automaton involved."""
    ends = np.zeros(chunks.shape, np.bool_)
    for word in WORDS:
        last = chunks.shape[1] - len(word) + 1
        here = np.ones((chunks.shape[0], last), np.bool_)
        for offset, byte in enumerate(word):
            here &= chunks[:, offset : offset + last] == byte
        ends[:, len(word) - 1 :] |= here
    return ends.sum(axis=1, dtype=np.uint32)
