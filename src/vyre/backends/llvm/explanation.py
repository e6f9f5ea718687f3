"""Describes what the CPU backend did: the text of `show("schedule")`."""

from __future__ import annotations

from collections import Counter

from vyre.backends.llvm.emit.module import Generated
from vyre.opt.explanation import summarize


def explain(generated: Generated) -> str:
    """The effective passes, the applied techniques, and the tiles of regions."""
    lines = ["cpu passes:", *_passes(generated), "cpu techniques:"]
    lines += [f"  {each.label}: {each.value}" for each in generated.applied] or ["  none"]
    lines.append("regions, in the versions in which they were emitted:")
    for region, versions in Counter(generated.regions).items():
        lines.append(f"  {region}" + (f" ({versions} versions)" if versions > 1 else ""))
    return "\n".join(lines)


def _passes(generated: Generated) -> list[str]:
    """A line per pass that changed the program; why, if none did."""
    summaries = summarize(generated.lowered.report)
    changed = [f"  {each.name}: {each.outcome}" for each in summaries if each.changed]
    return changed or ["  none changed the program"]


__all__ = ["explain"]
