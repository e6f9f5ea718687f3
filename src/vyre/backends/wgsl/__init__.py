"""The WebGPU backend: WGSL for any GPU, run by wgpu."""

from __future__ import annotations

# The function has the name of its module, and must be what the package's attribute means.
from vyre.backends.wgsl.backend import WgpuBackend, backend

__all__ = ["WgpuBackend", "backend"]
