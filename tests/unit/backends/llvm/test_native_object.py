"""The runtime's own code for systems and machines other than this one."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tests.unit.backends.llvm.native_kernels import COUNTERS, INCREMENT, SPIN, address, compiled
from vyre.backends.llvm import host, jit, native_object
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.outcome import Status
from vyre.backends.llvm.pool import Pool


@pytest.mark.parametrize(
    ("system", "triple"),
    [
        ("linux", "x86_64-unknown-linux-gnu"),
        ("linux", "aarch64-unknown-linux-gnu"),
        ("darwin", "arm64-apple-macosx14.0.0"),
        ("win32", "x86_64-pc-windows-msvc"),
    ],
)
def test_the_runtime_compiles_for_every_system(system: str, triple: str) -> None:
    target = host.Host(triple, "x86-64" if triple.startswith("x86") else "generic", "")
    text = native_object.source(system, target.architecture)
    assert "$" not in text
    assert len(jit.compile_text(text, target).object) > 1000


@pytest.fixture(scope="module")
def condition_pool() -> Pool:
    """What macOS uses, here."""
    text = native_object.source("linux-condition", native_object.architecture())
    return Pool(jit.compile_text(text, host.generic()).object, threads=4)


def test_waiting_by_condition_variable(condition_pool: Pool) -> None:
    info = KernelInfo(COUNTERS, (1, 1, 1))
    kernel = NativeKernel(compiled(INCREMENT), info, condition_pool)
    data = np.zeros(1000, np.int32)
    launch = kernel.bind([address(data)], (1000, 1, 1))
    for pause in (0.0, 0.001, 0.005):
        for _ in range(20):
            launch()
            time.sleep(pause)
    assert (data == 60).all()
    assert condition_pool.workers == 3


def test_deadlines_by_condition_variable(condition_pool: Pool) -> None:
    kernel = NativeKernel(
        compiled(SPIN), KernelInfo(COUNTERS, (1, 1, 1), polls=True), condition_pool
    )
    data = np.zeros(4, np.int32)
    ended: list[Status] = []

    def work() -> None:
        outcome = kernel.launch_raw([address(data)], (10, 1, 1), 0.05)
        assert outcome is not None
        ended.append(outcome.status)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert ended == [Status.DEADLINE] * 4
