"""Atomics on one element, joined over the subgroup first."""

from __future__ import annotations

from math import prod

from vyre import ir
from vyre.analysis import DefUse, Level, ProgramFacts, Uniformity, is_movable
from vyre.ir.walk import map_bodies
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.names import Names
from vyre.target import EMULATED_SUBGROUPS, Feature

_LANE = ir.Builtin(ir.BuiltinKind.SUBGROUP_LANE, 0)
_REDUCE = {
    ir.AtomicOp.ADD: ir.ReduceOp.ADD,
    ir.AtomicOp.SUB: ir.ReduceOp.ADD,
    ir.AtomicOp.AND: ir.ReduceOp.AND,
    ir.AtomicOp.OR: ir.ReduceOp.OR,
    ir.AtomicOp.XOR: ir.ReduceOp.XOR,
    ir.AtomicOp.MIN: ir.ReduceOp.MIN,
    ir.AtomicOp.MAX: ir.ReduceOp.MAX,
}


@vyre_pass(
    name="aggregate_atomics",
    phase=PassPhase.SYNC,
    family=CostModelFamily.SYNC,
    invalidates=("facts", "uniformity"),
    requires_caps=(Feature.SUBGROUPS,),
)
class AggregateAtomics(Pass):
    """Joins what the lanes of a subgroup would each add to one element, and lets one lane do it.
    Legal when the whole workgroup arrives there, the element is the same for all of it, the
    numbers are integers, the atomic is relaxed, and no result of an atomic on that buffer is used
    in the program; an atomic under a condition counts for the lanes where it holds.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there are atomics, and subgroups of more than one lane."""
        target = context.target
        if target is not None and EMULATED_SUBGROUPS in target.details:
            return PassAnalysis.skip("lanes of this device exchange values through memory")
        if target is not None and target.subgroup_width <= 1:
            return PassAnalysis.skip("subgroups of this device have one lane")
        if prod(program.workgroup_size) == 1:
            return PassAnalysis.skip("a workgroup has one invocation")
        if not _unused(program):
            return PassAnalysis.skip("there are no atomics whose results are unused")
        return PassAnalysis.RUN

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Look at every atomic in uniform flow."""
        join = _Join(program)
        entry = join.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), join.rewrites, tuple(join.notes))


def _unused(program: ir.Program) -> frozenset[str]:
    """Buffers with atomics whose results are all unused."""
    facts = ProgramFacts.of(program)
    atomics: set[str] = set()
    used: set[str] = set()
    for ref in facts.buffer_refs:
        if type(ref.expr) is ir.Atomic:
            statement = facts.statements[ref.position]
            atomics.add(ref.name)
            if type(statement) is not ir.Eval or statement.value is not ref.expr:
                used.add(ref.name)
    return frozenset(atomics - used)


class _Join:
    def __init__(self, program: ir.Program) -> None:
        self.uniformity = Uniformity.of(program)
        self.def_use = DefUse.of(program)
        self.decls: dict[str, ir.BufferDecl] = {decl.name: decl for decl in program.buffers}
        self.unused = _unused(program)
        self.names = Names(program)
        self.position = -1
        self.rewrites = 0
        self.notes: dict[str, None] = {}

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        self.position += 1
        position = self.position
        match statement:
            case ir.Eval(ir.Atomic() as atomic):
                return self._joined(statement, atomic, None, position)
            case ir.If(cond, (ir.Eval(ir.Atomic() as atomic),), ()):
                self.position += 1
                return self._joined(statement, atomic, cond, position)
            case _:
                return map_bodies(statement, self.body) if statement.body_fields else statement

    def _joined(
        self, statement: ir.AnyStmt, atomic: ir.Atomic, cond: ir.AnyExpr | None, position: int
    ) -> Change:
        why = self._refusal(atomic, cond, position)
        if why is not None:
            if why:
                self.notes[f"an atomic on {atomic.buffer} stays: {why}"] = None
            return statement
        self.rewrites += 1
        value, name = atomic.value, self.names.fresh("joined")
        speaks: ir.AnyExpr = ir.Binary(ir.BinOp.EQ, _LANE, ir.Lit(ir.DataType.U32, 0))
        if cond is not None:
            dtype = self.decls[atomic.buffer].element
            neutral = ir.Lit(dtype, _neutral(atomic.op, dtype))
            value = ir.Select(cond, value, neutral)
            # An element that no lane would have touched is not touched: someone else may read it.
            speaks = ir.Binary(ir.BinOp.AND, speaks, ir.Binary(ir.BinOp.NE, ir.Var(name), neutral))
        joined = ir.Let(name, ir.SubgroupReduce(_REDUCE[atomic.op], value))
        one = ir.Atomic(atomic.op, atomic.buffer, atomic.index, ir.Var(name), None, atomic.ordering)
        return [joined, ir.If(speaks, (ir.Eval(one),), ()).at(statement.span)]

    def _refusal(self, atomic: ir.Atomic, cond: ir.AnyExpr | None, position: int) -> str | None:
        """Why it stays; an empty text when that needs no mention."""
        dtype = self.decls[atomic.buffer].element
        if atomic.op not in _REDUCE or not dtype.is_integer or atomic.buffer not in self.unused:
            return ""
        if atomic.ordering is not ir.MemoryOrdering.RELAXED:
            return "it orders memory"
        if not (is_movable(atomic.value) and is_movable(atomic.index)):
            return "its operands have effects"
        if self._is_joined(atomic.value, position) or (cond is not None and not is_movable(cond)):
            return ""
        if self.uniformity.convergence(position) > Level.WORKGROUP:
            return "not all of the workgroup arrives there"
        inside = position if cond is None else position + 1
        if self.uniformity.level_of(atomic.index, inside) > Level.WORKGROUP:
            return "the workgroup spreads over several elements"
        return None

    def _is_joined(self, value: ir.AnyExpr, position: int) -> bool:
        """Whether the value is what a subgroup has joined already."""
        if type(value) is not ir.Var:
            return False
        binding = self.def_use.resolve(value.name, position)
        bound = None if binding is None else self.def_use.value(binding)
        return type(bound) is ir.SubgroupReduce


def _neutral(op: ir.AtomicOp, dtype: ir.DataType) -> int:
    """The bits that leave an element as it is."""
    low, high = dtype.integer_range
    mask = (1 << (dtype.bits or 0)) - 1
    return {ir.AtomicOp.AND: mask, ir.AtomicOp.MIN: high & mask, ir.AtomicOp.MAX: low & mask}.get(
        op, 0
    )
