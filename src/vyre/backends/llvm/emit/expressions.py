"""Expressions over a set of lanes: scalar (`width` 0) or in vectors of `width`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from vyre import ir
from vyre.backends.llvm.analysis.constant_tables import ConstantTable, constant_table_of
from vyre.backends.llvm.emit.builder import constant, literal, register_type, widened
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.memory.access import MemoryAccess
from vyre.backends.llvm.emit.memory.atomics import AtomicAccess
from vyre.backends.llvm.emit.memory.table_lookup import ENTRIES, is_worth_it
from vyre.backends.llvm.emit.memory.wide_loads import JOINING, emit_word, word_of
from vyre.backends.llvm.emit.values import LaneShape, Memory, Slot, Strided, Value, uniform
from vyre.backends.llvm.techniques import Technique
from vyre.ir.infer import binary_type, unary_type

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.loop_versioning import FromFirst

_DIVISIONS = (ir.BinOp.DIV, ir.BinOp.REM)
_LINEAR_TYPES = frozenset({ir.DataType.U32, ir.DataType.I32, ir.DataType.U64, ir.DataType.I64})


class LaneContext:
    """Values for the lanes that are being executed together."""

    def __init__(self, kernel: Kernel, width: int) -> None:
        self.kernel = kernel
        self.w = kernel.w
        self.width = width
        self.casts = kernel.casts
        self.arithmetic = kernel.arithmetic
        self.names: dict[str, Value | Slot] = {}
        self.mask: str | None = None
        """Active lanes, a vector of all-ones or all-zeros integers; None when all are."""
        self.mask_bits = 32
        self.local: tuple[str, str, str] = ("0", "0", "0")
        """Local id along each axis, i32; of the first lane along x."""
        self.lane_index = "0"
        """Linear index of the (first) lane in the workgroup, i64."""
        self.inside: frozenset[int] | set[int] = frozenset()
        """Identities of accesses that are in bounds for all these lanes."""
        self.apart: frozenset[int] | set[int] = frozenset()
        """Those of `inside` that are in bounds in active lanes only."""
        self.strided: Mapping[int, Strided] = {}
        """Accesses of `inside` with a small constant stride between lanes."""
        self.sums: Mapping[int, tuple[ir.AnyExpr, ir.AnyExpr]] = {}
        """Indices of accesses of `inside` that are sums of two; the later one second."""
        self.wide: Mapping[int, ir.AnyExpr] = {}
        """Indices of accesses of `inside` in 64 bits; the values are the same."""
        self.from_first: Mapping[int, FromFirst] = {}
        """Indices of accesses of `inside` affine in the enclosing loop's induction variable."""
        self.ahead: frozenset[int] = frozenset()
        """Loads that walk through memory in order: the following memory is prefetched."""
        self.own: dict[str, Memory] = {}
        """Private arrays of these lanes."""
        self.branches = False
        """True if bounds checks are branches: in scalar lanes, which are bound by loads."""
        self._in_parts = False
        """True while the parts of a combined load are emitted separately."""
        self._positions: tuple[Value, ...] = ()
        self._in_row = True
        """True if lanes are consecutive along x; false if they are one lane's iterations."""

    # Made when they are used: held here, they would form reference cycles with these lanes, and the
    # more cycles there are, the longer Python's collector takes.

    @property
    def memory(self) -> MemoryAccess:
        """Loads and stores for these lanes."""
        return MemoryAccess(self)

    @property
    def atomics(self) -> AtomicAccess:
        """Atomics for these lanes."""
        return AtomicAccess(self)

    def place(self, local: tuple[str, str, str]) -> None:
        """Set the local ids of the lanes; those of the first one along x."""
        self.local = local
        ids: list[Value] = []
        for axis in range(3):
            start = self.kernel.start_of(axis)
            text = local[axis] if start == "0" else start
            if start != "0" and local[axis] != "0":
                text = self.w.emit(f"add i32 {start}, {local[axis]}", "gid")
            ids.append(self._along(axis, text))
        self._positions = tuple(ids)

    def iterations_of(self, count: int) -> LaneContext:
        """A context whose lanes are iterations of this lane's loop.

        There are `count` of them; all values but the induction variable are uniform.
        """
        wide = LaneContext(self.kernel, count)
        wide.names = dict(self.names)
        wide.local, wide._positions, wide._in_row = self.local, self._positions, False
        wide.inside, wide.apart, wide.wide = self.inside, self.apart, self.wide
        return wide

    def buffer(self, name: str) -> Memory:
        """A buffer as these lanes access it."""
        return self.own.get(name) or self.kernel.memories[name]

    # Forms ---------------------------------------------------------------------------------------

    def vector(self, value: Value) -> str:
        """Emit the operand with one element per lane; for scalar lanes, the scalar itself."""
        if not self.width or value.form is LaneShape.VARYING:
            return value.text
        type_ = register_type(value.dtype)
        base = self.splat(type_, value.text)
        if value.form is LaneShape.UNIFORM:
            return base
        many = widened(type_, self.width)
        modulus = 1 << (value.dtype.bits or 0)
        steps = ", ".join(f"{type_} {lane * value.stride % modulus}" for lane in range(self.width))
        return self.w.emit(f"add {many} {base}, <{steps}>")

    def spread(self, value: Value) -> Value:
        """Emit the value with one element per lane."""
        if value.parts:
            parts = tuple(self.spread(part) for part in value.parts)
            return Value(value.dtype, LaneShape.VARYING, "", parts=parts)
        form = LaneShape.VARYING if self.width else LaneShape.UNIFORM
        return Value(value.dtype, form, self.vector(value))

    def splat(self, scalar_type: str, operand: str) -> str:
        """Emit a vector with a scalar in every lane."""
        if not operand.startswith("%"):
            return f"splat ({scalar_type} {operand})"
        many = widened(scalar_type, self.width)
        first = self.w.emit(f"insertelement {many} poison, {scalar_type} {operand}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.w.emit(f"shufflevector {many} {first}, {many} poison, {zeros}")

    def lane_of(self, value: Value, lane: int | str) -> Value:
        """Emit the extraction of one lane of a value, as a scalar."""
        if value.parts:
            parts = tuple(self.lane_of(part, lane) for part in value.parts)
            return Value(value.dtype, LaneShape.UNIFORM, "", parts=parts)
        if not self.width or value.form is LaneShape.UNIFORM:
            return uniform(value.dtype, value.text)
        many = register_type(value.dtype, self.width)
        text = self.vector(value)
        return uniform(value.dtype, self.w.emit(f"extractelement {many} {text}, i64 {lane}"))

    def for_each_active(self, action: Callable[[str], None]) -> None:
        """Emit `action` for every active lane, in order."""
        if not self.width:
            action("0")
            return
        w = self.w
        if self.mask is None:
            for lane in range(self.width):
                action(str(lane))
            return
        bits = self.mask_as_integer()
        type_ = f"i{self.width}"
        slot = w.slot(type_, "active")
        w.do(f"store {type_} {bits}, ptr {slot}")
        head, body, done = (w.fresh(n) for n in ("lanes", "lane", "lanes.done"))
        w.block(head)
        left = w.emit(f"load {type_}, ptr {slot}")
        some = w.emit(f"icmp ne {type_} {left}, 0")
        w.branch(some, body, done)
        w.block(body)
        lane = w.intrinsic("cttz", type_, left, extra="i1 true")
        wide = lane if self.width == 64 else w.emit(f"zext {type_} {lane} to i64")
        less = w.emit(f"sub {type_} {left}, 1")
        rest = w.emit(f"and {type_} {left}, {less}")
        w.do(f"store {type_} {rest}, ptr {slot}")
        action(wide)
        w.jump(head)
        w.block(done)

    def mask_as_integer(self) -> str:
        """Emit the active lanes as bits of one integer."""
        if self.mask is None:
            return str((1 << self.width) - 1)
        flags = self.mask_flags(self.mask)
        return self.w.emit(f"bitcast {widened('i1', self.width)} {flags} to i{self.width}")

    @property
    def mask_type(self) -> str:
        """The type of masks."""
        return widened(f"i{self.mask_bits}", self.width)

    def mask_flags(self, mask: str) -> str:
        """Emit a mask as one i1 per lane."""
        return self.w.emit(
            f"icmp slt {self.mask_type} {mask}, {constant(f'i{self.mask_bits}', 0, self.width)}"
        )

    def as_mask(self, condition: Value) -> str:
        """Emit a condition as a mask."""
        flags = self.vector(condition)
        return self.w.emit(f"sext {widened('i1', self.width)} {flags} to {self.mask_type}")

    def proven(self, access: ir.Load | ir.Atomic | ir.Store) -> bool:
        """True if an access needs no bounds check."""
        if self.kernel.unchecked:
            return True
        if id(access) in self.inside:
            return self.mask is None or id(access) not in self.apart
        # A proof holds where the access is executed: not for lanes that are masked off.
        return self.mask is None and id(access) in self.kernel.proven

    # Expressions ---------------------------------------------------------------------------------

    def value(self, expr: ir.AnyExpr) -> Value:  # noqa: C901
        """Emit an expression; returns its value for the active lanes."""
        match expr:
            case ir.Lit(dtype, bits):
                return uniform(dtype, literal(dtype, bits))
            case ir.Var(name):
                return self.read(name)
            case ir.Builtin(kind, axis):
                return self._builtin(kind, axis)
            case ir.BufLen(buffer):
                return self._length(buffer)
            case ir.Load(buffer, _):
                memory = self.buffer(buffer)
                if id(expr) in self.sums and not self.width:
                    return self.memory.load_at_sum(memory, *map(self.value, self.sums[id(expr)]))
                strided = self.strided.get(id(expr))
                at = self.index(expr)
                if id(expr) in self.ahead and self.width:
                    self.memory.ask_ahead(memory, at)
                entries = self.kernel.table_sizes.get(id(expr))
                if entries and is_worth_it(self.kernel.host, self.width, entries):
                    self.kernel.applies(Technique.TABLE_LOOKUP)
                    return self.memory.look_up(memory, at, entries)
                return self.memory.load(memory, at, strided, proven=self.proven(expr))
            case ir.Unary():
                return self._unary(expr)
            case ir.Binary(op, left, right):
                if op in JOINING and self._joins_words:
                    word = word_of(expr, self)
                    if word is not None:
                        self.kernel.applies(Technique.WIDE_LOADS)
                        return emit_word(self, expr, word)
                return self._binary(op, self.value(left), self.value(right))
            case ir.Fma(a, b, c):
                return self._fma(self.value(a), self.value(b), self.value(c))
            case ir.Select(cond, if_true, if_false):
                table = self._constant_table(expr)
                if table is not None:
                    self.kernel.applies(Technique.CONSTANT_TABLES)
                    return self.memory.look_up_constant(table)
                return self.select(self.value(cond), self.value(if_true), self.value(if_false))
            case ir.Cast(value, dtype):
                return self._cast(self.value(value), dtype)
            case ir.Bitcast(value, dtype):
                return self._bitcast(self.value(value), dtype)
            case ir.MakeVec(dtype, lanes):
                parts = tuple(self.value(lane) for lane in lanes)
                form = LaneShape.UNIFORM if all(p.is_uniform for p in parts) else LaneShape.VARYING
                return Value(dtype, form, "", parts=parts)
            case ir.Lane(value, index):
                return self.value(value).parts[index]
            case ir.Atomic():
                return self.atomics.atomic(expr)
            case ir.Ballot() | ir.Shuffle() | ir.SubgroupReduce():
                raise AssertionError("lower_subgroups replaces subgroup operations")
        assert_never(expr)

    def _constant_table(self, expr: ir.Select) -> ConstantTable | None:
        """The table that a chain of selects stands for, if a lookup is cheaper than the chain."""
        if not self.kernel.allows(Technique.CONSTANT_TABLES):
            return None
        table = constant_table_of(expr)
        return table if table is not None and len(table.entries) >= ENTRIES else None

    @property
    def _joins_words(self) -> bool:
        """True if adjacent byte loads are combined into word loads."""
        allowed = self.kernel.thorough and self.kernel.allows(Technique.WIDE_LOADS)
        return allowed and self.branches and not self._in_parts

    def by_parts(self, expr: ir.Binary) -> Value:
        """Emit a combination of loads, each load separately."""
        self._in_parts = True
        value = self.value(expr)
        self._in_parts = False
        return value

    def index(self, access: ir.Load | ir.Atomic | ir.Store) -> Value:
        """Emit the index of an access; in 64 bits where the value is the same."""
        followed = self.from_first.get(id(access))
        if followed is not None:
            return followed.emit(self)
        written = self.wide.get(id(access))
        return self.value(access.index if written is None else written)

    def read(self, name: str) -> Value:
        """Emit the read of a variable; returns its value."""
        binding = self.names[name]
        return binding if isinstance(binding, Value) else self.value_of(binding)

    def value_of(self, slot: Slot) -> Value:
        """Emit the load of a slot; returns its value."""
        parts = [self._read_slot(slot, n) for n in range(len(slot.pointers))]
        if len(parts) == 1 and not slot.dtype.is_vector:
            return parts[0]
        return Value(slot.dtype, slot.form, "", parts=tuple(parts))

    def _read_slot(self, slot: Slot, part: int) -> Value:
        dtype = _component(slot.dtype)
        pointer = self._slot_place(slot, part, dtype)
        width = self.width if slot.form is LaneShape.VARYING else 0
        if dtype.is_bool and slot.per_lane:
            raw = self.w.emit(f"load {widened('i8', width)}, ptr {pointer}, align 1")
            zero = constant("i8", 0, width)
            text = self.w.emit(f"icmp ne {widened('i8', width)} {raw}, {zero}")
        else:
            type_ = register_type(dtype, width)
            if slot.per_lane:
                text = self.w.load(type_, pointer, f", align {dtype.size_bytes}")
            else:
                text = self.w.get(type_, pointer)
        if slot.stride:
            return Value(dtype, LaneShape.LINEAR, text, slot.stride)
        return Value(dtype, slot.form if width else LaneShape.UNIFORM, text)

    def write(self, slot: Slot, value: Value, *, blend: bool) -> None:
        """Emit the store of a variable's new value; with `blend`, only in active lanes."""
        pieces = value.parts or (value,)
        for part, piece in enumerate(pieces):
            dtype = _component(slot.dtype)
            width = self.width if slot.form is LaneShape.VARYING else 0
            assert width or piece.stride == slot.stride
            text = self.vector(piece) if width else piece.text
            if blend and self.mask is not None and width:
                old = self._read_slot(slot, part).text
                type_ = register_type(dtype, width)
                flags = self.mask_flags(self.mask)
                flag = widened("i1", width)
                text = self.w.emit(f"select {flag} {flags}, {type_} {text}, {type_} {old}")
            pointer = self._slot_place(slot, part, dtype)
            type_ = register_type(dtype, width)
            if not slot.per_lane:
                self.w.put(type_, text, pointer)
                continue
            if dtype.is_bool:
                type_ = widened("i8", width)
                text = self.w.emit(f"zext {widened('i1', width)} {text} to {type_}")
            self.w.do(f"store {type_} {text}, ptr {pointer}, align {dtype.size_bytes}")

    def _slot_place(self, slot: Slot, part: int, dtype: ir.DataType) -> str:
        pointer = slot.pointers[part]
        if not slot.per_lane:
            return pointer
        size = dtype.size_bytes or 1
        offset = self.w.emit(f"mul i64 {self.lane_index}, {size}")
        return self.w.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def new_slot(self, name: str, dtype: ir.DataType, form: LaneShape) -> Slot:
        """Emit a stack slot for a variable."""
        width = self.width if form is LaneShape.VARYING else 0
        component = _component(dtype)
        count = dtype.lanes if dtype.is_vector else 1
        pointers = tuple(self.w.slot(register_type(component, width), name) for _ in range(count))
        slot = Slot(dtype, pointers, form if width else LaneShape.UNIFORM)
        self.names[name] = slot
        return slot

    def new_rising_slot(self, name: str, value: Value) -> Slot | None:
        """Emit a slot for the first lane of a linear variable; None if it is varying."""
        if not self.width or value.parts or value.form is LaneShape.VARYING:
            return None
        if value.dtype not in _LINEAR_TYPES:
            return None
        pointer = self.w.slot(register_type(value.dtype), name)
        form = LaneShape.LINEAR if value.stride else LaneShape.UNIFORM
        slot = Slot(value.dtype, (pointer,), form, stride=value.stride)
        self.names[name] = slot
        return slot

    def _builtin(self, kind: ir.BuiltinKind, axis: int) -> Value:
        kernel = self.kernel
        u32 = ir.DataType.U32
        match kind:
            case ir.BuiltinKind.WORKGROUP_ID:
                return uniform(u32, kernel.group[axis])
            case ir.BuiltinKind.NUM_WORKGROUPS:
                return uniform(u32, kernel.grid[axis])
            case ir.BuiltinKind.LOCAL_ID:
                return self._along(axis, self.local[axis])
            case ir.BuiltinKind.GLOBAL_ID:
                return self._positions[axis]
            case ir.BuiltinKind.SUBGROUP_SIZE | ir.BuiltinKind.SUBGROUP_LANE:
                raise AssertionError("lower_subgroups replaces subgroup operations")
        assert_never(kind)

    def _along(self, axis: int, base: str) -> Value:
        if self.width and axis == 0 and self._in_row:
            return Value(ir.DataType.U32, LaneShape.LINEAR, base, 1, exact=True)
        return uniform(ir.DataType.U32, base)

    def _length(self, buffer: str) -> Value:
        count = self.buffer(buffer).count
        if not count.startswith("%"):
            return uniform(ir.DataType.U32, count)
        return uniform(ir.DataType.U32, self.w.emit(f"trunc i64 {count} to i32"))

    def _unary(self, expr: ir.Unary) -> Value:
        operand = self.value(expr.operand)
        dtype = operand.dtype
        result = unary_type(expr.op, dtype)
        assert isinstance(result, ir.DataType)
        wide = self._together(operand)
        text = self._text(operand, wide)
        if expr.op.row.approximate:
            result_text = self.kernel.approximate.call(
                expr.op.row.spelling, dtype, self._count(wide), text
            )
        else:
            result_text = self.arithmetic.unary(expr.op, dtype, self._count(wide), text)
        return Value(result, LaneShape.VARYING if wide else LaneShape.UNIFORM, result_text)

    def _binary(self, op: ir.BinOp, left: Value, right: Value) -> Value:
        linear = self._linear(op, left, right)
        if linear is not None:
            return linear
        dtype = left.dtype
        result = binary_type(op, dtype, right.dtype)
        assert isinstance(result, ir.DataType)
        wide = self._together(left, right)
        if wide and dtype is ir.DataType.U64 and op in _DIVISIONS and _is_unknown(right):
            text = self.arithmetic.divide_by_shared(op, self.width, self.vector(left), right.text)
            return Value(result, LaneShape.VARYING, text)
        a, b = self._text(left, wide), self._text(right, wide)
        if op.row.approximate:
            text = self.kernel.approximate.call(op.row.spelling, dtype, self._count(wide), a, b)
        else:
            text = self.arithmetic.binary(op, dtype, self._count(wide), a, b)
        return Value(result, LaneShape.VARYING if wide else LaneShape.UNIFORM, text)

    def _linear(self, op: ir.BinOp, left: Value, right: Value) -> Value | None:
        """Emit arithmetic whose result is linear again; None if it is not."""
        if not self.width or left.dtype not in _LINEAR_TYPES:
            return None
        if LaneShape.LINEAR not in (left.form, right.form):
            return None
        if LaneShape.VARYING in (left.form, right.form):
            return None
        stride: int | None = None
        if op is ir.BinOp.ADD:
            stride = left.stride + right.stride
        elif op is ir.BinOp.SUB:
            stride = left.stride - right.stride
        elif op is ir.BinOp.MUL:
            for linear, factor in ((left, right), (right, left)):
                if factor.form is LaneShape.UNIFORM and not factor.text.startswith("%"):
                    stride = linear.stride * int(factor.text)
        elif (
            op is ir.BinOp.SHL
            and right.form is LaneShape.UNIFORM
            and not right.text.startswith("%")
        ):
            stride = left.stride << (int(right.text) & ((left.dtype.bits or 0) - 1))
        if stride is None or abs(stride) > 1 << 20:
            return None
        base = self.arithmetic.binary(op, left.dtype, 0, left.text, right.text)
        form = LaneShape.LINEAR if stride else LaneShape.UNIFORM
        return Value(left.dtype, form, base, stride)

    def _fma(self, a: Value, b: Value, c: Value) -> Value:
        wide = self._together(a, b, c)
        texts = [self._text(value, wide) for value in (a, b, c)]
        text = self.arithmetic.fma(a.dtype, self._count(wide), *texts)
        return Value(a.dtype, LaneShape.VARYING if wide else LaneShape.UNIFORM, text)

    def select(self, cond: Value, if_true: Value, if_false: Value) -> Value:
        """Emit one of two values, per lane."""
        if if_true.parts:
            parts = tuple(
                self.select(cond, a, b) for a, b in zip(if_true.parts, if_false.parts, strict=True)
            )
            return Value(if_true.dtype, LaneShape.VARYING, "", parts=parts)
        wide = self._together(cond, if_true, if_false)
        type_ = register_type(if_true.dtype, self._count(wide))
        a, b = self._text(if_true, wide), self._text(if_false, wide)
        if wide and cond.form is LaneShape.UNIFORM:
            flag, test = "i1", cond.text
        else:
            flag, test = widened("i1", self._count(wide)), self._text(cond, wide)
        text = self.w.emit(f"select {flag} {test}, {type_} {a}, {type_} {b}")
        return Value(if_true.dtype, LaneShape.VARYING if wide else LaneShape.UNIFORM, text)

    def _cast(self, value: Value, dtype: ir.DataType) -> Value:
        same_width = value.dtype.bits == dtype.bits
        if value.form is LaneShape.LINEAR and dtype in _LINEAR_TYPES and same_width:
            return Value(dtype, LaneShape.LINEAR, value.text, value.stride)
        if value.form is LaneShape.LINEAR and value.exact and dtype.bits == 64 and dtype.is_integer:
            base = self.casts.cast(value.dtype, dtype, 0, value.text)
            return Value(dtype, LaneShape.LINEAR, base, value.stride, exact=True)
        wide = self._together(value)
        text = self._text(value, wide)
        converted = self.casts.cast(value.dtype, dtype, self._count(wide), text)
        origin = value.origin
        if origin is not None:
            origin = replace(origin, casts=(*origin.casts, dtype)) if dtype.is_integer else None
        return Value(
            dtype, LaneShape.VARYING if wide else LaneShape.UNIFORM, converted, origin=origin
        )

    def _bitcast(self, value: Value, dtype: ir.DataType) -> Value:
        wide = self._together(value)
        text = self._text(value, wide)
        converted = self.casts.bitcast(value.dtype, dtype, self._count(wide), text)
        return Value(dtype, LaneShape.VARYING if wide else LaneShape.UNIFORM, converted)

    def _together(self, *values: Value) -> bool:
        """True if an operation on these values needs one result per lane."""
        return bool(self.width) and any(value.form is not LaneShape.UNIFORM for value in values)

    def _count(self, wide: bool) -> int:
        return self.width if wide else 0

    def _text(self, value: Value, wide: bool) -> str:
        return self.vector(value) if wide else value.text


def _is_unknown(value: Value) -> bool:
    """True if a value is uniform and known only at launch."""
    return value.form is LaneShape.UNIFORM and value.text.startswith("%")


def _component(dtype: ir.DataType) -> ir.DataType:
    return dtype.element if dtype.is_vector and dtype.element is not None else dtype
