"""Chains of selects over constants are looked up in tables, and give what the chain gives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import WIDE, check
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.techniques import Technique
from vyre.ir import Program

TEXT = """program workgroup(64, 1, 1)

buffer at: read_only {index}[] @0
buffer out: read_write {element}[] @1

let i = {subject}
out[gid.x] = {chain}
"""
ELEMENTS = ("u8", "i8", "u16", "i32", "u64", "f32", "f64")
INDICES = {"u32": np.uint32, "i32": np.int32, "u16": np.uint16, "u8": np.uint8}


def literal(element: str, number: int) -> str:
    if element.startswith("f"):
        return f"{number}.5{element}"
    return f"{number % 128}{element}"


def chain(index: str, element: str, numbers: list[int], default: int = 7) -> str:
    text = literal(element, default)
    for number in reversed(numbers):
        text = f"select(i == {number}{index}, {literal(element, number * 37 + 1)}, {text})"
    return text


def program(
    index: str = "u32",
    element: str = "u8",
    numbers: list[int] | None = None,
    subject: str = "at[gid.x]",
) -> str:
    shown = chain(index, element, list(range(20)) if numbers is None else numbers)
    return TEXT.format(index=index, element=element, subject=subject, chain=shown)


def is_looked_up(text: str) -> bool:
    return Technique.CONSTANT_TABLES in generate(Program.parse(text), WIDE).applied


def given(index: str, element: str) -> dict[str, np.ndarray]:
    kind = INDICES[index]
    limits = np.iinfo(kind)
    numbers = [*range(70), limits.max, limits.max - 1, limits.min, 127, 128, 200]
    at = np.array([n & int(np.iinfo(np.uint32).max) for n in numbers], np.uint32).astype(kind)
    dtype = {"u": "uint", "i": "int", "f": "float"}[element[0]] + element[1:]
    return {"at": np.resize(at, 192), "out": np.zeros(192, dtype)}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("entries", [16, 20, 64])
def test_tables_give_what_chains_give(index: str, element: str, entries: int) -> None:
    text = program(index, element, list(range(entries)))
    assert is_looked_up(text)
    for cpu in ("native", "generic"):
        check(text, given(index, element), (3, 1, 1), cpu)


def test_a_large_table_of_bytes() -> None:
    text = program("u8", "u8", list(range(190)))
    assert is_looked_up(text)
    check(text, given("u8", "u8"), (3, 1, 1))


@pytest.mark.parametrize("subject", ["at[3]", "gid.x", "gid.x * 3 + 1", "at[gid.x] & 63"])
def test_any_index(subject: str) -> None:
    text = program(subject=subject)
    assert is_looked_up(text)
    check(text, given("u32", "u8"), (3, 1, 1))


def test_what_is_no_table() -> None:
    assert not is_looked_up(program(numbers=list(range(15))))
    assert not is_looked_up(program(numbers=[*range(18), 19]))
    assert not is_looked_up(program(numbers=list(range(1, 20))))
    for text in (
        program().replace("i == 9u32", "gid.x == 9u32"),
        program().replace("i == 9u32", "i < 9u32"),
        program().replace("select(i == 9u32, 78u8", "select(i == 9u32, u8(i)"),
    ):
        assert text != program()
        assert not is_looked_up(text)
        check(text, given("u32", "u8"), (3, 1, 1))


def test_equal_tables_are_emitted_once() -> None:
    first = program().rstrip()
    text = first + "\n" + first.splitlines()[-1].replace("out[gid.x]", "out[gid.x + 64]") + "\n"
    assert generate(Program.parse(text), WIDE).text.count("internal constant [32 x i8]") == 1
