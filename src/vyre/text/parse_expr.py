"""Reading expressions without recursion: operands and what waits for them are kept on two lists.

Whatever is open (a bracket, a call, an operator that waits for its right side) is an entry of
`pending`, so no input is nested too deeply for the parser; the IR refuses what is too deep.
"""

from __future__ import annotations

from enum import Enum, auto

from vyre.diagnostics.codes import text as codes
from vyre.ir import literal
from vyre.ir.expr import AnyExpr, Atomic, Binary, BufLen, Builtin, Lane, Lit, Load, Unary, Var
from vyre.ir.opcodes import AtomicOp, BinOp, MemoryOrdering, UnOp
from vyre.ir.types import DataType
from vyre.record import dataclass
from vyre.signals import is_from_handler
from vyre.text.calls import ATOMICS, FUNCTIONS, Builder, make_vec, suggestion, typed_call
from vyre.text.cursor import Cursor
from vyre.text.literals import read_number
from vyre.text.operators import INFIX_BY_SYMBOL
from vyre.text.tokens import END, NAME, NUMBER, QUOTED, TYPE
from vyre.text.words import BUILTINS, ORDERINGS, RESERVED, SPECIAL_FLOATS

_PREFIX = {op.row.spelling: op for op in (UnOp.NEG, UnOp.NOT)}
_PREFIX_LEVEL = 99
_OPENERS = ("(", "[")
_CONSTANTS: dict[str, AnyExpr] = {
    "true": Lit(DataType.BOOL, 1),
    "false": Lit(DataType.BOOL, 0),
    **{word: Builtin(kind, axis) for word, (kind, axis) in BUILTINS.items()},
}


class _Kind(Enum):
    GROUP = auto()
    CALL = auto()
    LOAD = auto()
    LANE = auto()
    ATOMIC = auto()
    PLACE = auto()
    """The index in `atomic_add(buffer[index], ...)`."""


@dataclass(slots=True)
class _Operator:
    """An operator that waits for its right operand."""

    level: int
    op: BinOp | UnOp


@dataclass(slots=True)
class _Open:
    """An open bracket."""

    kind: _Kind
    position: int
    first: int
    """How many operands there were when it was opened."""
    name: str = ""
    """The function that is called, or the buffer that is indexed."""
    arity: int | None = 1
    build: Builder | None = None
    expected: bool = False
    ordering: MemoryOrdering = MemoryOrdering.RELAXED

    @property
    def closer(self) -> str:
        return "]" if self.kind in (_Kind.LOAD, _Kind.PLACE) else ")"


class ExprParser:
    """Reads expressions at a cursor."""

    __slots__ = ("_cursor", "_operands", "_pending", "_seen")

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._seen: dict[str, Lit | Var] = {}
        """The numbers and variables read so far: equal leaves are one object."""
        self._operands: list[AnyExpr] = []
        self._pending: list[_Operator | _Open] = []

    def expression(self) -> AnyExpr:
        """Read the longest expression that stands at the cursor."""
        cursor, pending = self._cursor, self._pending
        texts = cursor.texts
        wants_operand = True
        while True:
            if wants_operand:
                wants_operand = self._operand()
                continue
            infix = INFIX_BY_SYMBOL.get(texts[cursor.position])
            if infix is not None:
                op, level = infix
                self._reduce(level)
                pending.append(_Operator(level, op))
                cursor.position += 1
                wants_operand = True
                continue
            self._reduce(0)
            if not pending:
                return self._operands.pop()
            wants_operand = self._after_operand()

    # --- after an operand -------------------------------------------------------------------------

    def _reduce(self, level: int) -> None:
        """Apply the waiting operators that bind at least as tightly as `level`."""
        pending, operands = self._pending, self._operands
        while pending:
            top = pending[-1]
            if type(top) is not _Operator or top.level < level:
                return
            pending.pop()
            right = operands.pop()
            if isinstance(top.op, UnOp):
                operands.append(Unary(top.op, right))
            else:
                operands.append(Binary(top.op, operands.pop(), right))

    def _after_operand(self) -> bool:
        """Go on inside the innermost open bracket; whether an operand must come next."""
        cursor = self._cursor
        opened = self._pending[-1]
        assert isinstance(opened, _Open)
        text = cursor.text
        if text == opened.closer:
            cursor.position += 1
            self._close(opened)
            return opened.kind is _Kind.PLACE and self._comma()
        if text == "," and opened.kind in (_Kind.CALL, _Kind.LANE, _Kind.ATOMIC):
            return self._comma()
        raise self._not_closed(opened)

    def _comma(self) -> bool:
        """Take a comma and what only some calls have behind it; whether an operand comes next."""
        cursor = self._cursor
        opened = self._pending[-1]
        assert isinstance(opened, _Open)
        cursor.expect(",")
        if opened.kind is _Kind.LANE:
            index = cursor.integer("the number of a lane")
            cursor.expect(")")
            self._pending.pop()
            self._operands.append(Lane(self._operands.pop(), index))
            return False
        if opened.kind is _Kind.ATOMIC:
            if cursor.text in ORDERINGS:
                opened.ordering = ORDERINGS[cursor.word("an ordering")]
                if cursor.text != ")":
                    raise cursor.unexpected("`)`")
                return False
            if cursor.text == "expected" and cursor.texts[cursor.position + 1] == "=":
                cursor.position += 2
                opened.expected = True
        return True

    def _close(self, opened: _Open) -> None:
        """Make the node that a closed bracket stands for."""
        self._pending.pop()
        operands = self._operands
        given = operands[opened.first :]
        del operands[opened.first :]
        match opened.kind:
            case _Kind.GROUP | _Kind.PLACE:
                operands.append(given[0])
            case _Kind.LOAD:
                operands.append(Load(opened.name, given[0]))
            case _Kind.ATOMIC:
                operands.append(self._atomic(opened, given))
            case _Kind.CALL | _Kind.LANE:
                if opened.build is None or opened.arity not in (None, len(given)):
                    raise self._wrong_count(opened, len(given))
                operands.append(opened.build(*given))

    def _atomic(self, opened: _Open, given: list[AnyExpr]) -> Atomic:
        if len(given) != 2 + opened.expected:
            raise self._wrong_count(opened, len(given))
        op = ATOMICS[self._cursor.texts[opened.position]]
        expected = given[2] if opened.expected else None
        return Atomic(op, opened.name, given[0], given[1], expected, opened.ordering)

    def _wrong_count(self, opened: _Open, found: int) -> Exception:
        arity = {_Kind.LANE: 2, _Kind.ATOMIC: 2 + opened.expected}.get(opened.kind, opened.arity)
        name = self._cursor.texts[opened.position]
        return self._cursor.error(
            codes.OPERAND_COUNT, opened.position, name=name, expected=arity, found=found
        )

    def _not_closed(self, opened: _Open) -> Exception:
        cursor = self._cursor
        if cursor.kinds[cursor.position] != END:
            return cursor.unexpected(f"an operator or `{opened.closer}`")
        return cursor.error(
            codes.NEVER_CLOSED,
            opened.position,
            opener="[" if opened.closer == "]" else "(",
            closer=opened.closer,
        )

    # --- operands ---------------------------------------------------------------------------------

    def _operand(self) -> bool:
        """Take an operand or the beginning of one; whether more of it must come."""
        cursor = self._cursor
        position = cursor.position
        kind = cursor.kinds[position]
        text = cursor.texts[position]
        if kind in (NAME, QUOTED):
            return self._named(kind, text)
        if kind == NUMBER:
            found = self._seen.get(text)
            if found is None:
                found = self._seen[text] = self._number(text, position, negative=False)
            cursor.position = position + 1
            self._operands.append(found)
            return False
        if text in _PREFIX:
            return self._prefix(text)
        if text == "(":
            cursor.position += 1
            self._pending.append(_Open(_Kind.GROUP, position, len(self._operands)))
            return True
        if kind == TYPE:
            dtype = cursor.dtype()
            cursor.expect("(")
            return self._open_call(position, text, None, make_vec(dtype))
        raise cursor.unexpected("an expression")

    def _prefix(self, text: str) -> bool:
        cursor = self._cursor
        cursor.position += 1
        position = cursor.position
        if text == "-":
            following = cursor.texts[position]
            if cursor.kinds[position] == NUMBER:
                cursor.position += 1
                self._operands.append(self._number(following, position, negative=True))
                return False
            if following in SPECIAL_FLOATS and cursor.kinds[position] == NAME:
                cursor.position += 1
                self._operands.append(_special_float(following, negative=True))
                return False
        self._pending.append(_Operator(_PREFIX_LEVEL, _PREFIX[text]))
        return True

    def _named(self, kind: int, text: str) -> bool:
        cursor = self._cursor
        position = cursor.position
        following = cursor.texts[position + 1]
        if following not in _OPENERS:
            seen = self._seen.get(text)
            if seen is not None:
                cursor.position = position + 1
                self._operands.append(seen)
                return False
        if following == "[":
            buffer = cursor.name("a buffer")
            cursor.position += 1
            self._pending.append(_Open(_Kind.LOAD, position, len(self._operands), buffer))
            return True
        if kind == NAME:
            if text in RESERVED:
                return self._reserved(text)
            if following == "(":
                return self._call(text, position)
        found = self._seen[text] = Var(cursor.name("an expression"))
        self._operands.append(found)
        return False

    def _reserved(self, text: str) -> bool:
        cursor = self._cursor
        position = cursor.position
        if text in ("cast", "bitcast", "make"):
            cursor.position += 1
            cursor.expect("<")
            arity, build = typed_call(text, cursor.dtype())
            cursor.expect(">")
            cursor.expect("(")
            return self._open_call(position, text, arity, build)
        if text in _CONSTANTS:
            self._operands.append(_CONSTANTS[text])
        elif text in SPECIAL_FLOATS:
            self._operands.append(_special_float(text, negative=False))
        elif cursor.starts_line():
            raise cursor.unexpected("an expression")
        else:
            raise cursor.error(codes.RESERVED_WORD, found=text)
        cursor.position += 1
        return False

    def _call(self, text: str, position: int) -> bool:
        cursor = self._cursor
        cursor.position += 2
        known = FUNCTIONS.get(text)
        if known is not None:
            return self._open_call(position, text, known[0], known[1])
        if text == "lane":
            self._pending.append(_Open(_Kind.LANE, position, len(self._operands), text, None))
            return True
        if text in ATOMICS:
            return self._open_atomic(ATOMICS[text], position)
        if text == "len":
            self._operands.append(BufLen(cursor.name("a buffer")))
        elif text == "bits":
            self._operands.append(self._bits())
        else:
            raise cursor.error(
                codes.UNKNOWN_FUNCTION,
                position,
                found=cursor.shown(position),
                suggestion=suggestion(text),
            )
        cursor.expect(")")
        return False

    def _open_call(self, position: int, name: str, arity: int | None, build: Builder) -> bool:
        opened = _Open(_Kind.CALL, position, len(self._operands), name, arity, build)
        self._pending.append(opened)
        if self._cursor.accept(")"):
            self._close(opened)
            return False
        return True

    def _open_atomic(self, op: AtomicOp, position: int) -> bool:
        cursor = self._cursor
        buffer = cursor.name("a buffer")
        first = len(self._operands)
        self._pending.append(_Open(_Kind.ATOMIC, position, first, buffer))
        self._pending.append(_Open(_Kind.PLACE, cursor.position, first, buffer))
        cursor.expect("[")
        return True

    # --- literals ---------------------------------------------------------------------------------

    def _number(self, text: str, position: int, *, negative: bool) -> Lit:
        found = read_number(text, negative)
        if isinstance(found, Lit):
            return found
        shown = self._cursor.shown(position)
        if found is None:
            raise self._cursor.error(codes.UNTYPED_FLOAT, position, found=shown.strip("`"))
        sign = "-" if negative else ""
        raise self._cursor.error(
            codes.BAD_NUMBER, position, found=f"`{sign}{shown[1:]}", hint=found
        )

    def _bits(self) -> Lit:
        cursor = self._cursor
        position = cursor.position
        text = cursor.text
        if cursor.kinds[position] != NUMBER or not text.lower().startswith("0x"):
            raise cursor.unexpected("bits in hexadecimal, such as 0x7fc00000")
        cursor.position += 1
        cursor.expect(",")
        dtype = cursor.dtype()
        if not dtype.is_scalar:
            raise cursor.error(codes.UNKNOWN_TYPE, cursor.position - 1, found=f"scalar {dtype}")
        width = 1 if dtype.is_bool else dtype.bits or 0
        try:
            bits = int(text, 16)
        except ValueError as problem:
            if is_from_handler(problem):
                raise
            bits = -1
        if not 0 <= bits < 1 << width:
            hint = f"write at most {width} bits in hexadecimal"
            raise cursor.error(codes.BAD_NUMBER, position, found=cursor.shown(position), hint=hint)
        return Lit(dtype, bits)


def _special_float(text: str, *, negative: bool) -> Lit:
    word, dtype = SPECIAL_FLOATS[text]
    bits = literal.encode_float(float(word), dtype)
    return Lit(dtype, bits | negative << (dtype.bits or 0) - 1)
