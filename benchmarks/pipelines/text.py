"""Decoders and scanners of text: base64, hex, percent escapes, and base64 in lines."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import base64
import re

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.pipelines.case import Arguments, PipelineCase
from benchmarks.pipelines.compaction import compact, sum_before

DIGITS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
PERCENT, NEWLINE = 37, 10
WORD = b"key"
BLOCK = 64
"""Characters that one invocation looks at, where a decoder's input has no fixed ratio."""


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


@vy.func
def four_bits(c):
    """The value of a hexadecimal digit."""
    return c - 48 if c < 58 else c - 87


@vy.kernel
def decode_base64(text: vy.In[vy.u8], plain: vy.Out[vy.u8]):
    """Four digits are three bytes."""
    i = vy.gid()
    if 3 * i < len(plain):
        bits = 0
        for k in range(4):
            bits = bits << 6 | six_bits(vy.u32(text[4 * i + k]))
        plain[3 * i] = vy.u8(bits >> 16)
        plain[3 * i + 1] = vy.u8(bits >> 8)
        plain[3 * i + 2] = vy.u8(bits)


@vy.kernel
def may_begin(plain: vy.In[vy.u8], places: vy.In[vy.u8], mask: vy.Out[vy.u32]):
    """A bit for each position at which four bytes may be a word: bit k of a byte's places."""
    word = vy.gid()
    if word < len(mask):
        found = 0
        for k in range(32):
            i = word * 32 + k
            if i + 3 < len(plain):
                both = places[plain[i]] & (places[plain[i + 1]] >> 1)
                if both & (places[plain[i + 2]] >> 2) & (places[plain[i + 3]] >> 3) & 1 != 0:
                    found = found | 1 << k
        mask[word] = found


@vy.pipeline
def find_in_base64(
    text: vy.In[vy.u8], places: vy.In[vy.u8], most: vy.u32
) -> tuple[vy.Array[vy.u32], vy.Array[vy.u32]]:
    """Base64, then a filter of four bytes, then compaction."""
    plain = vy.scratch(vy.u8, len(text) // 4 * 3)
    mask = vy.scratch(vy.u32, -(-len(plain) // 32))
    hits = vy.scratch(vy.u32, most)
    count = vy.scratch(vy.u32, 1)
    decode_base64(text, plain, elements=len(text) // 4)
    may_begin(plain, places, mask)
    compact(mask, hits, count)
    return hits, count


def base64_text(n: int) -> Array:
    """Digits of n bytes and up to two more: 4 for every 3."""
    return DIGITS[np.random.default_rng(n).integers(0, 64, 4 * -(-n // 3))]


def some_places() -> Array:
    """Bytes that the four places of a word allow: about a quarter of all at each."""
    random = np.random.default_rng(4)
    return (random.integers(0, 16, 256) & random.integers(0, 16, 256)).astype(np.uint8)


def define_find(text: Array, places: Array, most: int) -> list[Array]:
    plain = np.frombuffer(base64.b64decode(text.tobytes()), np.uint8)
    found = np.zeros(0, np.int64)
    if plain.size >= 4:
        last = plain.size - 3
        allowed = [(places[plain[k : k + last]] >> k) & 1 for k in range(4)]
        found = np.flatnonzero(np.logical_and.reduce(allowed))
    hits = np.zeros(most, np.uint32)
    hits[: found.size] = found[:most]
    return [hits, np.array([found.size], np.uint32)]


@vy.kernel
def decode_hex(text: vy.In[vy.u8], plain: vy.Out[vy.u8]):
    """Two digits are one byte."""
    i = vy.gid()
    if i < len(plain):
        high, low = four_bits(vy.u32(text[2 * i])), four_bits(vy.u32(text[2 * i + 1]))
        plain[i] = vy.u8(high * 16 + low)


@vy.kernel
def to_units(plain: vy.In[vy.u8], units: vy.Out[vy.u16]):
    """Two bytes are one unit of UTF-16, the lower byte first."""
    i = vy.gid()
    if i < len(units):
        units[i] = vy.u16(plain[2 * i]) | vy.u16(plain[2 * i + 1]) << 8


@vy.kernel
def count_units(units: vy.In[vy.u16], counts: vy.InOut[vy.u32]):
    """How often each unit below 256 occurs, and all others in the last place."""
    i = vy.gid()
    if i < len(units):
        counts.atomic_add(min(vy.u32(units[i]), 256), 1)


@vy.pipeline
def count_in_hex(text: vy.In[vy.u8]) -> vy.Array[vy.u32]:
    """Hexadecimal digits, then UTF-16, then a histogram."""
    plain = vy.scratch(vy.u8, len(text) // 2)
    units = vy.scratch(vy.u16, len(plain) // 2)
    counts = vy.scratch(vy.u32, 257)
    decode_hex(text, plain)
    to_units(plain, units)
    count_units(units, counts)
    return counts


def utf16_in_hex(n: int) -> Arguments:
    """Units of which most are below 256, as in text of Western languages."""
    random = np.random.default_rng(n)
    units = random.integers(0, 256, n, dtype=np.uint16)
    units[::17] = random.integers(0, 1 << 16, len(units[::17]), dtype=np.uint16)
    return (HEX[(units.view(np.uint8)[:, None] >> np.array([4, 0], np.uint8)) & 15].reshape(-1),)


def define_count(text: Array) -> list[Array]:
    plain = np.frombuffer(bytes.fromhex(text.tobytes().decode()), np.uint8)
    units = np.minimum(plain.view("<u2"), 256)
    return [np.bincount(units, minlength=257).astype(np.uint32)]


@vy.func
def is_escaped(text, i):
    """True if a character is a digit behind a percent sign."""
    return (i >= 1 and text[i - 1] == PERCENT) or (i >= 2 and text[i - 2] == PERCENT)


@vy.kernel
def count_characters(text: vy.In[vy.u8], counts: vy.Out[vy.u32]):
    """How many bytes a block of escaped text stands for."""
    block = vy.gid()
    if block < len(counts):
        total = 0
        for k in range(BLOCK):
            i = block * BLOCK + k
            if i < len(text) and not is_escaped(text, i):
                total += 1
        counts[block] = total


@vy.kernel
def decode_percent(text: vy.In[vy.u8], before: vy.In[vy.u32], plain: vy.Out[vy.u8]):
    """A percent sign and two digits are one byte, every other character is itself."""
    block = vy.gid()
    if block < len(before):
        at = before[block]
        for k in range(BLOCK):
            i = block * BLOCK + k
            if i < len(text) and not is_escaped(text, i):
                value = vy.u32(text[i])
                if value == PERCENT:
                    high, low = four_bits(vy.u32(text[i + 1])), four_bits(vy.u32(text[i + 2]))
                    value = high * 16 + low
                plain[at] = vy.u8(value)
                at += 1


@vy.kernel
def find_word(plain: vy.In[vy.u8], count: vy.In[vy.u32], mask: vy.Out[vy.u32]):
    """A bit for each position at which the word stands."""
    word = vy.gid()
    if word < len(mask):
        found = 0
        for k in range(32):
            i = word * 32 + k
            is_inside = i + 2 < count[0]
            if is_inside and plain[i] == 107 and plain[i + 1] == 101 and plain[i + 2] == 121:
                found = found | 1 << k
        mask[word] = found


@vy.pipeline
def find_in_percent(text: vy.In[vy.u8], most: vy.u32) -> tuple[vy.Array[vy.u32], vy.Array[vy.u32]]:
    """Percent escapes, then a word, then its positions."""
    before = vy.scratch(vy.u32, -(-len(text) // 64))
    length, count = vy.scratch(vy.u32, 1), vy.scratch(vy.u32, 1)
    plain = vy.scratch(vy.u8, len(text))
    mask = vy.scratch(vy.u32, -(-len(text) // 32))
    hits = vy.scratch(vy.u32, most)
    count_characters(text, before)
    sum_before(before, length, grid=1)
    decode_percent(text, before, plain, elements=len(before))
    find_word(plain, length, mask)
    compact(mask, hits, count)
    return hits, count


def percent_text(n: int) -> Array:
    """The word between other letters, a third of all bytes escaped."""
    random = np.random.default_rng(n)
    letters = np.frombuffer(b"keyabc", np.uint8)[random.integers(0, 6, n)]
    letters[: n // 2] = np.resize(np.frombuffer(WORD + b"..", np.uint8), n // 2)
    parts = np.zeros((n, 3), np.uint8)
    parts[:, 0] = PERCENT
    parts[:, 1:] = HEX[(letters[:, None] >> np.array([4, 0], np.uint8)) & 15]
    plain = random.integers(0, 3, n) > 0
    parts[plain, 0] = letters[plain]
    parts[plain, 1:] = 0
    return parts.reshape(-1)[parts.reshape(-1) != 0]


def define_percent(text: Array, most: int) -> list[Array]:
    plain = re.sub(rb"%(..)", lambda m: bytes.fromhex(m[1].decode()), text.tobytes())
    found = np.array([m.start() for m in re.finditer(WORD, plain)], np.uint32)
    hits = np.zeros(most, np.uint32)
    hits[: found.size] = found[:most]
    return [hits, np.array([found.size], np.uint32)]


@vy.kernel
def count_digits(text: vy.In[vy.u8], counts: vy.Out[vy.u32]):
    """How many characters of a block are no ends of lines."""
    block = vy.gid()
    if block < len(counts):
        total = 0
        for k in range(BLOCK):
            i = block * BLOCK + k
            if i < len(text) and text[i] > NEWLINE:
                total += 1
        counts[block] = total


@vy.kernel
def join_lines(text: vy.In[vy.u8], before: vy.In[vy.u32], digits: vy.Out[vy.u8]):
    """The characters that are no ends of lines, in their order."""
    block = vy.gid()
    if block < len(before):
        at = before[block]
        for k in range(BLOCK):
            i = block * BLOCK + k
            if i < len(text) and text[i] > NEWLINE:
                digits[at] = text[i]
                at += 1


@vy.func
def after_byte(state, byte):
    """The automaton of the word: how many of its letters the last bytes are."""
    if byte == 107:
        return 1
    if state == 1 and byte == 101:
        return 2
    return 3 if state == 2 and byte == 121 else 0


@vy.kernel
def map_of_chunk(plain: vy.In[vy.u8], count: vy.In[vy.u32], maps: vy.Out[vy.u32]):
    """The state behind a chunk for each state before it, eight bits each."""
    chunk = vy.gid()
    if chunk < len(maps):
        packed = 0
        for first in range(4):
            state = vy.u32(first)
            for k in range(BLOCK):
                i = chunk * BLOCK + k
                if i < count[0] // 4 * 3:
                    state = after_byte(state, vy.u32(plain[i]))
            packed = packed | state << (8 * vy.u32(first))
        maps[chunk] = packed


@vy.kernel(workgroup=1)
def states_before(maps: vy.InOut[vy.u32]):
    """The state before each chunk, from the maps of those before it."""
    if vy.gid() == 0:
        state = 0
        for k in range(len(maps)):
            packed = maps[k]
            maps[k] = state
            state = packed >> (8 * state) & 255


@vy.kernel
def accepts_of_chunk(
    plain: vy.In[vy.u8], count: vy.In[vy.u32], states: vy.In[vy.u32], found: vy.InOut[vy.u32]
):
    """How often the automaton accepts within a chunk, from the state before it."""
    chunk = vy.gid()
    if chunk < len(states):
        state, accepted = states[chunk], 0
        for k in range(BLOCK):
            i = chunk * BLOCK + k
            if i < count[0] // 4 * 3:
                state = after_byte(state, vy.u32(plain[i]))
                if state == 3:
                    accepted += 1
        found.atomic_add(0, accepted)


@vy.pipeline
def count_in_mime(text: vy.In[vy.u8]) -> vy.Array[vy.u32]:
    """Base64 in lines, then an automaton that goes on from chunk to chunk."""
    before = vy.scratch(vy.u32, -(-len(text) // 64))
    count, found = vy.scratch(vy.u32, 1), vy.scratch(vy.u32, 1)
    digits = vy.scratch(vy.u8, len(text))
    plain = vy.scratch(vy.u8, len(text) // 4 * 3)
    states = vy.scratch(vy.u32, -(-len(plain) // 64))
    count_digits(text, before)
    sum_before(before, count, grid=1)
    join_lines(text, before, digits, elements=len(before))
    decode_base64(digits, plain, elements=len(text) // 4)
    map_of_chunk(plain, count, states)
    states_before(states, grid=1)
    accepts_of_chunk(plain, count, states, found, elements=len(states))
    return found


def mime_text(n: int) -> Arguments:
    """Base64 in lines of 76 characters, with the word in it every so often."""
    random = np.random.default_rng(n)
    whole = -(-n // 3) * 3
    plain = np.frombuffer(b"keyab\n", np.uint8)[random.integers(0, 6, whole)].copy()
    plain[: whole // 3] = np.resize(np.frombuffer(WORD, np.uint8), whole // 3)
    return (np.frombuffer(base64.encodebytes(plain.tobytes()), np.uint8),)


def define_mime(text: Array) -> list[Array]:
    return [np.array([base64.b64decode(text.tobytes()).count(WORD)], np.uint32)]


CASES = (
    PipelineCase(
        2,
        "base64, filter, compaction",
        find_in_base64,
        lambda n: (base64_text(n), some_places(), n // 2),
        define_find,
    ),
    PipelineCase(3, "hex, UTF-16, histogram", count_in_hex, utf16_in_hex, define_count),
    PipelineCase(
        4,
        "percent, word, positions",
        find_in_percent,
        lambda n: (percent_text(n), n // 4 + 1),
        define_percent,
    ),
    PipelineCase(5, "base64 in lines, automaton", count_in_mime, mime_text, define_mime),
)
