"""Which lanes run together, and what a row of them needs no test for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.backends.llvm.running import source
from vyre.analysis.types import variable_types
from vyre.backends.llvm import host
from vyre.backends.llvm.analysis.parallel_regions import regions_in
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.region import RegionEmitter
from vyre.backends.llvm.emit.workgroup import Group
from vyre.backends.llvm.host import Host
from vyre.ir import Program

AVX2 = Host("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2,+fma,+f16c")
BUFFERS = """
buffer a: read_only f32[] @0
buffer b: read_only u8[] @1
buffer out: read_write f32[] @2
buffer n: uniform u32[1] @3
"""


def program_text(body: str, workgroup: str = "64, 1, 1", buffers: str = BUFFERS) -> str:
    return f'program workgroup({workgroup})\n{buffers}\nregion "r" {{\n{body}\n}}'


def rows(
    body: str, workgroup: str = "64, 1, 1", buffers: str = BUFFERS, target: Host = AVX2
) -> RegionEmitter:
    """The last stretch of work of a program, as it is for a machine with AVX2 if for no other."""
    program = Program.parse(f'program workgroup({workgroup})\n{buffers}\nregion "r" {{\n{body}\n}}')
    kernel = Kernel(program, target)
    kernel.types = variable_types(program)
    kernel.read_launch()
    kernel.workgroup_memory()
    group = Group(kernel, program.entry)
    return RegionEmitter(kernel, regions_in(group.sharing.work)[-1], group.crossing, {}, None, None)


def test_straight_code_takes_two_vectors() -> None:
    tile = rows("if gid.x < len(out) { out[gid.x] = a[gid.x] }").tile
    assert (tile.width, tile.jam) == (16, 1)


def test_lanes_that_part_in_a_loop_take_four() -> None:
    body = "let s = a[gid.x] while s < 9.0f32 { s = s * 2.0f32 } out[gid.x] = s"
    assert rows(body).tile.width == 32


def test_values_within_a_round_leave_room_for_one_vector() -> None:
    crowded = (
        "let x = a[gid.x] let y = a[gid.x + 1] let s = 0.0f32 let t = 0.0f32 let u = 0.0f32"
        " for k in 0..n[0] { let p = a[k] - x let q = a[k + 1] - y let r = p * q let v = r * r + p"
        " s = s + v * p t = t + v * q u = u + v * r } out[gid.x] = s + t + u"
    )
    assert rows(crowded).tile.width == 8
    free = "let s = 0.0f32 for k in 0..n[0] { s = s + a[k] * a[gid.x] } out[gid.x] = s"
    assert rows(free).tile.width == 32


def test_loads_that_depend_on_loads_run_as_scalars_in_lock_step() -> None:
    body = (
        "let s = 0 for k in 0..99 { s = u32(b[s * 256 + u32(b[gid.x * 99 + k])]) }"
        " out[gid.x] = f32(s)"
    )
    tile = rows(body).tile
    assert (tile.width, tile.axis, tile.lock_step) == (0, 0, True)
    assert tile.jam >= 4


def test_rounds_that_do_not_wait_for_one_another_are_not_run_in_lock_step() -> None:
    body = (
        "for k in 0..n[0] { let v = gid.x * 256 + u32(b[gid.x * n[0] + k])"
        " out[v] = out[v] + 1.0f32 }"
    )
    tile = rows(body).tile
    assert (tile.width, tile.jam, tile.peeled) == (0, 1, True)
    short = "let s = 0 for k in 0..6 { s = u32(b[s * 256 + gid.x * 99 + k]) } out[gid.x] = f32(s)"
    assert rows(short).tile.jam == 1


def test_divisions_are_worth_vectors() -> None:
    buffers = BUFFERS + "buffer digits: read_write u8[] @4"
    body = (
        "let v = u32(a[gid.x]) for k in 0..10 {"
        " digits[gid.x * 99 + 9 - k] = u8(48 + v % 10) v = v / 10 }"
    )
    assert rows(body, buffers=buffers).tile.width >= 8
    easy = body.replace("%", "&").replace("/", "^")
    assert not rows(easy, buffers=buffers).tile.width


def test_rows_that_share_loads_run_in_lock_step() -> None:
    body = (
        "let s = 0.0f32 for k in 0..n[0] { s = s + a[gid.y * n[0] + k] * a[k * n[0] + gid.x] }"
        " out[gid.y * n[0] + gid.x] = s"
    )
    tile = rows(body, "16, 16, 1").tile
    assert (tile.jam, tile.axis) == (4, 1)


def test_one_lane_runs_as_a_scalar() -> None:
    assert not rows("if lid.x == 0 { out[wid.x] = a[wid.x] }").tile.peeled


def test_guard_and_accesses_are_peeled() -> None:
    peeling = rows("if gid.x < len(out) { out[gid.x] = a[gid.x + 1] + a[2 * gid.x] }").peeling
    assert peeling.narrowed
    assert len(peeling.parts) == 1
    assert {stride for stride, _ in peeling.accesses.values()} == {1, 2}


def test_accesses_in_loops_are_proven_once_per_row() -> None:
    peeling = rows(
        "let s = 0.0f32 for k in 0..n[0] { s = s + a[k * n[0] + gid.x] } out[0] = s"
    ).peeling
    assert len(peeling.in_loops) == 1


def test_spans_that_cancel_out_are_not_asked_for() -> None:
    """The least place less the greatest counter is before the buffer, though no lane goes there."""
    body = "let s = 0.0f32 for k in 0..gid.x + 1 { s = s + a[gid.x - k] } out[gid.x] = s"
    found = rows(body)
    assert found.peeling.in_loops == {}
    assert found.tile.width == 32
    shared = "let s = 0.0f32 for k in 0..n[0] { s = s + a[gid.x - k] } out[gid.x] = s"
    assert len(rows(shared).peeling.in_loops) == 1


def test_a_lane_that_writes_elsewhere_is_not_left_out() -> None:
    peeling = rows("out[gid.x] = 1.0f32 if lid.x < 5 { out[gid.x + 9] = 2.0f32 }").peeling
    assert not peeling.narrowed
    assert peeling.parts == []


@pytest.mark.parametrize("cpu", ["native", "generic"])
def test_proven_accesses_leave_no_slow_path(cpu: str) -> None:
    text = source(
        Program.parse(
            f'program workgroup(64, 1, 1)\n{BUFFERS}\nregion "r" {{'
            " if gid.x < len(out) { out[gid.x] = a[gid.x] } }"
        ),
        "llvm-raw",
        cpu,
    )
    assert "inside." not in text
    assert "edge." not in text


def test_other_machines_have_other_widths() -> None:
    wide = Host("x86_64-unknown-linux-gnu", "x86-64-v4", "+avx512f,+avx512vl,+avx2")
    narrow = Host("aarch64-unknown-linux-gnu", "generic", "")
    assert (wide.vector_bits, AVX2.vector_bits, narrow.vector_bits) == (512, 256, 128)
    assert host.native().vector_bits >= 128


def test_what_is_put_together_lane_by_lane_takes_shorter_vectors() -> None:
    """Registers of 512 bits are for what lies side by side."""
    wide = replace(AVX2, features=f"{AVX2.features},+avx512f,+avx512vl")
    far = (
        "let i = (n[gid.x] * 13 ^ n[gid.x] >> 5) * 7 + 3 let s = a[i ^ i >> 7]"
        " let t = s * s + s * 3.0f32 + 1.0f32 let v = t * t + t * s + s"
        " out[gid.x] = v * t + v * s * 2.0f32 + t * 5.0f32"
    )
    near = " ".join(f"let v{n} = a[gid.x] * {n}.5f32 + a[gid.x + {n}]" for n in range(20))
    near += " out[gid.x] = " + " + ".join(f"v{n} * v{n}" for n in range(20))
    for body, times in ((near, 2), (far, 1)):
        usual, widest = (rows(body, target=target).tile.width for target in (AVX2, wide))
        assert widest == times * usual > 0
