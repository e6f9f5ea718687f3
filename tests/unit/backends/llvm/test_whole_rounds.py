"""Loops of which all lanes of a workgroup have the first rounds."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences, lowered_by, source
from vyre.backends.llvm import host as hosts
from vyre.backends.llvm.analysis.affine_coefficient import coefficient
from vyre.backends.llvm.passes.split_full_iterations import SplitFullIterations
from vyre.backends.reference import execute
from vyre.ir import Expr, Program, Var

TEXT = """program workgroup({size}, 1, 1)
buffer a: read_only {element}[] @0
buffer out: read_write {element}[] @1
buffer told: uniform u32[3] @2
buffer tree: workgroup {element}[{size}]
region "sums" {{
    let n = told[0]
    let s = a[0]
    let t = a[0]
    for k in 0..told[1] {{
        let i = {place}
        if {guard} {{ {work} }}
    }}
    tree[lid.x] = s
    barrier acq_rel
    out[gid.x] = tree[{size} - 1 - lid.x] + s + t
}}
"""
PLACE = "(wid.x * told[1] + k) * {size} + lid.x + told[2]"
SUM = "s = s + a[i]"
AVX512 = hosts.Host("x86_64-unknown-linux-gnu", "znver4", "+avx2,+avx512f,+avx512vl")
AVX2 = hosts.Host("x86_64-unknown-linux-gnu", "haswell", "+avx2")
NEON = hosts.Host("aarch64-unknown-linux-gnu", "generic", "")


class Parts(TypedDict, total=False):
    place: str
    guard: str
    work: str


def program(
    place: str = PLACE,
    guard: str = "i < n",
    work: str = SUM,
    size: int = 64,
    element: str = "u32",
) -> Program:
    place = place.format(size=size)
    text = TEXT.format(place=place, guard=guard, work=work, size=size, element=element)
    return Program.parse(text, "sums")


def is_rewritten(made: Program, host: hosts.Host = AVX512) -> bool:
    return lowered_by(SplitFullIterations(), made, host)[0] is not made


TAKEN: dict[str, Parts] = {
    "plain": {},
    "the other way round": {"guard": "n > i"},
    "the length": {"guard": "i < len(a)"},
    "shifted": {"place": "((wid.x * told[1] + k) << 6) + lid.x"},
    "two sums": {"work": SUM + " t = t + a[i] * 3"},
    "an index beside it": {"work": "s = s + a[i + 5]"},
}
LEFT: dict[str, Parts] = {
    "rounds apart": {"place": "(wid.x * told[1] + k) * 65 + lid.x"},
    "lanes apart": {"place": "k * 64 + lid.x * 2"},
    "backwards": {"place": "told[2] - k * 64 + lid.x"},
    "a place that may change": {"place": "k * 64 + lid.x + out[3]"},
    "an end that lanes differ in": {"guard": "i < n + lid.x"},
    "another condition": {"guard": "i != n"},
    "an atomic": {"work": "s = s + atomic_add(out[i], 1)"},
    "a store": {"work": "s = s + a[i] out[i] = s"},
}


@pytest.mark.parametrize("name", TAKEN)
def test_such_loops_are_rewritten(name: str) -> None:
    assert is_rewritten(program(**TAKEN[name]))


@pytest.mark.parametrize("name", LEFT)
def test_others_are_left_alone(name: str) -> None:
    assert not is_rewritten(program(**LEFT[name]))


def test_half_of_the_registers_must_hold_the_sums() -> None:
    for host, most in ((AVX512, 256), (AVX2, 64), (NEON, 64)):
        assert is_rewritten(program(size=most), host)
        assert not is_rewritten(program(size=2 * most), host)
        both = program(work=SUM + " t = t + s", size=most)
        assert not is_rewritten(both, host)


@pytest.mark.parametrize("name", TAKEN)
def test_the_reference_sees_no_difference(name: str) -> None:
    made = program(**TAKEN[name])
    other, _ = lowered_by(SplitFullIterations(), made, AVX512)
    for n, rounds, offset in adversarial(64):
        inputs = given(n, rounds, offset, 64)
        before = execute(made, inputs, (3, 1, 1), subgroup_width=1).outputs["out"]
        after = execute(other, inputs, (3, 1, 1), subgroup_width=1).outputs["out"]
        assert after.tolist() == before.tolist(), (n, rounds, offset)


@pytest.mark.parametrize("element", ["u32", "f32", "u64", "i32", "u8"])
@pytest.mark.parametrize("size", [32, 64, 256])
def test_the_cpu_agrees(element: str, size: int) -> None:
    made = program(size=size, element=element)
    for n, rounds, offset in adversarial(size):
        inputs = given(n, rounds, offset, size, element)
        for cpu in ("native", "generic"):
            assert differences(made, inputs, (3, 1, 1), cpu=cpu, tier="hot") == []


@pytest.mark.parametrize("cpu", ["native", "generic"])
def test_what_lanes_have_summed_up_stays_in_registers(cpu: str) -> None:
    """Whatever the machine: as many lanes as half of its registers hold."""
    host = hosts.native() if cpu == "native" else hosts.generic()
    vectors = host.vector_registers // 2
    made = program(size=vectors * host.vector_bits // 32)
    blocks = source(made, "llvm", cpu).split("\n\n")
    rounds = [b for b in blocks if "store <" not in b and b.count(" = load <") >= vectors // 2]
    assert rounds


def adversarial(size: int) -> list[tuple[int, int, int]]:
    """Lengths, rounds, and where the first lane begins: at edges, and where numbers wrap."""
    top = (1 << 32) - 1
    return [
        (5000, 7, 0),
        (3 * size, 3, 0),
        (3 * size - 1, 1, 0),
        (size, 4, 0),
        (size - 1, 4, 0),
        (0, 4, 0),
        (100, 0, 0),
        (top, 3, 5),
        (top, 3, top - size),
        (size * 2 + 1, 3, top - size + 1),
        (70, 3, 1 << 31),
    ]


def given(
    n: int, rounds: int, offset: int, size: int, element: str = "u32"
) -> dict[str, np.ndarray]:
    kinds = {"u32": np.uint32, "f32": np.float32, "u64": np.uint64, "i32": np.int32, "u8": np.uint8}
    data = np.arange(min(n, 21 * size + 50)) * 7 % 251
    return {
        "a": data.astype(kinds[element]),
        "out": np.zeros(3 * size, kinds[element]),
        "told": np.array([n, rounds, offset], np.uint32),
    }


def test_coefficients() -> None:
    k, n = Var("k"), Var("n")
    four = Expr.u32(4)
    assert coefficient(k, k) == 1
    assert coefficient(n, k) == 0
    assert coefficient(k * four + n, k) == 4
    assert coefficient((k + n) * four - k, k) == 3
    assert coefficient(n - (k << four), k) == (1 << 32) - 16
    assert coefficient(k * n, k) is None
    assert coefficient(k * k, k) is None
    assert coefficient(four << k, k) is None
