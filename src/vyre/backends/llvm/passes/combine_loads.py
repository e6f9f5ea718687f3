"""Forward substitution that gathers the bytes of a word into one expression.

    w = u32(a[p]); let q = p + 1; w = w | u32(a[q]) << 8; ...
becomes
    w = u32(a[p]) | u32(a[p + 1]) << 8 | ...

which is emitted as one wide load (`emit.memory.wide_loads`). Statements between the steps stay
before the combined one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from vyre.analysis import is_movable
from vyre.backends.llvm.emit.memory.wide_loads import JOINING
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Binary,
    BinOp,
    Body,
    Cast,
    Let,
    Lit,
    Load,
    Program,
    Var,
)
from vyre.ir.walk import map_bodies, rebuilt, rewrite_expr, walk_all_exprs, walk_expr, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.record import dataclass

DEEPEST = 32
"""Operators around one another in what is written out."""


@vyre_pass(name="combine_loads", phase=PassPhase.LOWERING, family=CostModelFamily.MEMORY)
class CombineLoads(CpuPass):
    """Substitutes the steps that assemble a word from bytes into its last step.

    Legal when all statements between the steps are pure, and no partial word is read. Profitable
    whenever it applies: one load in place of up to eight.
    """

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Skip programs that put no shifted bits beside others."""
        if any(_is_step(node) for node in walk_all_exprs(program.entry)):
            return PassAnalysis.RUN
        return PassAnalysis.skip("no shifted parts are combined")

    def rewrite(self, program: Program, context: CpuContext) -> Program:
        """The program with such steps as one."""
        entry = _Joined(program).body(program.entry)
        return program if entry is program.entry else program.with_rewritten_entry(entry)


def _is_step(node: AnyExpr) -> bool:
    """True if an expression combines shifted bits with others."""
    if not isinstance(node, Binary) or node.op not in JOINING:
        return False
    return any(isinstance(n, Binary) and n.op is BinOp.SHL for n in (node, node.left, node.right))


class _Joined:
    def __init__(self, program: Program) -> None:
        self._assigned = {s.name for s in walk_stmts(program.entry) if isinstance(s, Assign)}
        self._uses = Counter(
            node.name for node in walk_all_exprs(program.entry) if isinstance(node, Var)
        )

    def body(self, body: Body) -> Body:
        stretch = _Stretch(self._assigned, self._uses)
        for statement in body:
            if isinstance(statement, (Let, Assign)) and is_movable(statement.value):
                stretch.take(statement)
            else:
                stretch.end(map_bodies(statement, self.body))
        kept = tuple(statement for statement in stretch.made if statement is not None)
        same = len(kept) == len(body) and all(a is b for a, b in zip(kept, body, strict=True))
        return body if same else kept


@dataclass(slots=True)
class _Stretch:
    """Statements, the last of which only compute."""

    assigned: set[str]
    uses: Counter[str]
    made: list[AnyStmt | None] = field(default_factory=list["AnyStmt | None"])
    begun: dict[str, tuple[int, AnyExpr]] = field(default_factory=dict[str, tuple[int, AnyExpr]])
    """Variables with what may be the first part of a word, which nobody has read: where."""
    meant: dict[str, tuple[int, AnyExpr]] = field(default_factory=dict[str, tuple[int, AnyExpr]])
    """What names stand for: sums that are indices; loads and parts of words that are used once."""
    once: set[str] = field(default_factory=set[str])
    """The latter: such a value goes where it is used, and is nowhere else then."""

    def end(self, statement: AnyStmt) -> None:
        """Go past a statement that does more."""
        self.begun.clear()
        self.meant.clear()
        self.made.append(statement)

    def take(self, statement: Let | Assign) -> None:
        """Go past one that computes."""
        if _is_word(statement.value):
            statement = self._continued(self._written(statement))
        name, value = statement.name, statement.value
        for node in walk_expr(value):
            if isinstance(node, Var):
                self.begun.pop(node.name, None)
        place = len(self.made)
        self.made.append(statement)
        if name in self.assigned:
            for known in (self.begun, self.meant):
                for other in [other for other, (_, v) in known.items() if _reads(v, name)]:
                    del known[other]
            self.begun.pop(name, None)
            if _is_word(value):
                self.begun[name] = place, value
        elif (once := self.uses[name] == 1 and _moves(value)) or _is_offset(value):
            value = self._with_meanings(value, loads=False)
            if value.depth <= (2 * DEEPEST if once else DEEPEST):
                self.meant[name] = place, value
                if once:
                    self.once.add(name)

    def _written(self, statement: Let | Assign) -> Let | Assign:
        """A statement with indices written out, and loads where they are used."""
        value = self._with_meanings(statement.value, loads=True)
        return statement if value is statement.value else rebuilt(statement, {"value": value})

    def _with_meanings(self, expr: AnyExpr, *, loads: bool) -> AnyExpr:
        def one(node: AnyExpr) -> AnyExpr:
            found = self.meant.get(node.name) if isinstance(node, Var) else None
            if found is None:
                return node
            place, value = found
            assert isinstance(node, Var)
            if node.name not in self.once:
                return value
            if not loads:
                return node
            self.made[place] = None
            return value

        return rewrite_expr(expr, one)

    def _continued(self, statement: Let | Assign) -> Let | Assign:
        """A statement together with the one that it goes on from."""
        name, value = statement.name, statement.value
        if name not in self.begun:
            return statement
        place, earlier = self.begun[name]
        reads = sum(isinstance(node, Var) and node.name == name for node in walk_expr(value))
        before = self.made[place]
        if reads != 1 or value.depth + earlier.depth > 2 * DEEPEST:
            return statement
        assert isinstance(before, (Let, Assign))
        self.made[place] = None
        value = rewrite_expr(value, lambda node: earlier if node == Var(name) else node)
        return rebuilt(before, {"value": value})


def _reads(value: AnyExpr, name: str) -> bool:
    return any(isinstance(node, Var) and node.name == name for node in walk_expr(value))


def _is_offset(value: AnyExpr) -> bool:
    match value:
        case Binary(BinOp.ADD | BinOp.SUB, left, right):
            return isinstance(left, Lit) or isinstance(right, Lit)
        case _:
            return False


def _is_load(value: AnyExpr) -> bool:
    return isinstance(value, Load) or (isinstance(value, Cast) and isinstance(value.value, Load))


def _moves(value: AnyExpr) -> bool:
    """Whether a value goes where it is used, if that is one place."""
    return _is_load(value) or _is_word(value)


def _is_word(value: AnyExpr) -> bool:
    """Whether an expression may be a part of a word: loads, shifted and put together."""
    match value:
        case Binary(op, left, right) if op in JOINING:
            return _is_word(left) or _is_word(right)
        case Binary(BinOp.SHL, inner, Lit()):
            return _is_word(inner)
        case Cast(inner, _):
            return isinstance(inner, (Load, Var))
        case _:
            return False
