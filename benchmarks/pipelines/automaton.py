"""Base64, then an automaton with a table of many states, each chunk from its first state."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.pipelines.case import Arguments
from benchmarks.pipelines.text import base64_text, decode_base64

STATES = 1000
CHUNK = 64


@vy.kernel
def run_automaton(plain: vy.In[vy.u8], table: vy.In[vy.u16], accepted: vy.Out[vy.u32]):
    """How often each chunk reaches the last state."""
    chunk = vy.gid()
    if chunk < len(accepted):
        state, count = vy.u32(0), 0
        for k in range(CHUNK):
            i = chunk * CHUNK + k
            if i < len(plain):
                state = vy.u32(table[state * 256 + vy.u32(plain[i])])
                if state == STATES - 1:
                    count += 1
        accepted[chunk] = count


@vy.pipeline
def scan_base64(text: vy.In[vy.u8], table: vy.In[vy.u16], accepted: vy.Out[vy.u32]):
    """Decoded, then scanned."""
    plain = vy.scratch(vy.u8, len(text) // 4 * 3)
    decode_base64(text, plain, elements=len(text) // 4)
    run_automaton(plain, table, accepted)


def automaton_data(n: int) -> Arguments:
    text = base64_text(n)
    table = np.random.default_rng(1).integers(0, STATES, STATES * 256, dtype=np.uint16)
    return text, table, np.zeros(-(-(text.size // 4 * 3) // CHUNK), np.uint32)


def define_automaton(text: Array, table: Array, accepted: Array) -> list[Array]:
    import base64

    plain = np.frombuffer(base64.b64decode(text.tobytes()), np.uint8)
    state = np.zeros(accepted.size, np.int64)
    counts = np.zeros_like(accepted)
    for k in range(CHUNK):
        live = np.arange(accepted.size) * CHUNK + k < plain.size
        byte = plain[(np.arange(accepted.size) * CHUNK + k)[live]]
        state[live] = table[state[live] * 256 + byte]
        counts[live] += state[live] == STATES - 1
    return [counts]
