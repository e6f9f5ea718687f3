"""The page that lists the passes: it follows from their declarations."""

from __future__ import annotations

from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass
from vyre.opt.registry import registered_passes
from vyre.opt.rules import TABLES
from vyre.opt.scheduler import in_order

_HEAD = """\
# Passes

What the optimizer can do to a program, in the order in which it does it. Every pass keeps the
meaning of the program; "legal" says what it makes sure of first. `vyre opt --passes NAME` runs one
of them alone, and `explain` tells of each why it ran or not, what it changed and what that saved.
The [passes of the CPU backend](reference/cpu-passes.md) follow them there.

Passes run phase by phase, and all phases again until nothing changes. Which passes a program gets
depends on the profile, on the family's threshold, on hot-path hints and on earlier reports:

| family | runs when |
| --- | --- |
| scalar, sync, unknown | always |
| loop | the program has 12 statements or more |
| memory | its buffers take 16 384 bytes or more |
| fusion | it has 2 regions or more at the top level |
| dataflow | it has 64 statements or more |
| megakernel | it has 512 statements or more |
| any | the program is hot, an earlier report shows that it pays, or another pass requires it |
"""


def passes_page() -> str:
    """The text of docs/passes.md."""
    lines = [_HEAD]
    own = [p for p in in_order(registered_passes()) if type(p).__module__.startswith("vyre.")]
    for phase in PassPhase:
        members = [each for each in own if each.metadata.phase is phase]
        if members:
            lines.append(f"## {phase.name.replace('_', ' ').capitalize()}\n")
            lines += [_entry(each) for each in members]
    lines.append(_rules())
    return "\n".join(lines)


def _entry(each: Pass) -> str:
    does, legal = each.describe()
    row = each.metadata
    facts = [f"family {row.cost_model_family}"]
    if row.requires_caps:
        facts.append("needs " + ", ".join(row.requires_caps))
    if row.boundary_class.value != "abi_preserving":
        facts.append(row.boundary_class.value.replace("_", " "))
    return f"### {row.name}\n\n{does} {legal}\n\n*{'; '.join(facts)}*\n"


def _rules() -> str:
    total = sum(len(rules) for rules in TABLES.values())
    lines = [
        "## Rules\n",
        f"`simplify` and `reduce_strength` apply {total} rules. `make prove` proves them all.\n",
    ]
    for name, rules in TABLES.items():
        lines.append(f"### {name.replace('_', ' ').capitalize()}\n")
        lines.append("```")
        lines += [str(rule) for rule in rules]
        lines.append("```\n")
    return "\n".join(lines)
