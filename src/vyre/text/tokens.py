"""Program text cut into tokens."""

from __future__ import annotations

import re
from typing import Final

NAME: Final = 1
NUMBER: Final = 2
SYMBOL: Final = 3
TYPE: Final = 4
"""A type with parameters, such as `vec4<f32>`; the bracket follows the word at once."""
STRING: Final = 5
QUOTED: Final = 6
HEX: Final = 7
END: Final = 8
BAD: Final = 9

# Blanks and comments are taken possessively: a failed token never looks into a comment.
_TOKEN = re.compile(
    r"""(?:[ \t\r\n]+|//[^\n]*+)*+
    (?:(?!hex"|(?:vec[0-9]{1,2}|array|tensor|csr|coo|bsr|opaque)<[A-Za-z0-9])
       ([A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z0-9_]++)*+)
    |(0[xX][0-9a-fA-F]++\w*+|[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?\w*+)
    |(<<|>>|<=|>=|==|!=|\.\.|[-+*/%&|^~<>=(){}\[\],:;@])
    |((?:vec[0-9]{1,2}|array|tensor|csr|coo|bsr|opaque)<[^<>\n"]*+>)
    |("(?:[^"\\\n]|\\[^\n])*+")
    |(`[^`\n]*+`)
    |(hex"[0-9a-fA-F]*+")
    |(\Z)
    |(.)
    )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


class Tokens:
    """The tokens of a text, as three columns; the last one is always `END`."""

    __slots__ = ("kinds", "starts", "texts")

    def __init__(self, source: str) -> None:
        self.kinds: list[int] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        kinds, texts, starts = self.kinds.append, self.texts.append, self.starts.append
        for match in _TOKEN.finditer(source):
            kind = match.lastindex or END
            kinds(kind)
            texts(match[kind])
            starts(match.start(kind))
            if kind == END:
                break
