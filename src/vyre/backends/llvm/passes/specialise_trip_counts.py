"""Trip-count specialisation of loops over the members of structures.

    for c in 0..image.shape[2] { out[p * out.shape[2] + c] = … }
->
    let is_3 = image.shape[2] == 3 & out.shape[2] == 3
    if is_3 {
        out[p * 3] = …  out[p * 3 + 1] = …  out[p * 3 + 2] = …
    } else { the original loop }

The stride of lanes equals the trip count, known at launch only. It is 3 or 4 more often than not.
With a literal, the loop is fully unrolled, and lanes load whole structures and shuffle them in
registers. Each version is a parallel region of its own, with its own vector width: the names of the
conditions are in `LaunchFacts.version_flags`.

It is no pass of the optimizer, because versions pay where lanes are vectors that one shuffles: on
llvmpipe, kernels of the survey on the channels of images take 1.4 to 3.1 times as long with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vyre import ir
from vyre.analysis.node_kinds import NodeKinds
from vyre.analysis.types import variable_types
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import LinearForms, flat_index
from vyre.backends.llvm.analysis.parallel_regions import SYNCHRONISING
from vyre.backends.llvm.analysis.struct_strides import is_distance
from vyre.backends.llvm.pass_context import CpuContext, CpuPass, LaunchFacts
from vyre.backends.llvm.rewrites.full_unrolling import UnrolledBody, UnrollPlan
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.ir.names import numbered_name, unused_name
from vyre.ir.walk import accesses_of, rebuilt, walk_expr, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.rewrite.bodies import jumps
from vyre.rewrite.conditions import both
from vyre.rewrite.names import rename_body

_NO_NAMES: frozenset[str] = frozenset()


@vyre_pass(name="specialise_trip_counts", phase=PassPhase.LOWERING, family=CostModelFamily.LOOP)
class SpecialiseTripCounts(CpuPass):
    """Versions a program for usual trip counts of loops over the members of structures.

    Legal when trip counts and strides are inputs of the launch: one test selects the version in
    which a literal replaces them; where it holds, all versions compute the same. Profitable when
    such a loop accesses all members between lanes, as in images. Not done in first code, in
    programs of more than `MAX_SPECIALISED_STATEMENTS` statements, and in those with barriers or
    returns, whose regions share values.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip first code, large programs, and programs without loops of unknown length."""
        if isinstance(context, CpuContext) and not context.thorough:
            return PassAnalysis.skip("first code has no versions")
        if not NodeKinds.of(program).have(ir.Loop):
            return PassAnalysis.skip("no loop with a trip count known at launch only")
        statements = list(walk_stmts(program.entry))
        if not any(isinstance(s, ir.Loop) and not isinstance(s.stop, ir.Lit) for s in statements):
            return PassAnalysis.skip("no loop with a trip count known at launch only")
        if len(statements) > heuristics.MAX_SPECIALISED_STATEMENTS:
            return PassAnalysis.skip("the program is too large")
        if any(isinstance(s, (ir.Return, *SYNCHRONISING)) for s in statements):
            return PassAnalysis.skip("it has barriers or returns")
        return PassAnalysis.RUN

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with a version for each usual trip count."""
        types = variable_types(program)
        plan = loops_over_members(program, types)
        if plan is None:
            return program
        versions = _Versions(program, plan, dict(types), context.facts)
        versioned = program.with_rewritten_entry(versions.entry())
        if is_large(versioned):
            return program
        context.facts = versions.facts
        return versioned


class _Versions:
    """The versions of a program; their names differ."""

    def __init__(
        self,
        program: ir.Program,
        plan: UnrollPlan,
        types: dict[str, ir.DataType],
        facts: LaunchFacts,
    ) -> None:
        self._program = program
        self._plan = plan
        self._types = types
        self.facts = facts

    def entry(self) -> ir.Body:
        """The conditions, and branches to the versions, the original last."""
        match self._program.entry:
            case (ir.Region(_, _, body) as root,):
                return (rebuilt(root, {"body": self._versioned(body)}),)
            case body:
                return self._versioned(body)

    def _versioned(self, body: ir.Body) -> ir.Body:
        conditions: list[ir.AnyStmt] = []
        versioned = body
        for number in reversed(heuristics.SPECIALISED_TRIP_COUNTS):
            flag = unused_name(f"is_{number}", self._types, ".", first=1)
            self._types[flag] = ir.DataType.BOOL
            conditions.insert(0, ir.Let(flag, self._condition(number)))
            versioned = (ir.If(ir.Var(flag), self._version(body, number), versioned),)
            flags = self.facts.version_flags | {flag}
            self.facts = replace(self.facts, version_flags=flags)
        return (*conditions, *versioned)

    def _condition(self, number: int) -> ir.AnyExpr:
        condition: ir.AnyExpr | None = None
        for size in self._plan.sizes:
            same = ir.Binary(ir.BinOp.EQ, size, ir.Lit(ir.DataType.U32, number))
            condition = both(condition, same)
        assert condition is not None
        return condition

    def _version(self, body: ir.Body, number: int) -> ir.Body:
        """The body for one trip count, under new names, for which the same facts hold."""
        unrolled = UnrolledBody(body, self._plan, number, self._types)
        changes: dict[str, str] = {}
        for statement in walk_stmts(unrolled.body):
            if isinstance(statement, (ir.Let, ir.Loop)):
                name = statement.name if isinstance(statement, ir.Let) else statement.var
                if name in self._types:
                    changes[name] = numbered_name(name, self._types, ".", first=1)
                self._types[changes.get(name, name)] = unrolled.types[name]
        facts = self.facts
        self.facts = replace(
            facts,
            trip_counts=facts.trip_counts | {changes.get(n, n) for n in facts.trip_counts},
            outer_counters=facts.outer_counters | {changes.get(n, n) for n in facts.outer_counters},
        )
        return rename_body(unrolled.body, changes)


def loops_over_members(program: ir.Program, types: Mapping[str, ir.DataType]) -> UnrollPlan | None:
    """Loops over consecutive members, and what must equal their trip count; None without any."""
    forms = LinearForms(program, program.entry, {}, _NO_NAMES, types)
    loops: set[str] = set()
    sizes: dict[ir.AnyExpr, None] = {}
    for loop in walk_stmts(program.entry):
        if not isinstance(loop, ir.Loop) or loop.start != ir.Lit(ir.DataType.U32, 0):
            continue
        stop = forms.expand(loop.stop)
        if not is_distance(stop, forms, _NO_NAMES) or jumps(loop.body):
            continue
        strides = _distances(loop, forms)
        if strides:
            loops.add(loop.var)
            sizes.update(dict.fromkeys((stop, *strides)))
    return UnrollPlan(forms, frozenset(loops), tuple(sizes)) if loops else None


def _distances(loop: ir.Loop, forms: LinearForms) -> list[ir.AnyExpr]:
    """Strides of lanes where a loop iterates over the elements in between.

    A row of a matrix has the same form, but is long: these are members of structures if the
    structures have several axes, or if the loop stores to all members.
    """
    strides: list[ir.AnyExpr] = []
    likely = False
    for statement in walk_stmts(loop.body):
        for buffer, index in accesses_of(statement):
            product = _structure(forms.expand(index), loop.var)
            if product is None or buffer in forms.private:
                continue
            for position, size in ((product.left, product.right), (product.right, product.left)):
                if not is_distance(size, forms, _NO_NAMES) or not forms.is_u32(position):
                    continue
                if forms.stride(position) == 1:
                    strides.append(size)
                    likely = likely or _has_axes(position) or isinstance(statement, ir.Store)
                    break
    return strides if likely else []


def _structure(index: ir.AnyExpr, counter: str) -> ir.Binary | None:
    """Index of the first member of a structure; the counter is the member."""
    flat = flat_index(index)
    if isinstance(flat, ir.Binary) and flat.op is ir.BinOp.ADD:
        for base, member in ((flat.left, flat.right), (flat.right, flat.left)):
            if (
                member == ir.Var(counter)
                and isinstance(base, ir.Binary)
                and base.op is ir.BinOp.MUL
            ):
                return base
    return None


def _has_axes(position: ir.AnyExpr) -> bool:
    """True if a position is itself multi-dimensional."""
    return any(
        isinstance(node, ir.Binary) and node.op is ir.BinOp.MUL for node in walk_expr(position)
    )


__all__ = ["SpecialiseTripCounts", "loops_over_members"]
