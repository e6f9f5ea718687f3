"""Bytes and back: the same program, and one byte string for each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.ir.samples import everything
from vyre.conform import PROFILES, generate
from vyre.diagnostics import WireError
from vyre.ir import (
    AnyExpr,
    Barrier,
    Broadcast,
    BufferDecl,
    BufferHints,
    Builtin,
    BuiltinKind,
    DataType,
    Expr,
    Lane,
    Lit,
    MemoryOrdering,
    Node,
    Program,
    Var,
)
from vyre.wire import digest, from_wire, to_wire
from vyre.wire.envelope import HEAD_SIZE, payload_digest
from vyre.wire.tags import SIMPLE_TYPES, TREE_TAGS

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.vyb"))


def one(expr: AnyExpr) -> Program:
    return Program([], (1, 1, 1), [Node.eval(expr)])


def test_everything_at_once() -> None:
    program = everything()
    data = to_wire(program)
    assert from_wire(data) == program
    assert to_wire(from_wire(data)) == data


@pytest.mark.parametrize("profile", PROFILES)
def test_random_programs(profile: str) -> None:
    for seed in range(3 if profile == "large" else 12):
        program = generate(seed, profile).program
        data = program.to_wire()
        assert Program.from_wire(data) == program
        assert Program.parse(str(program)).to_wire() == data, "spans are no part of it"


@pytest.mark.parametrize("name", NAMES)
def test_golden_files_pin_the_bytes(name: str) -> None:
    data = (GOLDEN / f"{name}.vyb").read_bytes()
    text = (GOLDEN / f"{name}.vy").read_text(encoding="utf-8")
    program = Program.parse(text)
    assert program.to_wire() == data
    assert Program.from_wire(data) == program
    assert str(program) == text
    assert program.digest() == data[20:HEAD_SIZE].hex()


def test_there_are_golden_files() -> None:
    assert {"everything", "histogram", "saxpy"} <= set(NAMES)


def test_digests_tell_programs_apart() -> None:
    programs = [generate(seed, "tiny").program for seed in range(50)]
    programs += [everything(), everything().with_fast_math(False)]
    digests = [digest(program) for program in programs]
    assert len(set(digests)) == len(set(programs))
    assert digest(everything()) == everything().digest() == digests[-2]
    assert len(digests[0]) == 64
    data = everything().to_wire()
    assert payload_digest(data[HEAD_SIZE:]).hex() == digests[-2]


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_bytes_are_the_same_in_every_process(seed: str) -> None:
    script = (
        "from tests.unit.ir.samples import everything\nfrom vyre.conform import generate\n"
        "print(everything().digest(), generate(3, 'atomics').program.digest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONHASHSEED": seed, "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [everything().digest(), generate(3, "atomics").program.digest()]
    assert run.stdout.split() == expected


@pytest.mark.parametrize(
    "program",
    [
        one(Var("not a name")),
        one(Lit(DataType.U8, 256)),
        one(Lit(DataType.U8, -1)),
        one(Lit(DataType.BOOL, 2)),
        one(Lit(DataType.VEC2_U32, 0)),
        one(Lane(Expr.var("v"), 1 << 64)),
        one(Builtin(BuiltinKind.GLOBAL_ID, 3)),
        one(Builtin(BuiltinKind.SUBGROUP_LANE, 1)),
        Program([], (1, 1, 1), [Broadcast("a", -(1 << 70))]),
        Program(
            [BufferDecl.read("a", 0, DataType.U32).with_hints(BufferHints(1 << 80))], (1, 1, 1), []
        ),
    ],
    ids=lambda program: repr(program.entry)[:40],
)
def test_what_no_builder_makes_cannot_be_stored(program: Program) -> None:
    with pytest.raises(WireError) as caught:
        program.to_wire()
    assert caught.value.code == "W011"


def test_tags_are_unique() -> None:
    for table in (TREE_TAGS, SIMPLE_TYPES):
        assert len(set(table.values())) == len(table)


def test_a_program_is_small() -> None:
    statements = [Node.store("out", Expr.var("i"), Expr.var("i") + Expr.u32(n)) for n in range(100)]
    program = Program.wrapped([], (1, 1, 1), [*statements, Barrier(MemoryOrdering.SEQ_CST)])
    assert len(program.to_wire()) < 100 * 14 + 120
