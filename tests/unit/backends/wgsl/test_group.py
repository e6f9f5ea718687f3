"""What a workgroup computes together, on drivers of WebGPU: the bits of the reference."""
# Kernels that other tests define have the parameters that these say.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.backends.wgsl.drivers import DRIVERS, Driver
from tests.unit.backends.wgsl.running import check
from tests.unit.front import test_group as group
from tests.unit.front import test_memory as memory

pytestmark = pytest.mark.device
drivers = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
TYPES: tuple[Any, ...] = (np.uint8, np.int16, np.uint32, np.int64, np.float16, np.float32)
WORDS = ("add", "mul", "min", "max")
SIZES = (1, 33, 100, 256, (4, 3, 2))


def agrees(driver: Driver, size: Any, word: str, dtype: Any) -> None:
    rows = group.rows_of(dtype, group.count_of(size))
    x = rows.reshape(-1)
    program = group.kernel_of(size, word).program(x, x.copy(), x.copy(), x.copy())
    sizes = {"total": x.size, "upto": x.size, "before": x.size}
    check(driver, program, {"x": x}, (group.GROUPS, 1, 1), sizes)


@drivers
@pytest.mark.parametrize("dtype", TYPES)
def test_operators_of_any_type(driver: Driver, dtype: Any) -> None:
    for word in WORDS:
        agrees(driver, 12, word, dtype)


@drivers
def test_workgroups_of_any_size(driver: Driver) -> None:
    for size in SIZES:
        agrees(driver, size, "add", np.float32)
    for size, word, dtype in group.LARGE:
        agrees(driver, size, word, dtype)


@drivers
def test_barriers_may_depend_on_the_results(driver: Driver) -> None:
    x = np.random.default_rng(3).integers(0, 150, 160).astype(np.int32)
    program = group.agreed.program(x, x.copy())
    check(driver, program, {"x": x}, (4, 1, 1), {"y": x.size})


@drivers
def test_arrays_of_functions_and_loops(driver: Driver) -> None:
    x = memory.X
    for kernel in (memory.shared_in_functions, memory.shared_in_loops):
        check(driver, kernel.program(x, x.copy()), {"x": x}, (3, 1, 1), {"y": x.size})
