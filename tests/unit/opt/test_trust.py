"""Random programs before and after: every pass alone, every profile whole, on the reference.

Several workgroups, hostile indices, edge values in the inputs; after every pass the checker is
asked, and for most of them the sanitizer, which sees a race that the order of the reference would
hide. Every second program holds an idiom that some passes wait for, or a variation that they must
refuse, and those passes run on it. `python -m vyre.conform fuzz --what opt --mixture passes` does
the same for as many programs as one likes.
"""

from __future__ import annotations

import pytest

from tests.share import share
from vyre.conform.fuzz import case_of, check_case
from vyre.conform.fuzz.checks import Tally
from vyre.conform.generate.idioms import IDIOMS
from vyre.opt import registered_passes

CHUNKS = share(6)
EACH = 500


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_reference_before_equals_reference_after(chunk: int) -> None:
    tally = Tally()
    for number in range(chunk * EACH, chunk * EACH + EACH):
        case = case_of(number, "passes")
        found = check_case(case, number, ("opt",), tally)
        assert found == [], f"{found[0].problem}\n{case}\n// after\n{found[0].program}"
    # A run in which a pass changes nothing would prove nothing of it.
    idle = {f"opt {each.metadata.name}" for each in registered_passes()} - tally.counted.keys()
    assert not idle
    assert tally.counted.total() > EACH


def test_an_idiom_waits_for_every_pass_that_random_programs_seldom_have_work_for() -> None:
    waiting = {name for _, passes in IDIOMS.values() for name in passes}
    often = {"simplify", "cse", "elide_bounds", "reduce_strength", "split_variables"}
    assert waiting | often == {each.metadata.name for each in registered_passes()}
