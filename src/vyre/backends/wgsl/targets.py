"""What WebGPU devices can do, as targets to compile for."""

from __future__ import annotations

from functools import lru_cache

from vyre.backends.wgsl.device import INT64_FEATURES, WgpuDevice
from vyre.backends.wgsl.memory import NATIVE64
from vyre.backends.wgsl.subgroups import NATIVE
from vyre.target import WEBGPU_DEFAULT_LIMITS, Feature, Limits, Target

FEATURES = frozenset(
    {
        Feature.F16,
        Feature.ATOMIC64,
        Feature.ATOMIC_F32,
        Feature.SUBGROUPS,
        Feature.TRAP,
        Feature.INDIRECT_DISPATCH,
        Feature.STRICT_NAN,
        Feature.STRICT_FMA,
    }
)
"""What every WebGPU device can do, by itself or by what we emit; f16 is computed in f32."""
PORTABLE_WIDTH = 32
"""Lanes of subgroups that are made of workgroup memory."""
MOST_BYTES = (1 << 31) - 1
"""No buffer is larger, so that a negative 32-bit index is never in bounds."""

PORTABLE = Target("WebGPU", FEATURES, WEBGPU_DEFAULT_LIMITS, PORTABLE_WIDTH)
"""Any WebGPU device, browsers included."""


@lru_cache(maxsize=64)
def device_target(device: WgpuDevice) -> Target:
    """What a device of this machine can do."""
    width = device.subgroup_width
    binding = min(device.binding_limit, device.limit("max-buffer-size"), MOST_BYTES)
    most = 1 << 32
    limits = Limits(
        max_workgroup_size=(
            device.limit("max-compute-workgroup-size-x"),
            device.limit("max-compute-workgroup-size-y"),
            device.limit("max-compute-workgroup-size-z"),
        ),
        max_invocations=device.limit("max-compute-invocations-per-workgroup"),
        max_workgroup_bytes=device.limit("max-compute-workgroup-storage-size"),
        max_local_bytes=WEBGPU_DEFAULT_LIMITS.max_local_bytes,
        max_storage_buffers=device.limit("max-storage-buffers-per-shader-stage"),
        max_buffer_bytes=binding,
        max_uniform_bytes=min(device.limit("max-uniform-buffer-binding-size"), 65_536),
        # Some devices have a few more; storage serves as well, and then browsers take the shader.
        max_uniform_buffers=WEBGPU_DEFAULT_LIMITS.max_uniform_buffers,
        max_workgroups=(most - 1, most - 1, most - 1),
        max_loop_rounds=device.loop_rounds or Limits().max_loop_rounds,
    )
    details: list[tuple[str, str]] = [NATIVE] if width else []
    if device.features.issuperset(INT64_FEATURES):
        details.append(NATIVE64)
    return Target(device.info.name, FEATURES, limits, width or PORTABLE_WIDTH, tuple(details))
