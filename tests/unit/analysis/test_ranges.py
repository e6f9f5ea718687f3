"""Ranges, by pattern: what is proven, and what must not be."""

from __future__ import annotations

import pytest

from vyre.analysis import BufferUse, Interval, ProgramFacts, Ranges
from vyre.ir import If, Let, Load, Program, Store
from vyre.text import parse

HEAD = """program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer bytes_in: read_only u8[] @2
buffer table: read_only u32[256] @3
buffer signed_in: read_only i32[] @4
buffer tile: workgroup u32[64]

"""


def read(body: str) -> Program:
    return parse(HEAD + body)


def proven(body: str) -> list[tuple[str, bool]]:
    """Every access in the order of the text: the buffer, and whether it is proven."""
    program = read(body)
    ranges, facts = Ranges.of(program), ProgramFacts.of(program)
    found: list[tuple[str, bool]] = []
    for ref in facts.buffer_refs:
        if ref.use is BufferUse.LENGTH:
            continue
        access = facts.statements[ref.position] if ref.expr is None else ref.expr
        assert isinstance(access, (Load, Store))
        found.append((ref.name, ranges.is_in_bounds(access, ref.position)))
    return found


def interval_of_last(body: str) -> Interval | None:
    program = read(body)
    facts = ProgramFacts.of(program)
    position = len(facts) - 1
    statement = facts.statements[position]
    assert isinstance(statement, Let)
    return Ranges.of(program).interval(statement.value, position)


PROVEN = {
    "a guard": "let i = gid.x\nif i < len(a) {\n    let x = a[i]\n}\n",
    "a guard on an id itself": "if gid.x < len(a) {\n    let x = a[gid.x]\n}\n",
    "a guard on a sum": "if gid.x + 3u32 < len(a) {\n    let x = a[gid.x + 3u32]\n}\n",
    "a guard written the other way": "let i = gid.x\nif len(a) > i {\n    let x = a[i]\n}\n",
    "an early return": "let i = gid.x\nif i >= len(a) {\n    return\n}\nlet x = a[i]\n",
    "an early trap": 'let i = gid.x\nif i >= len(a) {\n    trap "size"\n}\nlet x = a[i]\n',
    "the else of a guard": (
        "let i = gid.x\nif i >= len(a) {\n    return\n} else {\n    let x = a[i]\n}\n"
    ),
    "one condition of several": (
        "let i = gid.x\nif (i < len(a)) & (i > 2u32) {\n    let x = a[i]\n}\n"
    ),
    "none of several": (
        "let i = gid.x\nif (i >= len(a)) | (i == 2u32) {\n    return\n}\nlet x = a[i]\n"
    ),
    "a negation": "let i = gid.x\nif ~(i >= len(a)) {\n    let x = a[i]\n}\n",
    "a named condition": "let i = gid.x\nlet ok = i < len(a)\nif ok {\n    let x = a[i]\n}\n",
    "a named length": "let n = len(a)\nlet i = gid.x\nif i < n {\n    let x = a[i]\n}\n",
    "the least of two lengths": (
        "let n = min(len(a), len(out))\nlet i = gid.x\nif i < n {\n    out[i] = a[i]\n}\n"
    ),
    "less than a guarded index": "let i = gid.x\nif i < len(a) {\n    let x = a[i / 2u32]\n}\n",
    "one before a guarded index": (
        "let i = gid.x\nif (i < len(a)) & (i > 0u32) {\n    let x = a[i - 1u32]\n}\n"
    ),
    "after a guarded index, itself guarded": (
        "let i = gid.x\nif i < len(a) {\n    let j = i + 1u32\n    if j < len(a) {\n"
        "        let x = a[j] + a[i]\n    }\n}\n"
    ),
    "a loop to the length": "for k in 0u32..len(a) {\n    let x = a[k]\n}\n",
    "a while to the length": (
        "let k = 0u32\nwhile k < len(a) {\n    let x = a[k]\n    k = k + 1u32\n}\n"
    ),
    "a byte into a table": "let x = table[u32(bytes_in[0])]\n".replace("bytes_in[0]", "7u8"),
    "a mask": "let x = table[gid.x & 255u32]\n",
    "a remainder": "let x = table[gid.x % 256u32]\n",
    "a local id": "let x = tile[lid.x]\n",
    "a shift": "let x = tile[gid.x >> 26u32]\n",
    "a select": "let x = table[select(gid.x < 3u32, 5u32, 255u32)]\n",
    "a signed counter": (
        "let k = 0i32\nwhile k < 64i32 {\n    let x = tile[k]\n    k = k + 1i32\n}\n"
    ),
    "a shrinking stride": (
        "let s = 32u32\nwhile s > 0u32 {\n    if lid.x < s {\n"
        "        tile[lid.x] = tile[lid.x] + tile[lid.x + s]\n    }\n    s = s >> 1u32\n}\n"
    ),
    "what a round leaves behind": (
        "let state = 3u32\nfor k in 0u32..9u32 {\n    state = u32(u8(table[state])) & 127u32\n}\n"
    ),
    "a conversion that keeps the value": (
        "let i = gid.x\nif i < len(a) {\n    let x = a[u64(i)]\n}\n"
    ),
}

UNPROVEN = {
    "no guard": "let x = a[gid.x]\n",
    "a guard of another buffer": "let i = gid.x\nif i < len(out) {\n    let x = a[i]\n}\n",
    "at most the length": "let i = gid.x\nif i <= len(a) {\n    let x = a[i]\n}\n",
    "a sum that may wrap": "let i = gid.x\nif i + 1u32 < len(a) {\n    let x = a[i]\n}\n",
    "one after a guarded index": "let i = gid.x\nif i < len(a) {\n    let x = a[i + 1u32]\n}\n",
    "one less than a length that may be zero": (
        "let i = gid.x\nif i < len(a) - 1u32 {\n    let x = a[i]\n}\n"
    ),
    "assigned after the guard": (
        "let i = gid.x\nif i < len(a) {\n    i = i + 1u32\n    let x = a[i]\n}\n"
    ),
    "assigned in one arm": ("let i = 3u32\nif gid.x < 9u32 {\n    i = gid.y\n}\nlet x = tile[i]\n"),
    "a condition of old values": (
        "let i = gid.x\nlet ok = i < len(a)\ni = i + 1u32\nif ok {\n    let x = a[i]\n}\n"
    ),
    "assigned in the loop": (
        "let i = 3u32\nfor k in 0u32..4u32 {\n    let x = tile[i]\n    i = i + 20u32\n}\n"
    ),
    "after the loop": ("let k = 0u32\nwhile k < len(a) {\n    k = k + 1u32\n}\nlet x = a[k]\n"),
    "a break with another value": (
        "let k = 0u32\nwhile k < 9u32 {\n    k = k + 1u32\n    if gid.x == k {\n"
        "        k = 99u32\n        break\n    }\n    k = k & 3u32\n}\nlet x = tile[k]\n"
    ),
    "a continue with another value": (
        "let s = 32u32\nwhile s > 0u32 {\n    let x = tile[s]\n    s = s >> 1u32\n"
        "    if gid.x == s {\n        s = 99u32\n        continue\n    }\n}\n"
    ),
    "a negative index": "let i = signed_in[0]\nif i < 64i32 {\n    let x = tile[i]\n}\n".replace(
        "signed_in[0]", "i32(gid.x)"
    ),
    "a remainder by a length that may be zero": "let x = a[gid.x % len(a)]\n",
    "after the guard": "let i = gid.x\nif i < len(a) {\n    out[0] = 1u32\n}\nlet x = a[i]\n",
    "a return in the wrong arm": ("let i = gid.x\nif i < len(a) {\n    return\n}\nlet x = a[i]\n"),
    "another lane's index": (
        "let i = lid.x\nif i < 3u32 {\n    let x = table[shuffle(gid.x, 5u32)]\n}\n"
    ),
    "a growing counter that wraps": (
        "let k = 5i32\nwhile gid.x < 3u32 {\n    if k < 64i32 {\n        let x = tile[k]\n    }\n"
        "    k = k + 1i32\n}\n"
    ),
    "less than the length by something unknown": (
        "let i = gid.x\nif (i <= len(a)) & (i > 70u32) {\n    let x = a[i - lid.x]\n}\n"
    ),
    "a signed sum that wraps": (
        "let n = i32(len(a) & 2147483647u32)\nlet i = i32(gid.x)\nif i < n {\n"
        "    let j = i + -1i32\n    if j >= 0i32 {\n        let x = a[j]\n    }\n}\n"
    ),
    "one of two, and only one is guarded": (
        "let i = gid.x\nif i < len(a) {\n    let x = a[select(gid.y < 1u32, i, gid.z)]\n}\n"
    ),
    "one of two, each guarded for another buffer": (
        "let i = gid.x\nlet j = gid.y\nif (i < len(a)) & (j < len(out)) {\n"
        "    let x = a[select(gid.z < 1u32, j, i)]\n}\n"
    ),
    "a product that wraps": "let x = tile[lid.x * 67108864u32]\n",
}


@pytest.mark.parametrize("name", PROVEN)
def test_proven(name: str) -> None:
    found = [inside for buffer, inside in proven(PROVEN[name]) if buffer != "bytes_in"]
    assert found
    assert all(found)


@pytest.mark.parametrize("name", UNPROVEN)
def test_not_proven(name: str) -> None:
    found = proven(UNPROVEN[name])
    assert not all(inside for _, inside in found)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let x = lid.x + 1u32\n", Interval(1, 64)),
        ("let x = wid.x\n", Interval(0, (1 << 26) - 1)),
        ("let x = gid.x\n", None),
        ("let x = bytes_in[gid.x]\n", None),
        ("let x = u32(bytes_in[gid.x])\n", Interval(0, 255)),
        ("let x = len(table)\n", Interval(256, 256)),
        ("let x = lid.x < 64u32\n", Interval(1, 1)),
        ("let x = clz(gid.x)\n", Interval(0, 32)),
    ],
)
def test_intervals(body: str, expected: Interval | None) -> None:
    assert interval_of_last(body) == expected


def test_a_second_guard_is_decided_by_the_first() -> None:
    program = read(
        "let i = gid.x\nif i < len(a) {\n    if len(a) > i {\n        out[0] = 1u32\n    }\n}\n"
    )
    inner = ProgramFacts.of(program).statements[2]
    assert isinstance(inner, If)
    assert Ranges.of(program).decided(inner.cond, 2) is True
    outer = ProgramFacts.of(program).statements[1]
    assert isinstance(outer, If)
    assert Ranges.of(program).decided(outer.cond, 1) is None


def test_at_most_the_length_does_not_decide_less() -> None:
    program = read(
        "let i = gid.x\nif i <= len(a) {\n    if i < len(a) {\n        out[0] = 1u32\n    }\n}\n"
    )
    inner = ProgramFacts.of(program).statements[2]
    assert isinstance(inner, If)
    assert Ranges.of(program).decided(inner.cond, 2) is None


def test_a_known_launch_proves_more() -> None:
    program = read("out[gid.x] = 1u32\n")
    store = program.entry[0]
    assert isinstance(store, Store)
    assert not Ranges.of(program).is_in_bounds(store, 0)
    enough = Ranges.under(program, grid=(4, 1, 1), lengths={"out": 256})
    assert enough.is_in_bounds(store, 0)
    assert enough.unproven == 0
    short = Ranges.under(program, grid=(4, 1, 1), lengths={"out": 255})
    assert not short.is_in_bounds(store, 0)
    assert short.unproven == 1


def test_known_contents_prove_more() -> None:
    program = parse(
        "program workgroup(8, 8, 1)\n\nbuffer size: uniform u32[1] @0\n"
        "buffer next_state: read_only u8[] @1\nbuffer out: read_write u32[] @2\n\n"
        "let n = size[0]\nif (gid.x >= n) | (gid.y >= n) {\n    return\n}\n"
        "let state = 0u32\nfor k in 0u32..n {\n"
        "    state = u32(next_state[state * 4u32 + (k & 3u32)])\n}\n"
        "out[gid.y * n + gid.x] = state\n"
    )
    lengths = {"next_state": 12, "out": 100}
    assert Ranges.under(program, (2, 2, 1), lengths).unproven == 2
    table = [0, 1, 2] * 4
    known = Ranges.under(program, (2, 2, 1), lengths, {"size": [10], "next_state": table})
    assert known.unproven == 0
    larger = Ranges.under(program, (2, 2, 1), lengths, {"size": [11], "next_state": table})
    assert larger.unproven == 1
    wilder = Ranges.under(program, (2, 2, 1), lengths, {"size": [10], "next_state": [0, 3] * 6})
    assert wilder.unproven == 1


def test_a_load_out_of_bounds_is_zero_whatever_the_contents() -> None:
    program = read("let i = a[gid.x]\nlet x = tile[i - 5u32]\n")
    assert Ranges.under(program, (2, 1, 1), None, {"a": [5, 6]}).unproven == 2
    assert Ranges.under(program, (2, 1, 1), None, {"a": [5, 6] * 64}).unproven == 0


def test_contents_of_memory_that_changes_are_not_trusted() -> None:
    program = read("let i = out[0]\nlet x = tile[i]\n")
    assert Ranges.under(program, (1, 1, 1), {"out": 4}, {"out": [0, 0, 0, 0]}).unproven == 1


def test_deeply_nested_failing_assumptions_stay_linear() -> None:
    lines, depth = ["let x = 5i32"], 30
    for level in range(depth):
        lines.append(f"while x < {level}i32 {{")
    lines.append("x = x + 1i32")
    lines += ["x = x + 1i32 }"] * depth
    program = read("\n".join(lines) + "\n")
    assert Ranges.of(program).unproven == 0
