"""What is installed, and how it extends vyre: the same that `importlib.metadata` finds."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from vyre.installed import GROUPS, Extension, installed, normalized

BACKENDS, PASSES = GROUPS


def package(folder: Path, name: str, entry_points: str | None) -> str:
    (folder / name).mkdir(parents=True)
    if entry_points is not None:
        (folder / name / "entry_points.txt").write_text(entry_points)
    return str(folder / name)


def found(*folders: Path) -> list[Extension]:
    return list(installed(tuple(map(str, folders))).extensions)


@pytest.mark.parametrize("ending", ["dist-info", "egg-info"])
def test_a_package_with_a_group_is_found(tmp_path: Path, ending: str) -> None:
    package(tmp_path / "a", f"other-1.0.{ending}", "[console_scripts]\nx = y:z\n")
    text = f"[console_scripts]\nx = y:z\n\n[{BACKENDS}]\n# why\nmine = my.mod:make.it [extra]\n"
    place = package(tmp_path / "b", f"My_Own.Package-1.0.{ending}", text)
    assert found(tmp_path / "a", tmp_path / "b") == [
        Extension(BACKENDS, "mine", "my.mod:make.it", "my-own-package", "1.0", place)
    ]
    assert found(tmp_path / "a") == []


def test_both_groups_of_one_package(tmp_path: Path) -> None:
    package(
        tmp_path, "p-1.dist-info", f"[{PASSES}]\na=m:A\nb = m:B\n[{BACKENDS}]\nc= m:c\n[z]\nd = e"
    )
    assert [(each.group, each.name, each.value) for each in found(tmp_path)] == [
        (PASSES, "a", "m:A"),
        (PASSES, "b", "m:B"),
        (BACKENDS, "c", "m:c"),
    ]


def test_the_first_of_two_packages_of_one_name_counts(tmp_path: Path) -> None:
    package(tmp_path / "a", "same_name-2.0.dist-info", f"[{PASSES}]\nnew = m:A\n")
    package(tmp_path / "b", "Same.Name-1.0.dist-info", f"[{PASSES}]\nold = m:A\n")
    assert [each.name for each in found(tmp_path / "a", tmp_path / "b")] == ["new"]


def test_packages_without_entry_points_and_missing_folders_have_none(tmp_path: Path) -> None:
    package(tmp_path, "plain-1.0.dist-info", None)
    (tmp_path / "old-1.0.egg-info").write_text("a file, as setuptools once wrote it")
    package(tmp_path, "binary-1.0.dist-info", None)
    (tmp_path / "binary-1.0.dist-info" / "entry_points.txt").write_bytes(b"[vyre.passes]\n\xff\xfe")
    package(tmp_path, "folder-1.0.dist-info", None)
    (tmp_path / "folder-1.0.dist-info" / "entry_points.txt").mkdir()
    assert found(tmp_path, tmp_path / "nowhere") == []
    names = installed((str(tmp_path),)).metadata
    assert names.keys() == {"plain", "old", "binary", "folder"}


def test_packages_in_archives_and_eggs_are_found(tmp_path: Path) -> None:
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped-1.0.dist-info/METADATA", "Name: zipped\nVersion: 1.0\n")
        file.writestr("zipped-1.0.dist-info/entry_points.txt", f"[{PASSES}]\nz = m:Z\n")
    package(tmp_path / "whole-1.0-py3.11.egg", "EGG-INFO", f"[{PASSES}]\ne = m:E\n")
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK")
    extensions = found(archive, tmp_path / "whole-1.0-py3.11.egg", broken)
    assert [(each.name, each.package, each.version) for each in extensions] == [
        ("z", "zipped", "1.0"),
        ("e", "whole", "1.0"),
    ]


def test_it_finds_the_packages_that_the_standard_library_finds() -> None:
    here = installed(tuple(sys.path)).metadata
    known = {normalized(each.metadata["Name"]) for each in distributions()}
    assert here.keys() == known
    assert installed(tuple(sys.path)).extensions


def test_what_an_entry_point_names_is_loaded() -> None:
    assert Extension(PASSES, "x", "os:path.join", "p", "1", "").load() is __import__("os").path.join
    with pytest.raises(ModuleNotFoundError):
        Extension(PASSES, "x", "no.such.module:thing", "p", "1", "").load()
