"""What is put to the test: a device and the backend it belongs to, registered or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vyre import compiler
from vyre.driver.backend import Backend, EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.driver.given_backend import route_of
from vyre.driver.routing import Route
from vyre.ir import Program
from vyre.record import dataclass
from vyre.runtime import CompiledProgram, dispatch
from vyre.runtime.host_types import as_host_arrays
from vyre.semantics import Array
from vyre.target import Target


@dataclass(frozen=True, slots=True)
class Subject:
    """A device under test. Nothing is taken from the cache: what runs was compiled just now."""

    route: Route

    @classmethod
    def of(cls, given: str | Backend | Route) -> Subject:
        """The subject that an id, a route or a backend with its first available device names."""
        return cls(route_of(given))

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
        given = as_host_arrays(program, inputs)
        return dispatch(made, given, grid, None, sizes, deadline, in_place)
