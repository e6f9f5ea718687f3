"""Calls like one before run the grid, and zero the elements, that an uncached call would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import vyre as vy
from tests.unit.runtime.size_nets import (
    COVERED,
    compiled,
    general,
    random_arguments,
    random_extents,
    random_kernels,
)
from vyre.diagnostics import DispatchError
from vyre.runtime import cached_call, clearing, launch_sizes


def _differences(kernels: list[Any], rounds: int) -> Iterator[str]:
    rng = np.random.default_rng(7)
    agreed = skipped = 0
    for kernel in kernels:
        for _ in range(rounds):
            args, said = random_arguments(kernel, rng), random_extents(rng)
            found, wanted = compiled(kernel, args, said), general(kernel, args, said)
            if found is None:
                skipped += 1
            elif found != wanted:
                yield f"{kernel.__name__} on {[getattr(a, 'shape', a) for a in args]}, {said}"
            else:
                agreed += 1
    if agreed < 2 * skipped:
        yield f"only {agreed} sizes were found, {skipped} were not"


def test_covered_outputs() -> None:
    assert list(_differences(list(COVERED), 60)) == []


@pytest.mark.parametrize("seeds", [range(40), range(40, 80)], ids=str)
def test_random_guards(seeds: range) -> None:
    kernels = random_kernels(seeds)
    assert len(kernels) > 10
    assert list(_differences(kernels, 15)) == []


def _edited(old: str, new: str) -> Callable[[], AbstractContextManager[object]]:
    """A mistake in what is compiled."""

    def run(source: str, scope: dict[str, Any]) -> None:
        exec(source.replace(old, new), scope)

    return lambda: patch.object(launch_sizes, "exec", run, create=True)


def _runs_after(place: int, size: int, shape: Any, box: Any) -> bytes:
    return clearing.runs_around(place, size, shape, [(0, end) for _, end in box])


PLANTS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "workgroups rounded down": _edited("= -(-", "= ("),
    "one workgroup too many": _edited(" // 64)", " // 64) + 1"),
    "the least of two needs": _edited("max(", "min("),
    "a whole array not cleared": _edited("runs += run_of_all(", "run_of_all("),
    "nothing cleared around a box": _edited("runs += runs_around(", "runs_around("),
    "a box that ends late": _edited("if not (", "if False and ("),
    "a margin forgotten": _edited(" - 1", ""),
    "a given grid of one axis": _edited("x, y, z = grid", "x, y, z = grid[0], 1, 1"),
    "nothing cleared before a box": lambda: patch.object(launch_sizes, "runs_around", _runs_after),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_mistake_is_found(plant: str) -> None:
    with PLANTS[plant]():
        kernels = [*COVERED, *random_kernels(range(20))]
        assert next(_differences(kernels, 40), None) is not None


# --- whole calls ----------------------------------------------------------------------------------


def _is_like_uncached(kernel: Any, rng: np.random.Generator, rounds: int, least: int = 0) -> bool:
    """Whether calls in a row, and calls that forget all others, do the same."""
    for _ in range(rounds):
        args, said = random_arguments(kernel, rng, least), random_extents(rng)
        if rng.random() < 0.3:
            args = [vy.array(a, "cpu") if isinstance(a, np.ndarray) else a for a in args]
        # Copies of device arrays are device arrays.
        others = [each.__copy__() if hasattr(each, "shape") else each for each in args]
        ended = [_error(kernel, args, said, "__call__"), _error(kernel, others, said, "_call")]
        if ended[0] != ended[1]:
            return False
        for one, other in zip(args, others, strict=True):
            if hasattr(one, "shape") and not np.array_equal(np.asarray(one), np.asarray(other)):
                return False
    return True


def _error(kernel: Any, args: list[Any], said: dict[str, Any], how: str) -> str | None:
    try:
        if how == "__call__":
            kernel(*args, device="cpu", deadline=60.0, **said)
        else:
            kernel._call(tuple(args), {}, ("cpu", said.get("grid"), said.get("elements"), 60.0))
    except DispatchError as error:
        return error.code
    return None


@pytest.mark.parametrize("kernel", COVERED, ids=lambda kernel: kernel.__name__)
def test_calls_on_new_sizes_do_what_uncached_calls_do(kernel: Any) -> None:
    assert _is_like_uncached(kernel, np.random.default_rng(11), 40)


def test_random_kernels_do_what_uncached_calls_do() -> None:
    for kernel in random_kernels(range(100, 110)):
        # Some loops step by a number: none of those is 0.
        assert _is_like_uncached(kernel, np.random.default_rng(12), 8, least=5), kernel


def test_calls_show_a_planted_mistake() -> None:
    with PLANTS["a whole array not cleared"]():
        rng = np.random.default_rng(13)
        assert not all(_is_like_uncached(kernel, rng, 40) for kernel in _anew())


def test_calls_show_numbers_that_are_not_looked_at() -> None:
    with patch.object(cached_call, "is_varying", lambda *_: False):
        kernel, *_ = _anew()
        n, y, right = 9, np.zeros(30_000, np.float32), True
        x, z = np.zeros(3, np.float32), np.zeros((3, 3), np.uint8)
        for n in (30_000, 30_000, 29_000, 5):
            y[:] = 7
            kernel(n, 1, x, y, z, device="cpu")
            right &= not y[n:].any()
        assert not right


def _anew() -> list[Any]:
    """Kernels that nothing is cached of."""
    kernels: list[Any] = list(COVERED[-2:])
    return [vy.kernel(workgroup=k.source.workgroup)(k.__wrapped__) for k in kernels]
