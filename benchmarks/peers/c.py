"""Plain C, the yardstick: compiled once into a cache folder and called through ctypes."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.kernel import Array
from benchmarks.peers.missing import PeerMissingError

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fopenmp")
SOURCES = Path(__file__).resolve().parents[1] / "kernels"

Argument = Array | int | float | np.generic


def version(flags: Sequence[str] = FLAGS) -> str:
    """The compiler's own words, with the flags."""
    line = subprocess.run(
        [compiler(), "--version"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    return f"{line} {' '.join(flags)}"


def compiler() -> str:
    """The path of gcc."""
    path = shutil.which("gcc")
    if path is None:
        raise PeerMissingError("gcc is not installed: apt-get install gcc")
    return path


def cache_folder() -> Path:
    """Where compiled C is kept: outside the repository, in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "vyre-benchmarks"


def native_flags() -> str:
    """What -march=native means on this machine, so that a moved cache folder is not trusted."""
    options = subprocess.run(
        [compiler(), "-march=native", "-Q", "--help=target"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return platform.machine() + options


class Compiler:
    """gcc: `function(source, name)` is the compiled C function, taking arrays and numbers."""

    def __init__(self, sources: Path = SOURCES, flags: Sequence[str] = FLAGS) -> None:
        self._sources = sources
        self._flags = tuple(flags)
        self._identity = version(flags) + native_flags()

    @cache  # noqa: B019  # one compiler lives as long as its process
    def library(self, source: str) -> ctypes.CDLL:
        """The shared library of <source>.c, compiled unless the cache has it."""
        path = self._sources / f"{source}.c"
        digest = hashlib.sha256((self._identity + path.read_text()).encode()).hexdigest()[:24]
        target = cache_folder() / f"{source}-{digest}.so"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                built = Path(folder) / target.name
                command = [
                    compiler(),
                    *self._flags,
                    "-shared",
                    "-fPIC",
                    "-o",
                    str(built),
                    str(path),
                    "-lm",
                ]
                subprocess.run(command, check=True)
                built.replace(target)
        return ctypes.CDLL(str(target))

    def function(self, source: str, name: str) -> Callable[..., Callable[[], int]]:
        """`name` of <source>.c; called with its arguments it gives a thunk to launch.

        Pointers are taken once, outside the timing: C has no conversion to pay for.
        """
        symbol = self.library(source)[name]

        def bind(*arguments: Argument) -> Callable[[], int]:
            ready = tuple(map(c_argument, arguments))

            def launch() -> int:
                return symbol(*ready)

            # The pointers do not keep their arrays alive; the launch must.
            launch.arguments = arguments  # pyright: ignore[reportFunctionMemberAccess]
            return launch

        return bind


def c_argument(value: Argument) -> object:
    """An array as its pointer, a float as `float`, an integer as `int64_t`."""
    match value:
        case np.ndarray():
            return ctypes.c_void_p(value.ctypes.data)
        case float() | np.floating():
            return ctypes.c_float(float(value))
        case _:
            return ctypes.c_int64(int(value))
