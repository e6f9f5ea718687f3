"""A pass has one name: of its file, in the registry and on the command line; and a text test."""

from __future__ import annotations

from pathlib import Path

from vyre.opt import registered_passes

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "vyre" / "opt" / "passes"
FILES = {path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"}


def test_files_and_registry_have_the_same_names() -> None:
    assert sorted(one.metadata.name for one in registered_passes()) == sorted(FILES)


def test_a_pass_stands_in_the_file_of_its_name() -> None:
    for one in registered_passes():
        assert type(one).__module__ == f"vyre.opt.passes.{one.metadata.name}"


def test_every_pass_has_a_text_test() -> None:
    tests = {path.stem for path in (ROOT / "tests" / "files" / "opt").glob("*.vy")}
    assert sorted(FILES - tests) == []
