"""Accesses that could be joined, dropped, widened or brought nearer."""

from __future__ import annotations

from collections.abc import Callable

from vyre.conform.generate.idiom_insertion import Fragment, Site
from vyre.conform.generate.idioms.text import STORED, out

_ATOMICS = ("add", "sub", "min", "max", "and", "or", "xor")


def stored_and_loaded(site: Site) -> Fragment:
    """Stores and loads of a few elements: some alias, some are never read, some miss."""
    dice, p = site.dice, site.prefix
    element = dice.pick(("u32", "u32", "u32", *STORED))
    kind, count, places = _memory(site)
    mem = f"{p}m"
    declared, show = out(site)
    pieces = [f"let {p}acc = 1u32\nlet {p}x = {site.value()}\nlet {p}k = {site.value()} & 7u32\n"]
    places = [place.format(k=f"{p}k") for place in places]

    def store() -> str:
        value = STORED[element].format(dice.pick((site.value(), f"{p}x", f"{p}acc")))
        if dice.chance(1):
            value = f"{mem}[{dice.pick(places)}]"
        return f"{mem}[{dice.pick(places)}] = {value}\n"

    def load() -> str:
        return f"{p}acc = {p}acc * 31u32 + u32({mem}[{dice.pick(places)}])\n"

    def disturb() -> str:
        options = [
            f"{p}x = {site.value()}\n",
            f"{p}k = ({p}k + 1u32) & 7u32\n",
            f"if {site.condition()} {{\n    {store()}}}\n",
            f"if {site.condition()} {{\n    {load()}}} else {{\n    {store()}}}\n",
            f"for {p}i in 0u32..{dice.pick((1, 3, 9))}u32 {{\n    {load()}    {store()}}}\n",
        ]
        if element == "u32" and kind != "local":
            options.append(f"eval atomic_add({mem}[{dice.pick(places)}], {site.value()})\n")
        return dice.pick(options)

    makers: list[Callable[[], str]] = [store, store, load, load, disturb]
    pieces += [dice.pick(makers)() for _ in range(dice.between(3, 8))]
    if dice.chance(8):
        pieces.append(load())
    pieces.append(show.format(f"{p}acc"))
    binding = " @" if kind == "read_write" else ""
    return Fragment((declared, f"{mem}: {kind} {element}[{count}]{binding}"), tuple(pieces))


def small_arrays(site: Site) -> Fragment:
    """An invocation's own array, its elements known by number or by the round of a short loop."""
    dice, p = site.dice, site.prefix
    element = dice.pick(("u32", "u32", *STORED))
    mem, count = f"{p}m", dice.pick((1, 3, 4))
    declared, show = out(site)
    numbers = [f"{n}u32" for n in range(count)] * 4
    others = [*numbers, f"{count}u32", "1i32 - 1i32", "1i32 - 2i32", f"{site.value()} & 3u32"]
    places = dice.pick((numbers, numbers, numbers, others))

    def store(index: str) -> str:
        return f"{mem}[{index}] = {STORED[element].format(dice.pick((site.value(), f'{p}acc')))}\n"

    def load(index: str) -> str:
        return f"{p}acc = {p}acc * 31u32 + u32({mem}[{index}])\n"

    def piece() -> str:
        here, there = dice.pick(places), dice.pick(places)
        rounds = dice.pick((count, count, count + 1)) if places is others else count
        return dice.pick(
            (
                *(store(here), load(here)),
                f"if {site.condition()} {{\n    {store(here)}}} else {{\n    {load(there)}}}\n",
                f"for {p}i in 0u32..{rounds}u32 {{\n    {store(f'{p}i')}}}\n",
                f"for {p}i in 0u32..3u32 {{\n    {load(here)}    {store(there)}}}\n",
                f"{{\n    {store(here)}    {load(here)}}}\n",
            )
        )

    pieces = [f"let {p}acc = {site.value()}\n", *(piece() for _ in range(dice.between(2, 6)))]
    pieces += [load(dice.pick(places)), show.format(f"{p}acc")]
    return Fragment((declared, f"{mem}: local {element}[{count}]"), tuple(pieces))


def _memory(site: Site) -> tuple[str, int, list[str]]:
    """A kind of memory, how many elements it has, and indices of the invocation's own."""
    dice = site.dice
    kind = dice.pick(("local", "local", "workgroup", "workgroup", "read_write", "scratch"))
    if kind == "local":
        fixed = [f"{dice.below(9)}u32", f"{dice.below(8)}u32"]
        return kind, 8, [*fixed, "{k}", "{k}", f"({site.value()}) & 7u32", "{k} + 4294967295u32"]
    if kind == "workgroup":
        return kind, site.lanes + dice.pick((0, 0, 3)), [site.lane, site.lane]
    mine = site.own
    return kind, max(site.total + dice.pick((0, 0, -1)), 1), [mine, mine, "invocation"]


def counters(site: Site) -> Fragment:
    """Atomics on few elements: contended or spread, conditional or not, used or not."""
    dice, p = site.dice, site.prefix
    h = f"{p}h"
    dtype = dice.pick(("u32", "u32", "i32", "u64", "i64", "f32"))
    op = dice.pick(("add", "add", "min", "max") if dtype == "f32" else _ATOMICS)
    where = dice.pick(("read_write", "read_write", "read_write", "workgroup"))
    pieces: list[str] = []
    for _ in range(dice.between(1, 3)):
        index = dice.pick(
            (
                "0u32",
                "0u32",
                "wid.x & 3u32",
                "1u32",
                "lid.x & 3u32",
                f"{site.value()} & 1u32",
                "9u32",
            )
        )
        value = STORED.get(dtype, f"{dtype}({{}})").format(f"({site.value()} & 63u32)")
        order = dice.pick(("", "", "", "", ", seq_cst", ", relaxed"))
        used = op if dtype == "f32" or not dice.chance(2) else dice.pick(_ATOMICS[:2])
        atomic = f"eval atomic_{used}({h}[{index}], {value}{order})\n"
        if dice.chance(5):
            atomic = f"if {site.condition()} {{\n    {atomic}}}\n"
        if dice.chance(2):
            rounds = dice.pick(("3u32", "wid.x + 1u32", "(lid.x & 3u32)"))
            atomic = f"for {p}i{len(pieces)} in 0u32..{rounds} {{\n    {atomic}}}\n"
        pieces.append(atomic)
    buffers = [f"{h}: {where} {dtype}[4]{' @' if where == 'read_write' else ''}"]
    if where == "workgroup" or dice.chance(2):
        declared, show = out(site)
        buffers.append(declared)
        barrier = dice.pick(("barrier seq_cst\n", "barrier acq_rel\n", "barrier grid_sync\n"))
        if where == "workgroup" and "grid" in barrier:
            barrier = "barrier seq_cst\n"
        read = dice.pick((f"u32({h}[lid.x & 3u32])", f"u32({h}[0])"))
        pieces += [barrier, show.format(read)]
        return Fragment(tuple(buffers), tuple(pieces), together=True)
    return Fragment(tuple(buffers), tuple(pieces), together=dice.chance(8))


def tables(site: Site) -> Fragment:
    """A small table that loops read at indices that differ between invocations, or do not."""
    dice, p = site.dice, site.prefix
    declared, show = out(site)
    table, state = f"{p}table", f"{p}s"
    count = dice.pick((4, 16, 37, 64, 100))
    element = dice.pick(("u32", "u32", "u8", "i32", "f32", "bool"))
    indices = (
        *(f"({state} + gid.x) % {count}u32", state, f"gid.x + {p}i", f"{p}i", "wid.x", "0u32"),
        *(f"{state} % {count + 3}u32", f"i32({state})", f"{state} >> 27u32"),
    )
    lines = [
        f"    {state} = {state} * 3u32 + u32({table}[{dice.pick(indices)}])\n"
        for _ in range(dice.between(1, 3))
    ]
    if dice.chance(2):
        lines.insert(
            0, f"    if {site.condition()} {{\n        {dice.pick(('break', 'continue'))}\n    }}\n"
        )
    rounds = dice.pick(("5u32", "3u32", "wid.x + 1u32", "lid.x & 3u32", f"len({table}) & 7u32"))
    loop = f"for {p}i in 0u32..{rounds} {{\n{''.join(lines)}}}\n"
    access = dice.pick(("read_only", "read_only", "read_only", "uniform", "read_write"))
    pieces = (f"let {state} = {site.value()}\n", loop, show.format(state))
    return Fragment((declared, f"{table}: {access} {element}[{count}] @"), pieces)
