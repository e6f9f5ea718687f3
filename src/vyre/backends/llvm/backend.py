"""The CPU backend: the five members of the contract."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm.abi import (
    ABI_VERSION,
    STACK_BYTES,
    SUBGROUP_LANES,
    WORKER_STACK_BYTES,
)
from vyre.backends.llvm.device import CpuDevice, HostMemory
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.outcome import Outcome, Status
from vyre.backends.llvm.pool import process_pool
from vyre.config import config
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
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Argument, Device, EmitOptions, LaunchRecord
from vyre.driver.host_memory import is_private
from vyre.ir import Program
from vyre.target import EMULATED_SUBGROUPS, Feature, Limits, Target

FEATURES = frozenset(
    {
        Feature.F16,
        Feature.F64,
        Feature.INT64,
        Feature.SUBWORD,
        Feature.ATOMIC64,
        Feature.ATOMIC_F32,
        Feature.SUBGROUPS,
        Feature.TRAP,
        Feature.PRINT,
        Feature.DEADLINE,
        Feature.INDIRECT_DISPATCH,
        Feature.STRICT_NAN,
        Feature.STRICT_FMA,
        Feature.HOST_MEMORY,
    }
)
LIMITS = Limits(
    max_workgroup_size=(65_536, 65_536, 65_536),
    max_invocations=65_536,
    max_workgroup_bytes=1 << 24,
    max_local_bytes=1 << 20,
    max_storage_buffers=1024,
)


class CpuExecutable:
    """A kernel in this process."""

    __slots__ = ("kernel",)

    def __init__(self, kernel: NativeKernel) -> None:
        self.kernel = kernel

    def launch(
        self,
        arguments: Sequence[Argument],
        grid: tuple[int, int, int],
        deadline: float | None = None,
    ) -> LaunchRecord:
        """Run the grid on all threads and wait for its end."""
        outcome = self.kernel.launch_raw(
            _places(arguments), grid, deadline, sure=self._is_sure(arguments)
        )
        return _NOTHING if outcome is None else _record(outcome, deadline, self.kernel.info)

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
            _places(held), grid, timeout=deadline, keep=held, sure=self._is_sure(held)
        )

        def run() -> LaunchRecord:
            outcome = function()
            return _NOTHING if outcome is None else _record(outcome, deadline, self.kernel.info)

        return run

    def on_arrays(
        self, grid: tuple[int, int, int], deadline: float | None = None
    ) -> Callable[..., LaunchRecord | None]:
        """A launch on host arrays, which each call passes."""
        info = self.kernel.info
        function = self.kernel.arrays(grid, timeout=deadline)

        def run(*arrays: object) -> LaunchRecord | None:
            outcome = function(*arrays)
            return _NOTHING if outcome is None else _record_of_arrays(outcome, deadline, info)

        proving = info.proving_places
        if not proving:
            return run
        unsure = self.kernel.arrays(grid, timeout=deadline, sure=False)

        def run_if_sure(*arrays: object) -> LaunchRecord | None:
            if all(is_private(arrays[place]) for place in proving):
                return run(*arrays)
            outcome = unsure(*arrays)
            return _NOTHING if outcome is None else _record_of_arrays(outcome, deadline, info)

        return run_if_sure

    def _is_sure(self, arguments: Sequence[Argument]) -> bool:
        """True if buffer contents may prove that indices are in bounds."""
        memories = [arguments[place].memory for place in self.kernel.info.proving_places]
        return all(isinstance(memory, HostMemory) and memory.is_private for memory in memories)


def _places(arguments: Sequence[Argument]) -> list[tuple[int, int]]:
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
    return None if outcome.status is Status.BAD_ARGUMENT else _record(outcome, deadline, info)


def _record(outcome: Outcome, deadline: float | None, info: KernelInfo) -> LaunchRecord:
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


class CpuBackend:
    """Compiles programs for this machine, or for its architecture."""

    name = "cpu"
    emits_slowly = True

    def __init__(self) -> None:
        self._device = CpuDevice()

    def probe(self) -> Sequence[Device]:
        """The CPU is always there."""
        return (self._device,)

    def target(self, device: Device) -> Target:
        """What this machine's CPU can do; `VYRE_CPU=generic` leaves out what not every CPU has."""
        return _target(os.environ.get("VYRE_CPU", "native"), config().without)

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        """Machine code for a program."""
        from vyre.backends.llvm.compile import compile_program

        details = dict(target.details)
        without = frozenset(details.get("without", "").split(","))
        return compile_program(program, details.get("cpu", "native"), options, without)

    def load(self, artifact: Artifact, device: Device) -> CpuExecutable:
        """Put machine code into this process."""
        values = {key: value for key, value in artifact.metadata.items() if key != "segment"}
        info = KernelInfo.from_json(values)
        return CpuExecutable(NativeKernel(artifact.payload, info, process_pool()))


@cache
def _target(setting: str, without: frozenset[str]) -> Target:
    details = [("cpu", setting), ("machine", hosts.fingerprint()), ("abi", str(ABI_VERSION))]
    details.append(EMULATED_SUBGROUPS)
    if without:
        from vyre.backends.llvm.pipeline import switches

        details.append(("without", ",".join(sorted(without & switches()))))
    return Target("cpu", FEATURES, LIMITS, SUBGROUP_LANES, tuple(details))


def backend() -> CpuBackend:
    """The CPU backend."""
    return CpuBackend()
