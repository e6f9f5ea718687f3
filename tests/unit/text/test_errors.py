"""What is wrong with a text is said with a code, the line, a caret and a fix."""

from __future__ import annotations

import random

import pytest

from vyre.conform import generate
from vyre.diagnostics import ParseError
from vyre.diagnostics.codes import text as codes
from vyre.ir import Program
from vyre.text import parse, to_text

HEAD = "program workgroup(1, 1, 1)\n"


def refused(source: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse(source, "f.vy")
    return caught.value


@pytest.mark.parametrize("row", codes.CODES, ids=lambda row: row.code)
def test_every_code_has_an_example_that_brings_it(row) -> None:
    if row is codes.NOT_TEXT:
        with pytest.raises(ParseError) as caught:
            parse(b"program")  # pyright: ignore[reportArgumentType]
        error = caught.value
    else:
        error = refused(row.example)
        assert error.location.span is not None
        assert "^" in str(error)
    assert error.code == row.code
    assert error.fix


@pytest.mark.parametrize(
    ("body", "code", "line", "column", "width"),
    [
        ("let x = 1u32 +\n", "T002", 3, 1, 1),
        ("let x = (1u32 + 2u32\n", "T011", 2, 9, 1),
        ("let x = a[1u32\n", "T011", 2, 9, 1),
        ("let x = min(1u32\n", "T011", 2, 9, 3),
        ("if x { if y { return }\n", "T011", 2, 6, 1),
        ("if x { } else { return\n", "T011", 2, 15, 1),
        ("let x = min(1u32, 2u32, 3u32)", "T009", 2, 9, 3),
        ("let x = lane(v)", "T009", 2, 9, 4),
        ("let x = lane(v, y)", "T002", 2, 17, 1),
        ("let x = atomic_add(b[0])", "T002", 2, 24, 1),
        ("let x = atomic_add(b[0], 1u32, 2u32)", "T009", 2, 9, 10),
        ("let x = atomic_add(b, 1u32)", "T002", 2, 21, 1),
        ("let x = select(a, b,)", "T002", 2, 21, 1),
        ("let x = 1u32 2u32", "T002", 2, 14, 4),
        ("let = 1u32", "T002", 2, 5, 1),
        ("let 1x = 1u32", "T002", 2, 5, 2),
        ("let `1x` = 1u32", "T013", 2, 1, 8),
        ("let `` = 1u32", "T013", 2, 1, 6),
        ("x += 1u32", "T016", 2, 1, 1),
        ("}", "T002", 2, 1, 1),
        ("else { }", "T002", 2, 1, 4),
        ("barrier strict", "T002", 2, 9, 6),
        ("barrier sometimes", "T002", 2, 9, 9),
        ("let x = 300u8", "T006", 2, 9, 5),
        ("let x = -1u32", "T006", 2, 10, 4),
        ("let x = 129i8", "T006", 2, 9, 5),
        ("let x = 1.5u32", "T006", 2, 9, 6),
        ("let x = 1u33", "T006", 2, 9, 4),
        ("let x = 0x", "T006", 2, 9, 2),
        ("let x = 1e99", "T005", 2, 9, 4),
        ("let x = 9999999999999999999999u64", "T006", 2, 9, 25),
        ("let x = bits(0x1ffff, f16)", "T006", 2, 14, 7),
        ("let x = bits(2, f16)", "T002", 2, 14, 1),
        ("let x = bits(0x2, bool)", "T006", 2, 14, 3),
        ("let x = bits(0x2, vec2<u32>)", "T007", 2, 19, 9),
        ("let x = bitcast<q>(y)", "T007", 2, 17, 1),
        ("let x = vec99<u32>(y)", "T007", 2, 9, 10),
        ("let x = gid", "T016", 0, 0, 0),
        ('trap "a\\u{d800}"', "T004", 2, 6, 11),
        ('trap "a\\u{110000}"', "T004", 2, 6, 13),
        ("trap 'x'", "T001", 2, 6, 1),
        ("let x = \x00", "T001", 2, 9, 1),
        ("let x = é", "T001", 2, 9, 1),
        ('opaque k hex"0"', "T002", 2, 10, 6),
        ("all_reduce plus a", "T002", 2, 12, 4),
        ("indirect_dispatch a[4294967296]", "T013", 2, 1, 31),
        ("buffer a: read_only u32[] @0 @1", "T014", 2, 30, 1),
        ("buffer a: read_only u32[] output output", "T014", 2, 34, 6),
        ("buffer a: readonly u32[] @0", "T002", 2, 11, 8),
        ("buffer a: read_only u32[-1] @0", "T013", 2, 1, 30),
        ("buffer a: read_only u32[] @0 in limbo", "T002", 2, 33, 5),
        ("buffer a: read_only u32[] hints(fast)", "T002", 2, 33, 4),
        ("buffer a: read_only u32[] hints(axis=0, axis=1)", "T014", 2, 46, 1),
    ],
)
def test_the_caret_stands_under_the_problem(
    body: str, code: str, line: int, column: int, width: int
) -> None:
    if not line:
        assert parse(HEAD + body).entry, "a name like any other"
        return
    error = refused(HEAD + body)
    span = error.location.span
    assert span is not None
    assert (error.code, span.line, span.column) == (code, line, column), str(error)
    assert (span.end_column or 0) - span.column <= width
    assert str(error).startswith(f"error[{code}]: ")
    assert f"--> f.vy:{line}:{column}" in str(error)


def test_an_error_reads_well() -> None:
    assert str(refused(HEAD + "    let x = minn(1u32, y)\n")) == (
        "error[T008]: there is no function `minn`\n"
        "  --> f.vy:2:13\n"
        "  2 |     let x = minn(1u32, y)\n"
        "    |             ^^^^\n"
        "  fix: use an operation of the language; did you mean min?"
    )


@pytest.mark.parametrize(
    "source",
    [
        *("", " ", "program", "program workgroup", "program workgroup(1", "// nothing"),
        *("program workgroup(1, 1)", "program workgroup(1, 1, 1, 1)", "program workgroup(a, 1, 1)"),
        *("program workgroup(99999999999, 1, 1)", "program workgroup(1, 1, 1) op", "\ufeffprogram"),
        HEAD + "let x = " + "(" * 100_000,
        HEAD + "let x = " + "-" * 100_000 + "y",
        HEAD + "let x = " + "a[" * 100_000,
        HEAD + "let x = " + "min(" * 100_000,
        HEAD + "let x = y" + " + y" * 100_000,
        HEAD + "{" * 100_000,
        HEAD + "if x { " * 100_000,
        HEAD + "if x { } else " * 1000 + "{ }",
        HEAD + "let x = " + "1" * 100_000,
        HEAD + "let x = 1." + "1" * 100_000,
        HEAD + "let x = 0x" + "1" * 100_000 + "u64",
        HEAD + "let x = lane(v, " + "1" * 100_000 + ")",
        HEAD + 'trap "' + "x" * 5000 + '"',
        HEAD + "let " + "x" * 100_000 + " = 1u32",
    ],
    ids=lambda source: source[-30:].strip(),
)
def test_hopeless_texts_are_refused_quickly(source: str) -> None:
    error = refused(source)
    assert error.code.startswith("T")
    assert len(str(error)) < 20_000


def test_a_digit_too_many_is_not_read_as_a_float() -> None:
    assert str(refused(HEAD + "let x = 1.5.2f32")).startswith("error[T005]")


def test_no_text_brings_another_exception() -> None:
    dice = random.Random(4)
    sources = [to_text(generate(seed, "tiny").program) for seed in range(20)]
    sources += [to_text(generate(seed, "memory").program)[:2000] for seed in range(3)]
    pieces = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "let ",
        "if ",
        "else ",
        "1u32",
        "-",
        "..",
        '"',
        "`",
        "\\",
    ]
    pieces += [
        'hex"0"',
        "vec2<u32>",
        "\n",
        "//",
        "0x",
        "é",
        "\x00",
        "\ud800",
        "bits(",
        "cast<",
        "= ",
    ]
    accepted = 0
    for _ in range(2500):
        text = dice.choice(sources)
        for _ in range(dice.choice((1, 1, 2, 5))):
            place = dice.randrange(len(text) + 1)
            cut = dice.randrange(6)
            insert = dice.choice((dice.choice(pieces), chr(dice.randrange(1, 300)), ""))
            text = text[:place] + insert + text[place + cut :]
        try:
            program = parse(text)
        except ParseError:
            continue
        accepted += 1
        assert parse(to_text(program)) == program
    assert 0 < accepted < 2500


def test_the_collector_is_left_as_it_was() -> None:
    import gc

    assert gc.isenabled()
    refused("nothing")
    assert gc.isenabled()
    gc.disable()
    try:
        Program.parse(HEAD)
        assert not gc.isenabled()
    finally:
        gc.enable()
