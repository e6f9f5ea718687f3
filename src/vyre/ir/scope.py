"""Scopes: which names are visible, while code walks down a program.

Bodies of if, loop, block and region each open a scope. A name is bound once in the scopes that are
visible to it, so one flat table with an undo list is enough, and lookups cost one dictionary read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from vyre.ir.buffer import BufferDecl
from vyre.ir.infer import TypeEnv
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.record import dataclass


@dataclass(slots=True)
class Scope:
    """The names visible at the place where a walk stands."""

    buffers: dict[str, BufferDecl]
    variables: dict[str, DataType] = field(default_factory=dict[str, DataType])
    immutable: set[str] = field(default_factory=set[str])
    _frames: list[list[str]] = field(default_factory=lambda: [[]])

    @classmethod
    def of(cls, program: Program) -> Scope:
        """The outermost scope of a program."""
        return cls({decl.name: decl for decl in program.buffers})

    @property
    def env(self) -> TypeEnv:
        """The names as type inference wants them; it follows this scope as it changes."""
        return TypeEnv(self.buffers, self.variables)

    def bind(self, name: str, dtype: DataType, *, mutable: bool = True) -> None:
        """Make a name visible until its scope is left."""
        self.variables[name] = dtype
        if not mutable:
            self.immutable.add(name)
        self._frames[-1].append(name)

    @contextmanager
    def inner(self) -> Iterator[None]:
        """A scope inside this one."""
        self._frames.append([])
        try:
            yield
        finally:
            for name in self._frames.pop():
                self.variables.pop(name, None)
                self.immutable.discard(name)
