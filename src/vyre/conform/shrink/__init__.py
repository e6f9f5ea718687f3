"""Make a failing program small: `shrink` keeps removing things while the failure stays.

Every step keeps the program valid, terminating and free of races, so what is left at the end fails
for the reason the whole program failed for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vyre.conform.generate import GeneratedCase
from vyre.conform.shrink.data import data_steps
from vyre.conform.shrink.expressions import expression_steps
from vyre.conform.shrink.order import is_ordered
from vyre.conform.shrink.statements import statement_steps
from vyre.diagnostics import Severity

__all__ = ["shrink"]

Steps = Callable[[GeneratedCase, int], Iterator[GeneratedCase] | None]
"""The smaller cases that differ from a case at one position; None past the last position."""

_ALL_STEPS: tuple[Steps, ...] = (statement_steps, expression_steps, data_steps)


def shrink(
    case: GeneratedCase, fails: Callable[[GeneratedCase], bool], attempts: int = 5000
) -> GeneratedCase:
    """The smallest case found for which `fails` still says yes, after at most `attempts`.

    `fails` must say yes for `case` itself; it is asked about valid programs only.
    """
    search = _Search(fails, attempts)
    before = None
    while case is not before and search.attempts > 0:
        before = case
        for steps in _ALL_STEPS:
            case = search.along(case, steps)
    return case


class _Search:
    """What remains of the tries, and how one is made."""

    def __init__(self, fails: Callable[[GeneratedCase], bool], attempts: int) -> None:
        self._fails = fails
        self.attempts = attempts

    def along(self, case: GeneratedCase, steps: Steps) -> GeneratedCase:
        """Take every step that keeps the failure, from the first position to the last."""
        position = 0
        while self.attempts > 0 and (smaller := steps(case, position)) is not None:
            accepted = next((one for one in smaller if self._still_fails(one)), None)
            if accepted is None:
                position += 1
            else:
                case = accepted
        return case

    def _still_fails(self, case: GeneratedCase) -> bool:
        if self.attempts <= 0:
            return False
        found = case.program.check()
        valid = not any(diagnostic.severity is Severity.ERROR for diagnostic in found)
        if not valid or not is_ordered(case.program):
            return False
        self.attempts -= 1
        return self._fails(case)
