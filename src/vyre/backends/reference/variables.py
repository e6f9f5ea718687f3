"""Names of variables as numbers, and when a variable is needed for the last time.

Numbers are reused when a scope ends. A value is dropped after the statement that mentions its
variable last, so that long programs do not hold an array for every name they ever bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from vyre import ir
from vyre.diagnostics import CheckError, Diagnostic
from vyre.ir.infer import node_type
from vyre.record import dataclass


@dataclass(slots=True)
class _Frame:
    names: list[str] = field(default_factory=list[str])
    statement: int = 0
    last: dict[int, int] = field(default_factory=dict[int, int])


class Variables:
    """The variables that are visible while a program is compiled."""

    def __init__(self, buffers: Mapping[str, ir.BufferDecl]) -> None:
        self._types: dict[str, ir.DataType] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._frames: list[_Frame] = []
        self.env = ir.TypeEnv(buffers, self._types)
        self.count = 0
        """How many numbers are needed."""

    def open(self) -> None:
        """A scope begins."""
        self._frames.append(_Frame())

    def at_statement(self, number: int) -> None:
        """The innermost scope comes to its next statement."""
        self._frames[-1].statement = number

    def close(self) -> dict[int, list[int]]:
        """A scope ends: which variables are needed last by which of its statements."""
        frame = self._frames.pop()
        for name in frame.names:
            del self._types[name], self._places[name]
        ending: dict[int, list[int]] = {}
        for variable, statement in frame.last.items():
            ending.setdefault(statement, []).append(variable)
        return ending

    def bind(self, name: str, dtype: ir.DataType) -> int:
        """A new variable of the innermost scope."""
        number = len(self._places)
        self._types[name] = dtype
        self._places[name] = (number, len(self._frames) - 1)
        frame = self._frames[-1]
        frame.names.append(name)
        frame.last[number] = frame.statement
        self.count = max(self.count, number + 1)
        return number

    def knows(self, name: str) -> bool:
        """Whether a variable is visible."""
        return name in self._places

    def use(self, name: str) -> tuple[int, ir.DataType]:
        """The number and the type of a visible variable."""
        found = self._places.get(name)
        if found is None:
            answer = node_type(ir.Var(name), (), self.env)
            assert isinstance(answer, Diagnostic)
            raise CheckError(answer)
        number, level = found
        frame = self._frames[level]
        frame.last[number] = frame.statement
        return number, self._types[name]
