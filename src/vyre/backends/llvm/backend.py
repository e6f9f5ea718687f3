"""The CPU backend: the five members of the contract."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm.abi import ABI_VERSION, SUBGROUP_LANES
from vyre.backends.llvm.device import CpuDevice
from vyre.backends.llvm.executable import CpuExecutable
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.pool import process_pool
from vyre.config import config
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Device, EmitOptions
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


class CpuBackend:
    """Compiles programs for this machine, or for its architecture."""

    name = "cpu"
    emits_slowly = True

    def __init__(self) -> None:
        self.device = CpuDevice()

    def probe(self) -> Sequence[Device]:
        """The CPU is always there."""
        return (self.device,)

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
