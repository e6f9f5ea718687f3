"""Loops that take steps under conditions, whose rounds run side by side, or must not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check, source
from tests.unit.backends.llvm.test_along import AT, KINDS, RANDOM, arrays, is_along, rows
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.ir import Program

V = f"let v = {AT}\n "
NESTED = """
if v > 5 { x = x + 3R } else if v == 2 { x = x - 1R  y = y ^ 6R } else {
    if v < 2 { y = y ^ 1R } else { let w = v + v  x = x + R(w) }
}"""
BODIES = [
    "if v == 2 { x = x + 1R } else if v == 3 { y = y + 1R } else if v == 5 { x = x + 4R }",
    "if v > 3 { if v > 5 { x = x | 8R } else { x = x | 16R } }",
    "if v > 3 { x = x + R(v) } else { x = x - R(v) }",
    "x = x + select(v > 3, R(v), 0R)",
    "x = select(v > 3, x, select(v == 1, x, x + 2R))",
    "if v > 4 { x = max(x, R(v)) } else { y = min(y, R(v)) }",
    "if R(v) > x { x = R(v) }\n if R(v) < y { y = R(v) }",
    "if x <= R(v) { x = R(v) }\n y = select(R(v) >= y, y, R(v))",
    "if v == 3 { x = x & 5R  if (i & 1u32) == 0u32 { y = y * 3R } }",
    "let t = 1R\n if v > 3 { t = R(v) }\n if t > 5R { t = t + 1R  x = x + t } else { y = y + t }",
    "x = x + 1R\n if v == 2 { x = x + R(v) }\n x = x + R(v > 5)",
    "let before = x + 1R\n let other = y ^ 3R\n if v > 2 { x = before  y = other }",
    NESTED,
]


def body(text: str, kind: str, result: str) -> str:
    """Numbers beside `v` are of its type, and those of the results of theirs."""
    for digit in "12345":
        for op in ("==", "<", ">"):
            text = text.replace(f"v {op} {digit} ", f"v {op} {digit}{kind} ")
            text = text.replace(f"v {op} {digit},", f"v {op} {digit}{kind},")
            text = text.replace(f"v {op} {digit})", f"v {op} {digit}{kind})")
    for digit in "0123456789":
        text = text.replace(f"{digit}R", f"{digit}{result}")
    return V + text.replace("R(", f"{result}(")


@pytest.mark.parametrize("text", BODIES)
@pytest.mark.parametrize(("kind", "result"), [("u8", "u32"), ("i32", "i32"), ("i16", "u64")])
def test_steps_under_conditions(text: str, kind: str, result: str) -> None:
    program = rows(body(text, kind, result), kind, result)
    assert is_along(program)
    check(program, arrays(kind, result), (1, 1, 1))
    check(program, arrays(kind, result, length=77), (1, 1, 1), "generic")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [BODIES[0], BODIES[6], NESTED])
def test_integers_of_all_kinds(text: str, kind: str) -> None:
    program = rows(body(text, kind, kind), kind, kind)
    assert is_along(program)
    check(program, arrays(kind, kind, length=300, lanes=70), (2, 1, 1))


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 40, 63, 64, 65, 131, 200])
def test_any_number_of_rounds(length: int) -> None:
    for text in (BODIES[0], BODIES[5]):
        check(rows(body(text, "u8", "u32")), arrays(length=length), (1, 1, 1))


@pytest.mark.parametrize(
    "text",
    [
        "if v == 3u8 { seen = true }",
        "if v > 6u8 { if (i & 3u32) == 1u32 { seen = true } }",
        "seen = seen | (v > 6u8)",
        "if v == 3u8 { seen = seen ^ true }",
    ],
)
def test_flags(text: str) -> None:
    program = rows(V + text).replace("let x =", "let seen = false\n let x =")
    program = program.replace("= x + y", "= x + u32(seen)")
    assert is_along(program)
    for length in (3, 40, 150):
        check(program, arrays(length=length), (1, 1, 1))
        check(program, arrays(length=length, top=100), (1, 1, 1))


# What is better ----------------------------------------------------------------------------------

SEARCH = """program workgroup(64, 1, 1)
buffer a: read_only {kind}[] @0
buffer offsets: read_only u32[] @1
buffer best: read_write {kind}[] @2
buffer place: read_write u32[] @3
buffer flags: read_only u8[] @4
region "search" {{
    if gid.x < len(best) {{
        let m = {first}
        let at = 77u32
        let extra = 5u32
        for i in offsets[gid.x]..offsets[gid.x + 1u32] {{
            {body}
        }}
        best[gid.x] = m
        place[gid.x] = at * 1000u32 + extra
    }}
}}
"""
FLOATS = {"f32": np.float32, "f64": np.float64}


def searched(kind: str, values: Array | None = None) -> dict[str, Array]:
    lengths = RANDOM.integers(0, 200, 33)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    count = int(offsets[-1])
    if values is None:
        low = 0 if kind.startswith("u") else -6
        values = RANDOM.integers(low, 7, count)
    else:
        values = RANDOM.choice(values, count)
    return {
        "a": values.astype({**KINDS, **FLOATS}[kind]),
        "offsets": offsets,
        "best": np.zeros(len(lengths), {**KINDS, **FLOATS}[kind]),
        "place": np.zeros(len(lengths), np.uint32),
        "flags": RANDOM.integers(0, 2, count).astype(np.uint8),
    }


def search(text: str, kind: str, first: str) -> str:
    return SEARCH.format(kind=kind, first=first, body=text)


@pytest.mark.parametrize("kind", ["u8", "i8", "i16", "u32", "i32", "i64", "f32", "f64"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_the_best_and_its_place(kind: str, op: str) -> None:
    first = f"2.0{kind}" if kind in FLOATS else f"2{kind}"
    for text in (
        f"let v = a[i]\n if v {op} m {{ m = v  at = i  extra = u32(flags[i]) }}",
        f"if flags[i] == 1u8 {{ if a[i] {op} m {{ at = i  m = a[i] }} else {{ }} }}",
        f"let v = a[i]\n let c = m {op} v\n m = select(c, v, m)\n at = select(c, i * 3u32, at)",
    ):
        program = search(text, kind, first)
        assert "best.done" in source(Program.parse(program))
        for cpu in ("native", "generic"):
            check(program, searched(kind), (1, 1, 1), cpu)


@pytest.mark.parametrize("first", ["0.0f32", "-0.0f32", "nan_f32", "-inf_f32", "1.0f32"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_zeros_and_what_is_no_number(op: str, first: str) -> None:
    text = search(f"let v = a[i]\n if v {op} m {{ m = v }}", "f32", first)
    assert "best.done" in source(Program.parse(text))
    sets = [[0.0, -0.0], [0.0, -0.0, np.nan], [np.nan], [np.inf, -np.inf, 0.0, -0.0], [-1.0, -0.0]]
    as_bits = text.replace("best: read_write f32", "best: read_write u32").replace(
        "best[gid.x] = m", "best[gid.x] = select(is_nan(m), 1u32, bitcast<u32>(m))"
    )
    for values in sets:
        inputs = searched("f32", np.array(values))
        check(as_bits, {**inputs, "best": inputs["best"].astype(np.uint32)}, (1, 1, 1))


def test_a_greatest_number_written_as_one() -> None:
    text = "let v = a[i]\n let c = v > m\n m = max(v, m)\n at = select(c, i, at)"
    program = search(text, "i32", "-3i32")
    assert "best.done" in source(Program.parse(program))
    check(program, searched("i32"), (1, 1, 1))


@pytest.mark.parametrize(
    "text",
    [
        "if v > m { m = v  extra = extra + 1u32 }",
        "if v > m { m = v + 1i32  at = i }",
        "if v > m { at = i }\n m = v",
        "m = max(m, v)\n if v > m { at = i }",
        "if v > 3i32 { at = i }",
        "if v > m { m = v }\n if v < m { at = i }",
        "if v == 6i32 { at = i  break }",
        "if v > m { m = v }\n at = at + u32(m)",
        "if (v > m) | (v == 3i32) { m = v }",
        "m = select(v > m, m, v)\n at = at + 1u32",
    ],
)
def test_what_depends_on_the_order(text: str) -> None:
    program = search("let v = a[i]\n " + text, "i32", "-3i32")
    check(program, searched("i32"), (1, 1, 1))
    check(program, searched("i32"), (1, 1, 1), "generic")


# Loops with `while` ------------------------------------------------------------------------------

WHILE = """program workgroup(64, 1, 1)
buffer a: read_only u8[] @0
buffer offsets: read_only {counter}[] @1
buffer out: read_write u32[] @2
buffer ends: read_write {counter}[] @3
region "words" {{
    if gid.x < len(out) {{
        let p = offsets[gid.x]
        let end = offsets[gid.x + 1u32]
        let x = 3u32
        while {cond} {{
            {body}
        }}
        out[gid.x] = x
        ends[gid.x] = p
    }}
}}
"""


def words(counter: str, offsets: list[int] | None = None) -> dict[str, Array]:
    if offsets is None:
        offsets = list(np.cumsum(RANDOM.integers(0, 150, 40)))
    return {
        "a": RANDOM.integers(0, 8, max(offsets[-1], 1), dtype=np.uint8),
        "offsets": np.array(offsets, KINDS[counter]),
        "out": np.zeros(len(offsets) - 1, np.uint32),
        "ends": np.zeros(len(offsets) - 1, KINDS[counter]),
    }


@pytest.mark.parametrize("cond", ["p < end", "end > p"])
@pytest.mark.parametrize(
    "text",
    [
        "if a[p] == 3u8 { x = x + 1u32 }\n p = p + 1u32",
        "let b = a[p]\n p = p + 1u32\n if b > 5u8 { x = x + p } else { x = x - 1u32 }",
        "x = x + u32(a[p])\n p = p + 1u32",
    ],
)
def test_counting_by_hand(cond: str, text: str) -> None:
    program = WHILE.format(counter="u32", cond=cond, body=text)
    assert is_along(program)
    for cpu in ("native", "generic"):
        check(program, words("u32"), (1, 1, 1), cpu)
    # Some begin behind their end, and some go on behind the end of the buffer.
    odd = words("u32", [0, 90, 20, 150, 400, 390, 200])
    run_between_fences(program, odd, (1, 1, 1))
    check(program, odd, (1, 1, 1))


@pytest.mark.parametrize(
    "text",
    [
        "if a[p] == 3u8 { x = x + 1u32  end = end - 1u32 }\n p = p + 1u32",
        "if a[p] == 3u8 { x = x + 1u32  p = p + 1u32 }\n p = p + 1u32",
        "if a[p] == 3u8 { x = x + 1u32 }\n p = p + 2u32",
        "if a[p] == 3u8 { x = x + 1u32 } else { break }\n p = p + 1u32",
    ],
)
def test_counting_otherwise(text: str) -> None:
    program = WHILE.format(counter="u32", cond="p < end", body=text)
    assert not is_along(program)
    check(program, words("u32"), (1, 1, 1))


def test_signed_counters() -> None:
    text = "if a[u32(p)] == 3u8 { x = x + 1u32 }\n p = p + 1i32"
    program = WHILE.format(counter="i32", cond="p < end", body=text)
    check(program, words("i32"), (1, 1, 1))
    check(program, words("i32", [-40, 90, 20, 150, -7, 190]), (1, 1, 1))


# Bounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beyond", [0, 1, 60, 5000])
def test_loads_in_arms_stay_inside(beyond: int) -> None:
    text = (
        "if a[i] > 0i32 { if flags[i + 1u32] == 1u8 { m = max(m, a[i]) } else { at = at + 1u32 } }"
    )
    program = search(text, "i32", "-3i32")
    assert is_along(program)
    inputs = searched("i32")
    inputs["offsets"][-1] += beyond
    inputs["flags"] = inputs["flags"][: max(0, len(inputs["flags"]) - beyond)]
    run_between_fences(program, inputs, (1, 1, 1))
    check(program, inputs, (1, 1, 1))


def test_an_arm_that_guards_its_load() -> None:
    text = "if i < 100u32 { if fixed[i] > 3u8 { m = m + 1i32 } }"
    program = search(text, "i32", "-3i32").replace(
        "buffer flags", "buffer fixed: read_only u8[100] @5\nbuffer flags"
    )
    inputs = {**searched("i32"), "fixed": RANDOM.integers(0, 8, 100, dtype=np.uint8)}
    run_between_fences(program, inputs, (1, 1, 1))
    check(program, inputs, (1, 1, 1))
