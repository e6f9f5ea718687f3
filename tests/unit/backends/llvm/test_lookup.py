"""Small tables of bytes: every size, index and kind of lane gives what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.ir import Program

TEXT = """program workgroup(64, 1, 1)
buffer text: read_only u8[] @0
buffer table: read_only {element}[{declared}] @1
buffer out: read_write {element}[] @2
region "lookup" {{
    if gid.x < len(out) {{
        let c = text[gid.x]
        {body}
    }}
}}
"""
PLAIN = "out[gid.x] = table[{index}]"
BRANCHED = "if c > 77u8 {{ out[gid.x] = table[{index}] }} else {{ out[gid.x] = table[3u32] }}"
LOOP = """let sum = {zero}
        for i in 0u32..5u32 {{ sum = sum + table[u32(c) + i & 31u32] }}
        out[gid.x] = sum"""
RANDOM = np.random.default_rng(7)


def arrays(count: int, element: str, upper: int = 256) -> dict[str, np.ndarray]:
    dtype = np.dtype({"u8": "u1", "i8": "i1"}[element])
    return {
        "text": RANDOM.integers(0, 256, 1000, dtype=np.uint8),
        "table": RANDOM.integers(0, upper, count).astype(np.uint8).view(dtype),
        "out": np.zeros(1000, dtype),
    }


def text_of(body: str, index: str, element: str = "u8", declared: str = "") -> str:
    filled = body.format(index=index, zero=f"0{element}")
    return TEXT.format(element=element, declared=declared, body=filled)


@pytest.mark.parametrize("index", ["u32(c)", "u32(c & 15u8)", "u32(c) & 63u32", "u32(c % 20u8)"])
@pytest.mark.parametrize("count", [1, 5, 16, 20, 64, 100, 129, 256, 300])
def test_tables_of_any_length(index: str, count: int) -> None:
    """Entries that the buffer lacks are zero."""
    check(text_of(PLAIN, index), arrays(count, "u8"), (16, 1, 1))


@pytest.mark.parametrize("body", [BRANCHED, LOOP])
@pytest.mark.parametrize("element", ["u8", "i8"])
def test_tables_under_masks_and_in_loops(body: str, element: str) -> None:
    check(text_of(body, "u32(c)", element), arrays(200, element), (16, 1, 1))


@pytest.mark.parametrize("cpu", ["native", "generic"])
def test_tables_of_declared_length(cpu: str) -> None:
    for declared in (48, 256):
        program = text_of(PLAIN, "u32(c)", declared=str(declared))
        check(program, arrays(declared, "u8"), (16, 1, 1), cpu=cpu)


def test_empty_upper_halves() -> None:
    """A table for text, whose upper half is skipped."""
    given = arrays(256, "u8")
    given["table"][128:] = 0
    check(text_of(PLAIN, "u32(c)"), given, (16, 1, 1))


def test_shuffles_are_used() -> None:
    """Where the machine has them, no lane is looked up alone."""
    made = source(Program.parse(text_of(PLAIN, "u32(c)")))
    if "+avx2" in made or "pshuf" in made:
        assert "pshuf.b" in made
