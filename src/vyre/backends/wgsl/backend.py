"""The WebGPU backend: programs become WGSL and run on any GPU through wgpu."""

from __future__ import annotations

from collections.abc import Sequence

from vyre.backends.wgsl.adapters import find_adapters
from vyre.backends.wgsl.device import WgpuDevice
from vyre.backends.wgsl.emit import emit_shader
from vyre.backends.wgsl.executable import WgpuExecutable
from vyre.backends.wgsl.shader import Shader
from vyre.backends.wgsl.targets import device_target
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Device, EmitOptions
from vyre.ir import Program
from vyre.signals import is_from_handler
from vyre.target import Target


class WgpuBackend:
    """All WebGPU devices of this machine."""

    name = "wgpu"

    def probe(self) -> Sequence[WgpuDevice]:
        """The devices that are here; an unavailable one with the reason if there are none."""
        return [WgpuDevice(found) for found in find_adapters()]

    def target(self, device: Device) -> Target:
        """What a device can do."""
        return device_target(_ours(device))

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        """The program in WGSL."""
        shader = emit_shader(program, target)
        return Artifact(self.name, shader.to_bytes(), {}, {"wgsl": shader.text})

    def load(self, artifact: Artifact, device: Device) -> WgpuExecutable:
        """Make a shader executable on a device."""
        try:
            shader = Shader.from_bytes(artifact.payload)
        except (ValueError, KeyError, TypeError) as problem:
            if is_from_handler(problem):
                raise
            raise BackendError(codes.BAD_ARTIFACT.at(problem=problem)) from problem
        return WgpuExecutable(shader, _ours(device))


def _ours(device: Device) -> WgpuDevice:
    if not isinstance(device, WgpuDevice):
        raise TypeError(f"{device.info.id} is not a WebGPU device")
    return device


def backend() -> WgpuBackend:
    """The backend, for the registry."""
    return WgpuBackend()
