"""Peers that are Python modules: imported only when asked for, and only in their own process."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.peers.missing import PeerMissingError

INSTALL = "run `make bench-peers`"


def load(name: str) -> Any:
    """The module, untyped: this environment may not have it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise PeerMissingError(f"{name} is not installed: {INSTALL}") from error


def numpy() -> Any:
    """numpy, as it stands in vyre's own environment."""
    return load("numpy")


def numpy_version() -> str:
    """numpy's version."""
    return str(load("numpy").__version__)


def numba() -> Any:
    """numba with its default threading layer."""
    return load("numba")


def numba_version() -> str:
    """numba's version and that of the LLVM it uses."""
    load("numba")
    return f"{version('numba')} (llvmlite {version('llvmlite')})"


def taichi() -> Any:
    """taichi on the CPU, with the settings `ti.init(arch=ti.cpu)` gives everybody."""
    module = load("taichi")
    module.init(arch=module.cpu, log_level=module.WARN)
    return module


def taichi_version() -> str:
    """taichi's version."""
    return ".".join(map(str, load("taichi").__version__))
