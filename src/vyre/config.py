"""Every knob, typed, read from the environment once.

| variable | meaning |
| --- | --- |
| `VYRE_DEVICE` | the device to use when a call names none |
| `VYRE_THREADS` | threads of the CPU backend (default: the cores this process may use) |
| `VYRE_CACHE_DIR` | where compiled programs and telemetry are kept |
| `VYRE_CACHE_BYTES` | how large that folder may grow (default 512 MiB; 0 keeps nothing on disk) |
| `VYRE_CHECK` | `1` compares every dispatch with the reference and saves a reproducer |
| `VYRE_POOL_BYTES` | how much freed device memory is kept for reuse (default 256 MiB) |
| `VYRE_REPRODUCERS` | where reproducers of failures are saved |
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache

from vyre.record import dataclass

_VERSION = "0.1.0"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of this process."""

    device: str | None
    threads: int | None
    cache_dir: str
    cache_bytes: int
    check: bool
    pool_bytes: int
    reproducer_dir: str


def vyre_version() -> str:
    """The version of this package."""
    return _VERSION


def read(environment: Mapping[str, str]) -> Config:
    """The settings that an environment asks for; nonsense falls back to the default."""
    cache_dir = environment.get("VYRE_CACHE_DIR") or _user_cache(environment)
    return Config(
        device=environment.get("VYRE_DEVICE") or None,
        threads=_positive(environment.get("VYRE_THREADS")),
        cache_dir=cache_dir,
        cache_bytes=_size(environment.get("VYRE_CACHE_BYTES"), 512 << 20),
        check=environment.get("VYRE_CHECK", "") not in ("", "0"),
        pool_bytes=_size(environment.get("VYRE_POOL_BYTES"), 256 << 20),
        reproducer_dir=environment.get("VYRE_REPRODUCERS")
        or os.path.join(cache_dir, "reproducers"),
    )


@lru_cache(maxsize=1)
def config() -> Config:
    """The settings of this process, read when first asked for."""
    return read(os.environ)


def _user_cache(environment: Mapping[str, str]) -> str:
    if sys.platform == "win32":
        base = environment.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "vyre")


def _positive(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and int(text) > 0 else None


def _size(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() else default
