"""Text of LLVM IR: what a block already has is not written again, and blocks stay short."""

import pytest

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import Builder, known_integer


def test_a_block_computes_the_same_once() -> None:
    w = Builder()
    first = w.emit("zext i32 %a to i64")
    assert w.emit("zext i32 %a to i64") == first
    assert len(w.lines) == 1


def test_another_block_computes_it_again() -> None:
    w = Builder()
    first = w.emit("zext i32 %a to i64")
    w.block("next")
    assert w.emit("zext i32 %a to i64") != first


@pytest.mark.parametrize("instruction", ["load i32, ptr %p", "freeze i32 %a", "call i32 @f()"])
def test_what_may_differ_is_written_each_time(instruction: str) -> None:
    w = Builder()
    assert w.emit(instruction) != w.emit(instruction)


def test_a_slot_is_not_read_back_within_a_block() -> None:
    w = Builder()
    slot = w.slot("i32", "s")
    w.put("i32", "%a", slot)
    assert w.get("i32", slot) == "%a"
    w.put("i32", "7", slot)
    assert w.get("i32", slot) == "7"
    w.block("next")
    found = w.get("i32", slot)
    assert found not in ("%a", "7")
    assert w.get("i32", slot) == found


def test_long_blocks_end_between_statements() -> None:
    w = Builder()
    w.breathe()
    assert w.label == "entry"
    for number in range(heuristics.LONG_BLOCK_LINES + 1):
        w.emit(f"add i32 %a, {number}")
    w.breathe()
    assert w.label != "entry"
    assert w.lines[-1] == f"{w.label}:"


@pytest.mark.parametrize(
    ("operand", "value"),
    [
        ("7", 7),
        ("-1", -1),
        ("splat (i32 255)", 255),
        ("splat (i64 -1)", -1),
        ("%v.1", None),
        ("true", None),
        ("0x3FF0000000000000", None),
        ("<i32 0, i32 1>", None),
    ],
)
def test_constants_are_known(operand: str, value: int | None) -> None:
    assert known_integer(operand) == value
