"""What happened in one run of the optimizer: a row per pass per round, and how to keep it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from vyre.cache import code_stamp
from vyre.diagnostics import OptimizerError, VyreError
from vyre.diagnostics.codes import optimizer as codes
from vyre.ir import Program
from vyre.opt.files import write_atomically
from vyre.opt.measure import NO_FIGURES, Figures
from vyre.opt.metadata import PassRefusalKind, PassRunDecision
from vyre.record import dataclass
from vyre.signals import is_from_handler

if TYPE_CHECKING:
    from vyre.extensions import Missing
    from vyre.opt.selection import PassSelectionDecision

_FORMAT = "vyre-optimizer-report-2"

MEASURED = (
    "nodes",
    "static_storage_bytes",
    "instruction_count",
    "memory_op_count",
    "atomic_op_count",
    "barrier_count",
    "control_flow_count",
    "register_pressure",
    "ir_heap_allocations",
    "ir_heap_bytes",
)
"""The figures of which less is better."""


class PassRunMetric(NamedTuple):
    """One pass in one round."""

    iteration: int
    pass_name: str
    changed: bool
    decision: PassRunDecision
    refusal_kind: PassRefusalKind | None = None
    required_analyses: tuple[str, ...] = ()
    declared_invalidations: tuple[str, ...] = ()
    fact_substrate_reused: bool = False
    fact_substrate_recomputed: bool = False
    fact_substrate_invalidated: bool = False
    before: Figures = NO_FIGURES
    after: Figures = NO_FIGURES
    runtime_ns: int = 0
    rewrites: int = 0
    """How many places the pass says it improved."""
    research_trace: tuple[str, ...] | None = None
    """The pass's own account: which rewrites it refused and why, or why it was skipped."""

    @property
    def ran(self) -> bool:
        """True if it was not skipped or refused."""
        return self.decision in _RAN

    def reduction(self, figure: str) -> int:
        """How much less there is of a figure after the pass; negative when there is more."""
        return getattr(self.before, figure) - getattr(self.after, figure)

    @property
    def cost_reduction(self) -> int:
        """The greatest reduction of any figure; 0 when nothing changed."""
        return max(map(self.reduction, MEASURED)) if self.changed else 0


_RAN = (PassRunDecision.CHANGED, PassRunDecision.RAN_UNCHANGED)


@dataclass(frozen=True, slots=True)
class OptimizerRunReport:
    """The optimised program, and every decision on the way to it."""

    program: Program
    passes: tuple[PassRunMetric, ...] = ()
    decisions: tuple[PassSelectionDecision, ...] = field(default=(), compare=False)
    """Why each pass was chosen or not; kept for `explain`, not in files."""
    profile: str = ""
    target: str = ""
    missing: tuple[Missing, ...] = field(default=(), compare=False)
    """Passes of installed packages that could not be used; kept for `explain`, not in files."""
    made_by: str | None = field(default=None, compare=False)
    """The stamp of the code that wrote it, if it was read from a file."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "passes", tuple(self.passes))

    @property
    def iterations(self) -> int:
        """How many rounds were made."""
        return max((row.iteration for row in self.passes), default=-1) + 1

    @property
    def changed(self) -> bool:
        """Whether any pass changed the program."""
        return any(row.changed for row in self.passes)

    def rows_of(self, pass_name: str) -> tuple[PassRunMetric, ...]:
        """The rows of one pass, round by round."""
        return tuple(row for row in self.passes if row.pass_name == pass_name)

    def cost_reducing_passes(self) -> frozenset[str]:
        """The passes that made some figure smaller in some round."""
        return frozenset(row.pass_name for row in self.passes if row.cost_reduction > 0)

    @property
    def is_evidence(self) -> bool:
        """Whether the passes that it tells of are those that there are now.

        What another vyre saved, or one with other passes, does not decide which passes run.
        """
        return self.made_by is None or self.made_by == code_stamp()

    def to_json(self) -> str:
        """The report as text that `from_json` reads back."""
        import json

        return json.dumps(
            {
                "format": _FORMAT,
                "program": str(self.program),
                "profile": self.profile,
                "target": self.target,
                "made_by": code_stamp() if self.made_by is None else self.made_by,
                "passes": [_to_json(row) for row in self.passes],
            }
        )

    @classmethod
    def from_json(cls, text: str, where: str = "this text") -> Self:
        """The report that `to_json` wrote."""
        import json

        try:
            found = cast("object", json.loads(text))
        except ValueError as error:
            if is_from_handler(error):
                raise
            raise _bad(where, str(error)) from None
        if not isinstance(found, dict) or cast("dict[str, Any]", found).get("format") != _FORMAT:
            raise _bad(where, f"it is not marked {_FORMAT}")
        data = cast("dict[str, Any]", found)
        try:
            program = Program.parse(data["program"], where)
            rows = _rows(data["passes"])
            made_by = str(data["made_by"])
            profile, target = str(data["profile"]), str(data["target"])
            return cls(program, rows, (), profile, target, made_by=made_by)
        except (KeyError, TypeError, ValueError) as error:
            if is_from_handler(error):
                raise
            raise _bad(where, f"{type(error).__name__} {error}") from None
        except VyreError as error:
            raise _bad(where, error.diagnostics[0].message) from error

    def save(self, path: Path | str) -> None:
        """Keep the report for the next compilation."""
        write_atomically(str(path), self.to_json())

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The report that `save` kept."""
        try:
            text = Path(path).read_text()
        except OSError as error:
            if is_from_handler(error):
                raise
            raise _bad(str(path), str(error)) from None
        return cls.from_json(text, str(path))


def _to_json(row: PassRunMetric) -> dict[str, Any]:
    found = row._asdict()
    for when in ("before", "after"):
        figures: Figures = found.pop(when)
        found.update({f"{name}_{when}": value for name, value in figures._asdict().items()})
    return {**found, "ran": row.ran}


def _rows(found: Iterable[dict[str, Any]]) -> tuple[PassRunMetric, ...]:
    rows: list[PassRunMetric] = []
    for each in found:
        fields_of_row = {**each}
        del fields_of_row["ran"]
        refusal = fields_of_row["refusal_kind"]
        trace = fields_of_row["research_trace"]
        changes: dict[str, Any] = {
            when: Figures(**{n: fields_of_row.pop(f"{n}_{when}") for n in Figures._fields})
            for when in ("before", "after")
        }
        changes |= {
            "decision": PassRunDecision(fields_of_row["decision"]),
            "refusal_kind": None if refusal is None else PassRefusalKind(refusal),
            "required_analyses": tuple(fields_of_row["required_analyses"]),
            "declared_invalidations": tuple(fields_of_row["declared_invalidations"]),
            "research_trace": None if trace is None else tuple(trace),
        }
        rows.append(PassRunMetric(**{**fields_of_row, **changes}))
    return tuple(rows)


def _bad(where: str, problem: str) -> OptimizerError:
    return OptimizerError(codes.BAD_REPORT.at(where=where, problem=problem))
