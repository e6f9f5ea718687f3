"""What another user does so that this one runs his code. Each attack says whether it succeeded.

The code is real: a cache in which what is kept of a program that adds 1 adds 666, sealed like any
other entry, for a seal shows damage and not who wrote it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.unit.cache.others import give_away
from vyre.cache import DiskCache
from vyre.cache.private_folder import PrivateFolder
from vyre.config import read
from vyre.driver import routing
from vyre.driver.compilation import CompileOptions, to_bytes
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt.hot_paths import HotPathHints
from vyre.runtime import compile
from vyre.runtime.compiling import entry_key
from vyre.runtime.run import dispatch

LIMIT = 1 << 24
Attack = Callable[[Path, pytest.MonkeyPatch], bool]


def adding(number: int) -> Program:
    step = Node.store("x", Expr.gid(0), Expr.load("x", Expr.gid(0)) + Expr.u32(number))
    decl = BufferDecl.read_write("x", 0, DataType.U32)
    return Program.wrapped([decl], (64, 1, 1), [step], entry_op_id="hostile.adding")


def poisoned(folder: Path) -> Path:
    """The folder, as the cache of a process that runs `adding(1)`; its only entry."""
    route = routing.choose("cpu")
    target = route.backend.target(route.device)
    evil = to_bytes(compile(adding(666), device="cpu", cache=DiskCache("", 0)).compilation)
    key = entry_key(adding(1), route, target, CompileOptions(), hot=False)
    assert DiskCache(folder, LIMIT).put(key, evil)
    return folder / f"{key}.vyc"


def result_with(cache: DiskCache) -> int:
    """What a process gets that runs `adding(1)` with this cache."""
    # No dispatch of another test, however long the machine took for it, makes the program hot.
    compiled = compile(adding(1), device="cpu", cache=cache, hints=HotPathHints())
    return int(dispatch(compiled, {"x": np.zeros(64, np.uint32)})["x"][0])


def succeeds(folder: Path) -> bool:
    """Whether a process that runs `adding(1)` with this folder runs the other code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return result_with(DiskCache(folder, LIMIT)) != 1


def _own_folder(home: Path, patch: pytest.MonkeyPatch) -> bool:
    poisoned(home / "programs")
    give_away(patch, home / "programs")
    return succeeds(home / "programs")


def _own_the_way(home: Path, patch: pytest.MonkeyPatch) -> bool:
    poisoned(home / "a" / "programs")
    give_away(patch, home / "a")
    return succeeds(home / "a" / "programs")


def _own_entry(home: Path, patch: pytest.MonkeyPatch) -> bool:
    give_away(patch, poisoned(home / "programs"))
    return succeeds(home / "programs")


def _write_folder(home: Path, patch: pytest.MonkeyPatch) -> bool:
    poisoned(home / "programs")
    (home / "programs").chmod(0o777)
    return succeeds(home / "programs")


def _write_entry(home: Path, patch: pytest.MonkeyPatch) -> bool:
    poisoned(home / "programs").chmod(0o666)
    return succeeds(home / "programs")


def _move_the_way(home: Path, patch: pytest.MonkeyPatch) -> bool:
    poisoned(home / "a" / "programs")
    (home / "a").chmod(0o777)
    return succeeds(home / "a" / "programs")


def _link_the_way(home: Path, patch: pytest.MonkeyPatch) -> bool:
    """As if this user had unpacked an archive somewhere, and the link leads there from /tmp."""
    poisoned(home / "unpacked" / "programs")
    (home / "tmp").mkdir()
    (home / "tmp").chmod(0o1777)
    (home / "tmp" / "vyre").symlink_to(home / "unpacked")
    give_away(patch, home / "tmp" / "vyre")
    return succeeds(home / "tmp" / "vyre" / "programs")


def _link_entry(home: Path, patch: pytest.MonkeyPatch) -> bool:
    entry = poisoned(home / "programs")
    entry.rename(home / "unpacked")
    entry.symlink_to(home / "unpacked")
    return succeeds(home / "programs")


def _swap_in_between(home: Path, patch: pytest.MonkeyPatch) -> bool:
    """The folder's name moves after the folder was looked at, and before a file is opened."""
    PrivateFolder(str(home / "programs")).write("some", b"thing")
    entry = poisoned(home / "theirs")
    right = os.open

    def open_late(path: str, *args: int, **options: int | None) -> int:
        if os.path.basename(path) == entry.name and (home / "theirs").exists():
            (home / "programs").rename(home / "away")
            (home / "theirs").rename(home / "programs")
        return right(path, *args, **options)

    patch.setattr(os, "open", open_late)
    try:
        return succeeds(home / "programs")
    finally:
        patch.setattr(os, "open", right)


def _guess_temporary_name(home: Path, patch: pytest.MonkeyPatch) -> bool:
    """Whether two processes of the same number, one after the other, use the same names."""
    used: list[list[str]] = []
    right = os.open
    for _ in range(2):
        names: list[str] = []

        def noting(
            path: str, flags: int, *args: int, names: list[str] = names, **options: int | None
        ) -> int:
            if flags & os.O_CREAT:
                names.append(os.path.basename(path))
            return right(path, flags, *args, **options)

        patch.setattr(os, "open", noting)
        DiskCache(home / "programs", LIMIT).put("key", b"body")
        patch.setattr(os, "open", right)
        used.append(names)
    assert used[0]
    return used[0] == used[1] or any(str(os.getpid()) in name.split(".") for name in used[0])


def _prepare_working_directory(home: Path, patch: pytest.MonkeyPatch) -> bool:
    """Wait in a folder that he prepared for a process whose cache is given by a relative path."""
    poisoned(home / "cache" / "programs")
    patch.chdir(home)
    found = read({"VYRE_CACHE_DIR": "cache"}).cache_dir
    return found is not None and succeeds(Path(found) / "programs")


ATTACKS: dict[str, Attack] = {
    "own the folder": _own_folder,
    "own a folder above it": _own_the_way,
    "own the file": _own_entry,
    "write to the folder": _write_folder,
    "write to the file": _write_entry,
    "rename a folder above it": _move_the_way,
    "put a link where a folder above it was": _link_the_way,
    "put a link where the file was": _link_entry,
    "swap the folder after it was checked": _swap_in_between,
    "guess the name of a temporary file": _guess_temporary_name,
    "prepare the working directory": _prepare_working_directory,
}
