"""What is constant in a shader never trips the evaluation that WGSL does while compiling.

There, overflow and division by zero are errors; the language defines them.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.wgsl.drivers import DRIVERS, Driver
from tests.unit.backends.wgsl.running import check
from vyre.ir import Program

pytestmark = pytest.mark.device

BUFFERS = """program workgroup(64, 1, 1)
buffer few: read_only u32[6] @0
buffer y: read_write {0}[1] @1 output live_out
buffer tile: workgroup u32[4]
buffer unset: local bool[3]
buffer unset_words: local u32[3]
"""
EXPRESSIONS = {
    "length of a buffer": "len(few) - 100u32",
    "length of workgroup memory": "len(tile) - 100u32",
    "remainder by a length": "(len(few) - 6u32) + 1u32 % (len(few) - 6u32)",
    "lanes of a subgroup": "subgroup_size - 4000000000u32 + 4294967295u32 - subgroup_size",
    "remainder by false": "1u32 % u32(false)",
    "remainder by not true": "1u32 % u32(~true)",
    "remainder by two falses": "1u32 % u32(true & false)",
    "remainder by what was never written": "1u32 % u32(unset[gid.x % 3u32])",
    "words that were never written": "1u32 % unset_words[gid.x % 3u32]",
    "quotient by false": "7u32 / u32(false)",
    "difference of bools": "u32(false) - u32(true)",
    "remainder by a chosen zero": "gid.x % select(false, 3u32, 0u32)",
    "remainder by a lane": "gid.x % lane(vec2<u32>(0u32, 1u32), 0)",
    "remainder by a zero by bits": "gid.x % bitcast<u32>(0i32)",
    "remainder by a converted zero": "gid.x % u32(0u64)",
    "shift by a lot": "1u32 << 40u32",
    "sum": "4294967295u32 + 4294967295u32",
}
SIGNED = {
    "smallest by minus one": "-2147483648i32 / -1i32",
    "remainder by minus one": "-2147483648i32 % -1i32",
    "negation of the smallest": "-(-2147483648i32)",
    "sum of bools": "i32(true) + 2147483647i32",
    "remainder by false": "-5i32 % i32(false)",
}
FLOATS = {
    "quotient by false": "1.0f32 / f32(false)",
    "greatest and more": "3.4028235e38f32 * 2.0f32",
    "root of a negative bool": "sqrt(f32(false) - f32(true))",
}
CASES = [
    (element, name, text)
    for element, table in (("u32", EXPRESSIONS), ("i32", SIGNED), ("f32", FLOATS))
    for name, text in table.items()
]


def one_program(element: str) -> Program:
    """All expressions of a type in one program: each driver compiles it once."""
    texts = [text for kind, _, text in CASES if kind == element]
    lines = [f"y[{k}] = {text}" for k, text in enumerate(texts)]
    buffers = BUFFERS.format(element).replace("[1]", f"[{len(texts)}]")
    return Program.parse(buffers + "if gid.x == 0u32 {\n" + "\n".join(lines) + "\n}\n")


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
@pytest.mark.parametrize("element", ["u32", "i32", "f32"])
def test_constants_mean_what_they_mean_at_run_time(driver: Driver, element: str) -> None:
    check(driver, one_program(element), {"few": np.zeros(6, np.uint32)})
