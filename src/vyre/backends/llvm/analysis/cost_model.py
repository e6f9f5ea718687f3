"""Cost model of a parallel region.

Counts the operations, accesses by kind, loops and divergence of the steady-state body. A statement
in a loop has the weight `ASSUMED_TRIP_COUNT` per loop around it, at most `MAX_ASSUMED_EXECUTIONS`,
as trip counts are not known. The counts choose between vector lanes and scalar lanes; an inexact
count costs time, never correctness.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import accumulate

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import is_lane_id
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.analysis.divergent_search import divides_in_search
from vyre.backends.llvm.analysis.pointer_chasing import only_chases
from vyre.backends.llvm.analysis.while_recurrences import rising_variables
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.memory.interleaved import is_word
from vyre.backends.llvm.emit.memory.private_arrays import accessed, bytes_together
from vyre.backends.llvm.emit.memory.privatised_reductions import is_joining
from vyre.backends.llvm.emit.memory.table_lookup import is_worth_it, operations_of
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.ir.infer import TypeEnv
from vyre.ir.walk import (
    assigned_names,
    bodies,
    declared_names,
    expr_children,
    variables_of,
    walk_expr,
    walk_own_exprs,
    walk_stmts,
)

WORD = 8
"""Bytes of a machine word."""


class CostModel:
    """Weighted counts over the steady-state body of a region."""

    def __init__(self, kernel: Kernel, peeling: RowPartition, varying: frozenset[str]) -> None:
        body = peeling.simplified
        self._kernel = kernel
        self._shapes = Divergence(kernel.program, body, (0,), varying, in_step=True)
        self._in_y = Divergence(kernel.program, body, (1,), varying)
        self._strided = peeling.strided
        self._inside = peeling.inside
        self._values: dict[str, ir.AnyExpr] = dict(peeling.outer)
        self._first: dict[str, ir.AnyExpr] = {}
        """Initial values of variables whose step is uniform across lanes."""
        self._rising = rising_variables(body, self._shapes, peeling.kept)
        self._private = peeling.forms.private
        lanes = max(kernel.host.vector_bits // 32, 1)
        cached = bytes_together(kernel, lanes) <= heuristics.MAX_CACHED_ARRAY_BYTES
        self._own = kernel.own_arrays if cached else ()
        self.statements = 0
        self.operations = 0
        self.scattered = 0
        self.apart: set[int] = set()
        """Identities of scattered accesses; 0 stands for atomics and table lookups."""
        self.scattered_in_loops = 0
        """Scattered accesses in loops to narrow elements, slow to gather."""
        self.narrowest = 4
        self.widest = 4
        self.carried = 0
        """Varying variables that are live throughout a loop, hence in registers."""
        self.scalars = 0
        """The same for a scalar lane: one pointer stands for the lanes' index terms."""
        self.pressure = 0
        """Register pressure: `carried` plus the values live at once in an iteration."""
        self.has_loop = False
        self.chained = False
        """True if a long loop carries a dependence from iteration to iteration."""
        self.diverges = False
        """True if lanes may take different branches."""
        self.diverges_in_loop = False
        self.diverges_in_y = False
        self.shares_in_y = False
        self.talks = False
        self._lookups: list[tuple[int, int, int]] = []
        self._words = 0
        """Accesses to members of structures that fill a machine word."""
        self._visit(body, 1)
        self._count_carried(body)
        self._count_lookups()
        # Members combined into machine words are words in memory: each lane reads its own.
        if self.widest == WORD:
            self.scattered += self._words
        else:
            self.operations += heuristics.DEINTERLEAVE_OPERATIONS * self._words
        decls = {name: memory.decl for name, memory in kernel.memories.items()}
        self.chases = self.diverges_in_loop and only_chases(body, self._shapes, decls)
        """True if the only divergent loops are pointer-chasing ones."""
        env = TypeEnv(decls, kernel.types)
        self.searches = self.diverges_in_loop and divides_in_search(body, env)
        """True if a divergent search divides, so that vectors gain nothing."""

    @property
    def reuses_rows(self) -> bool:
        """True if rows run in lock-step would share loads and branches."""
        apart = self.diverges or self.diverges_in_y
        return self.has_loop and self.shares_in_y and not apart

    def _visit(self, body: ir.Body, weight: int) -> None:
        self.statements += len(body)
        for statement in body:
            self._statement(statement, weight)
            if isinstance(statement, ir.Eval) and self._is_joined(statement.value):
                # One reduction serves all lanes of a vector.
                self.scattered -= heuristics.GATHERS_PER_ATOMIC * weight
                self.operations += heuristics.HORIZONTAL_REDUCTION_OPERATIONS * weight
            inner = weight
            if isinstance(statement, (ir.Loop, ir.While)):
                self.has_loop = True
                inner = min(
                    weight * heuristics.ASSUMED_TRIP_COUNT, heuristics.MAX_ASSUMED_EXECUTIONS
                )
            for nested in bodies(statement):
                self._visit(nested, inner)

    def _statement(self, statement: ir.AnyStmt, weight: int) -> None:
        in_loop = weight > 1
        for child in expr_children(statement):
            self._expression(child, weight)
        match statement:
            case ir.Let(name, value):
                if name not in self._shapes.assigned:
                    self._values[name] = value
                elif name in self._rising:
                    self._first[name] = value
            case ir.Store(buffer, index, _):
                self._access(buffer, index, id(statement), weight)
            case ir.Print() | ir.Opaque():
                self.talks = True
            case ir.Trap():
                # The position of a trap is reported for one vector of lanes only.
                self.diverges = True
            case ir.If(cond, _, _):
                self._meet(cond, in_loop=False)
            case ir.While(cond, _):
                self._meet(cond, in_loop=True)
            case ir.Loop(var, start, stop, _):
                # Counters of lanes differ by as much as their initial values.
                self._first[var] = start
                self._meet(start, in_loop=True)
                self._meet(stop, in_loop=True)
            case ir.Break() | ir.Continue() | ir.Return():
                self.diverges = True
                self.diverges_in_loop = self.diverges_in_loop or in_loop
            case _:
                pass

    def _meet(self, expr: ir.AnyExpr, *, in_loop: bool) -> None:
        """Record the divergence of a branch condition or loop bound."""
        if self._shapes.is_varying(expr):
            self.diverges = True
            self.diverges_in_loop = self.diverges_in_loop or in_loop
        if self._in_y.is_varying(expr):
            self.diverges_in_y = True

    def _expression(self, expr: ir.AnyExpr, weight: int) -> None:
        for node in walk_expr(expr):
            match node:
                case ir.Load(buffer, index):
                    access = id(node)
                    entries = self._kernel.table_sizes.get(access)
                    if entries and self._shapes.is_varying(index):
                        self._lookups.append((weight, entries, access))
                    else:
                        self._access(buffer, index, access, weight)
                    if weight > 1 and not self._in_y.is_varying(node):
                        self.shares_in_y = self.shares_in_y or self._shapes.is_varying(node)
                case ir.Atomic():
                    self.scattered += heuristics.GATHERS_PER_ATOMIC * weight
                    self.apart.add(0)
                case ir.Lit() | ir.Var():
                    pass
                case ir.Cast(_, dtype):
                    self.widest = max(self.widest, _size(dtype))
                    self.operations += weight
                case ir.Binary(ir.BinOp.DIV | ir.BinOp.REM, _, ir.Lit(dtype, bits)) if (
                    dtype.is_integer
                ):
                    self.operations += weight * (
                        heuristics.DIVISION_OPERATIONS if bits & (bits - 1) else 1
                    )
                case _:
                    self.operations += 0 if is_lane_id(node) else weight

    def _is_joined(self, expr: ir.AnyExpr) -> bool:
        """True if an atomic's operands are reduced across lanes before one access."""
        if not isinstance(expr, ir.Atomic) or expr.buffer in self._private:
            return False
        if self._kernel.is_reduced_in_blocks(expr.buffer):
            return True
        return is_joining(expr, self.element(expr.buffer)) and self.step(expr.index) == 0

    def _count_lookups(self) -> None:
        """Cost table lookups: in-register where vectors hold bytes, else per lane."""
        host = self._kernel.host
        lanes = host.vector_bits // (8 * (self.widest if self.has_loop else self.narrowest))
        for weight, entries, load in self._lookups:
            if is_worth_it(host, min(lanes, 32), entries):
                self.operations += weight * operations_of(host, entries)
            else:
                self.scattered += weight
                self.apart.add(load)

    def _access(self, buffer: str, index: ir.AnyExpr, access: int, weight: int) -> None:
        element = self._kernel.memories[buffer].decl.element
        size = _size(element.element if element.is_vector and element.element else element)
        step = self.step(index)
        strided = self._strided.get(access)
        near = step in (0, 1) or (
            strided is not None and strided.stride <= heuristics.MAX_STRUCT_STRIDE
        )
        near = near or (step == -1 and access in self._inside)
        if (
            strided is not None
            and heuristics.MAX_WHOLE_STRUCT_STRIDE < strided.stride <= heuristics.MAX_STRUCT_STRIDE
        ):
            if is_word(strided, element):
                self._words += weight
            else:
                self.operations += heuristics.DEINTERLEAVE_OPERATIONS * weight
        apart = not near and not self._is_looked_up(index)
        if buffer in self._private:
            apart = step != 0 or buffer not in self._own
            near = False
            # Scalar lanes wait for their own stores to be forwarded.
            self.operations += 0 if apart else heuristics.PRIVATE_ARRAY_OPERATIONS * weight
        if apart or (step and element.is_vector):
            self.scattered += weight
            self.apart.add(access)
            if weight > 1 and size < self.widest:
                self.scattered_in_loops += weight
        if not element.is_bool:
            self.widest = max(self.widest, _size(element.value_type))
            if near and (step or strided is not None):
                self.narrowest = min(self.narrowest, size)

    def element(self, buffer: str) -> ir.DataType:
        """Element type of a buffer."""
        return self._kernel.memories[buffer].decl.element

    def _is_looked_up(self, index: ir.AnyExpr) -> bool:
        """True if an index is itself loaded at a small stride: a gather serves it."""
        while isinstance(index, (ir.Cast, ir.Var)):
            if isinstance(index, ir.Cast):
                index = index.value
            elif index.name in self._values:
                index = self._values[index.name]
            else:
                return False
        if not isinstance(index, ir.Load) or self._kernel.memories[index.buffer].decl.is_writable:
            return False
        return self.step(index.index) in range(1, heuristics.MAX_WHOLE_STRUCT_STRIDE + 1)

    def step(self, expr: ir.AnyExpr) -> int | None:
        """Stride of an index from lane to lane; None if it is not constant."""
        if not self._shapes.is_varying(expr):
            return 0
        if is_lane_id(expr):
            return 1
        match expr:
            case ir.Var(name):
                value = self._values.get(name, self._first.get(name))
                return None if value is None else self.step(value)
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
                a, b = self.step(left), self.step(right)
                if a is None or b is None:
                    return None
                return a + b if op is ir.BinOp.ADD else a - b
            case ir.Binary(ir.BinOp.MUL, left, right):
                factor = next((s for s in (left, right) if isinstance(s, ir.Lit)), None)
                inner = self.step(right if factor is left else left)
                return None if factor is None or inner is None else inner * int(factor.value)
            case ir.Binary(ir.BinOp.SHL, left, ir.Lit() as amount):
                inner = self.step(left)
                return None if inner is None else inner << (int(amount.value) & 31)
            case ir.Cast(value, dtype):
                return self.step(value) if dtype.is_integer and _size(dtype) >= 4 else None
            case _:
                return None

    def _count_carried(self, body: ir.Body) -> None:
        for statement in walk_stmts(body):
            if not isinstance(statement, (ir.Loop, ir.While)):
                continue
            inside = declared_names(statement.body)
            names = assigned_names(statement.body)
            for inner in walk_stmts(statement.body):
                for child in expr_children(inner):
                    names |= variables_of(child)
            live = (names - inside) & self._shapes.varying
            elements = self._own_elements(statement.body)
            self.carried = max(self.carried, len(live) + elements)
            changed = len(live & self._shapes.assigned)
            self.chained = self.chained or (changed > 0 and not _is_short(statement))
            self.scalars = max(self.scalars, changed + max(len(live) - changed, 1))
            at_once = most_at_once(statement.body, self._shapes.varying)
            self.pressure = max(self.pressure, len(live) + elements + at_once)

    def _own_elements(self, body: ir.Body) -> int:
        """Elements of private arrays that a loop uses: they are variables as well."""
        used = accessed(body)
        decls = [decl for decl in self._kernel.program.buffers if decl.name in self._own]
        return sum(decl.count for decl in decls if decl.name in used)


def most_at_once(body: ir.Body, varying: AbstractSet[str]) -> int:
    """Greatest number of varying variables live at once."""
    bound: dict[str, int] = {}
    last: dict[str, int] = {}
    for position, statement in enumerate(walk_stmts(body)):
        if isinstance(statement, ir.Let) and statement.name in varying:
            bound[statement.name] = position
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Var) and node.name in bound:
                last[node.name] = position
    changes = [0] * (max(last.values(), default=0) + 1)
    for name, end in last.items():
        changes[bound[name]] += 1
        changes[end] -= 1
    return max(accumulate(changes), default=0)


def _is_short(loop: ir.Loop | ir.While) -> bool:
    if not isinstance(loop, ir.Loop):
        return False
    if not isinstance(loop.start, ir.Lit) or not isinstance(loop.stop, ir.Lit):
        return False
    return int(loop.stop.value) - int(loop.start.value) <= heuristics.MAX_FULL_UNROLL_ITERATIONS


def _size(dtype: ir.DataType) -> int:
    return dtype.size_bytes or 4
