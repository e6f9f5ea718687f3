"""Random expressions of a wanted type, over what is visible at one place of a program.

Results must be the same on every backend, so what the language leaves open never reaches a value:
the sign and payload of NaN are not looked at, the zero that min and max give is made positive, and
approximate opcodes are used by the generator of statements only, right before a store.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from vyre import ir
from vyre.conform.generate import values
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.memory import Memory, Role
from vyre.conform.generate.profile import Profile
from vyre.ir.opcodes import Result
from vyre.ir.types import ARITHMETIC_FLOATS
from vyre.record import dataclass

_U32 = ir.DataType.U32


@dataclass(slots=True)
class Variable:
    """A name that is visible."""

    name: str
    dtype: ir.DataType
    mutable: bool = True


@dataclass(slots=True)
class Visible:
    """What expressions can be made of at one place."""

    variables: list[Variable] = field(default_factory=list[Variable])
    memories: list[Memory] = field(default_factory=list[Memory])
    linear: ir.AnyExpr = field(default_factory=lambda: ir.Expr.gid(0))
    """The number of the invocation in the whole grid."""
    slot: ir.AnyExpr = field(default_factory=lambda: ir.Expr.local_id(0))
    """The number of the invocation in its workgroup."""


_UNARY_SAME = [op for op in ir.UnOp if op.row.result is Result.OPERAND and not op.row.approximate]
_UNARY_BOOL = [op for op in ir.UnOp if op.row.result is Result.BOOL]
_BINARY_SAME = [op for op in ir.BinOp if op.row.result is Result.OPERAND and not op.row.approximate]
_COMPARE = [op for op in ir.BinOp if op.row.result is Result.BOOL]
_DIVISIONS = (ir.BinOp.DIV, ir.BinOp.REM)
_ZERO_OF_EITHER_SIGN = (ir.BinOp.MIN, ir.BinOp.MAX, ir.BinOp.MINIMUM, ir.BinOp.MAXIMUM)


class Exprs:
    """Makes expressions."""

    def __init__(self, dice: Dice, profile: Profile, visible: Visible) -> None:
        self._dice = dice
        self._profile = profile
        self._tame = profile.tame_floats
        self._indices = 0
        """How many indices the expression at hand stands in."""
        self.visible = visible

    # --- any expression -----------------------------------------------------------------------

    def expr(self, dtype: ir.DataType, depth: int | None = None) -> ir.AnyExpr:
        """An expression of a scalar type."""
        depth = self._profile.expr_depth if depth is None else depth
        if depth <= 0 or self._dice.below(8) == 0:
            return self.leaf(dtype)
        make = self._dice.weighted(self._options(dtype))
        return make(dtype, depth - 1)

    def _options(
        self, dtype: ir.DataType
    ) -> list[tuple[int, Callable[[ir.DataType, int], ir.AnyExpr]]]:
        options: list[tuple[int, Callable[[ir.DataType, int], ir.AnyExpr]]] = [
            (3, lambda wanted, _: self.leaf(wanted)),
            (3, self._select),
            (4, self._cast),
        ]
        if dtype.is_bool:
            options += [(12, self._comparison), (4, self._predicate), (5, self._logic)]
        elif dtype.is_integer:
            options += [(14, self._binary), (5, self._unary), (2, self._bitcast), (2, self._lane)]
        elif dtype in ARITHMETIC_FLOATS:
            options += [(12, self._binary), (4, self._unary), (3, self._fma), (1, self._lane)]
            options += [] if self._tame else [(2, self._bitcast)]
        return options

    def leaf(self, dtype: ir.DataType) -> ir.AnyExpr:
        """A literal, a variable, a load or an id."""
        dice = self._dice
        named = [v for v in self.visible.variables if v.dtype is dtype]
        choice = dice.below(10)
        if named and choice < 5:
            # Recent variables first: they make chains of computations.
            return ir.Expr.var(dice.pick(named[-4:]).name)
        if choice < 8:
            loaded = self.load(dtype)
            if loaded is not None:
                return loaded
        if dtype is _U32 and choice < 9:
            return self._id()
        return values.lit(dice, dtype, tame=self._tame)

    def _id(self) -> ir.AnyExpr:
        dice = self._dice
        axis = dice.below(3)
        options: list[ir.AnyExpr] = [
            *(self.visible.linear, self.visible.slot, ir.Expr.gid(axis), ir.Expr.local_id(axis)),
            *(ir.Expr.workgroup_id(axis), ir.Expr.num_workgroups(axis)),
        ]
        if self._profile.subgroups:
            options += [ir.Expr.subgroup_lane(), ir.Expr.subgroup_size()]
        if self.visible.memories:
            options.append(ir.Expr.buf_len(dice.pick(self.visible.memories).name))
        return dice.pick(options)

    # --- memory -------------------------------------------------------------------------------

    def load(self, dtype: ir.DataType) -> ir.AnyExpr | None:
        """A load that gives a scalar type, converted if need be; None when nothing can be read."""
        dice = self._dice
        readable = [m for m in self.visible.memories if self._is_readable(m)]
        if not readable or self._indices > 1:
            return None
        exact = [m for m in readable if m.value_type is dtype]
        memory = dice.pick(exact if exact and dice.chance(8) else readable)
        self._indices += 1
        loaded: ir.AnyExpr = ir.Expr.load(memory.name, self._read_index(memory))
        self._indices -= 1
        found = memory.value_type
        if found.is_vector and found.element is not None:
            loaded, found = ir.Expr.lane(loaded, dice.below(found.lanes)), found.element
        if found is dtype:
            return loaded
        # What buffers hold is tame already, and some of it has no arithmetic to tame it with.
        return (
            ir.Expr.cast(loaded, dtype) if found.is_float else self.converted(loaded, found, dtype)
        )

    def _is_readable(self, memory: Memory) -> bool:
        if memory.role in (Role.INPUT, Role.LOCAL):
            return True
        if memory.role is Role.OUTPUT:
            return memory.decl.is_readable
        return memory.readable

    def _read_index(self, memory: Memory) -> ir.AnyExpr:
        if memory.role is Role.OUTPUT:
            return self.own_index(memory)
        return self.index(memory)

    def own_index(self, memory: Memory) -> ir.AnyExpr:
        """The index of an element that only this invocation touches."""
        index = memory.own(self.visible.linear, self._dice.below(memory.stride))
        wide = [t for t in self._profile.integers if memory.total <= t.integer_range[1]]
        if wide and self._dice.chance(2):
            return self.converted(index, _U32, self._dice.pick(wide))
        return index

    def index(self, memory: Memory) -> ir.AnyExpr:
        """An index at which everyone may read; it may miss the buffer."""
        dice = self._dice
        if dice.chance(self._profile.hostile_indices):
            return self.missing_index(memory)
        count = memory.decl.count
        choice = dice.below(6)
        if choice == 0 and count:
            return ir.Expr.u32(dice.below(count))
        if choice == 1:
            return self.visible.slot if memory.role is Role.SHARED else self.visible.linear
        if choice == 2:
            return self.visible.linear + ir.Expr.u32(dice.below(4))
        wrapped = (
            ir.Expr.u32(count)
            if count
            else ir.Expr.max_(ir.Expr.buf_len(memory.name), ir.Expr.u32(1))
        )
        return self._shallow(_U32) % wrapped

    def missing_index(self, memory: Memory) -> ir.AnyExpr:
        """An index that often misses the buffer: too large, negative, or beyond 32 bits."""
        dice = self._dice
        integers = self._profile.integers
        dtype = dice.pick(integers)
        base = self._shallow(dtype)
        if isinstance(base, ir.Lit):
            # A literal that misses is refused by the checker.
            base = ir.Expr.cast(self.visible.linear, dtype)
        if ir.DataType.U64 in integers and dice.chance(3):
            return ir.Expr.cast(self.visible.linear, ir.DataType.U64) + ir.Expr.u64(1 << 32)
        if ir.DataType.I64 in integers and dice.chance(2):
            return ir.Expr.i64(-1) - ir.Expr.cast(self.visible.linear, ir.DataType.I64)
        return base

    def surely_missing_index(self) -> ir.AnyExpr:
        """An index that no buffer has, different in kind from place to place."""
        linear, dice = self.visible.linear, self._dice
        integers = self._profile.integers
        options: list[ir.AnyExpr] = [linear + ir.Expr.u32(1 << 31)]
        if ir.DataType.I32 in integers:
            options.append(ir.Expr.i32(-1) - ir.Expr.cast(linear, ir.DataType.I32))
        if ir.DataType.U64 in integers:
            options.append(ir.Expr.cast(linear, ir.DataType.U64) + ir.Expr.u64(1 << 32))
        if ir.DataType.I64 in integers:
            options.append(ir.Expr.cast(linear, ir.DataType.I64) - ir.Expr.i64(1 << 40))
        return dice.pick(options)

    def _shallow(self, dtype: ir.DataType) -> ir.AnyExpr:
        named = [v for v in self.visible.variables if v.dtype is dtype]
        if named and self._dice.chance(6):
            return ir.Expr.var(self._dice.pick(named).name)
        if dtype is _U32 and self._dice.chance(5):
            return self._id()
        return self.expr(dtype, 1)

    # --- operations ---------------------------------------------------------------------------

    def _binary(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        ops = [op for op in _BINARY_SAME if dtype in op.row.operands]
        if self._tame and dtype.is_float:
            ops = [op for op in ops if op not in (ir.BinOp.DIV, ir.BinOp.COPYSIGN)]
        op = self._dice.pick(ops)
        left, right = self._pair(dtype, depth)
        if op in _DIVISIONS and isinstance(right, ir.Lit) and right.bits == 0:
            right = ir.Expr.lit(1, dtype)
        if op is ir.BinOp.COPYSIGN:
            right = self._not_nan(dtype)
        made = ir.Binary(op, left, right)
        if not dtype.is_float:
            return made
        if op in _ZERO_OF_EITHER_SIGN:
            return made + ir.Expr.lit(0.0, dtype)
        return self._whole(made, dtype) if self._tame and op is ir.BinOp.MUL else made

    def _pair(self, dtype: ir.DataType, depth: int) -> tuple[ir.AnyExpr, ir.AnyExpr]:
        """Two operands; now and then the same one twice, which invites a wrong shortcut."""
        left = self.expr(dtype, depth)
        return left, left if self._dice.chance(1) else self.expr(dtype, depth)

    def _unary(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        op = self._dice.pick([op for op in _UNARY_SAME if dtype in op.row.operands])
        operand = self.expr(dtype, depth)
        if self._tame and op is ir.UnOp.SQRT:
            return self._whole(ir.Unary(op, abs(operand)), dtype)
        return ir.Unary(op, operand)

    def _fma(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        made = ir.Expr.fma(*(self.expr(dtype, depth) for _ in range(3)))
        return self._whole(made, dtype) if self._tame else made

    def _select(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        cond = self.expr(ir.DataType.BOOL, depth)
        return ir.Expr.select(cond, self.expr(dtype, depth), self.expr(dtype, depth))

    def _comparison(self, _: ir.DataType, depth: int) -> ir.AnyExpr:
        op = self._dice.pick(_COMPARE)
        dtype = self._dice.pick([t for t in self._profile.types if t in op.row.operands])
        return ir.Binary(op, *self._pair(dtype, depth))

    def _predicate(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        op = self._dice.pick(_UNARY_BOOL)
        floats = [t for t in self._profile.types if t in op.row.operands]
        if not floats or self._tame:
            return self._comparison(dtype, depth)
        return ir.Unary(op, self.expr(self._dice.pick(floats), depth))

    def _logic(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        if self._dice.chance(3):
            return ~self.expr(dtype, depth)
        op = self._dice.pick((ir.BinOp.AND, ir.BinOp.OR, ir.BinOp.XOR))
        return ir.Binary(op, *self._pair(dtype, depth))

    def _cast(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        source = self._dice.pick(self._profile.types)
        return self.converted(self.expr(source, depth), source, dtype)

    def _bitcast(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        same_width = [
            t
            for t in self._profile.types
            if t.bits == dtype.bits and not t.is_bool and not (t.is_float and self._tame)
        ]
        source = self._dice.pick(same_width or [dtype])
        if source.is_float:
            return ir.Expr.bitcast(self._not_nan(source), dtype)
        return ir.Expr.bitcast(self.expr(source, depth), dtype)

    def _lane(self, dtype: ir.DataType, depth: int) -> ir.AnyExpr:
        lanes = self._dice.pick((2, 3, 4))
        vector = ir.Expr.vec(dtype, *(self.expr(dtype, depth - 1) for _ in range(lanes)))
        return ir.Expr.lane(vector, self._dice.below(lanes))

    # --- what keeps results the same everywhere -----------------------------------------------

    def converted(self, expr: ir.AnyExpr, found: ir.DataType, wanted: ir.DataType) -> ir.AnyExpr:
        """The value converted to another scalar type."""
        if found is wanted:
            return expr
        if self._tame and found.is_float and wanted.is_float:
            return ir.Expr.cast(self._clamped(expr, found), wanted)
        made = ir.Expr.cast(expr, wanted)
        if self._tame and wanted in ARITHMETIC_FLOATS and not found.is_float:
            return self._clamped(made, wanted)
        return made

    def _not_nan(self, dtype: ir.DataType) -> ir.AnyExpr:
        """A value whose bits may be looked at: the sign and payload of NaN are anyone's guess."""
        value = self.leaf(dtype)
        return ir.Expr.select(value.eq(value), value, ir.Expr.lit(1.5, dtype))

    def _clamped(self, expr: ir.AnyExpr, dtype: ir.DataType) -> ir.AnyExpr:
        if dtype not in ARITHMETIC_FLOATS:
            return expr
        limit = float(values.TAME_LIMIT)
        low, high = ir.Expr.lit(-limit, dtype), ir.Expr.lit(limit, dtype)
        return ir.Expr.min_(ir.Expr.max_(expr, low), high) + ir.Expr.lit(0.0, dtype)

    def _whole(self, expr: ir.AnyExpr, dtype: ir.DataType) -> ir.AnyExpr:
        """A tame float: within the limits, and a multiple of a quarter again."""
        return ir.Unary(ir.UnOp.TRUNC, self._clamped(expr, dtype))

    def storable(self, memory: Memory) -> ir.AnyExpr:
        """A value for an element of a buffer."""
        element, dtype = memory.decl.element, memory.value_type
        if dtype.is_vector and dtype.element is not None:
            lanes = (self.expr(dtype.element, 2) for _ in range(dtype.lanes))
            return ir.Expr.vec(dtype.element, *lanes)
        if dtype not in self._profile.types:
            source = self._dice.pick(self._profile.types)
            return self.converted(self.kept(self.expr(source), source), source, dtype)
        if dtype.is_float and element is not dtype:
            # A NaN in eight bits or fewer shows its sign.
            return self._not_nan(dtype)
        return self.kept(self.expr(dtype), dtype)

    def uniform(self, *, grid: bool) -> ir.AnyExpr:
        """A `u32` that is the same for the whole workgroup, or for the whole grid."""
        dice = self._dice
        options: list[ir.AnyExpr] = [
            ir.Expr.num_workgroups(dice.below(3)),
            ir.Expr.u32(dice.below(5)),
        ]
        if not grid:
            options.append(ir.Expr.workgroup_id(dice.below(3)))
        for memory in self.visible.memories:
            if memory.role is Role.INPUT and memory.value_type.is_integer:
                place = dice.below(memory.decl.count or 4)
                loaded = ir.Expr.load(memory.name, ir.Expr.u32(place))
                options.append(self.converted(loaded, memory.value_type, _U32))
        return dice.pick(options)

    def kept(self, expr: ir.AnyExpr, dtype: ir.DataType) -> ir.AnyExpr:
        """A value as it may be put into a variable: tame floats stay within their limits."""
        return self._clamped(expr, dtype) if self._tame and dtype.is_float else expr
