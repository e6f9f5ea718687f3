"""What wgpu reports, as errors of vyre."""

from __future__ import annotations

from types import TracebackType

from vyre.diagnostics import BackendError, OutOfMemoryError
from vyre.diagnostics.codes import driver as driver_codes
from vyre.diagnostics.codes import webgpu as codes
from vyre.signals import is_from_handler


class translated:  # noqa: N801  read as a verb: `with translated(device, "writing memory")`
    """Errors of wgpu inside become errors of vyre. A class, as every launch enters one."""

    __slots__ = ("device", "doing", "nbytes")

    def __init__(self, device: str, doing: str, nbytes: int = 0) -> None:
        self.device = device
        self.doing = doing
        self.nbytes = nbytes

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if problem is None:
            return
        import wgpu

        if not isinstance(problem, (wgpu.GPUError, RuntimeError)) or is_from_handler(problem):
            return
        text = " ".join(str(problem).split())
        said = text.lower()
        is_full = isinstance(problem, wgpu.GPUOutOfMemoryError)
        if is_full or ("memory" in said and "not enough" in said):
            full = driver_codes.OUT_OF_MEMORY.at(
                device=self.device, nbytes=self.nbytes, in_use="an unknown amount"
            )
            raise OutOfMemoryError(full) from problem
        if "lost" in said:
            lost = codes.DEVICE_LOST.at(device=self.device, doing=self.doing)
            raise BackendError(lost) from problem
        failed = codes.DEVICE_FAILED.at(device=self.device, doing=self.doing, problem=text)
        raise BackendError(failed) from problem
