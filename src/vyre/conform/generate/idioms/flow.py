"""Branches and loops that are smaller than they look."""

from __future__ import annotations

from vyre.conform.generate.idiom_insertion import Fragment, Site
from vyre.conform.generate.idioms.text import out


def branches(site: Site) -> Fragment:
    """Branches that assign or store little, with values that depend on what they assign."""
    dice, p = site.dice, site.prefix
    declared, show = out(site)
    names = (f"{p}a", f"{p}b", f"{p}c")

    def small() -> str:
        simple = (*names, site.value(), f"{dice.below(9)}u32")
        if dice.chance(5):
            return dice.pick(simple)
        return f"({dice.pick(simple)} {dice.pick(('+', '^', '*'))} {dice.pick(simple)})"

    def arm(count: int) -> str:
        return "".join(f"    {dice.pick(names)} = {small()}\n" for _ in range(count))

    def branch() -> str:
        kinds = (site.condition(), f"{small()} < {small()}", f"{p}flag", f"~{p}flag")
        cond = dice.pick(kinds)
        choice = dice.below(10)
        if choice < 2:
            one, other = show.format(small()), show.format(small())
            return f"if {cond} {{\n    {one}}} else {{\n    {other}}}\n"
        then, other = arm(dice.between(0 if choice == 2 else 1, 2)), arm(dice.between(0, 2))
        if choice == 3:
            then = other = arm(1)
        if choice == 4:
            then += f"    if {small()} == {small()} {{\n    {arm(1)}    }}\n"
        return f"if {cond} {{\n{then}}}" + (f" else {{\n{other}}}\n" if other else "\n")

    flag = dice.pick(("true", "false", site.condition()))
    pieces = [f"let {n} = {site.value()}\n" for n in names] + [f"let {p}flag = {flag}\n"]
    pieces += [branch() for _ in range(dice.between(1, 4))]
    pieces.append(show.format(f"{names[0]} * 7u32 + {names[1]} * 3u32 + {names[2]}"))
    return Fragment((declared,), tuple(pieces))


def loops(site: Site) -> Fragment:
    """Loops of a few rounds, of one and of none, at the ends of types, with work that repeats."""
    dice, p = site.dice, site.prefix
    declared, show = out(site)
    first, last, dtype = dice.pick(
        (
            *((0, 1, "u32"), (3, 3, "u32"), (5, 2, "u32"), (0, 4, "u32"), (2, 8, "u32")),
            *((-2, 2, "i32"), (-128, -126, "i8"), (125, 127, "i8"), (254, 255, "u8")),
            *((2147483645, 2147483647, "i32"), (4294967293, 4294967295, "u32"), (0, 9, "u32")),
            *((0, 3, "u64"), (-1, 0, "i64"), (7, 8, "u16")),
        )
    )
    var = f"{p}i"
    stop = dice.pick((f"{last}{dtype}", f"{last}{dtype}", f"{dtype}({site.value()} & 3u32)"))
    table = f"{p}t"
    leave = dice.pick(("break", "continue"))
    work = [
        f"let {p}v = {site.value()} * 3u32 + {table}[{site.value()} % 5u32]\n"
        f"    {p}acc = {p}acc ^ {p}v\n",
        f"{p}acc = {p}acc * 5u32 + u32({var})\n",
        f"{p}acc = {p}acc + {table}[u32({var}) & 7u32]\n",
        f"if {site.condition()} {{\n        {p}acc = {p}acc + 1u32\n    }}\n",
        f"if u32({var}) == {dice.below(4)}u32 {{\n        {leave}\n    }}\n",
        show.format(f"{p}acc + {p}n"),
        f"{p}n = {p}n + {p}acc\n",
        f"for {p}j in 0u32..{dice.below(4)}u32 {{\n        {p}acc = {p}acc * 3u32 + {p}j\n    }}\n",
    ]
    body = "".join(
        f"    {line}" for line in dict.fromkeys(dice.pick(work) for _ in range(dice.between(1, 3)))
    )
    loop = f"for {var} in {first}{dtype}..{stop} {{\n{body}}}\n"
    if dice.chance(2):
        loop = f"if {site.condition()} {{\n{loop}}}\n"
    pieces = (
        f"let {p}acc = {site.value()}\nlet {p}n = 1u32\n",
        loop,
        show.format(f"{p}acc + {p}n"),
    )
    return Fragment(
        (declared, f"{table}: {dice.pick(('read_only', 'read_only', 'read_write'))} u32[8] @"),
        pieces,
    )
