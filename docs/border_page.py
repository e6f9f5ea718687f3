"""The reference page of the host's border, written from its table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from docs.border import (
    ALSO_HELD,
    CONVERSIONS,
    DTYPES,
    HELD,
    KINDS,
    LAYOUTS,
    NUMBERS,
    Case,
    array_outcome,
    conversion_outcome,
    number_outcome,
)
from vyre.diagnostics.codes import all_codes
from vyre.ir import DataType

_HEAD = """\
# Host border

What may be passed to a kernel, and what becomes of it. A value is used as what it says it is, or
the call is refused and has done nothing. Nothing is converted silently, but for numbers that the
type of the parameter holds. Every cell of these tables is tried by a test, with kernels that read
and that write. How arrays stay on a device: [device arrays](../howto/device-arrays.md)."""
_ARRAYS = """\
Arrays are taken as the type that they have. `bf16` is held as its 16 bits, types of a byte as their
codes, vectors as their lanes one after another. Arrays of all other types are refused (D005), those
of these types by every parameter: {others}. `x.view(...)` has the type that it says, on the same
memory."""
_LAYOUTS = """\
Arrays of float32 for a parameter of `f32`, on the CPU. *In place* is the memory of the array
itself. A device with memory of its own gets a copy, and what it writes is copied back."""
_KINDS = """\
Other values for a parameter of `f32`, on the CPU. *Its bytes* are read as elements of whatever type
the parameter has; everything else says what type its numbers have."""
_NUMBERS = """\
*✓* is taken as it is, *≈* is rounded to nearest. A float never becomes a whole number, and no
finite number becomes infinite."""
_CONVERSIONS = """\
`vy.array(x, dtype=...)` and `write` copy, and convert where the type holds every number: *✓*
always, *≈* rounded (D020 if a finite number would become infinite), *fit* if all are in range (else
D020)."""


def page() -> str:
    """The whole page."""
    lines = [_HEAD, "", "## Arrays by type", ""]
    refused = [d for d in DTYPES if all(array_outcome(e, d) == "D005" for e in HELD)]
    lines += [_ARRAYS.format(others=", ".join(f"`{dtype}`" for dtype in refused)), ""]
    lines += _table(["parameter", "numpy", "also, of ml_dtypes"], map(_held, HELD))
    for title, text, cases in (
        ("Arrays by layout", _LAYOUTS, LAYOUTS),
        ("Other kinds of values", _KINDS, KINDS),
    ):
        lines += ["", f"## {title}", "", text, ""]
        rows = [_case(name, case) for name, case in cases.items()]
        lines += _table(["value", "`In`", "`InOut`, `Out`", ""], rows)
    lines += ["", "## Numbers", "", _NUMBERS, ""]
    types = [element for element in HELD if element.lanes == 1]
    rows = ([name, *(_number(e, value) for e in types)] for name, value in NUMBERS.items())
    lines += _table(["value", *map(str, types)], rows)
    lines += ["", "## Contents of device arrays", "", _CONVERSIONS, ""]
    rows = ([f"`{one}`", *(_conversion(one, two) for two in CONVERSIONS)] for one in CONVERSIONS)
    lines += _table(["from, to", *CONVERSIONS], rows)
    lines += ["", "## Refusals", ""]
    found = {"D005", "D014", "D020", "D030", "D031", "D032", "F053", "D011"}
    lines += [f"- [{code}](codes.md): {all_codes()[code].title}" for code in sorted(found)]
    return "\n".join(lines) + "\n"


def _held(element: DataType) -> Sequence[str]:
    also = ALSO_HELD.get(element)
    return f"`{element}`", f"`{HELD[element]}`", f"`{also}`" if also else ""


def _case(name: str, case: Case) -> Sequence[str]:
    return name, case.read, case.written, case.note


def _number(element: DataType, value: object) -> str:
    return {"taken": "✓", "rounded": "≈"}.get(found := number_outcome(element, value), found)


def _conversion(one: str, two: str) -> str:
    short = {"yes": "✓", "rounded": "≈", "if they fit": "fit"}
    return short.get(found := conversion_outcome(one, two), found)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return [f"| {' | '.join(line)} |" for line in lines]
