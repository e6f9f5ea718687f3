"""vyre's kernels on the reference backend: right results, and nothing for the sanitizer to find."""

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.kernel import Arrays, Kernel
from benchmarks.kernels import KERNELS
from benchmarks.kernels.launch import LAUNCH
from vyre.backends.reference import execute
from vyre.ir import Program


class Oracle:
    """Launches on the reference as `benchmarks.peers.own.Launcher` does on a device."""

    def bind(self, program: Program, arrays: Arrays, grid: tuple[int, ...]) -> Callable[[], object]:
        shape = (*grid, 1, 1)[:3]

        def launch() -> None:
            done = execute(program, arrays, (shape[0], shape[1], shape[2]), sanitize=True)
            assert done.findings == ()
            for name, result in done.outputs.items():
                np.copyto(arrays[name].reshape(-1), result.reshape(-1))

        return launch


@pytest.mark.parametrize("kernel", (*KERNELS, LAUNCH), ids=lambda kernel: kernel.name)
def test_the_program_agrees_with_the_definition(kernel: Kernel) -> None:
    data = kernel.data(kernel.sizes["tiny"])
    run = kernel.peers["vyre"](Oracle(), data)
    run.prepare()
    run.launch()
    assert kernel.check(kernel.define(data), run.outputs) is None
