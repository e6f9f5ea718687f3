"""A pass has one name: of its file, in the registry and on the command line; and a text test."""

from __future__ import annotations

from pathlib import Path

from vyre.backends.llvm.pipeline import CPU_PASSES
from vyre.opt import registered_passes

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "vyre" / "opt" / "passes"
FILES = {path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"}


def test_files_and_registry_have_the_same_names() -> None:
    assert sorted(one.metadata.name for one in registered_passes()) == sorted(FILES)


def test_a_pass_stands_in_the_file_of_its_name() -> None:
    for one in registered_passes():
        assert type(one).__module__ == f"vyre.opt.passes.{one.metadata.name}"


def test_cpu_passes_stand_in_files_of_their_names_and_have_text_tests() -> None:
    names = [one.metadata.name for one in CPU_PASSES]
    homes = [type(one).__module__ for one in CPU_PASSES]
    assert homes == [f"vyre.backends.llvm.passes.{name}" for name in names]
    folder = ROOT / "src" / "vyre" / "backends" / "llvm" / "passes"
    assert sorted(names) == sorted({path.stem for path in folder.glob("[a-z]*.py")})
    tests = {path.stem for path in (ROOT / "tests" / "files" / "cpu").glob("*.vy")}
    assert tests == set(names)


def test_every_pass_has_a_text_test() -> None:
    tests = {path.stem for path in (ROOT / "tests" / "files" / "opt").glob("*.vy")}
    assert sorted(FILES - tests) == []
