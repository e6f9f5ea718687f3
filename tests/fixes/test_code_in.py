"""What counts as code in a fix, and when a program uses it."""

from __future__ import annotations

import pytest

from tests.fixes.code_in import alternatives, code_in
from tests.fixes.matching import uses

WITHOUT = (
    "errors do not exist in a kernel: test before you compute",
    "assign it before, make it a parameter, or define it outside of the kernel",
    "use a value from 0 to 4294967295, or a wider type",
    "it works on i16, i32, i64, u8: convert first",
    "choose one of: cpu, wgpu:0 (wgpu:llvmpipe), dead_stores",
    "the file was damaged: get it again",
    "give a number from 0 to 2**32 - 1",
    "store the value to an Out array",
    "start and await copies where the whole workgroup is: it copies together",
    "use 32-bit atomics, or another device",
    "use operators and the functions of vy.math",
)
WITH = {
    "write vy.math.maximum": [["vy.math.maximum"]],
    "write x[len(x) - 1]": [["x[len(x) - 1]"]],
    "convert one of them: vy.u32(x[0]) or vy.i32(len(x))": [["vy.u32(x[0])"], ["vy.i32(len(x))"]],
    "count instead: for i in range(len(x)), and use x[i]": [["for i in range(len(x))", "x[i]"]],
    "annotate it: x: vy.f32, x: vy.In[vy.f32], vy.Out or vy.InOut": [
        *(["x: vy.f32"], ["x: vy.In[vy.f32]"], ["vy.Out"], ["vy.InOut"])
    ],
    "ask along each axis: i, j = vy.gid(0), vy.gid(1)": [["i, j = vy.gid(0), vy.gid(1)"]],
    "write a - b * vy.math.floor(a / b)": [["a - b * vy.math.floor(a / b)"]],
    "write // to round down, or convert both: vy.f32(a) / vy.f32(b)": [
        *(["//"], ["vy.f32(a) / vy.f32(b)"])
    ],
    'write: assert condition, "message"': [['assert condition, "message"']],
    "pass grid=(x, y, z) or elements=n": [["grid=(x, y, z)"], ["elements=n"]],
    "write it as a function: @vy.func, then def square(...)": [["@vy.func", "def square(...)"]],
    "clear the cache with `vyre cache clear` and compile again": [["vyre cache clear"]],
    "it is u32 because of i + d: convert it: vy.i32(...)": [["vy.i32(...)"]],
    "bind it with let (in Python Node.let) in this scope": [["Node.let"]],
    "say which: 1.5f32 or 1.5f64": [["1.5f32"], ["1.5f64"]],
    "declare it read_write, or remove the mark": [["read_write"]],
    "give three positive extents, such as (64, 1, 1)": [["(64, 1, 1)"]],
    "give it one: n: vy.i32 = 0": [["n: vy.i32 = 0"]],
    "compare: (x[0] & 1) != 0": [["(x[0] & 1) != 0"]],
    "write x // y and x % y": [["x // y", "x % y"]],
    "choose where it is used: two(v) if which else one(v)": [["two(v) if which else one(v)"]],
    "write x[1] if it is a number, else x[2]": [["x[1]", "x[2]"]],
    "write as many values as names: a, b = ..., ...": [["a, b = ..., ..."]],
}


@pytest.mark.parametrize("fix", WITHOUT)
def test_words_are_no_code(fix: str) -> None:
    assert code_in(fix) == ()


@pytest.mark.parametrize("fix", WITH)
def test_code_is_found_and_choices_are_told_apart(fix: str) -> None:
    assert [list(choice) for choice in alternatives(fix)] == WITH[fix]
    assert code_in(fix) == tuple(piece for choice in WITH[fix] for piece in choice)


@pytest.mark.parametrize(
    ("source", "piece", "expected"),
    [
        ("x[0] = vy.u32( x[1]>2.0 )", "vy.u32(a > b)", True),
        ("x[0] = vy.i32(x[1] > 2.0)", "vy.u32(a > b)", False),
        ("for j in range(len(text)):", "for i in range(n)", True),
        ("for j in reversed(text):", "for i in range(n)", False),
        ("k(x, grid=(2, 1, 1))", "grid=(x, y, z)", True),
        ("k(x, groups=(2, 1, 1))", "grid=(x, y, z)", False),
        ('vy.print("total", x[0])', 'vy.print("label", value)', True),
        ("vy.print(total, x[0])", 'vy.print("label", value)', False),
        ('assert x[0] > 0.0, "below zero"', 'assert condition, "message"', True),
        ("a, b = p[0], p[1]", "a, b = ..., ...", True),
        ('command(f"vyre run {folder} --device cpu")', "vyre run ... --device ...", True),
        ("vy.math.square(x)", "vy.math.sqrt", False),
        ("x[i, j] = 1.0", "x[i] = ...", False),
    ],
)
def test_a_program_uses_code_up_to_white_space_and_placeholders(
    source: str, piece: str, expected: bool
) -> None:
    assert uses(source, piece) is expected
