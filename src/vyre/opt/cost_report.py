"""Cost reports: what a full run on a hot program found out, for its next compilations.

Of the passes that selection grants a hot program most change nothing in it. A cost report names
those that did, so that the next compilation runs them alone: the same rounds, without the passes
that look in vain. What it names is only a hint. The report has the digest of the program that they
led to, and where they lead to another one, all passes run.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Self, cast

from vyre.cache import code_stamp
from vyre.ir import Program
from vyre.opt.report import OptimizerRunReport
from vyre.opt.selection_reasons import PassSelectionReason
from vyre.record import dataclass
from vyre.signals import is_from_handler
from vyre.target import Target

_FORMAT = "vyre-cost-report-1"
_FULL = (PassSelectionReason.HOT_PATH_TELEMETRY, PassSelectionReason.PROFILE_REJECTED)


class PassCost(NamedTuple):
    """What one pass did in all rounds of a run."""

    name: str
    changed: int
    """Rounds in which it changed the program."""
    saved: int
    """The greatest reduction of any figure."""
    runtime_ns: int


@dataclass(frozen=True, slots=True)
class CostReport:
    """The passes of a full run on a hot program, and the program that they led to."""

    made_by: str
    """The stamp of the code that ran them."""
    source: str
    """The digest of the program."""
    target: str
    profile: str
    result: str
    """The digest of the optimised program."""
    passes: tuple[PassCost, ...]

    @classmethod
    def of(cls, report: OptimizerRunReport, source: Program, target: Target) -> Self | None:
        """The report of a run, if that was a full one on a hot program."""
        decisions = report.decisions
        if not decisions or any(each.reason not in _FULL for each in decisions):
            return None
        costs: dict[str, PassCost] = {}
        for row in report.passes:
            before = costs.get(row.pass_name) or PassCost(row.pass_name, 0, 0, 0)
            costs[row.pass_name] = PassCost(
                row.pass_name,
                before.changed + row.changed,
                max(before.saved, row.cost_reduction),
                before.runtime_ns + row.runtime_ns,
            )
        return cls(
            code_stamp(),
            source.digest(),
            target.key(),
            report.profile,
            report.program.digest(),
            tuple(costs.values()),
        )

    def is_of(self, program: Program, target: Target | None, profile: str) -> bool:
        """Whether it tells of this program, with this target, profile and compiler."""
        return (
            target is not None
            and self.made_by == code_stamp()
            and self.target == target.key()
            and self.profile == profile
            and self.source == program.digest()
        )

    @property
    def changing(self) -> frozenset[str]:
        """The passes that changed the program."""
        return frozenset(cost.name for cost in self.passes if cost.changed)

    def to_bytes(self) -> bytes:
        """The report as bytes that `from_bytes` reads back."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in _NAMES}
        return json.dumps({"format": _FORMAT, **fields, "passes": self.passes}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self | None:
        """What `to_bytes` wrote; None for anything else."""
        try:
            found = cast("dict[str, Any]", json.loads(data))
            if found["format"] != _FORMAT:
                return None
            rows = [PassCost(str(row[0]), *(int(n) for n in row[1:])) for row in found["passes"]]
            return cls(*(str(found[name]) for name in _NAMES), passes=tuple(rows))
        except (
            KeyError,
            TypeError,
            ValueError,
            IndexError,
            OverflowError,
            RecursionError,
        ) as problem:
            if is_from_handler(problem):
                raise
            return None


_NAMES = ("made_by", "source", "target", "profile", "result")

__all__ = ["CostReport", "PassCost"]
