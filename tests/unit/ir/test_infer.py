"""Type inference for every opcode and type, against the tables of the specification."""

from __future__ import annotations

import pytest

from vyre.diagnostics import CheckError, Diagnostic
from vyre.ir import (
    AtomicOp,
    Binary,
    BinOp,
    BufferDecl,
    DataType,
    Expr,
    MakeVec,
    ReduceOp,
    SubgroupReduce,
    TypeEnv,
    Unary,
    UnOp,
    type_of,
)
from vyre.ir.infer import binary_type, bitcast_type, cast_type, reduce_type, unary_type
from vyre.ir.types import SCALAR_TYPES

INTEGERS = frozenset({"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"})
FLOATS = frozenset({"f16", "f32", "f64"})
NUMBERS = INTEGERS | FLOATS
EVERYTHING = NUMBERS | {"bool", "bf16"}
NUMERIC = ("ADD", "SUB", "MUL", "DIV", "MIN", "MAX")
BITWISE = ("AND", "OR", "XOR")
WHOLE = ("REM", "SHL", "SHR", "ROTL", "ROTR", "ADD_SAT", "SUB_SAT", "MUL_HI")
TAKES = {
    **dict.fromkeys(NUMERIC, NUMBERS),
    **dict.fromkeys(BITWISE, INTEGERS | {"bool"}),
    **dict.fromkeys(WHOLE, INTEGERS),
    **dict.fromkeys(("POW", "ATAN2", "COPYSIGN", "MINIMUM", "MAXIMUM"), FLOATS),
    **dict.fromkeys(("EQ", "NE"), EVERYTHING),
    **dict.fromkeys(("LT", "LE", "GT", "GE"), NUMBERS),
    **dict.fromkeys(("NEG", "ABS"), NUMBERS),
    "NOT": INTEGERS | {"bool"},
    **dict.fromkeys(("POPCOUNT", "CLZ", "CTZ", "REVERSE_BITS", "BYTE_SWAP"), INTEGERS),
}
"""What opcodes take; unary ones that are missing take floats."""
GIVES_BOOL = {"EQ", "NE", "LT", "LE", "GT", "GE", "IS_NAN", "IS_INF", "IS_FINITE"}
OTHERS = (*SCALAR_TYPES, DataType.VEC2_U32, DataType.BYTES, DataType.TENSOR)


@pytest.mark.parametrize("op", BinOp, ids=lambda op: op.name)
def test_binary_opcodes(op: BinOp) -> None:
    for left in OTHERS:
        for right in OTHERS:
            answer = binary_type(op, left, right)
            if left is right and str(left) in TAKES[op.name]:
                assert answer is (DataType.BOOL if op.name in GIVES_BOOL else left)
            else:
                assert isinstance(answer, Diagnostic)
                assert answer.code == ("V101" if left is not right else "V102")


@pytest.mark.parametrize("op", UnOp, ids=lambda op: op.name)
def test_unary_opcodes(op: UnOp) -> None:
    for operand in OTHERS:
        answer = unary_type(op, operand)
        if str(operand) in TAKES.get(op.name, FLOATS):
            assert answer is (DataType.BOOL if op.name in GIVES_BOOL else operand)
        else:
            assert isinstance(answer, Diagnostic)
            assert answer.code == "V102"


@pytest.mark.parametrize("op", ReduceOp, ids=lambda op: op.name)
def test_reductions(op: ReduceOp) -> None:
    takes = INTEGERS | {"bool"} if op.name in BITWISE else NUMBERS
    for operand in OTHERS:
        answer = reduce_type(op, operand)
        assert (answer is operand) == (str(operand) in takes)


def test_casts_and_bitcasts() -> None:
    for found in OTHERS:
        for target in OTHERS:
            cast = cast_type(found, target)
            assert (cast is target) == (found.is_scalar and target.is_scalar)
            bitcast = bitcast_type(found, target)
            plain = all(str(t) in NUMBERS | {"bf16"} for t in (found, target))
            assert (bitcast is target) == (plain and found.bits == target.bits)


@pytest.mark.parametrize("op", AtomicOp, ids=lambda op: op.name)
def test_atomics(op: AtomicOp) -> None:
    words = {"u32", "i32", "u64", "i64"}
    takes = words | {"f32"} if op.name in ("ADD", "MIN", "MAX", "EXCHANGE") else words
    for element in SCALAR_TYPES:
        env = TypeEnv({"b": BufferDecl.read_write("b", 0, element)}, {"v": element})
        value = Expr.var("v")
        expected = value if op is AtomicOp.COMPARE_EXCHANGE else None
        expr = Expr.atomic(op, "b", 0, value, expected)
        if str(element) in takes:
            assert type_of(expr, env) is element
        else:
            with pytest.raises(CheckError) as caught:
                type_of(expr, env)
            assert caught.value.code == "V111"


def test_the_rest() -> None:
    u32, f32 = DataType.U32, DataType.F32
    buffers = {
        "a": BufferDecl.read("a", 0, f32),
        "packed": BufferDecl.read("packed", 1, DataType.FP4),
        "tensor": BufferDecl.read("tensor", 2, DataType.TENSOR),
    }
    env = TypeEnv(buffers, {"f": f32, "u": u32, "b": DataType.BOOL, "v": DataType.VEC2_U32})
    f, u, b, v = (Expr.var(name) for name in "fubv")
    assert type_of(Expr.load("a", u), env) is f32
    assert type_of(Expr.load("packed", u), env) is f32
    assert type_of(Expr.buf_len("tensor"), env) is u32
    assert type_of(Expr.fma(f, f, f), env) is f32
    assert type_of(Expr.select(b, v, v), env) is DataType.VEC2_U32
    assert type_of(Expr.lane(v, 1), env) is u32
    assert type_of(Expr.vec(f32, f, f, f), env) is DataType.vec(f32, 3)
    assert type_of(Expr.subgroup_ballot(b), env) is DataType.VEC4_U32
    assert type_of(Expr.subgroup_shuffle(f, u), env) is f32
    assert type_of(Expr.gid(2), env) is u32
    wrong = {
        "V001": Expr.var("missing"),
        "V002": Expr.load("missing", u),
        "V103": Expr.subgroup_ballot(u),
        "V104": Expr.load("a", f),
        "V105": Expr.select(b, f, u),
        "V109": Expr.lane(v, 2),
        "V110": MakeVec(DataType.VEC2_U32, (u, f)) & u,
        "V112": Expr.atomic(AtomicOp.ADD, "counts", 0, u, u),
        "V114": Expr.load("tensor", u),
    }
    counts = {"counts": BufferDecl.read_write("counts", 3, u32)}
    for code, expr in wrong.items():
        with pytest.raises(CheckError) as caught:
            type_of(expr, TypeEnv({**buffers, **counts}, env.variables))
        if code != "V110":
            assert caught.value.code == code


def test_rows_have_unique_tags_and_spellings() -> None:
    for table in (BinOp, UnOp, AtomicOp, ReduceOp):
        tags = [op.row.tag for op in table]
        spellings = [op.row.spelling for op in table]
        assert len(set(tags)) == len(tags)
        assert len(set(spellings)) == len(spellings)
    functions = [op.row.spelling for op in (*BinOp, *UnOp) if op.row.spelling.isidentifier()]
    assert len(set(functions)) == len(functions)


def test_nodes_of_opcodes_ask_the_same_table() -> None:
    env = TypeEnv({}, {"x": DataType.I16})
    x = Expr.var("x")
    assert type_of(Binary(BinOp.LT, x, x), env) is DataType.BOOL
    assert type_of(Unary(UnOp.CLZ, x), env) is DataType.I16
    assert type_of(SubgroupReduce(ReduceOp.XOR, x), env) is DataType.I16
