"""What wgpu reports, as errors of vyre."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vyre.diagnostics import BackendError, OutOfMemoryError
from vyre.diagnostics.codes import driver as driver_codes
from vyre.diagnostics.codes import webgpu as codes


@contextmanager
def translated(device: str, doing: str, nbytes: int = 0) -> Iterator[None]:
    """Errors of wgpu inside become errors of vyre."""
    import wgpu

    try:
        yield
    except wgpu.GPUOutOfMemoryError as problem:
        full = driver_codes.OUT_OF_MEMORY.at(
            device=device, nbytes=nbytes, in_use="an unknown amount"
        )
        raise OutOfMemoryError(full) from problem
    except (wgpu.GPUError, RuntimeError) as problem:
        text = " ".join(str(problem).split())
        if "memory" in text.lower() and "not enough" in text.lower():
            full = driver_codes.OUT_OF_MEMORY.at(
                device=device, nbytes=nbytes, in_use="an unknown amount"
            )
            raise OutOfMemoryError(full) from problem
        if "lost" in text.lower():
            raise BackendError(codes.DEVICE_LOST.at(device=device, doing=doing)) from problem
        failed = codes.DEVICE_FAILED.at(device=device, doing=doing, problem=text)
        raise BackendError(failed) from problem
