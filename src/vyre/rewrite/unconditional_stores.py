"""Store if-conversion: conditional stores to zero-initialised outputs become unconditional.

    if x[i] > 0 { y[i] = x[i] }

becomes

    let v = 0
    if x[i] > 0 { v = x[i] }
    y[i] = v

`Out` arrays begin as zeros. Zeroing `y` before the launch costs a pass over memory, as much as the
kernel itself; after the rewrite `y` is fully overwritten and the zeroing is dead.

Legal when every store to `y` is at the invocation's own position, nothing reads `y`, and
invocations that share a position compute the same value: no id along an axis that `y` does not have
is used, and no buffer is both read and written.

Not done for packed element types (zero may have another representation), or if the output is not
fully covered afterwards (see `analysis.output_coverage`).
"""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.analysis.coverage_types import Coverage
from vyre.analysis.output_coverage import conjuncts, expanded, limits_of, output_coverage, own_rank
from vyre.ir.buffer import SHAPE
from vyre.ir.independence import are_apart
from vyre.ir.walk import (
    assigned_names,
    rebuilt,
    walk_all_exprs,
    walk_own_exprs,
    walk_stmts,
)


def with_unconditional_stores(program: ir.Program, outputs: Iterable[str]) -> ir.Program:
    """Make the stores to `outputs` unconditional where that is legal and profitable."""
    stored = {s.buffer for s in walk_stmts(program.entry) if isinstance(s, ir.Store)}
    wanted = sorted(stored & set(outputs))
    if not wanted or not _is_plain(program, stored):
        return program
    filled = output_coverage(program)
    buffers = {decl.name: decl for decl in program.buffers}
    for name in wanted:
        if not _is_whole(filled.get(name)):
            made = _Conversion(program, buffers[name]).converted()
            # Not profitable if the runtime has to zero the output all the same.
            program = made if _is_whole(output_coverage(made).get(name)) else program
    return program


def _is_whole(filled: Coverage | None) -> bool:
    """True if no guard excludes a border of the buffer."""
    return filled is not None and not any(limit.is_edge for limit in filled.limits)


def _is_plain(program: ir.Program, stored: set[str]) -> bool:
    """True if invocations are independent and read no buffer that any of them writes."""
    if any(decl.is_workgroup for decl in program.buffers) or not are_apart(program.entry):
        return False
    shared = stored - {decl.name for decl in program.buffers if decl.is_local}
    return not any(
        isinstance(node, ir.Load) and node.buffer in shared
        for node in walk_all_exprs(program.entry)
    )


class _Conversion:
    """The conversion of the stores to one output."""

    def __init__(self, program: ir.Program, decl: ir.BufferDecl) -> None:
        self._program = program
        self._decl = decl
        assigned = assigned_names(program.entry)
        self._values: dict[str, ir.AnyExpr] = {}
        for statement in walk_stmts(program.entry):
            if isinstance(statement, ir.Let) and statement.name not in assigned:
                self._values[statement.name] = expanded(statement.value, self._values)
        self._name = f"{decl.name}.value"

    def converted(self) -> ir.Program:
        """The rewritten program, or the same object if the rewrite is not legal."""
        program, buffer = self._program, self._decl.name
        places = {
            expanded(s.index, self._values)
            for s in walk_stmts(program.entry)
            if isinstance(s, ir.Store) and s.buffer == buffer
        }
        element = self._decl.element
        if len(places) != 1 or element.is_vector or element.value_type is not element:
            # Zeros of packed types need not be the number 0.
            return program
        place = places.pop()
        guards = [place.cond] if isinstance(place, ir.Select) else []
        rank = own_rank(place.if_true if isinstance(place, ir.Select) else place, buffer)
        if not rank or not self._is_uniform_per_position(rank):
            return program
        body = self._body(_without_returns(program.entry), place, rank, guards)
        return program if body is None else program.with_rewritten_entry(body)

    def _is_uniform_per_position(self, rank: int) -> bool:
        """True if invocations at the same position of the output compute the same value."""
        for statement in walk_stmts(self._program.entry):
            for node in walk_own_exprs(statement):
                if not isinstance(node, ir.Builtin) or node.kind is ir.BuiltinKind.NUM_WORKGROUPS:
                    continue
                if node.kind is not ir.BuiltinKind.GLOBAL_ID or node.axis >= rank:
                    return False
        return True

    def _body(
        self, body: ir.Body, place: ir.AnyExpr, rank: int, guards: list[ir.AnyExpr]
    ) -> ir.Body | None:
        """Rewrite the innermost statements that contain all stores to the output."""
        holding = [n for n, statement in enumerate(body) if self._stores(statement)]
        first, last = holding[0], holding[-1]
        only = body[first]
        if first == last and isinstance(only, (ir.Block, ir.Region)):
            inner = self._body(only.body, place, rank, guards)
            return inner and (*body[:first], rebuilt(only, {"body": inner}), *body[first + 1 :])
        if first == last and isinstance(only, ir.If) and self._is_limit(only):
            under = [*guards, expanded(only.cond, self._values)]
            inner = self._body(only.then, place, rank, under)
            return inner and (*body[:first], rebuilt(only, {"then": inner}), *body[first + 1 :])
        ends = any(isinstance(s, ir.Return) for s in walk_stmts(body[first : last + 1]))
        if ends or (rank > 1 and not self._is_inside(rank, guards)):
            return None
        value_type = self._decl.element.value_type
        zero = ir.Expr.lit(False if value_type.is_bool else 0, value_type)
        if first == last and isinstance(only, ir.If) and self._is_edge(only):
            # A branch is cheap at a border: whole rows of invocations take the same side.
            other = (ir.Store(self._decl.name, place, zero),)
            return (*body[:first], rebuilt(only, {"otherwise": other}), *body[first + 1 :])
        within = tuple(self._held(statement) for statement in body[first : last + 1])
        written = ir.Store(self._decl.name, place, ir.Var(self._name))
        return (*body[:first], ir.Let(self._name, zero), *within, written, *body[last + 1 :])

    def _stores(self, statement: ir.AnyStmt) -> bool:
        buffer = self._decl.name
        return any(isinstance(s, ir.Store) and s.buffer == buffer for s in walk_stmts((statement,)))

    def _held(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        """Replace stores to the output by assignments to the variable."""
        if isinstance(statement, ir.Store) and statement.buffer == self._decl.name:
            return ir.Assign(self._name, statement.value)
        if not self._stores(statement):
            return statement
        names = [name for name in statement.body_fields if getattr(statement, name)]
        inner: dict[str, object] = {
            name: tuple(map(self._held, getattr(statement, name))) for name in names
        }
        return rebuilt(statement, inner)

    def _is_limit(self, statement: ir.If) -> bool:
        """True if a condition fails only for invocations outside the arrays."""
        found = limits_of(expanded(statement.cond, self._values))
        if statement.otherwise or found is None:
            return False
        return not any(limit.is_edge for limit in found)

    def _is_edge(self, statement: ir.AnyStmt) -> bool:
        """True if only invocations at a border do not store, and all others once, at the end."""
        if not isinstance(statement, ir.If) or statement.otherwise:
            return False
        if limits_of(expanded(statement.cond, self._values)) is None:
            return False
        *before, last = statement.then
        return isinstance(last, ir.Store) and not any(map(self._stores, before))

    def _is_inside(self, rank: int, guards: list[ir.AnyExpr]) -> bool:
        """True if guards compare the position with every extent, so that no two positions alias."""
        known = [part for guard in guards for part in conjuncts(guard)]
        for axis in range(rank):
            extent = ir.Load(self._decl.name + SHAPE, ir.Expr.u32(rank - 1 - axis))
            own = ir.Builtin(ir.BuiltinKind.GLOBAL_ID, axis)
            if ir.Binary(ir.BinOp.LT, own, extent) not in known:
                return False
        return True


def _without_returns(body: ir.Body) -> ir.Body:
    """Replace early returns by a conditional around the rest of the body."""
    if len(body) == 1 and isinstance(body[0], (ir.Block, ir.Region)):
        return (rebuilt(body[0], {"body": _without_returns(body[0].body)}),)
    for position, statement in enumerate(body):
        match statement:
            case ir.If(cond, (ir.Return(),), ()):
                rest = _without_returns(body[position + 1 :])
                return (
                    (*body[:position], ir.If(ir.Unary(ir.UnOp.NOT, cond), rest, ()))
                    if rest
                    else body
                )
            case _:
                pass
    return body


__all__ = ["with_unconditional_stores"]
