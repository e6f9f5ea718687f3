"""Reading statements. Open bodies are kept on a list, so nesting costs no recursion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from difflib import get_close_matches

from vyre.diagnostics import Span
from vyre.diagnostics.codes import text as codes
from vyre.ir.expr import AnyExpr
from vyre.ir.node import MAX_STMT_DEPTH
from vyre.ir.opcodes import ReduceOp
from vyre.ir.stmt import (
    AllGather,
    AllReduce,
    AnyStmt,
    Assign,
    AsyncLoad,
    AsyncStore,
    AsyncWait,
    Barrier,
    Block,
    Body,
    Break,
    Broadcast,
    Continue,
    Eval,
    If,
    IndirectDispatch,
    Let,
    Loop,
    Node,
    Opaque,
    Print,
    ReduceScatter,
    Region,
    Resume,
    Return,
    Store,
    Trap,
    While,
    checked_text,
)
from vyre.record import dataclass
from vyre.text.cursor import Cursor
from vyre.text.parse_expr import ExprParser
from vyre.text.tokens import END, NAME, QUOTED
from vyre.text.words import ORDERINGS, RESERVED, STATEMENT_WORDS

_REDUCE = {op.row.spelling: op for op in ReduceOp}


@dataclass(slots=True)
class _OpenBody:
    """A body whose closing brace has not come yet."""

    build: Callable[[Body], AnyStmt]
    brace: int
    """The token that opened it."""
    span: Span | None
    cond: AnyExpr | None = None
    """The condition, when an `else` may follow."""
    chained: bool = False
    """Whether it is an `else` that holds one `if` and has no braces of its own."""
    statements: list[AnyStmt] = field(default_factory=list[AnyStmt])


class StmtParser:
    """Reads the statements of a program."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._expression = ExprParser(cursor).expression
        self._open: list[_OpenBody] = []
        self._statements: list[AnyStmt] = []
        """The statements of the innermost open body."""
        self.first = 0
        """The token that the statement being read starts with."""
        self._simple: dict[str, Callable[[], AnyStmt]] = {
            "let": self._let,
            "eval": lambda: Eval(self._expression()),
            "break": Break,
            "continue": Continue,
            "return": Return,
            "barrier": self._barrier,
            "async_load": lambda: self._copy(AsyncLoad),
            "async_store": lambda: self._copy(AsyncStore),
            "async_wait": lambda: AsyncWait(self._tag()),
            "trap": lambda: Trap(self._tag()),
            "resume": lambda: Resume(self._tag()),
            "print": self._print,
            "indirect_dispatch": self._indirect_dispatch,
            "all_reduce": self._all_reduce,
            "all_gather": lambda: AllGather(*self._between()),
            "reduce_scatter": self._reduce_scatter,
            "broadcast": self._broadcast,
            "opaque": self._opaque,
        }
        self._compound: dict[str, Callable[[], None]] = {
            "if": self._if,
            "for": self._loop,
            "while": self._while,
            "region": self._region,
        }

    def statements(self) -> list[AnyStmt]:
        """Read statements up to the end of the text."""
        cursor = self._cursor
        texts, kinds = cursor.texts, cursor.kinds
        simple, compound = self._simple, self._compound
        while True:
            self.first = position = cursor.position
            text = texts[position]
            kind = kinds[position]
            if kind == NAME and text in simple:
                cursor.position += 1
                self._finish(simple[text](), cursor.span(position, cursor.position - 1))
            elif kind == NAME and text in compound:
                cursor.position += 1
                compound[text]()
            elif kind in (NAME, QUOTED):
                self._finish(self._change(), cursor.span(position, cursor.position - 1))
            elif text == "}" and self._open:
                cursor.position += 1
                self._close()
            elif text == "{":
                self._enter(Block)
            elif text == ";":
                cursor.position += 1
            elif kind == END and not self._open:
                return self._statements
            else:
                raise self._no_statement(kind)

    # --- bodies -----------------------------------------------------------------------------------

    def _enter(self, build: Callable[[Body], AnyStmt], cond: AnyExpr | None = None) -> None:
        """Take the brace that opens a body."""
        cursor = self._cursor
        cursor.expect("{")
        span = cursor.span(self.first, cursor.position - 1)
        self._push(_OpenBody(build, cursor.position - 1, span, cond))

    def _push(self, opened: _OpenBody) -> None:
        if len(self._open) >= MAX_STMT_DEPTH:
            raise self._cursor.error(codes.TOO_DEEP, opened.brace, limit=MAX_STMT_DEPTH)
        opened.statements, self._statements = self._statements, []
        self._open.append(opened)

    def _pop(self) -> tuple[_OpenBody, Body]:
        opened = self._open.pop()
        body = tuple(self._statements)
        self._statements = opened.statements
        return opened, body

    def _close(self) -> None:
        """A closing brace was taken: finish the statement, or go on with its `else`."""
        opened, body = self._pop()
        if opened.cond is not None and self._cursor.accept("else"):
            self._else(opened, opened.cond, body)
            return
        self._finish(opened.build(body), opened.span)

    def _else(self, opened: _OpenBody, cond: AnyExpr, then: Body) -> None:
        chained = self._cursor.accept("if")
        otherwise = _OpenBody(
            lambda otherwise: If(cond, then, otherwise), opened.brace, opened.span, chained=chained
        )
        if not chained:
            otherwise.brace = self._cursor.position
            self._cursor.expect("{")
        self._push(otherwise)
        if chained:
            self.first = self._cursor.position - 1
            self._if()

    def _finish(self, statement: AnyStmt, span: Span | None) -> None:
        """Add a statement to its body; it also ends the `else` without braces it stands in."""
        object.__setattr__(statement, "span", span)
        self._statements.append(statement)
        while self._open and self._open[-1].chained:
            opened, body = self._pop()
            statement = opened.build(body)
            object.__setattr__(statement, "span", opened.span)
            self._statements.append(statement)

    def _no_statement(self, kind: int) -> Exception:
        cursor = self._cursor
        if kind != END:
            return cursor.unexpected("a statement", here=True)
        brace = self._open[-1].brace
        return cursor.error(codes.NEVER_CLOSED, brace, opener="{", closer="}")

    # --- statements with bodies -------------------------------------------------------------------

    def _if(self) -> None:
        cond = self._expression()
        self._enter(lambda then: If(cond, then, ()), cond)

    def _loop(self) -> None:
        cursor = self._cursor
        var = cursor.name("a loop variable")
        cursor.expect("in")
        start = self._expression()
        cursor.expect("..")
        stop = self._expression()
        self._enter(lambda body: Loop(var, start, stop, body))

    def _while(self) -> None:
        cond = self._expression()
        self._enter(lambda body: While(cond, body))

    def _region(self) -> None:
        cursor = self._cursor
        generator = checked_text(cursor.string("the generator in quotes"), "the generator")
        source = None
        if cursor.accept("from"):
            source = checked_text(cursor.string("the source in quotes"), "the source region")
        self._enter(lambda body: Region(generator, source, body))

    # --- statements without bodies ----------------------------------------------------------------

    def _change(self) -> Assign | Store:
        """`name = value` or `buffer[index] = value`."""
        cursor = self._cursor
        position = cursor.position
        following = cursor.texts[position + 1]
        if following == "=":
            name = cursor.name("a variable")
            cursor.position += 1
            return Assign(name, self._expression())
        if following == "[":
            buffer, index = self._place()
            cursor.expect("=")
            return Store(buffer, index, self._expression())
        text = cursor.texts[position]
        if cursor.kinds[position] == NAME and text not in RESERVED:
            close = get_close_matches(text[:40], STATEMENT_WORDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise cursor.error(codes.UNKNOWN_STATEMENT, found=cursor.shown(), suggestion=hint)
        raise cursor.unexpected("a statement", here=True)

    def _place(self) -> tuple[str, AnyExpr]:
        cursor = self._cursor
        buffer = cursor.name("a buffer")
        cursor.expect("[")
        index = self._expression()
        cursor.expect("]")
        return buffer, index

    def _let(self) -> Let:
        name = self._cursor.name("a variable")
        self._cursor.expect("=")
        return Let(name, self._expression())

    def _barrier(self) -> Barrier:
        cursor = self._cursor
        ends = cursor.starts_line() or cursor.kinds[cursor.position] == END
        if ends or cursor.text in (";", "{", "}"):
            return Barrier(ORDERINGS["seq_cst"])
        if cursor.text not in ORDERINGS:
            raise cursor.unexpected("an ordering, such as seq_cst")
        return Barrier(ORDERINGS[cursor.word("an ordering")])

    def _tag(self) -> str:
        return checked_text(self._cursor.string("a tag in quotes"), "the tag")

    def _copy(self, kind: type[AsyncLoad] | type[AsyncStore]) -> AsyncLoad | AsyncStore:
        cursor = self._cursor
        tag = self._tag()
        destination, destination_start = self._place()
        cursor.expect("<")
        cursor.expect("-")
        source, source_start = self._place()
        cursor.expect(",")
        count = self._expression()
        return kind(tag, destination, destination_start, source, source_start, count)

    def _print(self) -> Print:
        label = checked_text(self._cursor.string("a label in quotes"), "the label")
        values: list[AnyExpr] = []
        while self._cursor.accept(","):
            values.append(self._expression())
        return Print(label, tuple(values))

    def _indirect_dispatch(self) -> IndirectDispatch:
        cursor = self._cursor
        buffer = cursor.name("a buffer")
        cursor.expect("[")
        offset = cursor.integer("an element offset")
        cursor.expect("]")
        return Node.indirect_dispatch(buffer, offset)

    def _reduce_op(self) -> ReduceOp:
        cursor = self._cursor
        if cursor.text not in _REDUCE:
            raise cursor.unexpected("one of " + ", ".join(_REDUCE))
        return _REDUCE[cursor.word("an operation")]

    def _all_reduce(self) -> AllReduce:
        op = self._reduce_op()
        return AllReduce(self._cursor.name("a buffer"), op)

    def _between(self) -> tuple[str, str]:
        cursor = self._cursor
        source = cursor.name("a buffer")
        cursor.expect("-")
        cursor.expect(">")
        return source, cursor.name("a buffer")

    def _reduce_scatter(self) -> ReduceScatter:
        op = self._reduce_op()
        source, destination = self._between()
        return ReduceScatter(source, destination, op)

    def _broadcast(self) -> Broadcast:
        cursor = self._cursor
        buffer = cursor.name("a buffer")
        cursor.expect("from")
        return Broadcast(buffer, cursor.integer("the number of a device"))

    def _opaque(self) -> Opaque:
        cursor = self._cursor
        kind = cursor.name("the name of an extension")
        payload = cursor.payload()
        cursor.expect("(")
        operands: list[AnyExpr] = []
        while not cursor.accept(")"):
            if operands:
                cursor.expect(",")
            operands.append(self._expression())
        return Opaque(kind, payload, tuple(operands))
