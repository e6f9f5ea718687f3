"""What people get wrong on the command line: each mistake is named with what to write instead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vyre.cli import main

MODULE = """
import vyre as vy

print("a module may print")

@vy.kernel
def double(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    vy.print("and so may a kernel", 1)
    if vy.gid() < len(y):
        y[vy.gid()] = 2.0 * x[vy.gid()]

@vy.kernel
def filled(value: vy.u8, y: vy.Out[vy.u8]):
    y[vy.gid()] = value

@vy.kernel
def widened(a: vy.bf16, x: vy.In[vy.bf16], y: vy.Out[vy.f32]):
    if vy.gid() < len(y):
        y[vy.gid()] = vy.f32(a) + vy.f32(x[vy.gid()])

@vy.kernel
def turned(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    y[vy.gid(0), vy.gid(1)] = x[vy.gid(1), vy.gid(0)]
"""


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "mistaken.py"
    path.write_text(MODULE, encoding="utf-8")
    (tmp_path / "syntax.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "imports.py").write_text("import there_is_no_such_module\n", encoding="utf-8")
    (tmp_path / "raises.py").write_text("a = 1\nprint(a / 0)\n", encoding="utf-8")
    (tmp_path / "beside.py").write_text("import raises\n", encoding="utf-8")
    (tmp_path / "leaves.py").write_text("import sys\n\nsys.exit(0)\n", encoding="utf-8")
    return str(path)


MISTAKES = [
    ("check mistaken.py", "mistaken.py:KERNEL"),
    ("check mistaken.py:dble", "there are double, filled, widened, turned"),
    ("check syntax.py:f", "invalid syntax at"),
    ("check imports.py:f", "No module named 'there_is_no_such_module'"),
    ("check raises.py:f", "ZeroDivisionError: division by zero at raises.py:2"),
    ("check beside.py:f", "division by zero at raises.py:2"),
    ("check leaves.py:f", "ends Python at leaves.py:3"),
    ("check missing.py:f", "no file"),
    ("run mistaken.py:double", "--in x=random:1000"),
    ("run mistaken.py:double --in z=1", "the inputs are x"),
    ("run mistaken.py:double --in x=one", "neither a file nor a number"),
    ("run mistaken.py:filled --in value=300 --size y=4", "u8 holds 0 to 255, not 300"),
    ("run mistaken.py:filled --in value=-1 --size y=4", "u8 holds 0 to 255, not -1"),
    ("run mistaken.py:filled --in value=1.5 --size y=4", "a whole number"),
    ("run mistaken.py:turned --in x=ones:4 --size y=2,2", "ones:100,100"),
    ("run mistaken.py:turned --in x=ones:2,2", "--size y=100,100"),
    ("run mistaken.py:double --in x=ones:4294967296", "too long"),
    ("run mistaken.py:double --in x=random:99999999999999999999", "too long"),
    ("run mistaken.py:double --in x=ones:65536,65536", "too long"),
    ("run mistaken.py:double --in x=ones:4 --repeat 0", "at least once"),
    ("run mistaken.py:double --in x=ones:4 --elements -1", "not negative"),
    ("run mistaken.py:double --in x=ones:4 --elements 1,2,3,4", "one to three numbers"),
    ("run mistaken.py:double --in x=ones:4 --elements two", "not a whole number"),
    ("run mistaken.py:double --in x=ones:4 --elements 4 --grid 1", "not both"),
    ("demo --only magic", "there are saxpy, "),
]


@pytest.mark.parametrize("words, said", MISTAKES, ids=[words for words, _ in MISTAKES])
def test_a_mistake_is_named(
    words: str, said: str, module: str, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(Path(module).parent)
    assert main(words.split()) == 2
    assert said in capsys.readouterr().err
    assert main([*words.split(), "--json"]) == 2
    assert said in json.loads(capsys.readouterr().out)["errors"][0]["message"]


@pytest.mark.parametrize(
    "words, said",
    [
        ("run", "required: FILE"),
        ("show mistaken.py:double --as c", "invalid choice: 'c'"),
        ("run x.vy --repeat often", "--repeat"),
        ("check a.vy --fast", "unrecognized arguments: --fast"),
        ("compile a.vy", "invalid choice: 'compile'"),
    ],
)
def test_a_wrong_command_line_is_json_where_it_was_asked_for(words: str, said: str, capsys) -> None:
    with pytest.raises(SystemExit) as usage:
        main(words.split())
    assert usage.value.code == 2
    assert said in capsys.readouterr().err
    with pytest.raises(SystemExit) as usage:
        main([*words.split(), "--json"])
    assert usage.value.code == 2
    printed = capsys.readouterr()
    assert said in json.loads(printed.out)["errors"][0]["message"]
    assert not printed.err


def test_a_file_that_cannot_be_written_is_named(module: str, tmp_path: Path, capsys) -> None:
    place = tmp_path / "no folder" / "y.npy"
    call = ["run", f"{module}:double", "--in", "x=ones:4", "--size", "y=4", "--device", "cpu"]
    assert main([*call, "--out", f"y={place}"]) == 1
    assert str(place) in capsys.readouterr().err
    assert main(["export", f"{module}:turned", "-o", str(place.with_suffix(".ll"))]) == 1
    assert "No such file" in capsys.readouterr().err


def test_json_is_all_that_stands_on_stdout(module: str, capsys) -> None:
    call = ["run", f"{module}:double", "--in", "x=ones:2", "--size", "y=2", "--device", "cpu"]
    assert main([*call, "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["outputs"]["y"]["head"] == [2.0, 2.0]
    assert "a module may print" in said.err
    assert "and so may a kernel" in said.err


@pytest.mark.parametrize(
    "made, expected", [("ones:3", [2.5] * 3), ("range:3", [1.5, 2.5, 3.5])], ids=["ones", "range"]
)
def test_numbers_of_sixteen_bits_are_what_they_say(
    made: str, expected: list[float], module: str, capsys
) -> None:
    call = ["run", f"{module}:widened", "--in", "a=1.5", "--in", f"x={made}", "--size", "y=3"]
    assert main([*call, "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"]["y"]["head"] == expected


def test_arrays_of_several_axes_are_made_up(module: str, tmp_path: Path) -> None:
    file = tmp_path / "y.npy"
    call = ["run", f"{module}:turned", "--in", "x=range:2,3", "--size", "y=3,2"]
    assert main([*call, "--out", f"y={file}", "--device", "cpu", "--grid", "1,3"]) == 0
    assert np.load(file).shape == (3, 2)


def test_without_a_command_all_are_listed(capsys) -> None:
    assert main([]) == 2
    assert "  demo " in capsys.readouterr().err


def test_bench_away_from_the_source_says_where_to_go(tmp_path: Path) -> None:
    code = "import sys; from vyre.cli import main; sys.path = [p for p in sys.path if p.endswith"
    code += (
        "(('src', 'site-packages', 'lib-dynload')) or 'python3' in p]; sys.exit(main(['bench']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "vyre demo" in run.stderr
