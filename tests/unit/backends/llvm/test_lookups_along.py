"""Loops over small tables of bytes run along vectors, and rows end where loops leave a buffer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.backends.llvm.running import WIDE, check
from vyre.backends.llvm.emit.module import generate
from vyre.ir import Program

MASKS = """program workgroup(64, 1, 1)
buffer text: read_only u8[] @0
buffer table: read_only {element}[] @1
buffer mask: read_write u32[] @2
region "masks" {{
    if gid.x < len(mask) {{
        let found = 0u32
        for k in 0u32..{rounds}u32 {{
            let i = gid.x * {rounds}u32 + k
            {body}
        }}
        mask[gid.x] = found
    }}
}}
"""
BITS = "if table[text[i]] != 0{element} {{ found = found | 1u32 << k }}"
PAIRS = """if i + 1u32 < len(text) {{
                let both = table[text[i]] & table[text[i + 1u32]]
                if both != 0{element} {{ found = found | 1u32 << k }}
            }}"""
SUMS = "found = found + u32(table[text[i] & 15u8])"
CHAINED = "if table[table[text[i]]] != 0{element} {{ found = found | 1u32 << k }}"
RANDOM = np.random.default_rng(5)


def text_of(body: str, element: str, rounds: int) -> str:
    return MASKS.format(element=element, rounds=rounds, body=body.format(element=element))


def arrays(element: str, entries: int, lanes: int, length: int) -> dict[str, np.ndarray]:
    dtype = {"u8": np.uint8, "i8": np.int8}[element]
    table = RANDOM.integers(0, 256, entries, dtype=np.uint8)
    table[RANDOM.integers(0, 2, entries) > 0] = 0
    return {
        "text": RANDOM.integers(0, 256, length, dtype=np.uint8),
        "table": table.view(dtype),
        "mask": np.zeros(lanes, np.uint32),
    }


@pytest.mark.parametrize("body", [BITS, PAIRS, SUMS])
@pytest.mark.parametrize("entries", [0, 1, 64, 65, 128, 200, 256, 300])
def test_tables_of_any_length_along_loops(body: str, entries: int) -> None:
    for element in ("u8", "i8"):
        text = text_of(body, element, 32)
        check(text, arrays(element, entries, 130, 130 * 32), (3, 1, 1))


def test_a_lookup_in_a_lookup() -> None:
    check(text_of(CHAINED, "u8", 32), arrays("u8", 256, 70, 70 * 32), (2, 1, 1))


@pytest.mark.parametrize("missing", [0, 1, 31, 32, 33, 65, 4000])
def test_rows_end_before_the_edge_of_a_buffer(missing: int) -> None:
    """Lanes whose loops would leave the text run one by one, and only those."""
    for body in (BITS, PAIRS):
        given = arrays("u8", 256, 130, 130 * 32 - missing)
        check(text_of(body, "u8", 32), given, (3, 1, 1))


def test_lookups_are_shuffles_and_not_gathers() -> None:
    program = Program.parse(text_of(PAIRS, "u8", 32))
    permutes = replace(WIDE, features=f"{WIDE.features},+avx512vbmi")
    for host, wanted in ((WIDE, "avx2.pshuf.b"), (permutes, "vpermi2var.qi.512")):
        assert wanted in generate(program, host).text


def test_machines_without_shuffles_look_up_one_by_one() -> None:
    for body in (BITS, PAIRS, SUMS):
        given = arrays("u8", 200, 130, 130 * 32 - 33)
        check(text_of(body, "u8", 32), given, (3, 1, 1), "generic")
