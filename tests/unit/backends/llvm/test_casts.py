"""Floats that become integers: the nearest there are, as vectors and lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.host import Host
from vyre.ir import Program

X86 = Host("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2,+fma,+f16c")
ARM = Host("aarch64-unknown-linux-gnu", "generic", "")

INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
EDGES = (0.0, 0.5, 1.0, 1.5, 1e-40, 1e20, np.inf, np.nan)


def program(source: str, target: str) -> Program:
    return Program.parse(f"""
program workgroup(64, 1, 1)
buffer x: read_only f64[] @0
buffer y: read_write {target}[] @1
region "r" {{ if gid.x < len(x) {{ y[gid.x] = {target}({source}(x[gid.x])) }} }}""")


def values() -> np.ndarray:
    """Numbers around the ends of all integer types, and others."""
    ends = [
        2.0**bits + near for bits in (7, 8, 15, 16, 31, 32, 63, 64) for near in (-1, -0.5, 0, 1)
    ]
    some = np.array([*EDGES, *ends])
    steps = np.array([np.nextafter(np.float32(e), np.float32(0)) for e in ends], np.float64)
    return np.concatenate([some, -some, steps, -steps, -steps - 1])


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
def test_every_pair_saturates(source: str, target: str) -> None:
    x = values()
    kind = {"i": "int", "u": "uint"}[target[0]] + target[1:]
    made = [
        vy.run(program(source, target), {"x": x, "y": np.zeros(x.size, kind)}, device=device)["y"]
        for device in ("reference", "cpu")
    ]
    assert np.array_equal(*made)


def test_lanes_are_not_taken_one_by_one() -> None:
    for target in INTEGERS[:6]:
        assert "sat.v" not in generate(program("f32", target), X86).text
    assert "llvm.fptosi.sat.v" in generate(program("f32", "i32"), ARM).text
