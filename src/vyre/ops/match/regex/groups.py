"""What an opening parenthesis starts: a group, flags, or something that is refused."""

from __future__ import annotations

import re

from vyre.diagnostics.codes import regex as codes
from vyre.ops.match.regex.source import Source
from vyre.record import dataclass

_NAMES = {
    "go": re.compile(r"\w+", re.ASCII),
    "rust": re.compile(r"[A-Za-z_][A-Za-z0-9_.\[\]]*"),
    "pcre": re.compile(r"[A-Za-z_]\w{0,31}", re.ASCII),
}
_LOOK_AROUND = {
    "?=": "look-ahead",
    "?!": "negative look-ahead",
    "?<=": "look-behind",
    "?<!": "negative look-behind",
}
_OTHER = {
    "?|": ("a branch reset", "number the groups by hand"),
    "?(": ("a conditional group", "write two patterns"),
    "?&": ("a recursion", "write the group out to a fixed depth"),
    "?P>": ("a recursion", "write the group out to a fixed depth"),
    "?C": ("a callout", "remove it"),
    "?#": ("a comment, which only the pcre dialect has", "remove it"),
    "?'": ("a named group of the pcre dialect", "write (?P<name>...)"),
    "?+": ("a recursion", "write the group out to a fixed depth"),
}


@dataclass(frozen=True, slots=True)
class Opening:
    """An opening parenthesis with what follows it."""

    opens: bool = True
    """False for `(?i)`, which changes flags and opens nothing."""
    captures: bool = False
    number: int = 0
    name: str | None = None
    flags: frozenset[str] = frozenset()
    """The flags after it."""
    is_comment: bool = False


def read_opening(
    source: Source, names: list[str | None], flags: frozenset[str], start: int
) -> Opening:
    """Read what follows an opening parenthesis; `names` are those of earlier groups."""
    if not source.text.startswith(("?", "*"), source.position):
        return Opening(captures=True, number=len(names) + 1, flags=flags)
    _refuse_others(source, start)
    pcre = source.dialect.name == "pcre"
    if pcre and source.accept("?#"):
        end = source.text.find(")", source.position)
        if end < 0:
            source.refuse(
                codes.ENDS_TOO_EARLY, start, what="a comment", fix="add the closing parenthesis"
            )
        source.position = end + 1
        return Opening(is_comment=True)
    for lead, closer in (("?P<", ">"), ("?<", ">"), ("?'", "'")):
        if (lead != "?'" or pcre) and source.accept(lead):
            name = _read_name(source, names, closer)
            return Opening(captures=True, number=len(names) + 1, name=name, flags=flags)
    if source.peek() == "*":
        return Opening(captures=True, number=len(names) + 1, flags=flags)
    source.take()
    return _read_flags(source, flags, start)


def _read_name(source: Source, names: list[str | None], closer: str) -> str:
    start = source.position
    named = _NAMES[source.dialect.name].match(source.text, start)
    if named is None or not source.text.startswith(closer, named.end()):
        source.position = named.end() if named is not None else start
        source.refuse(
            codes.BAD_GROUP_NAME,
            start,
            found=repr(source.text[start : start + 20]),
            problem="does not start with the name of a group",
            fix="write (?P<name>...) with letters, digits and underscores",
        )
    source.position = named.end() + 1
    if named[0] in names:
        source.refuse(
            codes.BAD_GROUP_NAME,
            start,
            found=named[0],
            problem="is the name of an earlier group",
            fix="give every group a name of its own",
        )
    return named[0]


def _refuse_others(source: Source, start: int) -> None:
    """Refuse groups that automata cannot have, and those of other engines."""
    text, place = source.text, source.position
    for lead, name in _LOOK_AROUND.items():
        if text.startswith(lead, place):
            source.position += len(lead)
            source.refuse(codes.LOOK_AROUND, start, found=source.since(start), name=name)
    if text.startswith("?P=", place):
        source.position += 3
        source.refuse(codes.BACK_REFERENCE, start, found=source.since(start), hint="")
    if text.startswith("?>", place):
        source.position += 2
        source.refuse(
            codes.ATOMIC,
            start,
            found=source.since(start),
            name="an atomic group",
            fix="write (?:...); matches that an atomic group drops will be found",
        )
    pcre = source.dialect.name == "pcre"
    for lead, (name, fix) in _OTHER.items():
        if text.startswith(lead, place) and not (pcre and lead in ("?#", "?'")):
            source.position += len(lead)
            source.refuse(codes.UNKNOWN_GROUP, start, found=source.since(start), name=name, fix=fix)
    if pcre and (text.startswith(("*", "?R"), place) or text[place + 1 : place + 2].isdigit()):
        source.position += 2
        name = "a verb" if text.startswith("*", place) else "a recursion"
        source.refuse(
            codes.UNKNOWN_GROUP, start, found=source.since(start), name=name, fix="remove it"
        )


def _read_flags(source: Source, flags: frozenset[str], start: int) -> Opening:
    """Read `i-s)` or `i-s:` behind `(?`."""
    dialect = source.dialect
    first = source.position
    on, off = "", ""
    negative = False
    while True:
        letter = source.take()
        if letter in (")", ":") and letter:
            break
        if letter == "-" and not negative:
            negative = True
        elif letter == "u" and dialect.name == "rust" and negative:
            pass
        elif letter and letter in dialect.flags:
            on, off = (on, off + letter) if negative else (on + letter, off)
        else:
            _refuse_flag(source, letter, source.position - 1)
    written = source.since(first)[:-1]
    repeated = len(set(written)) < len(written)
    dangling = written.endswith("-") or (not written and letter == ")")
    loose = dialect.name == "pcre" or (dialect.name == "go" and not written)
    if (dangling and not loose) or (repeated and (dialect.name == "rust" or "xx" in written)):
        _refuse_flag(source, written or letter, first)
    changed = (flags | frozenset(on)) - frozenset(off)
    return Opening(opens=letter == ":", flags=changed)


def _refuse_flag(source: Source, found: str, start: int) -> None:
    dialect = source.dialect
    reason = "; classes and case folding are ASCII" if found == "u" else ""
    if not found:
        source.refuse(
            codes.ENDS_TOO_EARLY, start, what="a group", fix="add the closing parenthesis"
        )
    source.refuse(
        codes.UNKNOWN_FLAG,
        start,
        found=repr(found),
        dialect=dialect.name,
        reason=reason,
        known=" ".join(dialect.flags),
    )
