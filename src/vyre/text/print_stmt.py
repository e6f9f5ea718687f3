"""Statements as text, one per line, bodies indented."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    Opaque,
    Print,
    ReduceScatter,
    Region,
    Resume,
    Return,
    Store,
    Trap,
    While,
)
from vyre.ir.walk import bodies
from vyre.text.print_expr import expr_text, index_text
from vyre.text.words import name_text, string_text

INDENT = "    "


def print_body(body: Body, indent: str, lines: list[str]) -> None:
    """Append the lines of a body, each starting with `indent`."""
    for statement in body:
        head = _HEADS[type(statement)](statement)
        if not statement.body_fields:
            lines.append(indent + head)
        elif type(statement) is If:
            _print_if(statement, indent, lines)
        else:
            (inner,) = bodies(statement)
            _print_block(f"{indent}{head} {{" if head else f"{indent}{{", inner, indent, lines)


def statement_line(statement: AnyStmt) -> str:
    """A statement on one line, the contents of its bodies left out."""
    head = _HEADS[type(statement)](statement)
    return f"{head} {{ ... }}".lstrip() if statement.body_fields else head


def _print_block(opening: str, body: Body, indent: str, lines: list[str]) -> None:
    if not body:
        lines.append(opening + "}")
        return
    lines.append(opening)
    print_body(body, indent + INDENT, lines)
    lines.append(indent + "}")


def _print_if(statement: If, indent: str, lines: list[str]) -> None:
    _print_block(f"{indent}if {expr_text(statement.cond)} {{", statement.then, indent, lines)
    otherwise = statement.otherwise
    while len(otherwise) == 1 and type(otherwise[0]) is If:
        inner = otherwise[0]
        opening = f"{lines.pop()} else if {expr_text(inner.cond)} {{"
        _print_block(opening, inner.then, indent, lines)
        otherwise = inner.otherwise
    if otherwise:
        _print_block(f"{lines.pop()} else {{", otherwise, indent, lines)


def _loop(statement: Loop) -> str:
    bounds = f"{index_text(statement.start)}..{index_text(statement.stop)}"
    return f"for {name_text(statement.var)} in {bounds}"


def _region(statement: Region) -> str:
    source = statement.source_region
    origin = "" if source is None else f" from {string_text(source)}"
    return f"region {string_text(statement.generator)}{origin}"


def _copy(word: str, statement: AsyncLoad | AsyncStore) -> str:
    destination = f"{name_text(statement.destination)}[{index_text(statement.destination_start)}]"
    source = f"{name_text(statement.source)}[{index_text(statement.source_start)}]"
    count = index_text(statement.count)
    return f"{word} {string_text(statement.tag)} {destination} <- {source}, {count}"


def _opaque(statement: Opaque) -> str:
    payload = f' hex"{statement.payload.hex()}"' if statement.payload else ""
    operands = ", ".join(map(expr_text, statement.operands))
    return f"opaque {name_text(statement.kind)}{payload} ({operands})"


_HEADS: dict[type[AnyStmt], Callable[[Any], str]] = {
    Let: lambda s: f"let {name_text(s.name)} = {expr_text(s.value)}",
    Assign: lambda s: f"{name_text(s.name)} = {expr_text(s.value)}",
    Store: lambda s: f"{name_text(s.buffer)}[{index_text(s.index)}] = {expr_text(s.value)}",
    Eval: lambda s: f"eval {expr_text(s.value)}",
    If: lambda s: f"if {expr_text(s.cond)}",
    Loop: _loop,
    While: lambda s: f"while {expr_text(s.cond)}",
    Break: lambda s: "break",
    Continue: lambda s: "continue",
    Return: lambda s: "return",
    Barrier: lambda s: f"barrier {s.ordering.value}",
    Block: lambda s: "",
    Region: _region,
    AsyncLoad: lambda s: _copy("async_load", s),
    AsyncStore: lambda s: _copy("async_store", s),
    AsyncWait: lambda s: f"async_wait {string_text(s.tag)}",
    Trap: lambda s: f"trap {string_text(s.tag)}",
    Resume: lambda s: f"resume {string_text(s.tag)}",
    Print: lambda s: ", ".join([f"print {string_text(s.label)}", *map(expr_text, s.values)]),
    IndirectDispatch: lambda s: f"indirect_dispatch {name_text(s.count_buffer)}[{s.count_offset}]",
    AllReduce: lambda s: f"all_reduce {s.op.row.spelling} {name_text(s.buffer)}",
    AllGather: lambda s: f"all_gather {name_text(s.source)} -> {name_text(s.destination)}",
    ReduceScatter: lambda s: (
        f"reduce_scatter {s.op.row.spelling} {name_text(s.source)} -> {name_text(s.destination)}"
    ),
    Broadcast: lambda s: f"broadcast {name_text(s.buffer)} from {s.root}",
    Opaque: _opaque,
}
