"""Tint, the WGSL compiler of Chromium: is this text WGSL, and does it fit the limits?

It runs inside Dawn's null backend (`dawn-python` on PyPI), so it needs no driver. The device has
WebGPU's default limits: a shader that passes here runs in any browser.
"""

import ctypes
from functools import cache
from typing import Any

from pydawn import utils, webgpu


@cache
def _adapter() -> Any:
    info = webgpu.WGPURequestAdapterCallbackInfo()
    info.mode = webgpu.WGPUCallbackMode_WaitAnyOnly
    found: list[Any] = []

    def received(status: int, adapter: Any, message: Any, _user: Any) -> None:
        assert status == webgpu.WGPURequestAdapterStatus_Success, utils.from_wgpu_str(message)
        found.append(adapter)

    info.callback = webgpu.WGPURequestAdapterCallback(received)
    options = webgpu.WGPURequestAdapterOptions()
    options.backendType = webgpu.WGPUBackendType_Null
    utils.wait(webgpu.wgpuInstanceRequestAdapterF(utils.instance, options, info))
    return found[0]


@cache
def _device(features: tuple[str, ...]) -> Any:
    names = {"f16": webgpu.WGPUFeatureName_ShaderF16, "subgroups": webgpu.WGPUFeatureName_Subgroups}
    wanted = [names[feature] for feature in features]
    array = (webgpu.WGPUFeatureName * len(wanted))(*wanted)
    description = webgpu.WGPUDeviceDescriptor()
    description.requiredFeatureCount = len(wanted)
    description.requiredFeatures = ctypes.cast(array, ctypes.POINTER(webgpu.WGPUFeatureName))
    info = webgpu.WGPURequestDeviceCallbackInfo()
    info.mode = webgpu.WGPUCallbackMode_WaitAnyOnly
    found: list[Any] = []

    def received(status: int, device: Any, message: Any, _user: Any) -> None:
        assert status == webgpu.WGPURequestDeviceStatus_Success, utils.from_wgpu_str(message)
        found.append(device)

    info.callback = webgpu.WGPURequestDeviceCallback(received)
    utils.wait(webgpu.wgpuAdapterRequestDeviceF(_adapter(), description, info))
    return found[0]


def problems(code: str, entry_point: str = "main") -> str | None:
    """What Tint has against a compute shader at the default limits, or None."""
    features = tuple(name for name in ("f16", "subgroups") if f"enable {name};" in code)
    device = _device(features)
    try:
        module = utils.create_shader_module(device, code)
        utils.create_compute_pipeline(device, None, {"module": module, "entry_point": entry_point})
    except RuntimeError as refusal:
        return str(refusal)
    return None
