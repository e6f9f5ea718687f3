"""A call that is refused says what to write, and writing that makes the kernel right."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import DispatchError

DATA = np.arange(1000, dtype=np.uint32) % 7
PLANE = (np.arange(300, dtype=np.uint32) % 5).reshape(15, 20)


def words(count: int) -> Any:
    return np.zeros(count, np.uint32)


class Case:
    """A kernel that is refused, its arguments, and what it is meant to leave in the last one."""

    def __init__(self, source: str, args: Callable[[], list[Any]], meant: Any, size: Any = 64):
        self.source = f"@vy.kernel(workgroup={size})\n{source}"
        self.args = args
        self.meant = np.asarray(meant)


CASES = {
    "a histogram": Case(
        "def k(data: vy.In[vy.u32], counts: vy.InOut[vy.u32]):\n"
        "    i = vy.gid()\n"
        "    counts.atomic_add(data[i], 1)\n",
        lambda: [DATA, words(7)],
        np.bincount(DATA, minlength=7),
    ),
    "without a name for the id": Case(
        "def k(data: vy.In[vy.u32], counts: vy.InOut[vy.u32]):\n"
        "    counts.atomic_add(data[vy.gid()], 1)\n",
        lambda: [DATA, words(7)],
        np.bincount(DATA, minlength=7),
    ),
    "two axes": Case(
        "def k(image: vy.In[vy.u32, 2], counts: vy.InOut[vy.u32]):\n"
        "    row, column = vy.gid(1), vy.gid(0)\n"
        "    c = image[row, column]\n"
        "    counts.atomic_add(c, 1)\n",
        lambda: [PLANE, words(5)],
        np.bincount(PLANE.reshape(-1), minlength=5),
        (8, 4),
    ),
    "one axis of two": Case(
        "def k(image: vy.In[vy.u32, 2], counts: vy.InOut[vy.u32]):\n"
        "    i, j = vy.gid(0), vy.gid(1)\n"
        "    if i < image.shape[0]:\n"
        "        counts.atomic_add(image[i, j], 1)\n",
        lambda: [PLANE, words(5)],
        np.bincount(PLANE.reshape(-1), minlength=5),
        (8, 4),
    ),
    "rows of a flat array": Case(
        "def k(w: vy.u32, y: vy.InOut[vy.u32]):\n"
        "    r, c = vy.gid(1), vy.gid(0)\n"
        "    y.atomic_add(r * w + c, 1)\n",
        lambda: [13, words(91)],
        np.ones(91),
        (8, 4),
    ),
    "a tree in shared memory": Case(
        "def k(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):\n"
        "    tile = vy.shared(vy.u32, 64)\n"
        "    tile[vy.lid()] = x[vy.gid()]\n"
        "    vy.barrier()\n"
        "    if vy.lid() == 63:\n"
        "        for k in range(64):\n"
        "            t.atomic_add(0, tile[k])\n",
        lambda: [DATA, words(1)],
        [DATA.sum()],
    ),
    "a loop over what the grid shares": Case(
        "def k(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):\n"
        "    mine = 0\n"
        "    for i in range(vy.gid(), len(x), vy.num_groups() * 64):\n"
        "        mine += x[i]\n"
        "    t.atomic_add(0, mine)\n",
        lambda: [DATA, words(1)],
        [DATA.sum()],
    ),
    "a bound that is read": Case(
        "def k(n: vy.In[vy.u32], x: vy.In[vy.u32], t: vy.InOut[vy.u32]):\n"
        "    i = vy.gid()\n"
        "    if i < n[0]:\n"
        "        t.atomic_add(0, x[i])\n",
        lambda: [np.array([900], np.uint32), DATA, words(1)],
        [DATA[:900].sum()],
    ),
}


def kernel_from(source: str, name: str) -> Any:
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"vy": vy}
    exec(compile(source, name, "exec"), names)
    return names["k"]


def with_guard(source: str, line: int, guard: str) -> str:
    """The source with a line, and what belongs to it, under a condition."""
    lines = source.splitlines()
    text = lines[line - 1]
    indent = len(text) - len(text.lstrip())
    lines[line - 1] = f"{' ' * indent}{guard}\n    {text}"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_following_the_fix_makes_it_right(name: str, device: str) -> None:
    case = CASES[name]
    with pytest.raises(DispatchError) as caught:
        kernel_from(case.source, f"<{name}>")(*case.args(), device=device)
    error = caught.value
    assert error.code == "D009"
    span = error.diagnostics[0].location.span
    assert span is not None
    assert span.source in case.source.splitlines()
    given: dict[str, Any] = {}
    source = case.source
    if guard := re.fullmatch(r"guard it: (if .*:)", error.fix):
        source = with_guard(source, span.line, guard[1])
    else:
        wanted = re.match(r"pass (grid|elements)=([\d(), ]+\b\)?)", error.fix)
        assert wanted is not None, error.fix
        given[wanted[1]] = eval(wanted[2])
    args = case.args()
    kernel_from(source, f"<{name}, fixed>")(*args, device=device, **given)
    np.testing.assert_array_equal(args[-1], case.meant)


@vy.kernel
def counted(t: vy.InOut[vy.u32]):
    i = vy.gid()
    t.atomic_add(i % 2, 1)


@vy.kernel
def shown(x: vy.In[vy.f32]):
    i = vy.gid()
    vy.print("x", x[i])


@vy.kernel
def width(w: vy.u32, t: vy.InOut[vy.u32]):
    t.atomic_add(0, vy.gid() * w)


def said(kernel: Any, *args: Any) -> str:
    with pytest.raises(DispatchError) as caught:
        kernel(*args, device="reference")
    return str(caught.value)


def test_where_no_array_says_it_a_number_does() -> None:
    assert said(counted, words(2)).endswith("if i < w: with w: vy.u32 among the parameters")
    # A name that the kernel has is not taken for another thing.
    assert "vy.gid() < width: with width: vy.u32" in said(width, 3, words(1))


def test_a_kernel_that_stores_nothing_is_told_how_many() -> None:
    text = said(shown, np.zeros(7, np.float32))
    assert "the kernel stores nothing" in text
    assert text.endswith("fix: pass elements=7")


def test_a_refused_call_has_cleared_nothing() -> None:
    @vy.kernel
    def both(x: vy.In[vy.u32], y: vy.Out[vy.u32], t: vy.InOut[vy.u32]):
        i = vy.gid()
        y[i] = 1
        t.atomic_add(x[i], 1)

    y = np.full(10, 5, np.uint32)
    assert "D009" in said(both, DATA, y, words(7))
    assert (y == 5).all()


def said_of(body: str, *args: Any, size: Any = 64, more: str = "") -> str:
    """What is said of a kernel with these statements on `y`, and `more` parameters."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"@vy.kernel(workgroup={size})\ndef k({more}y: vy.InOut[vy.u32]):\n{lines}"
    return said(kernel_from(source, f"<{body}>"), *args, words(50))


PLACES_THAT_DIFFER = [
    "y[i % len(y)] = 7",
    "y[i % 4] = 7",
    "y[i & 3] = 7",
    "y[vy.u8(i)] = 1",
    "if i % 3 == 1:\n    y[0] = 7",
    "if i % 3 != 1:\n    return\ny[0] = 7",
    "for k in range(i):\n    y[k] = 7",
    "found = False\nif i % 3 == 1:\n    found = True\nif found:\n    y[0] = 7",
    "k = 0\nwhile k < i % 4:\n    k += 1\nfor m in range(k):\n    y[m] = 7",
    "for k in range(4):\n    if k == i % 4:\n        break\n    y[k] = 1",
]


@pytest.mark.parametrize("body", PLACES_THAT_DIFFER)
def test_one_invocation_is_not_enough_where_others_store_elsewhere(body: str) -> None:
    assert "if i < w: with w: vy.u32" in said_of("i = vy.gid()\n" + body)


@pytest.mark.parametrize(
    "body",
    [
        "for k in range(4):\n    y[k] = i",
        "if len(y) > 3:\n    for k in range(4):\n        y[k] = i",
        "if i < 4:\n    y.atomic_add(i, 1)\nfor k in range(4):\n    y[k + 5] = 7",
    ],
)
def test_one_invocation_is_enough_where_all_store_the_same(body: str) -> None:
    assert said_of("i = vy.gid()\n" + body).endswith("if i == 0:")


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("if j < 7:\n    y.atomic_add(i * 3 + j, 1)", "if i < w: with w: vy.u32 among"),
        ("y.atomic_add(i + j, 1)", "if i < w and j < h: with w: vy.u32 and h: vy.u32 among"),
        ("y.atomic_add(i + 7 * j, 1)", "if i < 7:"),
    ],
)
def test_rows_are_advised_only_where_there_are_some(body: str, fix: str) -> None:
    assert fix in said_of("i, j = vy.gid(0), vy.gid(1)\n" + body, size=(8, 4))


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("n = 30 if len(x) > 50 else 100\nif i < n:", "depends on a condition"),
        ("n = len(y)\nif len(x) > 3:\n    n = len(x)\nif i < n:", "depends on a condition"),
        ("n = 0\nfor k in range(3):\n    n += len(x) // 4\nif i < n:", "changes in a loop"),
        ("k = 0\nwhile k < 3:\n    k += 1\nif i - k * 100 < len(y):", "changes in a loop"),
        ("n = 1\nif x[0] > 3:\n    n = 5\nif i < n:", "is read from memory"),
        ("if i < x[0]:", "is read from memory"),
        ("if i < len(x) ^ 3:", "is not computed before the launch"),
        ("if x[i] < 3:", "no comparison ends"),
    ],
)
def test_the_cause_is_named(body: str, cause: str) -> None:
    text = said_of(f"i = vy.gid()\n{body}\n    y.atomic_add(0, 1)", DATA, more="x: vy.In[vy.u32], ")
    assert cause in text
