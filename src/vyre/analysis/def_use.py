"""Def-use: for every variable, where it is bound, assigned and read.

    du = DefUse.of(program)
    du.variables                    bindings, as positions of their Let or Loop
    du.reads(binding)               positions that read the variable, with repetition
    du.assigns(binding)             positions that assign it
    du.is_constant(binding)         nothing assigns it after its binding
    du.resolve(name, position)      the binding that a name means at a place

A variable is told from others of the same name by the position of its binding.
"""

from __future__ import annotations

from vyre.analysis.facts import ProgramFacts
from vyre.ir import AnyExpr, Let, Program


class DefUse:
    """Where the variables of a program are used; get it with `DefUse.of`."""

    __slots__ = ("_assigns", "_reads", "facts", "variables")

    def __init__(self, program: Program) -> None:
        self.facts = ProgramFacts.of(program)
        self.variables = sorted(
            row.position for row in (*self.facts.lets, *self.facts.loop_variables)
        )
        self._reads: dict[int, list[int]] = {binding: [] for binding in self.variables}
        self._assigns: dict[int, list[int]] = {binding: [] for binding in self.variables}
        for rows, table in (
            (self.facts.variable_reads, self._reads),
            (self.facts.assigns, self._assigns),
        ):
            for position, name in rows:
                binding = self.facts.binding(name, position)
                if binding is not None:
                    table[binding].append(position)

    @staticmethod
    def of(program: Program) -> DefUse:
        """The uses of a program's variables, computed once per program object."""
        return program.memo(DefUse, DefUse)

    def resolve(self, name: str, position: int) -> int | None:
        """The binding that `name` means in the statement at `position`."""
        return self.facts.binding(name, position)

    def reads(self, binding: int) -> list[int]:
        """The statements that read the variable, once per occurrence, in the order of the text."""
        return self._reads[binding]

    def assigns(self, binding: int) -> list[int]:
        """The statements that assign the variable after its binding, in the order of the text."""
        return self._assigns[binding]

    def is_constant(self, binding: int) -> bool:
        """Whether the variable keeps its first value; in a loop, until it is bound again."""
        return not self._assigns[binding]

    def value(self, binding: int) -> AnyExpr | None:
        """The first value of a variable; None for loop variables."""
        statement = self.facts.statements[binding]
        return statement.value if isinstance(statement, Let) else None
