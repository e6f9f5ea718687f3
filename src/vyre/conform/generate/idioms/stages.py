"""Stages of one program: what they hand on, where they wait, and the regions they stand in."""

from __future__ import annotations

from vyre.conform.generate.idiom_insertion import Fragment, Site
from vyre.conform.generate.idioms.text import STORED, out

_DOUBLED = "barrier grid_sync\nbarrier acq_rel\n"


def chains(site: Site) -> Fragment:
    """Stages that hand one element per invocation on through scratch memory, or nearly so."""
    dice, p = site.dice, site.prefix
    own, total = site.own, site.total
    distance = dice.pick(("", "", "", " + 1u32", " + 4294967295u32"))
    mine = f"{own}{distance}"
    names = [f"{p}t", f"{p}u"][: dice.between(1, 2)]
    element = dice.pick(("u32", "u32", *STORED))
    pieces: list[str] = []
    source = f"{p}a[{own}]"
    for name in names:
        store = (
            f"{name}[{mine}] = {STORED[element].format(f'({source} * 3u32 + {site.value()})')}\n"
        )
        if dice.chance(3):
            guard = dice.pick((f"{own} < {total - 2}u32", site.condition()))
            store = f"if {guard} {{\n    {store}}}\n"
        pieces += [_region(site, store), _wait(site)]
        read = mine if dice.chance(8) else dice.pick((f"{own} + 2u32", "lid.x", "0u32"))
        source = f"u32({name}[{read}])"
        if dice.chance(2):
            pieces.append(_region(site, f"{name}[{mine}] = {name}[{mine}]\n"))
    declared, show = out(site)
    pieces.append(_region(site, show.format(source)))
    counts = (total, total, total + 3, max(total - 1, 1), site.lanes)
    scratch = [f"{name}: scratch {element}[{dice.pick(counts)}]" for name in names]
    return Fragment(
        (declared, f"{p}a: read_only u32[{total}] @", *scratch),
        tuple(filter(None, pieces)),
        together="barrier" in "".join(pieces),
    )


def handoffs(site: Site) -> Fragment:
    """Scratch memory of which a workgroup reads what it wrote, or what others did."""
    dice, p = site.dice, site.prefix
    lanes, total = site.lanes, site.total
    tile = "" if dice.chance(1) else f"wid.x * {lanes}u32 + "
    write = dice.pick((f"{tile}lid.x", f"{tile}lid.x", "gid.x", f"{tile}{lanes - 1}u32 - lid.x"))
    reads = (
        *(f"{tile}({lanes - 1}u32 - lid.x)", f"{tile}(lid.x * 5u32) % {lanes}u32", write),
        *(f"{tile}{p}a[invocation] % {lanes}u32", "gid.x", f"{tile}0u32", f"{tile}lid.x"),
        dice.pick((f"{tile}{p}a[invocation] % {lanes + 1}u32", f"{tile}lid.x + 1u32")),
    )
    element = dice.pick(("u32", "u32", "u8", "f32"))
    value = f"({p}a[invocation] * 3u32 + {site.value()})"
    store = f"{p}t[{write}] = {STORED[element].format(value)}\n"
    if dice.chance(1):
        store = f"if {dice.pick((site.condition(), 'wid.x == 0u32'))} {{\n    {store}}}\n"
    wait = dice.pick(("barrier seq_cst\n", "barrier acq_rel\n", "barrier release\n", _wait(site)))
    declared, show = out(site)
    load = f"u32({p}t[{dice.pick(reads)}]) + u32({p}t[{dice.pick(reads)}])"
    pieces = [_region(site, store), wait, _region(site, show.format(load))]
    if dice.chance(3):
        again = f"{p}t[{write}] = {p}t[{write}] + {_one(element)}\n"
        pieces[1:1] = [wait, _region(site, again)]
    odd = (lanes, max(total - 1, 1), total + 3, 20_000)
    count = dice.pick(odd) if dice.chance(3) else total
    return Fragment(
        (declared, f"{p}a: read_only u32[{total}] @", f"{p}t: scratch {element}[{count}]"),
        tuple(filter(None, pieces)),
        together=True,
    )


def regions(site: Site) -> Fragment:
    """Regions of one origin side by side, with variables of one name, and ways out."""
    dice, p = site.dice, site.prefix
    declared, show = out(site)
    name = f"{p}v"
    found: list[str] = []
    for number in range(dice.between(2, 4)):
        lines = [f"let {name} = {site.value()}\n"] if dice.chance(7) else []
        value = name if lines else site.value()
        kinds = (
            f"{p}acc = {p}acc * 3u32 + {value}\n",
            show.format(f"{p}acc + {value}"),
            f"for {p}i in 0u32..2u32 {{\n    {p}acc = {p}acc + {value} * {p}i\n    }}\n",
            f"{{\n    let {p}w = {value}\n    {p}acc = {p}acc ^ {p}w\n    }}\n",
            f"if {site.condition()} {{\n    return\n    }}\n" if dice.chance(3) else "",
            f"if {site.condition()} {{\n    let {p}w = {value}\n    {p}acc = {p}w\n    }}\n",
        )
        lines += [dice.pick(kinds) for _ in range(dice.between(1, 3))]
        lines += [f"let {p}w{number % 2} = {p}acc\n"] if dice.chance(3) else []
        origin = dice.pick(('"x"', '"x"', '"y"', '"x" from "s"'))
        found.append(f"region {origin} {{\n    {'    '.join(filter(None, lines))}}}\n")
    head = f"let {p}acc = {site.value()}\n"
    middle = ["".join(found)] if dice.chance(7) else found
    return Fragment((declared,), (head, *middle, show.format(f"{p}acc")))


def _region(site: Site, text: str) -> str:
    """The text as it is, or as one of the regions of two origins."""
    dice = site.dice
    return text if dice.chance(4) else f'region "{dice.pick("xxy")}" {{\n    {text}}}\n'


def _wait(site: Site) -> str:
    """A barrier between two stages, two of them, or none."""
    return site.dice.pick(
        (
            *("", "barrier seq_cst\n", "barrier acq_rel\nbarrier seq_cst\n"),
            *("barrier grid_sync\n", "barrier grid_sync\n", "barrier seq_cst\nbarrier grid_sync\n"),
        )
    )


def syncs(site: Site) -> Fragment:
    """Syncs of the whole grid between stages that hand something over, or nothing."""
    dice, p = site.dice, site.prefix
    names = [f"{p}{letter}" for letter in "xyz"]
    last = site.total - 1
    lines: list[str] = []
    for _ in range(dice.between(2, 5)):
        target, source = dice.pick(names), dice.pick((*names, f"{p}a", f"{p}a"))
        read = dice.pick(("invocation", "invocation", f"{last}u32 - invocation"))
        store = f"{target}[invocation] = {source}[{read}] + {site.value()}\n"
        lines.append(f"if {site.condition()} {{\n    {store}}}\n" if dice.chance(2) else store)
        if dice.chance(2):
            tile = f"{p}w[{dice.pick((site.lane, '0u32'))}]"
            lines.append(f"{target}[invocation] = {tile}\n")
        if dice.chance(1):
            lines.append(f"{p}w[{site.lane}] = {site.value()}\nbarrier seq_cst\n")
        lines.append(dice.pick(("barrier grid_sync\n", "barrier grid_sync\n", "", _DOUBLED)))
    buffers = [f"{name}: read_write u32[{site.total}] @" for name in names]
    buffers += [f"{p}a: read_only u32[{site.total}] @", f"{p}w: workgroup u32[{site.lanes}]"]
    return Fragment(tuple(buffers), tuple(filter(None, lines)), together=True)


def _one(element: str) -> str:
    return "1.0f32" if element == "f32" else f"1{element}"
