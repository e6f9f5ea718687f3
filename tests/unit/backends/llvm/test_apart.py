"""Vectors that are taken apart lane by lane."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.ir import Program

TEXT = """program workgroup(64, 1, 1)
buffer a: read_only {element}[] @0
buffer out: read_write {element}[] @1
buffer counts: read_write u32[] @2
region "apart" {{
    let x = a[gid.x]
    let i = (gid.x * 7u32) % 100u32
    if x > {half} {{ {body} }}
}}
"""
BODIES = [
    "out[i] = x",
    "eval atomic_add(counts[i % 5u32], 3u32)",
    "counts[gid.x + 8u32] = atomic_add(counts[i % 3u32], i)",
    "counts[i] = select(x > {half}, 1u32, 0u32)",
]
TYPES = {"u32": np.uint32, "f32": np.float32, "u8": np.uint8, "i64": np.int64, "f16": np.float16}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("element", TYPES)
def test_lanes_are_written_to_memory_once(body: str, element: str) -> None:
    half = f"50{'.0' * element.startswith('f')}{element}"
    text = TEXT.format(element=element, half=half, body=body.format(half=half))
    # A lane that is not known takes all of the vector to memory each time.
    code = source(Program.parse(text))
    assert "%apart" in code
    assert not re.search(r"extractelement .*, i64 %", code)
    inputs = {
        "a": (np.arange(100) * 37 % 101).astype(TYPES[element]),
        "out": np.zeros(100, TYPES[element]),
        "counts": np.zeros(108, np.uint32),
    }
    for cpu in ("native", "generic"):
        check(text, inputs, (1, 1, 1), cpu)
