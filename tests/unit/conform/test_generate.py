"""Random programs: valid, the same for the same seed, free of races, and full of everything."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import get_args

import numpy as np
import pytest

from vyre.backends.reference import execute
from vyre.conform import PROFILES, GeneratedCase, generate
from vyre.conform.compare import matches
from vyre.conform.shrink.order import is_ordered
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    AtomicOp,
    Binary,
    BinOp,
    Break,
    Continue,
    DataType,
    MemoryOrdering,
    ReduceOp,
    Return,
    Unary,
    UnOp,
)
from vyre.ir.walk import walk_all_exprs, walk_stmts
from vyre.semantics import storage_dtype

SEEDS = {"large": 2, "tiny": 40}


def seeds(profile: str, count: int = 12) -> range:
    return range(SEEDS.get(profile, count))


@pytest.mark.parametrize("profile", PROFILES)
def test_programs_are_valid(profile: str) -> None:
    for seed in seeds(profile):
        program = generate(seed, profile).program
        assert program.check() == [], f"{profile} {seed}"


@pytest.mark.parametrize("profile", PROFILES)
def test_accesses_are_ordered_by_barriers(profile: str) -> None:
    for seed in seeds(profile):
        assert is_ordered(generate(seed, profile).program), f"{profile} {seed}"


@pytest.mark.parametrize("profile", PROFILES)
def test_inputs_fit_their_buffers(profile: str) -> None:
    for seed in seeds(profile, 6):
        case = generate(seed, profile)
        given = [decl for decl in case.program.buffers if decl.is_host_input]
        assert [decl.name for decl in given] == list(case.inputs)
        for decl in given:
            contents = case.inputs[decl.name]
            assert contents.dtype == storage_dtype(decl.element)
            assert len(contents) == decl.count or not decl.count
            assert contents.shape[1:] == ((decl.element.lanes,) if decl.element.lanes > 1 else ())


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "large"])
def test_results_depend_on_nothing_but_the_program(profile: str) -> None:
    """Other legal orders give the same results, and the sanitizer sees no race."""
    for seed in range(2):
        case = generate(seed, profile)
        expected = execute(case.program, case.inputs, case.grid, sanitize=True, deadline=60)
        codes = {finding.code for finding in expected.findings}
        # Out of bounds, never written, divided by zero, wrapped: all of that is on purpose.
        assert codes <= {"X103", "X104", "X105", "X112"}, f"{profile} {seed}"
        other = execute(case.program, case.inputs, case.grid, schedule=seed, deadline=60)
        _same(case, expected.outputs, other.outputs)


def _same(case: GeneratedCase, expected, actual) -> None:
    assert expected.keys() == actual.keys()
    for name, contents in expected.items():
        decl = case.program.buffer(name)
        assert decl is not None
        assert np.all(matches(decl.element, contents, actual[name])), f"{case.label}: {name}"


def test_a_seed_gives_the_same_case_in_every_process() -> None:
    script = (
        "from vyre.conform import generate\n"
        "for profile in ('default', 'subgroups'):\n"
        "    case = generate(5, profile)\n"
        "    print(case.program.digest(), *(a.tobytes().hex() for a in case.inputs.values()))\n"
    )

    def run(hash_seed: str) -> str:
        env = {"PYTHONHASHSEED": hash_seed, "PATH": ""}
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert run("1") == run("2") != ""
    assert generate(5).program != generate(6).program


def test_the_language_is_covered() -> None:
    """Every statement, expression, opcode and type that random programs can have turns up."""
    statements: Counter[str] = Counter()
    expressions: Counter[str] = Counter()
    ops: Counter[object] = Counter()
    elements: Counter[DataType] = Counter()
    for profile in ("default", "grid_sync", "subgroups", "memory"):
        for seed in range(100, 125):
            program = generate(seed, profile).program
            elements.update(decl.element for decl in program.buffers)
            statements.update(type(s).__name__ for s in walk_stmts(program.entry))
            for expr in walk_all_exprs(program.entry):
                expressions[type(expr).__name__] += 1
                if hasattr(expr, "op"):
                    ops[expr.op] += 1  # pyright: ignore[reportAttributeAccessIssue]
    never = {"Trap", "Resume", "Print", "IndirectDispatch", "Opaque"}
    never |= {"AllReduce", "AllGather", "ReduceScatter", "Broadcast"}
    assert set(statements) == {kind.__name__ for kind in get_args(AnyStmt)} - never
    assert set(expressions) == {kind.__name__ for kind in get_args(AnyExpr)}
    missing = {op for table in (BinOp, UnOp, AtomicOp, ReduceOp) for op in table} - set(ops)
    assert not missing
    assert len(elements) >= 20


def test_profiles_keep_their_promises() -> None:
    for seed in range(20):
        floats = {DataType.F16, DataType.BF16, DataType.F32, DataType.F64}
        program = generate(seed, "integers").program
        assert not floats & {decl.value_type for decl in program.buffers}
        exact = generate(seed, "floats_exact").program
        for expr in walk_all_exprs(exact.entry):
            assert not (isinstance(expr, (Unary, Binary)) and expr.op.row.approximate)
        web = generate(seed, "webgpu").program
        assert not any(decl.element is DataType.F64 for decl in web.buffers)
        assert sum(decl.binding is not None for decl in web.buffers) <= 8
        x, y, z = web.workgroup_size
        assert x * y * z <= 256
    waits = [s for seed in range(10) for s in walk_stmts(generate(seed, "grid_sync").program.entry)]
    assert any(getattr(s, "ordering", None) is MemoryOrdering.GRID_SYNC for s in waits)
    kinds = {type(s) for s in waits}
    assert {Return, Break, Continue} <= kinds


def test_approximate_results_are_never_read() -> None:
    for seed in range(30):
        case = generate(seed)
        for expr in walk_all_exprs(case.program.entry):
            assert (
                getattr(expr, "buffer", None) not in case.approximate
                or type(expr).__name__ == "BufLen"
            )


def test_the_command_prints_a_program() -> None:
    command = [sys.executable, "-m", "vyre.conform.generate", "17", "--profile", "atomics"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == f"{generate(17, 'atomics')}\n"
    assert "atomic_" in shown
