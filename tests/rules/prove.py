"""`make prove`: every rule, for every choice of types, with the time it took.

    python -m tests.rules.prove [TABLE ...]

Lists each rule with the widths it was proved at, then refutes broken copies: of every guarded rule
one without its guard, of every rule one with a spoilt right side. Ends with 1 if a rule is not
proved, a guard can never hold, or a broken copy is not refuted.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.rules.prover import (
    Proof,
    Verdict,
    guard_can_hold,
    prove,
    representative,
    with_wrong_result,
    without_guard,
)
from vyre.opt.rules import TABLES
from vyre.rewrite.rule import Rule


@dataclass
class Tally:
    verdicts: Counter[Verdict] = field(default_factory=Counter[Verdict])
    rules: int = 0
    guards: int = 0
    refuted_guards: int = 0
    refuted_results: int = 0
    problems: list[str] = field(default_factory=list[str])


def main() -> int:
    chosen = sys.argv[1:] or list(TABLES)
    tally = Tally()
    start = time.perf_counter()
    for name in chosen:
        print(f"\n{name}")
        for rule in TABLES[name]:
            _one(rule, tally)
    elapsed = time.perf_counter() - start
    counts = ", ".join(f"{count} {verdict}" for verdict, count in tally.verdicts.items())
    print(f"\n{tally.rules} rules, {sum(tally.verdicts.values())} choices of types: {counts}")
    print(f"{tally.refuted_guards} of {tally.guards} rules without their guard are refuted")
    print(f"{tally.refuted_results} of {tally.rules} rules with a spoilt result are refuted")
    print(f"{elapsed:.0f} s")
    for problem in tally.problems:
        print(f"PROBLEM {problem}")
    return 1 if tally.problems else 0


def _one(rule: Rule, tally: Tally) -> None:
    tally.rules += 1
    proofs = [prove(rule, binding) for binding in rule.bindings]
    for proof in proofs:
        tally.verdicts[proof.verdict] += 1
        if not proof.good:
            tally.problems.append(f"{rule} ({proof.types}): {proof.verdict} {proof.witness}")
    print(f"  {rule.name:<24}{_widths(rule, proofs):<44}{sum(p.seconds for p in proofs):7.2f} s")
    first = next(representative(rule))
    if rule.when is not None:
        tally.guards += 1
        if not all(guard_can_hold(rule, binding) for binding in representative(rule)):
            tally.problems.append(f"{rule}: its guard can never hold")
        if without_guard(rule, first).verdict is Verdict.REFUTED:
            tally.refuted_guards += 1
        else:
            tally.problems.append(f"{rule}: not refuted without its guard")
    if with_wrong_result(rule, first).verdict is Verdict.REFUTED:
        tally.refuted_results += 1
    else:
        tally.problems.append(f"{rule}: not refuted with a spoilt result")


def _widths(rule: Rule, proofs: list[Proof]) -> str:
    """The types with their verdicts, in short: widths that all went the same way are joined."""
    by_verdict: dict[Verdict, set[str]] = {}
    for binding, proof in zip(rule.bindings, proofs, strict=True):
        kinds = {str(dtype) for dtype in binding.values()}
        label = "/".join(sorted(kinds)) if len(binding) == 1 else f"{len(binding)} types"
        by_verdict.setdefault(proof.verdict, set()).add(label)
    parts: list[str] = []
    for verdict, labels in by_verdict.items():
        parts.append(f"{verdict} {_joined(labels)}")
    return "; ".join(parts)


def _joined(labels: set[str]) -> str:
    integers = {label[1:] for label in labels if label[0] in "iu"}
    others = sorted(label for label in labels if label[0] not in "iu")
    return " ".join([*sorted(integers, key=int), *others])


if __name__ == "__main__":
    sys.exit(main())
