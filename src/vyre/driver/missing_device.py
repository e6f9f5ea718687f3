"""A device that is not there, because the backend that would give it cannot be used."""

from __future__ import annotations

from typing import NoReturn

from vyre.diagnostics import DeviceError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import DeviceInfo, DeviceKind, DeviceMemory
from vyre.extensions import Missing


class MissingDevice:
    """What is listed in its place: the name of its backend, the reason and the remedy."""

    def __init__(self, found: Missing) -> None:
        self.info = DeviceInfo(
            found.name,
            found.name,
            DeviceKind.UNKNOWN,
            found.origin,
            available=False,
            reason=found.reason,
            remedy=found.remedy,
        )

    def allocate(self, nbytes: int) -> DeviceMemory:
        """There is no memory."""
        self._refuse()

    def adopt(self, array: memoryview) -> DeviceMemory | None:
        """There is no memory."""
        self._refuse()

    def synchronize(self) -> None:
        """Nothing was launched."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        info = self.info
        raise DeviceError(
            codes.DEVICE_UNAVAILABLE.at(name=info.id, reason=info.reason, remedy=info.remedy)
        )
