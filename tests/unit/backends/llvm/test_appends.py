"""Loops that append what passes a test, in order: in registers where the machine can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.backends.llvm.running import WIDE, Array, check
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.backends.llvm.emit.module import generate
from vyre.ir import Program

PROGRAM = """program workgroup(32, 1, 1)
buffer a: read_only {element}[] @0
buffer starts: read_only u32[] @1
buffer out: read_write {element}[] @2
buffer places: read_write u64[] @3
buffer ends: read_write u32[] @4

if gid.x < len(starts) {{
    let m = starts[gid.x]
    for k in gid.x * 77..min(gid.x * 77 + 77, len(a)) {{
        let v = a[k]
        {body}
    }}
    ends[gid.x] = m
}}
"""
ELEMENTS = {
    "u8": np.uint8,
    "i16": np.int16,
    "u32": np.uint32,
    "i64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
}
APPEND = "if v > 5{e} {{ out[m] = v + 1{e} m = m + 1u32 }}"
APPENDS = {
    "values": APPEND,
    "values and places": "if v > 5{e} {{ out[m] = v places[m] = u64(k) m = m + 1u32 }}",
    "and a sum beside it": APPEND + " s = s + k",
    "two bases": "if v > 5{e} {{ out[m + 7u32] = v places[m + gid.x] = u64(k) m = m + 1u32 }}",
    "all": "if k < 100000u32 {{ out[m] = v m = m + 1u32 }}",
    "behind a base": "if v > 5{e} {{ out[gid.x * 3u32 + m] = v m = m + 1u32 }}",
    "none": "if v > 99{e} {{ out[m] = v m = m + 1u32 }}",
}
OTHERS = {
    "the counter is read": "if v > 5{e} {{ out[m] = v + {element}(m) m = m + 1u32 }}",
    "what was appended is read": "if v + out[2] > 5{e} {{ out[m] = v m = m + 1u32 }}",
    "two appends to one array": APPEND + " if v > 9{e} {{ out[m] = v m = m + 1u32 }}",
    "steps of two": "if v > 5{e} {{ out[m] = v m = m + 2u32 }}",
    "before the place": "if v > 5{e} {{ m = m + 1u32 out[m] = v }}",
    "something else otherwise": "if v > 5{e} {{ out[m] = v m = m + 1u32 }} else {{ m = m + 0u32 }}",
    "a place that moves": "if v > 5{e} {{ out[m + k] = v m = m + 1u32 }}",
    "a place that is loaded": "if v > 5{e} {{ out[m + starts[0]] = v m = m + 1u32 }}",
    "each place twice": "if v > 5{e} {{ out[m + m] = v m = m + 1u32 }}",
}


def text_of(element: str, body: str) -> str:
    suffix = f".0{element}" if element.startswith("f") else element
    body = body.replace("{e}", suffix)
    text = PROGRAM.format(element=element, body=body.format(element=element))
    if "s = s" in text:
        text = text.replace("let m =", "let s = 0u32 let m =").replace("= m\n}", "= m + s\n}")
    return text


def inputs(element: str, room: int = 2000, first: int = 0) -> dict[str, Array]:
    """Each invocation has 80 elements to append to; the last ones lie out of bounds."""
    starts = first + 80 * np.arange(20, dtype=np.uint64)
    return {
        "a": np.random.default_rng(3).integers(0, 12, 20 * 77 - 9).astype(ELEMENTS[element]),
        "starts": (starts % (1 << 32)).astype(np.uint32),
        "out": np.zeros(room, ELEMENTS[element]),
        "places": np.zeros(room, np.uint64),
        "ends": np.zeros(20, np.uint32),
    }


def is_packed(text: str) -> bool:
    host = replace(WIDE, features=f"{WIDE.features},+avx512vbmi,+avx512vbmi2")
    return "vector.compress" in generate(Program.parse(text), host).text


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("body", APPENDS)
def test_elements_that_pass_are_appended(body: str, element: str) -> None:
    text = text_of(element, APPENDS[body])
    assert is_packed(text) or (element == "u8" and "places[m" in text)
    for room in (2000, 333, 0):
        run_between_fences(text, inputs(element, room), (1, 1, 1))
        check(text, inputs(element, room), (1, 1, 1))
    check(text, inputs(element), (1, 1, 1), "generic")


@pytest.mark.parametrize("first", [(1 << 32) - 40, (1 << 32) - 85, (1 << 32) - 7])
@pytest.mark.parametrize("body", ["values and places", "two bases"])
def test_a_counter_that_wraps_around(first: int, body: str) -> None:
    text = text_of("u32", APPENDS[body])
    check(text, inputs("u32", first=first), (1, 1, 1))


@pytest.mark.parametrize("body", OTHERS)
def test_what_is_no_append(body: str) -> None:
    text = text_of("u32", OTHERS[body])
    assert not is_packed(text)
    arrays = inputs("u32")
    if "out[2]" in text or "+ 2" in text:
        arrays["starts"] = arrays["starts"][:1]
    check(text, arrays, (1, 1, 1))
