"""Pipelines for tests and benchmarks: fifteen kinds, each with a definition in numpy."""

from benchmarks.pipelines import diamond, graphs, sorting, stencils, text
from benchmarks.pipelines.case import PipelineCase

CASES: tuple[PipelineCase, ...] = tuple(
    sorted(
        (*stencils.CASES, *text.CASES, *sorting.CASES, *graphs.CASES, *diamond.CASES),
        key=lambda case: case.number,
    )
)
