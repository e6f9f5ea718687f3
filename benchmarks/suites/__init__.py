"""The suites, in the order they run and are reported: one file each."""

from benchmarks.report import Suite
from benchmarks.suites import compiler, kernels, latency, optimizer, reference

SUITES: tuple[Suite, ...] = (
    kernels.SUITE,
    compiler.SUITE,
    optimizer.SUITE,
    reference.SUITE,
    latency.SUITE,
)
