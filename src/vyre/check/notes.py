"""What the walk over the statements writes down for the checks that follow it."""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.record import dataclass
from vyre.target import Feature


@dataclass(slots=True)
class Notes:
    """Positions of what only makes sense in the light of the whole program."""

    barriers: list[tuple[int, ir.Barrier]] = field(default_factory=list[tuple[int, ir.Barrier]])
    """Workgroup barriers."""
    grid_syncs: list[int] = field(default_factory=list[int])
    """Grid syncs and collectives that stand where they may."""
    subgroup_ops: list[tuple[int, ir.AnyExpr]] = field(default_factory=list[tuple[int, ir.AnyExpr]])
    round_conditions: set[int] = field(default_factory=set[int])
    """Whiles with subgroup operations in their conditions, which every round evaluates."""
    copies: list[tuple[int, ir.AsyncLoad | ir.AsyncStore]] = field(
        default_factory=list[tuple[int, ir.AsyncLoad | ir.AsyncStore]]
    )
    waits: list[tuple[int, ir.AsyncWait]] = field(default_factory=list[tuple[int, ir.AsyncWait]])
    trap_tags: set[str] = field(default_factory=set[str])
    resumes: list[tuple[int, ir.Resume]] = field(default_factory=list[tuple[int, ir.Resume]])
    opaques: list[tuple[int, ir.Opaque]] = field(default_factory=list[tuple[int, ir.Opaque]])
    features: dict[Feature, tuple[int, str]] = field(default_factory=dict[Feature, tuple[int, str]])
    """The first place that needs a feature, and what needs it there."""
    oversized: set[int] = field(default_factory=set[int])
    """Statements with expressions that nothing should write out or walk through."""
    statements: int = 0

    def need(self, feature: Feature, position: int, what: str) -> None:
        """Write down that something needs a feature."""
        if feature not in self.features:
            self.features[feature] = (position, what)

    @property
    def needs_uniformity(self) -> bool:
        """Whether anything here must be reached by all invocations alike."""
        return bool(
            self.barriers or self.grid_syncs or self.subgroup_ops or self.copies or self.waits
        )
