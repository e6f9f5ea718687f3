"""A survey of kernels from the kinds of public suites: one file per kind, with its C beside it."""

from benchmarks.survey import bytes as byte_cases
from benchmarks.survey import (
    dynamic,
    finance,
    graph,
    hashing,
    image,
    ml,
    parsing,
    physics,
    polybench,
    records,
    rodinia,
    sorting,
    tutorial,
    workgroups,
)
from benchmarks.survey.case import Case

CASES: tuple[Case, ...] = (
    *polybench.CASES,
    *rodinia.CASES,
    *image.CASES,
    *byte_cases.CASES,
    *parsing.CASES,
    *graph.CASES,
    *ml.CASES,
    *physics.CASES,
    *finance.CASES,
    *sorting.CASES,
    *hashing.CASES,
    *dynamic.CASES,
    *tutorial.CASES,
    *records.CASES,
    *workgroups.CASES,
)
