"""The state of one attempt at translating a kernel.

A variable that begins with a literal has no type of its own yet: it is taken to be `i32` or `f32`
until it meets a typed value. What is learned then is written down and the translation begins
again with that knowledge; each attempt learns at least one type, so there are few. Where a call or
a round of a loop learns of its own variables, only it begins again (see `local_fixpoint`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import field

from vyre import ir
from vyre.diagnostics import Diagnostic, FrontError, Span
from vyre.diagnostics.codes import Code
from vyre.front.captured_state import Reads
from vyre.front.extent_limit import NO_LIMIT
from vyre.front.facts import Facts
from vyre.front.source import Source
from vyre.front.values import Form, Key, Scalar, Several, Value, is_settled
from vyre.front.variable_scopes import Homes
from vyre.ir.names import unused_name
from vyre.record import dataclass


class Restart(Exception):
    """A type was learned: begin again."""


@dataclass(slots=True)
class Variable:
    """A Python variable: a number in a variable of the program, a tuple, or a second name."""

    name: str
    """Its name in the program."""
    dtype: ir.DataType | None
    """The type of its number; None while nothing has been assigned, and where it holds none."""
    key: Key
    soft: frozenset[Key] = frozenset()
    form: Form | None = None
    """Of a variable that holds an index; its own key is soft, as it may still become a number."""
    members: tuple[Variable | Value, ...] | None = None
    """Of a tuple: variables, and values that never change."""
    of_bytes: bool = False
    """Whether the tuple is bytes, of which a condition chose one."""
    stands_for: Value | None = None
    """The array, function, table or text that it is a second name of."""
    text: str = ""
    """How the code writes that."""
    home: list[ir.AnyStmt] | None = None
    """The block that it is declared in."""

    @property
    def is_open(self) -> bool:
        """Whether nothing has been assigned yet."""
        return self.dtype is None and self.members is None and self.stands_for is None


@dataclass(slots=True)
class LoopVariableLeft:
    """A name that was a loop variable and has no value any more."""

    before: Variable | None = None
    """The variable that had this name before the loop."""


Binding = Variable | Value | LoopVariableLeft


@dataclass(slots=True)
class Result:
    """What a device function returns."""

    value: Value | None = None
    """Where the function returns once, at its end."""
    variable: Variable | None = None
    """Where it returns from several places."""


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
    repeats: bool = True
    """Whether its statements may run again; those of a loop that is written out do not."""


@dataclass(slots=True)
class Frame:
    """One function being translated: the kernel, or a device function inlined into it."""

    source: Source
    homes: Homes
    path: Key
    names: dict[str, Binding]
    reassigned: frozenset[str]
    """Names that are assigned more than once, or in a loop."""
    own: frozenset[str]
    """Names that the function binds anywhere: they mean nothing outside of it."""
    assigned: set[str] = field(default_factory=set[str])
    """Variables that certainly have a value here."""
    loops: list[LoopState] = field(default_factory=list["LoopState"])
    """The loops around, the innermost last."""
    is_kernel: bool = True
    returns_once: bool = False
    result: Result = field(default_factory=Result)


@dataclass(slots=True)
class Settled:
    """What was known of variables when they were asked for."""

    learned: dict[Key, ir.DataType | Form] = field(default_factory=dict[Key, "ir.DataType | Form"])
    literals: dict[Key, tuple[int, ...]] = field(default_factory=dict[Key, tuple[int, ...]])
    rebound: set[Key] = field(default_factory=set[Key])


@dataclass(slots=True)
class Context:
    """Everything the parts of the translation share."""

    frames: list[Frame]
    learned: dict[Key, ir.DataType | Form]
    reasons: dict[Key, str]
    """Which code made a learned type what it is."""
    literals: dict[Key, tuple[int, ...]]
    """Literals that variables get and that their first one has no room for."""
    rebound: set[Key]
    """Tuples that are bound again where it depends on the run: all their numbers are variables."""
    workgroup: tuple[int, int, int]
    lower_expr: Callable[[Context, ast.expr], Value]
    lower_body: Callable[[Context, Sequence[ast.stmt]], bool]
    reads: Reads
    buffers: list[ir.BufferDecl] = field(default_factory=list[ir.BufferDecl])
    bodies: list[list[ir.AnyStmt]] = field(default_factory=lambda: [[]])
    spans: list[Span | None] = field(default_factory=lambda: [None])
    taken: set[str] = field(default_factory=set[str])
    facts: Facts = field(default_factory=Facts)
    extents_below: int = NO_LIMIT
    """Ids and lengths of a launch must be less, because of how indices are compared and read."""
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    """What is wrong with statements that nothing after them depends on."""
    settled: Settled = field(default_factory=Settled)
    """What all of this attempt has been translated with."""
    entered: set[Key] = field(default_factory=set[Key])
    """Calls and rounds of loops that this attempt has come to."""

    @property
    def frame(self) -> Frame:
        """The function being translated."""
        return self.frames[-1]

    @property
    def body(self) -> list[ir.AnyStmt]:
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

    def emit(self, statement: ir.AnyStmt) -> None:
        """Add a statement to the innermost block."""
        self.body.append(statement.at(self.spans[-1]))

    def error(self, node: ast.AST, code: Code, **values: object) -> FrontError:
        """A problem with a node of the function being translated."""
        return self.frame.source.error(node, code, **values)

    @contextmanager
    def block(self) -> Generator[list[ir.AnyStmt]]:
        """Collect the statements of an inner block; names bound inside end with it."""
        body: list[ir.AnyStmt] = []
        names = dict(self.frame.names)
        self.bodies.append(body)
        try:
            with self.facts.scope():
                yield body
        finally:
            self.bodies.pop()
            for name, found in self.frame.names.items():
                if isinstance(found, LoopVariableLeft):
                    # A loop inside of the block may have given the name another value.
                    names[name] = found
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
        unused = unused_name(name, self.taken, "_", first=1)
        self.taken.add(unused)
        return unused

    def hold(self, value: Scalar, name: str = "t") -> Scalar:
        """The value in a variable, unless using it twice costs nothing."""
        if is_settled(value.expr):
            return value
        return self.spill(value, name)

    def held(self, value: Scalar, name: str = "t") -> Scalar:
        """The value as it is here, whatever is assigned later."""
        return value if self.facts.is_fixed(value.expr) else self.spill(value, name)

    def spill(self, value: Scalar, name: str = "t") -> Scalar:
        """The value in a variable of its own, computed here."""
        fresh = self.fresh(name)
        self.emit(ir.Let(fresh, value.expr))
        self.facts.define(fresh, value.expr)
        if value.form is Form.NATURAL:
            self.facts.natural.add(fresh)
        return Scalar(ir.Var(fresh), value.dtype, value.soft, value.form)

    def in_order(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Translate operands; what a later one does comes after the earlier ones are computed."""
        found: list[Value] = []
        for node in nodes:
            mark = len(self.body)
            value = self.expr(node)
            if len(self.body) > mark:
                later = self.body[mark:]
                del self.body[mark:]
                found = [self.fixed(earlier) for earlier in found]
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
            kept.value = self.fixed(value)
            self.body.extend(later)

    def fixed(self, value: Value, name: str = "t") -> Value:
        """The value as it is here, whatever is assigned or stored later."""
        if isinstance(value, Several):
            items = tuple(self.fixed(item, name) for item in value.items)
            return Several(items, value.is_table, value.of_bytes)
        return self.held(value, name) if isinstance(value, Scalar) else value

    def learn(self, soft: frozenset[Key], dtype: ir.DataType | Form, node: ast.AST) -> Restart:
        """Write down the type of variables whose first value has none, and where they got it."""
        for key in soft:
            self.learned[key] = dtype
            self.reasons[key] = ast.unparse(node)
        return Restart()

    def widen(self, key: Key, value: bool | int | float | str, dtype: ir.DataType) -> bool:
        """Note a literal for which the assumed type of a variable is too small."""
        if not isinstance(value, int) or isinstance(value, bool) or not dtype.is_integer:
            return False
        low, high = dtype.integer_range
        known = self.literals.get(key, ())
        if low <= value <= high or value in known:
            return False
        self.literals[key] = (*known, value)
        return True

    def pin(self, soft: frozenset[Key], dtype: ir.DataType) -> None:
        """Settle the type of variables whose assumed type turned out to be right."""
        for key in soft:
            self.learned.setdefault(key, dtype)

    def knows(self) -> tuple[int, int, int]:
        """Of how many variables something is known."""
        return len(self.learned), len(self.literals), len(self.rebound)

    def changed(self) -> list[Key]:
        """Variables of which more is known than when they were asked for."""
        was = self.settled
        found = [key for key, dtype in self.learned.items() if was.learned.get(key) is not dtype]
        found += [key for key, known in self.literals.items() if was.literals.get(key) != known]
        return [*found, *(self.rebound - was.rebound)]

    def settle(self, keys: Iterable[Key]) -> None:
        """All that was translated so far would be the same with what is known now of these."""
        for key in keys:
            if key in self.learned:
                self.settled.learned[key] = self.learned[key]
            if key in self.literals:
                self.settled.literals[key] = self.literals[key]
            if key in self.rebound:
                self.settled.rebound.add(key)

    def limit_extents(self, below: int) -> None:
        """From here on the program is right only for ids and lengths below a number."""
        self.extents_below = min(self.extents_below, below)
        self.facts.sums_fit = True

    def zero_at(self, mark: int, name: str, value: ir.AnyExpr) -> None:
        """Declare a variable before the statements since `mark`."""
        self.body.insert(mark, ir.Let(name, value).at(self.spans[-1]))
