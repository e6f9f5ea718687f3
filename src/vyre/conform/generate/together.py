"""Statements that a workgroup or the whole grid makes together: exchanges through memory.

Each kind writes elements of its own, waits, opens a window in which everyone reads, and waits
again before anyone writes next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vyre import ir
from vyre.conform.generate.memory import Memory, Role
from vyre.conform.generate.statements import Place, Statements

_ORDERINGS = (
    *(ir.MemoryOrdering.SEQ_CST, ir.MemoryOrdering.SEQ_CST, ir.MemoryOrdering.ACQ_REL),
    *(ir.MemoryOrdering.ACQUIRE, ir.MemoryOrdering.RELEASE),
)
_GRID_SYNC = ir.MemoryOrdering.GRID_SYNC


class Together:
    """Adds these kinds to a maker of statements."""

    def __init__(self, statements: Statements, slots: int) -> None:
        self._statements = statements
        self._dice = statements.dice
        self._exprs = statements.exprs
        self._slots = slots
        """Invocations of a workgroup, and elements of each workgroup buffer at least."""
        self._tags = 0
        profile = statements.profile
        statements.extra += [
            (profile.barriers, self._exchange, self._where(Role.SHARED)),
            (profile.barriers + profile.atomics, self._tally, self._where(Role.TALLY)),
            (profile.async_copies, self._async_load, self._can_load),
            (profile.async_copies, self._async_store, self._can_store),
            (profile.subgroups, self._subgroup, self._where()),
            (profile.grid_sync, self._relay, self._can_relay),
            (min(profile.grid_sync, profile.returns), self._early_return, self._can_return),
        ]

    # --- where --------------------------------------------------------------------------------

    def _where(self, *roles: Role) -> Callable[[Place], bool]:
        """Fits where the whole workgroup is, if a buffer with each of the roles is free."""

        def fits(place: Place) -> bool:
            here = place.uniform and self._statements.together
            return here and all(self._free(role) for role in roles)

        return fits

    def _free(self, role: Role) -> list[Memory]:
        return [memory for memory in self._statements.memories(role) if not memory.readable]

    def _can_load(self, place: Place) -> bool:
        return self._where(Role.SHARED)(place) and bool(self._load_pairs())

    def _can_store(self, place: Place) -> bool:
        return self._where(Role.SHARED)(place) and bool(self._store_pairs())

    def _can_relay(self, place: Place) -> bool:
        return place.grid and bool(self._free(Role.RELAY))

    def _can_return(self, place: Place) -> bool:
        # In a loop, what comes before the return in the text comes after it in the next round.
        return place.grid and (place.depth == 0 or not self._statements.together)

    def _load_pairs(self) -> list[tuple[Memory, Memory]]:
        inputs = self._statements.memories(Role.INPUT)
        return _same_element(self._free(Role.SHARED), inputs)

    def _store_pairs(self) -> list[tuple[Memory, Memory]]:
        return _same_element(self._free(Role.SHARED), self._statements.memories(Role.COPIED))

    # --- a workgroup --------------------------------------------------------------------------

    def _barrier(self) -> ir.Node:
        return ir.Node.barrier(self._dice.pick(_ORDERINGS))

    def _window(self, memory: Memory, place: Place) -> list[ir.Node]:
        """Statements that may read all of a buffer."""
        if memory.decl.is_workgroup:
            # A grid sync would wipe it.
            place = replace(place, grid=False)
        memory.readable = True
        inside = self._statements.several(place, self._dice.between(1, 3))
        memory.readable = False
        return inside

    def _exchange(self, place: Place) -> list[ir.Node]:
        memory = self._dice.pick(self._free(Role.SHARED))
        made = [self._slot_store(memory), self._barrier()]
        self._statements.spend(*made)
        return [*made, *self._window(memory, place), *self._statements.spend(self._barrier())]

    def _slot_store(self, memory: Memory) -> ir.Node:
        slot = self._statements.visible.slot
        store = ir.Node.store(memory.name, slot, self._exprs.storable(memory))
        if self._dice.chance(3):
            cond = self._exprs.expr(ir.DataType.BOOL, 2)
            return ir.Node.if_(cond, [store])
        return store

    def _tally(self, place: Place) -> list[ir.Node]:
        memory = self._dice.pick(self._free(Role.TALLY))
        statements = self._statements
        first = ir.Node.store(memory.name, statements.visible.slot, self._exprs.storable(memory))
        count: ir.Node = ir.Node.eval(statements.shared_atomic(memory))
        if self._dice.chance(5):
            count = ir.Node.if_(self._exprs.expr(ir.DataType.BOOL, 2), [count])
        made = [first, self._barrier(), count, self._barrier()]
        statements.spend(*made)
        return [*made, *self._window(memory, place), *statements.spend(self._barrier())]

    def _subgroup(self, place: Place) -> list[ir.Node]:
        statements, dice, exprs = self._statements, self._dice, self._exprs
        kind = dice.below(5)
        if kind == 0:
            ballot = ir.Expr.subgroup_ballot(exprs.expr(ir.DataType.BOOL, 2))
            return statements.let_value(ir.DataType.U32, ir.Expr.lane(ballot, dice.below(4)))
        dtype = dice.pick(statements.profile.types)
        if kind < 3:
            lane = exprs.expr(dice.pick(statements.profile.integers), 2)
            shuffled = ir.Expr.subgroup_shuffle(exprs.expr(dtype, 2), lane)
            return statements.let_value(dtype, shuffled)
        op = dice.pick(tuple(ir.ReduceOp))
        # Floats are joined in any order, so only integers and truth values give one result.
        fitting = [t for t in statements.profile.types if t in op.row.operands and not t.is_float]
        dtype = dice.pick(fitting)
        return statements.let_value(dtype, ir.Expr.subgroup_reduce(op, exprs.expr(dtype, 2)))

    # --- async copies -------------------------------------------------------------------------

    def _tag(self) -> str:
        self._tags += 1
        return f"copy {self._tags}"

    def _async_load(self, place: Place) -> list[ir.Node]:
        statements, dice = self._statements, self._dice
        memory, source = dice.pick(self._load_pairs())
        tag = self._tag()
        count = dice.pick((self._slots, self._slots // 2 + 1, self._slots + 3))
        start = self._exprs.uniform(grid=False)
        to = dice.below(min(memory.decl.count, 2))
        copy = ir.Node.async_load(tag, memory.name, to, source.name, start, count)
        made = statements.spend(copy)
        # The copy is under way: its destination may not be read yet.
        memory.readable = True
        hidden = statements.visible.memories
        statements.visible.memories = [other for other in hidden if other is not memory]
        made += statements.several(replace(place, grid=False), dice.below(3))
        statements.visible.memories = hidden
        made += statements.spend(ir.Node.async_wait(tag))
        made += self._window(memory, place)
        return [*made, *statements.spend(self._barrier())]

    def _async_store(self, place: Place) -> list[ir.Node]:
        memory, target = self._dice.pick(self._store_pairs())
        tag = self._tag()
        part = self._group() * ir.Expr.u32(self._slots)
        return self._statements.spend(
            self._slot_store(memory),
            self._barrier(),
            ir.Node.async_store(tag, target.name, part, memory.name, 0, self._slots),
            ir.Node.async_wait(tag),
        )

    def _group(self) -> ir.AnyExpr:
        """The number of the workgroup in the grid."""
        row = ir.Expr.workgroup_id(1) + ir.Expr.workgroup_id(2) * ir.Expr.num_workgroups(1)
        return ir.Expr.workgroup_id(0) + row * ir.Expr.num_workgroups(0)

    # --- the grid -----------------------------------------------------------------------------

    def _relay(self, place: Place) -> list[ir.Node]:
        memory = self._dice.pick(self._free(Role.RELAY))
        statements = self._statements
        linear = statements.visible.linear
        store = ir.Node.store(memory.name, memory.own(linear, 0), self._exprs.storable(memory))
        made = statements.spend(store, ir.Node.barrier(_GRID_SYNC))
        return [
            *made,
            *self._window(memory, place),
            *statements.spend(ir.Node.barrier(_GRID_SYNC)),
        ]

    def _early_return(self, place: Place) -> list[ir.Node]:
        # Those who returned are missing from their workgroup from now on.
        self._statements.together = False
        cond = self._exprs.expr(ir.DataType.BOOL, 2)
        return self._statements.spend(ir.Node.if_(cond, [ir.Node.return_()]))


def _same_element(shared: list[Memory], others: list[Memory]) -> list[tuple[Memory, Memory]]:
    return [(s, o) for s in shared for o in others if s.decl.element is o.decl.element]
