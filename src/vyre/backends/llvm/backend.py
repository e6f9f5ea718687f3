"""The CPU backend: the five members of the contract."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm.abi import ABI_VERSION
from vyre.backends.llvm.device import CpuDevice, HostMemory
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.outcome import Outcome, Status
from vyre.backends.llvm.pool import process_pool
from vyre.diagnostics import BackendError, DeadlineError, OutOfMemoryError, TrapError
from vyre.diagnostics.codes import driver as driver_codes
from vyre.diagnostics.codes import execution as codes
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Argument, Device, EmitOptions, LaunchRecord
from vyre.ir import Program
from vyre.target import Feature, Limits, Target

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
        outcome = self.kernel.launch_raw(_places(arguments), grid, deadline)
        return _NOTHING if outcome is None else _record(outcome, deadline)

    def bind(
        self,
        arguments: Sequence[Argument],
        grid: tuple[int, int, int],
        deadline: float | None = None,
    ) -> Callable[[], LaunchRecord]:
        """The same launch again and again, at the least cost from Python.

        The memory stays in use as long as the result exists.
        """
        held = tuple(arguments)
        function = self.kernel.bind(_places(held), grid, timeout=deadline, keep=held)

        def run() -> LaunchRecord:
            outcome = function()
            return _NOTHING if outcome is None else _record(outcome, deadline)

        return run

    def on_arrays(
        self, grid: tuple[int, int, int], deadline: float | None = None
    ) -> Callable[..., LaunchRecord | None]:
        """A launch on arrays of the host, which are given with each call."""
        function = self.kernel.arrays(grid, timeout=deadline)

        def run(*arrays: object) -> LaunchRecord | None:
            outcome = function(*arrays)
            if outcome is None:
                return _NOTHING
            return None if outcome.status is Status.BAD_ARGUMENT else _record(outcome, deadline)

        return run


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


def _record(outcome: Outcome, deadline: float | None) -> LaunchRecord:
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
        case _:
            raise BackendError(driver_codes.BAD_ARTIFACT.at(problem=str(outcome)))


class CpuBackend:
    """Programs as machine code of this machine, or of any machine of its kind."""

    name = "cpu"
    emits_slowly = True

    def __init__(self) -> None:
        self._device = CpuDevice()

    def probe(self) -> Sequence[Device]:
        """The CPU is always there."""
        return (self._device,)

    def target(self, device: Device) -> Target:
        """What this machine's CPU can do; `VYRE_CPU=generic` leaves out what not every CPU has."""
        return _target(os.environ.get("VYRE_CPU", "native"))

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        """Machine code for a program."""
        from vyre.backends.llvm.compile import compile_program

        return compile_program(program, dict(target.details).get("cpu", "native"), options)

    def load(self, artifact: Artifact, device: Device) -> CpuExecutable:
        """Put machine code into this process."""
        values = {key: value for key, value in artifact.metadata.items() if key != "segment"}
        info = KernelInfo.from_json(values)
        return CpuExecutable(NativeKernel(artifact.payload, info, process_pool()))


@cache
def _target(setting: str) -> Target:
    details = (("cpu", setting), ("machine", hosts.fingerprint()), ("abi", str(ABI_VERSION)))
    return Target("cpu", FEATURES, LIMITS, subgroup_width=1, details=details)


def backend() -> CpuBackend:
    """The CPU backend."""
    return CpuBackend()
