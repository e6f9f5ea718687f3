"""What the conformance suite found out about a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from vyre.record import dataclass

_SHOWN = 20
"""Failures that are shown to people."""


@dataclass(slots=True)
class AreaResult:
    """One area: how many cases held, how many did not, how many the device does not offer."""

    passed: int = 0
    failed: int = 0
    not_offered: int = 0
    programs: int = 0
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        """Cases that were tried."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class Failure:
    """Cases that did not hold."""

    area: str
    trial: str
    label: str
    problem: str
    cases: int = 1
    reproducer: str = ""
    """The folder that replays it with `vyre run`, if one was kept."""

    def __str__(self) -> str:
        """One line for people."""
        where = f"\n  replay: vyre run {self.reproducer}" if self.reproducer else ""
        problem = self.problem.split("\n")[0]
        return f"{self.area}: {self.label}: {problem}{where}"


@dataclass(slots=True)
class ConformanceReport:
    """The answer of `vyre.conform.run`."""

    device: str
    name: str
    features: tuple[str, ...]
    profile: str
    areas: dict[str, AreaResult] = field(default_factory=dict[str, AreaResult])
    failures: list[Failure] = field(default_factory=list[Failure])
    missing: dict[str, int] = field(default_factory=dict[str, int])
    """What the device does not offer, and how many cases need it."""

    @property
    def ok(self) -> bool:
        """Whether every case that was tried held, and some were tried."""
        return not self.failures and self.cases > 0

    @property
    def cases(self) -> int:
        """Cases that were tried."""
        return sum(area.cases for area in self.areas.values())

    @property
    def passed(self) -> int:
        """Cases that held."""
        return sum(area.passed for area in self.areas.values())

    @property
    def seconds(self) -> float:
        """How long it took."""
        return sum(area.seconds for area in self.areas.values())

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "device": self.device,
            "name": self.name,
            "features": list(self.features),
            "profile": self.profile,
            "ok": self.ok,
            "cases": self.cases,
            "passed": self.passed,
            "seconds": round(self.seconds, 3),
            "areas": {name: asdict(area) for name, area in self.areas.items()},
            "not_offered": dict(self.missing),
            "failures": [asdict(failure) for failure in self.failures],
        }

    def table(self) -> str:
        """Plain lines for people: counts per area, what is missing, what failed."""
        lines = [
            f"{self.device} ({self.name}), optimizer profile {self.profile}",
            f"{'area':<16}{'cases':>9}{'passed':>9}{'failed':>8}{'not offered':>13}{'time':>9}",
        ]
        for name, area in self.areas.items():
            lines.append(
                f"{name:<16}{area.cases:>9,}{area.passed:>9,}{area.failed:>8,}"
                f"{area.not_offered:>13,}{area.seconds:>7.1f} s"
            )
        lines.append(f"{'all':<16}{self.cases:>9,}{self.passed:>9,}{self.cases - self.passed:>8,}")
        lines += [f"not offered: {what} ({count:,} cases)" for what, count in self.missing.items()]
        lines += [f"FAILED {failure}" for failure in self.failures[:_SHOWN]]
        if len(self.failures) > _SHOWN:
            lines.append(f"and {len(self.failures) - _SHOWN} more, all of them in the JSON report")
        return "\n".join(lines)


def from_json(data: Mapping[str, Any]) -> ConformanceReport:
    """What `to_json` wrote."""
    return ConformanceReport(
        data["device"],
        data["name"],
        tuple(data["features"]),
        data["profile"],
        {name: AreaResult(**area) for name, area in data["areas"].items()},
        [Failure(**failure) for failure in data["failures"]],
        dict(data["not_offered"]),
    )
