"""Wrong lowerings, each as a rewriting of programs: what other compilers have got wrong."""

from __future__ import annotations

from collections.abc import Callable

from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Atomic,
    AtomicOp,
    Barrier,
    Binary,
    BinOp,
    Bitcast,
    Body,
    Break,
    Builtin,
    BuiltinKind,
    Cast,
    Continue,
    DataType,
    Eval,
    Expr,
    Fma,
    If,
    Let,
    Lit,
    Load,
    Loop,
    MemoryOrdering,
    Node,
    Program,
    Region,
    Return,
    Select,
    Store,
    Trap,
    TypeEnv,
    Unary,
    UnOp,
    type_of,
)
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr

Change = Callable[[Program], Program]


def exprs(change: Callable[[AnyExpr, Callable[[AnyExpr], DataType]], AnyExpr]) -> Change:
    """A lowering of expressions, told how to ask for their types."""

    def whole(program: Program) -> Program:
        buffers = {decl.name: decl for decl in program.buffers}

        def body(statements: Body, variables: dict[str, DataType]) -> Body:
            scope = dict(variables)
            return tuple(statement(each, scope) for each in statements)

        def statement(one: AnyStmt, scope: dict[str, DataType]) -> AnyStmt:
            def ask(node: AnyExpr) -> DataType:
                return type_of(node, TypeEnv(buffers, scope))

            new = map_exprs(one, lambda child: rewrite_expr(child, lambda n: change(n, ask)))
            inner = scope
            if isinstance(one, Let):
                scope[one.name] = ask(one.value)
            if isinstance(one, Loop):
                inner = {**scope, one.var: ask(one.start)}
            return map_bodies(new, lambda each: body(each, inner))

        return program.with_rewritten_entry(body(program.entry, {}))

    return whole


def stmts(change: Callable[[AnyStmt, Program], Body]) -> Change:
    """A lowering of statements, children first; each becomes any number of others."""

    def whole(program: Program) -> Program:
        def body(statements: Body) -> Body:
            found: list[AnyStmt] = []
            for each in statements:
                found += change(map_bodies(each, body), program)
            return tuple(found)

        return program.with_rewritten_entry(body(program.entry))

    return whole


def _lit(value: float, dtype: DataType) -> Lit:
    return Expr.lit(float(value) if dtype.is_float else int(value), dtype)


def _binary(*ops: BinOp):
    """Picks opcodes of two operands; the rest of the lowering sees op, operands and type."""

    def decorate(change: Callable[[Binary, DataType], AnyExpr]) -> Change:
        def one(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
            if isinstance(node, Binary) and node.op in ops:
                return change(node, ask(node.left))
            return node

        return exprs(one)

    return decorate


@_binary(BinOp.SHL, BinOp.SHR)
def unmasked_shift(node: Binary, dtype: DataType) -> AnyExpr:
    bits = dtype.bits or 0
    unsigned = node.right
    far = unsigned >= _lit(bits, dtype) if not dtype.is_signed else unsigned < _lit(0, dtype)
    return Select(far, _lit(0, dtype), node)


@_binary(BinOp.DIV)
def division_by_zero(node: Binary, dtype: DataType) -> AnyExpr:
    if dtype.is_float:
        return node
    return Select(node.right.eq(_lit(0, dtype)), node.left, node)


@_binary(BinOp.REM)
def remainder_of_zero(node: Binary, dtype: DataType) -> AnyExpr:
    return Select(node.right.eq(_lit(0, dtype)), node.left, node)


@_binary(BinOp.MIN)
def minimum_of_nan(node: Binary, dtype: DataType) -> AnyExpr:
    if not dtype.is_float:
        return node
    return Select(node.left < node.right, node.left, node.right)


@_binary(BinOp.NE)
def nan_is_equal(node: Binary, dtype: DataType) -> AnyExpr:
    if not dtype.is_float or dtype is DataType.BF16:
        return node
    return Binary(BinOp.OR, node.left < node.right, node.left > node.right)


@_binary(BinOp.ADD)
def contracted(node: Binary, dtype: DataType) -> AnyExpr:
    left = node.left
    if dtype.is_float and isinstance(left, Binary) and left.op is BinOp.MUL:
        return Fma(left.left, left.right, node.right)
    return node


@_binary(BinOp.ADD_SAT)
def saturation_lost(node: Binary, dtype: DataType) -> AnyExpr:
    return Binary(BinOp.ADD, node.left, node.right)


@_binary(BinOp.AND)
def short_circuit(node: Binary, dtype: DataType) -> AnyExpr:
    constant = isinstance(node.left, Lit) and not node.left.bits
    return Lit(dtype, 0) if constant else node


@exprs
def unfused(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    return node.a * node.b + node.c if isinstance(node, Fma) else node


@exprs
def round_to_even(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    if isinstance(node, Unary) and node.op is UnOp.ROUND:
        return Unary(UnOp.ROUND_EVEN, node.operand)
    return node


@exprs
def clz_of_zero(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    if isinstance(node, Unary) and node.op is UnOp.CLZ:
        dtype = ask(node.operand)
        return Expr.min_(node, _lit((dtype.bits or 0) - 1, dtype))
    return node


@exprs
def wrapping_float_cast(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    """Float to a narrow integer through a wide one, which wraps where it must saturate."""
    if not isinstance(node, Cast) or not node.dtype.is_integer or node.dtype.bits == 64:
        return node
    if ask(node.value).is_float:
        return Cast(Cast(node.value, DataType.I64), node.dtype)
    return node


@exprs
def truncated_index(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    """A 64-bit index loses its upper half."""
    if isinstance(node, Load) and (ask(node.index).bits or 0) == 64:
        return Load(node.buffer, Cast(node.index, DataType.U32))
    return node


@exprs
def swapped_axes(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    if isinstance(node, Builtin) and node.kind is BuiltinKind.LOCAL_ID and node.axis:
        return Builtin(node.kind, 3 - node.axis)
    return node


@exprs
def clamped_load(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    """Out of bounds the last element, as some drivers do, instead of zero."""
    if isinstance(node, Load):
        index = Cast(node.index, DataType.U32)
        last = Expr.buf_len(node.buffer) - Expr.u32(1)
        return Load(node.buffer, Expr.min_(index, last))
    return node


@exprs
def signed_high_half(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    if isinstance(node, Binary) and node.op is BinOp.MUL_HI and ask(node.left).is_signed:
        unsigned = DataType.parse(f"u{ask(node.left).bits}")
        wrong = Binary(BinOp.MUL_HI, Bitcast(node.left, unsigned), Bitcast(node.right, unsigned))
        return Bitcast(wrong, ask(node.left))
    return node


@exprs
def half_in_single(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    """Half floats whose sums are rounded in between by nothing: twice rounded products."""
    if isinstance(node, Binary) and node.op is BinOp.MUL and ask(node.left) is DataType.F16:
        bf = Cast(Cast(node.left, DataType.BF16), DataType.F16)
        return Binary(BinOp.MUL, bf, node.right)
    return node


@exprs
def new_value_for_old(node: AnyExpr, ask: Callable[[AnyExpr], DataType]) -> AnyExpr:
    """An atomic addition that gives the new value."""
    if isinstance(node, Atomic) and node.op is AtomicOp.ADD:
        return Binary(BinOp.ADD, node, node.value)
    return node


@stmts
def missing_barrier(one: AnyStmt, program: Program) -> Body:
    grid = isinstance(one, Barrier) and one.ordering is MemoryOrdering.GRID_SYNC
    return () if isinstance(one, Barrier) and not grid else (one,)


@stmts
def missing_grid_barrier(one: AnyStmt, program: Program) -> Body:
    grid = isinstance(one, Barrier) and one.ordering is MemoryOrdering.GRID_SYNC
    return () if grid else (one,)


@stmts
def unconditional_store(one: AnyStmt, program: Program) -> Body:
    """A branch around a single store is taken always."""
    match one:
        case If(_, (Store(),), ()):
            return one.then
        case _:
            return (one,)


@stmts
def continue_as_break(one: AnyStmt, program: Program) -> Body:
    return (Break(),) if isinstance(one, Continue) else (one,)


@stmts
def return_as_nothing(one: AnyStmt, program: Program) -> Body:
    return () if isinstance(one, Return) else (one,)


@stmts
def ignored_trap(one: AnyStmt, program: Program) -> Body:
    return () if isinstance(one, Trap) else (one,)


@stmts
def plain_atomic(one: AnyStmt, program: Program) -> Body:
    """An atomic whose result is unused becomes a load and a store."""
    if isinstance(one, Eval) and isinstance(one.value, Atomic) and one.value.op is AtomicOp.ADD:
        atomic = one.value
        new = Load(atomic.buffer, atomic.index) + atomic.value
        return (Node.store(atomic.buffer, atomic.index, new),)
    return (one,)


@stmts
def clamped_store(one: AnyStmt, program: Program) -> Body:
    if isinstance(one, Store):
        last = Expr.buf_len(one.buffer) - Expr.u32(1)
        index = Expr.min_(Cast(one.index, DataType.U32), last)
        return (Store(one.buffer, index, one.value),)
    return (one,)


@stmts
def lost_first_round(one: AnyStmt, program: Program) -> Body:
    """Peeling that loses the first round."""
    if isinstance(one, Loop):
        return (rebuilt(one, {"start": _one_more(one.start)}),)
    return (one,)


def _one_more(start: AnyExpr) -> AnyExpr:
    if isinstance(start, Lit) and start.dtype.is_integer and not start.bits:
        return Lit(start.dtype, 1)
    return start


def dead_store_that_was_read(program: Program) -> Program:
    """Of two stores to one element the first is removed, though the second reads it."""

    def body(statements: Body) -> Body:
        kept = [
            each
            for each, after in zip(statements, (*statements[1:], None), strict=True)
            if not (
                isinstance(each, Store)
                and isinstance(after, Store)
                and (each.buffer, each.index) == (after.buffer, after.index)
            )
        ]
        return tuple(map_bodies(each, body) for each in kept)

    return program.with_rewritten_entry(body(program.entry))


def dirty_workgroup_memory(program: Program) -> Program:
    """Workgroup memory begins as whatever was there: here, as ones."""
    fills: list[AnyStmt] = []
    for decl in program.buffers:
        if decl.is_workgroup and decl.value_type.is_scalar:
            value = Cast(Expr.u32(1), decl.value_type)
            k = f"k_{decl.name}"
            fills.append(
                Loop(k, Expr.u32(0), Expr.u32(decl.count), (Store(decl.name, Expr.var(k), value),))
            )
    if not fills:
        return program
    return program.with_rewritten_entry(
        (Region("dirt", None, (*fills, Barrier(MemoryOrdering.SEQ_CST))), *program.entry)
    )


LOWERINGS: dict[str, tuple[str, Change]] = {
    "shift amount not masked": ("reference", unmasked_shift),
    "x / 0 is x": ("reference", division_by_zero),
    "x % 0 is x": ("reference", remainder_of_zero),
    "minimum of NaN": ("reference", minimum_of_nan),
    "NaN equals NaN": ("reference", nan_is_equal),
    "product and sum contracted": ("reference", contracted),
    "fma not fused": ("reference", unfused),
    "saturation lost": ("reference", saturation_lost),
    "and that skips its right side": ("reference", short_circuit),
    "round half to even": ("reference", round_to_even),
    "clz of zero": ("reference", clz_of_zero),
    "float to integer wraps": ("reference", wrapping_float_cast),
    "index cut to 32 bits": ("reference", truncated_index),
    "axes exchanged": ("reference", swapped_axes),
    "load outside clamped": ("reference", clamped_load),
    "store outside clamped": ("reference", clamped_store),
    "high half unsigned": ("reference", signed_high_half),
    "half floats lose bits": ("reference", half_in_single),
    "atomic gives the new value": ("reference", new_value_for_old),
    "missing barrier": ("cpu", missing_barrier),
    "store made unconditional": ("reference", unconditional_store),
    "continue made break": ("reference", continue_as_break),
    "return forgotten": ("reference", return_as_nothing),
    "trap forgotten": ("reference", ignored_trap),
    "atomic made plain": ("reference", plain_atomic),
    "first round lost": ("reference", lost_first_round),
    "dead store that was read": ("reference", dead_store_that_was_read),
    "workgroup memory not cleared": ("reference", dirty_workgroup_memory),
}
"""By name: the backend it is planted in, and the rewriting."""
