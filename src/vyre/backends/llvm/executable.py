"""Kernels as executables of the driver: launches on device memory and on arrays of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vyre.backends.llvm.abi import STACK_BYTES, WORKER_STACK_BYTES
from vyre.backends.llvm.device import HostMemory
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.outcome import Outcome, Status
from vyre.diagnostics import (
    BackendError,
    DeadlineError,
    DispatchError,
    OutOfMemoryError,
    TrapError,
)
from vyre.diagnostics.codes import driver as driver_codes
from vyre.diagnostics.codes import execution as codes
from vyre.diagnostics.codes.native import NO_STACK, NO_WATCHDOG
from vyre.driver.backend import Argument, LaunchRecord
from vyre.driver.host_memory import is_private


class CpuExecutable:
    """A kernel in this process."""

    __slots__ = ("_proving", "kernel")

    def __init__(self, kernel: NativeKernel) -> None:
        self.kernel = kernel
        self._proving = kernel.info.proving_places

    def launch(
        self,
        arguments: Sequence[Argument],
        grid: tuple[int, int, int],
        deadline: float | None = None,
    ) -> LaunchRecord:
        """Run the grid on all threads and wait for its end."""
        sure = not self._proving or self._is_sure(arguments)
        outcome = self.kernel.launch_raw(places_of(arguments), grid, deadline, sure)
        return _NOTHING if outcome is None else record_of(outcome, deadline, self.kernel.info)

    def bind(
        self,
        arguments: Sequence[Argument],
        grid: tuple[int, int, int],
        deadline: float | None = None,
    ) -> Callable[[], LaunchRecord]:
        """A bound launch, which repeats at the least cost from Python.

        The memory stays in use as long as the result exists.
        """
        held = tuple(arguments)
        function = self.kernel.bind(
            places_of(held), grid, timeout=deadline, keep=held, sure=self._is_sure(held)
        )

        def run() -> LaunchRecord:
            outcome = function()
            return _NOTHING if outcome is None else record_of(outcome, deadline, self.kernel.info)

        return run

    def on_arrays(
        self,
        grid: tuple[int, int, int],
        deadline: float | None = None,
        strided: Sequence[int] = (),
    ) -> Callable[..., LaunchRecord | None]:
        """A launch on host arrays, which each call passes."""
        info = self.kernel.info
        function = self.kernel.arrays(grid, timeout=deadline, views=strided)

        def run(*arrays: object) -> LaunchRecord | None:
            outcome = function(*arrays)
            return _NOTHING if outcome is None else _record_of_arrays(outcome, deadline, info)

        proving = self._proving
        if not proving:
            return run
        unsure = self.kernel.arrays(grid, timeout=deadline, sure=False, views=strided)

        def run_if_sure(*arrays: object) -> LaunchRecord | None:
            if all(is_private(arrays[place]) for place in proving):
                return run(*arrays)
            outcome = unsure(*arrays)
            return _NOTHING if outcome is None else _record_of_arrays(outcome, deadline, info)

        return run_if_sure

    def _is_sure(self, arguments: Sequence[Argument]) -> bool:
        """True if buffer contents may prove that indices are in bounds."""
        memories = [arguments[place].memory for place in self._proving]
        return all(isinstance(memory, HostMemory) and memory.is_private for memory in memories)


def places_of(arguments: Sequence[Argument]) -> list[tuple[int, int]]:
    """The address and the element count of every buffer."""
    places: list[tuple[int, int]] = []
    for argument in arguments:
        memory = argument.memory
        assert isinstance(memory, HostMemory)
        places.append((memory.address + argument.offset, argument.count))
    return places


_NOTHING = LaunchRecord()
_LOST = "(the rest of what was printed is lost: print from fewer invocations)"


def _record_of_arrays(
    outcome: Outcome, deadline: float | None, info: KernelInfo
) -> LaunchRecord | None:
    """The same for a launch that may have refused its arrays: None."""
    return None if outcome.status is Status.BAD_ARGUMENT else record_of(outcome, deadline, info)


def record_of(outcome: Outcome, deadline: float | None, info: KernelInfo) -> LaunchRecord:
    """What a launch has to say; raises what it failed with."""
    printed = outcome.printed + ((_LOST,) if outcome.lost_prints else ())
    match outcome.status:
        case Status.DONE:
            return LaunchRecord(printed=printed)
        case Status.TRAP:
            where = outcome.invocation
            trap = TrapError(codes.TRAP.at(tag=outcome.tag, invocation=where), outcome.tag, where)
            trap.printed = printed
            raise trap
        case Status.DEADLINE:
            late = DeadlineError(codes.DEADLINE.at(seconds=deadline))
            late.printed = printed
            raise late
        case Status.NO_MEMORY:
            raise OutOfMemoryError(
                driver_codes.OUT_OF_MEMORY.at(device="cpu", nbytes="scratch", in_use="unknown")
            )
        case Status.NO_STACK:
            # Systems want a whole number of pages.
            wanted = -(-(info.stack_bytes + WORKER_STACK_BYTES - STACK_BYTES) >> 16) << 16
            raise BackendError(NO_STACK.at(found=info.stack_bytes, wanted=wanted))
        case Status.NO_WATCHDOG:
            raise BackendError(NO_WATCHDOG.at(seconds=deadline))
        case Status.FORKED:
            raise DispatchError(driver_codes.FORKED_LAUNCH.at())
        case _:
            raise BackendError(driver_codes.BAD_ARTIFACT.at(problem=str(outcome)))


__all__ = ["CpuExecutable", "places_of", "record_of"]
