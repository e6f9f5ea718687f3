"""Every knob, typed, read from the environment once.

| variable | meaning |
| --- | --- |
| `VYRE_DEVICE` | the device to use when a call names none |
| `VYRE_THREADS` | threads of the CPU backend (default: the cores this process may use) |
| `VYRE_CACHE_DIR` | where compiled programs and telemetry are kept: an absolute path |
| `VYRE_CACHE_BYTES` | how large that folder may grow (default 512 MiB; 0 keeps nothing on disk) |
| `VYRE_CPU` | `generic` makes code for any CPU of this kind (default `native`: for this one) |
| `VYRE_CHECK` | `1` compares every dispatch with the reference and saves a reproducer |
| `VYRE_POOL_BYTES` | how much freed device memory is kept for reuse (default 256 MiB) |
| `VYRE_REPRODUCERS` | where reproducers of failures are saved |
| `VYRE_WITHOUT` | what to leave out: passes and backends of packages, techniques of the CPU |

Without `VYRE_CACHE_DIR` the cache is the folder `vyre` in `XDG_CACHE_HOME` if that is absolute,
else in `~/.cache` (`~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows). There is none where
this gives no absolute path: a folder below the one where a process is started may be any user's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from functools import lru_cache

from vyre.record import dataclass

_VERSION = "0.1.0"
IMPORTED_NS = time.time_ns()
"""When this package was imported: files of it that are newer are not what runs."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of this process."""

    device: str | None
    threads: int | None
    cache_dir: str | None
    """An absolute path; None where there is none."""
    no_cache_because: str
    cache_bytes: int
    check: bool
    pool_bytes: int
    reproducer_dir: str | None
    """None for a new folder each time."""
    without: frozenset[str]


def vyre_version() -> str:
    """The version of this package."""
    return _VERSION


def read(environment: Mapping[str, str]) -> Config:
    """The settings that an environment asks for; nonsense falls back to the default."""
    cache_dir, why_not = _cache_dir(environment)
    without = environment.get("VYRE_WITHOUT", "")
    in_cache = None if cache_dir is None else os.path.join(cache_dir, "reproducers")
    return Config(
        device=environment.get("VYRE_DEVICE") or None,
        threads=_positive(environment.get("VYRE_THREADS")),
        cache_dir=cache_dir,
        no_cache_because=why_not,
        cache_bytes=_size(environment.get("VYRE_CACHE_BYTES"), 512 << 20),
        check=environment.get("VYRE_CHECK", "") not in ("", "0"),
        pool_bytes=_size(environment.get("VYRE_POOL_BYTES"), 256 << 20),
        reproducer_dir=environment.get("VYRE_REPRODUCERS") or in_cache,
        without=frozenset(filter(None, map(str.strip, without.split(",")))),
    )


@lru_cache(maxsize=1)
def config() -> Config:
    """The settings of this process, read when first asked for."""
    return read(os.environ)


def _cache_dir(environment: Mapping[str, str]) -> tuple[str | None, str]:
    """The folder of the cache; None, and why, where no absolute path is known."""
    wanted = environment.get("VYRE_CACHE_DIR")
    if wanted:
        if os.path.isabs(wanted):
            return wanted, ""
        return None, f"VYRE_CACHE_DIR is {wanted!r}, which is not an absolute path"
    base = _user_cache(environment)
    if os.path.isabs(base):
        return os.path.join(base, "vyre"), ""
    return None, "this user has no home folder: HOME is not set to an absolute path"


def _user_cache(environment: Mapping[str, str]) -> str:
    if sys.platform == "win32":
        return environment.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    if sys.platform == "darwin":
        return os.path.join(_home(), "Library/Caches")
    base = environment.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    return base if os.path.isabs(base) else os.path.join(_home(), ".cache")


def _home() -> str:
    """The home folder of this user. Where HOME is empty, Python would take the root for it."""
    if os.environ.get("HOME") != "":
        return os.path.expanduser("~")
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _positive(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and int(text) > 0 else None


def _size(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() else default
