"""Stages that hand over tiles: random chains, and faults planted into plan and rewriting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.unit.pipelines import random_chains, suite
from vyre import ir
from vyre.ir.walk import map_bodies, rewrite_exprs
from vyre.pipelines import tile_kernels, tile_planning
from vyre.plan import tile_bounds, tile_kernel, tile_seams
from vyre.plan.tile_plan import MOST_TILE_BYTES

Plant = Callable[[pytest.MonkeyPatch], None]
LENGTHS = (65, 4100)
CHAINS = range(1000, 1008)


@pytest.fixture(autouse=True)
def fused() -> Iterator[None]:
    """Whatever is legal is fused, and no plan of another test is used."""
    with random_chains.whatever_it_costs():
        suite.forget()
        yield
        suite.forget()


def test_random_chains_give_what_their_stages_give() -> None:
    found: list[str] = []
    tiles = 0
    for seed in CHAINS:
        different, many = random_chains.differences(seed, lengths=2)
        found += different
        tiles += many
    assert found == []
    assert tiles > 3 * len(CHAINS)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("quads", ["tile", "materialised"]),
        ("units_of_hex", ["tile", "tile", "materialised"]),
        ("past_the_end", ["register", "tile"]),
        ("beyond_the_grid", ["tile", "tile", "tile"]),
        ("narrow_halo", ["tile"]),
        ("kept_halo", ["written through", "register", "materialised"]),
        ("counted_halo", ["pooled"]),
    ],
)
def test_where_values_are(name: str, where: list[str]) -> None:
    pipeline, make = suite.PIPELINES[name]
    plan = pipeline.plan(*make(5000), device="cpu")
    assert [seam.where for seam in plan.seams] == where


def test_refusals_name_condition_access_and_line() -> None:
    plan = suite.counted_halo.plan(*suite.PIPELINES["counted_halo"][1](100), device="cpu")
    assert plan.launches[1].apart.startswith("L6: counted_double, line ")
    plan = suite.in_place.plan(suite.floats(100), device="cpu")
    assert plan.launches[1].apart.startswith("L7: blur, line ")
    plan = suite.sort_bits.plan(suite.words(100), 1, device="cpu")
    assert any(launch.apart.startswith("L1: the load of ") for launch in plan.launches)


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("name", ["chain", "quads", "units_of_hex", "narrow_halo"])
def test_tiles_have_at_most_16_kib(name: str, device: str) -> None:
    pipeline, make = suite.PIPELINES[name]
    [launch] = pipeline.plan(*make(1_000_000), device=device).launches
    declared = [d for d in launch.kernel.program().buffers if d.is_workgroup]
    assert declared
    assert sum(d.size_bytes or 0 for d in declared) <= MOST_TILE_BYTES


def test_new_lengths_make_no_new_kernel() -> None:
    kernels = set[int]()
    for n in (100, 5000, 70_001):
        [launch] = suite.chain.plan(suite.floats(n), device="cpu").launches
        kernels.add(id(launch.kernel))
    assert len(kernels) == 1


def halo_one_short(patch: pytest.MonkeyPatch) -> None:
    real = tile_bounds.ranges_of

    def short(steps: Any, seams: Any, owners: Any) -> Any:
        found = real(steps, seams, owners)
        return [(min(first + 1, 0), beyond) for first, beyond in found]

    patch.setattr(tile_bounds, "ranges_of", short)


def bounds_of_the_tile(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tile_kernel._Joining, "length", lambda self, name: ir.Expr.u32(0xFFFF_FFFF))


def refilled_while_it_is_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tile_bounds, "_is_free", lambda last, producer: last <= producer)


def atomics_run_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tile_planning, "memory_refusal", lambda *args: None)


def no_wrap_to_bytes(patch: pytest.MonkeyPatch) -> None:
    """Tiles of bytes hold sixteen bits."""
    real = tile_kernels.tiled_program
    wide = {ir.DataType.U8: ir.DataType.U16}

    def widened(statement: ir.AnyStmt) -> ir.AnyStmt:
        match statement:
            case ir.Store(buffer, index, ir.Cast(value, ir.DataType.U8)) if "tile" in buffer:
                return ir.Node.store(buffer, index, ir.Expr.cast(value, ir.DataType.U16))
            case _:
                return map_bodies(statement, lambda body: tuple(map(widened, body)))

    def made(*args: Any) -> ir.Program:
        program = real(*args)
        buffers = [
            replace(d, element=wide.get(d.element, d.element)) if d.is_workgroup else d
            for d in program.buffers
        ]
        entry = tuple(map(widened, rewrite_exprs(program.entry, lambda e: e)))
        return program.with_rewritten_buffers(buffers).with_rewritten_entry(entry)

    patch.setattr(tile_kernels, "tiled_program", made)


def grid_guard_dropped(patch: pytest.MonkeyPatch) -> None:
    """Invocations beyond the grid of a stage, `elements=len(text) // 4`, store too."""
    patch.setattr(tile_kernels, "is_guarded", lambda stage: True)


def edges_are_interior(patch: pytest.MonkeyPatch) -> None:
    real = tile_planning.launched

    def more(*args: Any) -> Any:
        found = real(*args)
        return replace(found, first=0, count=found.grid)

    patch.setattr(tile_planning, "launched", more)


def never_cleared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tile_seams, "_is_dense", lambda *args: True)


FAULTS: dict[Plant, str] = {
    halo_one_short: "chain",
    bounds_of_the_tile: "past_the_end",
    refilled_while_it_is_read: "doubled",
    atomics_run_twice: "counted_halo",
    no_wrap_to_bytes: "narrow_halo",
    grid_guard_dropped: "beyond_the_grid",
    edges_are_interior: "chain",
    never_cleared: "beyond_the_grid",
}


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    name = FAULTS[plant]
    assert suite.differences(name, "cpu", LENGTHS) == []
    suite.forget()
    plant(monkeypatch)
    assert suite.differences(name, "cpu", LENGTHS) != []


def test_counters_of_a_stage_that_is_run_twice_are_exact() -> None:
    x, counter = suite.floats(5000), np.zeros(1, np.uint32)
    suite.counted_halo(x, np.zeros_like(x), counter, device="cpu")
    assert counter.tolist() == [5000]
