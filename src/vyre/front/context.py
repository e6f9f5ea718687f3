"""The state of one attempt at translating a kernel.

A variable that begins with a literal has no type of its own yet: it is taken to be `i32` or `f32`
until it meets a typed value. What is learned then is written down and the translation begins
again with that knowledge; each attempt learns at least one type, so there are few.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import field

from vyre.diagnostics import Diagnostic, FrontError, Span
from vyre.diagnostics.codes import Code
from vyre.front.facts import Facts
from vyre.front.homes import Homes
from vyre.front.reads import Reads
from vyre.front.source import Source
from vyre.front.values import Key, Scalar, Value, is_settled
from vyre.ir import AnyExpr, AnyStmt, BufferDecl, DataType, Let, Var
from vyre.record import dataclass


class Restart(Exception):
    """A type was learned: begin again."""


@dataclass(slots=True)
class Variable:
    """A Python variable that the kernel holds in a variable of its own."""

    name: str
    """Its name in the program."""
    dtype: DataType | None
    """None while it is declared but nothing has been assigned."""
    key: Key
    soft: frozenset[Key] = frozenset()
    constant: bool = False
    """Whether it is assigned once, so that its value never changes."""


@dataclass(slots=True)
class LoopVariableLeft:
    """A name that was a loop variable and has no value any more."""


Binding = Variable | Value | LoopVariableLeft


@dataclass(slots=True)
class Result:
    """What a device function returns."""

    value: Value | None = None
    """Where the function returns once, at its end."""
    variables: list[Variable] | None = None
    """Where it returns from several places."""
    is_tuple: bool = False


@dataclass(slots=True)
class Kept:
    """A value that may move into a variable."""

    value: Value


@dataclass(slots=True)
class LoopState:
    """A loop being translated."""

    going: str | None = None
    """The variable that is false once a loop that is written out has been left."""
    breaks: list[set[str]] = field(default_factory=list[set[str]])
    """What was assigned at each of its breaks."""


@dataclass(slots=True)
class Frame:
    """One function being translated: the kernel, or a device function inlined into it."""

    source: Source
    homes: Homes
    path: Key
    names: dict[str, Binding]
    reassigned: frozenset[str]
    """Names that are assigned more than once, or in a loop."""
    assigned: set[str] = field(default_factory=set[str])
    """Variables that certainly have a value here."""
    loops: list[LoopState] = field(default_factory=list["LoopState"])
    """The loops around, the innermost last."""
    is_kernel: bool = True
    returns_once: bool = False
    result: Result = field(default_factory=Result)


@dataclass(slots=True)
class Context:
    """Everything the parts of the translation share."""

    frames: list[Frame]
    learned: dict[Key, DataType]
    reasons: dict[Key, str]
    """Which code made a learned type what it is."""
    workgroup: tuple[int, int, int]
    lower_expr: Callable[[Context, ast.expr], Value]
    lower_body: Callable[[Context, Sequence[ast.stmt]], bool]
    reads: Reads
    buffers: list[BufferDecl] = field(default_factory=list[BufferDecl])
    bodies: list[list[AnyStmt]] = field(default_factory=lambda: [[]])
    spans: list[Span | None] = field(default_factory=lambda: [None])
    taken: set[str] = field(default_factory=set[str])
    facts: Facts = field(default_factory=Facts)
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    """What is wrong with statements that nothing after them depends on."""

    @property
    def frame(self) -> Frame:
        """The function being translated."""
        return self.frames[-1]

    @property
    def body(self) -> list[AnyStmt]:
        """The statements of the innermost block so far."""
        return self.bodies[-1]

    def expr(self, node: ast.expr) -> Value:
        """Translate an expression."""
        return self.lower_expr(self, node)

    def lookup(self, name: str) -> object:
        """What a name means outside of the function being translated."""
        found = self.frame.source.lookup(name)
        self.reads.name(self.frame.source, name, found)
        return found

    def emit(self, statement: AnyStmt) -> None:
        """Add a statement to the innermost block."""
        self.body.append(statement.at(self.spans[-1]))

    def error(self, node: ast.AST, code: Code, **values: object) -> FrontError:
        """A problem with a node of the function being translated."""
        return self.frame.source.error(node, code, **values)

    @contextmanager
    def block(self) -> Generator[list[AnyStmt]]:
        """Collect the statements of an inner block; names bound inside end with it."""
        body: list[AnyStmt] = []
        names = dict(self.frame.names)
        self.bodies.append(body)
        try:
            with self.facts.scope():
                yield body
        finally:
            self.bodies.pop()
            self.frame.names = names

    @contextmanager
    def keeps_problems(self) -> Generator[None]:
        """Write problems down and go on after the block, as if it had not been there."""
        spans = len(self.spans)
        try:
            yield
        except FrontError as error:
            del self.spans[spans:]
            self.problems += [found for found in error.diagnostics if found not in self.problems]

    def fresh(self, name: str) -> str:
        """A name for the program that nothing has yet."""
        candidate, number = name, 0
        while candidate in self.taken:
            number += 1
            candidate = f"{name}_{number}"
        self.taken.add(candidate)
        return candidate

    def hold(self, value: Scalar, name: str = "t") -> Scalar:
        """The value in a variable, unless using it twice costs nothing."""
        if is_settled(value.expr):
            return value
        return self.spill(value, name)

    def spill(self, value: Scalar, name: str = "t") -> Scalar:
        """The value in a variable of its own, computed here."""
        fresh = self.fresh(name)
        self.emit(Let(fresh, value.expr))
        self.facts.define(fresh, value.expr)
        return Scalar(Var(fresh), value.dtype, value.soft)

    def in_order(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Translate operands; what a later one does comes after the earlier ones are computed."""
        found: list[Value] = []
        for node in nodes:
            mark = len(self.body)
            value = self.expr(node)
            if len(self.body) > mark:
                later = self.body[mark:]
                del self.body[mark:]
                found = [self._fixed(earlier) for earlier in found]
                self.body.extend(later)
            found.append(value)
        return found

    @contextmanager
    def before_what_follows(self, value: Value) -> Generator[Kept]:
        """A value that is computed before the statements that the block adds, if it adds any."""
        kept = Kept(value)
        mark = len(self.body)
        yield kept
        if len(self.body) > mark:
            later = self.body[mark:]
            del self.body[mark:]
            kept.value = self._fixed(value)
            self.body.extend(later)

    def _fixed(self, value: Value) -> Value:
        if isinstance(value, Scalar) and not self.facts.is_fixed(value.expr):
            return self.spill(value)
        return value

    def learn(self, soft: frozenset[Key], dtype: DataType, node: ast.AST) -> Restart:
        """Write down the type of variables that a literal began, and where they got it."""
        for key in soft:
            self.learned[key] = dtype
            self.reasons[key] = ast.unparse(node)
        return Restart()

    def pin(self, soft: frozenset[Key], dtype: DataType) -> None:
        """Settle the type of variables whose assumed type turned out to be right."""
        for key in soft:
            self.learned.setdefault(key, dtype)

    def zero_at(self, mark: int, name: str, value: AnyExpr) -> None:
        """Declare a variable before the statements since `mark`."""
        self.body.insert(mark, Let(name, value).at(self.spans[-1]))
