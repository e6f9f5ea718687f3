"""Workgroups that go through large buffers side by side."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences, launch, load, source
from vyre.backends.llvm.compile import compile_program
from vyre.backends.llvm.emit import workgroup_batch as groups_abreast
from vyre.driver.backend import EmitOptions
from vyre.ir import Program

TEXT = """program workgroup({size}, 1, 1)
buffer a: read_only {element}[] @0
buffer b: read_only {element}[] @1
buffer out: read_write {element}[] @2
buffer flags: read_write u32[] @3
buffer tree: workgroup {element}[{size}]
region "r" {{
    let lane = lid.x
    let rounds = (len(a) + num_workgroups.x * {size} - 1) / (num_workgroups.x * {size})
{body}
}}
"""
TREE = """tree[lane] = s barrier acq_rel
for step in 0..8 {
    let reach = 128 >> step
    if lane < reach { tree[lane] = tree[lane] + tree[lane + reach] }
    barrier acq_rel
}
if lane == 0 { out[wid.x] = tree[0] }"""
SUM = """let s = zero
for k in 0..rounds {
    let i = (wid.x * rounds + k) * size + lane
    if i < len(a) { s = s + a[i] }
}
"""
ABREAST = {
    "sum": SUM + TREE,
    "a second loop": SUM + "for k in 0..3 { if gid.x < k * 100 { s = s * two } }" + TREE,
    "a reach that changes": SUM
    + """tree[lane] = s barrier acq_rel
    let reach = 64
    while reach != 0 {
        if lane < reach { tree[lane] = tree[lane] + tree[lane + reach] }
        barrier acq_rel
        reach = reach >> 1
    }
    if lane == 0 { out[wid.x] = tree[0] }""",
    "two buffers": SUM.replace("s + a[i]", "s + a[i] * b[i + 3]") + TREE,
    "uneven": SUM.replace("0..rounds", "0..rounds + wid.x % 3") + TREE,
    "kept": SUM.replace("zero", "b[gid.x]") + "out[gid.x] = s",
    "workgroup memory": "tree[lane] = b[gid.x]\n"
    + SUM.replace("s = s + a[i]", "tree[lane] = tree[lane] * two + a[i]")
    + "barrier acq_rel out[gid.x] = tree[size - 1 - lane] + s",
}
WAITS = "if lane == 0 { while (wid.x > 0) & (atomic_add(flags[wid.x - 1], 0) == 0) { } } "
GOES = " if lane == 0 { eval atomic_add(flags[wid.x], 1) }"
ALONE = {
    "few rounds": SUM.replace("0..rounds", "0..3") + TREE,
    "an atomic": SUM.replace("s = s + a[i]", "s = s + a[i] eval atomic_add(flags[0], 1)") + TREE,
    "waits before": WAITS + SUM + TREE + GOES,
    "returns": "if gid.x == 77 { return } " + SUM + "out[gid.x] = s",
    "writes": SUM.replace("s = s + a[i]", "s = s + a[i] out[i] = s"),
    "a stop that others change": SUM.replace("0..rounds", "0..flags[wid.x]") + TREE,
}


def program(body: str, element: str, size: int) -> Program:
    two = {"u32": "2", "f32": "2.0f32", "u8": "2u8"}[element]
    zero = {"u32": "0", "f32": "0.0f32", "u8": "0u8"}[element]
    body = body.replace("zero", zero).replace("two", two).replace("size", str(size))
    return Program.parse(TEXT.format(body=body, element=element, size=size), "r")


@pytest.mark.parametrize("name", ABREAST)
@pytest.mark.parametrize(("element", "size"), [("u32", 256), ("f32", 128), ("u8", 256)])
def test_agrees_with_the_reference(
    name: str, element: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups_abreast, "LARGE", 0)
    made = program(ABREAST[name], element, size)
    assert "abreast.round" in source(made)
    dtype = {"u32": np.uint32, "f32": np.float32, "u8": np.uint8}[element]
    for groups, count in ((7, 7 * size * 3 - 5), (1, size), (4, 1000), (9, 0)):
        data = (np.arange(count) * 7 % 251).astype(dtype)
        inputs = {
            "a": data,
            "b": data[::-1].copy(),
            "out": np.zeros(groups * size, dtype),
            "flags": np.zeros(groups, np.uint32),
        }
        assert differences(made, inputs, (groups, 1, 1)) == []


@pytest.mark.parametrize("name", ALONE)
def test_others_run_alone(name: str) -> None:
    assert "abreast.round" not in source(program(ALONE[name], "u32", 256))


def test_workgroups_that_wait_afterwards_get_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups_abreast, "LARGE", 0)
    made = program(SUM + "out[gid.x] = s barrier acq_rel " + WAITS + GOES, "u32", 256)
    assert "abreast.round" in source(made)
    data = np.arange(5000, dtype=np.uint32)
    inputs = {"a": data, "b": data, "out": data, "flags": np.zeros(9, np.uint32)}
    outputs, outcome = launch(load(made), made, inputs, (9, 1, 1), {})
    assert outcome is None
    assert outputs["flags"].tolist() == [1] * 9


def test_who_launches_first_does_not_wait_for_a_second_version() -> None:
    made = program(ABREAST["sum"], "u32", 256)
    for tier, both in (("auto", False), ("hot", True)):
        text = compile_program(made, "native", EmitOptions(tier)).sources["llvm-raw"]
        assert ("abreast.round" in text) == both
