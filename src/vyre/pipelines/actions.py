"""What the walker hands the stages of a pipeline to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from vyre.diagnostics import Span, VyreError
from vyre.ir import DataType
from vyre.pipelines import tree
from vyre.pipelines.loops import Flags, Repeats
from vyre.pipelines.stages import Site
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel

Launch = tuple[int, ...] | None
"""Extents of `grid=` or `elements=`."""


@dataclass(frozen=True, slots=True)
class Size:
    """What `vy.at_most` says of the length of scratch."""

    most: int
    start: int


class Actions(Flags, Protocol):
    """What is done with the stages of a pipeline. Arrays are its own; they have a `shape`."""

    @property
    def repeats(self) -> Repeats | None:
        """What runs iterations later or again; None if each is run when it comes."""
        ...

    def scratch(self, name: str, dtype: DataType, shape: tuple[int, ...]) -> Any:
        """A new array of zeros."""
        ...

    def counted_scratch(self, made: tree.Scratch, dtype: DataType, size: Size, count: Any) -> Any:
        """Room for as many elements as the array `count` says, as `CountedScratch`."""
        ...

    def launch(
        self,
        kernel: Kernel[...],
        given: Mapping[str, Any],
        grid: Launch,
        elements: Launch,
        site: Site,
    ) -> None:
        """Run a kernel."""
        ...

    def copy(self, source: Any, target: Any) -> None:
        """Copy an array to another."""
        ...

    def keep(self, name: str, array: Any) -> None:
        """Leave an array in memory."""
        ...

    def choose(self, flag: Any, span: Span) -> tuple[Any, Any] | None:
        """Words that say which branch has effects, for `Decides`; None if the host decides."""
        ...


class Decides(Actions, Protocol):
    """Actions whose branches are gone through before it is known which is taken."""

    def enter(self, word: Any) -> None:
        """Let what follows have effects only if a word is set."""
        ...

    def leave(self, word: Any) -> None:
        """End what `enter` began."""
        ...

    def matters(self, word: Any, problem: VyreError) -> bool:
        """True if a branch with a problem is taken, or if nothing runs."""
        ...
