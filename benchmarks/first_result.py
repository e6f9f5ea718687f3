"""Run in a new process by the latency suite: how long until a program's first result.

`import` times the import of vyre after numpy's. `small` and `large` compile a program that the
cache does not know, after another one has woken the compiler up; with `-cached` both programs come
from the cache. With `-first` nothing has been woken up, so the answer holds all that a process does
once: importing the compiler and llvmlite, or reading the runtime from the cache. `growth` compiles
ever larger programs, one of them after the other. `overhead` times launches.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from vyre.ir import Program

LARGE = 500
GROWTH = (1_000, 2_000, 4_000, 8_000)
"""Statements of programs of one kind."""
SHAPED = (1_000, 2_000)
"""Statements of programs of every other kind."""


def main(what: str) -> dict[str, Any]:
    """The measurement, for the parent to read."""
    started = time.perf_counter()
    import_module("vyre")

    if what == "import":
        return {"import": time.perf_counter() - started}
    from vyre.runtime import run

    if what == "overhead":
        return overhead()
    kind, _, mode = what.partition("-")
    if kind == "growth":
        return {"seconds": growth(mode)}
    program, arrays = problem(kind)
    if mode != "first":
        warmer, given = problem("other")
        run(warmer, given, grid=(1, 1, 1), device="cpu", in_place=True)
    started = time.perf_counter()
    run(program, arrays, grid=(1, 1, 1), device="cpu", in_place=True)
    return {
        "seconds": time.perf_counter() - started,
        "statements": program.stats().node_count,
        "llvmlite": "llvmlite" in sys.modules,
    }


def growth(shape: str) -> dict[int, float]:
    """Seconds until the first result of programs of a shape, by their statements."""
    from benchmarks.shapes import SHAPES
    from benchmarks.synthetic import program_of_size
    from vyre.runtime import run

    make = SHAPES.get(shape, program_of_size)
    first = SHAPED[0] // 10
    seconds: dict[int, float] = {}
    for statements in (first, *(SHAPED if shape in SHAPES else GROWTH)):
        program = make(statements)
        arrays = {
            decl.name: np.ones(decl.count or 256, np.uint32)
            for decl in program.buffers
            if not decl.is_on_chip
        }
        started = time.perf_counter()
        run(program, arrays, grid=(1, 1, 1), device="cpu", in_place=True)
        seconds[statements] = time.perf_counter() - started
    del seconds[first]
    return seconds


def overhead() -> dict[str, float]:
    """Seconds per launch of a tiny program on resident arrays, in the ways that there are."""
    import vyre
    from benchmarks.programs import program_of
    from vyre.driver.backend import Argument
    from vyre.runtime import compile, run

    program = program_of("launch")
    arrays = {name: vyre.array(np.ones(1, np.float32), device="cpu") for name in "xy"}
    (executable,) = compile(program, device="cpu").load().values()
    arguments = [Argument(array.memory(), array.size) for array in arrays.values()]
    bound: Any = cast("Any", executable).bind(arguments, (1, 1, 1))
    return {
        "bound": best(bound, 5_000),
        "launch": best(lambda: executable.launch(arguments, (1, 1, 1)), 5_000),
        "run": best(lambda: run(program, arrays, grid=(1, 1, 1), device="cpu"), 2_000),
        **parallel(),
    }


def parallel() -> dict[str, float]:
    """A launch over all threads, and the work in it.

    The work is what three times as much of it takes longer, on the same threads: where two of them
    share a core, it is more than the time of one thread divided by their number.
    """
    from benchmarks.programs import program_of
    from vyre.runtime import compile

    (executable,) = compile(program_of("exp"), device="cpu").load().values()
    kernel: Any = cast("Any", executable).kernel
    x, y = np.ones(1 << 17, np.float32), np.ones(1 << 17, np.float32)
    places = [(int(array.ctypes.data), array.size) for array in (x, y)]
    groups = x.size // kernel.info.workgroup_size[0]
    together, longer = (
        best(kernel.bind(places, (count, 1, 1)), 50, rounds=20) for count in (groups // 4, groups)
    )
    return {"parallel": together, "work": (longer - together) / 3}


def best(operation: Callable[[], object], calls: int, rounds: int = 10) -> float:
    """Seconds per call in the best round."""
    fastest = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(calls):
            operation()
        fastest = min(fastest, (time.perf_counter() - started) / calls)
    return fastest


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
