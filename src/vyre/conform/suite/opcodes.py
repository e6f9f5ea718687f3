"""Every opcode × every type × edge values × buffer, shared and literal operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vyre import ir
from vyre.conform.compare import EXACT, Tolerance, of_opcode
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array, pairs, scalar_inputs
from vyre.ir.opcodes import Result
from vyre.ir.types import ARITHMETIC_FLOATS, SCALAR_TYPES
from vyre.record import dataclass
from vyre.semantics.ulp import bound

_GROUP = 64
"""Invocations of a workgroup."""
_TOGETHER = 6
"""Opcodes in one program: few programs compile faster than many."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An opcode at one type, as something that makes an expression from operands."""

    name: str
    arity: int
    build: Callable[[Sequence[ir.AnyExpr]], ir.AnyExpr]
    result: ir.DataType
    tolerance: Tolerance = EXACT
    nonzero_right: bool = False
    """Whether a literal zero on the right is refused."""


def operations(dtype: ir.DataType) -> list[Operation]:
    """Everything that one type can do."""
    found = [_unary(op, dtype) for op in ir.UnOp if dtype in op.row.operands]
    found += [_binary(op, dtype) for op in ir.BinOp if dtype in op.row.operands]
    if dtype in ARITHMETIC_FLOATS:
        found.append(Operation("fma", 3, lambda x: ir.Expr.fma(x[0], x[1], x[2]), dtype))
    found.append(Operation("select", 3, _select(dtype), dtype))
    return found


def _unary(op: ir.UnOp, dtype: ir.DataType) -> Operation:
    result = ir.DataType.BOOL if op.row.result is Result.BOOL else dtype
    tolerance = Tolerance(ulps=bound(op, dtype))
    return Operation(op.row.spelling, 1, lambda x: ir.Expr.unary(op, x[0]), result, tolerance)


def _binary(op: ir.BinOp, dtype: ir.DataType) -> Operation:
    result = ir.DataType.BOOL if op.row.result is Result.BOOL else dtype
    nonzero = op in (ir.BinOp.DIV, ir.BinOp.REM) and dtype.is_integer
    return Operation(
        op.row.spelling,
        2,
        lambda x: ir.Expr.binary(op, x[0], x[1]),
        result,
        of_opcode(op, dtype) if dtype.is_float else EXACT,
        nonzero,
    )


def _select(dtype: ir.DataType) -> Callable[[Sequence[ir.AnyExpr]], ir.AnyExpr]:
    zero = ir.Lit(dtype, 0)
    return lambda x: ir.Expr.select(x[2].ne(zero), x[0], x[1])


class _Sheet:
    """A program under construction: every statement fills the next stretch of an output."""

    def __init__(self, dtype: ir.DataType) -> None:
        self._dtype = dtype
        self._left, self._right = pairs(dtype)
        self._third = np.roll(self._right, 7)
        self._values = edge_array(dtype)
        self._total = self._left.size
        self._shared = scalar_inputs(dtype)
        self.buffer_statements: list[ir.Node] = []
        self.value_statements: list[ir.Node] = []
        self.stretches: list[Stretch] = []
        self._ends: dict[ir.DataType, int] = {}

    def add(self, operation: Operation) -> None:
        """All forms of one opcode."""
        i = ir.Expr.var("i")
        a, b, c, v = (ir.Expr.load(name, i) for name in "abcv")
        many = self._total if operation.arity > 1 else self._values.size
        if operation.arity == 1:
            self._put(operation, "buffer", [v], many)
            self._constants(operation)
            return
        self._put(operation, "buffer", [a, b, c], many)
        n = self._values.size
        self._put(operation, "shared right", [v, ir.Expr.load("s", 0), v], n)
        self._put(operation, "shared left", [ir.Expr.load("s", 1), v, v], n)
        self._put(operation, "literal left", [ir.Lit(self._dtype, self._shared[1]), v, v], n)
        # Literals on the right are what optimizers like most: shifts for products, and so on.
        for bits in self._shared:
            if bits or not operation.nonzero_right:
                self._put(operation, "literal right", [v, ir.Lit(self._dtype, bits), v], n)
        self._put(operation, "twice the same", [v, v, v], n)
        self._constants(operation)

    def _constants(self, operation: Operation) -> None:
        """Literals only: what is computed when the program is compiled."""
        for number in range(2):
            left, right = self._shared[number], self._shared[number - 1]
            if right or not operation.nonzero_right:
                operands = [ir.Lit(self._dtype, bits) for bits in (left, right, left)]
                self._put(operation, "literals", operands, 1)

    def _put(
        self, operation: Operation, form: str, operands: Sequence[ir.AnyExpr], count: int
    ) -> None:
        buffer = "flags" if operation.result is ir.DataType.BOOL else "out"
        start = self._ends.get(operation.result, 0)
        self._ends[operation.result] = start + count
        index = ir.Expr.var("i") + ir.Expr.u32(start)
        store = ir.Node.store(buffer, index, operation.build(operands))
        whole = self._total if count == self._total and operation.arity > 1 else count
        if count == 1:
            self.value_statements.append(ir.Node.if_(ir.Expr.var("i").eq(ir.Expr.u32(0)), [store]))
        elif whole == self._total:
            self.buffer_statements.append(store)
        else:
            self.value_statements.append(store)
        label = f"{operation.name} {self._dtype}, {form}"
        self.stretches.append(Stretch(label, buffer, start, count, operation.tolerance))

    def trial(self, name: str) -> Trial:
        """The program with its data."""
        dtype, n = self._dtype, self._values.size
        decls = [
            ir.BufferDecl.read(each, number, dtype).with_count(self._total)
            for number, each in enumerate("abc")
        ]
        decls.append(ir.BufferDecl.read("v", 3, dtype).with_count(n))
        decls.append(ir.BufferDecl.read("s", 4, dtype).with_count(len(self._shared)))
        for number, (result, end) in enumerate(self._ends.items()):
            buffer = "flags" if result is ir.DataType.BOOL else "out"
            decls.append(ir.BufferDecl.output(buffer, 5 + number, result).with_count(end))
        i = ir.Expr.var("i")
        body: list[ir.Node] = [ir.Node.let("i", ir.Expr.gid(0))]
        body.append(ir.Node.if_(i < ir.Expr.u32(self._total), self.buffer_statements))
        body.append(ir.Node.if_(i < ir.Expr.u32(n), self.value_statements))
        stored = edge_array(dtype).dtype
        unsigned = np.dtype(f"u{stored.itemsize}")
        shared = np.array(self._shared, unsigned).view(stored)
        inputs = {
            "a": self._left, "b": self._right, "c": self._third, "v": self._values, "s": shared,
        }  # fmt: skip
        program = ir.Program.wrapped(decls, (_GROUP, 1, 1), body)
        grid = (-(-self._total // _GROUP), 1, 1)
        return Trial("opcodes", name, program, inputs, grid, tuple(self.stretches))


def trials() -> Iterator[Trial]:
    """The whole area."""
    for dtype in SCALAR_TYPES:
        found = operations(dtype)
        for start in range(0, len(found), _TOGETHER):
            yield together(dtype, found[start : start + _TOGETHER])


def together(dtype: ir.DataType, chosen: Sequence[Operation]) -> Trial:
    """One trial of several opcodes."""
    sheet = _Sheet(dtype)
    for operation in chosen:
        sheet.add(operation)
    return sheet.trial(f"{dtype}: {', '.join(operation.name for operation in chosen)}")
