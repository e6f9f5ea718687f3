"""How runs end otherwise than by finishing: traps, deadlines, fuel; and what they print."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.unit.backends.reference.programs import program, run, u32, zeros
from vyre.diagnostics import CapabilityError, DeadlineError, DispatchError, TrapError

OUT = "out: read_write u32[] @0"
FOREVER = "while true { out[gid.x] = out[gid.x] + 1u32 }"


def trapped(body: str, grid: int = 3, **options: object) -> TrapError:
    source = program(body, OUT, "tile: workgroup u32[8]")
    with pytest.raises(TrapError) as caught:
        run(source, grid, out=zeros(64), **options)
    return caught.value


def test_a_trap_tells_tag_and_invocation() -> None:
    error = trapped('if gid.x == 13u32 { trap "unlucky" }')
    assert (error.code, error.tag, error.invocation) == ("X001", "unlucky", (13, 0, 0))
    assert "unlucky" in str(error)
    assert "(13, 0, 0)" in str(error)
    assert error.location.path == "entry[0].then[0]"
    assert error.location.span is not None


def test_the_first_by_invocation_not_by_statement() -> None:
    error = trapped('if gid.x == 9u32 { trap "early" } if gid.x == 4u32 { trap "late" }')
    assert (error.tag, error.invocation) == ("late", (4, 0, 0))


def test_the_first_by_barriers_before_that() -> None:
    body = """
if gid.x == 3u32 { out[0] = 1u32 }
if wid.x == 2u32 & lid.x == 5u32 { trap "before" }
barrier seq_cst
if gid.x == 0u32 { trap "after" }
"""
    error = trapped(body)
    assert (error.tag, error.invocation) == ("before", (21, 0, 0))


@pytest.mark.parametrize("workgroups", [2, 9000])
def test_the_order_does_not_depend_on_how_many_run_together(workgroups: int) -> None:
    body = f"""
if wid.x == 0u32 & lid.x == 0u32 {{ out[0] = 1u32 }}
barrier seq_cst
if gid.x == 1u32 {{ trap "second" }}
barrier seq_cst
if gid.x == {workgroups * 8 - 1}u32 {{ trap "third" }}
"""
    assert trapped(body, workgroups).tag == "second"
    last = body.replace(
        "barrier seq_cst",
        'if gid.x == num_workgroups.x * 8u32 - 1u32 { trap "first" } barrier seq_cst',
        1,
    )
    assert trapped(last, workgroups).tag == "first"


def test_a_trap_before_a_grid_sync_comes_first() -> None:
    body = """
if gid.x == 20u32 { trap "before" }
barrier grid_sync
if gid.x == 0u32 { trap "after" }
"""
    assert trapped(body).tag == "before"


@pytest.mark.parametrize("seed", range(4))
def test_a_schedule_reports_the_same_trap(seed: int) -> None:
    body = 'barrier seq_cst if gid.x > 10u32 { trap "some" } barrier seq_cst trap "all"'
    assert trapped(body, schedule=seed).invocation == (11, 0, 0)


def test_a_trap_is_the_reason_even_when_others_wait_forever() -> None:
    body = 'if gid.x == 0u32 { trap "gone" } while true { }'
    assert trapped(body, deadline=0.2).tag == "gone"


def test_resume_does_nothing() -> None:
    source = program('if gid.x > 99u32 { trap "t" } resume "t" out[0] = 3u32', OUT)
    assert run(source, out=zeros(1)).outputs["out"].tolist() == [3]


@pytest.mark.parametrize(
    "body",
    [
        FOREVER,
        "while true { }",
        "while true { continue }",
        "for k in 0u64..0xffffffffffffffffu64 { }",
    ],
)
def test_a_deadline_is_kept_and_the_process_goes_on(body: str) -> None:
    start = time.monotonic()
    with pytest.raises(DeadlineError) as caught:
        run(program(body, OUT), 100, out=zeros(800), deadline=0.2)
    assert time.monotonic() - start < 2
    assert caught.value.code == "X002"
    assert isinstance(caught.value, TimeoutError)
    assert run(program("out[0] = 1u32", OUT), out=zeros(1)).outputs["out"].tolist() == [1]


def test_fuel_is_counted_not_timed() -> None:
    with pytest.raises(DeadlineError) as caught:
        run(program(FOREVER, OUT), out=zeros(8), fuel=10_000)
    assert caught.value.code == "X003"
    source = program("out[gid.x] = 1u32", OUT)
    assert run(source, out=zeros(8), fuel=8).executed == 8
    with pytest.raises(DeadlineError):
        run(source, out=zeros(8), fuel=7)


def test_print_in_lane_order() -> None:
    source = program(
        'if gid.x > 5u32 { print "at", gid.x * 2u32, gid.x > 6u32, 1.5f16, v[0] }',
        OUT,
        "v: read_only vec2<u32>[] @1",
    )
    printed = run(source, 2, out=zeros(1), v=u32(3, 4).reshape(1, 2)).printed
    assert [line.invocation[0] for line in printed] == [*range(6, 16)]
    assert printed[0].values == (12, False, 1.5, (3, 4))
    assert str(printed[1]) == "(7, 0, 0) at: 14, True, 1.5, (3, 4)"


def test_print_without_values() -> None:
    assert [
        str(p) for p in run(program('print "here"', OUT, workgroup=(1, 1, 1)), out=zeros(1)).printed
    ] == ["(0, 0, 0) here"]


def test_statements_of_extensions_are_refused() -> None:
    with pytest.raises(CapabilityError) as caught:
        run(program('opaque some.thing hex"00" ()', OUT), out=zeros(1))
    assert caught.value.code == "X004"


@pytest.mark.parametrize("width", [0, 3, 256, -1])
def test_impossible_subgroup_widths(width: int) -> None:
    with pytest.raises(DispatchError) as caught:
        run(program("out[0] = 1u32", OUT), out=zeros(1), subgroup_width=width)
    assert caught.value.code == "X006"


@pytest.mark.parametrize("grid", [(-1, 1, 1), (1 << 30, 1, 1)])
def test_impossible_grids(grid: tuple[int, int, int]) -> None:
    with pytest.raises(DispatchError) as caught:
        run(program("out[0] = 1u32", OUT), grid, out=zeros(1))
    assert caught.value.code == "D010"


def test_no_warning_escapes_a_run() -> None:
    body = "out[gid.x] = f32(1.0f64 / f64(gid.x)) * 3e38f32 + sqrt(-1.0f32) + f32(u32(nan_f32))"
    result = run(program(body, "out: read_write f32[] @0"), out=zeros(8, np.float32))
    assert np.isnan(result.outputs["out"]).all()
