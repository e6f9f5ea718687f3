"""Which files there are: noted once, and looked at again when a folder has changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.cache.environment import Environment
from vyre.cache import DiskCache, listings
from vyre.cache.listings import EVERY_FILE, listing

ENDINGS = (".py", ".ll")
NOTED = "from vyre.cache import listings; listings.YOUNG_NS = -1 << 62"
"""Notes names however young the folders are."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    for name in ("a.py", "b.txt", ".hidden.py", "deep/c.ll", "deep/er/d.py", "left/e.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "f.py").write_text("")
    return folder


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    made = DiskCache(tmp_path / "cache", 1 << 20)
    monkeypatch.setattr(listings, "default_cache", lambda: made)
    return made


def names(tree: Path) -> list[str]:
    found = listing(str(tree), ENDINGS, frozenset({"left"}))
    return sorted(os.path.relpath(path, tree) for path in found.files)


def test_names_are_noted_once_folders_are_no_longer_young(
    tree: Path, store: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = names(tree)
    assert first == ["a.py", "deep/c.ll", "deep/er/d.py"]
    assert store.summary().entries == 0
    later = time.time_ns() + 3_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    assert names(tree) == first
    assert store.summary().entries == 1
    monkeypatch.setattr(os, "scandir", lambda path: pytest.fail("a folder was looked into again"))
    assert names(tree) == first


def _link(tree: Path) -> None:
    (tree / "deep" / "link.py").symlink_to(tree / "b.txt")


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a file more": (lambda t: (t / "deep/g.py").write_text(""), ["deep/g.py"]),
    "a folder more": (lambda t: (t / "new").mkdir(), []),
    "a file less": (lambda t: (t / "deep/er/d.py").unlink(), ["deep/er/d.py"]),
    "a file renamed": (lambda t: (t / "a.py").rename(t / "z.py"), ["a.py", "z.py"]),
    "a folder renamed": (
        lambda t: (t / "deep").rename(t / "deeper"),
        ["deep/c.ll", "deep/er/d.py", "deeper/c.ll", "deeper/er/d.py"],
    ),
    "another folder of the same name": (
        lambda t: ((t / "deep/er").rename(t.parent / "away"), (t / "deep/er").mkdir()),
        ["deep/er/d.py"],
    ),
    "a link more": (_link, ["deep/link.py"]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_folder_that_has_changed_is_looked_into_again(
    what: str, tree: Path, store: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listings, "YOUNG_NS", -1 << 62)
    first = names(tree)
    assert names(tree) == first
    assert store.summary().entries == 1
    change, different = CHANGES[what]
    change(tree)
    assert sorted(set(first) ^ set(names(tree))) == sorted(different)


def test_links_are_followed_each_time(
    tree: Path, store: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a link leads to may change while the folder that has it does not."""
    monkeypatch.setattr(listings, "YOUNG_NS", -1 << 62)
    (tree / "later.py").symlink_to(tree.parent / "not there yet")
    assert "later.py" not in names(tree)
    (tree.parent / "not there yet").write_text("")
    assert "later.py" in names(tree)
    assert store.summary().entries == 0


# --- the stamp ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with Environment(tmp_path_factory.mktemp("environment")) as made:
        yield made


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.append(e.vyre / "opt/passes/dce.py", "#"),
        lambda e: e.write(e.vyre / "opt/passes/new.py", ""),
        lambda e: e.remove(e.vyre / "opt/passes/dce.py"),
        lambda e: e.write(e.site / "own_passes/deep/more.py", ""),
        lambda e: e.remove(e.site / "own_passes/deep/helper.py"),
    ],
    ids=["edited", "more", "less", "another's more", "another's less"],
)
def test_the_stamp_changes_where_names_are_noted(
    environment: Environment, change: Callable[[Environment], object]
) -> None:
    first = environment.stamp(NOTED)
    assert environment.stamp(NOTED) == first
    try:
        change(environment)
        assert environment.stamp(NOTED) == environment.stamp() != first
    finally:
        environment.restore()
    assert environment.stamp(NOTED) == first


RECORD = (
    "vyre/__init__.py,sha256=a,1\n"
    "vyre/cache/compiler_fingerprint.py,sha256=b,2\n"
    "vyre/opt/dce.py,sha256=c,3\n"
)


def test_an_installed_vyre_is_known_by_its_list_of_files(environment: Environment) -> None:
    described = environment.vyre.parent / "vyre-0.1.0.dist-info"
    worked_on = environment.stamp()
    try:
        environment.write(described / "RECORD", RECORD)
        installed = environment.stamp()
        assert installed != worked_on
        environment.append(environment.vyre / "opt/passes/dce.py", "#")
        assert environment.stamp() == installed
        environment.write(described / "RECORD", RECORD.replace("=c,", "=d,"))
        assert environment.stamp() not in (installed, worked_on)
        # A list that does not name the files is that of a vyre that is worked on elsewhere.
        environment.write(described / "RECORD", "vyre.pth,sha256=a,1\n")
        edited = environment.stamp()
        environment.append(environment.vyre / "opt/passes/dce.py", "##")
        assert environment.stamp() != edited
    finally:
        environment.restore()
    described.rmdir()
    assert environment.stamp() == worked_on


def test_every_file_is_listed_but_what_programs_write_as_they_run(
    tree: Path, store: DiskCache
) -> None:
    for name in ("notes.log", "a.lock", "deep/b.tmp", "c.py~"):
        (tree / name).write_text("")
    found = listing(str(tree), EVERY_FILE, ())
    listed = sorted(os.path.relpath(path, tree) for path in found.files)
    assert listed == ["a.py", "b.txt", "deep/c.ll", "deep/er/d.py", "left/e.py"]
