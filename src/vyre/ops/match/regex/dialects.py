r"""What differs between the pattern languages of Go, Rust and PCRE2, each checked with its engine.

| | go (Go, RE2) | rust (regex, Unicode off) | pcre (PCRE2) |
| --- | --- | --- | --- |
| `\s` | without VT | with VT | with VT |
| `$`, `\Z` | end; refused | end; refused | end or before a final newline |
| multi-line `^` | after any newline | after any newline | not after a final newline |
| `\h \H \V \N \e \cX \o{}` | refused | refused | classes and characters |
| `\v` | vertical tab | vertical tab | class of vertical white space |
| `\Q...\E` | outside classes | refused | anywhere |
| `\123` | octal | refused | octal if it is no back-reference |
| `\x{80}` and above | byte up to FF | refused | byte up to FF |
| `(?x)` | refused | also inside classes | outside classes |
| `{,n}` | literal | refused | from 0 to n |
| `{02}` | literal | 2 | 2 |
| `{` that starts no repeat | literal | refused | literal |
| `a{2}{3}`, `a**` | refused | nested repeats | refused |
| `a++` | refused | nested repeats | possessive, refused |
| `^*`, `\b+` | taken | taken | refused |
| `[[a]`, `[a&&b]`, `[a--b]` | characters | set operations, refused | characters |
| `[\d-z]` | `-` is a character | refused | refused |
| `[\b]` | refused | refused | backspace |
| `(?#...)`, `(?'n'...)` | refused | refused | taken |

Repeats of a body that can be empty, as in `(a|b*)*`, go on as RE2 has it in every dialect; PCRE
leaves such a repeat after an empty iteration, and `report` marks the pattern.
"""

from __future__ import annotations

from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.boundaries import Look
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """The choices of one pattern language."""

    name: str
    space: int
    """The set of `\\s`."""
    text_end: Look
    """The assertion of `$` outside of multi-line mode."""
    line_start: tuple[Look, ...]
    """The assertions of `^` in multi-line mode."""
    flags: str
    escape_classes: dict[str, int]
    """Classes beyond `\\d \\w \\s` and their complements."""
    characters: dict[str, int]
    """Letters that stand for one byte after a backslash."""
    has_final_end: bool = False
    """`\\Z` is the end or before a final newline."""
    quotes: bool = True
    """`\\Q...\\E` quotes."""
    quotes_in_classes: bool = False
    octal: bool = True
    braces_are_literal: bool = True
    """A `{` that starts no repeat is a character."""
    empty_least: bool = False
    """`{,n}` is a repeat from zero."""
    spaces_in_braces: bool = False
    stacked_repeats: bool = False
    """A repeat may be repeated without parentheses."""
    repeats_assertions: bool = True
    set_operations: bool = False
    """`[`, `&&`, `--` and `~~` have a meaning inside of classes."""
    comments_in_classes: bool = False
    """`(?x)` also skips white space and comments inside of classes."""


_COMMON = {"a": 0x07, "f": 0x0C, "t": 0x09, "n": 0x0A, "r": 0x0D}
_VERTICAL = byte_sets.byte_set(b"\n\v\f\r\x85")
_HORIZONTAL = byte_sets.byte_set(b"\t \xa0")

GO = Dialect(
    "go",
    space=byte_sets.SPACE,
    text_end=Look.TEXT_END,
    line_start=(Look.LINE_START,),
    flags="imsU",
    escape_classes={},
    characters={**_COMMON, "v": 0x0B},
)
RUST = Dialect(
    "rust",
    space=byte_sets.SPACE_WITH_VERTICAL_TAB,
    text_end=Look.TEXT_END,
    line_start=(Look.LINE_START,),
    flags="imsUx",
    escape_classes={},
    characters={**_COMMON, "v": 0x0B},
    quotes=False,
    octal=False,
    braces_are_literal=False,
    spaces_in_braces=True,
    stacked_repeats=True,
    set_operations=True,
    comments_in_classes=True,
)
PCRE = Dialect(
    "pcre",
    space=byte_sets.SPACE_WITH_VERTICAL_TAB,
    text_end=Look.FINAL_END,
    line_start=(Look.LINE_START, Look.NOT_TEXT_END),
    flags="imsUx",
    escape_classes={
        "h": _HORIZONTAL,
        "H": byte_sets.ALL & ~_HORIZONTAL,
        "v": _VERTICAL,
        "V": byte_sets.ALL & ~_VERTICAL,
        "N": byte_sets.ALL & ~byte_sets.NEWLINE,
    },
    characters={**_COMMON, "e": 0x1B},
    has_final_end=True,
    quotes_in_classes=True,
    empty_least=True,
    spaces_in_braces=True,
    repeats_assertions=False,
)

DIALECTS = {dialect.name: dialect for dialect in (GO, RUST, PCRE)}
