"""What the host gives and gets."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.reference.programs import program, run, u32, zeros
from vyre.diagnostics import ArgumentError
from vyre.ir import Program

COPY = "out[gid.x] = a[gid.x]"
A = "a: read_only u32[] @0"
OUT = "out: read_write u32[8] @1 output live_out"


def refused(code: str, source: Program, **options: object) -> str:
    with pytest.raises(ArgumentError) as caught:
        run(source, 1, **options)
    assert caught.value.code == code
    return str(caught.value)


def test_a_missing_input() -> None:
    assert "'a'" in refused("D003", program(COPY, A, OUT))


def test_an_input_for_no_buffer() -> None:
    refused("D004", program(COPY, A, OUT), a=u32(1), b=u32(2))
    refused("D004", program(COPY, A, OUT, "tile: workgroup u32[4]"), a=u32(1), tile=u32(2))


@pytest.mark.parametrize("given", [zeros(8, np.float32), zeros(8, np.int32), zeros(8, np.uint8)])
def test_an_array_of_the_wrong_type(given: np.ndarray) -> None:
    assert "uint32" in refused("D005", program(COPY, A, OUT), a=given)


@pytest.mark.parametrize("count", [7, 9])
def test_an_array_of_the_wrong_length(count: int) -> None:
    refused("D006", program(COPY, "a: read_only u32[8] @0", OUT), a=zeros(count))


def test_outputs_sized_at_run_time() -> None:
    source = program(COPY, A, "out: read_write u32[] @1 output live_out")
    refused("D008", source, a=u32(1, 2))
    assert run(source, a=u32(1, 2), output_sizes={"out": 3}).outputs["out"].tolist() == [1, 2, 0]
    sized_by_binding = run(source, a=u32(1, 2), out=u32(9, 9)).outputs["out"]
    assert sized_by_binding.tolist() == [1, 2]
    refused("D006", program(COPY, A, OUT), a=u32(1), output_sizes={"out": 3})


def test_outputs_are_all_that_the_host_reads_back() -> None:
    source = program(
        "w[gid.x] = 1u32 rw[gid.x] = 2u32",
        A,
        "w: write_only u32[2] @1",
        "rw: read_write u32[] @2",
        "s: scratch u32[4]",
    )
    outputs = run(source, a=u32(0), rw=u32(0, 0)).outputs
    assert {name: array.tolist() for name, array in outputs.items()} == {"w": [1, 1], "rw": [2, 2]}


def test_truth_values_come_back_as_they_were_given() -> None:
    source = program("b[gid.x] = ~b[gid.x]", "b: read_write bool[] @0")
    truth = run(source, b=np.array([True, False])).outputs["b"]
    assert (truth.dtype, truth.tolist()) == (np.dtype(np.bool_), [False, True])
    raw = run(source, b=np.array([7, 0], np.uint8)).outputs["b"]
    assert (raw.dtype, raw.tolist()) == (np.dtype(np.uint8), [0, 1])


def test_arrays_of_any_layout() -> None:
    source = program(
        "if gid.x < len(out) { out[gid.x] = out[gid.x] * 2u32 }", "out: read_write u32[] @0"
    )
    given = np.arange(12, dtype=np.uint32).reshape(3, 4).T[::-1]
    found = run(source, 2, out=given).outputs["out"]
    assert found.tolist() == (given * 2).reshape(-1).tolist()


def test_read_only_arrays_are_fine() -> None:
    given = u32(1, 2)
    given.flags.writeable = False
    source = program("out[gid.x] = 5u32", "out: read_write u32[] @0")
    assert run(source, out=given).outputs["out"].tolist() == [5, 5]
