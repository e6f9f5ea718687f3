"""Small shaders that find out what a device does not tell."""

from __future__ import annotations

from typing import Any

from vyre.backends.wgsl.recorder import Launch, Read


def run_once(handle: Any, recorder: Any, shader: str, words: int) -> list[int]:
    """What one workgroup of a shader writes into the only buffer it has."""
    import wgpu

    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    buffer = handle.create_buffer(size=4 * words, usage=usage)
    module = handle.create_shader_module(code=shader)
    pipeline = handle.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": "main"}
    )
    group = handle.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[{"binding": 0, "resource": {"buffer": buffer, "offset": 0, "size": 4 * words}}],
    )
    recorder.dispatch(Launch(pipeline, group, [buffer], (1, 1, 1)))
    data = bytearray(4 * words)
    recorder.read([Read(buffer, 0, memoryview(data))])
    return memoryview(data).cast("I").tolist()
