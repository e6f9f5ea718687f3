"""Flat positions that kernels take apart into lines: fast inside of a line, and right anywhere."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, differences, launch, load, source
from vyre.backends.llvm.abi import SUBGROUP_LANES
from vyre.backends.llvm.analysis.delinearise import as_division, numbers_of_two_signs
from vyre.backends.reference import execute
from vyre.ir import Binary, BinOp, Builtin, BuiltinKind, DataType, Expr, Lit, Program

TEXT = """
program workgroup(64, 1, 1)
buffer a: read_only {element}[] @0
buffer out: read_write {element}[] @1
buffer n: uniform {type}[4] @2
region "r" {{
    let w = n[0]
    let h = n[1]
    let i = {type}(gid.x) + n[2]
{body}
}}"""

FLOORED = (
    "let m = i % w let q = i / w let s = (m != 0i32) & ((i ^ w) < 0i32)"
    " let x = select(s, m + w, m) let y = select(s, q - 1i32, q)"
)
"""What `%` and `//` of Python become."""
PLAIN = "let x = i % w let y = i / w"
SUM = "a[i - {one}] + a[i + {one}] + a[i - w] + a[i + w]"
INNER = (
    f"if (x > {{zero}}) & (y > {{zero}}) & (x < w - {{one}}) & (y < h - {{one}}) {{{{"
    f" out[i] = {SUM} }}}}"
)
BODIES = {
    "inner": INNER,
    "returned": (
        f"if (x == {{zero}}) | (y == {{zero}}) | (x == w - {{one}}) | (y >= h - {{one}})"
        f" {{{{ return }}}} out[i] = {SUM}"
    ),
    "other": (
        f"if (x != {{zero}}) & (y > {{zero}}) & (x < w - {{one}}) & (y < h - {{one}})"
        f" {{{{ out[i] = {SUM} }}}} else {{{{ out[i] = a[i] }}}}"
    ),
    "nested": (
        "if (y > {zero}) & (y < h) {{ let z = y * w if x > {zero} {{"
        " out[i] = a[z + x - {one}] }} else {{ out[i] = a[z] + 5{suffix} }} }}"
        " else {{ if y < h {{ out[i] = a[i] }} }}"
    ),
    "arms": "if y > {one} {{ out[i] = a[y * w + x] }} else {{ out[i] = a[x] + 7{suffix} }}",
    "chosen": (
        "let l = 0{suffix} if x > {zero} {{ l = a[i - {one}] }} else {{ l = 9{suffix} }}"
        " let u = 0{suffix} if y > {zero} {{ u = a[i - w] }} out[i] = l + u"
    ),
    "wrapped": (
        "let l = (x + w - {one}) % w let r = (x + {one}) % w"
        " if y < h {{ out[i] = a[y * w + l] + a[y * w + r] }}"
    ),
    "clamped": (
        "let l = max(x, {one}) - {one} let r = min(x + {one}, w - {one})"
        " out[i] = a[y * w + l] + a[y * w + r]"
    ),
    "values": "out[i] = {element}(x + y * 3{kind})",
    "in_place": "if (x > {zero}) & (y % 2{kind} == {one}) {{ out[i] = out[i] + a[x] }}",
    "planes": (
        "let p = w * h let z = i / p let v = (i / w) % h"
        " if (x > {zero}) & (v > {zero}) & (z < 3{kind}) {{"
        " out[i] = a[i - {one}] + a[(z * h + v - {one}) * w + x] }}"
    ),
    "every": "if x == {one} {{ out[i] = a[y] }}",
    "bounded": "if x < 3{kind} {{ out[i] = a[i] }} if x > 40{kind} {{ out[i] = a[y] + 2{suffix} }}",
}
KINDS = {"i32": (FLOORED, DataType.I32), "u32": (PLAIN, DataType.U32)}
LANES = 64 * 12
SIZES = [(50, 9), (47, 16), (80, 9), (64, 3), (100, 7), (300, 2), (7, 80), (1, 700), (5000, 3)]
STRANGE = [(0, 5), (50, 0), (0, 0), (1 << 31, 2), ((1 << 32) - 50, 7), ((1 << 31) - 1, 3)]
BEGINS = [0, 13, (1 << 31) - 200, (1 << 32) - 200]


def _text(name: str, kind: str, element: str = "u32") -> str:
    names = {
        "zero": f"0{kind}",
        "one": f"1{kind}",
        "kind": kind,
        "element": element,
        "suffix": element,
    }
    body = KINDS[kind][0] + "\n    " + BODIES[name].format(**names)
    return TEXT.format(type=kind, element=element, body=body)


def _inputs(width: int, height: int, begin: int, kind: str, element: str = "u32") -> dict[str, Any]:
    numbers = np.array([width, height, begin, 0], np.uint32)
    values = np.random.default_rng(5).integers(0, 256, 1000)
    return {
        "a": values.astype(np.uint8 if element == "u8" else np.uint32),
        "out": np.arange(900).astype(np.uint8 if element == "u8" else np.uint32),
        "n": numbers.view(np.int32) if kind == "i32" else numbers,
    }


@pytest.mark.parametrize("cpu", ["native", "generic"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BODIES)
def test_agrees_with_the_reference(name: str, kind: str, cpu: str) -> None:
    program = Program.parse(_text(name, kind))
    kernel = load(program, cpu)
    grid = (LANES // 64, 1, 1)
    cases = [(*size, 0) for size in SIZES] + [
        (*size, begin) for size in STRANGE for begin in (0, 7)
    ]
    cases += [(50, 9, begin) for begin in BEGINS]
    for width, height, begin in cases:
        inputs = _inputs(width, height, begin, kind)
        wanted = execute(program, inputs, grid, subgroup_width=SUBGROUP_LANES).outputs
        found, _ = launch(kernel, program, inputs, grid, {})
        what = f"{width} by {height} from {begin}"
        np.testing.assert_array_equal(found["out"], wanted["out"], what)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["inner", "other", "in_place", "chosen"])
@pytest.mark.parametrize("tier", ["quick", "full"])
def test_agrees_on_bytes_in_all_tiers(name: str, kind: str, tier: str) -> None:
    program = Program.parse(_text(name, kind, "u8"))
    for width, height in ((130, 6), (50, 9), (31, 20)):
        inputs = _inputs(width, height, 0, kind, "u8")
        assert differences(program, inputs, (LANES // 64, 1, 1), tier=tier) == []


def _along_lines(text: str) -> str:
    """The code for lines that are long enough."""
    return text.split("\nlines.")[1].split("\nlines.short")[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [n for n in BODIES if n != "every"])
def test_nothing_is_divided_or_gathered_inside_a_line(name: str, kind: str) -> None:
    text = _along_lines(source(Program.parse(_text(name, kind))))
    assert "load <32 x i32>" in text or name == "values"
    assert "fdiv <" not in text
    assert not re.search(r"insertelement <32 x i32> .*, i64 [1-9]|masked.gather", text)


@pytest.mark.parametrize("name", ["inner", "returned", "other", "chosen", "planes"])
def test_nothing_is_tested_inside_a_line(name: str) -> None:
    text = _along_lines(source(Program.parse(_text(name, "i32"))))
    vectors = text[text.index("load <32 x i32>") :]
    assert "icmp ult <32" not in vectors
    assert "@vyre.edge" not in text


def test_lines_of_a_known_length_need_no_other_code() -> None:
    body = "let x = gid.x % 1000 let y = gid.x / 1000 if x > 0 { out[gid.x] = a[gid.x - 1] + y }"
    text = source(Program.parse(TEXT.format(type="u32", element="u32", body=body)))
    assert "lines.short" not in text
    assert "udiv <" not in text


@pytest.mark.parametrize(("bits", "lines"), [(10, True), (5, False)])
def test_masks_and_shifts_are_remainders_and_quotients(bits: int, lines: bool) -> None:
    body = (
        f"let x = gid.x & {(1 << bits) - 1} let y = gid.x >> {bits}"
        f" if (x > 0) & (y > 0) {{ out[gid.x] = a[((y - 1) << {bits}) + x - 1] }}"
    )
    text = TEXT.format(type="u32", element="u32", body=body)
    assert ("line.end" in source(Program.parse(text))) is lines
    inputs = _inputs(1, 1, 0, "u32")
    check(text, {**inputs, "a": np.arange(5000, dtype=np.uint32)}, (60, 1, 1))


def test_lanes_that_may_not_run_twice_end_a_line_in_a_vector() -> None:
    assert "\nlate" in source(Program.parse(_text("in_place", "u32")))
    assert "\nlate" not in source(Program.parse(_text("inner", "u32")))


def test_a_negative_divisor_is_left_alone() -> None:
    body = "out[i] = a[i % -100i32]"
    text = TEXT.format(type="i32", element="u32", body=body)
    assert "line.end" not in source(Program.parse(text))
    check(text, _inputs(1, 1, 0, "i32"), (9, 1, 1))


def test_what_counts_as_a_division() -> None:
    x = Builtin(BuiltinKind.GLOBAL_ID, 0)
    masked = as_division(Binary(BinOp.AND, x, Lit(DataType.U32, 1023)))
    assert masked == Binary(BinOp.REM, x, Lit(DataType.U32, 1024))
    for mask in (1022, (1 << 32) - 1):
        assert as_division(Binary(BinOp.AND, x, Lit(DataType.U32, mask))) is None
    assert as_division(Binary(BinOp.SHR, x, Lit(DataType.U32, 40))) is None
    assert as_division(Binary(BinOp.ADD, x, x)) is None


def test_which_numbers_have_different_signs() -> None:
    one, other = Expr.var("p"), Expr.var("q")
    zero = Lit(DataType.I32, 0)
    differ = Binary(BinOp.LT, Binary(BinOp.XOR, one, other), zero)
    assert numbers_of_two_signs(Binary(BinOp.AND, one, differ)) == (one, other)
    assert numbers_of_two_signs(Binary(BinOp.OR, one, differ)) is None


MIXED = """program workgroup(64, 1, 1)
buffer first: read_only u32[] @0
buffer before: read_only u32[] @1
buffer out: read_write u32[] @2
buffer told: uniform u32[2] @3
region "rows of any width" {
    let words = told[0]
    if gid.x < len(out) {
        let node = gid.x / words
        let word = gid.x % words
        let into = 0u32
        for e in first[node]..first[node + 1] {
            into = into | before[e * words + word]
        }
        out[gid.x] = into
    }
}
"""


@pytest.mark.parametrize("words", [1, 7, 16, 31, 32, 33, 48, 63, 64, 65, 96, 128])
def test_lines_that_fill_vectors_and_lines_with_a_rest(words: int) -> None:
    rng, nodes = np.random.default_rng(words), 11
    first = np.sort(rng.integers(0, 30, nodes + 1)).astype(np.uint32)
    arrays = {
        "first": first,
        "before": rng.integers(0, 1 << 32, 30 * words, np.uint32, endpoint=False),
        "out": np.zeros(nodes * words, np.uint32),
        "told": np.array([words, 0], np.uint32),
    }
    check(MIXED, arrays, (-(-nodes * words // 64), 1, 1))
