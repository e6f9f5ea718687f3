"""Loops with branches rewritten to the reduction form that vectorises.

    for k in a..b: if c(k): total += x[k]  ->  for k in a..b: total += x[k] if c(k) else 0
    while p < end { ...  p = p + 1 }       ->  for q in p..end { ... }; p = max(p, end)

An inner loop is vectorised where each loop-carried variable takes one step per iteration
(`analysis.loop_vectorization`). Where branches surround the steps, or conditions nest, each
variable gets its step under one condition, and all else is computed in every iteration.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis import is_slow
from vyre.analysis.node_kinds import NodeKinds
from vyre.analysis.types import variable_types
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.analysis.loop_lookups import are_in_registers
from vyre.backends.llvm.analysis.loop_vectorization import step_of, vectorizable_loop
from vyre.backends.llvm.analysis.symbolic_iteration import (
    Better,
    Iteration,
    Replaced,
    Step,
    Stepped,
    Unclear,
    values_of,
)
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.ir.walk import (
    assigned_names,
    declared_names,
    expr_children,
    map_bodies,
    map_exprs,
    reads_any,
    rebuilt,
    rewrite_expr,
    walk_expr,
    walk_own_exprs,
    walk_stmts,
    without_blocks,
)
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.rewrite.names import Names

_COUNTERS = (ir.DataType.U32, ir.DataType.I32)
_EXTREMES = {
    ir.BinOp.GT: ir.BinOp.MAX,
    ir.BinOp.GE: ir.BinOp.MAX,
    ir.BinOp.LT: ir.BinOp.MIN,
    ir.BinOp.LE: ir.BinOp.MIN,
}


@vyre_pass(name="canonicalise_reductions", phase=PassPhase.LOWERING, family=CostModelFamily.LOOP)
class CanonicaliseReductions(CpuPass):
    """Rewrites conditional reductions to select form, and counting `while` loops to `for`.

    Legal when all that is computed in every iteration is pure and cannot trap. Profitable when the
    loop then vectorises, and lanes do not read the same elements anyway.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip programs without loops, and large ones."""
        if not NodeKinds.of(program).have(ir.Loop, ir.While):
            return PassAnalysis.skip("no loop")
        return PassAnalysis.skip("the program is large") if is_large(program) else PassAnalysis.RUN

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with such loops rewritten."""
        return _Choices(program, context.host).program()


class _Choices:
    def __init__(self, program: ir.Program, host: Host) -> None:
        self._program = program
        self._host = host
        self._types = variable_types(program)
        self._env = ir.TypeEnv({decl.name: decl for decl in program.buffers}, self._types)
        self._names: Names | None = None
        self._shapes: Divergence | None = None

    def program(self) -> ir.Program:
        entry = self._body(self._program.entry)
        if entry is self._program.entry:
            return self._program
        return self._program.with_rewritten_entry(entry)

    def _body(self, body: ir.Body) -> ir.Body:
        made: list[ir.AnyStmt] = []
        for statement in body:
            found = None
            if isinstance(statement, (ir.Loop, ir.While)) and _is_simple(statement.body):
                found = self._loop(statement)
            made += found or [map_bodies(statement, self._body)]
        same = len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True))
        return body if same else tuple(made)

    def _fresh(self) -> Names:
        if self._names is None:
            self._names = Names(self._program)
        return self._names

    def _loop(self, statement: ir.Loop | ir.While) -> list[ir.AnyStmt] | None:
        """The statements that replace a loop that becomes vectorisable; None if it does not."""
        loop = statement if isinstance(statement, ir.Loop) else self._counted(statement)
        if loop is None:
            return None
        found = self._rewritten(loop) if self._has_choices(loop) else loop
        if found is None or found is statement or not self._gathers(found, statement):
            return None
        if loop is statement:
            return [found]
        assert isinstance(found.start, ir.Var)
        # With a trip count of zero, the induction variable may be past the end.
        end = ir.Assign(found.start.name, ir.Binary(ir.BinOp.MAX, found.start, found.stop))
        return [found, end]

    def _counted(self, statement: ir.While) -> ir.Loop | None:
        """The counted loop equivalent to a `while` loop; None if there is none."""
        match statement.cond:
            case ir.Binary(ir.BinOp.LT, ir.Var(name), stop) | ir.Binary(
                ir.BinOp.GT, stop, ir.Var(name)
            ):
                pass
            case _:
                return None
        body = without_blocks(statement.body)
        changed = {s.name for s in walk_stmts(statement.body) if isinstance(s, (ir.Assign, ir.Let))}
        steps = [
            s for s in walk_stmts(statement.body) if isinstance(s, ir.Assign) and s.name == name
        ]
        dtype = self._types[name]
        one = ir.Binary(ir.BinOp.ADD, ir.Var(name), ir.Lit(dtype, 1))
        if dtype not in _COUNTERS or len(steps) != 1 or steps[0].value != one:
            return None
        if not any(s is steps[0] for s in body) or not _stays(stop, changed):
            return None
        counter = self._fresh().fresh(name)
        self._types[counter] = dtype
        place = next(n for n, s in enumerate(body) if s is steps[0])
        before = _with_value(body[:place], name, ir.Var(counter))
        following = ir.Binary(ir.BinOp.ADD, ir.Var(counter), ir.Lit(dtype, 1))
        after = _with_value(body[place + 1 :], name, following)
        return ir.Loop(counter, ir.Var(name), stop, (*before, *after))

    def _has_choices(self, loop: ir.Loop) -> bool:
        """True if a loop is not yet in reduction form."""
        own = declared_names(loop.body)
        carried = assigned_names(loop.body) - own
        stepped: set[str] = set()
        for statement in without_blocks(loop.body):
            match statement:
                case ir.If():
                    return True
                case ir.Let(_, value):
                    if reads_any(value, carried):
                        return True
                case ir.Assign(name, _) if name in carried:
                    if name in stepped or step_of(statement) is None:
                        return True
                    stepped.add(name)
                case _:
                    pass
        return False

    def _gathers(self, loop: ir.Loop, before: ir.Loop | ir.While) -> bool:
        """True if the loop vectorises, and its loads differ between lanes."""
        found = vectorizable_loop(loop, self._env)
        if found is None or found.stores:
            return False
        if not are_in_registers(self._host, found.lookups, heuristics.MAX_ITERATIONS_PER_VECTOR):
            return False
        if self._shapes is None:
            self._shapes = Divergence(self._program, self._program.entry, (0,))
        accesses = [
            node
            for inner in (before, *walk_stmts(before.body))
            for node in walk_own_exprs(inner)
            if isinstance(node, ir.Load)
        ]
        return any(self._shapes.is_varying(access.index) for access in accesses)

    def _rewritten(self, loop: ir.Loop) -> ir.Loop | None:
        own = declared_names(loop.body)
        changed = assigned_names(loop.body)
        carried = changed - own
        look = Iteration(self._env, self._types, self._fresh(), carried, changed)
        try:
            look.take(without_blocks(loop.body))
            steps, replaced = self._sorted(values_of(look.now, carried))
        except Unclear:
            return None
        made: list[ir.AnyStmt] = []
        for better, values in replaced.items():
            made += self._replacements(better, values, look.all_of(better.when))
        for one in steps:
            made += [_taken(one.name, step, look.all_of(step.when)) for step in one.steps]
        return rebuilt(loop, {"body": (*look.made, *made)})

    def _sorted(
        self, values: list[Stepped | Replaced]
    ) -> tuple[list[Stepped], dict[Better, list[Replaced]]]:
        """Reductions by operator, and the variables that one comparison replaces together."""
        steps = {one.name: one for one in values if isinstance(one, Stepped)}
        groups: dict[Better, list[Replaced]] = {}
        for one in values:
            if isinstance(one, Replaced):
                groups.setdefault(one.better, []).append(one)
        for better, group in [*groups.items()]:
            extreme = Step(_EXTREMES[better.op], better.when, better.value)
            leader = Replaced(better.name, better, better.value)
            whole = self._types[better.name].is_integer
            if leader not in group:
                # A maximum written as a comparison is the same as one written as `max`.
                if not whole or steps.pop(better.name, None) != Stepped(better.name, (extreme,)):
                    raise Unclear
                group.insert(0, leader)
            elif len(group) == 1 and whole:
                steps[better.name] = Stepped(better.name, (extreme,))
                del groups[better]
        return list(steps.values()), groups

    def _replacements(
        self, better: Better, values: list[Replaced], when: ir.AnyExpr | None
    ) -> list[ir.AnyStmt]:
        cond: ir.AnyExpr = ir.Binary(better.op, better.value, ir.Var(better.name))
        if when is not None:
            cond = ir.Binary(ir.BinOp.AND, when, cond)
        name = self._fresh().fresh("better")
        self._types[name] = ir.DataType.BOOL
        assigns = [
            ir.Assign(v.name, ir.Select(ir.Var(name), v.value, ir.Var(v.name))) for v in values
        ]
        return [ir.Let(name, cond), *assigns]


def _taken(name: str, step: Step, when: ir.AnyExpr | None) -> ir.Assign:
    own = ir.Var(name)
    value = ir.Binary(step.op, own, step.value)
    return ir.Assign(name, value if when is None else ir.Select(when, value, own))


def _with_value(body: list[ir.AnyStmt], name: str, value: ir.AnyExpr) -> list[ir.AnyStmt]:
    """Statements with a value substituted for a variable."""

    def one(node: ir.AnyExpr) -> ir.AnyExpr:
        return value if isinstance(node, ir.Var) and node.name == name else node

    def each(statement: ir.AnyStmt) -> ir.AnyStmt:
        new = map_exprs(statement, lambda child: rewrite_expr(child, one))
        return map_bodies(new, lambda inner: tuple(map(each, inner)))

    return [each(statement) for statement in body]


def _stays(stop: ir.AnyExpr, changed: set[str]) -> bool:
    """True if an expression is loop-invariant."""
    return all(
        isinstance(node, (ir.Lit, ir.BufLen, ir.Builtin, ir.Binary, ir.Var))
        and not (isinstance(node, ir.Var) and node.name in changed)
        for node in walk_expr(stop)
    )


def _is_simple(body: ir.Body) -> bool:
    """True if a loop is short, without slow operations in branches."""
    nodes = 0
    for statement in walk_stmts(body):
        if isinstance(statement, ir.If):
            slow = (node for arm in (statement.then, statement.otherwise) for node in _nodes(arm))
            if any(map(is_slow, slow)):
                return False
        nodes += sum(1 for _ in walk_own_exprs(statement))
        if nodes > heuristics.MAX_REDUCTION_LOOP_NODES:
            return False
    return True


def _nodes(body: ir.Body) -> list[ir.AnyExpr]:
    found = [child for statement in walk_stmts(body) for child in expr_children(statement)]
    return [node for child in found for node in walk_expr(child)]
