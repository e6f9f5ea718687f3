"""Random patterns: all constructs that Go, Rust and PCRE share, over few different bytes."""

from __future__ import annotations

import random

_LITERALS = "aaabbbcABk01_ -"
_CLASSES = (
    *("[ab]", "[^a]", "[a-c]", "[^a-c\\n]", "[0-9A-F]", "[\\w-]", "[^\\s]", "[[:alpha:]_]", "[]b]"),
    *("[\\d.]", "[ab\\]]", "[^[:space:]b]", "[\\x61-\\x63]", "[A-Za-z0-9+/]", "[\\x80-\\xff]"),
)
_ESCAPES = ("\\w", "\\W", "\\d", "\\D", "\\s", "\\S", "\\n", "\\x61", "\\.", "\\-", "\\t")
_ASSERTIONS = ("\\b", "\\b", "\\B", "^", "$", "\\A", "\\z")
_REPEATS = (
    *(
        "*",
        "+",
        "?",
        "*?",
        "+?",
        "??",
        "{2}",
        "{1,3}",
        "{0,2}",
        "{2,}",
        "{0,2}?",
        "{1,3}?",
        "{2,}?",
    ),
    *("{0}", "{1}", "{3,5}", "{0,}", "{1,1}", "{2,4}?"),
)
_FLAGS = ("i", "s", "m", "U", "is", "im", "-i", "-s", "i-s", "m-i", "ms")


class PatternMaker:
    """Makes random patterns of one dialect."""

    def __init__(self, dice: random.Random, dialect: str = "go") -> None:
        self._dice = dice
        self._dialect = dialect
        self._groups = 0

    def pattern(self) -> str:
        """A pattern; it may be refused, as it may match the empty string."""
        self._groups = 0
        dice = self._dice
        flags = f"(?{dice.choice(_FLAGS[:7])})" if dice.random() < 0.25 else ""
        return flags + self._choices(dice.choice((0, 1, 1, 2, 2, 3)))

    def large_repeat(self) -> str:
        """A repeat of more than 1 000, which RE2 refuses."""
        dice = self._dice
        least = dice.randrange(1_001, 1_020)
        most = dice.choice(("", f",{least + dice.randrange(9)}", ","))
        body = dice.choice(("[ab]", "a", "(?:ab|b)", "(?:a[b-d]?)"))
        return f"{dice.choice('cx_')}{body}{{{least}{most}}}{dice.choice(('', 'a', 'b+', '?'))}"

    def _choices(self, depth: int) -> str:
        dice = self._dice
        count = dice.choice((1, 1, 1, 2, 2, 3))
        choices = [self._sequence(depth) for _ in range(count)]
        if count > 1 and dice.random() < 0.1:
            choices[dice.randrange(count)] = ""
        return "|".join(choices)

    def _sequence(self, depth: int) -> str:
        dice = self._dice
        return "".join(self._item(depth) for _ in range(dice.choice((1, 1, 2, 2, 3, 4))))

    def _item(self, depth: int) -> str:
        dice = self._dice
        kind = dice.random()
        if kind < 0.08:
            return dice.choice(_ASSERTIONS)
        if kind < 0.10:
            return f"(?{dice.choice(_FLAGS)})"
        atom = self._atom(depth)
        if dice.random() < 0.4:
            atom += dice.choice(_REPEATS)
        return atom

    def _atom(self, depth: int) -> str:
        dice = self._dice
        kind = dice.random()
        if depth > 0 and kind < 0.35:
            return self._group(depth - 1)
        if kind < 0.75:
            return dice.choice(_LITERALS)
        if kind < 0.87:
            return dice.choice(_CLASSES)
        if kind < 0.92:
            return "."
        if kind < 0.94 and self._dialect != "rust":
            return dice.choice(("\\Qa.\\E", "\\x{62}", "\\141", "(?:é)"))
        return dice.choice(_ESCAPES)

    def _group(self, depth: int) -> str:
        dice = self._dice
        inner = self._choices(depth)
        kind = dice.random()
        if kind < 0.45:
            self._groups += 1
            return f"({inner})"
        if kind < 0.6:
            self._groups += 1
            return f"(?P<g{self._groups}>{inner})"
        if kind < 0.8:
            return f"(?:{inner})"
        return f"(?{dice.choice(_FLAGS)}:{inner})"


_FRAGMENTS = (
    *("(", ")", "(?:", "(?i)", "(?P<n>", "(?<n>", "(?=", "(?!", "(?<=", "(?>", "(?#", "(?", "(*"),
    *("[", "]", "[^", "[[:alpha:]]", "[:alpha:]", "[a-", "-", "&&", "{", "}", "{2}", "{,2}", "{2,"),
    *("{1,2}", "{ 2 }", "{9", "*", "+", "?", "|", "^", "$", ".", "\\", "\\b", "\\Q", "\\E", "\\x"),
    *("\\x{", "\\x4", "\\101", "\\1", "\\8", "\\p", "\\h", "\\Z", "\\z", "\\C", "\\K", "\\<", "#"),
    *("a", "b", "é", " ", "\n", "0", ":", "=", "!", "<", ">", "P", "i-s:", "x)", "U", "\\\\", "_"),
)


def hostile_pattern(dice: random.Random, dialect: str) -> str:
    """A pattern with something wrong in it, or fragments in any order."""
    if dice.random() < 0.5:
        return "".join(dice.choices(_FRAGMENTS, k=dice.randrange(1, 12)))
    text = list(PatternMaker(dice, dialect).pattern()) or ["a"]
    for _ in range(dice.choice((1, 1, 2, 3))):
        place = dice.randrange(len(text))
        match dice.randrange(3):
            case 0:
                text[place : place + 1] = []
            case 1:
                text.insert(place, dice.choice(_FRAGMENTS))
            case _:
                text[place] = dice.choice(_FRAGMENTS)
        text = text or ["a"]
    return "".join(text)
