"""Value ranges of loaded tables, computed at launch, that prove indices.

In `state = table[state * 256 + u32(text[i])]` the program does not bound the index, but the table
does: if `max(table) * 256 + 255 < length`, every access is in bounds. The buffer is read-only, so
its maximum is computed once per launch, where the buffer is small relative to the work, and the
version without bounds checks runs if the test holds. A launch on memory that may be mapped twice
reports so, and then no fact is taken from the contents of memory.

The range is an upper bound: the maximum of the type where nothing better is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import Builder, widened
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import assigned_names, declared_names, reads_any, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel

_WORDS = frozenset({ir.DataType.U8, ir.DataType.U16, ir.DataType.U32})


class TableRanges:
    """Upper bounds of expressions, from the contents of read-only buffers."""

    def __init__(
        self,
        program: ir.Program,
        body: ir.Body,
        types: Mapping[str, ir.DataType],
        foreign: AbstractSet[str],
    ) -> None:
        """`foreign` are variables that are assigned elsewhere as well."""
        self._buffers = {decl.name: decl for decl in program.buffers}
        self._env = TypeEnv(self._buffers, types)
        self._values: dict[str, list[ir.AnyExpr]] = {}
        counters: set[str] = set()
        for statement in walk_stmts(body):
            if isinstance(statement, (ir.Let, ir.Assign)):
                self._values.setdefault(statement.name, []).append(statement.value)
            elif isinstance(statement, ir.Loop):
                counters.add(statement.var)
        declared = declared_names(body)
        elsewhere = [name for name in self._values if name in foreign]
        for name in (self._values.keys() - declared) | counters | set(elsewhere):
            self._values.pop(name, None)
        self._assigned = assigned_names(body)

    def is_carried(self, expr: ir.AnyExpr) -> bool:
        """True if an expression reads a variable that is reassigned."""
        return reads_any(expr, self._assigned)

    def has_greatest(self, expr: ir.AnyExpr) -> bool:
        """True if an unsigned expression has a useful upper bound."""
        return self._has_greatest(expr, frozenset(), carried=False)

    def _has_greatest(self, expr: ir.AnyExpr, above: frozenset[str], *, carried: bool) -> bool:
        dtype = type_of(expr, self._env)
        if not isinstance(dtype, ir.DataType) or not _is_unsigned(dtype):
            return False
        if dtype.is_bool or (dtype.bits or 0) <= heuristics.MAX_TYPE_BOUND_BITS:
            return True
        if dtype is not ir.DataType.U32:
            return False
        match expr:
            case ir.Lit():
                return True
            case ir.Load(buffer, _):
                # A buffer that indices are loaded from directly is usually as large as the work.
                return carried and self._is_table(buffer)
            case ir.Cast(value, _):
                return self._has_greatest(value, above, carried=carried)
            case ir.Select(_, if_true, if_false):
                sides = (if_true, if_false)
                return all(self._has_greatest(side, above, carried=carried) for side in sides)
            case ir.Binary(ir.BinOp.AND, left, right):
                sides = (left, right)
                return any(self._has_greatest(side, above, carried=carried) for side in sides)
            case ir.Var(name):
                values = self._values.get(name)
                if values is None or name in above:
                    return False
                inner, carries = above | {name}, carried or name in self._assigned
                return all(self._has_greatest(v, inner, carried=carries) for v in values)
            case _:
                return False

    def _is_table(self, buffer: str) -> bool:
        decl = self._buffers[buffer]
        return not decl.is_writable and not decl.is_on_chip and decl.element in _WORDS

    def greatest(self, kernel: Kernel, expr: ir.AnyExpr) -> str:
        """Upper bound of such an expression: an i64, available at entry."""
        return self._greatest(kernel, expr, frozenset(), carried=False)

    def _greatest(
        self, kernel: Kernel, expr: ir.AnyExpr, above: frozenset[str], *, carried: bool
    ) -> str:
        dtype = type_of(expr, self._env)
        assert isinstance(dtype, ir.DataType)
        of_type = "1" if dtype.is_bool else str((1 << (dtype.bits or 0)) - 1)
        match expr:
            case ir.Lit(_, bits):
                return str(bits)
            case ir.Load(buffer, _) if carried and self._is_table(buffer):
                return kernel.greatest(buffer)
            case ir.Cast(value, _) if self._has_greatest(value, above, carried=carried):
                bound = self._greatest(kernel, value, above, carried=carried)
                return _least(kernel.w, [bound, of_type])
            case ir.Select(_, if_true, if_false):
                sides = [if_true, if_false]
            case ir.Binary(ir.BinOp.AND, left, right):
                known = [s for s in (left, right) if self._has_greatest(s, above, carried=carried)]
                bounds = [self._greatest(kernel, s, above, carried=carried) for s in known]
                return _least(kernel.w, [*bounds, of_type])
            case ir.Var(name) if name in self._values and name not in above:
                sides = self._values[name]
                above, carried = above | {name}, carried or name in self._assigned
            case _:
                return of_type
        if not all(self._has_greatest(side, above, carried=carried) for side in sides):
            return of_type
        return _most(kernel.w, [self._greatest(kernel, s, above, carried=carried) for s in sides])


def _is_unsigned(dtype: ir.DataType) -> bool:
    return dtype.is_bool or (dtype.is_integer and not dtype.is_signed and not dtype.is_vector)


def _most(w: Builder, values: list[str]) -> str:
    return _joined(w, "umax", values)


def _least(w: Builder, values: list[str]) -> str:
    return _joined(w, "umin", values)


def _joined(w: Builder, name: str, values: list[str]) -> str:
    joined, *others = dict.fromkeys(values)
    for value in others:
        w.declarations[f"llvm.{name}.i64"] = f"declare i64 @llvm.{name}.i64(i64, i64)"
        joined = w.at_entry(f"call i64 @llvm.{name}.i64(i64 {joined}, i64 {value})")
    return joined


def emit_greatest(kernel: Kernel, pointer: str, count: str, element: ir.DataType) -> str:
    """Emit the maximum of a buffer at entry; that of its type if a scan is too costly."""
    w = kernel.w
    bits = element.bits or 8
    lanes = w.at_entry("sub i64 %last, %first")
    share = heuristics.SCANNED_BYTES_PER_LANE * kernel.invocations * 8 // bits
    many = w.at_entry(f"mul i64 {lanes}, {share}")
    worth = w.at_entry(f"add i64 {many}, {heuristics.SCANNED_BYTES * 8 // bits}")
    most = w.at_entry(f"select i1 {kernel.is_sure()}, i64 {worth}, i64 0")
    name = f"@vyre.greatest.u{bits}"
    w.globals[name] = _function(name, bits, kernel.host.vector_bits)
    w.declarations.update(_reductions(bits, kernel.host.vector_bits))
    return w.at_entry(f"call i64 {name}(ptr {pointer}, i64 {count}, i64 {most})", "greatest")


def _reductions(bits: int, vector_bits: int) -> dict[str, str]:
    lanes = vector_bits // bits
    type_ = widened(f"i{bits}", lanes)
    across, pair = f"llvm.vector.reduce.umax.v{lanes}i{bits}", f"llvm.umax.v{lanes}i{bits}"
    one = f"llvm.umax.i{bits}"
    return {
        across: f"declare i{bits} @{across}({type_})",
        pair: f"declare {type_} @{pair}({type_}, {type_})",
        one: f"declare i{bits} @{one}(i{bits}, i{bits})",
    }


def _function(name: str, bits: int, vector_bits: int) -> str:
    """Function of a pointer, a count and the most elements worth scanning: the maximum."""
    lanes, scalar, size = vector_bits // bits, f"i{bits}", bits // 8
    many = widened(scalar, lanes)
    lines = [
        f"define internal i64 {name}(ptr %data, i64 %count, i64 %most) noinline nounwind {{",
        "entry:",
        "  %few = icmp ule i64 %count, %most",
        f"  %vectors = and i64 %count, {-lanes}",
        "  br i1 %few, label %blocks, label %unknown",
        "blocks:",
        "  %at = phi i64 [ 0, %entry ], [ %at.next, %block ]",
        f"  %seen = phi {many} [ zeroinitializer, %entry ], [ %seen.next, %block ]",
        "  %more = icmp ult i64 %at, %vectors",
        "  br i1 %more, label %block, label %across",
        "block:",
        f"  %place = getelementptr {scalar}, ptr %data, i64 %at",
        f"  %found = load {many}, ptr %place, align {size}",
        f"  %seen.next = call {many} @llvm.umax.v{lanes}{scalar}({many} %seen, {many} %found)",
        f"  %at.next = add i64 %at, {lanes}",
        "  br label %blocks",
        "across:",
        f"  %best = call {scalar} @llvm.vector.reduce.umax.v{lanes}{scalar}({many} %seen)",
        "  br label %singles",
        "singles:",
        "  %i = phi i64 [ %vectors, %across ], [ %i.next, %single ]",
        f"  %whole = phi {scalar} [ %best, %across ], [ %whole.next, %single ]",
        "  %left = icmp ult i64 %i, %count",
        "  br i1 %left, label %single, label %done",
        "single:",
        f"  %one = getelementptr {scalar}, ptr %data, i64 %i",
        f"  %value = load {scalar}, ptr %one, align {size}",
        f"  %whole.next = call {scalar} @llvm.umax.{scalar}({scalar} %whole, {scalar} %value)",
        "  %i.next = add i64 %i, 1",
        "  br label %singles",
        "done:",
        f"  %wide = zext {scalar} %whole to i64",
        "  ret i64 %wide",
        "unknown:",
        f"  ret i64 {(1 << bits) - 1}",
        "}",
    ]
    return "\n".join(lines)


__all__ = ["TableRanges", "emit_greatest"]
