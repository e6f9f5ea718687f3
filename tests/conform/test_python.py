"""The front end against CPython: random kernels give on the reference what Python gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conform.front_plants import PLANTS
from vyre.cli import main
from vyre.conform.fuzz import case_of, check_case
from vyre.conform.fuzz.checks import Tally
from vyre.conform.fuzz.failures import keep, shrunk
from vyre.conform.python.case import PARTS, PythonCase, index_case, python_case
from vyre.conform.python.index import INDEX_VALUES
from vyre.conform.python.oracle import FILE
from vyre.conform.python.run import inputs_of
from vyre.conform.python.scope import World
from vyre.conform.python.shrink import shrink_source

SEED = 4_000_000
BATCHES, BATCH = 4, 8


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_kernels_give_what_python_gives(batch: int) -> None:
    tally = Tally()
    numbers = range(SEED + batch * BATCH, SEED + (batch + 1) * BATCH)
    for number in numbers:
        case = case_of(number, "python")
        found = check_case(case, number, ("python@reference",), tally)
        assert found == [], f"{found[0].problem}\n{case}"
    assert sum(tally.counted.values()) == len(numbers)


def test_so_they_do_when_compiled() -> None:
    case = case_of(SEED, "python")
    assert check_case(case, SEED, ("python",)) == [], str(case)


def test_a_seed_gives_the_same_kernel() -> None:
    assert str(python_case(7)) == str(python_case(7))
    assert str(python_case(7)) != str(python_case(8))


WORDS = (
    *(" if ", "elif", "else:", "while ", "while True", "break", "continue", "return", " and "),
    *(" or ", "not ", " in (", "not in", "reversed(", "enumerate(", "zip(", "divmod(", "//", "%"),
    *(" >> ", " << ", "~", "abs(", "min(", "max(", "**", ":= ", " += ", " = (", "bump(", "mine["),
    *("plane[", "atomic_", "vy.select", "vy.math.floor", "TABLE", "LATER", "-1, -1", ", -2)"),
)
TYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def test_everything_of_the_language_is_there() -> None:
    seen: Counter[str] = Counter()
    for number in range(80):
        case = python_case(number)
        seen.update(word for word in WORDS if word in case.source)
        seen[case.world.dtype] += 1
    assert not [word for word in (*WORDS, *TYPES) if seen[word] < 2], seen


def test_python_runs_kernels_of_index_expressions() -> None:
    """They are tried on devices, too, where ids and lengths are index values."""
    for number in range(8):
        case = index_case(number)
        assert case.expected()["y"].any(), str(case)
        if INDEX_VALUES:
            assert check_case(case, number, ("python@reference",)) == [], str(case)


LONG = """
G = 3

@vy.func
def half(v):
    return v // 2

@vy.kernel(workgroup=4)
def k(x: vy.In[vy.i32], f: vy.In[vy.f32], m: vy.In[vy.i32, 2], n: vy.i32,
      r: vy.InOut[vy.i32], y: vy.InOut[vy.i32], g: vy.Out[vy.f32]):
    o = 4 * vy.gid()
    for t in range(n % 3, 6):
        if t > G:
            r[o] = min(t, 7)
        y[o] += half(-5 - t) * (2 if x[t] > 0 else 3)
"""


def test_a_failure_is_shrunk_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A planted bug leaves few lines, which `vyre run` compares with what Python gave."""
    (plant,) = (one for one in PLANTS if one.name == "// truncates")
    case = replace(python_case(0), source=LONG, world=World("i32", wraps=False))
    case = replace(case, inputs=inputs_of(0, case.world, PARTS))
    assert check_case(case, 0, ("python@reference",)) == []
    with plant.planted():
        (found,) = check_case(case, 0, ("python@reference",))
        small, how = shrunk(case, 0, found)
        assert isinstance(small, PythonCase)
        folder = keep(small, 0, how, tmp_path)
    left = (folder / "kernel.py").read_text()
    assert "//" in left
    assert len(left.splitlines()) < len(LONG.splitlines()) - 4
    assert main(["run", str(folder)]) == 1
    assert "unlike Python" in capsys.readouterr().out


def test_a_loop_that_loses_its_end_is_left() -> None:
    """What an edit makes of a kernel need not end in Python."""
    raised: list[type[BaseException]] = []

    def fails(text: str) -> bool:
        try:
            exec(compile(text, FILE, "exec"), {})
        except (NameError, TimeoutError) as problem:
            raised.append(type(problem))
        return False

    assert shrink_source("i = 0\nwhile i < 3:\n    i += 1\n", fails).startswith("i = 0")
    assert TimeoutError in raised
