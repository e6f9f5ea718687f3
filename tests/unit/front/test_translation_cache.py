"""Kernels that an earlier process translated: found when nothing changed, and only then."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.cache import DiskCache
from vyre.diagnostics import FrontError, TrapError
from vyre.front import lower
from vyre.ir import Program
from vyre.ir.walk import walk_stmts
from vyre.runtime import translation_store

KERNEL = """
import vyre as vy
import math
import numpy as np

N = 3
M = N
HALF = 0.5
SIZES = (1, 2)
STEP = np.float32(2)

@vy.func
def helper(v, scale=2):
    return v * vy.f32(scale) + vy.f32(N)

def made(constant):
    @vy.kernel
    def k(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        i = vy.gid()
        if i < len(y):
            y[i] = helper(x[i]) * vy.f32(constant) + vy.f32(M) + vy.f32(HALF) + vy.math.exp(x[i])
            y[i] += vy.f32(SIZES[0]) + STEP + vy.f32(math.pi)
    return k

k = made(5)
"""


class Home:
    """A cache of its own, and a count of translations."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.cache = DiskCache(folder / "cache", 1 << 24)
        self.translations = 0
        self._files = count()
        translate = lower.translate

        def counting(*args: Any) -> Program:
            self.translations += 1
            return translate(*args)

        patch.setattr(lower, "translate", counting)
        patch.setattr(translation_store, "default_cache", lambda: self.cache)

    def load(self, text: str, **names: object) -> ModuleType:
        """A module with this text, as another process would import it; `names` are put in last."""
        path = self.folder / f"file{next(self._files)}.py"
        path.write_text(text)
        module = ModuleType("some_module")
        exec(compile(text, str(path), "exec"), module.__dict__)
        module.__dict__.update(names)
        return module

    def translates(self, text: str, use: Callable[[Any], object] | None = None, **names: object):
        """Whether the kernel of a module has to be translated."""
        module = self.load(text, **names)
        before = self.translations
        program = (use or (lambda kernel: kernel.program()))(module.k)
        assert isinstance(program, Program)
        return self.translations > before


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def test_it_is_translated_once(home: Home):
    assert home.translates(KERNEL)
    assert not home.translates(KERNEL)


def test_a_remembered_program_is_the_same(home: Home):
    first = home.load(KERNEL).k.program()
    second = home.load(KERNEL).k.program()
    assert home.translations == 1
    assert second.digest() == first.digest()
    assert second == first
    assert str(second) == str(first)
    assert second.to_wire() == first.to_wire()
    assert second.stats() == first.stats()


CHANGES: dict[str, tuple[str, str]] = {
    "a global": ("N = 3", "N = 4"),
    "a global of the same value and another type": ("HALF = 0.5", "HALF = True"),
    "the text of the kernel": ("i < len(y)", "i < len(x)"),
    "a default of a helper": ("scale=2", "scale=3"),
    "the text of a helper": ("v * vy", "v - vy"),
    "an annotation of a helper": ("def helper(v,", "def helper(v: vy.f32,"),
    "a value in a closure": ("made(5)", "made(6)"),
    "an annotation": ("x: vy.In[vy.f32]", "x: vy.InOut[vy.f32]"),
    "an element of a tuple": ("(1, 2)", "(7, 2)"),
    "a number of numpy": ("np.float32(2)", "np.float32(3)"),
    "the type of a number of numpy": ("np.float32(2)", "np.float64(2)"),
    "a module": ("import math", "import cmath as math"),
    "the workgroup": ("    @vy.kernel\n", "    @vy.kernel(workgroup=128)\n"),
    "the arithmetic": ("    @vy.kernel\n", "    @vy.kernel(fast_math=True)\n"),
    "the name": ("    def k(x", "    def kk(x"),
    "a function of vyre": ("vy.math.exp", "vy.math.exp2"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed(home: Home, what: str):
    old, new = CHANGES[what]
    changed = KERNEL.replace(old, new)
    assert changed != KERNEL
    changed = changed.replace("return k\n", "return kk\n") if "kk" in new else changed
    assert home.translates(KERNEL)
    assert home.translates(changed)
    assert not home.translates(KERNEL)
    assert not home.translates(changed)


def test_what_a_name_means_now_counts_not_what_the_file_says(home: Home):
    assert home.translates(KERNEL)
    assert home.translates(KERNEL, N=30)
    assert home.translates(KERNEL, HALF=vy.math.e)
    assert not home.translates(KERNEL, N=3, HALF=0.5)


def test_numbers_that_look_alike_are_told_apart(home: Home):
    nan = float("nan")
    assert home.translates(KERNEL, HALF=nan)
    assert home.translates(KERNEL, HALF=math.copysign(nan, -1))
    assert home.translates(KERNEL, HALF=0.0)
    assert home.translates(KERNEL, HALF=-0.0)
    assert not home.translates(KERNEL, HALF=nan)


def test_an_attribute_of_a_module_counts(home: Home):
    text = KERNEL.replace("vy.f32(HALF)", "vy.f32(own.HALF)")
    own, other = ModuleType("own"), ModuleType("own")
    own.HALF, other.HALF = 1, 2  # pyright: ignore[reportAttributeAccessIssue]
    assert home.translates(text, own=own)
    assert home.translates(text, own=other)
    assert not home.translates(text, own=own)


def test_functions_of_the_same_text_are_told_apart(home: Home):
    text = """
import vyre as vy

def made(constant):
    @vy.func
    def inner(v):
        return v + vy.f32(constant)
    return inner

f = made(1)
g = f

@vy.kernel
def k(y: vy.Out[vy.f32]):
    y[vy.gid()] = f(vy.f32(1)) * g(vy.f32(1))
"""
    assert home.translates(text)
    assert home.translates(text.replace("g = f", "g = made(2)"))
    assert home.translates(text.replace("g = f", "g = made(1)"))
    home.translates(text)
    assert not home.translates(text)


def test_another_version_of_vyre_translates_anew(home: Home, monkeypatch: pytest.MonkeyPatch):
    assert home.translates(KERNEL)
    monkeypatch.setattr(translation_store, "code_stamp", lambda: "another")
    assert home.translates(KERNEL)


def test_what_a_call_decides_counts(home: Home):
    text = """
import vyre as vy
T = vy.generic("T")

@vy.kernel
def k(x: vy.InOut[T], n: vy.static[int]):
    x[vy.gid()] += T(n)
"""
    for dtype, number in ((vy.f32, 1), (vy.u32, 1), (vy.f32, 2)):

        def use(kernel: Any, dtype: Any = dtype, number: int = number) -> Program:
            return kernel.program(dtype, number)

        assert home.translates(text, use)
        assert not home.translates(text, use)


def test_static_values_that_compare_equal_are_told_apart(home: Home):
    text = """
import vyre as vy

@vy.kernel
def k(x: vy.InOut[vy.f32], s: vy.static[float]):
    x[vy.gid()] = vy.f32(s)
"""
    nan = float("nan")
    for value in (0.0, -0.0, nan):

        def use(kernel: Any, value: float = value) -> Program:
            return kernel.program(s=value)

        assert home.translates(text, use)
        assert not home.translates(text, use)


def test_what_cannot_be_written_down_is_translated_every_time(home: Home):
    text = KERNEL.replace("vy.f32(HALF)", "vy.f32(settings.HALF)")

    class Settings:
        HALF = 0.5

    class Number(int):
        pass

    assert home.translates(text, settings=Settings())
    assert home.translates(text, settings=Settings())
    assert home.translates(KERNEL, N=Number(3))
    assert home.translates(KERNEL, N=Number(3))


def test_a_branch_that_reads_more(home: Home):
    text = """
import vyre as vy
WIDE, A, B = True, 1, 2

@vy.kernel
def k(x: vy.InOut[vy.u32]):
    if WIDE:
        x[vy.gid()] = vy.u32(A)
    else:
        x[vy.gid()] = vy.u32(B)
"""
    assert home.translates(text)
    narrow = text.replace("WIDE, A, B = True, 1, 2", "WIDE, A, B = False, 1, 2")
    other = text.replace("WIDE, A, B = True, 1, 2", "WIDE, A, B = False, 1, 3")
    assert home.translates(narrow)
    assert home.translates(other)
    assert not home.translates(narrow)
    home.translates(text)
    assert not home.translates(text)


def test_a_kernel_that_is_refused_is_refused_again(home: Home):
    wrong = "import vyre as vy\n\n@vy.kernel\ndef k(x: vy.InOut[vy.u32]):\n    del x\n"
    for _ in range(2):
        with pytest.raises(FrontError):
            home.load(wrong)
    untyped = "import vyre as vy\nA = vy.In[vy.u32]\n\n@vy.kernel\ndef k(x: A):\n    y = x[0]\n"
    assert home.translates(untyped)
    with pytest.raises(FrontError, match="has a type that kernels lack"):
        home.load(untyped.replace("A = vy.In[vy.u32]", "A = 7"))


def test_a_trap_of_a_remembered_kernel_knows_its_line(home: Home):
    text = """
import vyre as vy

@vy.kernel
def k(x: vy.InOut[vy.u32]):
    i = vy.gid()
    assert x[i] < vy.u32(5), "too large"
    x[i] += vy.u32(1)
"""
    home.load(text).k(np.zeros(4, np.uint32))
    module = home.load(text)
    assert home.translations == 1
    with pytest.raises(TrapError, match=r"file1\.py:7"):
        module.k(np.full(4, 9, np.uint32))


def test_a_deferred_program_keeps_what_it_was_when_names_change(home: Home):
    text = "import vyre as vy\nN = 3\n\n@vy.kernel\ndef k(x: vy.InOut[vy.u32]):\n    x[0] = N\n"
    expected = home.load(text).k.program()
    module = home.load(text)
    found = module.k.program()
    module.__dict__["N"] = 4
    assert list(walk_stmts(found.entry)) == list(walk_stmts(expected.entry))


def test_outputs_of_a_remembered_kernel_begin_as_zeros(home: Home):
    text = """
import vyre as vy

@vy.kernel
def k(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    j, i = vy.gid(0), vy.gid(1)
    if 0 < i < y.shape[0] - 1 and j < y.shape[1]:
        y[i, j] = x[i, j]
"""
    x = np.ones((8, 70), np.float32)
    results: list[np.ndarray[Any, Any]] = []
    for _ in range(2):
        y = np.full((8, 70), 5, np.float32)
        home.load(text).k(x, y)
        results.append(y)
    assert home.translations == 1
    assert np.array_equal(results[0], results[1])
    assert results[1][0].max() == 0
    assert results[1][1:-1].min() == 1


@pytest.mark.parametrize("damage", ["torn", "other", "nonsense", "types"])
def test_harmed_entries_are_no_entries(home: Home, damage: str):
    assert home.translates(KERNEL)
    for path in Path(home.cache.folder).iterdir():
        key, data = path.stem, path.read_bytes()
        body = home.cache.get(key)
        assert body is not None
        match damage:
            case "torn":
                path.write_bytes(data[: len(data) // 2])
            case "other":
                path.write_bytes(b"something else")
            case "nonsense":
                home.cache.put(key, b"\xff\0\0\0{]" + bytes(range(256)))
            case _:
                home.cache.put(key, _with_other_types(bytes(body)))
    assert home.translates(KERNEL)
    assert not home.translates(KERNEL)


def _with_other_types(body: bytes) -> bytes:
    """An entry whose numbers are texts, and whose texts are numbers."""
    size = int.from_bytes(body[:4], "little")
    if body[:1] == b"{":
        return json.dumps({"copies": "no", "reads": [[1], "x", {}]}).encode()
    head = json.loads(body[4 : 4 + size])
    data = json.dumps({**head, "axes": "1", "buffers": [[1] * 9]}).encode()
    return len(data).to_bytes(4, "little") + data + body[4 + size :]


def test_the_namespaces_of_functions_are_known(home: Home) -> None:
    text = (
        "import vyre as vy\n\n@vy.kernel\ndef k(x: vy.InOut[vy.f32]):\n"
        '    x[vy.gid()] = vy.group.reduce("add", vy.subgroup.add(x[vy.gid()]))\n'
    )
    assert home.translates(text)
    assert not home.translates(text)
