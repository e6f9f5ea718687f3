"""A target: the features and limits that a program is checked and compiled for."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

from vyre.record import dataclass
from vyre.target.feature import Feature


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers a device will not exceed."""

    max_workgroup_size: tuple[int, int, int] = (1024, 1024, 1024)
    max_invocations: int = 1024
    """Invocations of one workgroup."""
    max_workgroup_bytes: int = 65_536
    max_local_bytes: int = 65_536
    """Bytes of private arrays of one invocation."""
    max_storage_buffers: int = 64
    max_buffer_bytes: int = (1 << 47) - 1
    max_uniform_bytes: int = 65_536
    max_uniform_buffers: int = 64
    max_workgroups: tuple[int, int, int] = ((1 << 32) - 1, (1 << 32) - 1, (1 << 32) - 1)
    """Workgroups along each axis, after any folding the backend does."""
    max_loop_rounds: int = (1 << 64) - 1
    """Rounds of all loops of one invocation together, after which the device ends them."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a program is compiled for."""

    name: str
    features: frozenset[Feature] = frozenset()
    limits: Limits = field(default_factory=Limits)
    subgroup_width: int = 1
    details: tuple[tuple[str, str], ...] = ()
    """What else decides about generated code, such as the CPU's name: part of cache keys."""

    def key(self) -> str:
        """Everything that decides about generated code, as one line, the same in every process."""
        return _key(self)

    def has(self, feature: Feature) -> bool:
        """Whether the device can do it."""
        return feature in self.features


@lru_cache(maxsize=64)
def _key(target: Target) -> str:
    features = ",".join(sorted(target.features))
    return f"{target.name!r};{features};{target.limits};{target.subgroup_width};{target.details!r}"


EMULATED_SUBGROUPS = ("subgroups", "emulated")
"""The detail of a target whose lanes exchange values through memory, at the price of barriers."""

WEBGPU_DEFAULT_LIMITS = Limits(
    max_workgroup_size=(256, 256, 64),
    max_invocations=256,
    max_workgroup_bytes=16_384,
    max_local_bytes=8_192,
    max_storage_buffers=8,
    max_buffer_bytes=134_217_728,
    max_uniform_bytes=65_536,
    max_uniform_buffers=12,
)
"""What every WebGPU device offers."""
