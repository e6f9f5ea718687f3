"""Every opcode at every type on edge values: WGSL against the reference, on both drivers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.unit.backends.wgsl.drivers import DRIVERS, Driver
from tests.unit.backends.wgsl.running import check
from vyre.ir import BinOp, BufferDecl, DataType, Expr, Node, Program, UnOp
from vyre.ir.types import INTEGER_TYPES, SCALAR_TYPES
from vyre.semantics import storage_dtype
from vyre.semantics.ulp import bound, is_subnormal

pytestmark = pytest.mark.device
drivers = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
TYPES = [t for t in SCALAR_TYPES if t is not DataType.F64]
FLOATS = (DataType.F16, DataType.F32)


def edge_values(dtype: DataType, seed: int = 0, count: int = 40) -> NDArray[Any]:
    """Values where mistakes show, and random ones."""
    rng = np.random.default_rng(seed)
    stored = storage_dtype(dtype)
    bits = (dtype.bits or 0) if not dtype.is_bool else 1
    if dtype.is_float:
        pattern = rng.integers(0, 1 << bits, count, np.uint64)
        random = pattern.astype(f"u{bits // 8}").view(stored)
        if dtype is DataType.F32:
            # A signalling NaN would make numpy warn, and its bits mean nothing.
            random = np.where(np.isnan(random), np.float32("nan"), random)
        plain = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 100.0, 65504.0, 1e-3]
        special = [float("inf"), float("-inf"), float("nan"), 0.1, 7.0]
        values = np.array(plain + special, np.float32)
        moderate = (rng.standard_normal(count) * 4).astype(np.float32)
        all_values = np.concatenate([values, moderate])
        if dtype is DataType.BF16:
            return np.concatenate([(all_values.view(np.uint32) >> 16).astype(np.uint16), random])
        return np.concatenate([all_values.astype(stored), random])
    if dtype.is_bool:
        return np.array([0, 1, 1, 0, 1], np.uint8)
    low, high = dtype.integer_range
    wanted = {low, low + 1, high, high - 1, 0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100}
    wanted |= {-1, -2, -3, 1 << (bits - 1), (1 << (bits // 2)) - 1, 1 << (bits // 2)}
    kept = sorted(v for v in wanted if low <= v <= high)
    random = rng.integers(low, high, count, stored, endpoint=True)
    return np.concatenate([np.array(kept, stored), random])


def without_subnormals(dtype: DataType, values: NDArray[Any]) -> NDArray[Any]:
    """Devices may flush subnormals of f32, and a function of zero can be something else."""
    return values[~is_subnormal(dtype, values)] if dtype is DataType.F32 else values


def operand_pairs(dtype: DataType) -> tuple[NDArray[Any], NDArray[Any]]:
    values = edge_values(dtype)[:64]
    pairs = np.array(list(product(range(len(values)), repeat=2)))
    return values[pairs[:, 0]], values[pairs[:, 1]]


def program_of(inputs: list[DataType], results: Sequence[tuple[Expr, DataType]]) -> Program:
    """A program that maps expressions of x0, x1, ... over arrays, all results in a row."""
    buffers = [BufferDecl.read(f"in{k}", k, dtype) for k, dtype in enumerate(inputs)]
    kinds = list(dict.fromkeys(dtype for _, dtype in results))
    for k, dtype in enumerate(kinds):
        buffers.append(BufferDecl.output(f"out_{dtype}", len(inputs) + k, dtype))
    body: list[Node] = [Node.let("i", Expr.gid(0)), Node.let("n", Expr.buf_len("in0"))]
    body += [Node.let(f"x{k}", Expr.load(f"in{k}", Expr.var("i"))) for k in range(len(inputs))]
    rows = dict.fromkeys(kinds, 0)
    for expr, dtype in results:
        place = Expr.u32(rows[dtype]) * Expr.var("n") + Expr.var("i")
        body.append(Node.store(f"out_{dtype}", place, expr))
        rows[dtype] += 1
    guarded = [*body[:2], Node.if_(Expr.var("i") < Expr.var("n"), body[2:])]
    return Program.wrapped(buffers, (64, 1, 1), guarded)


def run(
    driver: Driver,
    inputs: list[tuple[DataType, NDArray[Any]]],
    results: Sequence[tuple[Expr, DataType]],
    ulp: float = 0.0,
) -> None:
    program = program_of([dtype for dtype, _ in inputs], results)
    count = len(inputs[0][1])
    sizes: dict[str, int] = {}
    for _, dtype in results:
        sizes[f"out_{dtype}"] = sizes.get(f"out_{dtype}", 0) + count
    arrays = {f"in{k}": values for k, (_, values) in enumerate(inputs)}
    check(driver, program, arrays, (-(-count // 64), 1, 1), sizes, ulp)


def gives(op: BinOp | UnOp, dtype: DataType) -> DataType:
    return DataType.BOOL if op.row.result.value == "bool" else dtype


@drivers
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_exact_binary_opcodes(driver: Driver, dtype: DataType) -> None:
    ops = [op for op in BinOp if dtype in op.row.operands and not op.row.approximate]
    a, b = Expr.var("x0"), Expr.var("x1")
    left, right = operand_pairs(dtype)
    results = [(Expr.binary(op, a, b), gives(op, dtype)) for op in ops]
    run(driver, [(dtype, left), (dtype, right)], results)


def exact_unary(dtype: DataType) -> list[UnOp]:
    return [op for op in UnOp if dtype in op.row.operands and not op.row.approximate]


@drivers
@pytest.mark.parametrize("dtype", [dtype for dtype in TYPES if exact_unary(dtype)], ids=str)
def test_exact_unary_opcodes(driver: Driver, dtype: DataType) -> None:
    ops = exact_unary(dtype)
    results = [(Expr.unary(op, Expr.var("x0")), gives(op, dtype)) for op in ops]
    run(driver, [(dtype, without_subnormals(dtype, edge_values(dtype, 1, 400)))], results)


@drivers
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", [op for op in UnOp if op.row.approximate], ids=lambda op: op.name)
def test_unary_functions(driver: Driver, dtype: DataType, op: UnOp) -> None:
    values = without_subnormals(dtype, edge_values(dtype, 2, 1500))
    run(driver, [(dtype, values)], [(Expr.unary(op, Expr.var("x0")), dtype)], bound(op, dtype))


@drivers
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", [BinOp.POW, BinOp.ATAN2], ids=lambda op: op.name)
def test_binary_functions(driver: Driver, dtype: DataType, op: BinOp) -> None:
    left, right = operand_pairs(dtype)
    result = Expr.binary(op, Expr.var("x0"), Expr.var("x1"))
    run(driver, [(dtype, left), (dtype, right)], [(result, dtype)], bound(op, dtype))


@drivers
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_fma(driver: Driver, dtype: DataType) -> None:
    values = edge_values(dtype, 3, 30)
    triples = np.array(list(product(range(0, len(values), 2), repeat=3)))
    operands = [(dtype, values[triples[:, k]]) for k in range(3)]
    result = Expr.fma(Expr.var("x0"), Expr.var("x1"), Expr.var("x2"))
    run(driver, operands, [(result, dtype)])


@drivers
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_casts(driver: Driver, source: DataType) -> None:
    values = edge_values(source, 4, 300)
    if source is DataType.F32:
        near = np.array([2.0**k for k in range(-30, 70)], np.float32)
        beside = [np.nextafter(near, np.float32(s)) for s in (-np.inf, np.inf)]
        values = np.concatenate([values, near, -near, *beside, *(-x for x in beside)])
    results = [(Expr.cast(Expr.var("x0"), target), target) for target in TYPES]
    # Outputs are bound one each, so the targets go in groups that fit the bindings.
    for start in range(0, len(results), 6):
        run(driver, [(source, values)], results[start : start + 6])


@drivers
@pytest.mark.parametrize(
    "source", [*INTEGER_TYPES, DataType.F16, DataType.BF16, DataType.F32], ids=str
)
def test_bitcasts(driver: Driver, source: DataType) -> None:
    targets = [t for t in TYPES if t.bits == source.bits and not t.is_bool]
    values = edge_values(source, 5, 300)
    results = [(Expr.bitcast(Expr.var("x0"), target), target) for target in targets]
    run(driver, [(source, values)], results)


@drivers
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_select(driver: Driver, dtype: DataType) -> None:
    left, right = operand_pairs(dtype)
    cond = (np.arange(len(left)) % 3 == 0).astype(np.uint8)
    chosen = Expr.select(Expr.var("x2"), Expr.var("x0"), Expr.var("x1"))
    run(driver, [(dtype, left), (dtype, right), (DataType.BOOL, cond)], [(chosen, dtype)])


def constant_operations(dtype: DataType) -> list[tuple[Expr, DataType]]:
    """Every opcode on literals at the ends of the type, where compile-time evaluation overflows."""
    low, high = dtype.integer_range
    ends = [Expr.lit(v, dtype) for v in (low, high, 3)]
    found: list[tuple[Expr, DataType]] = []
    for op in BinOp:
        if dtype in op.row.operands:
            zero_divides = op in (BinOp.DIV, BinOp.REM) and low == 0
            pairs = [
                (a, b) for a, b in product(ends, repeat=2) if not (zero_divides and b is ends[0])
            ]
            found += [(Expr.binary(op, a, b), gives(op, dtype)) for a, b in pairs]
    for op in UnOp:
        if dtype in op.row.operands:
            found += [(Expr.unary(op, a), gives(op, dtype)) for a in ends]
    extremes = (-1.5, 3e9, 1e30, float("inf"), float("nan"))
    return found + [(Expr.cast(Expr.lit(v, DataType.F32), dtype), dtype) for v in extremes]


@drivers
@pytest.mark.parametrize("dtype", INTEGER_TYPES, ids=str)
def test_constants_are_not_evaluated_by_the_compiler(driver: Driver, dtype: DataType) -> None:
    exprs = constant_operations(dtype)
    # Long programs compile slowly: both drivers see half of the operations each time.
    step = 2 if driver is DRIVERS[0] else 3
    run(driver, [(dtype, np.zeros(1, storage_dtype(dtype)))], exprs[::step])


@drivers
@pytest.mark.parametrize("dtype", INTEGER_TYPES, ids=str)
def test_what_is_chosen_among_constants(driver: Driver, dtype: DataType) -> None:
    choice = Expr.select(Expr.bool_(False), Expr.lit(3, dtype), Expr.lit(0, dtype))
    lane = Expr.lane(Expr.vec(dtype, Expr.lit(3, dtype), Expr.lit(0, dtype)), 1)
    exprs = [
        (Expr.cast(lane, DataType.BOOL), DataType.BOOL),
        *((Expr.lit(5, dtype) / zero, dtype) for zero in (lane, choice)),
    ]
    run(driver, [(dtype, np.zeros(1, storage_dtype(dtype)))], exprs)


@drivers
def test_float_constants(driver: Driver) -> None:
    values = [0.0, -0.0, 1.0, -2.5, 0.1, 3.4e38, 1.1754944e-38, float("inf"), float("nan")]
    exprs: list[tuple[Expr, DataType]] = []
    ops = (BinOp.ADD, BinOp.SUB, BinOp.MUL, BinOp.DIV, BinOp.MIN, BinOp.LT, BinOp.NE)
    for k, (a, b) in enumerate(product(values, repeat=2)):
        op = ops[k % len(ops)]
        exprs.append((Expr.binary(op, Expr.f32(a), Expr.f32(b)), gives(op, DataType.F32)))
    run(driver, [(DataType.F32, np.zeros(1, np.float32))], exprs)


@drivers
@pytest.mark.parametrize("op", [op for op in UnOp if op.row.approximate], ids=lambda op: op.name)
def test_functions_of_constants(driver: Driver, op: UnOp) -> None:
    """Lavapipe's compiler has been seen not to end on functions whose operand is a constant."""
    results = [(Expr.unary(op, Expr.f32(v)), DataType.F32) for v in (0.5, 7.0, -0.25)]
    run(driver, [(DataType.F32, np.zeros(1, np.float32))], results, bound(op, DataType.F32))


@drivers
@pytest.mark.parametrize("op", [BinOp.POW, BinOp.ATAN2], ids=lambda op: op.name)
def test_functions_of_a_constant_and_a_variable(driver: Driver, op: BinOp) -> None:
    x = Expr.var("x0")
    results = [
        (Expr.binary(op, Expr.f32(7.0), x), DataType.F32),
        (Expr.binary(op, x, Expr.f32(2.5)), DataType.F32),
    ]
    values = np.array([0.5, 1.0, 2.0, 3.0, -1.5], np.float32)
    run(driver, [(DataType.F32, values)], results, bound(op, DataType.F32))
