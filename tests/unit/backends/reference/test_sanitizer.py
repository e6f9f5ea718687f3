"""The sanitizer finds each kind of defect, tells where, and is silent on correct programs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.reference.programs import codes, program, run, zeros
from vyre.backends.reference import ReferenceResult
from vyre.diagnostics import Severity
from vyre.diagnostics.codes import execution

OUT = "out: read_write u32[256] @0"
A = "a: read_only u32[256] @1"
TILE = "tile: workgroup u32[32]"
MINE = "mine: local u32[8]"
TMP = "tmp: scratch u32[256]"


def sanitized(body: str, grid: int = 4, **options: object) -> ReferenceResult:
    source = program(body, OUT, A, TILE, MINE, TMP, workgroup=(32, 1, 1))
    return run(source, grid, out=zeros(256), a=zeros(256), sanitize=True, **options)


RACES = {
    "write_write_one_statement": ("out[0] = gid.x", 0, 0),
    "write_write_two_statements": ("out[gid.x] = 1u32 out[gid.x ^ 1u32] = 2u32", 1, 0),
    "write_write_of_the_same_value": ("out[7] = 5u32", 0, 0),
    "read_after_write": ("tile[lid.x] = 1u32 out[gid.x] = tile[31u32 - lid.x]", 1, 0),
    "write_after_read": (
        "tile[lid.x] = lid.x barrier seq_cst let t = tile[31u32 - lid.x] tile[lid.x] = t",
        3,
        2,
    ),
    "write_after_read_by_two": (
        "tile[lid.x] = 1u32 barrier seq_cst let t = tile[0] "
        "if lid.x == 0u32 { tile[0] = t + 1u32 }",
        4,
        2,
    ),
    "in_one_statement": ("out[gid.x] = out[gid.x + 1u32]", 0, 0),
    "atomic_and_plain_write": ("eval atomic_add(out[gid.x], 1u32) out[gid.x ^ 1u32] = 2u32", 1, 0),
    "atomic_load_and_plain_write": (
        "let t = atomic_or(out[0], 0u32) if gid.x == 0u32 { out[0] = 1u32 }",
        2,
        0,
    ),
    "atomic_and_plain_read": ("eval atomic_add(out[0], 1u32) let t = out[0]", 1, 0),
    "between_workgroups_despite_a_barrier": (
        "out[gid.x] = 1u32 barrier seq_cst let t = out[(gid.x + 32u32) % 128u32]",
        2,
        0,
    ),
    "in_scratch": ("tmp[lid.x] = gid.x", 0, 0),
    "a_whole_round_later": (
        "for k in 0u32..3u32 { let t = tile[31u32 - lid.x] barrier seq_cst tile[lid.x] = t }",
        1,
        3,
    ),
    "touched_while_copied": (
        'async_load "t" tile[0u32] <- a[0u32], 32u32 tile[lid.x] = 5u32 async_wait "t"',
        1,
        0,
    ),
    "touched_while_copied_behind_a_barrier": (
        'async_load "t" tile[0u32] <- a[0u32], 32u32 barrier seq_cst '
        'out[gid.x] = tile[lid.x] async_wait "t"',
        2,
        0,
    ),
    "source_written_while_copied": (
        'tile[lid.x] = 1u32 barrier seq_cst async_store "t" out[wid.x * 32u32] <- tile[0u32], 32u32'
        ' tile[lid.x] = 2u32 async_wait "t"',
        3,
        2,
    ),
}


@pytest.mark.parametrize(("body", "second", "first"), RACES.values(), ids=RACES)
@pytest.mark.parametrize("schedule", [None, 1])
def test_data_races(body: str, second: int, first: int, schedule: int | None) -> None:
    result = sanitized(body, schedule=schedule)
    races = [finding for finding in result.findings if finding.code == "X101"]
    assert races
    race = races[0]
    assert race.severity is Severity.ERROR
    assert race.location.span is not None
    assert len(race.related) == 1
    assert race.fix
    if schedule is None:
        numbers = [_flat(body).index(location.path) for location in (race.location, *race.related)]
        assert numbers == [second, first]


def _flat(body: str) -> list[str]:
    """The paths of the statements in the order of the text."""
    from vyre.backends.reference.compile import compiled

    source = program(body, OUT, A, TILE, MINE, TMP, workgroup=(32, 1, 1))
    return [place.path for place in compiled(source, sanitize=True).places]


SILENT = {
    "own_elements": "out[gid.x] = a[gid.x] + 1u32 out[gid.x] = out[gid.x] * 2u32",
    "shared_reads": "out[gid.x] = a[0] + a[5]",
    "tile_with_barriers": """
tile[lid.x] = gid.x
barrier seq_cst
let t = tile[31u32 - lid.x]
barrier seq_cst
tile[lid.x] = t
barrier seq_cst
out[gid.x] = tile[(lid.x + 1u32) % 32u32]
""",
    "atomic_loads_and_plain_loads": "let t = atomic_or(out[0], 0u32) let u = out[0] + t",
    "atomic_loads_and_atomics": "let t = atomic_or(out[0], 0u32) eval atomic_add(out[0], t)",
    "atomics_alone": "eval atomic_add(out[0], 1u32) eval atomic_max(out[gid.x % 7u32], gid.x)",
    "atomics_then_read_behind_a_barrier": """
eval atomic_add(tile[lid.x % 4u32], 1u32)
barrier seq_cst
out[gid.x] = tile[lid.x % 4u32]
""",
    "grid_sync": """
out[gid.x] = gid.x
barrier grid_sync
let t = out[(gid.x + 32u32) % 128u32]
barrier grid_sync
out[gid.x] = t
""",
    "private_arrays": "mine[lid.x % 8u32] = 1u32 out[gid.x] = mine[lid.x % 8u32]",
    "one_invocation_writes_what_all_read_later": """
if lid.x == 0u32 { tile[0] = wid.x }
barrier seq_cst
out[gid.x] = tile[0]
""",
    "copies": """
async_load "t" tile[0u32] <- a[wid.x * 32u32], 32u32
out[gid.x] = a[gid.x]
async_wait "t"
out[gid.x] = out[gid.x] + tile[31u32 - lid.x]
""",
    "last_one_reads_all": """
tmp[gid.x] = gid.x
let before = atomic_add(out[255], 1u32, acq_rel)
if before == 127u32 {
    let sum = 0u32
    for k in 0u32..128u32 { sum = sum + tmp[k] }
    out[254] = sum
}
""",
    "last_workgroup_reads_all": """
tmp[gid.x] = gid.x
barrier seq_cst
if lid.x == 0u32 { tile[0] = atomic_add(out[255], 1u32, acq_rel) }
barrier seq_cst
let last = tile[0]
if last == 3u32 {
    let sum = 0u32
    for k in 0u32..4u32 { sum = sum + tmp[lid.x + k * 32u32] }
    out[lid.x] = sum
}
""",
    "division_by_something": "out[gid.x] = 100u32 / (gid.x + 1u32) + gid.x % 7u32",
    "tree_reduction": """
tile[lid.x] = a[gid.x]
barrier seq_cst
let s = 16u32
while s > 0u32 {
    if lid.x < s { tile[lid.x] = tile[lid.x] + tile[lid.x + s] }
    barrier seq_cst
    s = s / 2u32
}
if lid.x == 0u32 { out[wid.x] = tile[0] }
""",
    "uniform_return_before_a_barrier": "if wid.x > 1u32 { return } barrier seq_cst",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
@pytest.mark.parametrize("schedule", [None, 2])
def test_silent_on_correct_programs(body: str, schedule: int | None) -> None:
    assert [str(finding) for finding in sanitized(body, schedule=schedule).findings] == []


def test_relaxed_atomics_order_nothing() -> None:
    body = SILENT["last_one_reads_all"].replace(", acq_rel", "")
    assert codes(sanitized(body)) == ["X101"]


@pytest.mark.parametrize("schedule", [None, 3])
def test_barriers_not_reached_by_all(schedule: int | None) -> None:
    for body in (
        "if lid.x < 7u32 { barrier seq_cst }",
        "if lid.x == 3u32 { return } barrier seq_cst",
        "for k in 0u32..4u32 { if k == lid.x { break } barrier seq_cst }",
    ):
        result = sanitized(body, schedule=schedule)
        assert codes(result) == ["X102"]
        assert result.findings[0].severity is Severity.ERROR


OUTSIDE = {
    "load": ("out[gid.x] = a[gid.x + 200u32]", "reads a[256]", "(56, 0, 0)"),
    "store": ("out[gid.x + 130u32] = 1u32", "writes out[256]", "(126, 0, 0)"),
    "atomic": ("eval atomic_add(out[256u32], 1u32)", "changes out[256]", "(0, 0, 0)"),
    "negative": ("out[gid.x] = a[i32(gid.x) - 5i32]", "reads a[-5]", "(0, 0, 0)"),
    "workgroup": ("tile[lid.x + 1u32] = 1u32", "writes tile[32]", "(31, 0, 0)"),
    "private": ("mine[lid.x] = 1u32", "writes mine[8]", "(8, 0, 0)"),
}


@pytest.mark.parametrize(("body", "did", "who"), OUTSIDE.values(), ids=OUTSIDE)
def test_out_of_bounds(body: str, did: str, who: str) -> None:
    result = sanitized(body)
    assert codes(result) == ["X103"]
    finding = result.findings[0]
    assert finding.severity is Severity.WARNING
    assert did in finding.message
    assert who in finding.message
    assert finding.location.path == "entry[0]"


NEVER = {
    "workgroup": "out[gid.x] = tile[lid.x]",
    "scratch": "out[gid.x] = tmp[gid.x]",
    "private": "out[gid.x] = mine[3]",
    "half_of_it": "if lid.x < 16u32 { tile[lid.x] = 1u32 } out[gid.x] = tile[lid.x]",
    "by_a_copy": 'async_store "t" out[wid.x * 32u32] <- tile[0u32], 32u32 async_wait "t"',
    "after_a_grid_sync": "tile[lid.x] = 1u32 barrier grid_sync out[gid.x] = tile[lid.x]",
}


@pytest.mark.parametrize("body", NEVER.values(), ids=NEVER)
def test_reads_of_memory_never_written(body: str) -> None:
    result = sanitized(body)
    assert codes(result) == ["X104"]
    assert result.findings[0].severity is Severity.WARNING


def test_reads_of_an_output_never_written() -> None:
    source = program("o[gid.x] = o[gid.x] + 1u32", "o: read_write u32[8] @0 output live_out")
    assert codes(run(source, sanitize=True)) == ["X104"]
    counted = program("eval atomic_add(o[0], 1u32)", "o: read_write u32[8] @0 output live_out")
    assert codes(run(counted, sanitize=True)) == []


@pytest.mark.parametrize("dtype", ["u8", "i32", "u64"])
@pytest.mark.parametrize("op", ["/", "%"])
def test_division_by_zero(dtype: str, op: str) -> None:
    result = sanitized(f"out[gid.x] = u32(5{dtype} {op} {dtype}(gid.x % 4u32))")
    assert codes(result) == ["X105"]
    assert "(32 times in this run)" in result.findings[0].message
    assert codes(sanitized("let x = 1.0f32 / f32(gid.x)")) == []


def test_one_finding_for_each_place() -> None:
    result = sanitized("for k in 0u32..9u32 { out[k] = gid.x } out[1] = 1u32")
    places = [(finding.location.path, finding.related[0].path) for finding in result.findings]
    assert len(places) == len(set(places))
    assert len(result.findings) <= 3


def test_results_are_the_same_with_and_without() -> None:
    body = "tile[lid.x] = gid.x barrier seq_cst out[gid.x] = tile[31u32 - lid.x] / (gid.x % 3u32)"
    plain = program(body, OUT, A, TILE, MINE, TMP, workgroup=(32, 1, 1))
    expected = run(plain, 4, out=zeros(256), a=zeros(256)).outputs["out"]
    assert (sanitized(body).outputs["out"] == expected).all()


def test_findings_read_well() -> None:
    result = sanitized("tile[lid.x] = lid.x\nout[gid.x] = tile[31u32 - lid.x]")
    assert str(result.findings[0]) == "\n".join(
        [
            "error[X101]: tile[31] is written by invocation (31, 0, 0) and read by invocation "
            "(0, 0, 0), and nothing orders the two (128 times in this run)",
            "  --> <text>:10:1 (entry[1])",
            "  10 | out[gid.x] = tile[31u32 - lid.x]",
            "     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
            "  also <text>:9:1 (entry[0])",
            "  9 | tile[lid.x] = lid.x",
            "    | ^^^^^^^^^^^^^^^^^^^",
            "  fix: put a barrier between the two, or use atomics for both",
        ]
    )


@pytest.mark.parametrize("row", execution.CODES, ids=lambda row: row.code)
def test_every_code_has_an_example_that_triggers_it(row: execution.Code, capsys) -> None:
    from docs.said import found_by
    from vyre.diagnostics import Severity, VyreError
    from vyre.ir import Program

    if "import" in row.example and row.severity is Severity.WARNING:
        assert found_by(row.example) == ()
        assert f"warning[{row.code}]" in capsys.readouterr().out
        return
    if "import" in row.example:
        with pytest.raises(VyreError) as caught:
            exec(row.example, {})
        assert caught.value.code == row.code
        return
    source = Program.parse(row.example)
    given = {d.name: np.zeros(64, np.uint32) for d in source.buffers if d.is_host_input}
    found: list[str] = []
    try:
        options = {"fuel": 10_000} if row.code == "X003" else {"deadline": 0.2}
        found = codes(run(source, 2, sanitize=True, **given, **options))
    except VyreError as error:
        found = [error.code]
    assert row.code in found
