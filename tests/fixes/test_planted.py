"""The net catches what it is for: wrong advice of typical kinds, and repairs that prove nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fixes.audit import audit, failures, missing
from tests.fixes.cases import Case, all_cases
from tests.fixes.plants import PLANTS, Plant
from tests.fixes.repairs import all_repairs


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_wrong_advice_that_is_followed_is_caught(plant: Plant) -> None:
    with plant.planted() as (case, repairs):
        assert any(plant.wrong in diagnostic.fix for diagnostic in case.said())
        assert missing(case, repairs) == []  # it is what the fix says
        assert [problem for repair in repairs for problem in failures(repair)] != []


def test_advice_that_changes_needs_another_repair() -> None:
    plant = PLANTS[0]
    with plant.planted() as (case, _):
        problems = missing(case, all_repairs()[plant.key])
    assert len(problems) == 2
    assert "math.root" in problems[0]


def test_a_fix_without_a_repair_is_caught() -> None:
    assert missing(all_cases()["bool()"], []) == [
        "no repair uses (x[0] - 1.0) != 0",
        "no repair uses vy.bool_(x[0] - 1.0)",
    ]


def test_a_choice_that_no_repair_makes_is_caught() -> None:
    first, _ = all_repairs()["bool()"]
    assert missing(all_cases()["bool()"], [first]) == ["no repair uses vy.bool_(x[0] - 1.0)"]


def test_a_repair_that_asserts_nothing_is_caught() -> None:
    (repair,) = all_repairs()["numpy"]
    for proof in ("k(np.zeros(1, np.float32))\n", "assert True\n"):
        assert failures(replace(repair, proof=proof)) == ["numpy asserts nothing"]


def test_a_program_that_is_accepted_is_caught() -> None:
    accepted = Case("nothing", "@vy.kernel\ndef k(x: vy.InOut[vy.f32]):\n    x[0] = 1.0\n")
    assert audit(accepted, []) == ["nothing is not refused any more"]
