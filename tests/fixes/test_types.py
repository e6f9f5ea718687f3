"""The advice about types is right for every pair of them, not only for those of the cases.

One kernel has a statement for every pair; each is refused, and each is written again with the
conversions of its own fix.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.fixes.cases import execute, said_of, surroundings
from tests.fixes.code_in import code_in
from tests.fixes.repairs import default_device

VALUES: dict[str, float] = {
    **{"u8": 200, "u16": 60_000, "u32": 3_000_000_000, "u64": 2**40},
    **{"i8": -3, "i16": -300, "i32": -70_000, "i64": -(2**41)},
    **{"f16": 0.5, "f32": 0.25, "f64": 0.125},
}
"""A number of every type that the narrower types do not hold, where there is one."""
NUMPY = {"u": "uint", "i": "int", "f": "float"}
PAIRS = list(itertools.permutations(VALUES, 2))
Repaired = Callable[[str, Iterable[str]], str]


def _arrays() -> dict[str, Any]:
    made = {name: np.array([value], NUMPY[name[0]] + name[1:]) for name, value in VALUES.items()}
    return {f"a_{name}": array for name, array in made.items()}


def _kernel(lines: list[str]) -> str:
    inputs = ", ".join(f"a_{name}: vy.In[vy.{name}]" for name in VALUES)
    body = "".join(f"    {line}\n" for line in lines)
    return f"@vy.kernel(workgroup=1)\ndef k({inputs}, y: vy.Out[vy.f64]):\n{body}"


def _converted(line: str, pieces: Iterable[str]) -> str:
    """A statement with the operands converted as the pieces of a fix convert them."""
    for piece in pieces:
        operand = re.fullmatch(r"vy\.\w+\((.*)\)", piece)
        assert operand is not None, piece
        line = line.replace(operand[1], piece)
    return line


def _followed(lines: list[str], code: str, repaired: Repaired = _converted) -> list[float]:
    """Have every statement refused, write each as its fix says, and run what comes out."""
    said = said_of(_kernel(lines), "pairs of types")
    assert {diagnostic.code for diagnostic in said} == {code}
    where = [one.location.span.line - 3 for one in said if one.location.span is not None]
    assert where == list(range(len(lines)))
    written = [repaired(line, code_in(one.fix)) for line, one in zip(lines, said, strict=True)]
    names = surroundings()
    execute(_kernel(written), "pairs of types, repaired", names)
    y = np.zeros(len(lines))
    with default_device("reference"):
        names["k"](**_arrays(), y=y, grid=1)
    return y.tolist()


@pytest.mark.parametrize("sign", ["+", "<"])
def test_operands_that_are_converted_as_advised_give_what_the_numbers_give(sign: str) -> None:
    lines = [
        f"y[{place}] = vy.f64(a_{left}[0] {sign} a_{right}[0])"
        for place, (left, right) in enumerate(PAIRS)
    ]
    found = _followed(lines, "F021")
    for (left, right), value in zip(PAIRS, found, strict=True):
        a, b = VALUES[left], VALUES[right]
        expected = a + b if sign == "+" else float(a < b)
        # Next to a float, a whole number is rounded to it; its type holds 24 bits at least.
        rounded = "f" in left + right and not {"f64"} & {left, right}
        assert value == pytest.approx(expected, rel=2**-23 if rounded else 0, abs=0), (left, right)


def test_truth_values_are_counted_as_python_counts_them() -> None:
    signs = ("+", "-", "*", "&", "|", "^", "==", "!=")
    whole = [name for name in VALUES if name[0] != "f"]
    pairs = [(name, sign) for name in whole for sign in signs]
    lines = [
        f"y[{place}] = vy.f64(a_{name}[0] {sign} (a_f32[0] > 0.0))"
        for place, (name, sign) in enumerate(pairs)
    ]

    def counted(line: str, pieces: Iterable[str]) -> str:
        return line.replace("(a_f32[0] > 0.0)", next(iter(pieces)))

    found = _followed(lines, "F021", counted)
    compute: dict[str, Any] = {sign: eval(f"lambda a, b: a {sign} b") for sign in signs}
    for (name, sign), value in zip(pairs, found, strict=True):
        assert value == compute[sign](VALUES[name], True), (name, sign)


def test_whole_numbers_that_are_divided_as_advised_give_what_python_gives() -> None:
    whole = [name for name in VALUES if name[0] != "f"]
    lines = [
        f"y[{place}] = vy.f64(a_{name}[0] / (a_{name}[0] - 2))" for place, name in enumerate(whole)
    ]

    def divided(line: str, pieces: Iterable[str]) -> str:
        return f"{line.partition(' = ')[0]} = vy.f64({list(pieces)[-1]})"

    for name, value in zip(whole, _followed(lines, "F028", divided), strict=True):
        expected = VALUES[name] / (VALUES[name] - 2)
        assert value == pytest.approx(expected, rel=2**-52 if name[1:] == "64" else 2**-22), name


def test_a_store_of_another_type_is_converted_as_numpy_does() -> None:
    for kind in VALUES:
        others = [name for name in VALUES if name != kind and abs(VALUES[name]) < 128]
        body = "".join(f"    y[{n}] = a_{name}[0]\n" for n, name in enumerate(others))
        source = _kernel([]).replace("vy.Out[vy.f64]", f"vy.Out[vy.{kind}]") + body
        said = said_of(source, f"stores to {kind}")
        assert {diagnostic.code for diagnostic in said} == {"F022"}
        for diagnostic in said:
            (piece,) = code_in(diagnostic.fix)
            source = source.replace(f"= {piece.partition('(')[2][:-1]}\n", f"= {piece}\n")
        names = surroundings()
        execute(source, f"stores to {kind}, repaired", names)
        y = np.zeros(len(others), NUMPY[kind[0]] + kind[1:])
        with default_device("reference"):
            names["k"](**_arrays(), y=y, grid=1)
        for name, value in zip(others, y, strict=True):
            number = VALUES[name]
            if number >= 0 or kind[0] != "u":
                assert value == np.array(number).astype(y.dtype), (name, kind)


def test_the_types_are_all_of_those_that_kernels_compute_with() -> None:
    scalars = {name for name in vars(vy) if re.fullmatch(r"[uif]\d+", name)}
    assert scalars == set(VALUES)
