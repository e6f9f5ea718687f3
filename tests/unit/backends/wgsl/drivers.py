"""The two Vulkan drivers of the tests, each in a process of its own with a deadline.

A kernel that hangs costs its test and its process; the next test gets a new one. A driver that is
not installed fails the test with the package that has it.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from vyre.backends.wgsl import adapters


@dataclass(frozen=True)
class Driver:
    """A Vulkan driver that runs on the CPU."""

    name: str
    """What the device calls itself, in part."""
    manifest: str
    package: str


LAVAPIPE = Driver("llvmpipe", "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", "mesa-vulkan-drivers")
SWIFTSHADER = Driver("SwiftShader", "/usr/lib/chromium/vk_swiftshader_icd.json", "chromium")
DRIVERS = (LAVAPIPE, SWIFTSHADER)


class Worker:
    """Runs functions in a process where one driver is the only one."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.process: BaseProcess | None = None
        self.pipe: Connection | None = None

    def call(self, function: Callable[..., Any], *args: Any, deadline: float = 30.0) -> Any:
        """What `function(*args)` returns or raises there; TimeoutError after `deadline` seconds."""
        if self.process is None or self.pipe is None:
            self._start()
        assert self.pipe is not None
        try:
            self.pipe.send((function, args))
            if not self.pipe.poll(deadline):
                raise TimeoutError(f"{self.driver.name} did not finish in {deadline:g} s")
            returned, value, trace = self.pipe.recv()
        except (TimeoutError, EOFError, BrokenPipeError, ConnectionResetError):
            self.stop()
            raise
        if returned:
            return value
        value.add_note(f"on {self.driver.name}:\n{trace}")
        raise value

    def stop(self) -> None:
        """End the process; the next call starts a new one."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
        if self.pipe is not None:
            self.pipe.close()
        self.process = self.pipe = None

    def _start(self) -> None:
        if not Path(self.driver.manifest).exists():
            raise AssertionError(
                f"the driver {self.driver.name} is not installed: "
                f"apt-get install -y libvulkan1 {self.driver.package}"
            )
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, self.driver.manifest), daemon=True
        )
        self.process.start()
        theirs.close()


@cache
def worker(driver: Driver) -> Worker:
    """The worker of a driver, started at its first call and stopped at exit."""
    made = Worker(driver)
    atexit.register(made.stop)
    return made


def _serve(pipe: Connection, manifest: str) -> None:
    os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = manifest
    # A busy machine is no reason to fail: what is tested here is not how fast drivers start.
    adapters.PATIENCE = 60.0
    while True:
        try:
            function, args = pipe.recv()
        except EOFError:
            return
        try:
            answer = (True, function(*args), "")
        except BaseException as error:  # noqa: BLE001  -- carried to the test as it is
            answer = (False, error, traceback.format_exc())
        pipe.send(answer)
