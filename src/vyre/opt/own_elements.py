"""Which elements of a buffer an invocation, or its workgroup, has written before it reads them.

An index is split into a base, the same for the whole workgroup, and an offset. Two indices with
one base name the same element exactly when their offsets are equal, whatever the base is, so a
read is the workgroup's own if its offset lies among those that the workgroup has written.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from vyre import ir
from vyre.analysis import (
    TOP,
    BufferRef,
    BufferUse,
    Interval,
    Level,
    ProgramFacts,
    Ranges,
    Uniformity,
)
from vyre.analysis.affine import Affine, AffineForms, Opaque, Symbol, Variable

_PLAIN = frozenset({BufferUse.READ, BufferUse.WRITE, BufferUse.LENGTH})
_AGREED = frozenset(
    {ir.BuiltinKind.WORKGROUP_ID, ir.BuiltinKind.NUM_WORKGROUPS, ir.BuiltinKind.SUBGROUP_SIZE}
)
"""What all invocations of a workgroup have in common."""
_STRAIGHT = (ir.Region, ir.Block)
_WAYS_OUT = frozenset({ir.Break, ir.Continue, ir.Return})


class _Tile(NamedTuple):
    """Offsets that the whole workgroup has written, all of them, after a statement."""

    base: Affine
    first: int
    end: int
    position: int


class OwnElements:
    """Answers for one program."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.facts = ProgramFacts.of(program)
        self.forms = AffineForms.of(program)
        self.ranges = Ranges.of(program)
        self.uniformity = Uniformity.of(program)

    def refusal(self, buffer: str) -> str | None:
        """Why some read may not be the workgroup's own; None when each one is."""
        refs = self.facts.refs_by_buffer.get(buffer, [])
        if self.facts.opaques:
            return "an opaque statement may touch it"
        for ref in refs:
            if ref.use not in _PLAIN:
                return f"it is used by {ref.use.value.replace('_', ' ')}"
        writes = [ref for ref in refs if ref.use is BufferUse.WRITE]
        reads = [ref for ref in refs if ref.use is BufferUse.READ]
        tiles = [tile for ref in writes if (tile := self._tile(ref)) is not None]
        for ref in reads:
            if not (self._is_private(ref, writes) or self._is_in_tile(ref, tiles)):
                where = self.facts.path(ref.position)
                return f"the read at {where} is not proven to be of the workgroup's own elements"
        return None

    def index_of(self, ref: BufferRef) -> ir.AnyExpr:
        """The index of an access."""
        if isinstance(ref.expr, ir.Load):
            return ref.expr.index
        store = self.facts.statements[ref.position]
        assert isinstance(store, ir.Store)
        return store.index

    def _is_private(self, read: BufferRef, writes: list[BufferRef]) -> bool:
        """Whether the invocation itself has stored to that element, on every way to the read."""
        index = self.index_of(read)
        return any(
            self._comes_before(write.position, read.position)
            and self.forms.difference(self.index_of(write), write.position, index, read.position)
            == 0
            for write in writes
        )

    def _comes_before(self, first: int, second: int) -> bool:
        """Whether the statement at `first` is executed on every way to the one at `second`."""
        parent = self.facts.parents[first]
        if first >= second or not (parent == TOP or self.facts.is_descendant_of(second, parent)):
            return False
        # Of an if, both must stand in the same arm.
        arm = second
        while self.facts.parents[arm] != parent:
            arm = self.facts.parents[arm]
        return self.facts.fields[arm] == self.facts.fields[first]

    def _is_in_tile(self, read: BufferRef, tiles: list[_Tile]) -> bool:
        form = self.forms.of_expr(self.index_of(read), read.position)
        if form is None:
            return False
        base, offset = self._split(form)
        found = self._interval(offset)
        if found is None:
            return False
        return any(
            tile.base == base
            and tile.first <= found.low
            and found.high < tile.end
            and self._barrier_between(tile.position, read.position)
            for tile in tiles
        )

    def _tile(self, write: BufferRef) -> _Tile | None:
        """The offsets that a store fills, if all invocations execute it together, always."""
        position, rounds, loop = write.position, Interval(0, 0), None
        parent = self.facts.parents[position]
        if parent != TOP and self.facts.kinds[parent] is ir.Loop:
            bounds = _literal_bounds(self.facts.statements[parent])
            if bounds is None or self._is_left_early(parent):
                return None
            loop, rounds, position = parent, bounds, parent
        if not self._is_straight(position):
            return None
        if self.uniformity.convergence(write.position) > Level.WORKGROUP:
            return None
        form = self.forms.of_expr(self.index_of(write), write.position)
        if form is None:
            return None
        base, offset = self._split(form)
        size = prod(self.program.workgroup_size)
        terms = dict(offset.terms)
        step = terms.pop(Variable(loop), 0) if loop is not None else 0
        if terms != self._linear_id() or step not in (0, size):
            return None
        start = offset.signed(offset.constant)
        if step == 0:
            return _Tile(base, start, start + size, position)
        return _Tile(base, start + step * rounds.low, start + step * (rounds.high + 1), position)

    def _is_left_early(self, loop: int) -> bool:
        """Whether a round, or the rest of them, may be left out."""
        inside = range(loop + 1, self.facts.ends[loop])
        return any(self.facts.kinds[position] in _WAYS_OUT for position in inside)

    def _linear_id(self) -> dict[Symbol, int]:
        width, height, depth = self.program.workgroup_size
        steps = ((0, width, 1), (1, height, width), (2, depth, width * height))
        return {
            ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis): step
            for axis, extent, step in steps
            if extent > 1
        }

    def _is_straight(self, position: int) -> bool:
        """Whether nothing but regions and blocks stands around the statement."""
        parent = self.facts.parents[position]
        while parent != TOP:
            if not isinstance(self.facts.statements[parent], _STRAIGHT):
                return False
            parent = self.facts.parents[parent]
        return True

    def _barrier_between(self, first: int, second: int) -> bool:
        for position in range(self.facts.ends[first], second):
            statement = self.facts.statements[position]
            if (
                isinstance(statement, ir.Barrier)
                and statement.ordering is not ir.MemoryOrdering.GRID_SYNC
                and self._is_straight(position)
            ):
                return True
        return False

    def _split(self, form: Affine) -> tuple[Affine, Affine]:
        """The part that the workgroup agrees on through its own position, and the rest."""
        size = self.program.workgroup_size
        base: dict[Symbol, int] = {}
        offset: dict[Symbol, int] = {}
        mask = (1 << form.bits) - 1

        def add(terms: dict[Symbol, int], symbol: Symbol, value: int) -> None:
            total = (terms.get(symbol, 0) + value) & mask
            if total:
                terms[symbol] = total
            else:
                terms.pop(symbol, None)

        for symbol, value in form.terms.items():
            if isinstance(symbol, ir.Builtin) and symbol.kind is ir.BuiltinKind.GLOBAL_ID:
                axis = symbol.axis
                add(base, ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, axis), value * size[axis])
                if size[axis] > 1:
                    add(offset, ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis), value)
            elif isinstance(symbol, ir.Builtin) and symbol.kind is ir.BuiltinKind.LOCAL_ID:
                if size[symbol.axis] > 1:
                    add(offset, symbol, value)
            elif isinstance(symbol, ir.Builtin) and symbol.kind in _AGREED:
                add(base, symbol, value)
            else:
                add(offset, symbol, value)
        return Affine(form.bits, 0, base), Affine(form.bits, form.constant, offset)

    def _interval(self, form: Affine) -> Interval | None:
        low = high = form.signed(form.constant)
        for symbol, raw in form.terms.items():
            found = self._symbol_interval(symbol)
            if found is None:
                return None
            value = form.signed(raw)
            ends = (value * found.low, value * found.high)
            low, high = low + min(ends), high + max(ends)
        return Interval(low, high)

    def _symbol_interval(self, symbol: Symbol) -> Interval | None:
        match symbol:
            case ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis):
                return Interval(0, self.program.workgroup_size[axis] - 1)
            case ir.Builtin(ir.BuiltinKind.SUBGROUP_LANE):
                # A lane is no greater than the position in the workgroup.
                return Interval(0, prod(self.program.workgroup_size) - 1)
            case Opaque(position, expr):
                return self.ranges.interval(expr, position)
            case Variable(binding):
                return self._variable_interval(binding)
            case _:
                return None

    def _variable_interval(self, binding: int) -> Interval | None:
        statement = self.facts.statements[binding]
        if isinstance(statement, ir.Loop):
            start = self._bound(statement.start, binding)
            stop = self._bound(statement.stop, binding)
            if start is None or stop is None or stop.high <= start.low:
                return None
            return Interval(start.low, stop.high - 1)
        value = statement.value if isinstance(statement, ir.Let) else None
        return None if value is None else self.ranges.interval(value, binding)

    def _bound(self, expr: ir.AnyExpr, position: int) -> Interval | None:
        if isinstance(expr, ir.Lit):
            return Interval(int(expr.value), int(expr.value))
        return self.ranges.interval(expr, position)


def _literal_bounds(statement: object) -> Interval | None:
    """The first and the last value of a loop variable between literals, if there is any."""
    if not (isinstance(statement, ir.Loop) and isinstance(statement.start, ir.Lit)):
        return None
    if not isinstance(statement.stop, ir.Lit) or statement.stop.value <= statement.start.value:
        return None
    return Interval(int(statement.start.value), int(statement.stop.value) - 1)
