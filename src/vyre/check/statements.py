"""Checks statements in one walk: scopes, values, accesses, where things may stand, nesting.

What needs the whole program (convergence, tags, features) is written down in `Notes` on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vyre import ir
from vyre.check.expressions import ExpressionChecker, Type
from vyre.check.findings import Findings
from vyre.check.notes import Notes
from vyre.check.whole_buffers import (
    COLLECTIVE_WORDS,
    Collective,
    buffer_names,
    collective_problems,
    copy_problems,
    indirect_problems,
)
from vyre.diagnostics import Diagnostic
from vyre.diagnostics.codes import check as codes
from vyre.diagnostics.codes import typing as type_codes
from vyre.ir.infer import node_type, not_bool
from vyre.ir.walk import expr_children
from vyre.target import Feature

MAX_NESTING = 64
MAX_EXPR_DEPTH = 128
MAX_EXPR_NODES = 65_536
_SHALLOW = 12
"""Expressions of this depth are small enough however much they share."""

_ABSENT: Any = object()


class StatementChecker:
    """Walks a program in the order of its text."""

    def __init__(self, buffers: dict[str, ir.BufferDecl], findings: Findings, notes: Notes) -> None:
        self._buffers = buffers
        self._findings = findings
        self._notes = notes
        self._expressions = ExpressionChecker(buffers, findings, notes)
        self._variables = self._expressions.variables
        self._loop_variables: set[str] = set()
        self._scope: dict[str, Type] = {}
        """Names bound in the innermost scope, and what they stood for around it."""
        self._around: list[str] = []
        """The ifs and loops around the statement."""
        self._loops = 0
        self._depth = 0
        self._next = 0
        self._too_deep = False
        self._storable = {
            name: decl.value_type
            for name, decl in buffers.items()
            if decl.is_writable and decl.value_type.is_value
        }
        self._table: dict[type, Callable[[Any], bool | None]] = {
            ir.Let: self._let,
            ir.Assign: self._assign,
            ir.Store: self._store,
            ir.Eval: self._eval,
            ir.If: self._if,
            ir.Loop: self._loop,
            ir.While: self._while,
            ir.Break: self._leave_round,
            ir.Continue: self._leave_round,
            ir.Return: self._return,
            ir.Barrier: self._barrier,
            ir.Block: self._block,
            ir.Region: self._block,
            ir.AsyncLoad: self._copy,
            ir.AsyncStore: self._copy,
            ir.AsyncWait: self._wait,
            ir.Trap: self._trap,
            ir.Resume: self._resume,
            ir.Print: self._print,
            ir.IndirectDispatch: self._indirect,
            ir.AllReduce: self._collective,
            ir.AllGather: self._collective,
            ir.ReduceScatter: self._collective,
            ir.Broadcast: self._collective,
            ir.Opaque: self._opaque,
        }

    def run(self, entry: ir.Body) -> None:
        """Check all statements."""
        self._body(entry)
        self._notes.statements = self._next

    def _body(self, body: ir.Body) -> bool:
        """Check a body in a scope of its own; answers whether nothing goes on after it."""
        self._depth += 1
        if self._depth > MAX_NESTING and body and not self._too_deep:
            self._too_deep = True
            self._findings.add(self._next, codes.NESTING.at(depth=self._depth, limit=MAX_NESTING))
        outer, self._scope = self._scope, {}
        table, expressions = self._table, self._expressions
        left = reported = False
        for statement in body:
            expressions.position = self._next
            if left and not reported:
                reported = True
                self._findings.add(self._next, codes.UNREACHABLE.at())
            self._next += 1
            if table[type(statement)](statement):
                left = True
        self._close_scope()
        self._scope = outer
        self._depth -= 1
        return left

    def _close_scope(self) -> None:
        for name, before in self._scope.items():
            if before is _ABSENT:
                del self._variables[name]
            else:
                self._variables[name] = before

    def _report(self, diagnostic: Diagnostic, expr: ir.AnyExpr | None = None) -> None:
        self._expressions.report(diagnostic, expr)

    def _value(self, expr: ir.AnyExpr) -> Type:
        if expr.depth > _SHALLOW and not self._is_reasonable(expr):
            return None
        return self._expressions.type_of(expr)

    def _is_reasonable(self, expr: ir.AnyExpr) -> bool:
        """Whether an expression can be walked through; it may share parts with itself."""
        size = _size(expr, {})
        if size > MAX_EXPR_NODES:
            self._notes.oversized.add(self._expressions.position)
            self._report(codes.EXPRESSION_SIZE.at(count=size, limit=MAX_EXPR_NODES))
            return False
        if expr.depth > MAX_EXPR_DEPTH:
            self._report(codes.EXPRESSION_DEPTH.at(depth=expr.depth, limit=MAX_EXPR_DEPTH), expr)
        return True

    def _bind(self, name: str, dtype: Type) -> None:
        if name in self._buffers:
            self._report(codes.NAMED_LIKE_BUFFER.at(name=name))
        if name in self._variables:
            code = codes.BOUND_TWICE if name in self._scope else codes.SHADOWED
            self._report(code.at(name=name))
        self._scope.setdefault(name, self._variables.get(name, _ABSENT))
        self._variables[name] = dtype

    def _buffer(self, name: str) -> ir.BufferDecl | None:
        """The declaration of a buffer; that there is none is reported."""
        answer = node_type(ir.BufLen(name), [], ir.TypeEnv(self._buffers, {}))
        if isinstance(answer, Diagnostic):
            self._report(answer)
        return self._buffers.get(name)

    def _let(self, statement: ir.Let) -> None:
        self._bind(statement.name, self._value(statement.value))

    def _assign(self, statement: ir.Assign) -> None:
        name = statement.name
        found = self._value(statement.value)
        if name in self._loop_variables and name in self._variables:
            self._report(codes.ASSIGN_LOOP_VARIABLE.at(name=name))
            return
        expected = self._variables.get(name, _ABSENT)
        if expected is _ABSENT:
            self._report(codes.ASSIGN_UNKNOWN.at(name=name))
        elif found is not expected and found is not None and expected is not None:
            what = f"the variable {name!r}"
            self._report(type_codes.VALUE_TYPE.at(what=what, expected=expected, found=found))

    def _store(self, statement: ir.Store) -> None:
        index = self._value(statement.index)
        value = self._value(statement.value)
        if isinstance(statement.index, ir.Lit):
            self._expressions.check_constant_index(statement.buffer, statement.index, None)
        expected = self._storable.get(statement.buffer)
        if expected is None or value is not expected or index is None or not index.is_integer:
            self._odd_store(statement, index, value)

    def _odd_store(self, statement: ir.Store, index: Type, value: Type) -> None:
        name = statement.buffer
        decl = self._buffer(name)
        if decl is None:
            return
        if not decl.is_writable:
            self._report(codes.NOT_WRITABLE.at(name=name, access=decl.access.value))
        if index is not None and not index.is_integer:
            what = f"the index of {name}"
            self._report(type_codes.INDEX_TYPE.at(what=what, found=index), statement.index)
        if not decl.value_type.is_value:
            self._report(type_codes.NO_VALUE.at(found=decl.element))
        elif value is not None and value is not decl.value_type:
            what = f"the buffer {name!r}"
            wrong = type_codes.VALUE_TYPE.at(what=what, expected=decl.value_type, found=value)
            self._report(wrong, statement.value)

    def _eval(self, statement: ir.Eval) -> None:
        self._value(statement.value)

    def _condition(self, expr: ir.AnyExpr, what: str) -> None:
        found = self._value(expr)
        if found is not None and not found.is_bool:
            self._report(not_bool(found, what), expr)

    def _if(self, statement: ir.If) -> bool:
        self._condition(statement.cond, "the condition of an if")
        self._around.append("an if")
        then_leaves = self._body(statement.then)
        else_leaves = self._body(statement.otherwise)
        self._around.pop()
        return then_leaves and else_leaves

    def _loop(self, statement: ir.Loop) -> None:
        start, stop = self._value(statement.start), self._value(statement.stop)
        if start is not None and stop is not None and (start is not stop or not start.is_integer):
            self._report(type_codes.LOOP_BOUNDS.at(left=start, right=stop))
        name = statement.var
        outer, self._scope = self._scope, {}
        self._bind(name, start)
        known = name in self._loop_variables
        self._loop_variables.add(name)
        self._rounds(statement.body, "a loop")
        if not known:
            self._loop_variables.discard(name)
        self._close_scope()
        self._scope = outer

    def _while(self, statement: ir.While) -> None:
        before = len(self._notes.subgroup_ops)
        self._condition(statement.cond, "the condition of a while")
        if len(self._notes.subgroup_ops) > before:
            self._notes.round_conditions.add(self._expressions.position)
        self._rounds(statement.body, "a while")

    def _rounds(self, body: ir.Body, what: str) -> None:
        self._loops += 1
        self._around.append(what)
        self._body(body)
        self._around.pop()
        self._loops -= 1

    def _leave_round(self, statement: ir.Break | ir.Continue) -> bool:
        if not self._loops:
            what = "break" if isinstance(statement, ir.Break) else "continue"
            self._report(codes.OUTSIDE_LOOP.at(what=what))
        return True

    def _return(self, statement: ir.Return) -> bool:
        return True

    def _block(self, statement: ir.Block | ir.Region) -> bool:
        return self._body(statement.body)

    def _barrier(self, statement: ir.Barrier) -> None:
        position = self._expressions.position
        if statement.ordering is ir.MemoryOrdering.RELAXED:
            self._report(codes.BARRIER_ORDERING.at())
        if statement.ordering is not ir.MemoryOrdering.GRID_SYNC:
            self._notes.barriers.append((position, statement))
        elif "an if" in self._around:
            self._report(codes.GRID_SYNC_PLACE.at(what="a grid sync", inside="an if"))
        else:
            self._notes.grid_syncs.append(position)

    def _copy(self, statement: ir.AsyncLoad | ir.AsyncStore) -> None:
        self._notes.copies.append((self._expressions.position, statement))
        operands = {
            f"the index of {statement.destination}": statement.destination_start,
            f"the index of {statement.source}": statement.source_start,
            "the count of an async copy": statement.count,
        }
        for what, operand in operands.items():
            found = self._value(operand)
            if found is not None and not found.is_integer:
                self._report(type_codes.INDEX_TYPE.at(what=what, found=found), operand)
        source, destination = (self._buffer(name) for name in buffer_names(statement))
        if source is None or destination is None:
            return
        for problem in copy_problems(statement, source, destination):
            self._report(problem)

    def _wait(self, statement: ir.AsyncWait) -> None:
        self._notes.waits.append((self._expressions.position, statement))

    def _trap(self, statement: ir.Trap) -> None:
        self._notes.trap_tags.add(statement.tag)
        self._notes.need(Feature.TRAP, self._expressions.position, "a trap")

    def _resume(self, statement: ir.Resume) -> None:
        self._notes.resumes.append((self._expressions.position, statement))

    def _print(self, statement: ir.Print) -> None:
        self._notes.need(Feature.PRINT, self._expressions.position, "a print")
        for value in statement.values:
            self._value(value)

    def _indirect(self, statement: ir.IndirectDispatch) -> None:
        position = self._expressions.position
        self._notes.need(Feature.INDIRECT_DISPATCH, position, "an indirect dispatch")
        # In the first statement of all, everything that came before it is around it.
        if self._around or position != self._depth - 1:
            self._report(codes.INDIRECT_PLACE.at())
        decl = self._buffer(statement.count_buffer)
        if decl is not None:
            for problem in indirect_problems(statement, decl):
                self._report(problem)

    def _collective(self, statement: Collective) -> None:
        if self._around:
            what = COLLECTIVE_WORDS[type(statement)]
            self._report(codes.COLLECTIVE_PLACE.at(what=what, inside=self._around[-1]))
        else:
            self._notes.grid_syncs.append(self._expressions.position)
        decls = [self._buffer(name) for name in buffer_names(statement)]
        source, destination = decls[0], decls[-1]
        if source is not None and destination is not None:
            for problem in collective_problems(statement, source, destination):
                self._report(problem)

    def _opaque(self, statement: ir.Opaque) -> None:
        self._notes.opaques.append((self._expressions.position, statement))
        for operand in statement.operands:
            self._value(operand)


def _size(expr: ir.AnyExpr, known: dict[int, int]) -> int:
    """The nodes of an expression when it is written out."""
    size = known.get(id(expr))
    if size is None:
        size = known[id(expr)] = 1 + sum(_size(child, known) for child in expr_children(expr))
    return size
