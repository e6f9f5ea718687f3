"""Every code of the checker is triggered by the example in its row, and by nothing else in it."""

from __future__ import annotations

import pytest

import vyre
from vyre.check import check
from vyre.diagnostics import Code, Diagnostic, VyreError
from vyre.diagnostics.codes import all_codes
from vyre.text import parse

CODES = [row for row in all_codes().values() if row.code.startswith("V")]


def findings(row: Code) -> list[Diagnostic]:
    if "import " not in row.example:
        return check(parse(row.example))
    with pytest.raises(vyre.VyreError) as caught:
        exec(row.example, {})
    assert isinstance(caught.value, VyreError)
    return list(caught.value.diagnostics)


@pytest.mark.parametrize("row", CODES, ids=lambda row: row.code)
def test_example_triggers_its_code_and_no_other(row: Code) -> None:
    found = findings(row)
    assert [diagnostic.code for diagnostic in found] == [row.code]
    [diagnostic] = found
    assert diagnostic.severity is row.severity
    assert "{" not in diagnostic.message.replace("{ ... }", "")
    assert diagnostic.fix
    assert diagnostic.location.path or row.code == "V403"
