"""Pipelines against the same work done otherwise: apart, by hand, and in C with OpenMP."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, Scale
from benchmarks.peers.c import FLAGS, Compiler
from benchmarks.pipelines.automaton import automaton_data, scan_base64
from benchmarks.pipelines.case import Arguments, copies, disagreement
from benchmarks.pipelines.graphs import bfs, bfs_data, flow_data, reaching
from benchmarks.pipelines.stencils import (
    blur,
    blurred_eight_times,
    floats,
    jacobi,
    picture,
    there_and_back,
)
from benchmarks.pipelines.text import base64_text, count_in_hex, find_in_base64, utf16_in_hex

C_FLAGS = (*FLAGS, "-ffp-contract=off")
MIB = 1 << 20
Launch = Callable[[], object]


@dataclass(frozen=True)
class Side:
    """One of two that do the same work, on arrays of its own."""

    launch: Launch
    results: Callable[[object], Sequence[Array]]
    """The arrays that a launch has made, from what it returned."""
    reset: Launch = lambda: None
    """Makes the arrays as they were before the first launch."""


@dataclass(frozen=True)
class Contest:
    """A pipeline, what it is measured against, and the most that it may take of its time."""

    name: str
    against: str
    bound: float
    sizes: dict[Scale, int]
    pipeline: Any
    data: Callable[[int], Arguments]
    other: Callable[["Contest", Arguments], Side]
    changed: Sequence[int] = ()
    bytes_bound: float | None = None
    """The most bytes of device memory, against those of its stages apart."""
    scratch_bound: float | None = None
    """The most bytes of scratch, against two arrays of the first argument's size."""

    def own(self, given: Arguments) -> Side:
        """The pipeline, called as a user calls it."""
        return side_of(self.pipeline, self.changed, given)


def side_of(call: Callable[..., object], changed: Sequence[int], given: Arguments) -> Side:
    """A call on copies of arguments; those that it changes are reset."""
    mine = copies(given)

    def reset() -> None:
        for position in changed:
            np.copyto(mine[position], given[position])

    def results(returned: object) -> list[Array]:
        many = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
        return [*(mine[position] for position in changed), *many]

    return Side(lambda: call(*mine), results, reset)


def apart(contest: Contest, given: Arguments) -> Side:
    """The stages, one call each."""
    return side_of(contest.pipeline.apart, contest.changed, given)


@cache
def gcc() -> Compiler:
    """The compiler for the C beside the pipelines."""
    return Compiler(Path(__file__).resolve().parent, C_FLAGS)


def by_hand(contest: Contest, given: Arguments) -> Side:
    """Eight stencils to and fro between two arrays, one call each."""
    t = np.zeros_like(given[0])

    def launch(x: Array, y: Array) -> None:
        blur(x, t)
        blur(t, y)
        for _ in range(3):
            blur(y, t)
            blur(t, y)

    return side_of(launch, contest.changed, given)


def in_c(extra: Callable[[Arguments], tuple[Any, ...]], outputs: Sequence[int] = ()) -> Any:
    """The C function of the pipeline's name, given arrays of its own and lengths besides.

    `outputs` are positions among these of arrays that a pipeline returns.
    """

    def other(contest: Contest, given: Arguments) -> Side:
        mine, more = copies(given), extra(given)
        launch = gcc().function("beside", contest.pipeline.__name__)(*mine, *more)

        def reset() -> None:
            for position in contest.changed:
                np.copyto(mine[position], given[position])

        def results(_: object) -> list[Array]:
            return [*(mine[p] for p in contest.changed), *(more[p] for p in outputs)]

        return Side(launch, results, reset)

    return other


unfused = vy.pipeline(fuse=False)(blurred_eight_times.__wrapped__)


def stencil_data(n: int) -> Arguments:
    return floats(n), np.zeros(n, np.float32)


def search_data(n: int) -> Arguments:
    """Text of n characters with a word that about one position in 65 536 may begin."""
    places = np.zeros(256, np.uint8)
    random = np.random.default_rng(5)
    for k in range(4):
        places[random.permutation(256)[:16]] |= 1 << k
    return base64_text(n // 4 * 3), places, n // 256 + 1024


def words_of(level: Array) -> Array:
    return np.zeros(-(-level.size // 32), np.uint32)


TEXT: dict[Scale, int] = {"full": 64 * MIB, "quick": 4 * MIB, "tiny": 3000}
STENCIL: dict[Scale, int] = {"full": 2 * MIB, "quick": MIB // 4, "tiny": 1000}

CONTESTS = (
    Contest(
        "base64, filter of four bytes, compaction",
        "apart",
        0.7,
        TEXT,
        find_in_base64,
        search_data,
        apart,
        bytes_bound=0.45,
    ),
    Contest(
        "hex, UTF-16, histogram",
        "apart",
        0.75,
        TEXT,
        count_in_hex,
        lambda n: utf16_in_hex(n // 4),
        apart,
    ),
    Contest(
        "base64, automaton of 1 000 states",
        "apart",
        0.97,
        TEXT,
        scan_base64,
        lambda n: automaton_data(n // 4 * 3),
        apart,
        (2,),
        bytes_bound=0.6,
    ),
    Contest(
        "eight stencils, fuse=False",
        "ping-pong by hand",
        1.0,
        STENCIL,
        unfused,
        stencil_data,
        by_hand,
        (1,),
        scratch_bound=1.05,
    ),
    Contest(
        "eight stencils",
        "ping-pong by hand",
        0.6,
        STENCIL,
        blurred_eight_times,
        stencil_data,
        by_hand,
        (1,),
        scratch_bound=0.0,
    ),
    Contest(
        "eight stencils",
        "ping-pong in C",
        1.0,
        STENCIL,
        blurred_eight_times,
        stencil_data,
        in_c(lambda given: (np.zeros_like(given[0]), given[0].size)),
        (1,),
    ),
    Contest(
        "neighbours in place, which must not fuse",
        "apart",
        1.02,
        STENCIL,
        there_and_back,
        lambda n: (floats(n),),
        apart,
        (0,),
    ),
    Contest(
        "dataflow of bit sets",
        "C with OpenMP",
        0.8,
        {"full": 2048, "quick": 2048, "tiny": 40},
        reaching,
        lambda n: flow_data(n, 32),
        in_c(lambda g: (np.zeros_like(g[2]), np.zeros_like(g[2]), g[0].size - 1), (0,)),
        (5,),
    ),
    Contest(
        "breadth-first search in both directions",
        "C with OpenMP",
        1.1,
        {"full": 1 << 20, "quick": 1 << 16, "tiny": 500},
        bfs,
        lambda n: bfs_data(n, 8),
        in_c(lambda g: (words_of(g[2]), words_of(g[2]), words_of(g[2]), g[2].size)),
        (2, 4),
    ),
    Contest(
        "Jacobi to a tolerance",
        "C with OpenMP",
        1.05,
        {"full": 1 << 20, "quick": 1 << 16, "tiny": 500},
        jacobi,
        lambda n: (np.zeros_like(picture(n)), picture(n), 1e-4, np.zeros(1, np.uint32)),
        in_c(lambda g: (np.zeros_like(g[0]), *g[0].shape)),
        (0, 3),
    ),
)


def compared(contest: Contest, given: Arguments) -> tuple[Side, Side, str]:
    """Both sides, and how their results differ after one launch each; empty if they do not."""
    own, other = contest.own(given), contest.other(contest, given)
    outcomes: list[Sequence[Array]] = []
    for side in (own, other):
        side.reset()
        outcomes.append([each.copy() for each in side.results(side.launch())])
    return own, other, disagreement(outcomes[1], outcomes[0])
