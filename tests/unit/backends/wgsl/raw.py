"""Hand-written WGSL on a driver: what the tests of the prelude run."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.backends.wgsl.context import needs_zero
from vyre.backends.wgsl.prelude import closure


@cache
def _device() -> Any:
    import wgpu

    return wgpu.gpu.request_adapter_sync().request_device_sync()


def run_wgsl(code: str, inputs: list[NDArray[Any]], output_bytes: int, groups: int) -> bytes:
    """Bind the inputs to 0, 1, ... and one output after them, run `main`, and read the output."""
    import wgpu

    device = _device()
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    buffers = [device.create_buffer_with_data(data=data, usage=usage) for data in inputs]
    buffers.append(device.create_buffer(size=output_bytes, usage=usage))
    module = device.create_shader_module(code=code)
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": "main"}
    )
    bindings = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[{"binding": i, "resource": {"buffer": b}} for i, b in enumerate(buffers)],
    )
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, bindings)
    compute.dispatch_workgroups(groups)
    compute.end()
    device.queue.submit([encoder.finish()])
    return bytes(device.queue.read_buffer(buffers[-1]))


def shader(function: str, signature: str, count: int) -> str:
    """A kernel that maps a function of the prelude over arrays; `vu>v` is (vec2, u32) -> vec2."""
    types = {"u": "u32", "i": "i32", "f": "f32", "v": "vec2<u32>", "b": "bool"}
    stored = {**types, "b": "u32"}
    takes, _, gives = signature.partition(">")
    lines = [f.text for f in closure([function, "hidden_zero"])]
    lines += [
        f"@group(0) @binding({k}) var<storage, read> in{k}: array<{stored[t]}>;"
        for k, t in enumerate(takes)
    ]
    lines.append(
        f"@group(0) @binding({len(takes)}) var<storage, read_write> result: array<{stored[gives]}>;"
    )
    arguments = [f"in{k}[i]" for k in range(len(takes))]
    if needs_zero(function):
        arguments.append("hidden_zero(grid)")
    call = f"{function}({', '.join(arguments)})"
    builtins = {"id": "global_invocation_id", "grid": "num_workgroups"}
    inputs = ", ".join(f"@builtin({full}) {name}: vec3<u32>" for name, full in builtins.items())
    lines.append(
        "@compute @workgroup_size(64)\n"
        f"fn main({inputs}) {{\n"
        "    let i = id.x;\n"
        f"    if (i < {count}u) {{\n"
        f"        result[i] = {stored[gives] if gives == 'b' else ''}({call});\n"
        "    }\n}"
    )
    return "\n\n".join(lines) + "\n"


NUMPY = {"u": np.uint32, "i": np.int32, "f": np.float32, "v": np.uint64, "b": np.uint32}


def map_function(function: str, signature: str, *inputs: NDArray[Any]) -> NDArray[Any]:
    """`function` of the prelude over arrays, in the process of a driver."""
    gives = NUMPY[signature.partition(">")[2]]
    count = len(inputs[0])
    code = shader(function, signature, count)
    data = run_wgsl(code, list(inputs), count * np.dtype(gives).itemsize, (count + 63) // 64)
    return np.frombuffer(data, gives)
