"""Control flow, memory and everything else that is not an opcode: WGSL against the reference."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.wgsl.drivers import DRIVERS, LAVAPIPE, SWIFTSHADER, Driver, worker
from tests.unit.backends.wgsl.running import check, on_device
from vyre.diagnostics import BackendError, TrapError
from vyre.ir import DataType, Program
from vyre.semantics import storage_dtype

pytestmark = pytest.mark.device
drivers = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)


def program(buffers: str, body: str, size: str = "64, 1, 1") -> Program:
    return Program.parse(f"program workgroup({size})\n\n{buffers}\n\n{body}\n")


OUT = "buffer out: read_write u32[256] @0 output live_out"
PRIVATE = "buffer mine: local bool[1]\nbuffer lanes: local bool[3]"

FLOW = {
    "nested loops with break and continue": """
        let sum = 0u32
        for i in 0..20 {
            if i == gid.x % 7u32 { continue }
            for j in i..i + gid.x % 5u32 {
                if j > 17u32 { break }
                sum = sum + i * j + 1u32
            }
        }
        out[gid.x] = sum""",
    "while with a condition that changes memory": """
        let rounds = 0u32
        while atomic_add(out[gid.x], 1u32) < gid.x % 9u32 {
            rounds = rounds + 10u32
            if rounds > 50u32 { break }
        }
        out[gid.x] = out[gid.x] + rounds""",
    "else if and early return": """
        if gid.x < 10u32 {
            out[gid.x] = 1u32
        } else if gid.x < 100u32 {
            out[gid.x] = 2u32
            if gid.x % 3u32 == 0u32 { return }
            out[gid.x] = 3u32
        } else {
            return
        }
        out[gid.x] = out[gid.x] + 100u32""",
    "loops at the ends of types": """
        let sum = 0u32
        for i in 4294967290u32..4294967295u32 { sum = sum + (i & 15u32) }
        for j in -128i8..-120i8 { sum = sum + u32(j + 100i8) }
        for k in 9223372036854775800i64..9223372036854775807i64 { sum = sum + u32(k & 3i64) }
        for m in 5u16..2u16 { sum = 0u32 }
        out[gid.x] = sum""",
    "names that WGSL reserves": """
        let `loop` = gid.x
        let fn = `loop` + 1u32
        let launch = fn * 2u32
        let load_out = launch + 1u32
        let u32_div = load_out / (gid.x + 1u32)
        let row = u32_div + out[gid.x]
        let _ = row
        let __x = _ + 1u32
        let a.b = __x
        let a_b = a.b + 1u32
        out[gid.x] = a_b + a.b""",
    "evaluation from left to right": """
        out[gid.x] = out[gid.x] * 100u32 + atomic_add(out[gid.x], 5u32) * 10u32 + out[gid.x]""",
    "a branch on a private array that nothing writes": """
        out[gid.x] = gid.x
        if mine[gid.x % 1u32] { eval atomic_sub(out[gid.x], 1u32, acq_rel) }
        if lanes[1] { out[gid.x] = 7u32 }""",
    "regions and blocks": """
        region "first" {
            let x = gid.x
            out[x] = x
        }
        {
            let x = out[gid.x] + 1u32
            out[gid.x] = x
        }
        region "second" from "elsewhere" {
            let x = 2u32
            out[gid.x] = out[gid.x] * x
        }""",
}


@drivers
@pytest.mark.parametrize("name", FLOW)
def test_control_flow(driver: Driver, name: str) -> None:
    check(driver, program(f"{OUT}\n{PRIVATE}", FLOW[name]), grid=(4, 1, 1))


def float_program(body: str, fast_math: str = "") -> Program:
    buffers = "buffer x: read_only f32[] @0\nbuffer y: read_only f32[] @1\n"
    buffers += "buffer out: read_write f32[] @2 output live_out"
    return Program.parse(f"program workgroup(64, 1, 1){fast_math}\n\n{buffers}\n\n{body}\n")


CANCELLING = {
    "cancelled sum": "(x[gid.x] + y[gid.x]) - x[gid.x]",
    "x - x": "x[gid.x] - x[gid.x]",
    "x / x": "x[gid.x] / x[gid.x]",
    "x * 0": "x[gid.x] * 0.0f32",
    "x + 0": "x[gid.x] + 0.0f32",
    "0 / x": "0.0f32 / x[gid.x]",
    "x / 3": "x[gid.x] / 3.0f32",
    "constants": "(x[gid.x] + 1e8f32) + -1e8f32",
    "factors": "x[gid.x] * y[gid.x] + x[gid.x] * 0.1f32",
    "fused": "x[gid.x] * y[gid.x] - 1.0f32",
    "negated": "-(x[gid.x] - y[gid.x]) + (x[gid.x] - y[gid.x])",
    "compared": "select((x[gid.x] + y[gid.x]) < x[gid.x], 1.0f32, 2.0f32)",
    "minimum by select": "select(x[gid.x] < y[gid.x], x[gid.x], y[gid.x])",
    "different": "select(x[gid.x] != x[gid.x], 1.0f32, 2.0f32)",
    "root": "sqrt(x[gid.x]) * sqrt(x[gid.x])",
}


@drivers
@pytest.mark.parametrize("name", CANCELLING)
def test_drivers_do_not_rearrange_floats(driver: Driver, name: str) -> None:
    rng = np.random.default_rng(3)
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e20, 3.0], np.float32)
    left, right = (g.ravel() for g in np.meshgrid(special, special))
    x = np.concatenate([left, rng.standard_normal(192).astype(np.float32) * 1e3])
    y = np.concatenate([right, rng.standard_normal(192).astype(np.float32)])
    tested = float_program(f"out[gid.x] = {CANCELLING[name]}")
    check(
        driver,
        tested,
        {"x": x.astype(np.float32), "y": y.astype(np.float32)},
        (4, 1, 1),
        {"out": 256},
    )


@drivers
def test_a_number_that_memory_gives_keeps_its_sign_and_size(driver: Driver) -> None:
    """`asin(1)` was 0: the parts of the result were put together by what gave zero."""
    text = """program workgroup(1, 1, 1)
buffer out: read_write f32[128] @0 output live_out
buffer mine: local u8[8]
region "tiny" {
    let place = gid.x + gid.y * (num_workgroups.x * 16u32)
    let one = f32(mine[0]) + 1.0f32
    out[place] = asin(one)
}
"""
    check(driver, Program.parse(text), bound=4.0)


ELEMENTS = [
    *(DataType.BOOL, DataType.U8, DataType.I8, DataType.U16, DataType.I16, DataType.U32),
    *(DataType.I32, DataType.U64, DataType.I64, DataType.F16, DataType.BF16, DataType.F32),
    *(DataType.BYTES, DataType.F8E4M3, DataType.F8E5M2, DataType.I4, DataType.FP4, DataType.NF4),
    *(DataType.VEC2_U32, DataType.VEC4_U32, DataType.vec(DataType.F32, 3)),
    *(DataType.vec(DataType.U8, 3), DataType.vec(DataType.I16, 4), DataType.vec(DataType.U64, 2)),
    *(DataType.vec(DataType.F16, 8), DataType.vec(DataType.BOOL, 2), DataType.array(5)),
    DataType.vec(DataType.U32, 16),
]


def random_elements(element: DataType, count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    stored = storage_dtype(element)
    raw = rng.integers(0, 256, count * (element.size_bytes or 0), np.uint8)
    scalar = element.element if element.is_vector and element.element else element
    if scalar.is_bool:
        raw %= 3
    values = raw.view(stored)
    if stored.kind == "f":
        values = np.where(np.isfinite(values) & (np.abs(values) > 1e-4), values, stored.type(1.5))
    return values


MOVES = """
    if gid.x < 100u32 {
        out[99u32 - gid.x] = x[gid.x]
        tile[lid.x] = x[gid.x]
        mine[3] = x[gid.x + 1u32]
    }
    barrier seq_cst
    if gid.x < 64u32 {
        out[100u32 + gid.x] = tile[63u32 - lid.x]
        out[200u32 + gid.x] = mine[3]
        out[400u32 + gid.x] = x[gid.x]
        out[264] = tile[gid.x + 900u32]
        out[265] = x[gid.x - 64u32]
        out[266] = mine[gid.x + 4u32]
    }"""


@drivers
@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_elements_of_every_type_move(driver: Driver, element: DataType) -> None:
    buffers = f"""buffer x: read_only {element}[100] @0
buffer out: read_write {element}[267] @1 output live_out
buffer tile: workgroup {element}[64]
buffer mine: local {element}[4]"""
    check(driver, program(buffers, MOVES), {"x": random_elements(element, 100)}, (2, 1, 1))


@drivers
@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_memory_on_the_chip_begins_with_zero_bits(driver: Driver, element: DataType) -> None:
    buffers = f"""buffer out: read_write {element}[128] @0 output live_out
buffer tile: workgroup {element}[64]
buffer mine: local {element}[4]"""
    body = "out[gid.x * 2u32] = mine[gid.x & 3u32] out[gid.x * 2u32 + 1u32] = tile[lid.x]"
    check(driver, program(buffers, body), {}, (1, 1, 1))


@drivers
@pytest.mark.parametrize("element", ELEMENTS[:18], ids=str)
def test_uniform_buffers(driver: Driver, element: DataType) -> None:
    buffers = f"""buffer x: uniform {element}[37] @0
buffer out: read_write {element}[64] @1 output live_out"""
    body = "out[gid.x] = x[gid.x]"
    check(driver, program(buffers, body), {"x": random_elements(element, 37)}, (1, 1, 1))


@drivers
@pytest.mark.parametrize("element", ["u32", "u8", "u64", "vec2<f32>"])
@pytest.mark.parametrize("count", [0, 5, 200])
def test_the_length_of_a_buffer_that_is_not_looked_into(
    driver: Driver, element: str, count: int
) -> None:
    buffers = f"buffer x: read_only {element}[] @1\n{OUT}"
    body = "if gid.x < len(x) { out[gid.x] = len(x) }"
    lanes = (count, 2) if element.startswith("vec2") else (count,)
    kind = {"u32": np.uint32, "u8": np.uint8, "u64": np.uint64}.get(element, np.float32)
    check(driver, program(buffers, body), {"x": np.ones(lanes, kind)}, (4, 1, 1))


@drivers
def test_converted_values_are_rounded_the_same_everywhere(driver: Driver) -> None:
    rng = np.random.default_rng(5)
    x = (rng.standard_normal(512) * np.exp2(rng.integers(-20, 20, 512))).astype(np.float32)
    x[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 448.0, 464.0, 61440.0]
    kinds = ["f16", "bf16", "f8e4m3", "f8e5m2", "fp4", "nf4"]
    buffers = "buffer x: read_only f32[512] @0\n" + "\n".join(
        f"buffer o{k}: read_write {kind}[512] @{k + 1} output live_out"
        for k, kind in enumerate(kinds)
    )
    casts = {"f16": "f16(x[gid.x])", "bf16": "bf16(x[gid.x])"}
    body = "\n".join(f"o{k}[gid.x] = {casts.get(kind, 'x[gid.x]')}" for k, kind in enumerate(kinds))
    check(driver, program(buffers, body), {"x": x}, (8, 1, 1))


@drivers
@pytest.mark.parametrize("index", ["i8(gid.x)", "i32(gid.x) - 50i32", "u64(gid.x) << 30u64",
                                   "i64(gid.x) - 20i64", "u16(gid.x * 1000u32)"])  # fmt: skip
def test_indices_of_every_type(driver: Driver, index: str) -> None:
    buffers = """buffer x: read_write u32[60] @0
buffer out: read_write u32[256] @1 output live_out
buffer tile: workgroup u32[30]
buffer mine: local u32[30]
buffer deep: scratch u32[30]"""
    body = f"""
        let k = {index}
        out[gid.x] = x[k] + tile[k] + mine[k] + deep[k]
        mine[k] = 7u32
        out[gid.x] = out[gid.x] + mine[k]
        eval atomic_add(x[k], 1u32)
        eval atomic_max(tile[k], 3u32)
        eval atomic_or(deep[k], 4u32)"""
    check(driver, program(buffers, body), {"x": np.arange(60, dtype=np.uint32)}, (4, 1, 1))


@drivers
def test_neighbouring_bytes_are_stored_by_different_invocations(driver: Driver) -> None:
    buffers = """buffer bytes: read_write u8[4099] @0 output live_out
buffer halves: read_write i16[4099] @1 output live_out
buffer flags: read_write bool[4099] @2 output live_out
buffer tile: workgroup u8[64]"""
    body = """
        bytes[gid.x] = u8(gid.x * 7u32)
        halves[4098u32 - gid.x] = i16(gid.x) - 2000i16
        flags[gid.x] = gid.x % 3u32 == 0u32
        tile[lid.x] = u8(gid.x)
        barrier seq_cst
        if gid.x < 64u32 { bytes[gid.x + 4035u32] = tile[63u32 - lid.x] }"""
    check(driver, program(buffers, body), grid=(63, 1, 1))


ATOMICS = ["add", "sub", "and", "or", "xor", "min", "max", "exchange"]


@drivers
@pytest.mark.parametrize("dtype", ["u32", "i32", "u64", "i64"])
@pytest.mark.parametrize("space", ["read_write", "workgroup"])
def test_integer_atomics(driver: Driver, dtype: str, space: str) -> None:
    """Commuting updates of shared elements; of own ones everything, with the old value."""
    where = "@1 output live_out" if space == "read_write" else ""
    buffers = f"""buffer out: read_write {dtype}[640] @0 output live_out
buffer cells: {space} {dtype}[80] {where}
buffer sums: {space} {dtype}[8] {where.replace("1", "2")}"""
    lines = ["let v = " + f"{dtype}(gid.x * 2654435761u32)", "let k = lid.x"]
    if dtype.endswith("64"):
        lines[0] += f" * {dtype}(gid.x + 3u32) << {dtype}(9u32)"
    for n, op in enumerate(ATOMICS):
        lines.append(f"out[{n * 64}u32 + lid.x] = atomic_{op}(cells[k], v + {n}{dtype})")
    exchanged = f"atomic_compare_exchange(cells[k], 5{dtype}, expected = v + 7{dtype})"
    lines.append(f"out[512u32 + lid.x] = {exchanged}")
    for n, op in enumerate(["add", "sub", "and", "or", "xor", "min", "max"]):
        lines.append(f"eval atomic_{op}(sums[{n}], v)")
    lines += ["barrier seq_cst", "if lid.x < 8u32 { out[576u32 + lid.x] = sums[lid.x] }"]
    lines.append("out[584] = atomic_add(cells[lid.x + 100u32], v)")
    check(driver, program(buffers, "\n".join(lines)), grid=(1, 1, 1))


@drivers
@pytest.mark.parametrize("dtype", ["u64", "i64"])
def test_wide_sums_need_no_lock(driver: Driver, dtype: str) -> None:
    # Sums and exchanged bits each have elements of their own: their order would show.
    buffers = f"""buffer sums: read_write {dtype}[5] @0 output live_out
buffer tile: workgroup {dtype}[2]"""
    body = f"""
        let v = {dtype}(gid.x) * 4294967295{dtype}
        eval atomic_add(sums[0], v)
        eval atomic_sub(sums[1], v)
        eval atomic_xor(sums[gid.x % 2u32 + 2u32], v)
        eval atomic_add(tile[0], v)
        barrier seq_cst
        if lid.x == 0u32 {{ eval atomic_add(sums[4], tile[0] << 1{dtype}) }}"""
    check(driver, program(buffers, body), grid=(9, 1, 1))


@drivers
def test_float_atomics(driver: Driver) -> None:
    buffers = """buffer out: read_write f32[4] @0 output live_out
buffer tile: workgroup f32[3]"""
    body = """
        let v = f32(gid.x % 32u32) * 0.25f32 - 3.0f32
        eval atomic_add(tile[0], v)
        eval atomic_min(tile[1], v)
        eval atomic_max(tile[2], v)
        eval atomic_max(tile[2], nan_f32)
        barrier seq_cst
        if lid.x == 0u32 {
            eval atomic_add(out[0], tile[0])
            eval atomic_min(out[1], tile[1])
            eval atomic_max(out[2], tile[2])
            eval atomic_add(out[lid.x + 9u32], 1.0f32)
        }"""
    check(driver, program(buffers, body), grid=(16, 1, 1))


@drivers
@pytest.mark.parametrize("size", ["64, 1, 1", "7, 1, 1", "4, 4, 2", "1, 1, 1", "3, 1, 5"])
def test_subgroups(driver: Driver, size: str) -> None:
    dtypes = ["u32", "i32", "f32", "u64", "i16", "bool"]
    count = int(np.prod([int(part) for part in size.split(",")]))
    buffers = "\n".join(
        f"buffer o_{t}: read_write {t}[{20 * count}] @{k} output live_out"
        for k, t in enumerate(dtypes)
    )
    lines = ["let n = lid.x + (lid.y + lid.z * NY) * NX", "let row = n * 20u32"]
    nx, ny, _ = (part.strip() for part in size.split(","))
    lines[0] = lines[0].replace("NX", f"{nx}u32").replace("NY", f"{ny}u32")
    for t in dtypes:
        value = f"{t}(n * 37u32 % 11u32)" if t != "bool" else "n % 3u32 == 1u32"
        ops = ["and", "or", "xor"] if t == "bool" else ["add", "mul", "min", "max"]
        if t not in ("f32", "bool"):
            ops += ["and", "or", "xor"]
        lines.append(f"let v_{t} = {value}")
        lines += [f"o_{t}[row + {k}u32] = subgroup_{op}(v_{t})" for k, op in enumerate(ops)]
        for k, source in enumerate(("subgroup_lane ^ 1u32", "3u32", "n", "4294967295u32")):
            lines.append(f"o_{t}[row + {10 + k}u32] = shuffle(v_{t}, {source})")
    lines += ["let b = ballot(n % 3u32 == 1u32)", "o_u32[row + 16u32] = lane(b, 0)"]
    lines += [
        "o_u32[row + 17u32] = subgroup_lane + lane(b, 1)",
        "o_u32[row + 18u32] = subgroup_size",
    ]
    check(driver, program(buffers, "\n".join(lines), size))


@drivers
def test_async_copies(driver: Driver) -> None:
    buffers = """buffer x: read_only i16[300] @0
buffer out: read_write i16[300] @1 output live_out
buffer tile: workgroup i16[100]"""
    body = """
        async_load "in" tile[0] <- x[wid.x * 100u32 + 1u32], 100
        async_wait "in"
        let v = tile[99u32 - lid.x]
        barrier seq_cst
        tile[lid.x] = v
        barrier seq_cst
        async_store "out" out[i32(wid.x) * 100i32 - 2i32] <- tile[0], 64
        async_wait "out" """
    x = np.arange(300, dtype=np.int16)
    check(driver, program(buffers, body), {"x": x}, (3, 1, 1))


@drivers
def test_workgroup_memory_is_zero_at_the_start(driver: Driver) -> None:
    buffers = "buffer out: read_write u32[512] @0 output live_out\nbuffer tile: workgroup u32[300]"
    body = """
        let seen = 0u32
        for k in 0..300 { seen = seen | tile[k] }
        barrier seq_cst
        tile[lid.x] = gid.x + 1u32
        tile[lid.x + 200u32] = 77u32
        barrier seq_cst
        out[gid.x] = seen + tile[63u32 - lid.x]"""
    check(driver, program(buffers, body), grid=(8, 1, 1))


@drivers
@pytest.mark.parametrize("grid", [(70_000, 1, 1), (300, 300, 1), (2, 66_000, 1), (3, 5, 65_536)])
def test_large_grids_are_folded(driver: Driver, grid: tuple[int, int, int]) -> None:
    buffers = "buffer out: read_write u32[8] @0 output live_out"
    body = """
        let n = gid.x + (gid.y + gid.z * num_workgroups.y) * num_workgroups.x
        eval atomic_add(out[0], 1u32)
        eval atomic_xor(out[1], n * 2654435761u32)
        eval atomic_max(out[2], gid.x)
        eval atomic_max(out[3], gid.y)
        eval atomic_max(out[4], gid.z)
        eval atomic_max(out[5], wid.x ^ wid.y ^ wid.z ^ num_workgroups.x)"""
    check(driver, program(buffers, body, "1, 1, 1"), grid=grid)


def run(driver: Driver, tested: Program, grid: tuple[int, int, int] = (1, 1, 1)) -> dict:
    return worker(driver).call(on_device, tested, {}, grid, {})


TRAPS = {
    "before anything": ("""if gid.x == 70u32 { trap "at seventy" }
        out[gid.x] = 1u32""", (70, 0, 0)),
    "inside a loop": ("""for i in 0..100 {
            for j in 0..100 { if i * j == gid.x { if gid.x == 99u32 { trap "at seventy" } } }
        }""", (99, 0, 0)),
    "beside a barrier": ("""while true {
            if gid.x == 5u32 { trap "at seventy" }
            break
        }
        barrier seq_cst
        out[gid.x] = 1u32""", (5, 0, 0)),
    "in an endless loop beside a barrier": ("""if gid.x == 6u32 {
            while true { while true { trap "at seventy" } }
        }
        barrier seq_cst
        out[gid.x] = 1u32""", (6, 0, 0)),
}  # fmt: skip


@drivers
@pytest.mark.parametrize("name", TRAPS)
def test_traps_are_reported(driver: Driver, name: str) -> None:
    body, invocation = TRAPS[name]
    with pytest.raises(TrapError) as caught:
        run(driver, program(OUT, body), (2, 1, 1))
    assert (caught.value.tag, caught.value.code) == ("at seventy", "X001")
    assert caught.value.invocation == invocation
    quiet = program(OUT, body.replace("gid.x ==", "gid.x == 1000u32 +"))
    check(driver, quiet, grid=(2, 1, 1))


def test_long_loops_run_on_swiftshader() -> None:
    """Lavapipe ends all loops of an invocation after 65 535 rounds, so only the other one can."""
    body = """
        let sum = 0u32
        for i in 0..300000 { sum = sum * 3u32 + i }
        out[gid.x] = sum"""
    got = run(SWIFTSHADER, program(OUT, body, "1, 1, 1"))
    want = 0
    for i in range(300_000):
        want = (want * 3 + i) & 0xFFFF_FFFF
    assert got["out"][0] == want


@pytest.mark.parametrize("rounds", [(300, 300), (70_000, 1), (1, 70_000)])
@pytest.mark.parametrize("leave", ["", "if total == 7u32 { break }", "if b == 3u32 { continue }"])
def test_a_loop_that_the_driver_leaves_is_an_error(rounds: tuple[int, int], leave: str) -> None:
    buffers = "buffer n: read_only u32[2] @0 buffer out: read_write u32[1] @1 output live_out"
    body = f"""
        let total = 5u32
        for a in 0..n[0] {{ for b in 0..n[1] {{ {leave} total = total * 3u32 + (a ^ b) }} }}
        out[0] = total"""
    looping = program(buffers, body, "1, 1, 1")
    with pytest.raises(BackendError, match="B207"):
        check(LAVAPIPE, looping, {"n": np.array(rounds, np.uint32)})
    check(LAVAPIPE, looping, {"n": np.array([200, 200], np.uint32)})


def test_a_kernel_that_hangs_costs_only_its_test() -> None:
    endless = program(OUT, "while out[0] == 0u32 { out[1] = 1u32 }", "1, 1, 1")
    with pytest.raises(TimeoutError):
        worker(SWIFTSHADER).call(on_device, endless, {}, (1, 1, 1), {}, deadline=5.0)
    check(SWIFTSHADER, program(OUT, "out[gid.x] = gid.x"), grid=(4, 1, 1))
