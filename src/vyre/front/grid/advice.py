"""Why the host cannot know the grid of a kernel, at which line, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from vyre import ir
from vyre.analysis.default_grid.bounds import Facts
from vyre.analysis.default_grid.effects import Effect, Search
from vyre.analysis.default_grid.extents import Axis, Constant, Extent, Length, Number, Sizes
from vyre.analysis.default_grid.integers import Whole
from vyre.analysis.default_grid.needs import Needs
from vyre.analysis.default_grid.polynomials import GROUP, GROUPS, LANE, Group
from vyre.diagnostics import Diagnostic, Location
from vyre.diagnostics.codes import driver as codes
from vyre.front.grid.dependence import BY_CONDITION, IN_A_LOOP, Dependence
from vyre.ir.walk import (
    expr_children,
    variables_of,
    walk_all_exprs,
    walk_own_exprs,
    walk_stmts,
)
from vyre.record import dataclass

_MANY_GROUPS = {1: "16", 2: "(16, 16)", 3: "(8, 8, 8)"}
"""Workgroups to begin with, by how many axes are asked about."""
_ORDERS = (ir.BinOp.LT, ir.BinOp.LE, ir.BinOp.GT, ir.BinOp.GE)
_IDS = frozenset((*GROUP, *LANE, *GROUPS))
_LETTERS = "whd"
"""What extents along x, y and z are called that are not known."""
_OTHERS = ("width", "height", "depth", *(f"extent_{number}" for number in range(100)))
"""What they are called in kernels that use these names."""


def refusal(program: ir.Program, sizes: Sizes) -> Diagnostic:
    """What keeps the host from knowing the grid, for arguments of these sizes."""
    clues = Clues()
    needs = Needs.of(program, clues.note)
    refused = next(needs.refused(), None)
    if refused is None:
        fix = _elements(needs.axes, {}, clues, sizes)
        return codes.NO_GRID.at(why=": the kernel stores nothing", fix=fix)
    at = Location(span=refused.statement.span)
    if needs.depends(refused):
        why = ": what this does depends on vy.num_groups()"
        if _shares_by_loops(program):
            count = _MANY_GROUPS[max(needs.axes) + 1]
            fix = f"pass grid={count}, or as many workgroups as are to share the work"
        else:
            fix = _elements(needs.axes, _known(needs, refused), clues, sizes)
        return codes.NO_GRID.at(at, why=why, fix=fix)
    missing = needs.unbounded(refused)
    ids = " and ".join(shown_id(axis) for axis in missing)
    cause = clues.cause(missing, program)
    if cause is not None:
        why = f": what {ids} is compared with here {cause}"
        fix = _elements(needs.axes, _known(needs, refused), clues, sizes)
        return codes.NO_GRID.at(at, why=why, fix=fix)
    why = f": no comparison ends {ids} here, and invocations past the end would do this, too"
    if work_together(program):
        fix = _elements(needs.axes, _known(needs, refused), clues, sizes)
    else:
        fix = guard(ends_of(program, refused, missing, clues), clues, refused, program)
    return codes.NO_GRID.at(at, why=why, fix=fix)


def ends_of(
    program: ir.Program, effect: Effect, missing: Sequence[int], clues: Clues
) -> dict[int, Extent | None]:
    """Where an effect seems meant to end, along the axes along which nothing ends it."""
    rows = clues.rows(effect)
    # Once all others keep to their rows, the last of them ends with the array.
    wanted = [axis for axis in missing if axis in rows] or missing
    return {axis: rows.get(axis) or clues.of(axis, effect, program) for axis in wanted}


def guard(
    ends: Mapping[int, Extent | None], clues: Clues, effect: Effect, program: ir.Program
) -> str:
    """What to write to keep invocations past the end from an effect."""
    taken = {decl.name for decl in program.buffers}
    tests: list[str] = []
    numbers: list[str] = []
    for axis, end in ends.items():
        text = None if end is None else _text(end)
        if text is None and clues.is_for_one(effect, program):
            tests.append(f"{clues.shown(axis, effect)} == 0")
            continue
        if text is None:
            text = next(name for name in (_LETTERS[axis], *_OTHERS) if name not in taken)
            taken.add(text)
            numbers.append(f"{text}: vy.u32")
        tests.append(f"{clues.shown(axis, effect)} < {text}")
    fix = f"guard it: if {' and '.join(tests)}:"
    return f"{fix} with {' and '.join(numbers)} among the parameters" if numbers else fix


def work_together(program: ir.Program) -> bool:
    """Whether the invocations of a workgroup hand values to each other."""
    talking = (ir.Ballot, ir.Shuffle, ir.SubgroupReduce)
    if any(isinstance(s, (ir.Barrier, ir.AsyncWait)) for s in walk_stmts(program.entry)):
        return True
    if any(decl.is_workgroup for decl in program.buffers):
        return True
    return any(isinstance(node, talking) for node in walk_all_exprs(program.entry))


def _shares_by_loops(program: ir.Program) -> bool:
    """Whether the rounds of some loop depend on the number of workgroups."""
    values: dict[str, list[ir.AnyStmt]] = {}
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (ir.Let, ir.Assign)):
            values.setdefault(statement.name, []).append(statement)
    loops = [s for s in walk_stmts(program.entry) if isinstance(s, (ir.Loop, ir.While))]
    kind = ir.BuiltinKind.NUM_WORKGROUPS
    for loop in loops:
        for statement in _feeding([loop], values):
            found = (n for n in walk_own_exprs(statement))
            if any(isinstance(n, ir.Builtin) and n.kind is kind for n in found):
                return True
    return False


def _feeding(
    statements: Sequence[ir.AnyStmt], values: Mapping[str, Sequence[ir.AnyStmt]]
) -> list[ir.AnyStmt]:
    """Statements, and those that give the variables that they use their values."""
    found, waiting = list[ir.AnyStmt](), list(statements)
    names: set[str] = set()
    while waiting:
        statement = waiting.pop()
        found.append(statement)
        for child in expr_children(statement):
            used = variables_of(child) - names
            names |= used
            for name in used:
                waiting += values.get(name, ())
    return found


def _known(needs: Needs, effect: Effect) -> dict[int, Extent]:
    """What bounds an effect along the axes along which something does."""
    return {axis: effect.ends(axis)[0].extent for axis in needs.axes if effect.ends(axis)}


def _elements(axes: Sequence[int], known: Mapping[int, Extent], clues: Clues, sizes: Sizes) -> str:
    """`elements=` with as many extents as are known filled in."""
    extents: list[str] = []
    open_axes: list[int] = []
    for axis in range(max(axes) + 1):
        end = known.get(axis) or clues.first(axis)
        value = 1 if axis not in axes else _value(end, sizes)
        if value is None:
            open_axes.append(axis)
        extents.append(_LETTERS[axis] if value is None else str(value))
    shown = extents[0] if len(extents) == 1 else f"({', '.join(extents)})"
    if not open_axes:
        return f"pass elements={shown}"
    letters = " and ".join(_LETTERS[axis] for axis in open_axes)
    ids = " and ".join(shown_id(axis) for axis in open_axes)
    verb = "is" if len(open_axes) == 1 else "are"
    return f"pass elements={shown}, where {letters} {verb} how many are needed along {ids}"


def _value(end: Extent | None, sizes: Sizes) -> int | None:
    try:
        return None if end is None else max(end.of(sizes), 0)
    except ZeroDivisionError:
        return None


def shown_id(axis: int) -> str:
    """The global id along an axis, as kernels ask for it."""
    return f"vy.gid({axis})" if axis else "vy.gid()"


def _text(extent: Extent) -> str | None:
    match extent:
        case Length(buffer):
            return f"len({buffer})"
        case Axis(buffer, axis):
            return f"{buffer}.shape[{axis}]"
        case Number(name):
            return name
        case Constant(value):
            return str(value)
        case _:
            return None


@dataclass(slots=True)
class Clues:
    """Arrays that are read at the ids of invocations, and the names that ids have."""

    _ends: dict[tuple[int, str], Extent] = field(default_factory=dict[tuple[int, str], Extent])
    """By axis of the grid and array."""
    _names: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    """By statement and axis of the grid."""
    _bound: dict[str, str] = field(default_factory=dict[str, str])
    """The lines that give variables their values."""
    _rows: dict[int, dict[int, Extent]] = field(default_factory=dict[int, dict[int, Extent]])
    """By effect and axis of the grid, where the place of the effect has rows."""
    _alike: set[int] = field(default_factory=set[int])
    """Stores at places that are known but for counters."""
    _unknown: dict[int, ir.AnyExpr] = field(default_factory=dict[int, ir.AnyExpr])
    """By axis of the grid, what ids are compared with that the host does not know."""
    _mixed: list[ir.AnyExpr] = field(default_factory=list[ir.AnyExpr])
    """What else is compared that the host does not know, perhaps computed from ids."""

    def cause(self, axes: Sequence[int], program: ir.Program) -> str | None:
        """Why nothing is known of what the ids along all of these axes are compared with."""
        found = Dependence(program)
        unknown = dict(self._unknown)
        for expr in self._mixed:
            if found.cause(expr) in (BY_CONDITION, IN_A_LOOP):
                unknown |= {axis: expr for axis in found.axes(expr) if axis not in unknown}
        if not unknown.keys() >= set(axes):
            return None
        return found.cause(unknown[axes[0]])

    def note(self, search: Search, statement: ir.AnyStmt, _: Facts) -> None:
        """Look at a statement and what its variables hold."""
        span = statement.span
        if isinstance(statement, (ir.Let, ir.Assign)) and span is not None and span.source:
            self._bound.setdefault(statement.name, span.source)
        self._names[id(statement)] = self._ids(search)
        if isinstance(statement, ir.Store):
            self._note_rows(search, statement)
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Binary):
                self._note_data(search, node)
            if isinstance(node, ir.Atomic):
                self._note_rows(search, node)
            if not isinstance(node, ir.Load):
                continue
            for axis, ends in search.inside(node.buffer, node.index).items():
                plain = [end for end in ends if isinstance(end.extent, (Length, Axis))]
                if plain:
                    self._ends.setdefault((axis, node.buffer), plain[0].extent)

    def _note_rows(self, search: Search, access: ir.Store | ir.Atomic) -> None:
        place = search.values.of(access.index, search.names)
        if isinstance(place, Whole) and place.exact is not None:
            self._rows[id(access)] = search.bounds.rows(place.exact)
            factors = {factor for product, _ in place.exact.terms for factor in product}
            if isinstance(access, ir.Store) and not factors & _IDS:
                self._alike.add(id(access))

    def is_for_one(self, effect: Effect, program: ir.Program) -> bool:
        """Whether one invocation is enough for an effect: all of them store at the same place."""
        node = effect.node
        if not isinstance(node, ir.Store) or id(node) not in self._alike:
            return False
        return Dependence(program).is_same(node.index, effect.statement)

    def rows(self, effect: Effect) -> dict[int, Extent]:
        """What ids must be less than for an effect to stay in its row."""
        return self._rows.get(id(effect.node), {})

    def _note_data(self, search: Search, compared: ir.Binary) -> None:
        if compared.op not in _ORDERS:
            return
        left = search.values.of(compared.left, search.names)
        right = search.values.of(compared.right, search.names)
        known = left if isinstance(left, Whole) else right
        if isinstance(known, Whole) and (left is None or right is None):
            other = compared.right if known is left else compared.left
            self._mixed.append(other)
            for factor in (factor for product, _ in known.form.terms for factor in product):
                if isinstance(factor, Group):
                    self._unknown.setdefault(factor.axis, other)

    def _ids(self, search: Search) -> dict[int, str]:
        found: dict[int, str] = {}
        for name, value in search.names.items():
            line = self._bound.get(name, "")
            if not isinstance(value, Whole) or not re.search(rf"\b{re.escape(name)}\b", line):
                continue
            for axis in range(3):
                if value.exact == search.values.own(axis):
                    found.setdefault(axis, name)
        return found

    def shown(self, axis: int, effect: Effect) -> str:
        """The id along an axis, as it is called where an effect is."""
        return self._names.get(id(effect.statement), {}).get(axis, shown_id(axis))

    def first(self, axis: int) -> Extent | None:
        """The end of some array that is read at the ids along an axis."""
        return next((end for (along, _), end in self._ends.items() if along == axis), None)

    def of(self, axis: int, effect: Effect, program: ir.Program) -> Extent | None:
        """The end of an array that is read at the ids along an axis, for an effect."""
        values: dict[str, list[ir.AnyStmt]] = {}
        around: list[ir.AnyStmt] = [effect.statement]
        for statement in walk_stmts(program.entry):
            if isinstance(statement, (ir.Let, ir.Assign)):
                values.setdefault(statement.name, []).append(statement)
            if isinstance(statement, (ir.If, ir.Loop, ir.While)):
                inner = walk_stmts((statement,))
                around += [statement] if any(s is effect.statement for s in inner) else []
        for statement in _feeding(around, values):
            for node in walk_own_exprs(statement):
                if isinstance(node, (ir.Load, ir.Atomic)) and (axis, node.buffer) in self._ends:
                    return self._ends[axis, node.buffer]
        return None


__all__ = ["Clues", "ends_of", "guard", "refusal", "shown_id", "work_together"]
