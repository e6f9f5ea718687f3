"""Bytes that are no program: refused with a code and an offset, in bounded time and memory."""

from __future__ import annotations

import contextlib
import time
import tracemalloc

import pytest

from tests.unit.ir.samples import everything
from vyre.conform import generate
from vyre.conform.fuzz_wire import fuzz_wire
from vyre.diagnostics import VyreError, WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir import Expr, Node, Program
from vyre.ir.node import MAX_EXPR_DEPTH
from vyre.wire import from_wire
from vyre.wire.encode import encode_payload
from vyre.wire.envelope import HEAD_SIZE, seal
from vyre.wire.tags import TREE_TAGS
from vyre.wire.varints import varint

TAG = {kind.__name__: bytes((tag,)) for kind, tag in TREE_TAGS.items()}
HEAD = b"\x00\x01\x01\x01"


def payload(
    body: bytes, strings: bytes = b"\x00", head: bytes = HEAD, buffers: bytes = b"\x00"
) -> bytes:
    parts = enumerate((strings, head, buffers, body), start=1)
    return b"".join(varint(tag) + varint(len(part)) + part for tag, part in parts)


def refused(data: bytes) -> WireError:
    with pytest.raises(WireError) as caught:
        Program.from_wire(data)
    assert 0 <= caught.value.offset <= len(data)
    return caught.value


@pytest.mark.parametrize("row", codes.CODES, ids=lambda row: row.code)
def test_every_code_has_an_example_that_brings_it(row) -> None:
    with pytest.raises(VyreError) as caught:
        exec(row.example, {})
    assert caught.value.code == row.code
    assert caught.value.fix


def test_every_shorter_and_longer_input_is_refused() -> None:
    data = generate(1, "tiny").program.to_wire()
    for size in range(len(data)):
        refused(data[:size])
    assert refused(data + b"\x00").code == "W003"


def test_every_flipped_bit_is_noticed() -> None:
    data = generate(2, "tiny").program.to_wire()
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            refused(bytes(changed))


def test_every_prefix_of_a_payload_is_refused() -> None:
    whole = encode_payload(generate(3, "tiny").program)
    for size in range(len(whole)):
        refused(seal(whole[:size]))


LIT = TAG["Lit"] + b"\x06\x01"
EVAL = TAG["Eval"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (payload(LIT + EVAL, strings=b"\x80\x00"), "W007"),
        (payload(TAG["Lit"] + b"\x06\x81\x00" + EVAL), "W007"),
        (payload(TAG["Lit"] + b"\x08" + b"\xff" * 9 + b"\x02" + EVAL), "W007"),
        (payload(TAG["Lit"] + b"\x08" + b"\xff" * 10 + b"\x00" + EVAL), "W007"),
        (payload(TAG["Lit"] + b"\x02\x80\x02" + EVAL), "W007"),
        (payload(TAG["Lit"] + b"\x01\x02" + EVAL), "W007"),
        (payload(LIT + EVAL, strings=b"\x01\x01a"), "W007"),
        (payload(TAG["Var"] + b"\x01" + EVAL, strings=b"\x02\x01a\x01b"), "W007"),
        (payload(TAG["Var"] + b"\x00" + EVAL, strings=b"\x02\x01a\x01a"), "W007"),
        (payload(TAG["Var"] + b"\x00" + EVAL, strings=b"\x01\x02\xc0\x80"), "W007"),
        (payload(TAG["Var"] + b"\x00" + EVAL, strings=b"\x01\x03\xed\xa0\x80"), "W007"),
        (payload(TAG["Var"] + b"\x05" + EVAL, strings=b"\x01\x01a"), "W007"),
        (
            payload(b"", buffers=b"\x01\x00\x01\x02\x10\x06\x00\x00\x00\x01", strings=b"\x01\x01a"),
            "W007",
        ),
        (payload(TAG["Var"] + b"\x00" + EVAL, strings=b"\x01\x021x"), "W009"),
        (payload(TAG["Trap"] + b"\x00", strings=b"\x01\x01\n"), "W009"),
        (payload(LIT + TAG["Cast"] + b"\x20\x06\x11" + EVAL), "W009"),
        (payload(LIT + TAG["Cast"] + b"\x21\x00" + EVAL), "W009"),
        (payload(LIT + (TAG["Unary"] + b"\x01") * MAX_EXPR_DEPTH + EVAL), "W009"),
        (payload(TAG["Return"] + (TAG["Block"] + b"\x01") * 100), "W009"),
        (payload(EVAL), "W008"),
        (payload(LIT), "W008"),
        (payload(LIT + LIT + EVAL), "W008"),
        (payload(LIT + TAG["Return"]), "W008"),
        (payload(LIT + TAG["Binary"] + b"\x01"), "W008"),
        (payload(TAG["Block"] + b"\x01"), "W008"),
        (payload(LIT + TAG["While"] + varint((1 << 64) - 1)), "W008"),
        (payload(LIT + TAG["MakeVec"] + b"\x06" + varint((1 << 64) - 1)), "W008"),
        (payload(LIT + TAG["Print"] + b"\x00\x02", strings=b"\x01\x01a"), "W008"),
        (payload(LIT + EVAL) + b"\x05\x00", "W008"),
        (payload(LIT + EVAL, head=HEAD + b"\x00"), "W008"),
        (payload(b"\x00"), "W006"),
        (payload(b"\x3f"), "W006"),
        (payload(LIT + TAG["Unary"] + b"\x63"), "W006"),
        (payload(TAG["Barrier"] + b"\x00"), "W006"),
        (payload(TAG["Builtin"] + b"\x01\x03" + EVAL), "W006"),
        (payload(TAG["Builtin"] + b"\x05\x01" + EVAL), "W006"),
        (payload(b"", head=b"\x04\x01\x01\x01"), "W006"),
        (payload(LIT + TAG["Cast"] + b"\x1f" + EVAL), "W006"),
        (payload(LIT + TAG["Cast"]), "W005"),
        (payload(b"", strings=varint(1 << 40)), "W005"),
        (payload(b"", strings=b"\x01" + varint(1 << 40)), "W005"),
        (payload(b"", buffers=varint(1 << 40)), "W005"),
        (b"\x01" + varint(1 << 40), "W005"),
        (b"\x02\x00", "W006"),
        (b"", "W005"),
    ],
    ids=lambda value: value.hex()[:24] if isinstance(value, bytes) else value,
)
def test_malformed_payloads(data: bytes, code: str) -> None:
    assert refused(seal(data)).code == code


def test_an_honest_payload_is_accepted() -> None:
    assert Program.from_wire(seal(payload(LIT + EVAL))) == Program(
        [], (1, 1, 1), [Node.eval(Expr.u32(1))]
    )


@pytest.mark.parametrize("value", ["program", None, 7, [1], object()])
def test_what_is_not_bytes_is_refused(value) -> None:
    assert refused_value(value).code == "W010"


def refused_value(value) -> WireError:
    with pytest.raises(WireError) as caught:
        Program.from_wire(value)
    return caught.value


def test_bytes_in_any_clothing_are_read() -> None:
    data = everything().to_wire()
    assert from_wire(bytearray(data)) == from_wire(memoryview(data)) == everything()


@pytest.mark.parametrize(
    "body",
    [
        TAG["Return"] * 200_000,
        LIT * 200_000,
        (LIT + EVAL) * 100_000,
        LIT + (TAG["Unary"] + b"\x01") * 200_000,
        TAG["Return"] + (TAG["Block"] + b"\x01") * 200_000,
        TAG["Return"] * 100_000 + TAG["Block"] + varint(100_000),
        (LIT + TAG["Cast"] + b"\x21" + varint(77) + EVAL) * 50_000,
    ],
    ids=["returns", "literals", "evals", "unaries", "blocks", "wide block", "types"],
)
def test_time_and_memory_follow_the_size_of_the_input(body: bytes) -> None:
    data = seal(payload(body))
    tracemalloc.start()
    start = time.perf_counter()
    with contextlib.suppress(WireError):
        Program.from_wire(data)
    seconds = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * len(data) + 200_000
    assert seconds < 30e-6 * len(data) + 1


def test_a_short_run_of_the_fuzzer() -> None:
    report = fuzz_wire(seconds=30, seed=1, inputs=3000)
    assert report.inputs == 3000
    assert not report.failures, report
    assert report.accepted > 0
    assert {"W005", "W006", "W007", "W008"} <= set(report.codes)


def test_the_head_is_as_long_as_the_specification_says() -> None:
    assert HEAD_SIZE == 52
