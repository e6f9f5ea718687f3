"""Keys change with each thing that they depend on, and with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cache import keys
from tests.unit.cache.environment import Environment
from vyre.cache import DiskCache, code_stamp, compiler_fingerprint, is_still_the_code, sources
from vyre.cache.sources import Files
from vyre.config import config


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with Environment(tmp_path_factory.mktemp("environment")) as made:
        yield made


@pytest.fixture(scope="module")
def first(environment: Environment) -> str:
    return environment.stamp()


@pytest.mark.parametrize("what", keys.STAMPED)
def test_the_stamp_of_the_code_changes_with(what: str, environment: Environment, first: str):
    assert keys.stamp_after(environment, keys.STAMPED[what]) != first
    assert environment.stamp() == first


@pytest.mark.parametrize("what", keys.NOT_STAMPED)
def test_the_stamp_of_the_code_does_not_change_with(
    what: str, environment: Environment, first: str
):
    assert keys.stamp_after(environment, keys.NOT_STAMPED[what]) == first


def test_the_key_of_a_program_changes_with_each_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {what: keys.key_after(change, monkeypatch) for what, change in keys.KEYED.items()}
    found["nothing"] = keys.world().key()
    same = [what for what in found if list(found.values()).count(found[what]) > 1]
    assert same == []


@pytest.mark.parametrize("what", keys.NOT_KEYED)
def test_the_key_of_a_program_does_not_change_with(what: str, monkeypatch: pytest.MonkeyPatch):
    assert keys.key_after(keys.NOT_KEYED[what], monkeypatch) == keys.world().key()


def test_code_does_not_depend_on_what_is_not_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine code for one thread is that for seven."""
    made: list[bytes] = []
    for threads in ("1", "7"):
        monkeypatch.setenv("VYRE_THREADS", threads)
        config.cache_clear()
        w = keys.world()
        made.append(w.route.backend.emit(w.program, w.target, w.options.emit).payload)
    monkeypatch.undo()
    config.cache_clear()
    assert made[0] == made[1]


# --- whole processes ------------------------------------------------------------------------------

RUN = """
import sys
import numpy as np
import vyre as vy
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.runtime.run import dispatch

i = Expr.gid(0)
step = Node.store("x", i, Expr.load("x", i) + Expr.u32(1))
decl = BufferDecl.read_write("x", 0, DataType.U32)
compiled = vy.compile(Program.wrapped([decl], (64, 1, 1), [step]), device="cpu")
x = dispatch(compiled, {"x": np.full(64, 10, np.uint32)})["x"]
print(int(x[0]), "cached" if compiled.from_cache else "compiled")
"""


def said_by_a_process(environment: Environment, seed: str = "0") -> str:
    # Files that were written in the last moment may not be those that are imported.
    time.sleep(0.05)
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    path = ":".join([environment.variables["PYTHONPATH"], *libraries])
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={**environment.variables, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """With the real llvmlite and numpy."""
    import shutil

    made = Environment(tmp_path_factory.mktemp("running"))
    for name in ("llvmlite", "numpy", "wgpu"):
        shutil.rmtree(made.site / name)
        shutil.rmtree(made.site / f"{name}-1.0.dist-info")
    return made


def test_code_of_another_vyre_or_with_other_passes_is_not_run(running: Environment) -> None:
    assert said_by_a_process(running) == "12 compiled"
    assert said_by_a_process(running, seed="1") == "12 cached"
    running.replace(running.site / "own_passes" / "one.py", "FROM, TO = 1, 2", "FROM, TO = 1, 5")
    assert said_by_a_process(running) == "15 compiled"
    running.remove(running.site / "own_passes-1.0.dist-info")
    assert said_by_a_process(running) == "11 compiled"
    generator = running.vyre / "backends/llvm/emit/arithmetic.py"
    running.replace(generator, 'BinOp.ADD: "add"', 'BinOp.ADD: "sub"')
    assert said_by_a_process(running) == "9 compiled"
    running.restore()
    assert said_by_a_process(running) == "12 cached"


# --- files that change while a process runs -------------------------------------------------------


def test_a_process_whose_files_were_changed_shares_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiler_fingerprint, "IMPORTED_NS", 0)
    compiler_fingerprint._stamp.cache_clear()
    one = code_stamp()
    assert one == code_stamp()
    compiler_fingerprint._stamp.cache_clear()
    assert code_stamp() != one
    monkeypatch.undo()
    compiler_fingerprint._stamp.cache_clear()


def test_what_other_code_made_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The stamp was made, then files were changed, then modules were loaded from them."""
    code_stamp()
    assert is_still_the_code()
    monkeypatch.setattr(compiler_fingerprint, "_checked", compiler_fingerprint._Checked())
    monkeypatch.setattr(Files, "signature", lambda self: "changed")
    assert not is_still_the_code()
    monkeypatch.undo()
    assert is_still_the_code()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    made = DiskCache(tmp_path / "store", 1 << 20)
    monkeypatch.setattr(sources, "default_cache", lambda: made)
    return made


def digest_of(path: Path) -> str:
    files = Files()
    files.add("file", str(path))
    return files.digest()


def test_contents_are_noted_once_files_are_no_longer_young(
    tmp_path: Path, store: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    first = digest_of(path)
    assert store.summary().entries == 0
    later = time.time_ns() + 3_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    assert digest_of(path) == first
    assert store.summary().entries == 1
    monkeypatch.setattr(sources, "_contents", lambda path: pytest.fail("it was read again"))
    assert digest_of(path) == first


def test_two_edits_within_one_tick_of_a_coarse_clock(
    tmp_path: Path, store: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system that knows nothing but full seconds cannot tell them apart."""
    assert not edits_are_confused(tmp_path, monkeypatch)


def edits_are_confused(folder: Path, patch: pytest.MonkeyPatch) -> bool:
    right = os.stat
    second = 1_000_000_000

    class Coarse:
        def __init__(self, status: os.stat_result) -> None:
            self.st_size, self.st_ino = status.st_size, status.st_ino
            self.st_mtime_ns = self.st_ctime_ns = time.time_ns() // (2 * second) * 2 * second

    patch.setattr(sources.os, "stat", lambda path: Coarse(right(path)))
    path = folder / "file"
    path.write_text("one")
    first = digest_of(path)
    path.write_text("two")
    confused = digest_of(path) == first
    patch.setattr(sources.os, "stat", right)
    return confused


def test_a_vyre_whose_files_cannot_be_looked_at_shares_nothing(
    environment: Environment, first: str
) -> None:
    for before in (
        "stamp._FOLDER = '/no/such/folder'",
        "def refuse(*_): raise PermissionError\nsources.os.scandir = refuse",
        "def refuse(*_): raise PermissionError\nsources._contents = refuse",
    ):
        before += "\nsources.default_cache().limit = 0"
        one, other = environment.stamp(before), environment.stamp(before)
        assert len({one, other, first}) == 3, before


def test_a_program_that_vyre_is_part_of_is_known_by_its_file(environment: Environment) -> None:
    program = environment.folder / "program"
    program.write_text("one")
    before = f"sys.frozen, sys.executable, stamp._FOLDER = True, {str(program)!r}, '/no/such'"
    one = environment.stamp(before)
    assert environment.stamp(before) == one
    program.write_text("two")
    assert environment.stamp(before) != one


@pytest.mark.parametrize("what", ["link in a circle", "pipe", "link to nowhere", "archive"])
def test_odd_things_among_the_files(tmp_path: Path, store: DiskCache, what: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("x")
    match what:
        case "link in a circle":
            (tree / "circle").symlink_to(tree)
        case "pipe":
            os.mkfifo(tree / "pipe.py")
        case "link to nowhere":
            (tree / "b.py").symlink_to(tree / "nowhere")
        case _:
            (tmp_path / "x.zip").write_text("archive")
            tree = tmp_path / "x.zip" / "package"
    files = Files()
    files.add_tree("tree", str(tree), (".py",))
    assert files.digest() == files.digest()


def test_large_data_is_known_by_size_and_time_and_large_code_by_its_contents(
    tmp_path: Path, store: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_LARGE", 4)
    for name, is_read in (("weights.bin", False), ("library.so", True), ("module.py", True)):
        path = tmp_path / name
        path.write_text("many 1")
        os.utime(path, ns=(1, 1))
        first = digest_of(path)
        path.write_text("many 2")
        os.utime(path, ns=(1, 1))
        assert (digest_of(path) != first) is is_read
        os.utime(path, ns=(2, 2))
        assert digest_of(path) != first
