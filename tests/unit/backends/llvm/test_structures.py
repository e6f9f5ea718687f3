"""Structures of several elements, one per lane: read and written in pieces, right at every edge."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.analysis.types import variable_types
from vyre.backends.llvm.analysis.affine_forms import LinearForms
from vyre.backends.llvm.rewrites.unroll_struct_loops import StoresLast, short_loops_of
from vyre.ir import Let, Program, Region, Store
from vyre.ir.walk import walk_stmts, without_blocks

HEAD = """program workgroup(64, 1, 1)
buffer a: read_only {read}[] @0
buffer o: read_write {written}[] @1
buffer n: uniform u32[3] @2
region "r" {{
    {body}
}}
"""


def _text(body: str, read: str = "f32", written: str = "f32") -> str:
    return HEAD.format(body=body, read=read, written=written)


def _run(
    body: str, size: int, lanes: int, read: str = "f32", written: str = "f32", cpu: str = "native"
) -> None:
    """Against the reference, with lengths that end within, before and behind a structure."""
    random = np.random.default_rng(size)
    kinds = {"f32": np.float32, "u8": np.uint8, "u16": np.uint16, "f64": np.float64, "u32": "u4"}
    for missing in (1, -3):
        count = max(size * lanes - missing, 1)
        inputs = {
            "a": random.integers(0, 200, count).astype(kinds[read]),
            "o": random.integers(0, 200, count + missing // 2).astype(kinds[written]),
            "n": np.array([size, lanes, 3], np.uint32),
        }
        check(_text(body, read, written), inputs, (2, 1, 1), cpu)


@pytest.mark.parametrize("cpu", ["native", "generic"])
@pytest.mark.parametrize("dtype", ["u8", "u16", "f32", "f64"])
@pytest.mark.parametrize("size", [4, 5, 8, 9, 17])
def test_all_parts_are_read_and_written(size: int, dtype: str, cpu: str) -> None:
    body = f"""if gid.x < n[1] {{
        for k in 0..{size} {{ o[gid.x * {size} + k] = a[gid.x * {size} + {size - 1} - k] }}
    }}"""
    _run(body, size, 100, dtype, dtype, cpu)


@pytest.mark.parametrize("size", [5, 6, 8, 12])
def test_some_parts_are_written_and_the_others_stay(size: int) -> None:
    body = f"""if gid.x < n[1] {{
        for k in 1..{size - 1} {{ o[gid.x * {size} + k] = a[gid.x * {size} + k] + 1.0f32 }}
    }}"""
    _run(body, size, 77)


def test_parts_that_were_stored_are_read_again() -> None:
    body = """if gid.x < n[1] {
        let p = gid.x * 8
        o[p] = a[p + 1]
        o[p + 1] = o[p] + o[p + 2]
        o[p + 2] = o[p + 1] * 2.0f32
        o[p + 3] = o[p + 3] + o[p + 7]
        o[p + 2] = a[p]
        for k in 0..7 { o[p + 7 - k] = o[p + 6 - k] + a[p + k] }
    }"""
    _run(body, 8, 90)


def test_indices_that_wrap_are_outside() -> None:
    body = """for k in 0..5 {
        o[gid.x * 5 + k] = a[gid.x * 5 + k + 4294967290] + a[(gid.x + 4294967295) * 5 + k]
    }"""
    _run(body, 5, 100)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (3, 3), (2, 5)])
def test_matrices_of_any_size(rows: int, columns: int) -> None:
    at = "select((i < n[0]) & (k < n[2]), (gid.x * n[0] + i) * n[2] + k, 4294967295u32)"
    body = f"""if gid.x < n[1] {{
        for i in 0..{rows} {{
            for k in 0..{columns} {{ o[{at}] = a[{at}] * 2.0f32 + 1.0f32 }}
        }}
    }}"""
    random = np.random.default_rng(rows)
    for told in ((rows, columns), (rows + 1, columns), (3, 2), (5, 7)):
        inputs = {
            "a": random.random(rows * columns * 80, np.float32),
            "o": random.random(rows * columns * 80, np.float32),
            "n": np.array([told[0], 80, told[1]], np.uint32),
        }
        check(_text(body), inputs, (2, 1, 1))


def test_pieces_are_read_and_written_at_once() -> None:
    body = "if gid.x < n[1] { for k in 0..8 { o[gid.x * 8 + k] = a[gid.x * 8 + k] * 2.0f32 } }"
    code = source(Program.parse(_text(body)))
    assert "load <4 x float>" in code
    assert "store <4 x float>" in code


def _loops(body: str) -> list[str]:
    program = Program.parse(_text(body))
    types = variable_types(program)
    found = short_loops_of(program, program.entry, {}, frozenset(), types)
    return [] if found is None else sorted(found.iterations)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("for k in 0..5 { o[gid.x * 5 + k] = 1.0f32 }", ["k"]),
        ("for k in 0i32..3i32 { o[gid.x * n[0] + u32(k)] = 1.0f32 }", ["k"]),
        ("for j in 0..4 { for k in 0..4 { o[gid.x * 16 + j * 4 + k] = 1.0f32 } }", ["j", "k"]),
        ("for k in 0..5 { o[k * 64 + gid.x] = 1.0f32 }", []),
        ("for k in 0..5 { o[gid.x] = a[k] }", []),
        ("let s = 0 for k in 0..5 { s = u32(a[gid.x * 5 + k + s]) }", []),
        ("for k in 0..17 { o[gid.x * 17 + k] = 1.0f32 }", []),
        ("for k in 0..n[0] { o[gid.x * 5 + k] = 1.0f32 }", []),
        ("for k in 0..5 { o[gid.x * 5 + k] = 1.0f32 if a[k] > 1.0f32 { break } }", []),
        ("for j in 0..n[0] { for k in 0..4 { o[gid.x * 16 + j * 4 + k] = 1.0f32 } }", []),
    ],
)
def test_loops_over_parts_are_written_out(body: str, wanted: list[str]) -> None:
    assert _loops(body) == wanted


def _order(body: str) -> str:
    """What comes of statements: a letter for each value, a digit for each store."""
    program = Program.parse(_text(body))
    types = dict(variable_types(program))
    moving = StoresLast(LinearForms(program, program.entry, {}, frozenset(), types), types)
    (region,) = moving.body(program.entry)
    assert isinstance(region, Region)
    letters: dict[type, str] = {Let: "l", Store: "s"}
    return "".join(letters.get(type(s), "x") for s in without_blocks(region.body))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("o[gid.x * 2] = a[0] let v = a[1] o[gid.x * 2 + 1] = v", "lllss"),
        ("o[gid.x * 2] = a[0] let v = o[gid.x * 2 + 1] o[gid.x * 2 + 1] = v", "llls" + "s"),
        ("o[gid.x * 2] = a[0] let v = o[gid.x * 2] o[gid.x * 2 + 1] = v", "lslls"),
        ("o[gid.x * 2] = a[0] let v = o[gid.x * 3 + 1] o[gid.x * 2 + 1] = v", "lslls"),
        ("o[gid.x] = a[0] o[gid.x] = a[1] o[gid.x] = 2.0f32", "lslss"),
        (
            "o[gid.x] = a[0] if a[0] > 1.0f32 { o[gid.x + 1] = 2.0f32 } o[gid.x] = 3.0f32",
            "lsxs",
        ),
    ],
)
def test_stores_move_as_far_as_nothing_sees_them(body: str, wanted: str) -> None:
    assert _order(body) == wanted


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("(gid.x * 4 + 1) * 4 + 2", "gid.x * 4 * 4 + 6"),
        ("3 + gid.x * 2 + 4294967295", "gid.x * 2 + 2"),
        ("gid.x * 10 + 9 - 4", "gid.x * 10 + 5"),
        ("gid.x * 10 + 3 - 4", "gid.x * 10 + 3 - 4"),
        ("((gid.x + 3) << 2) + u32(5i32)", "(gid.x << 2) + 17"),
        ("gid.x + 0", "gid.x"),
        ("2 * 3 + (1 << 4)", "22"),
    ],
)
def test_literals_are_put_together(written: str, wanted: str) -> None:
    def expanded(text: str) -> str:
        program = Program.parse(_text(f"let v = {text} o[v] = 1.0f32"))
        (let,) = (s for s in walk_stmts(program.entry) if isinstance(s, Let))
        return str(LinearForms(program, (), {}, frozenset(), {}).expand(let.value))

    assert expanded(written) == expanded(wanted)


@pytest.mark.parametrize(
    "index", ["k / 1i32", "k << 1i32", "k % 3i32", "i32(gid.x * 4) + k / 2i32"]
)
def test_counters_with_a_sign_are_part_of_any_index(index: str) -> None:
    """Such a kernel did not compile: numbers without a sign stood in for the counter."""
    body = f"for k in 0i32..4i32 {{ o[gid.x] = o[gid.x] + a[{index}] }}"
    _run(body, 4, 100)
