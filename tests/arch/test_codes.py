"""Every code can happen: the example in its row triggers it, and the message is filled in."""

from __future__ import annotations

import pytest

from docs.said import found_by
from vyre.diagnostics.codes import Code, all_codes

CODES = all_codes()
# A program that shows an X### must be run in a certain way: tests of the reference backend do that.
WITH_EXAMPLE = [row for row in CODES.values() if row.example and row.code[0] != "X"]
# Codes of these families are about programs and calls alone, so an example can always be given;
# the others need a device or a file in some state.
ALWAYS = "IVTWFOPR"


@pytest.mark.parametrize("row", WITH_EXAMPLE, ids=lambda row: row.code)
def test_the_example_of_a_code_triggers_it(row: Code) -> None:
    found = found_by(row.example)
    assert row.code in [diagnostic.code for diagnostic in found]
    shown = "\n".join(map(str, found))
    assert "{" not in row.message or row.message not in shown


def test_codes_about_programs_have_an_example() -> None:
    assert [row.code for row in CODES.values() if row.code[0] in ALWAYS and not row.example] == []


def test_sentences_are_sentences() -> None:
    """A message does not end in a full stop and has a fix that says what to do."""
    for row in CODES.values():
        assert row.message, row.code
        assert row.fix, row.code
        assert not row.message.endswith("."), row.code
        assert not row.fix.endswith("."), row.code
