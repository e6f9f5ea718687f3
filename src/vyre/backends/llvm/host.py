"""The target CPU: its LLVM name, its features, and derived properties.

`fingerprint()` identifies this machine without importing llvmlite, so that a warm start can look
for cached machine code at once; `native()` and `generic()` describe a target to LLVM and do import
it.
"""

from __future__ import annotations

import platform
import sys
from functools import cache

from vyre.backends.llvm.llvmlite_binding import binding
from vyre.digests import blake2b
from vyre.record import dataclass

_CPUINFO_HEAD = 8192
"""Enough for the first processor's block of /proc/cpuinfo; the file grows with the core count."""


@dataclass(frozen=True, slots=True)
class Host:
    """A target in LLVM's terms."""

    triple: str
    cpu: str
    features: str
    """Comma-separated `+name` and `-name`; empty for the CPU's defaults."""

    @property
    def enabled(self) -> frozenset[str]:
        """The features that are switched on by name."""
        return _enabled(self.features)

    @property
    def architecture(self) -> str:
        """`x86_64`, `aarch64`, ..."""
        return self.triple.split("-", 1)[0].replace("arm64", "aarch64")

    @property
    def vector_bits(self) -> int:
        """Width of the vector registers worth using."""
        if self.architecture == "x86_64":
            if "avx512f" in self.enabled and "avx512vl" in self.enabled:
                return 512
            return 256 if "avx2" in self.enabled else 128
        return 128

    @property
    def vector_registers(self) -> int:
        """The number of vector registers."""
        return 16 if self.architecture == "x86_64" and self.vector_bits < 512 else 32

    @property
    def has_mask_registers(self) -> bool:
        """True if a masked store takes no longer than another one."""
        return self.vector_bits >= 512

    @property
    def masks_bytes(self) -> bool:
        """True if that holds for elements of one or two bytes, too."""
        return self.has_mask_registers and "avx512bw" in self.enabled

    @property
    def looks_far_ahead(self) -> bool:
        """True if hardware prefetching suffices.

        It does on machines with AVX-512: a sum with software prefetches takes a fifth longer there.
        """
        return self.vector_bits >= 512

    @property
    def has_fma(self) -> bool:
        """True if a fused multiply-add is one instruction."""
        if self.architecture == "x86_64":
            return "fma" in self.enabled
        return self.architecture == "aarch64"

    @property
    def has_half_conversion(self) -> bool:
        """True if f16 converts to and from f32 in hardware."""
        if self.architecture == "x86_64":
            return "f16c" in self.enabled
        return self.architecture == "aarch64"

    @property
    def saturates_vectors(self) -> bool:
        """True if float vectors convert to integers with saturation in hardware."""
        return self.architecture == "aarch64"


@cache
def _enabled(features: str) -> frozenset[str]:
    return frozenset(f[1:] for f in features.split(",") if f.startswith("+"))


@cache
def native() -> Host:
    """This machine, with all its features."""
    llvm = binding()

    return Host(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
    )


@cache
def generic() -> Host:
    """The baseline of this architecture: code that runs on all of its machines."""
    llvm = binding()

    triple = llvm.get_process_triple()
    cpu = "x86-64" if triple.startswith("x86_64") else "generic"
    return Host(triple=triple, cpu=cpu, features="")


@cache
def fingerprint() -> str:
    """An identifier of this machine's instruction set and system, stable across processes."""
    parts = [sys.platform, platform.machine(), _cpu_description()]
    return blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def _cpu_description() -> str:
    if sys.platform != "linux":
        return platform.processor()
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        block = file.read(_CPUINFO_HEAD).split("\n\n", 1)[0]
    wanted = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU ")
    return "\n".join(line for line in block.splitlines() if line.startswith(wanted))
