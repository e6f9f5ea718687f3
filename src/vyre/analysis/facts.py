"""Columnar facts: a program as arrays over its statements in the order of the text.

    facts = ProgramFacts.of(program)          built once per program object, shared by everybody
    facts.statements[p]  facts.kinds[p]  facts.parents[p]  facts.ends[p]
    facts.lets  facts.assigns  facts.loop_variables  facts.variable_reads     (position, name)
    facts.buffer_refs                         position, buffer, use, and the Load or Atomic if any
    facts.regions                             position, generator, source region
    facts.is_descendant_of(p, q)              whether p stands inside q, in constant time
    facts.binding(name, p)                    the Let or Loop that a name at p refers to
    facts.escaping_buffers()                  buffers whose contents matter outside, with the reason

A position is the number of a statement in preorder: a statement comes before what it holds, an
if's `then` before its `otherwise`. Positions belong to this program object: an equal program that
was built elsewhere has the same positions, but shared facts are never looked up by equality.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import field
from enum import Enum
from typing import NamedTuple

from vyre import ir
from vyre.ir.walk import expr_children
from vyre.locks import cached_property
from vyre.record import dataclass

TOP = -1
"""The parent of statements at the top level."""


class BufferUse(Enum):
    """What a reference to a buffer does."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"
    ASYNC_READ = "async_read"
    ASYNC_WRITE = "async_write"
    COLLECTIVE_READ = "collective_read"
    COLLECTIVE_WRITE = "collective_write"
    INDIRECT = "indirect"
    """The host reads the grid from it when it launches."""
    LENGTH = "length"
    """Only the number of elements is asked for."""

    @property
    def reads(self) -> bool:
        """Whether the kernel gets to see elements."""
        return self in _READS

    @property
    def writes(self) -> bool:
        """Whether the kernel may change elements."""
        return self in _WRITES


_READS = frozenset(
    {BufferUse.READ, BufferUse.ATOMIC, BufferUse.ASYNC_READ, BufferUse.COLLECTIVE_READ}
)
_WRITES = frozenset(
    {BufferUse.WRITE, BufferUse.ATOMIC, BufferUse.ASYNC_WRITE, BufferUse.COLLECTIVE_WRITE}
)


class Escape(Enum):
    """Why the contents of a buffer matter outside of the statements that use it."""

    HOST_OUTPUT = "the host reads it back"
    STORED = "it is stored to and the host sees it"
    ATOMIC = "it is changed by atomics"
    INDIRECT = "a grid is read from it"
    COLLECTIVE = "other devices see it"
    OPAQUE = "an opaque statement may touch it"


class Named(NamedTuple):
    """A name at a statement: bound, assigned or read there."""

    position: int
    name: str


class BufferRef(NamedTuple):
    """A buffer at a statement."""

    position: int
    name: str
    use: BufferUse
    expr: ir.Load | ir.Atomic | ir.BufLen | None
    """The expression that refers to it; None when the statement itself does."""


class RegionFact(NamedTuple):
    """A region."""

    position: int
    generator: str
    source_region: str | None


@dataclass(eq=False)
class ProgramFacts:
    """The columns; get them with `ProgramFacts.of`."""

    program: ir.Program
    statements: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])
    kinds: list[type[ir.AnyStmt]] = field(default_factory=list[type[ir.AnyStmt]])
    parents: list[int] = field(default_factory=list[int])
    """The statement around each; `TOP` at the top level."""
    ends: list[int] = field(default_factory=list[int])
    """The first position after a statement and everything in it."""
    fields: list[str] = field(default_factory=list[str])
    """The body of the parent that each stands in: `entry` at the top level."""
    indices: list[int] = field(default_factory=list[int])
    """Where in that body."""
    lets: list[Named] = field(default_factory=list[Named])
    assigns: list[Named] = field(default_factory=list[Named])
    loop_variables: list[Named] = field(default_factory=list[Named])
    variable_reads: list[Named] = field(default_factory=list[Named])
    buffer_refs: list[BufferRef] = field(default_factory=list[BufferRef])
    regions: list[RegionFact] = field(default_factory=list[RegionFact])
    opaques: list[int] = field(default_factory=list[int])

    @staticmethod
    def of(program: ir.Program) -> ProgramFacts:
        """The facts of a program, computed once per program object."""
        return program.memo(ProgramFacts, _collect)

    def __len__(self) -> int:
        return len(self.statements)

    def is_descendant_of(self, position: int, ancestor: int) -> bool:
        """Whether a statement stands inside another; none stands inside itself."""
        return ancestor == TOP or ancestor < position < self.ends[ancestor]

    def children(self, position: int, body: str | None = None) -> list[int]:
        """The statements directly inside one, or inside one of its bodies; all for `TOP`."""
        found: list[int] = []
        current = position + 1
        end = len(self) if position == TOP else self.ends[position]
        while current < end:
            if body is None or self.fields[current] == body:
                found.append(current)
            current = self.ends[current]
        return found

    def path(self, position: int) -> str:
        """Where a statement stands, as diagnostics write it: `entry[0].body[3].then[1]`."""
        steps: list[str] = []
        while position != TOP:
            steps.append(f"{self.fields[position]}[{self.indices[position]}]")
            position = self.parents[position]
        return ".".join(reversed(steps))

    def binding(self, name: str, position: int) -> int | None:
        """The Let or Loop whose variable `name` means at `position`."""
        known = self._bindings.get(name)
        if known is None:
            return None
        starts, ends = known
        found = bisect_left(starts, position) - 1
        return starts[found] if found >= 0 and position < ends[found] else None

    @cached_property
    def _bindings(self) -> dict[str, tuple[list[int], list[int]]]:
        table: defaultdict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for position, name in sorted([*self.lets, *self.loop_variables]):
            starts, ends = table[name]
            starts.append(position)
            ends.append(self.scope_end(position))
        return dict(table)

    def scope_end(self, position: int) -> int:
        """The first position where the variable bound by a Let or Loop is not visible any more."""
        if self.kinds[position] is ir.Loop:
            return self.ends[position]
        parent = self.parents[position]
        if parent == TOP:
            return len(self)
        if self.fields[position] == "then":
            return self._then_ends.get(parent, self.ends[parent])
        return self.ends[parent]

    @cached_property
    def _then_ends(self) -> dict[int, int]:
        """By position of an if with an else: where its else begins."""
        found: dict[int, int] = {}
        for position in range(len(self)):
            if self.fields[position] == "otherwise" and self.indices[position] == 0:
                found[self.parents[position]] = position
        return found

    def assigns_within(self, position: int) -> list[Named]:
        """The assignments inside a statement, in the order of the text."""
        first = bisect_left(self.assigns, (position, ""))
        return self.assigns[first : bisect_left(self.assigns, (self.ends[position], ""))]

    @cached_property
    def refs_by_buffer(self) -> dict[str, list[BufferRef]]:
        """The references to each buffer, in the order of the text."""
        table: defaultdict[str, list[BufferRef]] = defaultdict(list)
        for ref in self.buffer_refs:
            table[ref.name].append(ref)
        return dict(table)

    @cached_property
    def reads_by_name(self) -> dict[str, list[int]]:
        """The positions that read each name, in the order of the text."""
        return _by_name(self.variable_reads)

    @cached_property
    def assigns_by_name(self) -> dict[str, list[int]]:
        """The positions that assign each name, in the order of the text."""
        return _by_name(self.assigns)

    @cached_property
    def written_buffers(self) -> frozenset[str]:
        """Buffers that the program may change; all of them when it has an opaque statement."""
        if self.opaques:
            return frozenset(decl.name for decl in self.program.buffers)
        return frozenset(ref.name for ref in self.buffer_refs if ref.use.writes)

    @cached_property
    def read_buffers(self) -> frozenset[str]:
        """Buffers whose elements the program may see; all when it has an opaque statement."""
        if self.opaques:
            return frozenset(decl.name for decl in self.program.buffers)
        return frozenset(ref.name for ref in self.buffer_refs if ref.use.reads)

    def escaping_buffers(self) -> dict[str, Escape]:
        """Buffers whose contents matter outside of this program's own statements, and why."""
        return self._escapes

    def buffer_escapes(self, name: str) -> bool:
        """Whether the contents of a buffer matter outside of this program's own statements."""
        return name in self._escapes

    @cached_property
    def _escapes(self) -> dict[str, Escape]:
        found: dict[str, Escape] = {}
        hidden = {d.name for d in self.program.buffers if d.is_on_chip or d.is_scratch}
        for decl in self.program.buffers:
            if decl.is_host_output:
                found[decl.name] = Escape.HOST_OUTPUT
            elif self.opaques:
                found[decl.name] = Escape.OPAQUE
        for ref in self.buffer_refs:
            escape = _ESCAPES.get(ref.use)
            # Memory without a host slot dies with the dispatch: a store to it does not escape.
            if escape is Escape.STORED and ref.name in hidden:
                continue
            if escape is not None:
                found.setdefault(ref.name, escape)
        return found


_ESCAPES = {
    BufferUse.WRITE: Escape.STORED,
    BufferUse.ASYNC_WRITE: Escape.STORED,
    BufferUse.ATOMIC: Escape.ATOMIC,
    BufferUse.INDIRECT: Escape.INDIRECT,
    BufferUse.COLLECTIVE_READ: Escape.COLLECTIVE,
    BufferUse.COLLECTIVE_WRITE: Escape.COLLECTIVE,
}


def _by_name(rows: list[Named]) -> dict[str, list[int]]:
    table: defaultdict[str, list[int]] = defaultdict(list)
    for position, name in rows:
        table[name].append(position)
    return dict(table)


def _collect(program: ir.Program) -> ProgramFacts:
    facts = ProgramFacts(program)
    _body(facts, program.entry, TOP, "entry")
    return facts


def _body(facts: ProgramFacts, body: ir.Body, parent: int, name: str) -> None:
    statements, ends = facts.statements, facts.ends
    for index, statement in enumerate(body):
        position = len(statements)
        statements.append(statement)
        facts.kinds.append(type(statement))
        facts.parents.append(parent)
        facts.fields.append(name)
        facts.indices.append(index)
        ends.append(position + 1)
        for child in expr_children(statement):
            _expr(facts, child, position)
        _own(facts, statement, position)
        if statement.body_fields:
            for inner in statement.body_fields:
                _body(facts, getattr(statement, inner), position, inner)
            ends[position] = len(statements)


def _expr(facts: ProgramFacts, expr: ir.AnyExpr, position: int) -> None:
    if isinstance(expr, ir.Var):
        facts.variable_reads.append(Named(position, expr.name))
    elif isinstance(expr, ir.Load):
        _expr(facts, expr.index, position)
        facts.buffer_refs.append(BufferRef(position, expr.buffer, BufferUse.READ, expr))
    elif isinstance(expr, ir.BufLen):
        facts.buffer_refs.append(BufferRef(position, expr.buffer, BufferUse.LENGTH, expr))
    elif expr.depth > 1:
        for child in expr_children(expr):
            _expr(facts, child, position)
        if isinstance(expr, ir.Atomic):
            facts.buffer_refs.append(BufferRef(position, expr.buffer, BufferUse.ATOMIC, expr))


def _own(facts: ProgramFacts, statement: ir.AnyStmt, position: int) -> None:
    """What a statement says by itself, apart from its expressions and bodies."""

    def refer(name: str, use: BufferUse) -> None:
        facts.buffer_refs.append(BufferRef(position, name, use, None))

    match statement:
        case ir.Let():
            facts.lets.append(Named(position, statement.name))
        case ir.Assign():
            facts.assigns.append(Named(position, statement.name))
        case ir.Store():
            refer(statement.buffer, BufferUse.WRITE)
        case ir.Loop():
            facts.loop_variables.append(Named(position, statement.var))
        case ir.Region():
            region = RegionFact(position, statement.generator, statement.source_region)
            facts.regions.append(region)
        case ir.AsyncLoad() | ir.AsyncStore():
            refer(statement.source, BufferUse.ASYNC_READ)
            refer(statement.destination, BufferUse.ASYNC_WRITE)
        case ir.IndirectDispatch():
            refer(statement.count_buffer, BufferUse.INDIRECT)
        case ir.AllReduce() | ir.Broadcast():
            refer(statement.buffer, BufferUse.COLLECTIVE_READ)
            refer(statement.buffer, BufferUse.COLLECTIVE_WRITE)
        case ir.AllGather() | ir.ReduceScatter():
            refer(statement.source, BufferUse.COLLECTIVE_READ)
            refer(statement.destination, BufferUse.COLLECTIVE_WRITE)
        case ir.Opaque():
            facts.opaques.append(position)
        case _:
            pass
