"""pyopencl on PoCL: context, queue and zero-copy buffers over the host's arrays."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernel import Array
from benchmarks.peers.foreign import load
from benchmarks.peers.missing import PeerMissingError

SOURCES = Path(__file__).resolve().parents[1] / "kernels"
PLATFORM = "Portable Computing Language"


def version() -> str:
    """pyopencl's version and PoCL's."""
    platform = find_platform(load("pyopencl"))
    return f"{package_version('pyopencl')}, {platform.version.strip()}"


def find_platform(cl: Any) -> Any:
    """PoCL among the OpenCL platforms of this machine."""
    remedy = "run `make bench-peers` (apt-get install pocl-opencl-icd ocl-icd-libopencl1)"
    try:
        platforms: list[Any] = cl.get_platforms()
    except cl.LogicError as error:
        raise PeerMissingError(f"no OpenCL platform: {remedy}") from error
    for platform in platforms:
        if platform.name == PLATFORM:
            return platform
    raise PeerMissingError(f"PoCL is not installed: {remedy}")


class Device:
    """The tool of the pyopencl implementations.

    On a CPU the buffers share the host's memory, as someone who cares for speed would have it, so
    nothing is copied; a launch ends when the outputs are mapped back and readable.
    """

    def __init__(self) -> None:
        self.cl = load("pyopencl")
        self.context = self.cl.Context(find_platform(self.cl).get_devices())
        self.queue = self.cl.CommandQueue(self.context)

    @cache  # noqa: B019  # one device lives as long as its process
    def program(self, source: str) -> Any:
        """kernels/<source>.cl, built."""
        return self.cl.Program(self.context, (SOURCES / f"{source}.cl").read_text()).build()

    def buffer(self, array: Array) -> Any:
        """A buffer over the array's own memory."""
        flags = self.cl.mem_flags
        return self.cl.Buffer(self.context, flags.READ_WRITE | flags.USE_HOST_PTR, hostbuf=array)

    def scratch(self, count: int, dtype: type[np.generic]) -> Any:
        """Device memory that the host never sees."""
        size = count * np.dtype(dtype).itemsize
        return self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, size)

    def kernel(
        self, source: str, name: str, grid: tuple[int, ...], group: tuple[int, ...] | None
    ) -> Callable[..., Callable[[], object]]:
        """A kernel with its grid in work-items; called with arguments it gives a thunk to enqueue.

        Buffers and numpy scalars are bound once.
        """
        kernel = self.cl.Kernel(self.program(source), name)
        cl, queue = self.cl, self.queue

        def bind(*arguments: Any) -> Callable[[], object]:
            kernel.set_args(*arguments)

            def launch() -> object:
                return cl.enqueue_nd_range_kernel(queue, kernel, grid, group)

            # A kernel does not keep its buffers alive; the launch must.
            launch.arguments = arguments  # pyright: ignore[reportFunctionMemberAccess]
            return launch

        return bind

    def read(self, *pairs: tuple[Any, Array]) -> None:
        """Waits for everything enqueued and makes the buffers readable through their arrays."""
        cl, queue = self.cl, self.queue
        for buffer, array in pairs:
            view, _ = cl.enqueue_map_buffer(
                queue, buffer, cl.map_flags.READ, 0, array.shape, array.dtype, is_blocking=True
            )
            view.base.release(queue)
        queue.finish()
