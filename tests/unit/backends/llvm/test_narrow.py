"""Arithmetic on bytes runs in 16 bits where that makes no difference, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences, source
from vyre.ir import Program

TEXT = """
program workgroup(64, 1, 1)
buffer a: read_only {type}[] @0
buffer b: read_only {type}[] @1
buffer out: read_write {to}[] @2
region "r" {{
    let i = gid.x
    if i < len(out) {{
{body}
    }}
}}"""
LOADED = "let x = {word}(a[i]) let y = {word}(b[i]) "
NARROW = {
    "sum": "let s = x + y * 2i32 out[i] = u8(min(s, 255i32))",
    "gradient": "let d = (x << 1i32) - y - 3i32 out[i] = u8(abs(d) + abs(y - x))",
    "negated": "out[i] = u8(-x + max(y, -7i32))",
    "chosen": "let m = select(x < y, x - y, y + y) out[i] = u8(m >> 2i32)",
    "branched": "let d = x - y if d < 5i32 { out[i] = u8(d * 3i32) } else { out[i] = u8(d) }",
    "unsigned": "out[i] = u8((x * 77i32 + y * 150i32 + 7395i32) >> 8i32)",
}
WIDE = {
    "back": "out[i] = u8((x * 150i32 + 20000i32 - y * 150i32) >> 8i32)",
    "edge": "out[i] = u8((x * 128i32 + y - 1i32) >> 7i32)",
    "product": "out[i] = u8((x * y * 3i32) >> 8i32)",
    "blended": "out[i] = u8((x * y + y * (255i32 - x) + 128i32) >> 8i32)",
    "far": "out[i] = u8((x + 40000i32) >> 3i32)",
    "assigned": "let s = x for k in 0..90 { s = s + s + y } out[i] = u8(s >> 24i32)",
}


def _program(body: str, dtype: str = "u8", word: str = "i32", to: str = "u8") -> Program:
    whole = LOADED.format(word=word) + body
    return Program.parse(TEXT.format(type=dtype, to=to, body=whole))


def _inputs(dtype: str, to: str = "u8") -> dict[str, np.ndarray]:
    dice = np.random.default_rng(6)
    least, most = (0, 256) if dtype == "u8" else (-128, 128)
    made = {n: dice.integers(least, most, 300).astype(np.dtype(f"{dtype[0]}1")) for n in "ab"}
    made["a"][:40], made["b"][:40] = least, most - 1
    made["a"][40:80], made["b"][40:80] = most - 1, least
    return {**made, "out": np.zeros(290, np.dtype(f"{to[0]}{int(to[1:]) // 8}"))}


@pytest.mark.parametrize("dtype", ["u8", "i8"])
@pytest.mark.parametrize("body", [*NARROW, *WIDE])
def test_agrees_with_the_reference(body: str, dtype: str) -> None:
    program = _program({**NARROW, **WIDE}[body], dtype)
    assert differences(program, _inputs(dtype), (5, 1, 1)) == []


@pytest.mark.parametrize("body", ["x - y", "x + 3u32 - y", "min(x, y) - 1u32", "(x - y) >> 3u32"])
def test_unsigned_numbers_that_fall_below_zero_stay_as_they_are(body: str) -> None:
    program = _program(f"out[i] = {body}", word="u32", to="u32")
    assert differences(program, _inputs("u8", "u32"), (5, 1, 1)) == []


@pytest.mark.parametrize("body", NARROW)
def test_small_numbers_take_sixteen_bits(body: str) -> None:
    text = source(_program(NARROW[body]), "llvm-raw")
    assert "x i16>" in text


@pytest.mark.parametrize("body", ["product", "blended"])
def test_larger_numbers_do_not(body: str) -> None:
    text = source(_program(WIDE[body]), "llvm-raw")
    assert "add <32 x i16>" not in text
    assert "mul <32 x i16>" not in text
