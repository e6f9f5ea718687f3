"""Which device runs a program: the one asked for, or the best that is here."""

from __future__ import annotations

import os
import sys

from vyre.config import config
from vyre.diagnostics import DeviceError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import registry
from vyre.driver.backend import Backend, Device, DeviceInfo, DeviceKind, Refusing
from vyre.driver.missing_device import MissingDevice
from vyre.extensions import Extension, Missing, missing
from vyre.locks import make_lock
from vyre.record import dataclass
from vyre.signals import is_from_handler
from vyre.target import Target

_lock = make_lock()
_probed: dict[str, list[Device]] = {}

_AUTOMATIC = (DeviceKind.GPU, DeviceKind.CPU)
"""What may be chosen without being asked for, best first."""


@dataclass(frozen=True, slots=True)
class Route:
    """A device, the backend it belongs to, and why it was chosen."""

    backend: Backend
    device: Device
    why: str


def probe(name: str) -> list[Device]:
    """The devices of one backend, probed once per process."""
    with _lock:
        if name not in _probed:
            _probed[name] = _devices(name)
        return _probed[name]


def _devices(name: str) -> list[Device]:
    # Looking for packages takes time that the first launch of a process need not spend.
    extension = None if name in registry.BUILTIN else registry.third_party().get(name)
    found = registry.find(name)
    if isinstance(found, Missing):
        return [MissingDevice(found)]
    if extension is None:
        return list(found.probe())
    try:
        devices = list(found.probe())
        problems = [problem for device in devices if (problem := _wrong(device, name))]
    except (Exception, SystemExit) as problem:  # another's code may fail in any way
        if is_from_handler(problem):
            raise
        return [MissingDevice(missing(extension, problem))]
    return [MissingDevice(missing(extension, problems[0]))] if problems else devices


def _wrong(device: object, name: str) -> str | None:
    """What is wrong with a device that another's backend found."""
    if not isinstance(device, Device) or not isinstance(device.info, DeviceInfo):
        return f"its probe() gives {device!r}, which is no device"
    info = device.info
    if info.backend != name or info.id.split(":", 1)[0] != name:
        return f"its probe() gives a device {info.id!r} of the backend {info.backend!r}"
    return None


def forget_devices() -> None:
    """Probe again when devices are next asked for."""
    with _lock:
        _probed.clear()
    choose.cache.clear()


def all_devices() -> list[Device]:
    """Every device of every backend, those that are not available included."""
    found = [device for name in registry.backend_names() for device in probe(name)]
    return [*found, *map(MissingDevice, registry.unusable())]


def usable(device: Device) -> Device:
    """The device, or what stands for it if its backend cannot say what it can do."""
    name = device.info.backend
    extension = None if name in registry.BUILTIN else registry.third_party().get(name)
    if extension is None or not device.info.available:
        return device
    try:
        target = registry.backend(extension.name).target(device)
        if isinstance(target, Target):
            return device
        return _not_usable(device, extension, f"its target() gives {target!r}, which is no target")
    except (Exception, SystemExit) as problem:  # another's code may fail in any way
        if is_from_handler(problem):
            raise
        return _not_usable(device, extension, problem)


def _not_usable(
    device: Device, extension: Extension, problem: BaseException | str
) -> MissingDevice:
    found = MissingDevice(missing(extension, problem))
    with _lock:
        known = _probed.get(extension.name, [])
        _probed[extension.name] = [found if each is device else each for each in known]
    return found


class _Choose:
    """`choose` with its answers remembered; routing is on the path of every dispatch."""

    def __init__(self) -> None:
        self.cache: dict[str | DeviceInfo | None, Route] = {}

    def __call__(self, wanted: str | DeviceInfo | None = None) -> Route:
        """The route to the device `wanted`, or to the best one when nothing is wanted."""
        route = self.cache.get(wanted)
        if route is None:
            route = self.cache[wanted] = _find(wanted)
        return route


choose = _Choose()


def _find(wanted: str | DeviceInfo | None) -> Route:
    if wanted is not None:
        # What `vyre.devices()` lists stands for its name.
        name = wanted.id if isinstance(wanted, DeviceInfo) else wanted
        if not isinstance(name, str):
            raise DeviceError(codes.UNKNOWN_DEVICE.at(name=name, known=_known()))
        return _named(name, f"asked for as {name!r}")
    preset = config().device
    if preset is not None:
        return _named(preset, f"VYRE_DEVICE is {preset!r}")
    return _best()


def _named(wanted: str, why: str) -> Route:
    family = wanted.split(":", 1)[0]
    if family not in registry.BUILTIN and family not in registry.third_party():
        raise DeviceError(codes.UNKNOWN_DEVICE.at(name=wanted, known=_known()))
    devices = probe(family)
    found = [d for d in devices if wanted in (d.info.id, *d.info.aliases)]
    if not found and (wanted == family or not any(d.info.available for d in devices)):
        # Where the family has no device at all, the reason for that says more than their names.
        found = sorted(devices, key=lambda d: not d.info.available)
    if not found:
        raise DeviceError(codes.UNKNOWN_DEVICE.at(name=wanted, known=_known()))
    device = usable(found[0])
    if not device.info.available:
        if isinstance(device, Refusing):
            device.refuse()
        raise DeviceError(
            codes.DEVICE_UNAVAILABLE.at(
                name=wanted, reason=device.info.reason, remedy=device.info.remedy
            )
        )
    return Route(registry.backend(family), device, why)


def _best() -> Route:
    # Looking for a GPU loads its library; where there can be none, that time is saved.
    never = {"reference"} if _may_have_gpu() else {"reference", "wgpu"}
    names = [name for name in registry.backend_names() if name not in never]
    devices = [d for name in names for d in probe(name) if d.info.available]
    for kind in _AUTOMATIC:
        for device in devices:
            if device.info.kind is kind and usable(device).info.available:
                why = f"the best device here: {device.info.name} ({kind})"
                return Route(registry.backend(device.info.backend), device, why)
    raise DeviceError(codes.UNKNOWN_DEVICE.at(name="any", known=_known()))


def _may_have_gpu() -> bool:
    if sys.platform != "linux":
        return True
    try:
        names = os.listdir("/dev")
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return True
    return any(name in ("dri", "dxg", "kfd") or name.startswith("nvidia") for name in names)


def _known() -> str:
    here = [d.info for d in all_devices() if d.info.available]
    return ", ".join(f"{d.id} ({d.aliases[0]})" if d.aliases else d.id for d in here) or "none"
