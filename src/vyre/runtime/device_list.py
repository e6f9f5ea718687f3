"""`vyre.devices`: what is here to run programs."""

from __future__ import annotations

from vyre.driver import routing
from vyre.driver.backend import DeviceInfo


def devices() -> list[DeviceInfo]:
    """Every device, those included that are not available.

    Each has an `id` for `device=`, `name`, `kind`, `backend`, `available`, and, where it is not,
    the `reason` and the `remedy`.
    """
    return [device.info for device in routing.all_devices()]
