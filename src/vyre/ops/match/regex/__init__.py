"""Regular expressions over bytes: the front end on the host.

    parse(pattern, dialect)      text -> syntax tree, or a `RegexError` with code, offset and fix
    compile(pattern, dialect)    -> `Regex`: program, pieces with anchors, DFAs
    Definition(regex.program)    the slow exact matcher
    report(patterns, dialect)    anchors, pieces, sizes, refusals
    encode(regex), decode(data)  a compiled pattern as bytes

The stages, in the order of their imports: `byte_sets`, `boundaries`, `syntax`, `dialects` (data);
`parse` (with `source`, `escapes`, `brackets`, `groups`, `repeats`); `normal_form`, `program`,
`positions`, `byte_classes` (automata); `definition` (the exact matcher); `spine`, `factors`,
`pieces`, `report` (what to search for); `subset_construction` (with `item_tables`, `dfa`), `search`
(DFAs); `regex`, `encoding` (compiled patterns, and as bytes).
"""

from __future__ import annotations

from vyre.ops.match.regex.definition import Definition, Match
from vyre.ops.match.regex.encoding import decode, encode
from vyre.ops.match.regex.parse import Pattern, parse
from vyre.ops.match.regex.regex import Regex, compile, compile_all
from vyre.ops.match.regex.report import PatternReport, report

__all__ = [
    "Definition",
    "Match",
    "Pattern",
    "PatternReport",
    "Regex",
    "compile",
    "compile_all",
    "decode",
    "encode",
    "parse",
    "report",
]
