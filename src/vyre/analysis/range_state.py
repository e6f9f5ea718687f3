"""What is known at one place of a walk: values of variables, and facts that guards established.

Every change is written in a journal, so that a walk can go into one arm of an if, take the changes
back, and go into the other. Each assignment gives its variable a new version; a fact about an
expression names the versions it was learned with, and is void when one of them is gone.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from vyre.analysis.effects import is_movable, reads_memory
from vyre.analysis.symbolic_bounds import Bounded
from vyre.ir import AnyExpr, Var
from vyre.ir.walk import variables_of
from vyre.record import dataclass

Key = str | AnyExpr
Stamps = tuple[tuple[str, int], ...]
_ABSENT: Any = object()


@dataclass(slots=True)
class RangeState:
    """What is known now."""

    variables: dict[str, tuple[Bounded, int]] = field(
        default_factory=dict[str, tuple[Bounded, int]]
    )
    """By name: the value and its version."""
    facts: dict[AnyExpr, tuple[Bounded, Stamps]] = field(
        default_factory=dict[AnyExpr, tuple[Bounded, Stamps]]
    )
    """By expression: what a guard says of it."""
    conditions: dict[str, tuple[int, AnyExpr, Stamps]] = field(
        default_factory=dict[str, tuple[int, AnyExpr, Stamps]]
    )
    """By name of a bool: its version and the condition it was bound to."""
    _journal: list[tuple[Key, Any]] = field(default_factory=list[tuple[Key, Any]])
    _versions: int = 0

    def assign(self, name: str, value: Bounded) -> None:
        """Give a variable a new value."""
        self._versions += 1
        self._put(name, (value, self._versions))

    def forget(self, name: str) -> None:
        """Leave the scope of a variable."""
        self.variables.pop(name, None)

    def remember_condition(self, name: str, condition: AnyExpr) -> None:
        """Note what a bool variable stands for, so that testing it tells as much."""
        stamps = self.stamps(condition)
        if stamps is not None:
            self.conditions[name] = (self.variables[name][1], condition, stamps)

    def condition_of(self, name: str) -> AnyExpr | None:
        """What a bool variable stands for, if that still holds."""
        known = self.conditions.get(name)
        if known is None or name not in self.variables:
            return None
        version, condition, stamps = known
        valid = self.variables[name][1] == version and self.holds(stamps)
        return condition if valid else None

    def learn(self, expr: AnyExpr, value: Bounded) -> None:
        """Note what a guard says of a variable or of an expression."""
        if isinstance(expr, Var):
            known = self.variables.get(expr.name)
            if known is not None:
                self._put(expr.name, (value, known[1]))
            return
        stamps = self.stamps(expr)
        if stamps is not None:
            self._put(expr, (value, stamps))

    def stamps(self, expr: AnyExpr) -> Stamps | None:
        """The versions of the variables in an expression; None if it depends on more than those."""
        if not is_movable(expr) or reads_memory(expr):
            return None
        names = variables_of(expr)
        if not names <= self.variables.keys():
            return None
        return tuple((name, self.variables[name][1]) for name in names)

    def holds(self, stamps: Stamps) -> bool:
        """Whether all these versions are current."""
        variables = self.variables
        return all(name in variables and variables[name][1] == v for name, v in stamps)

    def fact(self, expr: AnyExpr) -> Bounded | None:
        """What a guard said of an expression, if that still holds."""
        known = self.facts.get(expr)
        return known[0] if known is not None and self.holds(known[1]) else None

    def mark(self) -> int:
        """A place in the journal to come back to."""
        return len(self._journal)

    def changes_since(self, mark: int) -> dict[Key, Any]:
        """The present state of all that changed since `mark`."""
        return {key: self._get(key) for key, _ in self._journal[mark:]}

    def take_back(self, mark: int) -> None:
        """Undo all changes since `mark`."""
        while len(self._journal) > mark:
            key, before = self._journal.pop()
            table: dict[Any, Any] = self.variables if isinstance(key, str) else self.facts
            if before is _ABSENT:
                table.pop(key, None)
            else:
                table[key] = before

    def apply(self, changes: dict[Key, Any]) -> None:
        """Make changes that were taken back once more."""
        for key, value in changes.items():
            if value is not _ABSENT:
                self._put(key, value)

    def _get(self, key: Key) -> Any:
        table: dict[Any, Any] = self.variables if isinstance(key, str) else self.facts
        return table.get(key, _ABSENT)

    def _put(self, key: Key, value: Any) -> None:
        self._journal.append((key, self._get(key)))
        table: dict[Any, Any] = self.variables if isinstance(key, str) else self.facts
        table[key] = value
