"""Programs of the shapes that some passes wait for, varied at random, before against after.

Random programs seldom hand scratch memory from stage to stage, fill words byte by byte or sync the
whole grid for nothing. These do, in ways that a pass must take and in ways that it must refuse.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from tests.unit.opt.trust import WIDTH, Outcome, difference
from vyre.backends.reference import execute
from vyre.ir import Program
from vyre.opt import OptimizerProfile, optimize, pass_by_name
from vyre.target import Feature, Target

TARGET = Target("test", frozenset(Feature) - {Feature.HOST_MEMORY}, subgroup_width=WIDTH)
GRID = (3, 1, 1)
EACH = 90


def handoff(dice: Random) -> str:
    width = dice.choice((1, 8, 32))
    count = dice.choice((width, 2 * width, 3 * width, 5 * width))
    write = dice.choice(("gid.x", "lid.x", f"wid.x * {width}u32 + lid.x", "gid.x + 1u32"))
    read = dice.choice(
        (
            *("gid.x", "lid.x", "gid.x + 1u32", "gid.x + 2u32", "0u32", f"{width - 1}u32 - lid.x"),
            f"wid.x * {width}u32 + ({width - 1}u32 - lid.x)",
            f"wid.x * {width}u32 + (lid.x * 5u32) % {width}u32",
            f"wid.x * {width}u32 + a[gid.x] % {width}u32",
        )
    )
    between = dice.choice(("", "barrier seq_cst\n", "barrier seq_cst\n", "barrier grid_sync\n"))
    guard = dice.choice(("", "", "", f"if gid.x < {count - 1}u32 "))
    store = f"tmp[{write}] = a[gid.x] * 3u32 + 1u32\n"
    again = dice.choice(("", "tmp[gid.x] = tmp[gid.x] + 7u32\n", between))
    return (
        f"program workgroup({width}, 1, 1)\n\nbuffer a: read_only u32[96] @0\n"
        f"buffer out: read_write u32[96] @1\nbuffer tmp: scratch u32[{count}]\n\n"
        + (f"{guard}{{\n    {store}}}\n" if guard else store)
        + again
        + between
        + f"out[gid.x] = tmp[{read}]\n"
    )


def words(dice: Random) -> str:
    kind = dice.choice(("local", "workgroup", "scratch"))
    start = dice.choice(("0u32", "4u32", "i * 4u32", "i << 2u32", "(i + lid.x) * 4u32", "i * 2u32"))
    values = [dice.choice(("u8(i)", "u8(a[gid.x] + i)", "255u8", "u8(i * 3u32)")) for _ in range(4)]
    offsets = dice.choice(((0, 1, 2, 3), (0, 1, 2, 3), (0, 2, 1, 3), (1, 2, 3, 4)))
    stores = "".join(
        f"    bytes[{start} + {offset}u32] = {value}\n"
        for offset, value in zip(offsets, values, strict=True)
    )
    read = dice.choice(("gid.x", "lid.x", "a[gid.x] % 16u32", "3u32", "i8(gid.x)", "20u32 + lid.x"))
    return (
        "program workgroup(8, 1, 1)\n\nbuffer a: read_only u32[96] @0\n"
        "buffer out: read_write u32[96] @1\n"
        f"buffer bytes: {kind} {dice.choice(('u8', 'bytes'))}[16]\n\n"
        + ("if lid.x == 0u32 {\n" if kind == "workgroup" else "if gid.x < 1u32 {\n")
        + f"for i in 0u32..4u32 {{\n{stores}}}\n}}\n"
        + ("barrier grid_sync\n" if kind == "scratch" else "barrier seq_cst\n")
        + f"out[gid.x] = u32(bytes[{read}])\n"
    )


def syncs(dice: Random) -> str:
    lines = []
    for _ in range(dice.randint(2, 6)):
        target, source = dice.choice("xyz"), dice.choice("xyza")
        index = dice.choice(("gid.x", "23u32 - gid.x")) if source == "a" else "gid.x"
        read = dice.choice(("gid.x", "23u32 - gid.x"))
        lines.append(f"{target}[{index}] = {source}[{read}] + 1u32\n")
        lines.append(
            dice.choice(("barrier grid_sync\n", "barrier grid_sync\n", "barrier seq_cst\n"))
        )
    lines.append(dice.choice(("", "x[gid.x] = x[gid.x] * 3u32\n")))
    buffers = "".join(f"buffer {n}: read_write u32[24] @{i}\n" for i, n in enumerate("xyz"))
    return f"program workgroup(8, 1, 1)\n\n{buffers}buffer a: read_only u32[96] @3\n\n" + "".join(
        lines
    )


def tables(dice: Random) -> str:
    count = dice.choice((16, 64, 100))
    size = dice.choice(("32, 1, 1", "16, 2, 1", "4, 4, 2"))
    rounds = dice.choice(("5u32", "a[3] % 7u32"))
    index = dice.choice(
        (f"(s + gid.x) % {count}u32", "s", "gid.x + i", "i", f"a[i] % {count + 3}u32")
    )
    return (
        f"program workgroup({size})\n\nbuffer table: read_only u32[{count}] @0\n"
        "buffer a: read_only u32[96] @1\nbuffer out: read_write u32[96] @2\n\n"
        "let s = gid.x + gid.y\n"
        f"for i in 0u32..{rounds} {{\n    s = s * 3u32 + table[{index}]\n}}\n"
        "if gid.y == 0u32 {\n    out[gid.x] = s\n}\n"
    )


def counters(dice: Random) -> str:
    op = dice.choice(("add", "sub", "min", "max", "and", "or", "xor"))
    index = dice.choice(("0u32", "wid.x", "lid.x", "a[0] % 4u32", "9u32"))
    value = dice.choice(("1u32", "a[gid.x]", "gid.x * 3u32"))
    atomic = f"eval atomic_{op}(h[{index}], {value})\n"
    cond = dice.choice(("", "gid.x < 20u32", "a[gid.x] > 5u32", "wid.x == 1u32", "false"))
    return (
        "program workgroup(16, 1, 1)\n\nbuffer a: read_only u32[96] @0\n"
        "buffer h: read_write u32[4] @1\n\n" + (f"if {cond} {{\n{atomic}}}\n" if cond else atomic)
    )


SHAPES = {
    "decode_scan_fuse": handoff,
    "fuse_elementwise": handoff,
    "pack_bytes": words,
    "downgrade_barriers": syncs,
    "coalesce_barriers": syncs,
    "promote_to_workgroup": tables,
    "aggregate_atomics": counters,
}


def run(program: Program, dice: Random) -> tuple[Outcome, bool]:
    """What a program comes to, and whether the sanitizer has anything to say of it."""
    random = np.random.default_rng(dice.randrange(1 << 30))
    inputs = {
        d.name: random.integers(0, 50, d.count, dtype=np.uint32)
        for d in program.buffers
        if d.is_host_input
    }
    done = execute(program, inputs, GRID, subgroup_width=WIDTH, sanitize=True)
    return Outcome(done.outputs, done.printed), bool(done.findings)


@pytest.mark.parametrize("name", SHAPES)
def test_before_equals_after(name: str) -> None:
    fired: Counter[bool] = Counter()
    for seed in range(EACH):
        dice = Random(f"{name} {seed}")
        before = Program.parse(SHAPES[name](dice))
        if any(d.severity == "error" for d in before.check()):
            continue
        state = dice.getstate()
        expected, racy = run(before, dice)
        alone = pass_by_name(name).apply(before, TARGET).program
        whole = optimize(before, OptimizerProfile.MEGAKERNEL, TARGET, verify=True).program
        fired[alone is not before] += 1
        for after in (alone, whole):
            after.validate()
            if racy:
                continue
            dice.setstate(state)
            found, _ = run(after, dice)
            wrong = difference(expected, found, before)
            assert wrong is None, f"{name} {seed}: {wrong}\n{before}\n// after\n{after}"
    # The shapes are made so that the pass has something to take and something to refuse.
    assert fired[True] >= 3
    assert fired[False] >= 3
