"""Values of variables, put where the variables are read."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from vyre import ir
from vyre.analysis import is_movable, reads_memory
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, walk_expr
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.literal_legality import lawful_statement
from vyre.rewrite.mod_sets import Changing
from vyre.rewrite.substitute import substituted
from vyre.rewrite.usage import Usage, Variables

L = TypeVar("L", ir.Loop, ir.While)

_LEAVES = (ir.Lit, ir.Builtin, ir.BufLen)
_DEEPEST = 12
"""Expressions are not put together into deeper ones than this."""


@vyre_pass(name="propagate", phase=PassPhase.DATAFLOW, invalidates=("def_use", "ranges"))
class Propagate(Pass):
    """Puts literals, ids, copies and values that are read once in the place of variables.
    Legal where the variable still has that value: no assignment to it, or to the variable it is a
    copy of, can have happened since; a value that is read once must not move into a loop, load
    memory, or depend on a variable that is ever assigned.
    """

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Walk in the order of execution, with what is known of each variable."""
        changing = context.caches.setdefault("changing", Changing())
        usage = context.caches.setdefault("usage", Usage())
        variables = Variables.of(program, usage)
        if not variables.binds:
            return PassResult(program)
        walk = _Walk(program, changing, variables, usage)
        entry = walk.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), walk.rewrites)


class _Known(NamedTuple):
    value: ir.AnyExpr
    loops: int
    """How many loops were around where it was learned; a value that costs stays among them."""


class _Walk:
    def __init__(
        self, program: ir.Program, changing: Changing, variables: Variables, usage: Usage
    ) -> None:
        self.changing = changing
        self.usage = usage
        self.buffers = {decl.name: decl for decl in program.buffers}
        self.ever_assigned = variables.assigned
        self.reads = variables.reads
        self.known: dict[str, _Known] = {}
        self.copies: dict[str, set[str]] = {}
        """By variable: those known to be equal to it."""
        self.undo: list[tuple[str, _Known | None]] = []
        self.loops = 0
        self.moved: set[str] = set()
        """Variables whose only read has been replaced: what bound them is not wanted any more."""
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        new = edited(body, self.statement)
        for statement in body:
            if type(statement) is ir.Let:
                self._forget(statement.name)
        # A value that stayed behind would be found and read again by others.
        return edited(new, self._left_behind) if self.moved else new

    def _left_behind(self, statement: ir.AnyStmt) -> Change:
        if type(statement) is not ir.Let or statement.name not in self.moved:
            return statement
        return None if is_movable(statement.value) else statement

    def statement(self, statement: ir.AnyStmt) -> Change:
        if type(statement) is ir.Loop:
            return self._loop(statement)
        if type(statement) is ir.While:
            return self._while(statement)
        new = self._exprs(statement)
        if new is None:
            return None
        if type(new) is ir.Let:
            self._learn(new.name, new.value)
        elif type(new) is ir.Assign:
            self._forget(new.name)
            if type(new.value) in _LEAVES or type(new.value) is ir.Var:
                self._learn(new.name, new.value)
        elif type(new) is ir.If:
            return self._if(new)
        elif new.body_fields:
            return map_bodies(new, self.body)
        return new

    def _exprs(self, statement: ir.AnyStmt) -> ir.AnyStmt | None:
        if self.known.keys().isdisjoint(self.usage.of(statement).names):
            return statement
        new = map_exprs(statement, self._replaced)
        return new if new is statement else lawful_statement(new, statement, self.buffers)

    def _replaced(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        return substituted(expr, self._lookup, self.buffers)

    def _lookup(self, name: str) -> ir.AnyExpr | None:
        known = self.known.get(name)
        if known is None or (known.value.depth > 1 and known.loops != self.loops):
            return None
        self.rewrites += 1
        if known.value.depth > 1:
            self.moved.add(name)
        return known.value

    def _if(self, statement: ir.If) -> ir.If:
        mark = len(self.undo)
        self._assume(statement.cond, holds=True)
        then = self.body(statement.then)
        self._back_to(mark)
        self._assume(statement.cond, holds=False)
        otherwise = self.body(statement.otherwise)
        self._back_to(mark)
        self._kill(statement)
        if then is statement.then and otherwise is statement.otherwise:
            return statement
        return rebuilt(statement, {"then": then, "otherwise": otherwise})

    def _loop(self, statement: ir.Loop) -> ir.Loop:
        new = map_exprs(statement, self._replaced)
        return self._rounds(new, statement)

    def _while(self, statement: ir.While) -> ir.While:
        # The condition is evaluated again after every round, so what rounds assign is unknown.
        self._kill(statement)
        self.loops += 1
        new = map_exprs(statement, self._replaced)
        self.loops -= 1
        return self._rounds(new, statement)

    def _rounds(self, new: L, old: L) -> L:
        self._kill(old)
        self.loops += 1
        mark = len(self.undo)
        new = map_bodies(new, self.body)
        self._back_to(mark)
        self._kill(old)
        self.loops -= 1
        return new

    def _assume(self, condition: ir.AnyExpr, holds: bool) -> None:
        match condition:
            case ir.Var(name):
                self._put(name, _Known(ir.Lit(ir.DataType.BOOL, int(holds)), self.loops))
            case ir.Unary(ir.UnOp.NOT, operand):
                self._assume(operand, not holds)
            case ir.Binary(ir.BinOp.AND, left, right) if holds:
                self._assume(left, holds)
                self._assume(right, holds)
            case ir.Binary(ir.BinOp.OR, left, right) if not holds:
                self._assume(left, holds)
                self._assume(right, holds)
            case ir.Binary(op, ir.Var(name), ir.Lit(dtype) as value) if not dtype.is_float:
                if op is (ir.BinOp.EQ if holds else ir.BinOp.NE):
                    self._put(name, _Known(value, self.loops))
            case _:
                pass

    def _learn(self, name: str, value: ir.AnyExpr) -> None:
        if type(value) in _LEAVES:
            self._put(name, _Known(value, self.loops))
        elif type(value) is ir.Var:
            if value.name != name:
                self._put(name, _Known(value, self.loops))
                self.copies.setdefault(value.name, set()).add(name)
        elif self._may_move(name, value):
            self._put(name, _Known(value, self.loops))

    def _may_move(self, name: str, value: ir.AnyExpr) -> bool:
        if self.reads[name] != 1 or name in self.ever_assigned or value.depth > _DEEPEST:
            return False
        if not is_movable(value) or reads_memory(value):
            return False
        return not any(
            type(inner) is ir.Var and inner.name in self.ever_assigned for inner in walk_expr(value)
        )

    def _kill(self, statement: ir.AnyStmt) -> None:
        for name in self.changing.within(statement).variables:
            self._forget(name)

    def _forget(self, name: str) -> None:
        """The variable has another value from here on, or none."""
        if name in self.known:
            self._put(name, None)
        for copy in self.copies.pop(name, ()):
            known = self.known.get(copy)
            if known is not None and type(known.value) is ir.Var and known.value.name == name:
                self._put(copy, None)

    def _put(self, name: str, known: _Known | None) -> None:
        self.undo.append((name, self.known.get(name)))
        if known is None:
            self.known.pop(name, None)
        else:
            self.known[name] = known

    def _back_to(self, mark: int) -> None:
        while len(self.undo) > mark:
            name, known = self.undo.pop()
            if known is None:
                self.known.pop(name, None)
            else:
                self.known[name] = known
                if type(known.value) is ir.Var:
                    self.copies.setdefault(known.value.name, set()).add(name)
