"""Structures of a size that is known when the kernel runs, of which a row touches one part."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences, source
from vyre.backends.llvm.compile import compile_program
from vyre.driver.backend import EmitOptions
from vyre.ir import Program

TEXT = """program workgroup(32, 4, 1)
buffer p: {access} {element}[] @0
buffer shape: uniform u32[2] @1
buffer out: read_write {element}[] @2
buffer n: uniform u32[2] @3
region "r" {{
    let size = shape[1]
    if (gid.y < n[0]) & (gid.x < n[1]) {{
{body}
    }}
}}
"""
INSIDE = "select((gid.x < shape[0]) & (gid.y < size), {index}, 4294967295)"
LOADS = {
    "checked": "out[gid.y * n[1] + gid.x] = p[" + INSIDE.format(index="gid.x * size + gid.y") + "]",
    "turned": "out[gid.y * n[1] + gid.x] = p[gid.y + size * gid.x]",
    "a literal more": "out[gid.y * n[1] + gid.x] = p[gid.x * size + gid.y + 1]",
    "a part that memory tells": "out[gid.y * n[1] + gid.x] = p[gid.x * size + n[0] - gid.y]",
    "two parts": "out[gid.y * n[1] + gid.x] = p[gid.x * size + gid.y] + p[gid.x * size]",
}
STORES = {
    "a store": "p[gid.x * size + gid.y] = out[gid.y * n[1] + gid.x]",
    "a checked store": "p["
    + INSIDE.format(index="gid.x * size + gid.y")
    + "] = out[gid.y * n[1] + gid.x]",
}
TYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32, "f64": np.float64}


def program(body: str, element: str) -> Program:
    access = "read_write" if "p[gid" in body.split("=")[0] or body.startswith("p[") else "read_only"
    return Program.parse(TEXT.format(body=body, element=element, access=access), "r")


@pytest.mark.parametrize("cpu", ["native", "generic"])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", {**LOADS, **STORES})
def test_agrees_with_the_reference(name: str, element: str, cpu: str) -> None:
    made = program({**LOADS, **STORES}[name], element)
    # The size, the rows, the lanes, elements that there are, and where the array seems to end.
    for size, rows, lanes, count, until in (
        (4, 4, 90, 360, 90),
        (3, 3, 90, 270, 90),
        (2, 2, 75, 150, 70),
        (8, 4, 90, 720, 90),
        (5, 5, 40, 200, 40),
        (4, 4, 90, 333, 90),
        (4, 7, 90, 360, 90),
        (3, 4, 90, 0, 90),
        (0, 4, 90, 90, 90),
        (1, 4, 90, 90, 90),
        (0x40000000, 4, 64, 200, 64),
    ):
        if name in STORES and rows > max(size, 1):
            # Lanes would store to the same places.
            continue
        if name in STORES and size in (0, 0x40000000):
            continue
        given = {
            "p": (np.arange(count) * 7 % 251).astype(TYPES[element]),
            "shape": np.array([until, size], np.uint32),
            "out": (np.arange(rows * lanes) * 3 % 247).astype(TYPES[element]),
            "n": np.array([rows, lanes], np.uint32),
        }
        assert differences(made, given, (3, 2, 1), cpu=cpu) == []


@pytest.mark.parametrize("name", {**LOADS, **STORES})
def test_there_is_code_for_usual_sizes(name: str) -> None:
    text = source(program({**LOADS, **STORES}[name], "u8"))
    assert text.count("usual.") >= 4


def test_lanes_are_sorted_in_registers() -> None:
    made = program(LOADS["checked"], "u8")
    for tier, both in (("auto", False), ("hot", True)):
        text = compile_program(made, "native", EmitOptions(tier)).sources["llvm-raw"]
        assert ("shufflevector" in text) == both
