"""What is put to the test: a device and the backend it belongs to, registered or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vyre import compiler
from vyre.diagnostics import ArgumentError, DeviceError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.backend import Backend, EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.driver.routing import Route
from vyre.ir import Program
from vyre.record import dataclass
from vyre.runtime import CompiledProgram, dispatch
from vyre.semantics import Array
from vyre.target import Target

_CONTRACT = ("name", "probe", "target", "emit", "load")
"""What every backend has."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A device under test. Nothing is taken from the cache: what runs was compiled just now."""

    route: Route

    @classmethod
    def of(cls, given: str | Backend | Route) -> Subject:
        """The subject that an id, a route or a backend with its first available device names."""
        if isinstance(given, str):
            return cls(routing.choose(given))
        if isinstance(given, Route):
            return cls(given)
        lacking = [name for name in _CONTRACT if not hasattr(given, name)]
        if lacking:
            raise ArgumentError(codes.NOT_A_BACKEND.at(found=repr(given), missing=lacking[0]))
        devices = list(given.probe())
        for device in devices:
            if device.info.available:
                return cls(Route(given, device, "given by the caller"))
        reason = devices[0].info.reason if devices else "it found no device"
        remedy = devices[0].info.remedy if devices else "connect one"
        raise DeviceError(
            codes.DEVICE_UNAVAILABLE.at(name=given.name, reason=reason, remedy=remedy)
        )

    @property
    def name(self) -> str:
        """The id of the device."""
        return self.route.device.info.id

    @property
    def target(self) -> Target:
        """What the device can do."""
        return self.route.backend.target(self.route.device)

    def compile(
        self, program: Program, profile: str | None = "release", tier: str = "auto"
    ) -> CompiledProgram:
        """The program for this device."""
        options = CompileOptions(profile, EmitOptions(tier))
        made = compiler.compile_program(program, self.route.backend, self.target, options)
        return CompiledProgram(self.route, made, options, from_cache=False)

    def run(
        self,
        program: Program,
        inputs: Mapping[str, Any],
        grid: Sequence[int] | None,
        profile: str | None = "release",
        sizes: Mapping[str, int] | None = None,
        deadline: float | None = None,
        *,
        in_place: bool = False,
    ) -> dict[str, Array]:
        """Compile and run."""
        made = self.compile(program, profile)
        return dispatch(made, inputs, grid, None, sizes, deadline, in_place)
