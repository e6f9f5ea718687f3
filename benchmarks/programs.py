"""vyre's side of the kernels: the programs in kernels/*.vy."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir import Program

SOURCES = Path(__file__).resolve().parent / "kernels"
PLAIN = Path(__file__).resolve().parent / "plain"


@cache
def program_of(source: str) -> "Program":
    """kernels/<source>.vy as a program."""
    from vyre.ir import Program  # the peers' environment has no vyre

    path = SOURCES / f"{source}.vy"
    return Program.parse(path.read_text(), str(path))


def groups(elements: int, size: int) -> int:
    """How many workgroups of `size` cover the elements."""
    return -(-elements // size)


def all_programs() -> dict[str, "Program"]:
    """Every program of the benchmark kernels, by name."""
    from benchmarks.kernels import sha256

    names = sorted(path.stem for path in SOURCES.glob("*.vy"))
    return {**{name: program_of(name) for name in names}, "sha256": sha256.vyre_program()}


def plain_programs() -> dict[str, "Program"]:
    """Kernels as one writes them first, by name: what the optimizer is for."""
    from vyre.ir import Program

    return {
        path.stem: Program.parse(path.read_text(), str(path)) for path in sorted(PLAIN.glob("*.vy"))
    }
