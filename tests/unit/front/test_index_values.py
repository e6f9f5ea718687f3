"""Ids and lengths are integers as Python has them: the tables of the spec, cell by cell.

Every expression is evaluated by Python on plain integers, and its form is told by what the table
says of its operands. What is negative only where Python raises an error is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.as_python import kernel_of
from tests.unit.front.devices import DEVICES
from vyre.diagnostics import FrontError, VyreError
from vyre.front.extent_limit import extents_below
from vyre.runtime.kernel_grid import ArraySizes, launch_grid

IDS = 8
NATURAL = {"i": "i", "n": "n", "three": "3", "half": "i // 2"}
SIGNED = {"less": "(i - 2)", "last": "(n - 1)", "apart": "(i - n)", "minus": "-2", "neg": "-i"}
OPERANDS = {**NATURAL, **SIGNED}

SYMBOLS = ("+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%")
OPERATORS: dict[str, str] = {
    **{symbol: f"{{}} {symbol} {{}}" for symbol in SYMBOLS},
    "min": "min({}, {})",
    "max": "max({}, {})",
}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def is_natural(symbol: str, left: str, right: str) -> bool:
    """The first table: whether a result is never negative, by the forms of its operands."""
    one, other = left in NATURAL, right in NATURAL
    match symbol:
        case "-":
            return False
        case "&" | "max":
            return one or other
        case "%":
            return other
        case _:
            return one and other


def pairs(symbols: dict[str, str]) -> Iterator[tuple[str, str, str, str]]:
    for symbol, left, right in product(symbols, OPERANDS, OPERANDS):
        if {left, right} & {"i", "n", "half", "less", "last", "apart", "neg"}:
            text = symbols[symbol].format(OPERANDS[left], OPERANDS[right])
            yield symbol, left, right, text


CELLS = [cell for cell in pairs(OPERATORS) if not (cell[0] in ("<<", ">>") and cell[2] == "minus")]
"""Shifts by a negative constant are refused, as Python refuses them."""
COMPARED = list(pairs({symbol: f"{{}} {symbol} {{}}" for symbol in COMPARISONS}))
_PER_KERNEL = 60


def groups(texts: list[str]) -> list[list[str]]:
    rest = iter(texts)
    return [*iter(lambda: list(islice(rest, _PER_KERNEL)), [])]


def source(texts: list[str], element: str = "i64") -> str:
    lines = [f"    out[{row}, i] = vy.{element}({text})\n" for row, text in enumerate(texts)]
    return (
        "@vy.kernel(workgroup=8)\n"
        f"def k(x: vy.In[vy.u8], out: vy.Out[vy.{element}, 2]):\n"
        "    i, n = vy.gid(), len(x)\n" + "".join(lines)
    )


def expected(text: str, i: int, n: int) -> int | None:
    """What Python gives; None where it raises, or where 32 bits do not hold it."""
    try:
        found = int(eval(text, {"i": i, "n": n, "min": min, "max": max, "abs": abs}))
    except (ZeroDivisionError, ValueError):
        return None
    return found if -(1 << 31) <= found < 1 << 31 else None


def check(texts: list[str], lengths: tuple[int, ...], device: str) -> None:
    for some in groups(texts):
        kernel = kernel_of(source(some))
        for n in lengths:
            out = np.zeros((len(some), IDS), np.int64)
            kernel(np.zeros(n, np.uint8), out, elements=IDS, device=device)
            for row, text in enumerate(some):
                for i in range(IDS):
                    wanted = expected(text, i, n)
                    assert wanted is None or out[row, i] == wanted, (text, i, n)


@pytest.mark.parametrize("device", DEVICES)
def test_operators_give_what_python_gives(device: str) -> None:
    texts = [text for *_, text in CELLS if "<<" not in text]
    check(texts if device == "reference" else texts[:: len(DEVICES) + 5], (0, 1, 5), device)


@pytest.mark.parametrize("device", DEVICES)
def test_comparisons_are_exact(device: str) -> None:
    texts = [text for *_, text in COMPARED]
    check(texts if device == "reference" else texts[:: len(DEVICES) + 5], (0, 1, 5), device)


def test_shifts_to_the_left() -> None:
    texts = [text for symbol, _, _, text in CELLS if symbol == "<<"]
    check(texts, (0, 1, 5), "cpu")


@pytest.mark.parametrize("text", ["abs(i - n)", "abs(i)", "abs(-i)", "abs(2 * i - 3 * n)"])
def test_absolute_values(text: str) -> None:
    check([text], (0, 1, 5), "cpu")
    assert accepts_unsigned(text)


def accepts_unsigned(text: str) -> bool:
    """Whether an expression may be stored as u32: then its form says that it is not negative."""
    body = (
        "@vy.kernel\ndef k(x: vy.In[vy.u8], out: vy.Out[vy.u32]):\n"
        f"    i, n = vy.gid(), len(x)\n    out[i] = {text}\n"
    )
    return code_of(kernel_of(body).program) is None


def code_of(action: Callable[[], object]) -> str | None:
    """The code of what an action is refused with."""
    try:
        action()
    except VyreError as error:
        return error.diagnostics[0].code
    return None


@pytest.mark.parametrize("symbol", OPERATORS)
def test_the_form_of_a_result_follows_from_the_forms_of_the_operands(symbol: str) -> None:
    for found, left, right, text in CELLS:
        if found == symbol:
            assert accepts_unsigned(text) is is_natural(symbol, left, right), text


@pytest.mark.parametrize("text", ["-i", "~i", "-n"])
def test_what_is_negated_is_signed(text: str) -> None:
    assert not accepts_unsigned(text)
    check([text], (0, 1, 5), "cpu")


def test_a_choice_is_signed_if_one_is() -> None:
    for text in ("i if i < n else n - 1", "vy.select(i < n, -1, i)", "(i, n - 1)[i % 2]"):
        assert not accepts_unsigned(text)
    assert accepts_unsigned("i if i < n else n")
    check(["i if i < n else n - 3", "(i, n - 1)[i % 2]"], (0, 1, 5), "cpu")


# --- the second table: an index meets a number ----------------------------------------------------

TYPES = {"i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64}
MODULAR = ("+", "-", "*", "&", "|", "^")
SIDES = ("{index} {op} {number}", "{number} {op} {index}")
VALUES = (0, 1, 3, 7, (1 << 31) - 1)


def run_with(dtype: str, texts: list[str], result: str, values: list[int]) -> np.ndarray:
    lines = [f"    out[{row}, j, i] = {text}\n" for row, text in enumerate(texts)]
    kernel = kernel_of(
        f"@vy.kernel(workgroup=8)\n"
        f"def k(x: vy.In[vy.u8], v: vy.In[vy.{dtype}], out: vy.Out[vy.{result}, 3]):\n"
        f"    i, n, j = vy.gid(0), len(x), vy.gid(1)\n"
        f"    w = v[j]\n" + "".join(lines)
    )
    given = np.array(values, TYPES[dtype])
    out = np.zeros((len(texts), len(values), IDS), TYPES[result])
    grid = (IDS, len(values))
    kernel(np.zeros(3, np.uint8), given, out, elements=grid, device="reference")
    return out


def meets(dtype: str, texts: list[str], result: str, form: str = "{}") -> None:
    """All of it is right, modulo the range of the type."""
    signed = [-5, -1] if dtype.startswith("i") else [(1 << 32) - 1]
    values = [*VALUES, *signed]
    out = run_with(dtype, [form.format(text) for text in texts], result, values)
    bits, low = int(result[1:]), -(1 << int(result[1:]) - 1) if result.startswith("i") else 0
    for row, j, i in product(range(len(texts)), range(len(values)), range(IDS)):
        names = {"i": i, "n": 3, "w": values[j], "min": min, "max": max}
        try:
            wanted = int(eval(texts[row], names))
        except (ZeroDivisionError, ValueError):
            continue
        assert out[row, j, i] == (wanted - low) % (1 << bits) + low, (texts[row], i, values[j])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index", ["i", "n", "(i - 2)", "(n - 1)"])
def test_an_index_takes_the_type_of_a_number(dtype: str, index: str) -> None:
    cells = product(MODULAR, SIDES)
    meets(dtype, [form.format(index=index, op=op, number="w") for op, form in cells], dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index", ["i", "(i - 2)", "(n - 1 - i)"])
def test_an_index_is_compared_exactly_with_a_number(dtype: str, index: str) -> None:
    cells = product(COMPARISONS, SIDES)
    texts = [form.format(index=index, op=op, number="w") for op, form in cells]
    meets(dtype, texts, "u32", "vy.u32({})")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("text", ["{} // 3 // w", "w % ({} + 1)", "min({}, w)", "max(w, {})"])
def test_where_the_sign_matters_a_signed_index_meets_signed_numbers_only(
    dtype: str, text: str
) -> None:
    meets(dtype, [text.format("i")], dtype)
    if dtype.startswith("i"):
        meets(dtype, [text.format("(i - 2)")], dtype)
    else:
        with pytest.raises(FrontError) as raised:
            run_with(dtype, [text.format("(i - 2)")], dtype, [1])
        assert raised.value.diagnostics[0].code == "F062"


@pytest.mark.parametrize("dtype", TYPES)
def test_stores_atomics_and_variables(dtype: str) -> None:
    bodies = ["out[i] = {}", "v: vy.{dtype} = {}\n    out[i] = v", "v = out[0]\n    v = {}"]
    bodies += ["out.atomic_add(i, {})"] if dtype != "i64" and dtype != "u64" else []
    for body, index in product(bodies, ("i", "i - 1")):
        text = f"@vy.kernel\ndef k(out: vy.InOut[vy.{dtype}]):\n    i = vy.gid()\n    "
        kernel = kernel_of(text + body.format(index, dtype=dtype) + "\n")
        if index == "i" or dtype.startswith("i"):
            kernel.program()
            continue
        with pytest.raises(FrontError) as raised:
            kernel.program()
        assert raised.value.diagnostics[0].code == "F062"


@pytest.mark.parametrize("dtype", ["u8", "i16", "f32", "f64", "bool_"])
@pytest.mark.parametrize("text", ["w + i", "i - 1 < w", "i if w == w else w"])
def test_other_types_take_no_index(dtype: str, text: str) -> None:
    kernel = kernel_of(
        f"@vy.kernel\ndef k(v: vy.InOut[vy.{dtype}]):\n    i = vy.gid()\n    w = v[i]\n"
        f"    t = {text}\n"
    )
    with pytest.raises(FrontError) as raised:
        kernel.program()
    assert raised.value.diagnostics[0].code == "F021"


def test_a_literal_from_two_to_the_31_on_is_u32() -> None:
    out = run_with("u32", ["i * 747796405 + 2891336453"], "u32", [0])
    wanted = (np.arange(IDS, dtype=np.uint64) * 747796405 + 2891336453).astype(np.uint32)
    assert out[0, 0].tolist() == wanted.tolist()


# --- conversions, ranges, variables ---------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_conversions_keep_the_sign(device: str) -> None:
    kernel = kernel_of(
        "@vy.kernel(workgroup=8)\n"
        "def k(f: vy.Out[vy.f32], w: vy.Out[vy.i64], u: vy.Out[vy.u32], b: vy.Out[vy.i32]):\n"
        "    i = vy.gid()\n"
        "    f[i] = vy.f32(i - 3)\n"
        "    w[i] = vy.i64(i - 3)\n"
        "    u[i] = vy.u32(i - 3)\n"
        "    b[i] = vy.i32(vy.i8(i - 3))\n"
    )
    arrays = [np.zeros(IDS, dtype) for dtype in (np.float32, np.int64, np.uint32, np.int32)]
    kernel(*arrays, elements=IDS, device=device)
    wanted = np.arange(IDS) - 3
    for array in arrays:
        assert array.tolist() == wanted.astype(array.dtype).tolist()


RANGES = [
    "range(i - 1, i + 2)",
    "range(n)",
    "range(1, n - 1)",
    "range(n - 1)",
    "range(n - 3, n)",
    "range(n - 1, -1, -1)",
    "range(n, 0, -2)",
    "range(-1, 2)",
    "range(10, -1, -3)",
    "range(i - 3, 6, 2)",
    "range(0, n - 2, 2)",
    "range(i, n, i + 1)",
    "range(5, n - 4, n - 6)",
    "reversed(range(1, n - 1))",
    "reversed(range(i - 2, i + 1))",
    "range(max(i - 1, 0), min(i + 2, n))",
]


@pytest.mark.parametrize("device", DEVICES)
def test_ranges_hold_what_pythons_do(device: str) -> None:
    lines = [
        f"    t: vy.i64 = {row}\n    for k in {text}:\n        t = t * 7 + k + i\n"
        f"    out[{row}, i] = t\n"
        for row, text in enumerate(RANGES)
    ]
    kernel = kernel_of(
        "@vy.kernel(workgroup=8)\ndef k(x: vy.In[vy.u8], out: vy.Out[vy.i64, 2]):\n"
        "    i, n = vy.gid(), len(x)\n" + "".join(lines)
    )
    for n in (0, 1, 2, 5):
        out = np.zeros((len(RANGES), IDS), np.int64)
        kernel(np.zeros(n, np.uint8), out, elements=IDS, device=device)
        for row, text in enumerate(RANGES):
            for i in range(IDS):
                total = row
                for k in eval(text, {"i": i, "n": n}):
                    total = total * 7 + k + i
                assert out[row, i] == total, (text, i, n)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a = i\n    a = a - 5\n    out[i] = a", [i - 5 for i in range(IDS)]),
        (
            "a = 0\n    a = i\n    if a - 3 >= 0:\n        a = 1\n    out[i] = a",
            [0, 1, 2] + [1] * 5,
        ),
        (
            "a = 0\n    for k in range(i):\n        a -= k\n    out[i] = a",
            [-i * (i - 1) // 2 for i in range(IDS)],
        ),
        (
            "a, b = i, i - 1\n    a, b = b, a\n    out[i] = a * 10 + b",
            [(i - 1) * 10 + i for i in range(IDS)],
        ),
        ("k = -1\n    out[i] = i + k", [i - 1 for i in range(IDS)]),
        ("a = i\n    while a > 2:\n        a -= 2\n    out[i] = a", [0, 1, 2, 1, 2, 1, 2, 1]),
        (
            "a = i\n    while a >= 0:\n        a -= 3\n    out[i] = a",
            [i - 3 * (i // 3 + 1) for i in range(IDS)],
        ),
    ],
)
@pytest.mark.parametrize("device", DEVICES)
def test_variables_that_hold_indices(body: str, wanted: list[int], device: str) -> None:
    kernel = kernel_of(
        f"@vy.kernel(workgroup=8)\ndef k(out: vy.Out[vy.i32]):\n    i = vy.gid()\n    {body}\n"
    )
    out = np.zeros(IDS, np.int32)
    kernel(out, elements=IDS, device=device)
    assert out.tolist() == wanted


def test_a_variable_takes_the_type_of_data_that_it_is_given() -> None:
    for dtype in ("u32", "i32", "i64"):
        kernel = kernel_of(
            f"@vy.kernel\ndef k(parent: vy.In[vy.{dtype}], y: vy.Out[vy.{dtype}]):\n"
            "    i = vy.gid()\n    a = i\n"
            "    while parent[a] != a:\n        a = parent[a]\n    y[i] = a\n"
        )
        parent = np.array([0, 0, 1, 2, 4, 4], TYPES[dtype])
        y = np.zeros_like(parent)
        kernel(parent, y)
        assert y.tolist() == [0, 0, 0, 0, 4, 4]


def test_functions_take_and_give_indices() -> None:
    names = {"before": vy.func(before), "clamped": vy.func(clamped)}
    kernel = kernel_of(
        "@vy.kernel(workgroup=8)\ndef k(out: vy.Out[vy.i32]):\n    i = vy.gid()\n"
        "    out[i] = before(i) * 100 + clamped(i - 4, 3)\n",
        names,
    )
    out = np.zeros(IDS, np.int32)
    kernel(out, elements=IDS)
    assert out.tolist() == [(i - 1) * 100 + min(max(i - 4, 0), 3) for i in range(IDS)]


def before(a):
    a -= 1
    return a


def clamped(a, high):
    if a < 0:
        return 0
    return min(a, high)


def test_print_shows_the_sign(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = kernel_of(
        '@vy.kernel(workgroup=1)\ndef k(out: vy.Out[vy.i32]):\n    vy.print("t", vy.gid() - 1)\n'
        "    out[0] = 1\n"
    )
    kernel(np.zeros(1, np.int32), elements=1)
    assert "-1" in capsys.readouterr().out


# --- how long a launch may be ---------------------------------------------------------------------


def refusal(text: str, invocations: int, axis: int = 0) -> str | None:
    """The error for a grid of this size; nothing is allocated, and nothing runs."""
    kernel = kernel_of(
        "@vy.kernel(workgroup=1)\ndef k(x: vy.In[vy.u8], out: vy.Out[vy.f32]):\n"
        f"    i, n = vy.gid({axis}), len(x)\n    if {text}:\n        out[0] = 1.0\n"
    )
    sizes = ArraySizes({"x": 1, "out": 1}, {}, {})
    grid = (invocations, 1, 1) if axis == 0 else (1, invocations, 1)
    return code_of(lambda: launch_grid(kernel.program(), sizes, grid, None))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_kernel_that_reads_a_sign_takes_less_than_two_to_the_31(axis: int) -> None:
    read_with_sign = "vy.f32(i - n) < 0.0"
    assert refusal(read_with_sign, (1 << 31) - 1, axis) is None
    assert refusal(read_with_sign, 1 << 31, axis) == "D043"
    assert refusal("vy.f32(vy.i64(i) - vy.i64(n)) < 0.0", (1 << 32) - 1, axis) is None


def test_a_kernel_that_adds_before_it_compares_takes_a_little_less() -> None:
    assert refusal("i < n - 1", (1 << 32) - (1 << 16) - 1) is None
    assert refusal("i < n - 1", (1 << 32) - (1 << 16)) == "D043"
    assert refusal("i < n", (1 << 32) - 1) is None
    assert refusal("i - 1 >= 0", (1 << 32) - 1) is None


def test_lengths_count_as_well() -> None:
    kernel = kernel_of(
        "@vy.kernel\ndef k(x: vy.In[vy.u8, 2], out: vy.Out[vy.f32]):\n"
        "    i = vy.gid()\n    out[i] = vy.f32(i - x.shape[1] * 2)\n"
    )
    program = kernel.program()
    told = {(1, (1 << 31) - 1): None, (0, 1 << 31): "D043", (2, 1 << 30): "D043"}
    for shape, code in told.items():
        sizes = ArraySizes({"x": shape[0] * shape[1], "out": 1}, {"x": shape}, {})
        assert code_of(partial(launch_grid, program, sizes, (1, 1, 1), None)) == code


def test_a_kernel_from_the_cache_knows_its_limit() -> None:
    text = (
        "@vy.kernel(workgroup=1)\ndef k(out: vy.Out[vy.f32]):\n"
        "    i = vy.gid()\n    out[i] = vy.f32(i - 1)\n"
    )
    for _ in range(2):
        program = kernel_of(text).program()
        assert extents_below(program) == 1 << 31
