"""Reading the head of a program: the program line and the buffers."""

from __future__ import annotations

from typing import Any

from vyre.diagnostics.codes import text as codes
from vyre.ir.buffer import BufferDecl, BufferHints, CacheLocality, MemoryKind
from vyre.text.cursor import Cursor
from vyre.text.words import STORAGE

_FLAGS = {
    "output": "is_output",
    "live_out": "is_pipeline_live_out",
    "initial": "has_initial_value",
}
_KINDS = {kind.value: kind for kind in MemoryKind}
_LOCALITIES = {locality.value: locality for locality in CacheLocality}


def read_head(cursor: Cursor) -> dict[str, Any]:
    """Read the program line: the arguments of `Program` it stands for."""
    cursor.expect("program")
    cursor.expect("workgroup")
    cursor.expect("(")
    size = [cursor.integer("a workgroup size")]
    while cursor.accept(","):
        size.append(cursor.integer("a workgroup size"))
    cursor.expect(")")
    head: dict[str, Any] = {"workgroup_size": size}
    while cursor.text in ("op", "fast_math"):
        word = cursor.text
        field = "entry_op_id" if word == "op" else "fast_math"
        if field in head:
            raise cursor.error(codes.REPEATED, what=word)
        cursor.position += 1
        head[field] = cursor.string("the id in quotes") if word == "op" else True
    return head


def read_buffer(cursor: Cursor) -> BufferDecl:
    """Read one declaration; the word `buffer` has been taken."""
    name = cursor.name("a buffer")
    cursor.expect(":")
    if cursor.text not in STORAGE:
        raise cursor.unexpected("one of " + ", ".join(STORAGE))
    access, kind = STORAGE[cursor.word("an access")]
    element = cursor.dtype()
    cursor.expect("[")
    count = 0 if cursor.text == "]" else cursor.integer("a number of elements")
    cursor.expect("]")
    fields: dict[str, Any] = {}
    while True:
        field = _attribute(cursor.text)
        if not field:
            break
        if field in fields:
            raise cursor.error(codes.REPEATED, what=cursor.text)
        fields[field] = _value(cursor)
    binding = fields.pop("binding", None)
    kind = fields.pop("kind", kind)
    return BufferDecl(name, binding, access, kind, element, count, **fields)


def _attribute(text: str) -> str | None:
    """The field of a declaration that a word or symbol sets."""
    return {"@": "binding", "in": "kind", "hints": "hints", **_FLAGS}.get(text)


def _value(cursor: Cursor) -> object:
    word = cursor.text
    cursor.position += 1
    if word == "@":
        return cursor.integer("a binding")
    if word == "in":
        if cursor.text not in _KINDS:
            raise cursor.unexpected("one of " + ", ".join(_KINDS))
        return _KINDS[cursor.word("a kind of memory")]
    return _hints(cursor) if word == "hints" else True


def _hints(cursor: Cursor) -> BufferHints:
    fields: dict[str, Any] = {}
    cursor.expect("(")
    while not cursor.accept(")"):
        if fields:
            cursor.expect(",")
        word = cursor.text
        if word in _LOCALITIES:
            field, found = "locality", _LOCALITIES[cursor.word("a locality")]
        elif word in ("axis", "align"):
            cursor.position += 1
            cursor.expect("=")
            field = "coalesce_axis" if word == "axis" else "preferred_alignment"
            found = cursor.integer("a number")
        else:
            raise cursor.unexpected("axis=n, align=n or one of " + ", ".join(_LOCALITIES))
        if field in fields:
            raise cursor.error(codes.REPEATED, cursor.position - 1, what=word)
        fields[field] = found
    return BufferHints(**fields)
