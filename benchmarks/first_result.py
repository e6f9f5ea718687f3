"""Run in a new process by the latency suite: how long until a program's first result.

`import` times the import of vyre after numpy's. `small` and `large` compile a program that the
cache does not know, after another one has woken the compiler up; with `-cached` the first thing
the process does is to take the program from the cache.
"""

import json
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from vyre.ir import Program

LARGE = 500


def main(what: str) -> dict[str, Any]:
    """The measurement, for the parent to read."""
    started = time.perf_counter()
    import_module("vyre")

    if what == "import":
        return {"import": time.perf_counter() - started}
    from vyre.runtime import run

    kind, _, cached = what.partition("-")
    program, arrays = problem(kind)
    if not cached:
        warmer, given = problem("other")
        run(warmer, given, grid=(1, 1, 1), device="cpu", in_place=True)
    started = time.perf_counter()
    run(program, arrays, grid=(1, 1, 1), device="cpu", in_place=True)
    return {
        "seconds": time.perf_counter() - started,
        "statements": program.stats().node_count,
        "llvmlite": "llvmlite" in sys.modules,
    }


def problem(kind: str) -> tuple["Program", dict[str, Any]]:
    """A program and arrays for one workgroup of it."""
    from benchmarks.programs import program_of
    from benchmarks.synthetic import program_of_size

    match kind:
        case "small":
            bodies = ("px", "py", "pz", "mass", "ax", "ay", "az")
            return program_of("nbody"), {name: np.ones(64, np.float32) for name in bodies}
        case "large":
            words = {name: np.ones(256, np.uint32) for name in ("x", "table", "y")}
            return program_of_size(LARGE), words
        case _:
            return program_of("exp"), {name: np.ones(64, np.float32) for name in "xy"}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
