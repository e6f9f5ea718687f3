"""The program of a tiled launch: stages one after the other, in every workgroup.

    let group = wid.x
    if group - first < count {          all invocations lie in the interior: no guard, no clamp
        stage 0 into its tile           let v = step * group + lane + first
        barrier
        stage 1 from the tile           t[e]  ->  tile[e - origin]
    } else {
        the same with all guards        t[e]  ->  tile[e < length ? e - origin : nowhere]
    }

Outside of [0, length) a load of the buffer gives zero: so does the one of the tile, at any edge.
Stores beyond the length fill elements that only such loads would name. Invocations beyond a
stage's own grid do nothing; stores to memory are those of the workgroup that owns the invocation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vyre import ir
from vyre.analysis import ProgramFacts
from vyre.analysis.affine import AffineForms, Opaque, Variable
from vyre.ir.buffer import NO_ELEMENT
from vyre.ir.walk import map_bodies, map_exprs
from vyre.plan.arms import FreshNames
from vyre.plan.interior import Interior
from vyre.plan.register_handoff import LENGTH
from vyre.plan.tile_plan import Stage, StageRange, Tile, TilePlan

FIRST, COUNT, TOTAL = "tiles_first", "tiles_count", "tiles_total"
_WORD = (1 << 32) - 1
_GID = ir.Builtin(ir.BuiltinKind.GLOBAL_ID, 0)
Change = Callable[[ir.AnyExpr, int], ir.AnyExpr]
"""What becomes of a tile's index, at the position of a statement."""


def tiled_program(
    stages: Sequence[Stage], interiors: Sequence[Interior], plan: TilePlan
) -> ir.Program:
    """Join the stages to one program."""
    return _Joining(stages, plan).program(interiors)


class _Joining:
    def __init__(self, stages: Sequence[Stage], plan: TilePlan) -> None:
        self._stages = stages
        self._plan = plan
        self._fresh = FreshNames(stage.program for stage in stages)
        self._group, self._lane = self._fresh.like("group"), self._fresh.like("lane")
        self._slots = [self._fresh.like(f"tile{n}") for n in range(len(plan.slots))]
        self._locals: list[dict[str, str]] = []
        self._zeros: dict[ir.DataType, str] = {}
        self._totals: set[int] = set()
        self._lengths: set[str] = set()

    def program(self, interiors: Sequence[Interior]) -> ir.Program:
        inside = self._version([each.body for each in interiors], is_interior=True)
        edge = self._version([each.program.entry for each in self._stages], is_interior=False)
        group = ir.Expr.var(self._group)
        test = (group - _number(FIRST)) < _number(COUNT)
        body: list[ir.AnyStmt] = [
            ir.Node.let(self._group, ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, 0)),
            ir.Node.let(self._lane, ir.Builtin(ir.BuiltinKind.LOCAL_ID, 0)),
            ir.Node.if_(test, inside, edge),
        ]
        fast = self._stages[0].program.fast_math
        return ir.Program.wrapped(self._buffers(), (self._plan.lanes, 1, 1), body, None, fast)

    def _buffers(self) -> list[ir.BufferDecl]:
        bound: list[ir.BufferDecl] = []
        own: list[ir.BufferDecl] = []
        known: set[str] = set()
        for number, stage in enumerate(self._stages):
            for decl in stage.program.buffers:
                tile = self._plan.tiles.get(decl.name)
                if decl.binding is None:
                    own.append(decl.with_name(f"s{number}.{decl.name}"))
                elif decl.name in known or (tile is not None and not tile.is_written_through):
                    continue
                elif tile is None or decl.is_writable:
                    # Of a value that is written through, its producer's declaration.
                    known.add(decl.name)
                    bound.append(decl)
        numbers = [FIRST, COUNT, *(f"{TOTAL}{n}" for n in sorted(self._totals))]
        numbers += [name + LENGTH for name in sorted(self._lengths)]
        for name in numbers:
            bound.append(ir.BufferDecl.uniform(name, 0, ir.DataType.U32).with_count(1))
        for name, (element, size) in zip(self._slots, self._plan.slots, strict=True):
            own.append(ir.BufferDecl.workgroup(name, size, element))
        own += [ir.BufferDecl.local(name, 1, element) for element, name in self._zeros.items()]
        return [*(decl.with_binding(n) for n, decl in enumerate(bound)), *own]

    def _version(self, bodies: Sequence[ir.Body], *, is_interior: bool) -> list[ir.AnyStmt]:
        result: list[ir.AnyStmt] = []
        for number, (stage, body) in enumerate(zip(self._stages, bodies, strict=True)):
            cleared = [
                tile
                for decl in stage.program.buffers
                if (tile := self._plan.tiles.get(decl.name)) is not None
                and tile.is_cleared
                and decl.is_writable
            ]
            for tile in cleared:
                result += self._clearing(tile)
            if cleared:
                result.append(ir.Node.barrier())
            result += self._stage(number, body, is_interior=is_interior)
            if number + 1 < len(bodies):
                result.append(ir.Node.barrier())
        return result

    def _zero(self, element: ir.DataType) -> ir.AnyExpr:
        name = self._zeros.setdefault(element, self._fresh.like(f"zero{len(self._zeros)}"))
        return ir.Expr.load(name, 0)

    def _clearing(self, tile: Tile) -> list[ir.AnyStmt]:
        """Zeros in all elements of a tile, by all lanes."""
        element, size = self._plan.slots[tile.slot]
        lanes, step = self._plan.lanes, self._fresh.like("clear")
        index = ir.Expr.var(self._lane) + ir.Expr.var(step) * ir.Expr.u32(lanes)
        store = ir.Node.store(self._slots[tile.slot], index, self._zero(element))
        return [ir.Node.loop(step, 0, -(-size // lanes), [store])]

    def _stage(self, number: int, body: ir.Body, *, is_interior: bool) -> list[ir.AnyStmt]:
        stage, bounds, lanes = self._stages[number], self._plan.stages[number], self._plan.lanes
        row, own = self._fresh.like("row"), self._fresh.like("own")
        at = ir.Expr.var(row)
        first = ir.Expr.var(self._group) * ir.Expr.u32(bounds.step)
        rewriting = _Rewriting(self, number, own, at, is_interior)
        inner: list[ir.AnyStmt] = [
            ir.Node.let(own, first + at + ir.Expr.u32(bounds.first & _WORD)),
            *rewriting.body(stage.program.with_rewritten_entry(body)),
        ]
        if not is_interior and not bounds.is_guarded:
            self._totals.add(number)
            inside = ir.Expr.var(own) < _number(f"{TOTAL}{number}")
            inner = [inner[0], ir.Node.if_(inside, inner[1:])]
        chunks = -(-bounds.rows // lanes)
        if bounds.rows % lanes:
            inner = [ir.Node.if_(at < ir.Expr.u32(bounds.rows), inner)]
        lane, chunk = ir.Expr.var(self._lane), self._fresh.like("chunk")
        if chunks == 1:
            inner = [ir.Node.let(row, lane), *inner]
        else:
            shift = ir.Expr.var(chunk) * ir.Expr.u32(lanes)
            inner = [*self._fresh_locals(stage, number), *inner]
            body_of_chunk = [ir.Node.let(row, shift + lane), *inner]
            inner = [ir.Node.loop(chunk, 0, chunks, body_of_chunk)]
        return [ir.Region(stage.name, None, tuple(inner))]

    def _fresh_locals(self, stage: Stage, number: int) -> list[ir.AnyStmt]:
        """Zeros in the private arrays of a stage: each of its invocations begins with them."""
        result: list[ir.AnyStmt] = []
        for decl in stage.program.buffers:
            if decl.binding is None and decl.count:
                name, step = f"s{number}.{decl.name}", self._fresh.like("clear")
                store = ir.Node.store(name, ir.Expr.var(step), self._zero(decl.element))
                result.append(ir.Node.loop(step, 0, decl.count, [store]))
        return result

    def length(self, name: str) -> ir.AnyExpr:
        """The number of elements of a value that has no memory."""
        tile = self._plan.tiles[name]
        if tile.is_written_through:
            return ir.Expr.buf_len(name)
        if tile.length:
            return ir.Expr.buf_len(tile.length)
        self._lengths.add(name)
        return _number(name + LENGTH)

    def slot(self, name: str) -> str:
        """The workgroup memory of a value."""
        return self._slots[self._plan.tiles[name].slot]

    @property
    def tiles(self) -> Mapping[str, Tile]:
        """The tiles of values."""
        return self._plan.tiles

    def bounds(self, number: int) -> StageRange:
        """The invocations of a stage."""
        return self._plan.stages[number]

    def group(self) -> ir.AnyExpr:
        """The number of the workgroup."""
        return ir.Expr.var(self._group)


class _Rewriting:
    """Rewrites the body of one stage."""

    def __init__(
        self, joining: _Joining, number: int, own: str, row: ir.AnyExpr, is_interior: bool
    ) -> None:
        self._joining = joining
        self._number = number
        self._own = ir.Expr.var(own)
        self._row = row
        self._is_interior = is_interior
        self._position = -1

    def body(self, program: ir.Program) -> ir.Body:
        self._facts = ProgramFacts.of(program)
        self._forms = AffineForms.of(program)
        self._local = {
            d.name: f"s{self._number}.{d.name}" for d in program.buffers if d.binding is None
        }
        return self._statements(program.entry)

    def _statements(self, body: ir.Body) -> ir.Body:
        result: list[ir.AnyStmt] = []
        for statement in body:
            self._position += 1
            position = self._position
            changed = self._statement(statement, position)
            result += changed
        return tuple(result)

    def _statement(self, statement: ir.AnyStmt, position: int) -> list[ir.AnyStmt]:
        index = None
        if isinstance(statement, ir.Store) and statement.buffer in self._joining.tiles:
            index = self._index(statement.buffer, statement.index, position, is_store=True)
        changed = map_exprs(statement, lambda e: self._expr(e, position))
        changed = map_bodies(changed, self._statements)
        if not isinstance(changed, ir.Store):
            return [changed]
        tile = self._joining.tiles.get(changed.buffer)
        if changed.buffer in self._local:
            return [ir.Node.store(self._local[changed.buffer], changed.index, changed.value)]
        found: list[ir.AnyStmt] = []
        if tile is not None and index is not None:
            found.append(ir.Node.store(self._joining.slot(changed.buffer), index, changed.value))
        if tile is None or tile.is_written_through:
            found.append(self._owned(changed))
        return [each.at(statement.span) for each in found]

    def _owned(self, store: ir.Store) -> ir.AnyStmt:
        """A store to memory, by the workgroup to which the invocation belongs."""
        bounds = self._joining.bounds(self._number)
        if bounds.is_exact:
            return store
        place = self._row + ir.Expr.u32(bounds.first & _WORD)
        return ir.Node.if_(place < ir.Expr.u32(bounds.step), [store])

    def _expr(self, expr: ir.AnyExpr, position: int) -> ir.AnyExpr:
        match expr:
            case ir.Load(buffer, index) if buffer in self._joining.tiles:
                at = self._index(buffer, index, position, is_store=False)
                return ir.Expr.load(self._joining.slot(buffer), at)
            case ir.Load(buffer, index) if buffer in self._local:
                return ir.Expr.load(self._local[buffer], self._expr(index, position))
            case ir.BufLen(buffer) if buffer in self._joining.tiles:
                return self._joining.length(buffer)
            case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, axis):
                return self._own if axis == 0 else ir.Expr.u32(0)
            case _:
                return map_exprs(expr, lambda e: self._expr(e, position))

    def _index(
        self, buffer: str, index: ir.AnyExpr, position: int, *, is_store: bool
    ) -> ir.AnyExpr:
        """Where an element of a value is in its tile."""
        tile = self._joining.tiles[buffer]
        if self._is_interior:
            found = self._relative(tile, index, position)
            if found is not None:
                return found
        element = self._expr(index, position)
        origin = self._joining.group() * ir.Expr.u32(tile.step) + ir.Expr.u32(tile.first & _WORD)
        place = element - origin
        if self._is_interior or is_store:
            return place
        inside = element < self._joining.length(buffer)
        return ir.Expr.select(inside, place, ir.Expr.u32(NO_ELEMENT))

    def _relative(self, tile: Tile, index: ir.AnyExpr, position: int) -> ir.AnyExpr | None:
        """The same without the number of the workgroup, which cancels out; None if it is in it."""
        form = self._forms.of_expr(index, position)
        if form is None or form.bits != 32:
            return None
        bounds = self._joining.bounds(self._number)
        stride = form.terms.get(_GID, 0)
        if stride * bounds.step != tile.step:
            return None
        total = self._row if stride == 1 else self._row * ir.Expr.u32(stride)
        for symbol, factor in form.terms.items():
            if symbol == _GID:
                continue
            written = self._symbol(symbol, position)
            if written is None:
                return None
            total = total + (written if factor == 1 else written * ir.Expr.u32(factor))
        constant = (form.constant + stride * bounds.first - tile.first) & _WORD
        return total + ir.Expr.u32(constant) if constant else total

    def _symbol(self, symbol: object, position: int) -> ir.AnyExpr | None:
        match symbol:
            case Variable(binding):
                statement = self._facts.statements[binding]
                name = (
                    statement.var
                    if isinstance(statement, ir.Loop)
                    else getattr(statement, "name", "")
                )
                same = bool(name) and self._facts.binding(name, position) == binding
                return ir.Expr.var(name) if same else None
            case Opaque(at, expr) if at == position:
                return self._expr(expr, position)
            case _:
                return None


def _number(name: str) -> ir.AnyExpr:
    return ir.Expr.load(name, ir.Expr.u32(0))
