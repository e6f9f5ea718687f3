"""Words put together from their bytes, in any order and anywhere in or out of bounds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check, source
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.ir import Program

PROGRAM = """program workgroup(64, 1, 1)
buffer a: {mode} {kind}[] @0
buffer places: read_only u32[] @1
buffer out: read_write {result}[] @2
buffer shape: uniform u32[2] @3
region "words" {{
    if gid.x < len(out) {{
        let p = places[gid.x]
        let total = 7{result}
        let k = 0u32
        while k < 3u32 {{
            {body}
            total = total * 31{result} + w
            p = p + w_next
            k = k + 1u32
        }}
        out[gid.x] = total
    }}
}}
"""
RANDOM = np.random.default_rng(3)
KINDS = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "i8": np.int8}
RESULTS = {"u16": np.uint16, "u32": np.uint32, "i32": np.int32, "u64": np.uint64, "i64": np.int64}


def words(body: str, result: str = "u32", kind: str = "u8", mode: str = "read_only") -> str:
    body = f"{body}\n let w_next = 5u32 + (places[k] & 1u32)"
    return PROGRAM.format(body=body, result=result, kind=kind, mode=mode)


def arrays(
    result: str = "u32", kind: str = "u8", length: int = 200, far: bool = True
) -> dict[str, Array]:
    places = RANDOM.integers(0, max(length - 20, 1), 90)
    if far:
        places[::7] = [length - 1 - n % 9 for n in range(len(places[::7]))]
        places[1::11] = [(1 << 32) - 1 - n for n in range(len(places[1::11]))]
        places[2::13] = length
    top = np.iinfo(KINDS[kind])
    return {
        "a": RANDOM.integers(top.min, top.max + 1, length).astype(KINDS[kind]),
        "places": places.astype(np.uint32),
        "out": np.zeros(90, RESULTS[result]),
        "shape": np.array([9, 21], np.uint32),
    }


def little(size: int, op: str = "|", result: str = "u32", unit: int = 8) -> str:
    parts = [f"({result}(a[p + {n}u32]) << {unit * n}{result})" for n in range(size)]
    return "let w = " + f" {op} ".join(parts)


def big(size: int, result: str = "u32") -> str:
    parts = [f"({result}(a[p + {n}u32]) << {8 * (size - 1 - n)}{result})" for n in range(size)]
    return "let w = " + " | ".join(parts)


def saturating(size: int, result: str = "u32", at: str = "p") -> str:
    """As `text.u32(p)` is translated."""
    parts = [f"{result}(a[{at}])"]
    parts += [f"({result}(a[add_sat({at}, {n}u32)]) << {8 * n}{result})" for n in range(1, size)]
    return "let w = " + " | ".join(parts)


def horner(size: int, result: str = "u32") -> str:
    lines = [f"let w = {result}(a[p])"]
    lines += [f"w = (w << 8{result}) | {result}(a[p + {n}u32])" for n in range(1, size)]
    return "\n".join(lines)


def named(size: int, result: str = "u32") -> str:
    """A new name for what there is after every byte."""
    lines = [f"let w0 = {result}(a[p])"]
    for n in range(1, size):
        name = "w" if n == size - 1 else f"w{n}"
        lines.append(f"let q{n} = p + {n}u32")
        lines.append(f"let {name} = w{n - 1} | ({result}(a[q{n}]) << {8 * n}{result})")
    return "\n".join(lines)


def takes_words(text: str) -> bool:
    return "word.done" in source(Program.parse(text))


WORDS = [
    (little(2), "u32"),
    (little(4), "u32"),
    (little(4, "+"), "u32"),
    (little(4, "^", "i32"), "i32"),
    (little(2, "|", "u16"), "u16"),
    (little(4, "|", "u64"), "u64"),
    (little(8, "|", "u64"), "u64"),
    (little(8, "+", "i64"), "i64"),
    (big(2), "u32"),
    (big(4), "u32"),
    (big(8, "u64"), "u64"),
    (saturating(2, "u16"), "u16"),
    (saturating(4), "u32"),
    (saturating(8, "u64"), "u64"),
    (saturating(4, at="(p + 3u32)"), "u32"),
]
STEPS = [
    (horner(4), "u32"),
    (horner(8, "u64"), "u64"),
    (named(2), "u32"),
    (named(4), "u32"),
    (named(8, "u64"), "u64"),
    (
        "let w = 0u32\n w = u32(a[p])\n let q = p + 1u32\n w = w | (u32(a[q]) << 8u32)\n"
        "let r = q + 1u32\n w = w | (u32(a[r]) << 16u32)\n w = w | (u32(a[r + 1u32]) << 24u32)",
        "u32",
    ),
    (
        "let b0 = a[p - 3u32]\n let b1 = a[p - 2u32]\n let b2 = u32(a[p - 1u32])\n let b3 = a[p]\n"
        "let w = u32(b0) + (u32(b1) << 8u32) + (b2 << 16u32) + (u32(b3) << 24u32)",
        "u32",
    ),
]


@pytest.mark.parametrize(("body", "result"), WORDS)
def test_words_of_all_kinds(body: str, result: str) -> None:
    text = words(body, result)
    assert takes_words(text)
    check_at_all_lengths(text, result)


@pytest.mark.parametrize(("body", "result"), STEPS)
def test_words_put_together_step_by_step(body: str, result: str) -> None:
    check_at_all_lengths(words(body, result), result)


def check_at_all_lengths(text: str, result: str) -> None:
    for length in (200, 3, 1):
        inputs = arrays(result, length=length)
        check(text, inputs, (2, 1, 1))
        run_between_fences(text, inputs, (2, 1, 1))
    check(text, arrays(result), (2, 1, 1), "generic")


def test_words_of_halves() -> None:
    for kind, result, unit, size in (
        ("u16", "u32", 16, 2),
        ("u16", "u64", 16, 4),
        ("u32", "u64", 32, 2),
    ):
        text = words(little(size, "|", result, unit), result, kind)
        assert takes_words(text)
        run_between_fences(text, arrays(result, kind), (2, 1, 1))
        check(text, arrays(result, kind), (2, 1, 1))


def test_an_empty_buffer() -> None:
    check(words(little(4)), {**arrays(), "a": np.zeros(0, np.uint8)}, (2, 1, 1))


ROW = "select((p < shape[0]) & (k{n} < shape[1]), p * shape[1] + (k{n}), 4294967295u32)"


@pytest.mark.parametrize("shape", [(9, 21), (9, 3), (0, 0), (4000, 50), (1 << 31, 6)])
def test_words_in_rows(shape: tuple[int, int]) -> None:
    at = [ROW.format(n="" if n == 0 else f" + {n}u32") for n in range(4)]
    parts = [f"(u32(a[{index}]) << {8 * n}u32)" for n, index in enumerate(at)]
    text = words("let w = " + " | ".join(parts))
    assert takes_words(text)
    inputs = {**arrays(), "shape": np.array(shape, np.uint32)}
    inputs["places"][:40] = RANDOM.integers(0, 10, 40)
    check(text, inputs, (2, 1, 1))
    run_between_fences(text, inputs, (2, 1, 1))
    # Columns that the counter passes the end of.
    odd = text.replace("let k = 0u32", "let k = 4294967293u32").replace(
        "while k < 3u32", "while k != 4u32"
    )
    check(odd, inputs, (2, 1, 1))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("let w = u32(a[p]) | (u32(a[p + 2u32]) << 8u32)", "u8"),
        ("let w = u32(a[p]) | (u32(a[p + 1u32]) << 4u32)", "u8"),
        ("let w = u32(a[p]) | (u32(a[p + 1u32]) << 16u32)", "u8"),
        ("let w = u32(a[p]) + u32(a[p + 1u32])", "u8"),
        ("let w = u32(a[p]) | (u32(a[p + 1u32]) << 8u32)", "i8"),
        ("let w = u32(a[p]) | (u32(places[p + 1u32]) << 8u32)", "u8"),
        ("let w = (u32(a[p]) << 24u32) | (u32(a[p + 1u32]) << 32u32)", "u8"),
        ("let w = u32(a[p]) | (u32(a[p + 1u32]) << 8u32) | (u32(a[p + 2u32]) << 16u32)", "u8"),
        ("let w = u32(a[p + 1u32]) | (u32(a[add_sat(p, 2u32)]) << 8u32)", "u8"),
        ("let w = u32(a[p * 3u32]) | (u32(a[p * 3u32 + add_sat(0u32 - p, 1u32)]) << 8u32)", "u8"),
        (
            "let w = u32(a[add_sat(p, 1u32) + 1u32]) | (u32(a[add_sat(p, 2u32) + 1u32]) << 8u32)",
            "u8",
        ),
        ("let w = u32(a[p])\n p = p + 3u32\n w = w | (u32(a[p + 1u32]) << 8u32)", "u8"),
    ],
)
def test_what_is_no_word(body: str, kind: str) -> None:
    text = words(body, kind=kind)
    assert not takes_words(text) or "16u32" in body
    check(text, arrays(kind=kind), (2, 1, 1))


def test_a_store_between_the_bytes() -> None:
    steps = (
        "let b = a[p]\n let w = u32(b)\n let q = p + 1u32\n a[q] = 9u8\n"
        "w = w | (u32(a[q]) << 8u32)\n p = p + 1000u32"
    )
    text = words(steps, mode="read_write")
    assert not takes_words(text)
    inputs = arrays(far=False, length=400)
    inputs["places"] = (np.arange(90) * 4).astype(np.uint32)
    check(text, inputs, (2, 1, 1))


def test_bytes_that_may_change() -> None:
    text = words(little(4) + "\n a[1000u32 + gid.x] = u8(w)", mode="read_write")
    assert takes_words(text)
    inputs = arrays(length=1200, far=False)
    inputs["places"] %= 900
    check(text, inputs, (2, 1, 1))


def test_a_sum_that_looks_like_a_word_stays_where_others_use_it() -> None:
    text = """program workgroup(64, 1, 1)
buffer a: read_only u8[] @0
buffer out: read_write u64[] @1
let place = gid.x * 3u32
let far = u64(place) + 4294967296u64
let w = u64(a[far])
out[far] = w
out[gid.x] = (w | u64(a[gid.x]) << 8u64) + far
"""
    check(text, {"a": np.arange(64, dtype=np.uint8), "out": np.zeros(64, np.uint64)}, (1, 1, 1))
