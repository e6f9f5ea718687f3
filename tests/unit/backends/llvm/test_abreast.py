"""Loops whose rounds store side by side, and loops whose rounds see one another."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check, differences, source
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.ir import Program

TEXT = """program workgroup(64, 1, 1)
buffer a: read_only {kind}[] @0
buffer out: read_write {kind}[] @1
buffer last: read_write {kind}[] @2
buffer told: uniform u32[2] @3
region "rows" {{
    let h = told[0]
    let w = told[1]
    if gid.x < h {{
        let x = {first}
        let y = {first}
        for j in 0..w {{
            let i = gid.x * (w + 2) + 1 + j
            {body}
        }}
        last[gid.x] = x + y
    }}
}}
"""
OUT = frozenset({"out"})
RANDOM = np.random.default_rng(17)
KINDS = {
    "u8": np.uint8,
    "i16": np.int16,
    "u64": np.uint64,
    "u32": np.uint32,
    "i64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
}
APART = {
    "plain": "out[i] = a[i] + a[i]",
    "in place": "out[i] = out[i] * a[i]",
    "after the store": "out[i] = a[i] + out[i] out[i] = out[i] * a[i]",
    "a variable of the round": "let t = a[i] t = t + a[j] out[i] = t * t",
    "a gathered result": "out[i] = a[i] + a[0] x = max(x, a[i])",
    "neighbours": "out[i] = a[i] + a[i + 1]",
    "a choice": "out[i] = select(a[i] < a[0], a[i], out[i])",
    "a block": "{ let t = a[i] * a[i] { out[i] = t } }",
}
TOGETHER = {
    "the round before": "out[i] = out[i - 1] + a[i]",
    "the round after": "out[i] = out[i + 1] + a[i]",
    "stores that meet": "out[i] = a[i] out[i + 1] = a[j]",
    "one element": "out[i] = a[i] x = x + out[gid.x * (w + 2) + 3]",
    "pairs of elements": "out[i - (j & 1)] = a[i]",
    "a prefix without this round": "out[i] = x x = x + a[i]",
    "a prefix of some rounds": "x = select(a[i] > 9u32, x + a[i], x) out[i] = x",
    "what is no prefix": "x = x + a[i] x = x * 3u32 out[i] = x",
    "a chain": "x = x * 3u32 + a[i] out[i] = x",
    "a result as an index": "x = x + a[i] out[i] = a[gid.x * (w + 2) + (x & 31)]",
    "an end": "out[i] = a[i] if j == 40 { break }",
    "a guess": "out[gid.x * (w + 2) + (u32(a[i]) & 31)] = a[i]",
}


def rows(body: str, kind: str = "u32") -> str:
    first = "1.0" if kind.startswith("f") else "1"
    return TEXT.format(body=body, kind=kind, first=first + kind)


def arrays(kind: str = "u32", width: int = 75, height: int = 9, extra: int = 0) -> dict[str, Array]:
    count = (width + 2) * height + extra
    return {
        "a": RANDOM.integers(0, 50, count).astype(KINDS[kind]),
        "out": RANDOM.integers(0, 50, count).astype(KINDS[kind]),
        "last": np.zeros(height, KINDS[kind]),
        "told": np.array([height, width], np.uint32),
    }


def is_along(text: str) -> bool:
    return "along" in source(Program.parse(text))


@pytest.mark.parametrize("kind", ["u8", "i64", "f32"])
@pytest.mark.parametrize("name", APART)
def test_rounds_that_have_nothing_to_do_with_one_another(name: str, kind: str) -> None:
    text = rows(APART[name], kind)
    assert is_along(text)
    check(text, arrays(kind), (1, 1, 1))


@pytest.mark.parametrize("name", TOGETHER)
def test_rounds_that_see_one_another(name: str) -> None:
    text = rows(TOGETHER[name])
    assert not is_along(text)
    check(text, arrays(), (1, 1, 1))


@pytest.mark.parametrize("kind", ["u8", "i16", "u32", "u64"])
@pytest.mark.parametrize("step", ["x + v", "v ^ x", "x * v", "x & v", "v | x", "max(x, v)"])
def test_prefixes(kind: str, step: str) -> None:
    text = rows(f"let v = a[i] x = {step} out[i] = x + v y = y + x", kind)
    assert is_along(text)
    for width in (75, 9):
        check(text, arrays(kind, width), (1, 1, 1))
    check(text, arrays(kind), (1, 1, 1), "generic")


def test_prefixes_of_floats_are_extremes() -> None:
    text = rows("x = min(a[i], x) out[i] = x", "f32")
    assert is_along(text)
    given = arrays("f32", 100)
    given["a"][::3] = np.nan
    check(text, given, (1, 1, 1))
    assert not is_along(rows("x = x + a[i] out[i] = x", "f32"))
    assert not is_along(rows("x = x * a[i] out[i] = x", "f32"))


@pytest.mark.parametrize("width", [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 130])
def test_any_number_of_rounds(width: int) -> None:
    for kind in ("u8", "f32"):
        check(rows(APART["a gathered result"], kind), arrays(kind, width), (1, 1, 1))


def test_rows_beyond_the_buffers() -> None:
    given = arrays(width=40, extra=-33)
    check(rows(APART["in place"]), given, (1, 1, 1))
    run_between_fences(rows(APART["in place"]), given, (1, 1, 1))
    run_between_fences(rows(APART["neighbours"], "u8"), arrays("u8", 97), (1, 1, 1))


def test_extremes_of_floats_ignore_what_is_no_number() -> None:
    text = rows("x = max(x, a[i]) y = min(a[i], y)", "f32")
    assert is_along(text)
    given = arrays("f32", 100)
    given["a"][::3] = np.nan
    given["a"][100:200] = np.nan
    given["a"][::7] *= -1
    check(text, given, (1, 1, 1))


def test_sums_of_floats_keep_their_order() -> None:
    assert not is_along(rows("x = x + a[i]", "f32"))


def test_lanes_in_lock_step_take_turns() -> None:
    body = "x = x * a[i] + y"
    text = rows(body, "f32").replace(
        "last[", "for k in 0..w { out[gid.x * (w + 2) + k] = x * 2.0f32 }\nlast["
    )
    assert is_along(text)
    check(text, arrays("f32", 77, 61), (1, 1, 1))


def test_functions_run_in_vectors() -> None:
    text = rows("out[i] = exp(a[i] * -0.1f32)", "f32")
    assert is_along(text)
    assert differences(Program.parse(text), arrays("f32"), (1, 1, 1), approximate=OUT) == []
