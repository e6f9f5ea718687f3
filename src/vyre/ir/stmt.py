"""Statements: the closed family of things a kernel does, and how they are built.

`Node` is the base and the front door (`Node.store(...)`, `Node.if_(...)`); `AnyStmt` is the union
that passes and backends match on. A statement may carry the span of source it came from; the span
is no part of equality, of the digest or of files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self, cast

from vyre.diagnostics import BuildError, Span
from vyre.diagnostics.codes import build as codes
from vyre.ir.expr import AnyExpr, Expr, as_expr, as_exprs, as_index
from vyre.ir.names import checked_name
from vyre.ir.node import MAX_STMT_DEPTH, Tree, node
from vyre.ir.opcodes import MemoryOrdering, ReduceOp

ROOT_GENERATOR = "vyre.program.root"
"""The generator of the region that `Program.wrapped` puts around loose statements."""


def as_body(statements: object, what: str) -> Body:
    """`statements` as a body, if all of them are statements."""
    if isinstance(statements, Node):
        raise BuildError(codes.NOT_A_STATEMENT.at(what=what, found="a statement without a list"))
    if not isinstance(statements, Iterable):
        raise BuildError(codes.NOT_A_STATEMENT.at(what=what, found=type(statements).__name__))
    body = tuple(cast("Iterable[object]", statements))
    for statement in body:
        if not isinstance(statement, Node):
            found = f"{type(statement).__name__} {statement!r}"[:80]
            raise BuildError(codes.NOT_A_STATEMENT.at(what=what, found=found))
    return cast("Body", body)


def checked_text(value: object, what: str) -> str:
    """`value`, if it is text that files can hold: not too long, encodable."""
    if isinstance(value, str) and len(value) <= 4096 and value.isprintable():
        return value
    raise BuildError(
        codes.BAD_FIELD.at(
            what="a statement",
            field=what,
            found=value if isinstance(value, str) else type(value).__name__,
            expected="give printable text of at most 4096 characters",
        )
    )


class Node(Tree):
    """A statement. The class methods build every kind."""

    __slots__ = ("span",)

    max_depth = MAX_STMT_DEPTH
    has_span = True
    span: Span | None

    def at(self, span: Span | None) -> Self:
        """This statement, marked as coming from `span`."""
        if span is None:
            return self
        values = {name: getattr(self, name) for name in self.compared_fields}
        marked = type(self)(**values)
        object.__setattr__(marked, "span", span)
        return marked

    @classmethod
    def let(cls, name: str, value: Expr) -> Let:
        """A new variable with its first value."""
        return Let(checked_name(name, "a variable"), as_expr(value, "a value"))

    @classmethod
    def assign(cls, name: str, value: Expr) -> Assign:
        """A new value for a variable."""
        return Assign(checked_name(name, "a variable"), as_expr(value, "a value"))

    @classmethod
    def store(cls, buffer: str, index: Expr | int, value: Expr) -> Store:
        """Write one element of a buffer; nothing happens when out of bounds."""
        return Store(
            checked_name(buffer, "a buffer"),
            as_index(index, "an index"),
            as_expr(value, "a value"),
        )

    @classmethod
    def eval(cls, value: Expr) -> Eval:
        """Evaluate an expression for its effect."""
        return Eval(as_expr(value, "an expression"))

    @classmethod
    def if_(cls, cond: Expr, then: Iterable[Node], otherwise: Iterable[Node] = ()) -> If:
        """One of two bodies."""
        return If(
            as_expr(cond, "a condition"),
            as_body(then, "the body of an if"),
            as_body(otherwise, "the else of an if"),
        )

    @classmethod
    def loop(cls, var: str, start: Expr | int, stop: Expr | int, body: Iterable[Node]) -> Loop:
        """Count from `start` up to, not including, `stop`."""
        return Loop(
            checked_name(var, "a loop variable"),
            as_index(start, "a loop bound"),
            as_index(stop, "a loop bound"),
            as_body(body, "the body of a loop"),
        )

    @classmethod
    def while_(cls, cond: Expr, body: Iterable[Node]) -> While:
        """Repeat while a condition holds."""
        return While(as_expr(cond, "a condition"), as_body(body, "the body of a while"))

    @classmethod
    def break_(cls) -> Break:
        """Leave the innermost loop."""
        return Break()

    @classmethod
    def continue_(cls) -> Continue:
        """Go on with the next round of the innermost loop."""
        return Continue()

    @classmethod
    def return_(cls) -> Return:
        """End this invocation."""
        return Return()

    @classmethod
    def barrier(cls, ordering: MemoryOrdering = MemoryOrdering.SEQ_CST) -> Barrier:
        """Wait for the workgroup, or for the grid with `GRID_SYNC`."""
        return Barrier(ordering)

    @classmethod
    def block(cls, body: Iterable[Node]) -> Block:
        """Statements in a scope of their own."""
        return Block(as_body(body, "a block"))

    @classmethod
    def region(
        cls, generator: str, body: Iterable[Node], source_region: str | None = None
    ) -> Region:
        """A block that remembers what made it."""
        return Region(
            checked_text(generator, "the generator"),
            None if source_region is None else checked_text(source_region, "the source region"),
            as_body(body, "a region"),
        )

    @classmethod
    def async_load(
        cls,
        tag: str,
        destination: str,
        destination_start: Expr | int,
        source: str,
        source_start: Expr | int,
        count: Expr | int,
    ) -> AsyncLoad:
        """Start copying elements of a buffer into workgroup memory."""
        return AsyncLoad(
            checked_text(tag, "the tag"),
            checked_name(destination, "a buffer"),
            as_index(destination_start, "a start"),
            checked_name(source, "a buffer"),
            as_index(source_start, "a start"),
            as_index(count, "a count"),
        )

    @classmethod
    def async_store(
        cls,
        tag: str,
        destination: str,
        destination_start: Expr | int,
        source: str,
        source_start: Expr | int,
        count: Expr | int,
    ) -> AsyncStore:
        """Start copying elements of workgroup memory into a buffer."""
        return AsyncStore(
            checked_text(tag, "the tag"),
            checked_name(destination, "a buffer"),
            as_index(destination_start, "a start"),
            checked_name(source, "a buffer"),
            as_index(source_start, "a start"),
            as_index(count, "a count"),
        )

    @classmethod
    def async_wait(cls, tag: str) -> AsyncWait:
        """Wait until the copies with this tag are complete and seen by the whole workgroup."""
        return AsyncWait(checked_text(tag, "the tag"))

    @classmethod
    def trap(cls, tag: str) -> Trap:
        """Stop the dispatch and report `tag` to the host."""
        return Trap(checked_text(tag, "the tag"))

    @classmethod
    def resume(cls, tag: str) -> Resume:
        """Mark where work goes on after the host has dealt with a trap."""
        return Resume(checked_text(tag, "the tag"))

    @classmethod
    def print_(cls, label: str, *values: Expr) -> Print:
        """Show values to a person who debugs."""
        return Print(checked_text(label, "the label"), as_exprs(values, "a value"))

    @classmethod
    def indirect_dispatch(cls, count_buffer: str, count_offset: int = 0) -> IndirectDispatch:
        """Take the grid of this dispatch from three elements of a `u32` buffer."""
        if not 0 <= count_offset < 1 << 32:
            raise BuildError(
                codes.BAD_FIELD.at(
                    what="an indirect dispatch",
                    field="the offset",
                    found=count_offset,
                    expected="give an element offset from 0",
                )
            )
        return IndirectDispatch(checked_name(count_buffer, "a buffer"), count_offset)

    @classmethod
    def all_reduce(cls, buffer: str, op: ReduceOp) -> AllReduce:
        """Join a buffer over all devices, the result on each."""
        return AllReduce(checked_name(buffer, "a buffer"), op)

    @classmethod
    def all_gather(cls, source: str, destination: str) -> AllGather:
        """Put the buffers of all devices behind one another, on each."""
        return AllGather(checked_name(source, "a buffer"), checked_name(destination, "a buffer"))

    @classmethod
    def reduce_scatter(cls, source: str, destination: str, op: ReduceOp) -> ReduceScatter:
        """Join a buffer over all devices and leave each its part."""
        return ReduceScatter(
            checked_name(source, "a buffer"), checked_name(destination, "a buffer"), op
        )

    @classmethod
    def broadcast(cls, buffer: str, root: int = 0) -> Broadcast:
        """Give all devices the buffer of one."""
        return Broadcast(checked_name(buffer, "a buffer"), root)

    @classmethod
    def opaque(cls, kind: str, payload: bytes = b"", *operands: Expr) -> Opaque:
        """Something only an extension understands; everything is assumed of it."""
        return Opaque(
            checked_name(kind, "an extension"), bytes(payload), as_exprs(operands, "an operand")
        )


@node
class Let(Node):
    """A new variable with its first value."""

    name: str
    value: AnyExpr


@node
class Assign(Node):
    """A new value for a variable."""

    name: str
    value: AnyExpr


@node
class Store(Node):
    """Write one element of a buffer; nothing happens when out of bounds."""

    buffer: str
    index: AnyExpr
    value: AnyExpr


@node
class Eval(Node):
    """Evaluate an expression for its effect."""

    value: AnyExpr


@node
class If(Node):
    """One of two bodies."""

    cond: AnyExpr
    then: Body
    otherwise: Body


@node
class Loop(Node):
    """Count `var` from `start` up to, not including, `stop`; both are evaluated once."""

    var: str
    start: AnyExpr
    stop: AnyExpr
    body: Body


@node
class While(Node):
    """Repeat while a condition holds."""

    cond: AnyExpr
    body: Body


@node
class Break(Node):
    """Leave the innermost loop."""


@node
class Continue(Node):
    """Go on with the next round of the innermost loop."""


@node
class Return(Node):
    """End this invocation."""


@node
class Barrier(Node):
    """Wait until all invocations of the workgroup, or of the grid, are here."""

    ordering: MemoryOrdering


@node
class Block(Node):
    """Statements in a scope of their own."""

    body: Body


@node
class Region(Node):
    """A block that remembers what made it; it never changes a value."""

    generator: str
    source_region: str | None
    body: Body


@node
class AsyncLoad(Node):
    """The workgroup starts to copy elements of a buffer into workgroup memory."""

    tag: str
    destination: str
    destination_start: AnyExpr
    source: str
    source_start: AnyExpr
    count: AnyExpr


@node
class AsyncStore(Node):
    """The workgroup starts to copy elements of workgroup memory into a buffer."""

    tag: str
    destination: str
    destination_start: AnyExpr
    source: str
    source_start: AnyExpr
    count: AnyExpr


@node
class AsyncWait(Node):
    """All copies with this tag are complete after it, for the whole workgroup; also a barrier."""

    tag: str


@node
class Trap(Node):
    """Stop the dispatch and report the tag and the invocation to the host."""

    tag: str


@node
class Resume(Node):
    """Where work goes on after the host has dealt with a trap; does nothing by itself."""

    tag: str


@node
class Print(Node):
    """Show values to a person who debugs."""

    label: str
    values: tuple[AnyExpr, ...]


@node
class IndirectDispatch(Node):
    """The grid of this dispatch is read from a `u32` buffer when it is launched."""

    count_buffer: str
    count_offset: int


@node
class AllReduce(Node):
    """Join a buffer over all devices; with one device nothing happens."""

    buffer: str
    op: ReduceOp


@node
class AllGather(Node):
    """Put the buffers of all devices behind one another; with one device a copy."""

    source: str
    destination: str


@node
class ReduceScatter(Node):
    """Join a buffer over all devices, each keeps its part; with one device a copy."""

    source: str
    destination: str
    op: ReduceOp


@node
class Broadcast(Node):
    """Give all devices the buffer of one; with one device nothing happens."""

    buffer: str
    root: int


@node
class Opaque(Node):
    """Something only an extension understands: it may read, write and do anything."""

    kind: str
    payload: bytes
    operands: tuple[AnyExpr, ...]


AnyStmt = (
    Let
    | Assign
    | Store
    | Eval
    | If
    | Loop
    | While
    | Break
    | Continue
    | Return
    | Barrier
    | Block
    | Region
    | AsyncLoad
    | AsyncStore
    | AsyncWait
    | Trap
    | Resume
    | Print
    | IndirectDispatch
    | AllReduce
    | AllGather
    | ReduceScatter
    | Broadcast
    | Opaque
)
"""Every kind of statement: `match` over it and end with `assert_never`."""

Body = tuple[AnyStmt, ...]
