"""Regular expressions over bytes: the front end on the host.

    parse(pattern, dialect)      text -> syntax tree, or a `RegexError` with code, offset and fix
    compile(pattern, dialect)    -> `Regex`: program, definition, factors, report
    encode(regex), decode(data)  a compiled pattern as bytes

The stages, in the order of their imports: `byte_sets`, `boundaries`, `syntax`, `dialects` (data);
`parse` (with `source`, `escapes`, `brackets`, `groups`, `repeats`); `normal_form`, `program`,
`positions`, `byte_classes` (automata); `definition` (the exact matcher); `factors`, `pieces`,
`report` (what to search for); `dfa`, `search` (fast matchers); `encoding` (bytes).
"""

from __future__ import annotations

from vyre.ops.match.regex.definition import Definition, Match
from vyre.ops.match.regex.parse import Pattern, parse

__all__ = ["Definition", "Match", "Pattern", "parse"]
