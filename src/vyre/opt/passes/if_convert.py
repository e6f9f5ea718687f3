"""Small branches as selects."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import is_movable, is_slow, reads_memory
from vyre.ir.walk import map_bodies, walk_expr, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects
from vyre.rewrite.names import Names
from vyre.rewrite.substitute import renamed

MOST_ASSIGNS = 2
MOST_NODES = 8
"""How many variables an arm may assign, and how large a value may be, to be worth doing always."""
MOST_CHANGED = 4
MOST_IN_ARMS = 40
"""The same for arms of several statements that are cheap: all variables, and all expressions."""


@vyre_pass(name="if_convert", phase=PassPhase.CONTROL_FLOW, invalidates=("facts",))
class IfConvert(Pass):
    """Turns branches that only assign small values, or store to the same element, into selects.
    Legal when both arms can be evaluated always: no atomics, subgroup operations or loads in them.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a branch."""
        found = any(type(s) is ir.If for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no branch")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Convert inner branches first."""
        convert = _Convert(program)
        entry = convert.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), convert.rewrites)


class _Convert:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.names: Names | None = None
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        if not statement.body_fields:
            return statement
        new = map_bodies(statement, self.body)
        if type(new) is not ir.If:
            return new
        made = self._stores(new) or self._assigns(new) or self._steps(new)
        if made is None:
            return new
        self.rewrites += 1
        return made

    def _stores(self, branch: ir.If) -> list[ir.AnyStmt] | None:
        match branch:
            case ir.If(cond, (ir.Store(a, i, x),), (ir.Store(b, j, y),)) if a == b and i == j:
                # The condition is evaluated after the index from now on.
                if not (_is_cheap(x) and _is_cheap(y) and is_movable(i)) or has_effects(cond):
                    return None
                return [ir.Store(a, i, ir.Select(cond, x, y)).at(branch.span)]
            case _:
                return None

    def _assigns(self, branch: ir.If) -> list[ir.AnyStmt] | None:
        then, otherwise = _values(branch.then), _values(branch.otherwise)
        if then is None or otherwise is None:
            return None
        names = {**then, **otherwise}.keys()
        if not names or len(names) > MOST_ASSIGNS:
            return None
        for arm in (then, otherwise):
            for name, value in arm.items():
                others = names - {name}
                if any(type(e) is ir.Var and e.name in others for e in walk_expr(value)):
                    return None
        lets: list[ir.AnyStmt] = []
        cond = branch.cond
        if len(names) > 1 and type(cond) is not ir.Lit:
            # The first assignment may change what the condition depends on.
            if self.names is None:
                self.names = Names(self.program)
            name = self.names.fresh("cond")
            lets.append(ir.Let(name, cond))
            cond = ir.Var(name)
        return [
            *lets,
            *(
                ir.Assign(
                    name,
                    ir.Select(
                        cond, then.get(name, ir.Var(name)), otherwise.get(name, ir.Var(name))
                    ),
                ).at(branch.span)
                for name in names
            ),
        ]

    def _steps(self, branch: ir.If) -> list[ir.AnyStmt] | None:
        """Both arms one after the other, on variables of their own, and then the choice."""
        arms = (branch.then, branch.otherwise)
        changed = _changed(arms)
        if not changed or len(changed) > MOST_CHANGED or not _is_short(arms):
            return None
        if self.names is None:
            self.names = Names(self.program)
        cond = self.names.fresh("cond")
        made: list[ir.AnyStmt] = [ir.Let(cond, branch.cond).at(branch.span)]
        ends = [self._arm(arm, made) for arm in arms]
        for name in changed:
            sides = (ir.Var(end.get(name, name)) for end in ends)
            made.append(ir.Assign(name, ir.Select(ir.Var(cond), *sides)).at(branch.span))
        return made

    def _arm(self, arm: ir.Body, made: list[ir.AnyStmt]) -> dict[str, str]:
        """The statements of an arm, each with a new name; gives the last names of variables."""
        assert self.names is not None
        now: dict[str, str] = {}
        for statement in arm:
            assert isinstance(statement, (ir.Let, ir.Assign))
            value = renamed(statement.value, now)
            now[statement.name] = self.names.fresh(statement.name)
            made.append(ir.Let(now[statement.name], value).at(statement.span))
        return now


def _changed(arms: tuple[ir.Body, ...]) -> dict[str, None] | None:
    """The variables from around a branch that it assigns; None if it does anything else."""
    found: dict[str, None] = {}
    for arm in arms:
        own: set[str] = set()
        for statement in arm:
            if type(statement) is ir.Let:
                own.add(statement.name)
            elif type(statement) is not ir.Assign:
                return None
            elif statement.name not in own:
                found[statement.name] = None
    return found


def _is_short(arms: tuple[ir.Body, ...]) -> bool:
    """Whether evaluating both arms costs little more than a branch that is not foreseen."""
    nodes = 0
    for arm in arms:
        for statement in arm:
            assert isinstance(statement, (ir.Let, ir.Assign))
            if not is_movable(statement.value) or reads_memory(statement.value):
                return False
            for node in walk_expr(statement.value):
                nodes += 1
                if nodes > MOST_IN_ARMS or is_slow(node):
                    return False
    return True


def _values(arm: ir.Body) -> dict[str, ir.AnyExpr] | None:
    """What an arm assigns, if it does nothing else."""
    found: dict[str, ir.AnyExpr] = {}
    for statement in arm:
        if type(statement) is not ir.Assign or statement.name in found:
            return None
        if not _is_cheap(statement.value):
            return None
        found[statement.name] = statement.value
    return found


def _is_cheap(value: ir.AnyExpr) -> bool:
    if not is_movable(value) or reads_memory(value):
        return False
    return sum(1 for _ in walk_expr(value)) <= MOST_NODES
