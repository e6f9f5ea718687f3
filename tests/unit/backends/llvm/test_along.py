"""Loops whose rounds run side by side, and loops whose rounds must not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check, differences, source
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.ir import Program

ROWS = """program workgroup(64, 1, 1)
buffer a: read_only {kind}[] @0
buffer out: read_write {result}[] @1
buffer bounds: uniform {counter}[2] @2
buffer extra: read_only u8[] @3
region "rows" {{
    if gid.x < len(out) {{
        let n = len(a) / len(out)
        let x = {first}
        let y = 5{result}
        for i in {span} {{
            {body}
        }}
        out[gid.x] = x + y
    }}
}}
"""
RANDOM = np.random.default_rng(11)
KINDS = {
    "u8": np.uint8,
    "i8": np.int8,
    "u16": np.uint16,
    "i16": np.int16,
    "u32": np.uint32,
    "i32": np.int32,
    "u64": np.uint64,
    "i64": np.int64,
}
AT = "a[gid.x * n + i]"
COUNT = f"x = x + u32({AT} == 3u8)"


def rows(
    body: str,
    kind: str = "u8",
    result: str = "u32",
    first: str = "",
    span: str = "0..n",
    counter: str = "u32",
) -> str:
    first = first or f"7{result}"
    return ROWS.format(kind=kind, result=result, body=body, first=first, span=span, counter=counter)


def arrays(
    kind: str = "u8", result: str = "u32", length: int = 150, lanes: int = 9, top: int = 8
) -> dict[str, Array]:
    low = 0 if kind.startswith("u") else -top
    return {
        "a": RANDOM.integers(low, top, length * lanes).astype(KINDS[kind]),
        "out": np.zeros(lanes, KINDS[result]),
        "bounds": np.array([3, length], np.uint32),
        "extra": RANDOM.integers(0, 8, 300, dtype=np.uint8),
    }


def is_along(text: str) -> bool:
    return "along" in source(Program.parse(text))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["x + v", "x - v", "v ^ x", "x * v", "x & v", "x | v"])
def test_integers_of_all_kinds(kind: str, step: str) -> None:
    text = rows(f"let v = {AT}\n x = {step}", kind, kind)
    assert is_along(text)
    check(text, arrays(kind, kind), (1, 1, 1))


@pytest.mark.parametrize("kind", ["u8", "i16", "u32", "i32", "i64"])
def test_extremes(kind: str) -> None:
    text = rows(f"x = min(x, {AT})\n y = max({AT}, y)", kind, kind)
    assert is_along(text)
    check(text, arrays(kind, kind), (1, 1, 1))


@pytest.mark.parametrize("length", [0, 1, 31, 32, 63, 64, 65, 128, 200])
@pytest.mark.parametrize("span", ["0..n", "bounds[0]..n", "5..n"])
def test_any_number_of_rounds(length: int, span: str) -> None:
    text = rows(COUNT, span=span)
    assert is_along(text)
    check(text, arrays(length=length), (1, 1, 1))


@pytest.mark.parametrize(
    "body",
    [
        f"x = select({AT} == 3u8, x + 1u32, x)",
        f"x = select({AT} < 3u8, x, x + 4294967295u32)",
        f"x = select({AT} < 3u8, 3u32 + x, x)\n y = y + u32({AT} != 0u8)",
        f"x = x + u32({AT} == 3u8)\n y = select({AT} > 5u8, y | (1u32 << i), y)",
        f"x = x + u32((i & 1u32) == 0u32 | {AT} == 2u8)",
        f"x = x + u32({AT}) * i",
        f"x = x + u32({AT} == extra[gid.x])",
        f"x = x + u32(extra[{AT}])",
    ],
)
def test_counts_and_choices(body: str) -> None:
    check(rows(body), arrays(), (1, 1, 1))
    check(rows(body), arrays(), (1, 1, 1), "generic")


@pytest.mark.parametrize("result", ["u8", "i8", "u16", "i64"])
def test_counts_wrap_as_their_type_does(result: str) -> None:
    text = rows(f"x = x + {result}({AT} < 7u8)", result=result)
    check(text, arrays(result=result, length=700), (1, 1, 1))


def test_the_last_lanes_reach_beyond_the_buffer() -> None:
    text = rows(COUNT.replace("gid.x * n", "gid.x * 200u32"))
    run_between_fences(text, arrays(), (1, 1, 1))
    check(text, arrays(), (1, 1, 1))


def test_between_forbidden_pages() -> None:
    run_between_fences(rows(COUNT), arrays(length=97), (1, 1, 1))


@pytest.mark.parametrize(
    "body",
    [
        "x = x * 3u32 + u32(a[gid.x * n + i])",
        "y = y + x\n x = x + u32(a[gid.x * n + i])",
        "x = u32(a[gid.x * n + i]) - x",
        "x = x + u32(a[gid.x * n + i * 2u32])",
        "x = x + u32(a[extra[i]])",
        "x = x + u32(a[gid.x * n + i])\n if x == 40u32 { break }",
        "x = x + u32(a[gid.x * n + i])\n out[gid.x] = x",
        "x = u32(a[gid.x * n + i])",
    ],
)
def test_rounds_that_depend_on_one_another(body: str) -> None:
    assert not is_along(rows(body))
    check(rows(body), arrays(), (1, 1, 1))


def test_floats_are_added_in_order() -> None:
    text = rows("x = x + a[gid.x * n + i]", "f32", "f32", "0.5f32").replace(" 5f32", " 5.0f32")
    assert not is_along(text)


def test_short_loops_are_left_to_lanes() -> None:
    assert not is_along(rows(COUNT, span="0..8"))
    assert is_along(rows(COUNT, span="0..40"))
    assert differences(Program.parse(rows(COUNT, span="0..40")), arrays(), (1, 1, 1)) == []
