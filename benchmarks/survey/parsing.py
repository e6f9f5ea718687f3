"""Parsing: numbers, dates and addresses in records, varints, CSV with quotes, JSON."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

from collections.abc import Sequence

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, zeros


def joined(records: Sequence[bytes]) -> tuple[Array, Array]:
    """The records one after the other, and where each of them begins; one more than there are."""
    start = np.zeros(len(records) + 1, np.uint32)
    start[1:] = np.cumsum([len(record) for record in records])
    return np.frombuffer(b"".join(records), np.uint8).copy(), start


@vy.kernel
def signed_integers(text: vy.In[vy.u8], start: vy.In[vy.u32], value: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(value):
        k = start[i]
        negative = text[k] == ord("-")
        if negative:
            k += 1
        total = 0
        while k < start[i + 1] and ord("0") <= text[k] <= ord("9"):
            total = 10 * total + vy.i32(text[k] - ord("0"))
            k += 1
        value[i] = -total if negative else total


def signed_integers_data(n: int) -> Arguments:
    rng = random()
    numbers = rng.integers(-(10**9), 10**9, n) // 10 ** rng.integers(0, 8, n)
    text, start = joined([b"%d," % number for number in numbers])
    return {"text": text, "start": start, "value": zeros(n, dtype=np.int32)}


@vy.kernel
def decimals(text: vy.In[vy.u8], start: vy.In[vy.u32], value: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(value):
        whole, scale, point = 0.0, 1.0, False
        for k in range(start[i], start[i + 1]):
            c = text[k]
            if c == ord("."):
                point = True
            elif ord("0") <= c <= ord("9"):
                whole = 10.0 * whole + vy.f32(c - ord("0"))
                if point:
                    scale *= 10.0
        value[i] = whole / scale


def decimals_data(n: int) -> Arguments:
    rng = random()
    wholes, parts = rng.integers(0, 1000, n), rng.integers(0, 10000, n)
    text, start = joined([b"%d.%04d\n" % pair for pair in zip(wholes, parts, strict=True)])
    return {"text": text, "start": start, "value": zeros(n)}


@vy.kernel
def ipv4_addresses(text: vy.In[vy.u8], start: vy.In[vy.u32], address: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(address):
        result: vy.u32 = 0
        part: vy.u32 = 0
        for k in range(start[i], start[i + 1]):
            if text[k] == ord("."):
                result = (result << 8) | part
                part = 0
            else:
                part = part * 10 + vy.u32(text[k] - ord("0"))
        address[i] = (result << 8) | part


def ipv4_addresses_data(n: int) -> Arguments:
    parts = random().integers(0, 256, (n, 4))
    text, start = joined([b"%d.%d.%d.%d" % tuple(row) for row in parts])
    return {"text": text, "start": start, "address": zeros(n, dtype=np.uint32)}


@vy.func
def two_digits(high, low):
    return vy.i32(high - ord("0")) * 10 + vy.i32(low - ord("0"))


@vy.kernel
def iso_dates(text: vy.In[vy.u8, 2], days: vy.Out[vy.i32]):
    """Days since 1970 of `2024-02-29`, in rows of ten characters."""
    i = vy.gid()
    if i < text.shape[0]:
        year = two_digits(text[i, 0], text[i, 1]) * 100 + two_digits(text[i, 2], text[i, 3])
        month, day = two_digits(text[i, 5], text[i, 6]), two_digits(text[i, 8], text[i, 9])
        if month <= 2:
            year -= 1
            month += 12
        era = year // 400
        of_era = year - era * 400
        of_year = (153 * (month - 3) + 2) // 5 + day - 1
        days[i] = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def iso_dates_data(n: int) -> Arguments:
    dates = np.datetime64("1900-01-01") + random().integers(0, 70000, n)
    text = np.frombuffer("".join(map(str, dates)).encode(), np.uint8).reshape(n, 10).copy()
    return {"text": text, "days": zeros(n, dtype=np.int32)}


@vy.kernel
def varints(data: vy.In[vy.u8], start: vy.In[vy.u32], value: vy.Out[vy.u64]):
    """LEB128, and zigzag undone."""
    i = vy.gid()
    if i < len(value):
        k = start[i]
        shift: vy.u64 = 0
        total: vy.u64 = 0
        while data[k] >= 128:
            total |= vy.u64(data[k] & 127) << shift
            shift += 7
            k += 1
        total |= vy.u64(data[k]) << shift
        value[i] = (total >> 1) ^ (0 - (total & 1))


def leb128(value: int) -> bytes:
    digits = bytearray()
    while value >= 128:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])


def varints_data(n: int) -> Arguments:
    rng = random()
    numbers = rng.integers(0, 2**63, n, dtype=np.uint64) >> rng.integers(0, 63, n, dtype=np.uint64)
    data, start = joined([leb128(int(number)) for number in numbers])
    return {"data": data, "start": start, "value": zeros(n, dtype=np.uint64)}


@vy.kernel
def csv_fields(text: vy.In[vy.u8], start: vy.In[vy.u32], fields: vy.Out[vy.u32]):
    """Fields of each record; commas between quotes do not count, a doubled quote stays inside."""
    i = vy.gid()
    if i < len(fields):
        count, quoted = 1, False
        for k in range(start[i], start[i + 1]):
            if text[k] == ord('"'):
                quoted = not quoted
            elif text[k] == ord(",") and not quoted:
                count += 1
        fields[i] = count


def csv_fields_data(n: int) -> Arguments:
    rng = random()
    words = [b"alpha", b"12.5", b'"a, b"', b'"say ""hi"", or not"', b"", b"x y z"]
    lines = [b",".join(words[w] for w in rng.integers(0, 6, rng.integers(1, 12))) for _ in range(n)]
    text, start = joined(lines)
    return {"text": text, "start": start, "fields": zeros(n, dtype=np.uint32)}


@vy.kernel
def json_depths(text: vy.In[vy.u8], start: vy.In[vy.u32], deepest: vy.Out[vy.i32]):
    """How deep each document is nested, or -1 where brackets do not match."""
    i = vy.gid()
    if i < len(deepest):
        depth, most = 0, 0
        inside, escaped = False, False
        for k in range(start[i], start[i + 1]):
            c = text[k]
            if inside:
                if escaped:
                    escaped = False
                elif c == ord("\\"):
                    escaped = True
                elif c == ord('"'):
                    inside = False
            elif c == ord('"'):
                inside = True
            elif c in b"[{":
                depth += 1
                most = max(most, depth)
            elif c in b"]}":
                depth -= 1
                if depth < 0:
                    break
        deepest[i] = most if depth == 0 else -1


def json_depths_data(n: int) -> Arguments:
    rng = random()
    pieces = [
        b'{"id": 17, "tags": ["a", "b\\"]"], "at": {"x": 1.5, "y": -2}}',
        b'[[1, 2], [3, [4, [5]]], "{[", {}]',
        b'{"text": "a \\\\ b", "none": null}',
        b"[1, 2, 3}]]",
        b'{"open": [1, 2',
    ]
    documents = [b",".join([pieces[p]] * int(k)) for p, k in rng.integers(0, 5, (n, 2)) + [0, 1]]
    text, start = joined(documents)
    return {"text": text, "start": start, "deepest": zeros(n, dtype=np.int32)}


CASES = (
    Case(
        "signed_integers",
        "parsing",
        [signed_integers],
        signed_integers_data,
        200_001,
        131,
        ["value"],
        ["value"],
    ),
    Case("decimals", "parsing", [decimals], decimals_data, 200_001, 131, ["value"], ["value"]),
    Case(
        "ipv4_addresses",
        "parsing",
        [ipv4_addresses],
        ipv4_addresses_data,
        200_001,
        131,
        ["address"],
        ["address"],
    ),
    Case("iso_dates", "parsing", [iso_dates], iso_dates_data, 500_001, 131, ["days"], ["days"]),
    Case("varints", "parsing", [varints], varints_data, 200_001, 131, ["value"], ["value"]),
    Case(
        "csv_fields", "parsing", [csv_fields], csv_fields_data, 50_001, 131, ["fields"], ["fields"]
    ),
    Case(
        "json_depths",
        "parsing",
        [json_depths],
        json_depths_data,
        20_001,
        131,
        ["deepest"],
        ["deepest"],
    ),
)
