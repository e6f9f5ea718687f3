"""What a device may or may not be able to do."""

from __future__ import annotations

from enum import StrEnum


class Feature(StrEnum):
    """A capability that some devices have and others lack."""

    F16 = "f16"
    """Arithmetic on half floats; loading, storing and converting them always works."""
    F64 = "f64"
    """Double floats."""
    INT64 = "int64"
    """64-bit integers in hardware; without it they are emulated."""
    SUBWORD = "subword"
    """8- and 16-bit memory accesses in hardware; without it they are packed in words."""
    ATOMIC64 = "atomic64"
    """Atomics on 64-bit integers."""
    ATOMIC_F32 = "atomic_f32"
    """Float atomics, native or emulated."""
    SUBGROUPS = "subgroups"
    """Subgroup operations, native or emulated."""
    GRID_SYNC = "grid_sync"
    """Barriers over the whole grid inside one launch; without it the driver splits programs."""
    TRAP = "trap"
    """Traps reported to the host."""
    PRINT = "print"
    """Printing from kernels."""
    DEADLINE = "deadline"
    """Kernels can be stopped while they run."""
    INDIRECT_DISPATCH = "indirect_dispatch"
    """The grid can be read from a buffer."""
    STRICT_NAN = "strict_nan"
    """NaNs and infinities are computed as IEEE-754 says."""
    STRICT_FMA = "strict_fma"
    """fma rounds once."""
    HOST_MEMORY = "host_memory"
    """The device reads and writes host arrays in place."""
    COLLECTIVES = "collectives"
    """Operations over several devices."""
