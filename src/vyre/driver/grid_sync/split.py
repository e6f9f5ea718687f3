"""Cutting a program at its grid-wide barriers, exactly.

Between two barriers stands a segment: a program of its own over the same buffers. What lives
across is kept: variables and private arrays in memory indexed by invocation (or recomputed when
that is pure and cheap), the fact that an invocation has returned in a flag per invocation. A loop
around a barrier becomes a loop of launches; its condition or bounds are computed by a small
segment that every live invocation executes, and all of them agree because the checker made sure.
Workgroup memory that is in use where such a loop begins or ends is kept as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from vyre import ir
from vyre.analysis.rematerialisation import recomputable
from vyre.analysis.types import variable_types
from vyre.analysis.used_names import Uses, uses_of
from vyre.driver.grid_sync.outline import (
    Copy,
    Item,
    Plain,
    Repeat,
    Sync,
    may_leave,
    outline,
)
from vyre.driver.grid_sync.plan import (
    BOUNDS,
    EXIT,
    EXIT_CONTINUE,
    EXIT_LEAVE,
    RETURNED,
    Clear,
    ConditionLoop,
    CopyBuffer,
    CountedLoop,
    Launch,
    Spill,
    SplitPlan,
    Step,
)
from vyre.driver.grid_sync.workgroup_memory import InDeviceMemory, declared, outliving
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.record import dataclass
from vyre.rewrite.unique_names import with_unique_names

LINEAR = "vyre.sync.index"
"""The variable that holds an invocation's position among all of the grid."""


@dataclass(slots=True)
class _Segment:
    """A segment while it is being made."""

    plains: list[Plain] = field(default_factory=list[Plain])
    tail: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])
    """Statements made by the split itself, after the others."""
    tail_reads: list[ir.AnyExpr] = field(default_factory=list[ir.AnyExpr])
    in_loop: bool = False
    """True if it is launched once per iteration: part of a split loop's body, or its condition."""


def split(program: ir.Program) -> SplitPlan:
    """The program as segments and the steps that launch them."""
    return program.memo("grid_sync.split", lambda p: _Splitter(with_unique_names(p)).run())


class _Splitter:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.types = variable_types(program)
        self.cheap = recomputable(program)
        self.segments: list[_Segment] = []
        self.epoch = 0
        self.begins: dict[int, int] = {}
        self.loop_variables: dict[str, Spill] = {}
        self.locals = {decl.name: decl for decl in program.buffers if decl.is_local}
        self.items = outline(program)
        self.shared = self.kept_workgroup_memory()

    def run(self) -> SplitPlan:
        steps = tuple(self.steps(self.items, in_loop=False))
        uses = [self.segment_uses(segment) for segment in self.segments]
        kept = self.kept(uses)
        returns = self.must_remember_returns(steps)
        made = [
            _Emitter(self, segment, use, kept, returns).program()
            for segment, use in zip(self.segments, uses, strict=True)
        ]
        spills = [*kept.values(), *self.loop_variables.values(), *self.shared.values()]
        if returns:
            spills.append(Spill(RETURNED, ir.DataType.U32, 1))
        if any(decl.name == EXIT for p in made for decl in p.buffers):
            spills.append(Spill(EXIT, ir.DataType.U32, 0, is_stored_first=True))
        if any(decl.name == BOUNDS for p in made for decl in p.buffers):
            spills.append(Spill(BOUNDS, ir.DataType.I64, 0, is_stored_first=True))
        empty = frozenset(n for n, s in enumerate(self.segments) if self.does_nothing(s))
        acting = _without_idle_loops(steps, empty)
        return SplitPlan(tuple(made), empty, acting, tuple(spills), self.begins)

    def kept_workgroup_memory(self) -> dict[str, Spill]:
        """Workgroup buffers that outlive a segment without a barrier."""
        kept = outliving(self.program, self.items)
        return {
            decl.name: Spill(f"vyre.sync.keep.{decl.name}", decl.element, 0, decl.count)
            for decl in self.program.buffers
            if decl.name in kept
        }

    def does_nothing(self, segment: _Segment) -> bool:
        """Whether it only computes what the segments that use it compute again."""
        names = (
            p.statement.name if isinstance(p.statement, ir.Let) else "" for p in segment.plains
        )
        return not segment.tail and all(name in self.cheap for name in names)

    def steps(self, items: Iterable[Item], *, in_loop: bool) -> list[Step]:
        found: list[Step] = []
        current = self.open(found, in_loop)
        for item in items:
            match item:
                case Plain():
                    current.plains.append(item)
                case Sync():
                    self.epoch += 1
                    if self.shared:
                        found.append(Clear(tuple(s.buffer for s in self.shared.values())))
                    current = self.open(found, in_loop)
                case Copy(source, destination):
                    decl = self.program.buffer(source)
                    assert decl is not None
                    found.append(CopyBuffer(source, destination, decl.element))
                case Repeat(loop, inner):
                    found.append(self.repeat(loop, inner, in_loop=in_loop))
                    current = self.open(found, in_loop)
        return [self.with_leaving(step) for step in found]

    def open(self, steps: list[Step], in_loop: bool) -> _Segment:
        segment = _Segment(in_loop=in_loop)
        self.segments.append(segment)
        steps.append(Launch(len(self.segments) - 1))
        if not in_loop:
            self.begins.setdefault(self.epoch, len(self.segments) - 1)
        return segment

    def with_leaving(self, step: Step) -> Step:
        if not isinstance(step, Launch):
            return step
        segment = self.segments[step.segment]
        leaves = segment.in_loop and any(may_leave(p.statement) for p in segment.plains)
        return Launch(step.segment, leaves)

    def repeat(self, loop: ir.Loop | ir.While, inner: tuple[Item, ...], *, in_loop: bool) -> Step:
        if isinstance(loop, ir.Loop):
            return self.counted(loop, inner, in_loop=in_loop)
        return self.conditional(loop, inner)

    def counted(self, loop: ir.Loop, inner: tuple[Item, ...], *, in_loop: bool) -> CountedLoop:
        dtype = self.types[loop.var]
        spill = Spill(f"vyre.sync.var.{loop.var}", dtype, 0, is_stored_first=True)
        self.loop_variables[loop.var] = spill
        bounds: tuple[int, int] | Launch
        if isinstance(loop.start, ir.Lit) and isinstance(loop.stop, ir.Lit):
            bounds = (int(loop.start.value), int(loop.stop.value))
        else:
            wide = [ir.Expr.cast(bound, ir.DataType.I64) for bound in (loop.start, loop.stop)]
            tail: list[ir.AnyStmt] = [
                ir.Node.store(BOUNDS, n, bound) for n, bound in enumerate(wide)
            ]
            bounds = self.small_segment(tail, [loop.start, loop.stop], in_loop=in_loop)
        return CountedLoop(spill, bounds, tuple(self.steps(inner, in_loop=True)))

    def conditional(self, loop: ir.While, inner: tuple[Item, ...]) -> ConditionLoop:
        one = ir.Expr.select(loop.cond, ir.Expr.u32(1), ir.Expr.u32(0))
        tail: list[ir.AnyStmt] = [ir.Node.eval(ir.Expr.atomic_or(EXIT, 0, one))]
        # Launched again after the body, in which invocations may have returned.
        condition = self.small_segment(tail, [loop.cond], in_loop=True)
        return ConditionLoop(condition, tuple(self.steps(inner, in_loop=True)))

    def small_segment(
        self, tail: list[ir.AnyStmt], reads: list[ir.AnyExpr], *, in_loop: bool
    ) -> Launch:
        self.segments.append(_Segment(tail=tail, tail_reads=reads, in_loop=in_loop))
        return Launch(len(self.segments) - 1)

    def segment_uses(self, segment: _Segment) -> Uses:
        return uses_of([p.statement for p in segment.plains], segment.tail_reads)

    def must_remember_returns(self, steps: tuple[Step, ...]) -> bool:
        """Whether an invocation may end in one segment while another is still to come."""
        loops = any(isinstance(step, (CountedLoop, ConditionLoop)) for step in steps)
        returning = [n for n, s in enumerate(self.segments) if self.returns(s)]
        busy = [n for n, s in enumerate(self.segments) if s.plains or s.tail]
        return bool(returning) and (loops or returning[0] < busy[-1])

    def follows_return(self, segment: _Segment) -> bool:
        """Whether invocations may have returned before a segment begins."""
        if segment.in_loop:
            return True
        before = self.segments[: next(n for n, s in enumerate(self.segments) if s is segment)]
        return any(self.returns(each) for each in before)

    def returns(self, segment: _Segment) -> bool:
        statements = tuple(p.statement for p in segment.plains)
        return any(isinstance(s, ir.Return) for s in walk_stmts(statements))

    def kept(self, uses: list[Uses]) -> dict[str, Spill]:
        """What memory must keep: variables and private arrays that outlive a launch.

        A variable begins anew wherever its `Let` stands, so one segment that a loop launches again
        and again may have it to itself; a private array begins once and for all.
        """
        found: dict[str, Spill] = {}
        level = {
            p.statement.name
            for s in self.segments
            for p in s.plains
            if isinstance(p.statement, ir.Let)
        }
        for name in sorted(level):
            users = sum(name in use.reads or name in use.writes for use in uses)
            if users > 1 and name not in self.cheap:
                # Invocations that come to a use have come to its `Let`, which stores it.
                found[name] = Spill(
                    f"vyre.sync.keep.{name}", self.types[name], 1, is_stored_first=True
                )
        for name, decl in self.locals.items():
            users = [s for s, use in zip(self.segments, uses, strict=True) if name in use.buffers]
            if len(users) > 1 or any(segment.in_loop for segment in users):
                found[name] = Spill(f"vyre.sync.keep.{name}", decl.element, decl.count)
        return found


class _Emitter:
    """One segment as a program."""

    def __init__(
        self,
        splitter: _Splitter,
        segment: _Segment,
        uses: Uses,
        kept: dict[str, Spill],
        returns: bool,
    ) -> None:
        self.splitter = splitter
        self.segment = segment
        self.uses = uses
        self.returns = returns
        self.declared = {
            p.statement.name for p in segment.plains if isinstance(p.statement, ir.Let)
        }
        self.kept_here = {
            name: spill
            for name, spill in kept.items()
            if name in uses.reads or name in uses.writes or name in uses.buffers
        }
        self.extra: dict[str, ir.BufferDecl] = {}
        self.group: list[ir.AnyStmt] = []
        """Statements of the group at hand, up to and including the one being rewritten."""

    def program(self) -> ir.Program:
        source = self.splitter.program
        body: list[ir.AnyStmt] = [*self.grouped(self.segment.plains, 0), *self.segment.tail]
        for statement in self.segment.tail:
            for name in (EXIT, BOUNDS):
                if name in _buffers_of(statement):
                    self.declare_shared(name)
        prologue = self.prologue() if body else []
        entry: list[ir.AnyStmt] = [*prologue, *body]
        if not entry or (prologue and not all(isinstance(s, ir.Region) for s in entry)):
            entry = [ir.Region(_root_name(source), None, tuple(entry))]
        kept = {n: s for n, s in self.splitter.shared.items() if n in self.uses.buffers}
        if kept:
            entry = self.on_device_memory(entry, kept)
        decls = [decl for decl in source.buffers if decl.name not in kept]
        buffers = [*decls, *self.bound_extras()]
        return source.with_rewritten_entry(entry).with_rewritten_buffers(buffers)

    def on_device_memory(self, entry: list[ir.AnyStmt], kept: dict[str, Spill]) -> list[ir.AnyStmt]:
        """The statements with workgroup buffers that are kept elsewhere."""
        names = {name: spill.buffer for name, spill in kept.items()}
        source = self.splitter.program
        for decl in source.buffers:
            if decl.name in names:
                self.extra[names[decl.name]] = declared(names[decl.name], decl)
        variables = {**self.splitter.types, LINEAR: ir.DataType.U32}
        return list(InDeviceMemory(source, names, variables).body(entry))

    def bound_extras(self) -> list[ir.BufferDecl]:
        used = [d.binding for d in self.splitter.program.buffers if d.binding is not None]
        first = max(used, default=-1) + 1
        return [decl.with_binding(first + n) for n, decl in enumerate(self.extra.values())]

    def declare_shared(self, name: str) -> None:
        element = ir.DataType.U32 if name == EXIT else ir.DataType.I64
        self.extra[name] = ir.BufferDecl.read_write(name, 0, element)

    def prologue(self) -> list[ir.AnyStmt]:
        """Bring back what lives here: ended invocations, kept values, loop variables."""
        lines: list[ir.AnyStmt] = []
        if self.returns:
            self.extra[RETURNED] = ir.BufferDecl.read_write(RETURNED, 0, ir.DataType.U32)
        if self.returns and self.splitter.follows_return(self.segment):
            # Not before the first return: barriers of a workgroup may stand there.
            gone = ir.Expr.load(RETURNED, ir.Expr.var(LINEAR)).ne(ir.Expr.u32(0))
            lines.append(ir.Node.if_(gone, [ir.Node.return_()]))
        for name, spill in self.kept_here.items():
            self.extra[spill.buffer] = ir.BufferDecl.read_write(spill.buffer, 0, spill.element)
            if name in self.splitter.locals:
                lines.append(self.copy_array(name, spill, into_local=True))
            elif name not in self.declared:
                lines.append(ir.Node.let(name, ir.Expr.load(spill.buffer, ir.Expr.var(LINEAR))))
        lines += self.variables_of_loops()
        lines += self.recomputed()
        if self.returns or self.kept_here:
            size = self.splitter.program.workgroup_size
            lines.insert(0, ir.Node.let(LINEAR, _linear_index(size)))
        return lines

    def variables_of_loops(self) -> list[ir.AnyStmt]:
        lines: list[ir.AnyStmt] = []
        for name, spill in self.splitter.loop_variables.items():
            if name in self.uses.reads:
                self.extra[spill.buffer] = ir.BufferDecl.read(spill.buffer, 0, spill.element)
                lines.append(ir.Node.let(name, ir.Expr.load(spill.buffer, 0)))
        return lines

    def recomputed(self) -> list[ir.AnyStmt]:
        cheap = self.splitter.cheap
        wanted: dict[str, None] = {}

        def want(name: str) -> None:
            if name in cheap and name not in self.declared and name not in wanted:
                if self.is_bound_inside(name):
                    return
                for inner in uses_of((), [cheap[name]]).reads:
                    want(inner)
                wanted[name] = None

        for name in sorted(self.uses.reads):
            want(name)
        return [ir.Node.let(name, cheap[name]) for name in wanted]

    def is_bound_inside(self, name: str) -> bool:
        statements = tuple(p.statement for p in self.segment.plains)
        return any(isinstance(s, ir.Let) and s.name == name for s in walk_stmts(statements))

    def grouped(self, plains: list[Plain], depth: int) -> list[ir.AnyStmt]:
        """Statements put back into the regions they came from, with values kept at the end."""
        result: list[ir.AnyStmt] = []
        position = 0
        while position < len(plains):
            region = _region_at(plains[position], depth)
            end = position
            while end < len(plains) and _region_at(plains[end], depth) is region:
                end += 1
            group = plains[position:end]
            if region is None:
                self.group = []
                result += [self.rewritten(p.statement) for p in group]
                result += self.epilogue(self.group)
            else:
                body = tuple(self.grouped(group, depth + 1))
                result.append(ir.Region(region.generator, region.source_region, body))
            position = end
        return result

    def epilogue(self, statements: list[ir.AnyStmt]) -> list[ir.AnyStmt]:
        """Keep what these statements declared or assigned."""
        uses = uses_of(statements)
        lines: list[ir.AnyStmt] = []
        for name, spill in self.kept_here.items():
            if name in self.splitter.locals:
                if name in uses.buffers:
                    lines.append(self.copy_array(name, spill, into_local=False))
            elif name in uses.writes:
                lines.append(ir.Node.store(spill.buffer, ir.Expr.var(LINEAR), ir.Expr.var(name)))
        return lines

    def rewritten(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        """The statement with its returns marked, and its leaving of a split loop signalled."""
        self.group.append(statement)
        return self.statement(statement, in_inner_loop=False)

    def statement(self, statement: ir.AnyStmt, in_inner_loop: bool) -> ir.AnyStmt:
        match statement:
            case ir.Return() if self.returns:
                mark = ir.Node.store(RETURNED, ir.Expr.var(LINEAR), ir.Expr.u32(1))
                return ir.Node.block([mark, statement])
            case ir.Break() if self.segment.in_loop and not in_inner_loop:
                return self.leaving(EXIT_LEAVE)
            case ir.Continue() if self.segment.in_loop and not in_inner_loop:
                return self.leaving(EXIT_CONTINUE)
            case _:
                inner = in_inner_loop or isinstance(statement, (ir.Loop, ir.While))
                return map_bodies(statement, lambda body: self.body(body, inner))

    def body(self, body: ir.Body, in_inner_loop: bool) -> ir.Body:
        result = tuple(self.statement(s, in_inner_loop) for s in body)
        same = all(new is old for new, old in zip(result, body, strict=True))
        return body if same else result

    def leaving(self, how: int) -> ir.AnyStmt:
        self.declare_shared(EXIT)
        keep = self.epilogue(self.group)
        signal = ir.Node.eval(ir.Expr.atomic_or(EXIT, 0, ir.Expr.u32(how)))
        return ir.Node.block([*keep, signal, ir.Node.return_()])

    def copy_array(self, name: str, spill: Spill, *, into_local: bool) -> ir.AnyStmt:
        element = f"vyre.sync.element.{name}.{'in' if into_local else 'out'}"
        count = ir.Expr.u32(spill.per_invocation)
        far = ir.Expr.var(LINEAR) * count + ir.Expr.var(element)
        near = ir.Expr.var(element)
        line = (
            ir.Node.store(name, near, ir.Expr.load(spill.buffer, far))
            if into_local
            else ir.Node.store(spill.buffer, far, ir.Expr.load(name, near))
        )
        return ir.Node.loop(element, ir.Expr.u32(0), count, [line])


def _without_idle_loops(steps: Iterable[Step], empty: frozenset[int]) -> tuple[Step, ...]:
    """The steps without counted loops that launch nothing: they may have any number of rounds."""
    found: list[Step] = []
    for step in steps:
        match step:
            case CountedLoop(variable, bounds, inner):
                acting = _without_idle_loops(inner, empty)
                if any(not isinstance(s, Launch) or s.segment not in empty for s in acting):
                    found.append(CountedLoop(variable, bounds, acting))
            case ConditionLoop(condition, inner):
                found.append(ConditionLoop(condition, _without_idle_loops(inner, empty)))
            case _:
                found.append(step)
    return tuple(found)


def _region_at(plain: Plain, depth: int) -> ir.Region | None:
    return plain.regions[depth] if len(plain.regions) > depth else None


def _buffers_of(statement: ir.AnyStmt) -> frozenset[str]:
    return uses_of([statement]).buffers


def _root_name(program: ir.Program) -> str:
    first = program.entry[0] if program.entry else None
    return first.generator if isinstance(first, ir.Region) else "vyre.program.root"


def _linear_index(size: tuple[int, int, int]) -> ir.AnyExpr:
    counts = [ir.Expr.num_workgroups(axis) for axis in (0, 1)]
    row, column = (
        count if extent == 1 else count * ir.Expr.u32(extent)
        for count, extent in zip(counts, size, strict=False)
    )
    return (ir.Expr.gid(2) * column + ir.Expr.gid(1)) * row + ir.Expr.gid(0)
