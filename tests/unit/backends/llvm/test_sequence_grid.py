"""Sequences without a grid of their own: each run gives one, and steps go by it."""

from __future__ import annotations

import pytest

from tests.unit.backends.llvm.test_sequence import PAIR, PASS_ON, executable, memory
from vyre.backends.llvm.sequence import native_sequence
from vyre.driver.backend import Argument
from vyre.driver.sequence import Clear, Launch, Parameter, Place, Sequence
from vyre.driver.stepwise import Stepwise


@pytest.mark.parametrize("how", ["by the pool", "step by step"])
@pytest.mark.parametrize("cost", [0, 1])
def test_launches_and_clears_go_by_the_grid_of_the_run(how: str, cost: int) -> None:
    count = 100_000
    one, first = memory(count)
    other, second = memory(count)
    bound = tuple(Argument(end, count) for end in (one, other))
    passes = executable(PASS_ON, buffers=PAIR, group_cost_ns=cost)
    sequence = Sequence((Launch(passes, bound, None), Clear(Place(one), 4, is_per_workgroup=True)))
    prepared = native_sequence(sequence) if how == "by the pool" else Stepwise(sequence)
    assert prepared is not None
    for groups in (1, 7, 50_000, 7, 16_384, 16_385, 100_000, 3):
        first[:], second[:] = 5, 0
        assert prepared.run(grid=(groups, 1, 1)) is not None
        assert (second[:groups] == 6).all()
        assert not second[groups:].any()
        assert not first[:groups].any()
        assert (first[groups:] == 5).all()


def test_views_that_steps_look_into_are_left_to_the_host() -> None:
    one, _ = memory(10)
    view = Parameter(0, is_view=True)
    passes = executable(PASS_ON, buffers=PAIR)
    launch = Launch(passes, (view, Argument(one, 10)), (5, 1, 1))
    assert native_sequence(Sequence((launch,), parameters=1)) is not None
    cleared = Sequence((launch, Clear(Place(view), 8)), parameters=1)
    assert native_sequence(cleared) is None


def test_a_grid_that_cannot_be_counted_is_refused() -> None:
    one, _ = memory(10)
    launch = Launch(executable(PASS_ON, buffers=PAIR), (Argument(one, 10),) * 2, None)
    prepared = native_sequence(Sequence((launch,)))
    assert prepared is not None
    assert prepared.run(grid=(1 << 20, 1 << 20, 1 << 20)) is None
