"""wgpu-py as one writes it by hand: the least that does the work, kept ready for every launch."""

from typing import Any

import numpy as np

from benchmarks.kernel import Array
from benchmarks.peers.foreign import load

BATCH = 64
"""Launches that share a submission."""


class ByHand:
    """A device of wgpu with buffers, pipelines and readback, and nothing that looks after them."""

    def __init__(self, name: str) -> None:
        self.wgpu = load("wgpu")
        found = self.wgpu.gpu.enumerate_adapters_sync()
        vulkan = [a for a in found if a.info["backend_type"] != "OpenGL"]
        adapter = next(a for a in vulkan if a.info["device"] == name)
        self.device = adapter.request_device_sync()
        self.queue = self.device.queue
        usage = self.wgpu.BufferUsage
        self.storage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        self.staging: Any = None

    def buffer(self, nbytes: int) -> Any:
        """Memory of the device."""
        return self.device.create_buffer(size=nbytes, usage=self.storage)

    def filled(self, array: Array) -> Any:
        """Memory of the device with the contents of an array."""
        return self.device.create_buffer_with_data(data=array, usage=self.storage)

    def pipeline(self, shader: str) -> Any:
        """A shader, compiled."""
        module = self.device.create_shader_module(code=shader)
        compute = {"module": module, "entry_point": "main"}
        return self.device.create_compute_pipeline(layout="auto", compute=compute)

    def bound(self, pipeline: Any, *buffers: Any) -> Any:
        """Buffers at the places 0, 1, ... of a shader."""
        entries = [
            {"binding": k, "resource": {"buffer": b, "offset": 0, "size": b.size}}
            for k, b in enumerate(buffers)
        ]
        layout = pipeline.get_bind_group_layout(0)
        return self.device.create_bind_group(layout=layout, entries=entries)

    def launch(self, pipeline: Any, group: Any, workgroups: int, launches: int) -> None:
        """Some launches, in as few submissions as keep the device busy; they are not awaited."""
        while launches:
            share = min(launches, BATCH)
            encoder = self.device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group)
            for _ in range(share):
                compute.dispatch_workgroups(workgroups)
            compute.end()
            self.queue.submit([encoder.finish()])
            launches -= share

    def wait(self) -> None:
        """Until everything that was submitted has ended.

        wgpu-py has no public way; mapping a buffer takes longer than asking the device, as its
        own code does.
        """
        self.device._poll_wait()

    def write(self, buffer: Any, array: Array) -> None:
        """From the host to the device, begun at once."""
        self.queue.write_buffer(buffer, 0, array)
        self.queue.submit([self.device.create_command_encoder().finish()])

    def read(self, buffer: Any, into: Array) -> None:
        """From the device to the host, through memory that is kept for it."""
        if self.staging is None or self.staging.size < into.nbytes:
            usage = self.wgpu.BufferUsage
            self.staging = self.device.create_buffer(
                size=into.nbytes, usage=usage.COPY_DST | usage.MAP_READ
            )
        encoder = self.device.create_command_encoder()
        encoder.copy_buffer_to_buffer(buffer, 0, self.staging, 0, into.nbytes)
        self.queue.submit([encoder.finish()])
        self.staging.map_sync("READ", 0, into.nbytes)
        mapped = self.staging.read_mapped(0, into.nbytes, copy=False)
        into[:] = np.frombuffer(mapped, into.dtype)
        self.staging.unmap()
