"""Machine code that another user left: it is never run, and one warning says what to do."""

from __future__ import annotations

import copy
import os
import pwd
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.unit.cache.attacks import ATTACKS, LIMIT, adding, poisoned, result_with, succeeds
from tests.unit.cache.others import STRANGER, give_away
from vyre.cache import DiskCache, default_cache
from vyre.config import config, read
from vyre.diagnostics import VyreWarning
from vyre.diagnostics.codes.configuration import NO_CACHE
from vyre.runtime.reproducer import save_reproducer

ROOT = Path(__file__).parents[3]


def test_poison_works_where_this_user_laid_it(tmp_path: Path) -> None:
    """Otherwise the tests below would show nothing."""
    poisoned(tmp_path / "programs")
    assert succeeds(tmp_path / "programs")


@pytest.mark.parametrize("attack", ATTACKS)
def test_code_that_another_user_may_have_written_is_not_run(
    tmp_path: Path, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not ATTACKS[attack](tmp_path, monkeypatch)


def test_one_warning_says_where_and_why(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    entry = poisoned(folder)
    folder.chmod(0o777)
    cache = DiskCache(folder, LIMIT)
    with pytest.warns(VyreWarning) as told:
        assert result_with(cache) == 1
    assert [str(warning.message)[:14] for warning in told] == ["warning[C001]:"]
    assert Path(told[0].filename).parent == Path(__file__).parent
    assert str(folder) in str(told[0].message)
    assert list(folder.iterdir()) == [entry]
    assert result_with(cache) == 1  # no second warning
    assert cache.summary().entries == 0
    assert cache.clear() == cache.trim() == 0


def test_the_warning_can_be_sent_to_another_process() -> None:
    """As pytest's workers do."""
    made = VyreWarning(NO_CACHE.at(problem="p", first=""))
    copied = copy.copy(made)
    assert (copied.code, copied.fix, str(copied)) == (made.code, made.fix, str(made))


def test_the_warning_is_right_when_followed(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    poisoned(folder)
    folder.chmod(0o777)
    with pytest.warns(VyreWarning) as told:
        assert DiskCache(folder, 1 << 20).get("x") is None
    text = str(told[0].message)
    assert text.startswith("warning[C001]: nothing is kept for later processes, and nothing of ")
    for command in re.findall(r"`(chmod .*?)`", text):
        subprocess.run(command, shell=True, check=True)
    cache = DiskCache(folder, 1 << 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.put("x", b"1")
    assert cache.get("x") == b"1"


# --- where it is ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["cache", "./cache", "../cache", "~/cache", "C:cache"])
def test_a_relative_cache_dir_is_no_cache(wanted: str) -> None:
    found = read({"VYRE_CACHE_DIR": wanted, "HOME": "/home/me"})
    assert found.cache_dir is None
    assert repr(wanted) in found.no_cache_because
    assert found.reproducer_dir is None


def test_a_relative_xdg_folder_is_ignored_as_its_specification_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert read({"XDG_CACHE_HOME": "here"}).cache_dir == "/home/me/.cache/vyre"
    assert read({"XDG_CACHE_HOME": ""}).cache_dir == "/home/me/.cache/vyre"
    assert read({"XDG_CACHE_HOME": "/there"}).cache_dir == "/there/vyre"
    assert read({"XDG_CACHE_HOME": "/there", "VYRE_CACHE_DIR": "/own"}).cache_dir == "/own"


@pytest.mark.parametrize("home", [None, "", ".", "somewhere", "~"])
def test_without_a_home_there_is_no_cache(home: str | None, monkeypatch: pytest.MonkeyPatch):
    def no_such_user(user: int) -> None:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", no_such_user)
    monkeypatch.delenv("HOME") if home is None else monkeypatch.setenv("HOME", home)
    found = read({})
    assert found.cache_dir is None
    assert "home" in found.no_cache_because


def test_an_empty_home_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    known = pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.delenv("HOME")
    without = read({}).cache_dir
    monkeypatch.setenv("HOME", "")
    assert read({}).cache_dir == without == f"{known}/.cache/vyre"


WITHOUT_HOME = """
import os, sys, warnings
import numpy as np
import vyre as vy
import vyre.diagnostics.codes.configuration
from vyre.cache import default_cache, disk, private_folder
from vyre.runtime.reproducer import save_reproducer
from vyre.runtime.run import dispatch
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(54_321)
    os.setuid(54_321)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    cache = default_cache()
    cache.put("key", b"x")
    found = cache.get("key")
    default_cache().put("key", b"x")
print(cache.limit, found, [warning.message.code for warning in told])
"""


def test_nothing_is_read_or_written_below_the_working_directory(tmp_path: Path) -> None:
    """A user without a name, as in many containers, in a folder that another user prepared."""
    (tmp_path / "~" / ".cache" / "vyre" / "programs").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("VYRE_", "XDG_"))
    }
    environment |= {"PYTHONPATH": f"{ROOT}/src"}
    environment.pop("HOME", None)
    if os.geteuid() != 0:
        environment["HOME"] = "."
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_HOME],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "0 None ['C001']", done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_warning_that_is_an_error_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE_DIR", "relative to nothing")
    config.cache_clear()
    try:
        with pytest.raises(VyreWarning):
            default_cache()
        assert default_cache().limit == 0
    finally:
        monkeypatch.undo()
        config.cache_clear()


def test_no_cache_is_wanted_and_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE_DIR", "relative")
    monkeypatch.setenv("VYRE_CACHE_BYTES", "0")
    config.cache_clear()
    try:
        assert default_cache().limit == 0
        assert default_cache().summary().entries == 0
    finally:
        monkeypatch.undo()
        config.cache_clear()


# --- what else is written there -------------------------------------------------------------------


def test_reproducers_are_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold the inputs of a launch."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.delenv("VYRE_REPRODUCERS")
    monkeypatch.setenv("VYRE_CACHE_DIR", str(tmp_path / "cache"))
    config.cache_clear()
    try:
        made = save_reproducer(adding(1), {"x": np.zeros(4, np.uint32)}, None)
        assert made.parent == tmp_path / "cache" / "reproducers"
        for folder in (tmp_path / "cache", made.parent, made):
            assert folder.stat().st_mode & 0o077 == 0
        give_away(monkeypatch, tmp_path / "cache")
        elsewhere = save_reproducer(adding(1), {"x": np.zeros(4, np.uint32)}, None)
        assert elsewhere.parent.parent == tmp_path / "tmp"
        assert elsewhere.parent.stat().st_mode & 0o077 == 0
        assert elsewhere.parent.stat().st_uid == os.geteuid() != STRANGER
    finally:
        monkeypatch.undo()
        config.cache_clear()
