"""The table of tuning constants: each row names a benchmark, and its code depends on the row."""

from __future__ import annotations

import re

import pytest

from benchmarks.emitted_text import TARGETS
from benchmarks.sensitivity import differs, emitted, kernels, perturbed, programs_of, reads
from benchmarks.suites import SUITES
from vyre.backends.llvm import heuristics

RANDOM = re.compile(r"random/(kernels|tiny|passes|quick|python)-\d+")
ROWS = {row.name: row for row in heuristics.rows()}
SAMPLED = (
    "SHORT_BODY_OPERATIONS",
    "SCALAR_JAM_FACTORS",
    "SCALAR_UNROLL_FACTOR",
    "JAMMED_COLUMN_VECTORS",
    "LANE_FILTER_LANES",
    "MAX_FULL_UNROLL_ITERATIONS",
    "STORED_VALUE_REGISTERS",
    "GRID_STRIDE_UNROLL_FACTOR",
    "PREFETCH_DISTANCE",
    "MAX_PREFETCHED_STREAMS",
    "SCANNED_BYTES",
    "MIN_INVOCATIONS_PER_ELEMENT",
    "NONTEMPORAL_BYTES",
    "MAX_UNROLLED_LOOPS",
    "GATHERS_PER_ATOMIC",
)
MOST_WITHOUT_BENCHMARK = 35
"""May only fall: a row without a benchmark is a candidate for deletion."""


def test_names_are_unique_and_rows_complete() -> None:
    constants = {name for name in vars(heuristics) if name.isupper()} - {"STACK_BYTES"}
    assert len(ROWS) == len(heuristics.rows()) >= 100
    assert set(ROWS) == constants
    for row in ROWS.values():
        assert row.unit
        assert row.decides.endswith(".")


def test_every_row_names_a_benchmark_that_exists() -> None:
    suites = {f"suites/{suite.name}" for suite in SUITES}
    known = {*kernels(), *suites, "none"}
    missing = [row for row in ROWS.values() if row.benchmark not in known]
    assert all(RANDOM.fullmatch(row.benchmark) for row in missing), missing
    assert sum(row.benchmark == "none" for row in ROWS.values()) <= MOST_WITHOUT_BENCHMARK


@pytest.mark.parametrize("name", SAMPLED)
def test_the_named_kernel_depends_on_the_constant(name: str) -> None:
    row, host = ROWS[name], TARGETS["x86-64-v3"]
    for wire in programs_of(row.benchmark):
        with reads() as read:
            usual = emitted(wire, host)
        if name in read and any(
            differs(usual, wire, host, name, value) for value in perturbed(row.value)
        ):
            return
    pytest.fail(f"{row.benchmark} is the same with another {name}")


def test_a_constant_that_is_not_read_shows_no_dependence() -> None:
    """Planted: the test above can fail."""
    host = TARGETS["x86-64-v3"]
    (wire,) = programs_of("kernels/triad")
    usual = emitted(wire, host)
    assert emitted(wire, host) == usual
    assert not any(differs(usual, wire, host, "SPIN_NS", value) for value in (1, 10**9))
