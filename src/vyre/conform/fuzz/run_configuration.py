"""How a program is compiled and run on a device; the settings are a function of the seed."""

from __future__ import annotations

from vyre.conform.fuzz.guard_pages import Side
from vyre.record import dataclass

PROFILES: tuple[str | None, ...] = ("release", None, "debug", "dataflow", "megakernel")
"""What programs are optimised with; None does not optimise."""
_TIERS = (*(*["quick", "brisk"] * 2, "auto", "short", "full") * 4, "quick", "brisk", "hot")
"""How much effort the backend spends. A quick translation takes a fifth of a full one's time, so
most programs get that; every third looks for what only an optimising backend turns into a wrong
result."""
_FENCED: tuple[Side, Side] = ("before", "behind")
_SIDES: tuple[Side | None, ...] = (*_FENCED, *_FENCED, *_FENCED, "behind", None)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to compile and run a program."""

    profile: str | None = "release"
    """The optimizer's profile; None runs no pass."""
    tier: str = "auto"
    """The effort of the backend."""
    side: Side | None = None
    """The side on which buffers touch a forbidden page; None for ordinary memory."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it is counted under; all but the first mean something only on host memory."""
        memory = "plain memory" if self.side is None else "guard pages"
        return f"profile {self.profile or 'none'}", f"tier {self.tier}", memory


def way_of(number: int) -> Way:
    """The way of a program, by its number."""
    # Every other program is optimised as users have it, the rest take turns. The other settings
    # change more slowly, so that each meets each.
    profile = "release" if number % 2 else PROFILES[number // 2 % len(PROFILES)]
    turn = number // 10
    return Way(profile, _TIERS[turn % len(_TIERS)], _SIDES[(turn + number) % len(_SIDES)])
