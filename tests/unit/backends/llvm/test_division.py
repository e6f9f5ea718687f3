"""Division in vectors: the same as lane by lane, to the last number."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.ir import Program

TEXT = """program workgroup(64, 1, 1)
buffer a: read_only {type}[] @0
buffer b: read_only {type}[] @1
buffer whole: read_write {type}[] @2
buffer rest: read_write {type}[] @3
region "division" {{
    if gid.x < len(a) {{
        whole[gid.x] = a[gid.x] / {divisor}
        rest[gid.x] = a[gid.x] % {divisor}
    }}
}}
"""
COUNT = 1024


def numbers(name: str, seed: int) -> np.ndarray:
    """Numbers of all sizes, many of them at the ends of their range or a power of two."""
    dtype = np.dtype(name)
    bits = 8 * dtype.itemsize
    random = np.random.default_rng(seed)
    sizes = random.integers(0, bits, COUNT).astype(np.uint64)
    some = random.integers(0, 2**64, COUNT, np.uint64) >> np.uint64(64 - bits) >> sizes
    ends = [0, 1, 2, 3, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2**bits - 1, 2**bits - 2]
    some[::3] = random.choice(np.array(ends, np.uint64), len(some[::3]))
    return some.astype(f"u{dtype.itemsize}").view(dtype)


@pytest.mark.parametrize("name", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"])
def test_by_numbers_of_lanes(name: str) -> None:
    type_ = f"{name[0]}{8 * int(name[1])}"
    a, b = numbers(name, 1), numbers(name, 2)
    b[::7] = a[::7]
    # Quotients just below a whole number are where rounding would show.
    with np.errstate(over="ignore"):
        a[1::7] = a[1::7] // np.where(b[1::7] == 0, 1, b[1::7]) * b[1::7] - a.dtype.type(1)
    nothing = np.zeros(COUNT, a.dtype)
    inputs = {"a": a, "b": b, "whole": nothing, "rest": nothing.copy()}
    check(TEXT.format(type=type_, divisor="b[gid.x]"), inputs, (COUNT // 64, 1, 1))


@pytest.mark.parametrize(
    "divisor",
    [0, 1, 2, 3, 7, 10, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1]
    + [2**64 - 1, 2**64 - 2, 12345678901234567, 6148914691236517205, 6148914691236517206],
)
def test_by_one_number(divisor: int) -> None:
    a = numbers("u8", 3)
    steps = np.arange(100, dtype=np.uint64)
    a[:100] = steps * np.uint64(divisor)
    a[100:200] = a[:100] - np.uint64(1)
    a[200:300] = np.uint64(2**64 - 1) - steps
    nothing = np.zeros(COUNT, a.dtype)
    b = np.array([divisor], np.uint64)
    inputs = {"a": a, "b": b, "whole": nothing, "rest": nothing.copy()}
    check(TEXT.format(type="u64", divisor="b[0]"), inputs, (COUNT // 64, 1, 1))


@pytest.mark.parametrize(("type_", "divisor"), [("u32", "b[gid.x]"), ("u64", "b[0]")])
def test_no_vector_is_taken_apart(type_: str, divisor: str) -> None:
    text = source(Program.parse(TEXT.format(type=type_, divisor=divisor)), "llvm-raw")
    assert "div <" not in text.replace("fdiv", "")
    assert "rem <" not in text
