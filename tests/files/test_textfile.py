"""The test-file format: reading, comparing, and blessing what differs."""

from __future__ import annotations

import pytest

from tests.files.collector import differences
from tests.files.textfile import Answer, Case, MalformedError, read, write

FILE = """\
// test: opt dce cse
//
// Some prose.

// case: with markers
// given: a = 1 2 3
program {
  barrier  //~ V012 V020

  // a comment of the program stays
}

// case: one line
program {}
// expect: unchanged

// case: several lines
program {}
// expect:
program {

}
"""


def test_cases_are_read_with_their_parts() -> None:
    file = read(FILE)
    assert (file.verb, file.words) == ("opt", ("dce", "cse"))
    markers, one_line, several = file.cases
    assert markers.line == 5
    assert markers.given == {"a": "1 2 3"}
    assert markers.marks == {2: ("V012", "V020")}
    assert "//~" not in markers.source
    assert markers.source.endswith("// a comment of the program stays\n}")
    assert (markers.expect, one_line.expect) == (None, "unchanged")
    assert several.expect == "program {\n\n}"


def test_a_file_is_written_as_it_was_read() -> None:
    assert write(read(FILE)) == FILE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1"),
        ("program {}\n", "line 1"),
        ("// test:\n", "the verb is missing"),
        ("// test: check\nprogram {}\n", "no cases"),
        ("// test: check\n// case:\nprogram {}\n", "line 2: the case has no name"),
        ("// test: check\n// case: a\n// case: a\n", "two cases are called 'a'"),
        ("// test: check\n// case: a\n// given: b\n", "line 3: write"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(MalformedError, match=problem):
        read(text)


def test_an_answer_as_expected_makes_no_difference() -> None:
    case = Case("c", 1, "a\nb", marks={2: ("V001",)}, expect="text")
    assert list(differences(case, Answer("text", {2: ["V001"]}), compare_text=True)) == []
    assert list(differences(case, Answer("other", {2: ["V001"]}), compare_text=False)) == []


def test_missing_and_unexpected_codes_are_both_told() -> None:
    case = Case("c", 1, "first\nsecond", marks={2: ("V001",)})
    told = "\n".join(differences(case, Answer(None, {1: ["V002"]}), compare_text=False))
    assert "line 1 of the program: first\n  expected nothing, got V002" in told
    assert "line 2 of the program: second\n  expected V001, got nothing" in told


def test_a_code_found_twice_is_not_a_code_found_once() -> None:
    case = Case("c", 1, "first", marks={1: ("V001",)})
    assert list(differences(case, Answer(None, {1: ["V001", "V001"]}), compare_text=False))


def test_other_text_is_shown_as_a_difference() -> None:
    case = Case("c", 1, "program {}", expect="a\nb")
    told = list(differences(case, Answer("a\nc"), compare_text=True))
    assert "-b" in told
    assert "+c" in told


def test_a_blessed_case_expects_the_answer() -> None:
    case = Case("c", 1, "first\nsecond", marks={1: ("V001",)}, expect="old")
    answer = Answer("new", {2: ["V003", "V002"]})
    blessed = case.blessed(answer, with_text=True)
    assert list(differences(blessed, answer, compare_text=True)) == []
    assert case.blessed(answer, with_text=False).expect == "old"
