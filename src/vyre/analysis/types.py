"""The types of variables and expressions of a sound program, by position or by unique name.

types = VariableTypes.of(program)
types.variable(binding)            the type of the variable a Let or Loop binds
types.of_expr(expr, position)      the type of an expression in the statement at `position`
variable_types(program)            by name, of a program that has gone through `with_unique_names`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vyre import ir
from vyre.analysis.facts import ProgramFacts
from vyre.ir.walk import bodies


class VariableTypes:
    """The types of one program's variables; get them with `VariableTypes.of`."""

    def __init__(self, program: ir.Program) -> None:
        self._facts = ProgramFacts.of(program)
        self._buffers = {decl.name: decl for decl in program.buffers}
        self._types: dict[int, ir.DataType] = {}
        # In the order of the text, so that every variable's type rests on types already known.
        for row in sorted([*self._facts.lets, *self._facts.loop_variables]):
            statement = self._facts.statements[row.position]
            if isinstance(statement, ir.Let):
                self._types[row.position] = self.of_expr(statement.value, row.position)
            elif isinstance(statement, ir.Loop):
                self._types[row.position] = self.of_expr(statement.start, row.position)

    @staticmethod
    def of(program: ir.Program) -> VariableTypes:
        """The types of a program's variables, computed once per program object."""
        return program.memo(VariableTypes, VariableTypes)

    def variable(self, binding: int) -> ir.DataType:
        """The type of the variable that the Let or Loop at `binding` binds."""
        return self._types[binding]

    def visible(self, name: str, position: int) -> ir.DataType | None:
        """The type of what `name` means at `position`."""
        binding = self._facts.binding(name, position)
        return None if binding is None else self._types.get(binding)

    def of_expr(self, expr: ir.AnyExpr, position: int) -> ir.DataType:
        """The type of an expression in the statement at `position`."""
        return ir.type_of(expr, ir.TypeEnv(self._buffers, _At(self, position)))


class _At(Mapping[str, ir.DataType]):
    """The variables visible at one statement, looked up as they are asked for."""

    __slots__ = ("_position", "_types")

    def __init__(self, types: VariableTypes, position: int) -> None:
        self._types = types
        self._position = position

    def __getitem__(self, name: str) -> ir.DataType:
        found = self._types.visible(name, self._position)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def variable_types(program: ir.Program) -> dict[str, ir.DataType]:
    """The type of every variable of a program whose names are unique."""
    scope = ir.Scope.of(program)
    env = scope.env

    def visit(statements: Iterable[ir.AnyStmt]) -> None:
        for statement in statements:
            if isinstance(statement, ir.Let):
                scope.variables[statement.name] = ir.type_of(statement.value, env)
            elif isinstance(statement, ir.Loop):
                scope.variables[statement.var] = ir.type_of(statement.start, env)
            for body in bodies(statement):
                visit(body)

    visit(program.entry)
    return scope.variables
