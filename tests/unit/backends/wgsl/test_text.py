"""The WGSL that people read: nothing in it that says nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import vyre.examples
from tests.unit.backends.wgsl import tint
from vyre import compiler
from vyre.backends.wgsl.backend import WgpuBackend
from vyre.backends.wgsl.emit import emit_shader
from vyre.backends.wgsl.targets import PORTABLE
from vyre.cli.sources import program_from
from vyre.driver.backend import EmitOptions
from vyre.ir import Program
from vyre.opt import optimize

KERNELS = (
    *("bfs:distances", "decode_scan:decode", "decode_scan:scan", "histogram:histogram"),
    *("life:life", "mandelbrot:mandelbrot", "matmul:matmul", "nbody:step"),
    *("prefix_sum:prefix_sum", "radix_sort:radix_sort", "reduction:total", "saxpy:saxpy"),
    *("sha256:sha256", "generic:polynomial(power=3, x=f32, y=f32)"),
)


def body(text: str) -> list[str]:
    """The statements of the entry point."""
    found = re.search(r"^fn main\(.*?\{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return [line.strip() for line in found[1].splitlines() if line.strip()]


def shader(source: str) -> str:
    program = Program.parse(source)
    program.validate()
    return emit_shader(program, PORTABLE).text


def test_what_is_evaluated_once_has_one_name() -> None:
    text = shader("""program workgroup(32, 1, 1)
buffer x: read_write u32[] @0
let before = atomic_add(x[0], 1u32)
let all = subgroup_add(before)
x[gid.x] = before + all
""")
    assert [line.partition(" = ")[0] for line in body(text)][:2] == ["let before", "let all_2"]


def test_a_loop_up_to_a_variable_has_no_copy_of_it() -> None:
    text = shader("""program workgroup(1, 1, 1)
buffer x: read_write u32[] @0
let rounds = x[0]
for k in 0..rounds { x[k] = k }
""")
    assert "for (var k = 0u; k < rounds; k++) {" in body(text)
    changing = shader("""program workgroup(1, 1, 1)
buffer x: read_write u32[] @0
let rounds = x[0]
for k in 0..rounds { rounds = 1u32 }
""")
    assert "for (var k = 0u; k < k_stop; k++) {" in body(changing)


@pytest.mark.parametrize(
    ("count", "lines"),
    [
        (64, ["tile[local_index] = u32();"]),
        (5, ["if (local_index < 5u) {", "tile[local_index] = u32();", "}"]),
        (65, ["for (var k = local_index; k < 65u; k += 64u) {", "tile[k] = u32();", "}"]),
    ],
)
def test_workgroup_memory_is_cleared_in_the_simplest_way(count: int, lines: list[str]) -> None:
    text = shader(f"""program workgroup(64, 1, 1)
buffer x: read_write u32[] @0
buffer tile: workgroup u32[{count}]
tile[lid.x] = x[lid.x]
barrier
x[gid.x] = tile[lid.x + 1u32]
""")
    assert body(text)[: len(lines)] == lines


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_examples_become_shaders_without_clutter(kernel: str) -> None:
    name, _, call = kernel.partition(":")
    folder = Path(vyre.examples.__path__[0])
    program = optimize(program_from(f"{folder / name}.py:{call}"), target=PORTABLE).program
    for artifact in compiler.emit_segments(program, WgpuBackend(), PORTABLE, EmitOptions()):
        text = artifact.sources["wgsl"]
        assert tint.problems(text) is None
        assert "vyre.program.root" not in text
        named = re.findall(r"\b(?:let|var|fn|var<[^>]*>) (\w+)", text)
        unused = [word for word in named if word != "main" and not _is_used(word, text)]
        assert unused == []
        assert any(" = " in line or line.startswith(("store", "atomic")) for line in body(text))


def _is_used(word: str, text: str) -> bool:
    return len(re.findall(rf"\b{word}\b", text)) > 1
