"""Subgroups of every width by workgroup memory: as the reference has them, in registers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check
from vyre.backends.llvm.abi import SUBGROUP_LANES
from vyre.backends.llvm.passes.compact_leaders import CompactLeaders
from vyre.backends.llvm.passes.lower_subgroups import without_subgroups
from vyre.backends.reference import execute
from vyre.conform.suite import subgroups
from vyre.conform.suite.case import Trial
from vyre.ir import Program
from vyre.rewrite.unique_names import with_unique_names
from vyre.runtime.run import run
from vyre.target import Target

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)


def trials(width: int) -> Iterator[Trial]:
    """Every operation of the conformance suite, on few types."""
    for trial in subgroups.trials(Target("any", subgroup_width=width)):
        kept = " of " not in trial.name or trial.name.endswith(("u16", "f32"))
        if kept or "(8, 4, 2)" in trial.name or "(33, 1, 1)" in trial.name:
            yield trial


@pytest.mark.parametrize("width", WIDTHS)
def test_every_width(width: int) -> None:
    for trial in trials(width):
        program = with_unique_names(trial.program)
        lowered = without_subgroups(program, width)
        lowered.validate()
        expected = execute(program, trial.inputs, trial.grid, subgroup_width=width).outputs
        compacted = CompactLeaders().apply(lowered).program
        for other in {str(each): each for each in (lowered, compacted)}.values():
            found = execute(other, trial.inputs, trial.grid).outputs
            for name, want in expected.items():
                assert found[name].tobytes() == want.tobytes(), (trial.name, name)


LEADERS = """program workgroup({lanes}, 1, 1)
buffer a: read_only u8[] @0
buffer out: read_write u32[] @1
buffer total: read_write u32[1] @2
buffer count: read_write u32[] @3

let c = a[gid.x]
let b = ballot((c > 20u8) & (c < 90u8))
if subgroup_lane == 0 {{
    out[{at}] = lane(b, 0)
    eval atomic_add(total[0], popcount(lane(b, 1)))
}}
let sum = subgroup_add(u32(c))
if (subgroup_lane == 0) & (gid.x < 700) {{
    count[{at}] = sum
}}
out[gid.x + 1100] = sum ^ lane(b, 0)
"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lanes", [256, 96, 40, 7])
def test_leaders_on_the_machine(width: int, lanes: int) -> None:
    # Elsewhere leaders of two workgroups would write to one element.
    at = "gid.x" if lanes % width else "gid.x / subgroup_size"
    program = with_unique_names(Program.parse(LEADERS.format(lanes=lanes, at=at)))
    inputs = {
        "a": np.random.default_rng(lanes).integers(0, 128, 1000).astype(np.uint8),
        "out": np.zeros(2200, np.uint32),
        "total": np.zeros(1, np.uint32),
        "count": np.zeros(1100, np.uint32),
    }
    grid = (4, 1, 1)
    expected = execute(program, inputs, grid, subgroup_width=width).outputs
    lowered = without_subgroups(program, width)
    found = run(lowered, inputs, grid=grid, device="cpu")
    if width == SUBGROUP_LANES:
        found = run(program, inputs, grid=grid, device="cpu")
    for name, want in expected.items():
        assert found[name].tobytes() == want.tobytes(), name


PACKED = """program workgroup(64, 1, 1)
buffer a: read_only {element}[] @0
buffer n: uniform u32[1] @1
buffer out: read_write {word}[] @2

if gid.x < len(out) {{
    let m = {word}(gid.x) * 3{word}
    for k in {start}..{stop} {{
        {update}
    }}
    out[gid.x] = m
}}
"""
FLAG = "a[gid.x * 64 + u32(k)] > {limit}"
UPDATES = {
    "or": "m = m | ({word}({flag}) << {word}(k))",
    "exclusive or, the word last": "m = ({word}({flag}) << {word}(k)) ^ m",
    "sum, further on": "m = m + ({word}({flag}) << ({word}(k) + 5{word}))",
    "modulo a word": "m = m | ({word}({flag}) << ({word}(k) & 63{word}))",
    "under a condition": "if {flag} {{ m = m | (1{word} << {word}(k)) }}",
    "twice": "m = m | ({word}({flag}) << {word}(k))\nm = m ^ ({word}({flag}) << {word}(k + 1u32))",
    "the other way": "m = m | ({word}({flag}) << (31{word} - {word}(k)))",
    "another variable": "m = m | ({word}({flag}) << {word}(gid.x))",
    "by two": "m = m | ({word}({flag}) << ({word}(k) * 2{word}))",
    "of a fewer bits": "m = m | ({word}({flag}) << ({word}(k) & 3{word}))",
    "several bits": "m = m | (({word}({flag}) * 3{word}) << {word}(k))",
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("word", ["u8", "u32", "i64"])
@pytest.mark.parametrize(("start", "stop"), [("0u32", "64u32"), ("3u32", "n[0]")])
def test_bits_that_iterations_set(update: str, word: str, start: str, stop: str) -> None:
    element, limit = {"u8": ("u8", "9u8"), "u32": ("f32", "9.0f32"), "i64": ("i16", "9i16")}[word]
    body = UPDATES[update].format(word=word, flag=FLAG.format(limit=limit))
    text = PACKED.format(element=element, word=word, start=start, stop=stop, update=body)
    random = np.random.default_rng(5)
    kinds = {"u8": np.uint8, "f32": np.float32, "i16": np.int16, "u32": np.uint32, "i64": np.int64}
    for count in (90, 3):
        inputs = {
            "a": random.integers(0, 20, 64 * 80).astype(kinds[element]),
            "n": np.array([61], np.uint32),
            "out": np.zeros(count, kinds[word]),
        }
        check(text, inputs, (2, 1, 1))
