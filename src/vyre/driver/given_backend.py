"""Whatever names a backend, as a route to a device of it."""

from __future__ import annotations

from vyre.diagnostics import ArgumentError, DeviceError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.backend import Backend
from vyre.driver.routing import Route

_CONTRACT = ("name", "probe", "target", "emit", "load")
"""What every backend has."""


def route_of(given: str | Backend | Route) -> Route:
    """The route that an id, a route or a backend with its first available device names."""
    if isinstance(given, str):
        return routing.choose(given)
    if isinstance(given, Route):
        return given
    lacking = [name for name in _CONTRACT if not hasattr(given, name)]
    if lacking:
        raise ArgumentError(codes.NOT_A_BACKEND.at(found=repr(given), missing=lacking[0]))
    devices = list(given.probe())
    for device in devices:
        if device.info.available:
            return Route(given, device, "given by the caller")
    reason = devices[0].info.reason if devices else "it found no device"
    remedy = devices[0].info.remedy if devices else "connect one"
    raise DeviceError(codes.DEVICE_UNAVAILABLE.at(name=given.name, reason=reason, remedy=remedy))
