"""Checks expressions: types, names, access modes, constant indices, zero divisors.

Types come from `vyre.ir.infer`. A node whose operand is wrong has no type and is not reported
again. Most nodes are of a few kinds and have been seen before with the same types, so the answers
for opcodes are remembered, and each kind of node has its own method in a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vyre import ir
from vyre.check.findings import Findings
from vyre.check.notes import Notes
from vyre.diagnostics import Diagnostic
from vyre.diagnostics.codes import check as codes
from vyre.ir.infer import node_type
from vyre.ir.walk import expr_children
from vyre.target import Feature

Type = ir.DataType | None
"""The type of an expression, or None when it has none and that has been reported."""

_SUBGROUP_IDS = frozenset({ir.BuiltinKind.SUBGROUP_SIZE, ir.BuiltinKind.SUBGROUP_LANE})
_FEW = 64
_WIDE = frozenset({ir.DataType.U64, ir.DataType.I64})


class ExpressionChecker:
    """Finds the types of expressions, and everything that is wrong with them."""

    def __init__(self, buffers: dict[str, ir.BufferDecl], findings: Findings, notes: Notes) -> None:
        self.buffers = buffers
        self.variables: dict[str, Type] = {}
        """The variables visible now; None for one whose value is wrong."""
        self.position = 0
        """The statement whose expressions are being checked."""
        self._findings = findings
        self._notes = notes
        self._loadable = {
            name: decl.value_type
            for name, decl in buffers.items()
            if decl.is_readable and decl.value_type.is_value
        }
        self._known: dict[tuple[object, ...], ir.DataType] = {}
        self._table: dict[type, Callable[[Any], Type]] = {
            ir.Lit: self._typed,
            ir.Var: self._var,
            ir.Load: self._load,
            ir.BufLen: self._buf_len,
            ir.Builtin: self._builtin,
            ir.Unary: self._unary,
            ir.Binary: self._binary,
            ir.Fma: self._fma,
            ir.Select: self._select,
            ir.Cast: self._converted,
            ir.Bitcast: self._converted,
            ir.MakeVec: self._general,
            ir.Lane: self._general,
            ir.Atomic: self._atomic,
            ir.Ballot: self._subgroup,
            ir.Shuffle: self._subgroup,
            ir.SubgroupReduce: self._subgroup,
        }

    def type_of(self, expr: ir.AnyExpr) -> Type:
        """The type of an expression; what is wrong with it is reported."""
        return self._table[type(expr)](expr)

    def report(self, diagnostic: Diagnostic, expr: ir.AnyExpr | None = None) -> None:
        """Note a problem of the current statement."""
        self._findings.add(self.position, diagnostic, expr)

    def check_constant_index(self, buffer: str, index: ir.AnyExpr, expr: ir.AnyExpr | None) -> None:
        """Report a literal index that no run of the program can find in the buffer."""
        decl = self.buffers.get(buffer)
        if decl is None or not isinstance(index, ir.Lit) or not index.dtype.is_integer:
            return
        value = int(index.value)
        if value < 0 or (decl.count and value >= decl.count):
            extent = f"has {decl.count} elements" if decl.count else "starts at 0"
            self.report(codes.INDEX_RANGE.at(index=value, name=buffer, extent=extent), expr)

    def _typed(self, expr: ir.Lit) -> Type:
        dtype = expr.dtype
        if dtype is ir.DataType.F64:
            self._notes.need(Feature.F64, self.position, "an f64 literal")
        return dtype

    def _var(self, expr: ir.Var) -> Type:
        name = expr.name
        if name in self.variables:
            return self.variables[name]
        return self._ask(expr, [])

    def _load(self, expr: ir.Load) -> Type:
        index = self.type_of(expr.index)
        if isinstance(expr.index, ir.Lit):
            self.check_constant_index(expr.buffer, expr.index, expr)
        dtype = self._loadable.get(expr.buffer)
        if dtype is None or index is None or not index.is_integer:
            return self._odd_load(expr, index)
        if dtype is ir.DataType.F64:
            self._notes.need(Feature.F64, self.position, "a load of f64")
        return dtype

    def _odd_load(self, expr: ir.Load, index: Type) -> Type:
        decl = self.buffers.get(expr.buffer)
        if decl is not None and not decl.is_readable:
            self.report(codes.NOT_READABLE.at(name=expr.buffer), expr)
        # The index is already reported, but the buffer may be wrong as well.
        return self._ask(expr, [ir.DataType.U32 if index is None else index])

    def _builtin(self, expr: ir.Builtin) -> Type:
        if expr.kind in _SUBGROUP_IDS:
            self._notes.need(Feature.SUBGROUPS, self.position, expr.kind.value)
        return ir.DataType.U32

    def _unary(self, expr: ir.Unary) -> Type:
        operand = self.type_of(expr.operand)
        if operand is None:
            return None
        key = (expr.op, operand)
        found = self._known.get(key)
        return found if found is not None else self._learn(key, expr, [operand])

    def _binary(self, expr: ir.Binary) -> Type:
        # Half of all nodes come through here: no call more than needed.
        table, left_expr, right_expr = self._table, expr.left, expr.right
        left = table[type(left_expr)](left_expr)
        right = table[type(right_expr)](right_expr)
        if left is None or right is None:
            return None
        op = expr.op
        if (op is ir.BinOp.DIV or op is ir.BinOp.REM) and isinstance(right_expr, ir.Lit):
            self._divisor(expr, right_expr)
        key = (op, left, right)
        found = self._known.get(key)
        return found if found is not None else self._learn(key, expr, [left, right])

    def _divisor(self, expr: ir.Binary, divisor: ir.Lit) -> None:
        if divisor.dtype.is_integer and divisor.bits == 0:
            self.report(codes.ZERO_DIVISOR.at(op=expr.op.row.spelling), expr)

    def _fma(self, expr: ir.Fma) -> Type:
        operands = self._operands(expr)
        if operands is None:
            return None
        key = (ir.Fma, *operands)
        found = self._known.get(key)
        return found if found is not None else self._learn(key, expr, operands)

    def _select(self, expr: ir.Select) -> Type:
        cond = self.type_of(expr.cond)
        if_true, if_false = self.type_of(expr.if_true), self.type_of(expr.if_false)
        if cond is None or if_true is None or if_false is None:
            return None
        if cond is ir.DataType.BOOL and if_true is if_false:
            return if_true
        return self._ask(expr, [cond, if_true, if_false])

    def _buf_len(self, expr: ir.BufLen) -> Type:
        return ir.DataType.U32 if expr.buffer in self.buffers else self._ask(expr, [])

    def _learn(
        self, key: tuple[object, ...], expr: ir.AnyExpr, operands: list[ir.DataType]
    ) -> Type:
        """Ask about an opcode with operand types that were not seen before."""
        found = self._ask(expr, operands)
        if found is not None:
            self._known[key] = found
            if ir.DataType.F16 in operands:
                self._notes.need(Feature.F16, self.position, "arithmetic on f16")
        return found

    def _converted(self, expr: ir.Cast | ir.Bitcast) -> Type:
        value = self.type_of(expr.value)
        if value is None:
            return None
        dtype = expr.dtype
        if dtype is ir.DataType.F64:
            self._notes.need(Feature.F64, self.position, "a conversion to f64")
        key = (type(expr), dtype, value)
        if key in self._known:
            return dtype
        found = self._ask(expr, [value])
        if found is not None:
            self._known[key] = found
        return found

    def _atomic(self, expr: ir.Atomic) -> Type:
        decl = self.buffers.get(expr.buffer)
        operands = self._operands(expr)
        self.check_constant_index(expr.buffer, expr.index, expr)
        if expr.ordering is ir.MemoryOrdering.GRID_SYNC:
            self.report(codes.ATOMIC_ORDERING.at(), expr)
        if decl is not None and (decl.is_local or not (decl.is_readable and decl.is_writable)):
            access = decl.kind.value if decl.is_local else decl.access.value
            self.report(codes.ATOMIC_MEMORY.at(name=expr.buffer, access=access), expr)
        if operands is None:
            return None
        found = self._ask(expr, operands)
        if found in _WIDE:
            self._notes.need(Feature.ATOMIC64, self.position, f"an atomic on {found}")
        elif found is ir.DataType.F32:
            self._notes.need(Feature.ATOMIC_F32, self.position, "an atomic on f32")
        return found

    def _subgroup(self, expr: ir.Ballot | ir.Shuffle | ir.SubgroupReduce) -> Type:
        self._notes.need(Feature.SUBGROUPS, self.position, "a subgroup operation")
        self._notes.subgroup_ops.append((self.position, expr))
        operands = self._operands(expr)
        if operands is None:
            return None
        if isinstance(expr, ir.SubgroupReduce) and ir.DataType.F16 in operands:
            self._notes.need(Feature.F16, self.position, "arithmetic on f16")
        return self._ask(expr, operands)

    def _general(self, expr: ir.AnyExpr) -> Type:
        operands = self._operands(expr)
        return None if operands is None else self._ask(expr, operands)

    def _operands(self, expr: ir.AnyExpr) -> list[ir.DataType] | None:
        """The types of the operands; None when one of them has none."""
        found = [self.type_of(child) for child in expr_children(expr)]
        known = [dtype for dtype in found if dtype is not None]
        return known if len(known) == len(found) else None

    def _ask(self, expr: ir.AnyExpr, operands: list[ir.DataType]) -> Type:
        answer = node_type(expr, operands, ir.TypeEnv(self.buffers, self._suggestions(expr)))
        if isinstance(answer, Diagnostic):
            self.report(answer, expr)
            return None
        return answer

    def _suggestions(self, expr: ir.AnyExpr) -> dict[str, ir.DataType]:
        """The variables an unknown name may be meant for, when there are few."""
        if not isinstance(expr, ir.Var) or len(self.variables) > _FEW:
            return {}
        return {name: dtype for name, dtype in self.variables.items() if dtype is not None}
