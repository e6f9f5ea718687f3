"""Bytes that are written four at a time, or nearly so."""

from __future__ import annotations

from vyre.conform.generate.idiom_insertion import Fragment, Site
from vyre.conform.generate.idioms.text import out

_WHOLE = (0, 1, 2, 3)
_OFFSETS = (*(_WHOLE,) * 6, (0, 2, 1, 3), (1, 2, 3, 4), (0, 1, 2))
_WAITS = {"local": "", "workgroup": "barrier seq_cst\n", "scratch": "barrier grid_sync\n"}


def byte_words(site: Site) -> Fragment:
    """Bytes written four at a time, or nearly so, and read one by one."""
    dice, p = site.dice, site.prefix
    kind = dice.pick((*("workgroup", "scratch") * 4, "local"))
    count, start = _start(site, kind)
    mem, changing = f"{p}w", f"{p}x"
    loop = _filling(site, start, mem, changing)
    if dice.chance(2):
        loop = f"if {site.condition()} {{\n{loop}}}\n"
    reads = (
        *(f"{site.value()} % {count}u32", f"{dice.below(count + 2)}u32", changing),
        *(f"{changing} & 3u32", f"{changing} + 4u32", site.lane),
    )
    total = " + ".join(
        f"u32({mem}[{dice.pick(reads)}]) * {n + 1}u32" for n in range(dice.between(1, 4))
    )
    declared, show = out(site)
    pieces = [f"let {changing} = {site.value()} & 3u32\n", loop, _WAITS[kind], show.format(total)]
    if kind == "local" and dice.chance(1):
        pieces.insert(2, f"{mem}[{dice.below(count)}u32] = u8({changing})\n")
    buffer = f"{mem}: {kind} {dice.pick(('u8', 'u8', 'bytes'))}[{count}]"
    return Fragment((declared, buffer), tuple(filter(None, pieces)), kind != "local")


def _start(site: Site, kind: str) -> tuple[int, str]:
    """How many bytes there are, and where a word begins: `i` is a round, `x` changes."""
    dice = site.dice
    if kind == "local":
        plain = ("0u32", "4u32", "{i} * 4u32", "{i} << 2u32", "({x} << 2u32)", "{i} * 2u32")
        odd = ("12u32 - {i} * 4u32", "i32({i}) * 4i32", "u8({x}) * 4u8", "{x} * 4294967292u32")
        return dice.pick((16, 16, 8, 12, 10)), dice.pick((*plain, *odd))
    number, of = (site.lane, site.lanes) if kind == "workgroup" else (site.own, site.total)
    each = dice.pick((4, 8, 16, 16))
    mine = dice.pick((f"{number} * {each}u32", f"({number} << {each.bit_length() - 1}u32)"))
    within = (
        "",
        "",
        " + {i} * 4u32",
        " + ({i} << 2u32)",
        " + ({x} & 1u32) * 4u32",
        " + {i} * 2u32",
    )
    count = of * each + dice.pick((0, 0, 0, 0, 2, -4))
    return count, mine + dice.pick(within)


def _filling(site: Site, start: str, mem: str, changing: str) -> str:
    """The loop that writes."""
    dice, var = site.dice, f"{site.prefix}i"
    literal = "i32" if "i32(" in start else "u8" if "u8(" in start else "u32"
    base = start.format(i=var, x=changing)
    values = (f"u8({var})", f"u8({site.value()})", "255u8", f"u8({var} * 3u32 + {changing})")
    stores: list[str] = []
    spoilt = dice.below(4) if dice.chance(1) else -1
    for offset in dice.pick(_OFFSETS):
        value = f"{mem}[{dice.below(4)}u32] + 1u8" if offset == spoilt else dice.pick(values)
        stores.append(f"    {mem}[{base} + {offset}{literal}] = {value}\n")
    if dice.chance(1):
        stores.insert(dice.below(4), f"    {changing} = {changing} + 1u32\n")
    return f"for {var} in 0u32..{dice.pick((1, 2, 4, 5))}u32 {{\n{''.join(stores)}}}\n"
