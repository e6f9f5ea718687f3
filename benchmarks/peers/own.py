"""vyre as one of the peers: its public `run`, on arrays that it changes in place."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks.kernel import Arrays
from benchmarks.peers.foreign import load

if TYPE_CHECKING:
    from vyre.ir import Program


class Launcher:
    """The tool of vyre's implementations: programs on the CPU, or on what VYRE_DEVICE names."""

    def __init__(self, device: str | None = None) -> None:
        self._run = load("vyre.runtime").run
        self._finish = load("vyre.runtime.compiling").finish_improvements
        self._programs: list[Program] = []
        self._device = device or os.environ.get("VYRE_DEVICE", "cpu")

    def bind(
        self, program: "Program", arrays: Arrays, grid: tuple[int, ...]
    ) -> Callable[[], object]:
        """A thunk that launches the program on a grid of workgroups."""
        run, device = self._run, self._device
        self._programs.append(program)

        def launch() -> Any:
            return run(program, arrays, grid=grid, device=device, in_place=True)

        return launch

    def settle(self, launch: Callable[[], object]) -> None:
        """Have the code made anew of what is hot: nobody is timed while another one compiles."""
        for _ in range(3):
            launch()
        for program in self._programs:
            self._finish(program)
        self._programs.clear()
        launch()


def version() -> str:
    """vyre's version and the device it is measured on."""
    device = os.environ.get("VYRE_DEVICE", "cpu")
    return f"{load('vyre').__version__} (device {device})"
