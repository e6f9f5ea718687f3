"""The WebGPU backend: WGSL for any GPU, run by wgpu."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.backends.wgsl.backend import WgpuBackend


def backend() -> WgpuBackend:
    """The backend, for the registry."""
    from vyre.backends.wgsl.backend import WgpuBackend

    return WgpuBackend()
