"""A folder that this user alone can write to, tried as other users would."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cache.others import STRANGER, give_away
from vyre.cache import private_folder
from vyre.cache.private_folder import PrivateFolder, UntrustedError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of this user, in which a cache is made."""
    made = tmp_path / "home"
    made.mkdir(mode=0o755)
    return made


def filled(path: Path) -> PrivateFolder:
    folder = PrivateFolder(str(path))
    folder.write("entry", b"what was ", b"written")
    assert folder.read("entry") == b"what was written"
    return PrivateFolder(str(path))


def assert_refused(folder: PrivateFolder, what: str) -> UntrustedError:
    """Nothing is read, written, removed or listed."""
    actions: list[Callable[[], object]] = [
        lambda: folder.read("entry"),
        lambda: folder.write("entry", b"other"),
        lambda: folder.remove("entry"),
        lambda: folder.status("entry"),
        folder.names,
        folder.make,
    ]
    found: list[UntrustedError] = []
    for action in actions:
        with pytest.raises(UntrustedError, match=what) as caught:
            action()
        found.append(caught.value)
    return found[0]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# --- what is made ---------------------------------------------------------------------------------


def test_folders_are_made_for_this_user_alone_whatever_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        filled(home / "a" / "b")
    finally:
        os.umask(before)
    assert mode(home / "a") == mode(home / "a" / "b") == 0o700
    assert mode(home / "a" / "b" / "entry") == 0o600
    assert os.listdir(home / "a" / "b") == ["entry"]


def test_a_folder_that_others_may_read_is_closed_to_them(home: Path) -> None:
    (home / "cache").mkdir(mode=0o755)
    filled(home / "cache")
    assert mode(home / "cache") == 0o700
    assert mode(home) == 0o755


def test_a_folder_that_is_not_there_holds_nothing_and_is_not_made_to_look(home: Path) -> None:
    folder = PrivateFolder(str(home / "none"))
    with pytest.raises(FileNotFoundError):
        folder.read("entry")
    with pytest.raises(FileNotFoundError):
        folder.names()
    assert not (home / "none").exists()


def test_a_folder_that_was_removed_is_made_again(home: Path) -> None:
    folder = filled(home / "cache")
    (home / "cache" / "entry").unlink()
    (home / "cache").rmdir()
    with pytest.raises(FileNotFoundError):
        folder.read("entry")
    folder.write("entry", b"new")
    assert folder.read("entry") == b"new"


@pytest.mark.parametrize("path", ["cache", "./cache", "~/.cache/vyre", ""])
def test_a_path_that_depends_on_where_a_process_starts_is_refused(
    home: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    filled(home / path if path else home)
    assert_refused(PrivateFolder(path), "is not absolute")


# --- who owns it ----------------------------------------------------------------------------------


def test_a_folder_of_another_user_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(home / "cache")
    give_away(monkeypatch, home / "cache")
    problem = assert_refused(folder, f"cache belongs to the user {STRANGER}")
    assert problem.problem.endswith(f"runs as {os.geteuid()}")


def test_a_folder_that_changes_hands_while_it_is_used_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = filled(home / "cache")
    assert folder.read("entry")
    give_away(monkeypatch, home / "cache")
    assert_refused(folder, "belongs to the user")


def test_a_folder_in_a_folder_of_another_user_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = filled(home / "a" / "cache")
    give_away(monkeypatch, home / "a")
    assert_refused(folder, "a belongs to the user")


def test_a_file_of_another_user_is_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(home / "cache")
    give_away(monkeypatch, home / "cache" / "entry")
    assert folder.read("entry") is None
    folder.write("entry", b"mine again")
    assert folder.read("entry") == b"mine again"


# --- who may write to it --------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [0o777, 0o702, 0o720, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused_and_the_fix_repairs_it(
    home: Path, bits: int
) -> None:
    folder = filled(home / "the cache")
    _give_to_a_group(home / "the cache")
    (home / "the cache").chmod(bits)
    problem = assert_refused(folder, "may write to")
    _follow(problem.fix)
    assert folder.read("entry") == b"what was written"


@pytest.mark.parametrize("bits", [0o777, 0o757])
def test_a_folder_in_one_that_everybody_may_write_to_is_refused(home: Path, bits: int) -> None:
    folder = filled(home / "a" / "b" / "cache")
    (home / "a").chmod(bits)
    problem = assert_refused(folder, r"every user may write to \S*/a$")
    assert folder.path
    _follow(problem.fix)
    assert folder.read("entry")


def test_a_folder_in_one_that_a_group_may_write_to_is_refused(home: Path) -> None:
    folder = filled(home / "a" / "cache")
    _give_to_a_group(home / "a")
    (home / "a").chmod(0o775)
    assert_refused(folder, "the users of the group")


def test_the_group_of_a_user_alone_is_that_user(home: Path, monkeypatch: pytest.MonkeyPatch):
    folder = filled(home / "a" / "cache")
    _give_to_a_group(home / "a")
    (home / "a").chmod(0o775)
    monkeypatch.setattr(private_folder, "_is_own_group", lambda group: group == _group(home / "a"))
    assert folder.read("entry")


def test_a_folder_with_the_sticky_bit_is_passed(home: Path) -> None:
    (home / "tmp").mkdir()
    (home / "tmp").chmod(0o1777)
    assert filled(home / "tmp" / "mine").read("entry")


def test_and_what_another_user_put_there_is_not(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "tmp").mkdir()
    (home / "tmp").chmod(0o1777)
    folder = filled(home / "tmp" / "vyre" / "cache")
    give_away(monkeypatch, home / "tmp" / "vyre")
    assert_refused(folder, "vyre belongs to the user")


@pytest.mark.parametrize("bits", [0o666, 0o602, 0o620])
def test_a_file_that_others_may_write_to_is_not_read(home: Path, bits: int) -> None:
    folder = filled(home / "cache")
    (home / "cache" / "entry").chmod(bits)
    assert folder.read("entry") is None


# --- links and other things that are no files -----------------------------------------------------


def test_links_of_this_user_are_followed(home: Path) -> None:
    (home / "disk").mkdir()
    (home / "link").symlink_to("disk")
    (home / "other").symlink_to(home / "link")
    folder = filled(home / "other" / "cache")
    assert folder.make() == str(home / "disk" / "cache")


def test_links_of_another_user_are_not(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """He would choose which of this user's folders is used: one unpacked from his archive, say."""
    filled(home / "unpacked" / "cache")
    (home / "tmp").mkdir()
    (home / "tmp").chmod(0o1777)
    (home / "tmp" / "vyre").symlink_to(home / "unpacked")
    give_away(monkeypatch, home / "tmp" / "vyre")
    assert_refused(PrivateFolder(str(home / "tmp" / "vyre" / "cache")), "the link .*vyre belongs")


def test_what_a_link_leads_through_is_looked_at_too(home: Path) -> None:
    filled(home / "open" / "cache")
    (home / "open").chmod(0o777)
    (home / "link").symlink_to(home / "open" / "cache")
    assert_refused(PrivateFolder(str(home / "link")), "every user may write to")


def test_links_in_a_circle_end(home: Path) -> None:
    (home / "a").symlink_to("b")
    (home / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        PrivateFolder(str(home / "a" / "cache")).write("entry", b"")


def test_a_file_on_the_way_is_no_folder(home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        PrivateFolder(str(home / "file" / "cache")).write("entry", b"")


@pytest.mark.parametrize("what", ["link", "device", "pipe", "folder"])
def test_what_is_no_file_is_not_read_and_does_not_hang(home: Path, what: str) -> None:
    folder = filled(home / "cache")
    place = home / "cache" / "entry"
    place.rename(home / "real")
    match what:
        case "link":
            place.symlink_to(home / "real")
        case "device":
            place.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(place)
        case _:
            place.mkdir()
    if what in ("link", "device"):
        with pytest.raises(OSError, match=r"\[Errno"):
            folder.read("entry")
    else:
        assert folder.read("entry") is None
    if what != "folder":
        folder.write("entry", b"mine")
        assert folder.read("entry") == b"mine"
        assert not place.is_symlink()


# --- tricks with time -----------------------------------------------------------------------------


def test_a_folder_that_is_swapped_after_it_was_checked_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = filled(home / "cache")
    filled(home / "theirs").write("entry", b"poison")
    give_away(monkeypatch, home / "theirs")
    (home / "cache").rename(home / "away")
    (home / "theirs").rename(home / "cache")
    assert_refused(folder, "belongs to the user")


def test_a_folder_that_is_swapped_while_files_are_opened_is_not_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check of a folder and the opening of a file in it, the folder's name moves."""
    folder = filled(home / "cache")
    filled(home / "theirs").write("entry", b"poison")
    right = os.open

    def open_late(path: str, *args: int, **options: int | None) -> int:
        if path == "entry" and (home / "theirs").exists():
            (home / "cache").rename(home / "away")
            (home / "theirs").rename(home / "cache")
        return right(path, *args, **options)

    monkeypatch.setattr(os, "open", open_late)
    assert folder.read("entry") == b"what was written"


def test_temporary_names_cannot_be_guessed_and_nothing_is_opened_that_was_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []
    right = os.open

    def noting(path: str, flags: int, *args: int, **options: int | None) -> int:
        opened.append((path, flags))
        return right(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", noting)
    folder = PrivateFolder(str(home / "cache"))
    for _ in range(8):
        folder.write("entry", b"x")
    made = [(path, flags) for path, flags in opened if flags & os.O_CREAT]
    names = {path for path, _ in made}
    assert len(names) == 8
    assert all(re.fullmatch(r"\.entry\.[0-9a-f]{16}\.tmp", name) for name in names)
    wanted = os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    assert all(flags & wanted == wanted for _, flags in made)
    assert all(flags & os.O_NOFOLLOW and flags & os.O_CLOEXEC for _, flags in opened[1:])


def test_a_writer_that_fails_leaves_nothing(home: Path) -> None:
    folder = PrivateFolder(str(home / "cache"))
    folder.make()
    (home / "cache" / "entry").mkdir()
    with pytest.raises(IsADirectoryError):
        folder.write("entry", b"x")
    assert os.listdir(home / "cache") == ["entry"]


def test_files_are_closed(home: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    folder = filled(home / "a" / "cache")
    (home / "link").symlink_to("a")
    filled(home / "link" / "cache")
    (home / "cache").symlink_to("cache")
    for bits in (0o700, 0o777):
        (home / "a").chmod(bits)
        for path in (folder.path, str(home / "cache"), str(home / "no" / "thing")):
            for _ in range(3):
                try:
                    PrivateFolder(path).read("entry")
                except (OSError, UntrustedError):
                    continue
    assert len(os.listdir("/proc/self/fd")) == before


def _follow(fix: str) -> None:
    """Do what a fix says."""
    command = re.search(r"`(chmod .*?)`", fix)
    assert command is not None
    subprocess.run(command[1], shell=True, check=True)


def _give_to_a_group(path: Path) -> None:
    """A group that is not this user's own."""
    if os.geteuid() == 0:
        os.chown(path, -1, STRANGER)
        return
    others = [group for group in os.getgroups() if not private_folder._is_own_group(group)]
    if not others:
        pytest.skip("this user has no group with others in it")
    os.chown(path, -1, others[0])


def _group(path: Path) -> int:
    return path.stat().st_gid
