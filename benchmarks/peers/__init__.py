"""The peers: what each is, where it runs, and how its tool is opened."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers import c, foreign, opencl, own
from benchmarks.peers.missing import PeerMissingError

ROOT = Path(__file__).resolve().parents[2]
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
OWN_PYTHON = Path(sys.executable)

__all__ = ["OWN_PYTHON", "PEERS", "PEERS_PYTHON", "ROOT", "Peer", "PeerMissingError", "peer_named"]


@dataclass(frozen=True)
class Peer:
    """One column of the table.

    `open` runs in the peer's own process and returns the tool its implementations are given;
    `version` names the thing measured. Both raise PeerMissingError when it is not installed.
    """

    name: str
    title: str
    python: Path
    open: Callable[[], Any]
    version: Callable[[], str]


PEERS: tuple[Peer, ...] = (
    Peer("c", "C", OWN_PYTHON, c.Compiler, c.version),
    Peer("vyre", "vyre", OWN_PYTHON, own.Launcher, own.version),
    Peer("numpy", "numpy", OWN_PYTHON, foreign.numpy, foreign.numpy_version),
    Peer("numba", "numba", PEERS_PYTHON, foreign.numba, foreign.numba_version),
    Peer("taichi", "taichi", PEERS_PYTHON, foreign.taichi, foreign.taichi_version),
    Peer("pyopencl", "PoCL", PEERS_PYTHON, opencl.Device, opencl.version),
)


def peer_named(name: str) -> Peer:
    """The peer of that name; KeyError for a stranger."""
    return {peer.name: peer for peer in PEERS}[name]
