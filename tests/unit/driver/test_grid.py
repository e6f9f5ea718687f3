"""How many workgroups run."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from vyre.diagnostics import DispatchError
from vyre.driver import grid
from vyre.ir import BufferDecl, DataType, Expr, Node, Program

U32 = DataType.U32


def program(*body, size=(64, 1, 1)):
    buffers = [BufferDecl.read("a", 0, U32), *(BufferDecl.read_write(n, 1, U32) for n in "xy")]
    return Program.wrapped(buffers, size, body)


STORES = program(Node.store("x", 0, Expr.u32(1)), Node.eval(Expr.atomic_add("y", 0, Expr.u32(1))))


def test_the_longest_written_buffer_is_covered():
    assert grid.resolve(STORES, {"a": 10_000, "x": 65, "y": 129}, None, None) == (3, 1, 1)


def test_elements_and_grids_win():
    counts = {"a": 1, "x": 1, "y": 1}
    assert grid.resolve(STORES, counts, None, 1000) == (16, 1, 1)
    assert grid.resolve(STORES, counts, 5, None) == (5, 1, 1)
    assert grid.resolve(STORES, counts, (2, 3), None) == (2, 3, 1)


def test_elements_along_several_axes_are_rounded_up_along_each():
    tiled = program(size=(16, 8, 4))
    assert grid.resolve(tiled, {}, None, (33, 17, 5)) == (3, 3, 2)
    assert grid.resolve(tiled, {}, None, (33, 17)) == (3, 3, 1)
    assert grid.resolve(tiled, {}, None, [33]) == (3, 1, 1)
    assert grid.resolve(tiled, {}, None, cast("Any", np.array([33, 17, 5]))) == (3, 3, 2)
    assert grid.resolve(tiled, {}, None, cast("Any", np.array(33))) == (3, 1, 1)
    assert grid.resolve(tiled, {}, None, (33, 0)) == (3, 0, 1)


@pytest.mark.parametrize("wanted", [-1, (3, -1), (1, 2, 3, 4), (), 1.5, (1.5,), "12", 1 << 32])
def test_impossible_elements_are_refused(wanted):
    with pytest.raises(DispatchError) as caught:
        grid.resolve(STORES, {}, None, wanted)
    assert caught.value.code == "D010"


def test_grid_and_elements_together_are_refused():
    with pytest.raises(DispatchError) as caught:
        grid.resolve(STORES, {"x": 1}, 5, 1000)
    assert caught.value.code == "D025"
    assert "grid=5 and elements=1000" in str(caught.value)


def test_a_program_that_writes_nothing_needs_to_be_told():
    with pytest.raises(DispatchError) as caught:
        grid.resolve(program(), {"a": 4}, None, None)
    assert caught.value.code == "D009"


@pytest.mark.parametrize(
    "wanted", [(1, -1, 1), (1 << 31, 1, 1), (1, 2, 3, 4), (), (1.5,), (1 << 25, 1 << 25, 1 << 25)]
)
def test_impossible_grids_are_refused(wanted):
    with pytest.raises(DispatchError) as caught:
        grid.resolve(STORES, {}, wanted, None)
    assert caught.value.code == "D010"
