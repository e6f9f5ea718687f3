"""Workgroups whose loops over the grid run as one row, several rounds at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.unit.backends.llvm.running import differences, lowered_by, source
from vyre.backends.llvm.compile import compile_program
from vyre.backends.llvm.passes.grid_stride_loops import GridStrideLoops
from vyre.backends.llvm.passes.unroll_grid_stride import UnrollGridStride
from vyre.driver.backend import EmitOptions
from vyre.ir import Program

TEXT = """program workgroup({size}, 1, 1)
buffer a: read_only {element}[] @0
buffer b: read_only {element}[] @1
buffer n: uniform u32[2] @2
buffer out: read_write {element}[] @3
buffer flags: read_write u32[] @4
buffer tree: workgroup {element}[{size}]
region "r" {{
    let lane = lid.x
    let stop = n[0]
    let by = n[1]
{body}
}}
"""
TREE = """tree[lane] = s barrier acq_rel
let reach = size / 2
while reach != 0 {
    if lane < reach { tree[lane] = tree[lane] + tree[lane + reach] }
    barrier acq_rel
    reach = reach >> 1
}
if lane == 0 { out[wid.x] = tree[0] }"""
COUNT = "select((by != 0) & ({s} < stop), (stop - {s} - 1) / by + 1, 0)"


def over(start: str, body: str) -> str:
    return f"for k in 0..{COUNT.format(s=start)} {{ let i = {start} + k * by {body} }}\n"


SUM = "let s = zero\n" + over("gid.x", "s = s + a[i]")
WHILE = "let s = zero let k = gid.x while k < stop { s = s * two + a[k] k = k + by }\n"
ONE_ROW = {
    "sum": SUM + TREE,
    "in order": SUM.replace("s + a[i]", "s * two + a[i]") + TREE,
    "two buffers": SUM.replace("s + a[i]", "s + a[i] * b[i + 3]") + TREE,
    "greatest": SUM.replace("s + a[i]", "max(s, a[i])") + "out[gid.x] = s",
    "two sums": "let t = two "
    + SUM.replace("s = s", "t = t * two + b[i] s = s")
    + "out[gid.x] = s * t",
    "while": WHILE + TREE,
    "begins with memory": SUM.replace("zero", "b[gid.x]") + "out[gid.x] = s",
    "memory of the workgroup": "tree[lane] = a[gid.x]\n" + SUM + "out[gid.x] = s * tree[lane]",
    "two loops": SUM + over("gid.x", "s = s + b[i] * two") + TREE,
}
APART = {
    "places in the workgroup": "let s = zero\n" + over("lid.x", "s = s + a[i]") + TREE,
    "rounds that ask who they are for": SUM.replace("a[i]", "a[i + lane]") + TREE,
    "a value of the workgroup": "let o = wid.x * 3 " + SUM.replace("a[i]", "a[i + o]") + TREE,
    "memory in rounds": SUM.replace("s + a[i]", "s + a[i] + tree[lane]") + TREE,
}
NOT_TOGETHER = {
    "a store": SUM.replace("s = s", "out[i] = s s = s") + TREE,
    "nothing kept": over("gid.x", "out[i] = a[i]"),
    "a condition": SUM.replace("s = s + a[i]", "if a[i] > two { s = s + a[i] }") + TREE,
}
TYPES = {"u32": np.uint32, "f32": np.float32, "u8": np.uint8, "f64": np.float64}


def program(body: str, element: str, size: int) -> Program:
    suffix = {"u32": "", "f32": ".0f32", "u8": "u8", "f64": ".0f64"}[element]
    body = body.replace("zero", f"0{suffix}").replace("two", f"2{suffix}")
    body = body.replace("size", str(size))
    return Program.parse(TEXT.format(body=body, element=element, size=size), "r")


def inputs(
    element: str, size: int, groups: int, count: int, stop: int, by: int
) -> dict[str, NDArray[Any]]:
    data = (np.arange(count) * 7 % 251).astype(TYPES[element])
    return {
        "a": data,
        "b": data[::-1].copy(),
        "n": np.array([stop, by], np.uint32),
        "out": np.zeros(groups * size, TYPES[element]),
        "flags": np.zeros(groups, np.uint32),
    }


def launches(size: int) -> list[tuple[int, int, int, int]]:
    """Workgroups, elements, where loops stop, and steps."""
    return [
        (19, 19 * size * 9 - 5, 19 * size * 9 - 5, 19 * size),
        (2, 2 * size * 40 + 1, 2 * size * 40 + 1, 2 * size),
        (3, 24 * size, 20 * size, 47),
        (1, 30 * size, 64 * size, size),
        (5, 1000, 0xF0000000, 0x10000001),
        (5, 1000, 40 * size, 3 * size),
        (4, 0, 30 * size, size),
        (4, 10 * size, 10 * size, 0),
    ]


@pytest.mark.parametrize("cpu", ["native", "generic"])
@pytest.mark.parametrize("name", {**ONE_ROW, **APART})
def test_agrees_with_the_reference(name: str, cpu: str) -> None:
    body = {**ONE_ROW, **APART}[name]
    # A loop that never moves ends only where rounds are counted.
    last = -1 if name == "while" else None
    for element, size in (("u32", 64), ("f32", 128)):
        made = program(body, element, size)
        for groups, count, stop, by in launches(size)[:last]:
            given = inputs(element, size, groups, count, stop, by)
            assert differences(made, given, (groups, 1, 1), cpu=cpu) == []


@pytest.mark.parametrize("element", ["u8", "f64"])
def test_other_types(element: str) -> None:
    for name in ("in order", "two buffers"):
        made = program(ONE_ROW[name], element, 64)
        given = inputs(element, 64, 9, 9 * 64 * 12 + 5, 9 * 64 * 12 + 5, 9 * 64)
        assert differences(made, given, (9, 1, 1)) == []


def test_rows_of_workgroups_along_y() -> None:
    body = SUM.replace("s + a[i]", "s * two + a[i + wid.y]")
    made = program(body + "out[gid.x] = s", "u32", 64)
    one = inputs("u32", 64, 5, 20000, 19000, 5 * 64)
    assert "one.row" in source(made)
    body = body + "if wid.y == 2 { out[gid.x] = s }"
    assert differences(program(body, "u32", 64), one, (5, 3, 1)) == []


@pytest.mark.parametrize("name", ONE_ROW)
def test_these_are_one_row(name: str) -> None:
    text = source(program(ONE_ROW[name], "u32", 64))
    assert "one.row" in text
    assert "fours" in text


@pytest.mark.parametrize("name", APART)
def test_these_are_not(name: str) -> None:
    assert "one.row" not in source(program(APART[name], "u32", 64))


@pytest.mark.parametrize("name", NOT_TOGETHER)
def test_these_run_round_by_round(name: str) -> None:
    made, facts = lowered_by(GridStrideLoops(), program(NOT_TOGETHER[name], "u32", 64))
    assert facts.trip_counts
    assert lowered_by(UnrollGridStride(), made, facts=facts)[0] is made


def test_who_launches_first_does_not_wait_for_it() -> None:
    made = program(ONE_ROW["sum"], "u32", 64)
    for tier, both in (("auto", False), ("hot", True)):
        text = compile_program(made, "native", EmitOptions(tier)).sources["llvm-raw"]
        assert ("one.row" in text) == ("fours" in text) == both
