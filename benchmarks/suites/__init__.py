"""The suites, in the order they run and are reported: one file each."""

from benchmarks.report import Suite
from benchmarks.suites import (
    ablation,
    bounds,
    compiler,
    cost_reports,
    grid_barriers,
    kernels,
    latency,
    optimizer,
    pipelines,
    reference,
    settling,
    survey,
    webgpu,
)

SUITES: tuple[Suite, ...] = (
    kernels.SUITE,
    survey.SUITE,
    ablation.SUITE,
    bounds.SUITE,
    compiler.SUITE,
    optimizer.SUITE,
    cost_reports.SUITE,
    pipelines.SUITE,
    grid_barriers.SUITE,
    settling.SUITE,
    reference.SUITE,
    latency.SUITE,
    webgpu.SUITE,
)
