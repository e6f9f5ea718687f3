"""Every fix that contains code is followed: the program is then accepted, and right."""

from __future__ import annotations

from typing import Any

import pytest

import vyre as vy
from tests.fixes.audit import audit, choices_of, repairs_of
from tests.fixes.cases import MORE, Case, all_cases, read_cases, said_of
from tests.fixes.processes import needs_a_process
from tests.fixes.repairs import Repair, all_repairs, follow
from vyre.diagnostics import render_all

CASES = all_cases()
REPAIRS = all_repairs()
OF_KERNELS = [
    repair
    for repairs in REPAIRS.values()
    for repair in repairs
    if "\ndef k(" in repair.source and not needs_a_process(repair.source)
]


@pytest.mark.parametrize("key", CASES)
def test_a_fix_that_is_followed_makes_the_program_right(key: str) -> None:
    assert audit(CASES[key], repairs_of(CASES[key])) == []


def test_every_repair_is_of_a_case_whose_fix_has_code() -> None:
    assert [key for key in REPAIRS if key not in CASES] == []
    assert [key for key in REPAIRS if not choices_of(CASES[key])] == []


@pytest.mark.parametrize("repair", OF_KERNELS, ids=lambda repair: repair.name)
def test_the_asserts_of_a_repair_fail_where_the_kernel_does_nothing(repair: Repair) -> None:
    def idle(value: Any) -> Any:
        return (lambda *_, **__: None) if isinstance(value, vy.Kernel) else value

    with pytest.raises((AssertionError, pytest.fail.Exception)):
        follow(repair, "reference", idle)


@pytest.mark.parametrize("case", read_cases(MORE), ids=lambda case: case.key)
def test_a_refusal_says_what_the_file_shows(case: Case, bless: bool) -> None:
    said = render_all(said_of(case.source, case.key)).replace(f"<{case.key}>", "<refusal>")
    if bless:
        text = MORE.read_text(encoding="utf-8")
        old = f"=== {case.key}\n{case.source}---\n{case.shown}"
        assert old in text
        MORE.write_text(text.replace(old, old.removesuffix(case.shown) + said), encoding="utf-8")
        return
    assert said == case.shown
