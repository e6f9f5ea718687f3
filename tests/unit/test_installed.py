"""Whether a package that extends vyre is installed: a no is certain, a yes may be a maybe."""

from __future__ import annotations

from pathlib import Path

import pytest

from vyre.installed import may_extend

GROUP = "vyre.backends"


def package(folder: Path, name: str, entry_points: str | None) -> None:
    (folder / name).mkdir(parents=True)
    if entry_points is not None:
        (folder / name / "entry_points.txt").write_text(entry_points)


@pytest.mark.parametrize("ending", ["dist-info", "egg-info"])
def test_a_package_with_the_group_is_found(tmp_path: Path, ending: str) -> None:
    package(tmp_path / "a", f"other-1.0.{ending}", "[console_scripts]\nx = y:z\n")
    package(tmp_path / "b", f"mine-1.0.{ending}", f"[{GROUP}]\nmine = mine:backend\n")
    assert may_extend(GROUP, [str(tmp_path / "a"), str(tmp_path / "b")])
    assert not may_extend("vyre.passes", [str(tmp_path / "a"), str(tmp_path / "b")])


def test_packages_without_entry_points_and_missing_folders_say_no(tmp_path: Path) -> None:
    package(tmp_path, "plain-1.0.dist-info", None)
    (tmp_path / "old-1.0.egg-info").write_text("a file, as setuptools once wrote it")
    assert not may_extend(GROUP, [str(tmp_path), str(tmp_path / "nowhere")])


def test_what_only_the_import_system_can_read_is_a_maybe(tmp_path: Path) -> None:
    archive = tmp_path / "packages.zip"
    archive.write_bytes(b"PK")
    assert may_extend(GROUP, [str(archive)])
    (tmp_path / "whole-1.0.egg").mkdir()
    assert may_extend(GROUP, [str(tmp_path)])
