"""A program as closures: every statement and expression is looked at once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import assert_never

from vyre import ir
from vyre.backends.reference import accesses, control, copies, expressions, printing, wrapping
from vyre.backends.reference.code import Code, Evaluate, Flow, Leaf, Place
from vyre.backends.reference.control import Kind, Step
from vyre.backends.reference.task import Collective, Sync
from vyre.backends.reference.variables import Variables
from vyre.diagnostics import CapabilityError, CheckError
from vyre.diagnostics.codes import execution as codes
from vyre.diagnostics.codes import typing as typing_codes
from vyre.ir.walk import assigned_names, walk_stmts


def compiled(program: ir.Program, *, sanitize: bool = False) -> Code:
    """The program as closures; compiled once for every program object."""
    key = ("reference", sanitize)
    return program.memo(key, lambda found: Compiler(found, sanitize=sanitize).compile())


class Compiler:
    """The state of one compilation."""

    def __init__(self, program: ir.Program, *, sanitize: bool) -> None:
        self.program = program
        self.sanitize = sanitize
        self._buffers = {decl.name: (n, decl) for n, decl in enumerate(program.buffers)}
        self.variables = Variables({decl.name: decl for decl in program.buffers})
        self._places: list[Place] = []
        self._loops = 0
        self.has_subgroups = False
        self.has_acquire = False
        self.watches = sanitize
        """Whether differences that wrap around are looked for: not in indices, where a negative one
        is out of bounds."""
        self.assigned = _assigned(program) if sanitize else frozenset[str]()
        """Variables that get another value after their first."""

    def compile(self) -> Code:
        """The whole program."""
        entry = self._body(self.program.entry, "entry")
        statements = list(walk_stmts(self.program.entry))
        grid_wide = any(_is_grid_wide(statement) for statement in statements)
        found = [s for s in statements if isinstance(s, ir.IndirectDispatch)]
        return Code(
            self.program,
            entry,
            self.variables.count,
            tuple(self._places),
            has_grid_sync=grid_wide,
            has_subgroups=self.has_subgroups,
            has_acquire=self.has_acquire,
            collectives=tuple(s for s in statements if isinstance(s, Collective)),
            indirect=found[0] if found else None,
            sanitized=self.sanitize,
        )

    @property
    def place(self) -> int:
        """The number of the statement that is being compiled."""
        return len(self._places) - 1

    def buffer(self, name: str) -> tuple[int, ir.BufferDecl]:
        """The number and the declaration of a buffer."""
        found = self._buffers.get(name)
        if found is None:
            known = ", ".join(list(self._buffers)[:8]) or "none is declared"
            raise CheckError(typing_codes.UNKNOWN_BUFFER.at(name=name, known=known))
        return found

    @contextmanager
    def unwatched(self) -> Generator[None]:
        """Compile an index."""
        before, self.watches = self.watches, False
        yield
        self.watches = before

    def expression(self, expr: ir.AnyExpr) -> tuple[Evaluate, ir.DataType]:
        """The closure of an expression, and its type."""
        return expressions.expression(self, expr)

    def _body(
        self, statements: ir.Body, path: str, counter: tuple[str, ir.DataType] | None = None
    ) -> Flow:
        return self._scope(statements, path, counter)[0]

    def _scope(
        self, statements: ir.Body, path: str, counter: tuple[str, ir.DataType] | None
    ) -> tuple[Flow, int]:
        """A body in a scope of its own, and the number of the loop variable bound there."""
        self.variables.open()
        bound = -1 if counter is None else self.variables.bind(*counter)
        steps: list[Step] = []
        for number, statement in enumerate(statements):
            self.variables.at_statement(number)
            self._places.append(Place(f"{path}[{number}]", statement))
            steps.append(self._statement(statement))
        return control.body(steps, self.variables.close()), bound

    def _statement(self, statement: ir.AnyStmt) -> Step:
        nested = self._nested(statement)
        if nested is not None:
            return Step(Kind.FLOW, flow=nested)
        if isinstance(statement, (ir.Break, ir.Continue, ir.Return, ir.Trap)):
            return Step(Kind.LEAVE, leaf=self._leaving(statement))
        return Step(Kind.LEAF, leaf=self._leaf(statement))

    def _nested(self, statement: ir.AnyStmt) -> Flow | None:
        """A statement with bodies, or one that waits."""
        path, place = self._places[-1].path, self.place
        match statement:
            case ir.Block(inner) | ir.Region(_, _, inner):
                return self._body(inner, f"{path}.body")
            case ir.If(cond, then, otherwise):
                return control.if_(
                    self.expression(cond)[0],
                    self._body(then, f"{path}.then"),
                    self._body(otherwise, f"{path}.otherwise"),
                )
            case ir.While(cond, inner):
                check = self.expression(cond)[0]
                return control.while_(check, self._loop_body(inner, path, None)[0])
            case ir.Loop(name, start, stop, inner):
                first, dtype = wrapping.operand(self, start)
                end, _ = wrapping.operand(self, stop)
                flow, variable = self._loop_body(inner, path, (name, dtype))
                return control.loop(variable, first, end, flow)
            case ir.Barrier(ordering):
                grid = ordering is ir.MemoryOrdering.GRID_SYNC
                return control.barrier(Sync.GRID if grid else Sync.WORKGROUP, place)
            case ir.AllReduce() | ir.AllGather() | ir.ReduceScatter() | ir.Broadcast():
                return control.barrier(Sync.GRID, place, statement)
            case ir.AsyncWait():
                return copies.wait(self, statement)
            case _:
                return None

    def _loop_body(
        self, statements: ir.Body, path: str, counter: tuple[str, ir.DataType] | None
    ) -> tuple[Flow, int]:
        self._loops += 1
        made = self._scope(statements, f"{path}.body", counter)
        self._loops -= 1
        return made

    def _leaving(self, statement: ir.Break | ir.Continue | ir.Return | ir.Trap) -> Leaf:
        place = self.place
        match statement:
            case ir.Break() | ir.Continue():
                if not self._loops:
                    at = self._places[-1].location
                    raise CheckError(codes.OUTSIDE_LOOP.at(at, what=type(statement).__name__))
                return control.break_ if isinstance(statement, ir.Break) else control.continue_
            case ir.Return():
                return control.return_
            case ir.Trap():
                return lambda task, lanes: task.cohort.world.trap(task, lanes, place)
        assert_never(statement)

    def _leaf(self, statement: ir.AnyStmt) -> Leaf:
        match statement:
            case ir.Let(name, value):
                difference = wrapping.let(self, name, value)
                if difference is not None:
                    return difference
                run, dtype = self.expression(value)
                variable = self.variables.bind(name, dtype)
                return lambda task, lanes: task.let(variable, lanes, run(task, lanes))
            case ir.Assign(name, value):
                run, _ = self.expression(value)
                variable, _ = self.variables.use(name)
                return lambda task, lanes: task.assign(variable, lanes, run(task, lanes))
            case ir.Store(name, index, value):
                with self.unwatched():
                    at = self.expression(index)[0]
                given = self.expression(value)[0]
                return accesses.store(self, name, at, given)
            case ir.Eval(value):
                return self._effect(value)
            case ir.AsyncLoad() | ir.AsyncStore():
                return copies.start(self, statement)
            case ir.Print(label, values):
                return printing.print_(label, [self.expression(value) for value in values])
            case ir.Opaque(kind):
                raise CapabilityError(codes.OPAQUE.at(self._places[-1].location, kind=kind))
            case ir.Resume() | ir.IndirectDispatch():
                return control.return_
            case _:
                raise AssertionError(f"{type(statement).__name__} is not a simple statement")

    def _effect(self, value: ir.AnyExpr) -> Leaf:
        if isinstance(value, ir.Atomic):
            change = expressions.effect(self, value)
            return lambda task, lanes: _discard(change(task, lanes))
        run = self.expression(value)[0]
        return lambda task, lanes: _discard(run(task, lanes))


def _discard(_: object) -> None:
    return None


def _is_grid_wide(statement: ir.AnyStmt) -> bool:
    if isinstance(statement, ir.Barrier):
        return statement.ordering is ir.MemoryOrdering.GRID_SYNC
    return isinstance(statement, Collective)


def _assigned(program: ir.Program) -> frozenset[str]:
    return assigned_names(program.entry)
