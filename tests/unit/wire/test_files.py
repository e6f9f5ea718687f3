"""Files: both kinds, whole or not at all, errors with codes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.unit.ir.samples import everything
from vyre.diagnostics import ParseError, WireError
from vyre.wire import files, load, save


@pytest.mark.parametrize("suffix", [".vy", ".vyb"])
def test_a_program_comes_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"program{suffix}"
    save(everything(), path)
    assert load(path) == everything()
    assert load(str(path)) == everything()
    assert os.listdir(tmp_path) == [path.name]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "program.vyb"
    save(everything(), path)
    path.chmod(0o640)
    changed = everything().with_fast_math(False)
    save(changed, path)
    assert load(path) == changed
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_ordinary_permissions(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    save(everything(), tmp_path / "program.vyb")
    assert (tmp_path / "program.vyb").stat().st_mode == plain.stat().st_mode


def test_a_failure_leaves_the_old_file_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.vyb"
    save(everything(), path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(WireError) as caught:
        save(everything().with_fast_math(False), path)
    assert caught.value.code == "W012"
    assert "No space left" in str(caught.value)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_wrong_files_are_refused_with_codes(tmp_path: Path) -> None:
    torn = tmp_path / "torn.vyb"
    torn.write_bytes(everything().to_wire()[:-5])
    latin = tmp_path / "latin.vy"
    latin.write_bytes(b"program \xe9")
    wrong = tmp_path / "wrong.vy"
    wrong.write_text("program", encoding="utf-8")
    expected = {
        torn: "W003",
        latin: "W012",
        tmp_path / "missing.vyb": "W012",
        tmp_path / "program.txt": "W013",
        tmp_path / "program": "W013",
    }
    for path, code in expected.items():
        with pytest.raises(WireError) as caught:
            load(path)
        assert caught.value.code == code
    with pytest.raises(ParseError) as problem:
        load(wrong)
    assert str(wrong) in str(problem.value)
    with pytest.raises(WireError) as caught:
        save(everything(), tmp_path / "nowhere" / "program.vyb")
    assert caught.value.code == "W012"
