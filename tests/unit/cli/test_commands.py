"""Every command does what its help says, for people and for programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vyre as vy
from vyre.cli import main
from vyre.cli.command import COMMANDS
from vyre.cli.page import page
from vyre.cli.samples import Wishes, sample_of
from vyre.config import config

ROOT = Path(__file__).parents[3]
DOUBLE = """
program workgroup(32, 1, 1)

buffer x: read_only f32[] @0
buffer y: read_write f32[] @1

region "double" {
    if gid.x < len(y) {
        y[gid.x] = x[gid.x] * 2.0f32 + (y[gid.x] - 0.0f32)
    }
}
"""


@pytest.fixture
def double(tmp_path: Path) -> str:
    path = tmp_path / "double.vy"
    path.write_text(DOUBLE)
    return str(path)


def printed(capsys) -> dict:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"example:\n  vyre {name}" in capsys.readouterr().out


def test_help_lists_all_commands(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert all(f"  {name}" in out for name in COMMANDS)


def test_an_unknown_command_is_refused(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["brew"])
    assert ended.value.code == 2


def test_devices(capsys) -> None:
    assert main(["devices", "--json"]) == 0
    found = {device["id"]: device for device in json.loads(capsys.readouterr().out)}
    assert found["cpu"]["available"]
    assert found["reference"]["available"]
    assert found["cpu"]["limits"]["max_invocations"] >= 1024
    assert sum(device["default"] for device in found.values()) == 1
    assert main(["devices", "--features"]) == 0
    assert "subgroups" in capsys.readouterr().out


def test_check(double: str, tmp_path: Path, capsys) -> None:
    assert main(["check", double, "--device", "cpu"]) == 0
    assert "no problems" in capsys.readouterr().out
    bad = tmp_path / "bad.vy"
    bad.write_text(DOUBLE.replace("2.0f32", "2u32"))
    assert main(["check", str(bad)]) == 1
    assert "error[V101]" in capsys.readouterr().out
    assert main(["check", str(bad), "--json"]) == 1
    found = printed(capsys)
    assert not found["ok"]
    assert found["problems"][0]["line"] == 9


def test_a_file_that_is_not_there(capsys) -> None:
    assert main(["check", "nowhere.vy"]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert main(["check", "nowhere.vy", "--json"]) == 1
    assert printed(capsys)["errors"][0]["code"] == "W012"


def test_a_file_of_unknown_kind(capsys) -> None:
    assert main(["check", "kernel.txt"]) == 2
    assert "neither" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stage", "word"),
    [
        ("ir", "program"),
        ("opt", "program"),
        ("llvm", "define"),
        ("asm", "ret"),
        ("wgsl", "@compute"),
    ],
)
def test_show(stage: str, word: str, double: str, capsys) -> None:
    assert main(["show", double, "--as", stage]) == 0
    assert word in capsys.readouterr().out


def test_opt(double: str, tmp_path: Path, capsys) -> None:
    better = tmp_path / "better.vyb"
    assert main(["opt", double, "--passes", "simplify", "--explain", "-o", str(better)]) == 0
    assert "simplify" in capsys.readouterr().out
    assert main(["show", str(better)]) == 0
    assert "0.0f32" not in capsys.readouterr().out
    assert main(["opt", double, "--passes", "magic"]) == 2
    assert main(["opt", double, "--passes", "list"]) == 0
    listed = capsys.readouterr().out
    assert "simplify" in listed
    assert main(["opt", "--passes", "list"]) == 0
    assert capsys.readouterr().out == listed
    assert main(["opt", "--passes", "simplify"]) == 2
    assert "FILE" in capsys.readouterr().err


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_run(device: str, double: str, tmp_path: Path, capsys) -> None:
    x, out = tmp_path / "x.npy", tmp_path / "out.npy"
    np.save(x, np.arange(100, dtype=np.float32))
    call = ["run", double, "--in", f"x={x}", "--in", "y=ones:100", "--out", f"y={out}", "--check"]
    assert main([*call, "--device", device]) == 0
    shown = capsys.readouterr().out
    assert "the same as the reference" in shown
    np.testing.assert_array_equal(np.load(out), np.arange(100, dtype=np.float32) * 2 + 1)
    assert main([*call, "--device", device, "--json"]) == 0
    found = printed(capsys)
    assert found["differences"] == []
    assert found["outputs"]["y"]["head"][:3] == [1.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("given", "code", "word"),
    [
        (["--in", "x"], 2, "NAME=VALUE"),
        (["--in", "z=1"], 2, "no buffer z"),
        (["--in", "x=maybe"], 2, "neither a file nor a number"),
        (["--in", "x=ones:3", "--in", "y=ones:3", "--out", "z=a.npy"], 2, "no output z"),
        (["--in", "x=ones:3"], 2, "--in y=random:1000"),
        (["--in", "x=ones:3", "--in", "y=ones:3", "--device", "abacus"], 1, "D001"),
    ],
)
def test_run_refuses(given: list[str], code: int, word: str, double: str, capsys) -> None:
    assert main(["run", double, *given]) == code
    assert word in capsys.readouterr().err


def test_a_program_in_a_python_file(tmp_path: Path, capsys) -> None:
    (tmp_path / "mine.py").write_text(
        f"from vyre.ir import Program\nkernel = Program.parse('''{DOUBLE}''')\n"
    )
    assert main(["check", f"{tmp_path}/mine.py:kernel"]) == 0
    assert main(["check", f"{tmp_path}/mine.py:other"]) == 2
    assert main(["check", f"{tmp_path}/mine.py"]) == 2


KERNELS = """
import vyre as vy

T = vy.generic("T")


@vy.kernel(workgroup=(8, 8))
def transpose(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = x[j, i]


@vy.kernel
def scale(x: vy.In[T], y: vy.Out[T], n: vy.static[int]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] * n
"""


def test_kernels_in_a_python_file(tmp_path: Path, capsys) -> None:
    path = tmp_path / "some_kernels.py"
    path.write_text(KERNELS)
    assert main(["show", f"{path}:scale(i8, n=4)", "--as", "ir"]) == 0
    assert "y[i] = x[i] * 4i8" in capsys.readouterr().out
    for command in ("check", "opt"):
        assert main([command, f"{path}:scale(x=f32, n=2)"]) == 0
        assert main([command, f"{path}:transpose"]) == 0
    capsys.readouterr()
    for wrong in ("nothing", "scale(q)", "scale(", "T"):
        assert main(["check", f"{path}:{wrong}"]) == 2
    assert main(["check", f"{path}:scale"]) == 1
    assert "F052" in capsys.readouterr().err


def test_arrays_of_several_axes(tmp_path: Path, capsys) -> None:
    path = tmp_path / "more_kernels.py"
    path.write_text(KERNELS)
    given, result = tmp_path / "x.npy", tmp_path / "y.npy"
    x = np.arange(300, dtype=np.float32).reshape(10, 30)
    np.save(given, x)
    named = ["run", f"{path}:transpose", "--in", f"x={given}", "--device", "cpu"]
    assert main([*named, "--size", "y=30,10", "--out", f"y={result}", "--check", "--json"]) == 0
    assert printed(capsys)["differences"] == []
    np.testing.assert_array_equal(np.load(result), x.T)
    assert main(named) == 2
    assert "--size y=100,100" in capsys.readouterr().err


def test_export(double: str, tmp_path: Path, capsys) -> None:
    for suffix, word in ((".wgsl", "@compute"), (".vy", "program"), (".ll", "define")):
        target = tmp_path / f"out{suffix}"
        assert main(["export", double, "-o", str(target)]) == 0
        assert word in target.read_text()
    assert main(["export", double, "-o", str(tmp_path / "out.exe")]) == 2


def test_cache(capsys, tmp_path: Path, monkeypatch) -> None:
    # A folder of its own: other tests compile into the shared one at the same time.
    monkeypatch.setenv("VYRE_CACHE_DIR", str(tmp_path))
    config.cache_clear()
    assert main(["cache", "clear", "--json"]) == 0
    assert printed(capsys)["entries"] == 0
    assert main(["cache"]) == 0
    assert "0 entries" in capsys.readouterr().out
    monkeypatch.undo()
    config.cache_clear()


def test_conform(tmp_path: Path, capsys) -> None:
    report, document = tmp_path / "out.json", tmp_path / "conformance.md"
    call = ["conform", "--device", "reference", "--areas", "endings,refusals"]
    assert main([*call, "--report", str(report), "--write-docs", str(document)]) == 0
    assert json.loads(report.read_text())["ok"]
    assert "| refusals |" in document.read_text()
    assert main(["conform", "--areas", "magic"]) == 2


def test_demo(capsys) -> None:
    call = ["demo", "--device", "cpu", "--device", "reference", "--only", "saxpy,nbody"]
    assert main(call) == 0
    assert "All 4 results are right" in capsys.readouterr().out
    assert main(["demo", "--device", "cpu", "--only", "saxpy", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["right"]
    assert row["seconds"] > 0


def test_the_page_is_current(bless: bool) -> None:
    path = ROOT / "docs" / "cli.md"
    if bless:
        path.write_text(page(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page(), "run: python -m vyre.cli.page > docs/cli.md"


def test_it_is_a_program_too() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "vyre", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("vyre ")


GRIDS = """
import vyre as vy


@vy.kernel
def total(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        t.atomic_add(0, x[i])


@vy.kernel
def blind(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    t.atomic_add(0, x[vy.gid()] + 1)


@vy.kernel(workgroup=(8, 4))
def turned(n: vy.u32, y: vy.InOut[vy.u32, 2]):
    i, j = vy.gid(0), vy.gid(1)
    if i < n:
        y[i, j] += 1
"""


@pytest.fixture
def grids(tmp_path: Path) -> str:
    path = tmp_path / "some_grids.py"
    path.write_text(GRIDS)
    return str(path)


def test_kernels_have_their_own_grid(grids: str, tmp_path: Path, capsys) -> None:
    shared = ["--device", "cpu", "--check", "--json"]
    assert main(["run", f"{grids}:total", "--in", "x=ones:1000", "--in", "t=0", *shared]) == 0
    found = printed(capsys)
    assert (found["outputs"]["t"]["head"], found["differences"]) == ([1000], [])
    assert main(["run", f"{grids}:blind", "--in", "x=ones:1000", "--in", "t=0", *shared]) == 1
    assert "D009" in capsys.readouterr().out
    out = tmp_path / "y.npy"
    call = ["run", f"{grids}:turned", "--in", "n=30", "--in", "y=zeros:40,7", "--out", f"y={out}"]
    assert main([*call, *shared]) == 0
    assert np.load(out).sum() == 30 * 7
    capsys.readouterr()
    # A check runs what was asked for.
    assert main([*call, *shared, "--elements", "9,3"]) == 0
    assert printed(capsys)["differences"] == []
    assert np.load(out).sum() == 16 * 4


def test_a_page_has_the_grid_of_its_kernel(grids: str, tmp_path: Path) -> None:
    def exported(kernel: str, *given: str) -> str:
        folder = tmp_path / f"page {kernel} {len(given)}"
        assert main(["export", f"{grids}:{kernel}", "--web", "-o", str(folder), *given]) == 0
        return (folder / "index.html").read_text()

    arrays = ("--in", "n=30", "--in", "y=zeros:40,7")
    assert "4 × 2 × 1" in exported("turned", *arrays)
    assert "2 × 1 × 1" in exported("turned", *arrays, "--elements", "9,3")
    assert "16 × 1 × 1" in exported("total", "--in", "x=ones:1000", "--in", "t=0")


def test_a_text_of_several_axes_has_the_grid_of_its_effects(grids: str, tmp_path: Path) -> None:
    text, out = tmp_path / "turned.vy", tmp_path / "y.npy"
    assert main(["export", f"{grids}:turned", "-o", str(text)]) == 0
    call = ["run", str(text), "--in", "n=30", "--in", "y=zeros:40,7", "--out", f"y={out}"]
    assert main([*call, "--device", "cpu", "--check"]) == 0
    assert np.load(out).sum() == 30 * 7


def test_an_output_of_an_exported_page_begins_as_zeros_whatever_is_given() -> None:
    @vy.kernel
    def evens(y: vy.Out[vy.u32]):
        i = vy.gid()
        if i < len(y) and i % 2 == 0:
            y.atomic_add(i, 1)

    made = sample_of(evens.program(), Wishes(inputs={"y": np.full(4, 77, np.uint32)}))
    assert made.inputs["y"].tolist() == [0] * 4
    assert made.expected["y"].tolist() == [1, 0, 1, 0]
