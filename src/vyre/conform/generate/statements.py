"""Random statements, and the flow of control around them.

A place knows who is there: the whole grid, the whole workgroup, or some invocations only. What a
workgroup or the grid does together is made only where all of it is, and once an invocation may
have returned nothing is done together any more, but for grid syncs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vyre import ir
from vyre.conform.generate.approximate import approximate_value
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.exprs import Exprs, Variable, Visible
from vyre.conform.generate.memory import Memory, Role
from vyre.conform.generate.profile import Profile
from vyre.record import dataclass

_U32 = ir.DataType.U32
_OWN_ATOMICS = tuple(ir.AtomicOp)
_ATOMIC_ORDERINGS = tuple(o for o in ir.MemoryOrdering if o is not ir.MemoryOrdering.GRID_SYNC)


@dataclass(frozen=True, slots=True)
class Place:
    """Where statements are made."""

    depth: int = 0
    uniform: bool = True
    """Whether the whole workgroup is here, always."""
    grid: bool = True
    """Whether the whole grid is here, but for those that returned."""
    may_leave_round: bool = False
    """Whether some invocations may break or continue here."""

    def inner(self, **changes: bool) -> Place:
        """A place one level deeper."""
        return replace(self, depth=self.depth + 1, **changes)


Maker = Callable[[Place], list[ir.Node]]


class Statements:
    """Makes statements and keeps track of what is visible."""

    def __init__(self, dice: Dice, profile: Profile, visible: Visible, budget: int) -> None:
        self.dice = dice
        self.profile = profile
        self.visible = visible
        self.exprs = Exprs(dice, profile, visible)
        self.budget = budget
        """How many statements may still be made, all bodies included."""
        self.together = True
        """Whether a workgroup may still do things together."""
        self.may_return = False
        self.extra: list[tuple[int, Maker, Callable[[Place], bool]]] = []
        """More kinds of statements: how often, what makes them, and where they may stand."""

    def memories(self, *roles: Role) -> list[Memory]:
        """The buffers with one of these roles."""
        return [memory for memory in self.visible.memories if memory.role in roles]

    # --- bodies -------------------------------------------------------------------------------

    def body(self, place: Place, count: int) -> list[ir.Node]:
        """Statements in a scope of their own."""
        outside = len(self.visible.variables)
        made = self.several(place, count)
        del self.visible.variables[outside:]
        return made

    def several(self, place: Place, count: int) -> list[ir.Node]:
        """Statements in the scope at hand."""
        made: list[ir.Node] = []
        for _ in range(count):
            if self.budget <= 0:
                break
            made += self.dice.weighted(self._options(place))(place)
        return made

    def _options(self, place: Place) -> list[tuple[int, Maker]]:
        deeper = place.depth < self.profile.nesting
        options: list[tuple[int, Maker]] = [(12, self.let), (8, self._store)]
        if any(v.mutable for v in self.visible.variables):
            options.append((12, self._assign))
        if deeper:
            options += [(6, self._if), (5, self._loop), (3, self._while), (1, self._block)]
            if self._can_be_together(place):
                options.append((2, self._uniform_if))
            if self._can_be_together(place) or place.grid:
                options.append((3, self._uniform_loop))
        if place.may_leave_round:
            options.append((3, self._leave_round))
        if self.may_return and self.profile.returns and not (place.depth == 0 and place.grid):
            options.append((self.profile.returns, self._return))
        if self.memories(Role.LOCAL):
            options.append((self.profile.local_arrays, self._local_store))
        if self.memories(Role.APPROXIMATE):
            options.append((self.profile.transcendental, self._approximate_store))
        if self.memories(Role.COUNTERS):
            options.append((self.profile.atomics, self._count))
        if self.memories(Role.OWN_ATOMIC):
            options.append((self.profile.atomics, self._own_atomic))
        options += [(weight, make) for weight, make, fits in self.extra if fits(place)]
        return [option for option in options if option[0]]

    def _can_be_together(self, place: Place) -> bool:
        return place.uniform and self.together

    def spend(self, *statements: ir.Node) -> list[ir.Node]:
        """Statements as a list, counted against the budget."""
        self.budget -= len(statements)
        return list(statements)

    # --- variables and memory -----------------------------------------------------------------

    def bind(self, dtype: ir.DataType, *, mutable: bool = True) -> str:
        """A new variable; scopes that are closed leave their names to others."""
        name = f"v{len(self.visible.variables)}"
        self.visible.variables.append(Variable(name, dtype, mutable))
        return name

    def let(self, place: Place) -> list[ir.Node]:
        """A new variable."""
        dtype = self.dice.pick(self.profile.types)
        return self.let_value(dtype, self.exprs.kept(self.exprs.expr(dtype), dtype))

    def let_value(self, dtype: ir.DataType, value: ir.AnyExpr) -> list[ir.Node]:
        """A new variable with this value."""
        return self.spend(ir.Node.let(self.bind(dtype), value))

    def _assign(self, place: Place) -> list[ir.Node]:
        variable = self.dice.pick([v for v in self.visible.variables if v.mutable])
        value = self.exprs.kept(self.exprs.expr(variable.dtype), variable.dtype)
        return self.spend(ir.Node.assign(variable.name, value))

    def _store(self, place: Place) -> list[ir.Node]:
        memory = self.dice.pick(self.memories(Role.OUTPUT))
        return self.spend(self.own_store(memory))

    def own_store(self, memory: Memory) -> ir.Node:
        """A store to an element of the invocation's own; some miss the buffer on purpose."""
        if self.dice.chance(self.profile.hostile_indices) and self.dice.chance(5):
            index = self.exprs.surely_missing_index()
        else:
            index = self.exprs.own_index(memory)
        return ir.Node.store(memory.name, index, self.exprs.storable(memory))

    def _local_store(self, place: Place) -> list[ir.Node]:
        memory = self.dice.pick(self.memories(Role.LOCAL))
        index = self.exprs.index(memory)
        return self.spend(ir.Node.store(memory.name, index, self.exprs.storable(memory)))

    def _approximate_store(self, place: Place) -> list[ir.Node]:
        memory = self.dice.pick(self.memories(Role.APPROXIMATE))
        value = approximate_value(self.dice, self.exprs, memory.value_type)
        return self.spend(ir.Node.store(memory.name, self.exprs.own_index(memory), value))

    # --- atomics ------------------------------------------------------------------------------

    def _count(self, place: Place) -> list[ir.Node]:
        memory = self.dice.pick(self.memories(Role.COUNTERS))
        return self.spend(ir.Node.eval(self.shared_atomic(memory)))

    def shared_atomic(self, memory: Memory) -> ir.AnyExpr:
        """An atomic on any element; the order in which invocations do it makes no difference."""
        dtype = memory.value_type
        op = memory.op
        if dtype.is_float:
            # Small whole numbers add up exactly in every order, and none of them is a zero.
            whole = ir.Expr.cast(self.exprs.expr(ir.DataType.U32, 1) % ir.Expr.u32(64), dtype)
            value: ir.AnyExpr = whole + ir.Expr.lit(1.0, dtype)
        else:
            value = self.exprs.expr(dtype, 2)
            if op is ir.AtomicOp.ADD and self.dice.chance(3):
                op = ir.AtomicOp.SUB
        ordering = self.dice.pick(_ATOMIC_ORDERINGS)
        return ir.Expr.atomic(op, memory.name, self.exprs.index(memory), value, ordering=ordering)

    def _own_atomic(self, place: Place) -> list[ir.Node]:
        memory = self.dice.pick(self.memories(Role.OWN_ATOMIC))
        dtype = memory.value_type
        op = self.dice.pick(_OWN_ATOMICS)
        expected = self.exprs.expr(dtype, 1) if op is ir.AtomicOp.COMPARE_EXCHANGE else None
        ordering = self.dice.pick(_ATOMIC_ORDERINGS)
        index, value = self.exprs.own_index(memory), self.exprs.expr(dtype, 2)
        made = ir.Expr.atomic(op, memory.name, index, value, expected, ordering)
        if dtype not in self.profile.types or self.dice.chance(2):
            return self.spend(ir.Node.eval(made))
        return self.let_value(dtype, made)

    # --- control ------------------------------------------------------------------------------

    def few(self) -> int:
        """How many statements a body gets."""
        return self.dice.between(1, 4)

    def _if(self, place: Place) -> list[ir.Node]:
        self.budget -= 1
        cond = self.exprs.expr(ir.DataType.BOOL)
        inner = place.inner(uniform=False, grid=False)
        then = self.body(inner, self.few())
        otherwise = self.body(inner, self.few()) if self.dice.chance(5) else []
        return [ir.Node.if_(cond, then, otherwise)]

    def _uniform_if(self, place: Place) -> list[ir.Node]:
        self.budget -= 1
        left, right = self.exprs.uniform(grid=False), self.exprs.uniform(grid=False)
        cond = left < right if self.dice.chance(5) else left.ne(right)
        inner = place.inner(grid=False)
        then = self.body(inner, self.few())
        otherwise = self.body(inner, self.few()) if self.dice.chance(5) else []
        return [ir.Node.if_(cond, then, otherwise)]

    def _loop(self, place: Place) -> list[ir.Node]:
        self.budget -= 1
        dtype = self.dice.pick(self.profile.integers)
        start, stop = self._bounds(dtype)
        return self._rounds(
            dtype, start, stop, place.inner(uniform=False, grid=False, may_leave_round=True)
        )

    def _uniform_loop(self, place: Place) -> list[ir.Node]:
        self.budget -= 1
        stop = self.exprs.uniform(grid=place.grid) % ir.Expr.u32(4)
        # All of the workgroup stays until the end of each round.
        inner = place.inner(may_leave_round=False)
        return self._rounds(_U32, ir.Expr.u32(self.dice.below(2)), stop, inner)

    def _rounds(
        self, dtype: ir.DataType, start: ir.AnyExpr, stop: ir.AnyExpr, place: Place
    ) -> list[ir.Node]:
        outside = len(self.visible.variables)
        var = self.bind(dtype, mutable=False)
        body = self.body(place, self.few())
        del self.visible.variables[outside:]
        return [ir.Node.loop(var, start, stop, body)]

    def _bounds(self, dtype: ir.DataType) -> tuple[ir.AnyExpr, ir.AnyExpr]:
        """Bounds of at most a few rounds, some of them at the ends of the type."""
        low, high = dtype.integer_range
        rounds = self.dice.below(4)
        choice = self.dice.below(5)
        if choice == 0:
            return ir.Expr.lit(high - rounds, dtype), ir.Expr.lit(high, dtype)
        if choice == 1:
            return ir.Expr.lit(low, dtype), ir.Expr.lit(low + rounds, dtype)
        if choice == 2:
            # Rounds that differ between invocations; a negative remainder means none.
            return ir.Expr.lit(0, dtype), self.exprs.expr(dtype, 1) % ir.Expr.lit(5, dtype)
        if choice == 3:
            start = self.exprs.expr(dtype, 1) & ir.Expr.lit(high >> 1, dtype)
            return start, start + ir.Expr.lit(rounds, dtype)
        return ir.Expr.lit(0, dtype), ir.Expr.lit(rounds + 1, dtype)

    def _while(self, place: Place) -> list[ir.Node]:
        # The body cannot assign the counter, so the loop ends.
        name = self.bind(_U32, mutable=False)
        counter, one = ir.Expr.var(name), ir.Expr.u32(1)
        cond: ir.AnyExpr = counter > ir.Expr.u32(0)
        together = self._can_be_together(place) and self.dice.chance(5)
        if together:
            inner = place.inner(may_leave_round=False)
        else:
            cond = cond & self.exprs.expr(ir.DataType.BOOL, 2) if self.dice.chance(5) else cond
            inner = place.inner(uniform=False, grid=False, may_leave_round=True)
        step = ir.Node.assign(name, counter - one)
        self.budget -= 3
        body = self.body(inner, self.few())
        return [
            ir.Node.let(name, ir.Expr.u32(self.dice.between(1, 4))),
            ir.Node.while_(cond, [step, *body]),
        ]

    def _block(self, place: Place) -> list[ir.Node]:
        self.budget -= 1
        body = self.body(place.inner(), self.few())
        if self.dice.chance(5):
            return [ir.Node.block(body)]
        source = "generated" if self.dice.chance(3) else None
        return [ir.Node.region(f"random.{self.dice.below(10)}", body, source)]

    def _leave_round(self, place: Place) -> list[ir.Node]:
        leave = ir.Node.break_() if self.dice.chance(5) else ir.Node.continue_()
        return self.spend(ir.Node.if_(self.exprs.expr(ir.DataType.BOOL, 2), [leave]))

    def _return(self, place: Place) -> list[ir.Node]:
        cond = self.exprs.expr(ir.DataType.BOOL, 2)
        return self.spend(ir.Node.if_(cond, [*self.spend(self._last_words()), ir.Node.return_()]))

    def _last_words(self) -> ir.Node:
        return self.own_store(self.dice.pick(self.memories(Role.OUTPUT)))
