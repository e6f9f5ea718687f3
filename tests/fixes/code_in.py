"""Which parts of a fix are code.

A fix is a sentence with pieces of code in it: "count instead: for i in range(len(x)), and use
x[i]". What counts as code is decided here and nowhere else, see `code_in`.
"""

from __future__ import annotations

import ast
import re

_OPENING, _CLOSING = "([{", ")]}"
_PROSE = frozenset(
    ("or", "and", "is", "in", "if", "as", "to", "with", "not", "else", "from", "of", "await")
)
"""Words of both English and Python; in a fix they are English, but for the `in` of a loop and the
`if` and `else` of one expression."""
_ALONE = frozenset(
    ("==", "!=", "<=", ">=", "//", "**", "<<", ">>", "&", "|", "^", "~", "}", ")", "]", '"')
)
_MODULES = frozenset(("vy", "vy.math"))
_PROGRAM_TEXT = re.compile(r"[A-Za-z]\w*<\w+>|(?:0x[0-9a-f]+|\d[\d.]*)(?:[uif]|bf)\d+|\\\S+")
"""`vec4<f32>`, `1.5f32` and `\\n`, as program text writes types, numbers and characters."""
_SNAKE = re.compile(r"[A-Za-z]\w*_\w*")
_KEYWORD = re.compile(r"[A-Za-z_]\w*=[^=\s].*")
_DECORATOR = re.compile(r"@\w+(\.\w+)*(\(.*\))?")
_DEFINITION = re.compile(r"def \w+\(.*\)")
_HYPHENATED = re.compile(r"\w+(-[A-Za-z]+)+|--?[A-Za-z]+")
_LISTED = re.compile(r"\bone of(?:: .*|(?: \w+,)+ \w+)|(?:\bfrom|\bknown are|inputs are): .*")
_REASON = re.compile(r"because of [^:]*:")

Words = list[tuple[str, bool]]
Parts = list[tuple[str, str]]


def code_in(fix: str) -> tuple[str, ...]:
    r"""The pieces of code in a fix, in order.

    Code is what stands in `backquotes`, and of the rest the longest runs of words that Python can
    parse and that hold more than names and numbers: an attribute (`vy.f32`), a call, an index, a
    comparison or arithmetic on a name, an assignment, `keyword=value`, an annotation, a tuple of
    numbers, `for … in …`, `assert …`, `def name(…)`, `class Name(…)`, `@decorator`. Also an
    operator or a bracket by itself (`//`), a name with an underscore (`read_write`), and types,
    numbers and escapes as program text writes them (`vec4<f32>`, `1.5f32`, `\n`).

    Names of types (`u32`), of modules (`vy.math`) and of what can be chosen ("one of: cpu,
    reference") are words, and what follows "because of" is a reason.
    """
    return tuple(piece for group in alternatives(fix) for piece in group)


def alternatives(fix: str) -> tuple[tuple[str, ...], ...]:
    """The pieces of code in a fix, grouped: one of the groups is enough, but all of it.

    `;` and `or` separate groups, and so do the commas of a clause that says `or`.
    """
    groups: list[list[str]] = []
    for clause in _clauses(_REASON.sub("", _LISTED.sub("", fix))):
        groups.append([])
        has_choice = any(kind == "or" for kind, _ in clause)
        for kind, text in clause:
            if kind == "code":
                groups[-1].append(text)
            elif kind == "or" or has_choice:
                groups.append([])
    return tuple(tuple(group) for group in groups if group)


def _clauses(fix: str) -> list[Parts]:
    """What stands between semicolons, each as code, commas and `or` in their order."""
    found: list[Parts] = [[]]
    words = _words(fix)
    at = 0
    while at < len(words):
        text, is_code = words[at]
        end, piece = (at + 1, text) if is_code else _longest(words, at)
        aside = text.rstrip(",;:.")
        if piece is not None:
            found[-1].append(("code", piece))
        elif aside[:1] in tuple(_OPENING) and aside[-1] in _CLOSING:
            found[-1] += [part for clause in _clauses(aside[1:-1]) for part in clause]
        elif text == "or":
            found[-1].append(("or", text))
        last = words[end - 1][0] if not is_code else ""
        if last.endswith(","):
            found[-1].append((",", last))
        if last.endswith(";"):
            found.append([])
        at = end
    return found


def _words(fix: str) -> Words:
    """Words, of which brackets and quotes hold together what is inside; and what is backquoted."""
    words: Words = []
    for number, part in enumerate(re.split(r"`([^`]*)`", fix)):
        if number % 2:
            words.append((part, True))
        else:
            words += [(word, False) for word in _split(part)]
    return words


def _split(text: str) -> list[str]:
    words, word, depth, quote = list[str](), "", 0, ""
    for position, letter in enumerate(text):
        before = text[position - 1] if position else " "
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and not before.isalnum() and letter in text[position + 1 :]:
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth = max(depth - 1, 0)
        if letter.isspace() and not depth and not quote:
            words.append(word)
            word = ""
        else:
            word += letter
    return [one for one in [*words, word] if one]


def _longest(words: Words, at: int) -> tuple[int, str | None]:
    """Where the longest run of words that is code ends, and its text; else one word, no code."""
    best: tuple[int, str | None] = (at + 1, None)
    run: list[str] = []
    for end in range(at, len(words)):
        word, quoted = words[end]
        loops = bool(run) and run[0] == "for" and len(run) == 2 and word == "in"
        rest = [other for other, _ in words[end:]]
        chooses = bool(run) and (
            (word == "if" and "else" in rest) or (word == "else" and "if" in run)
        )
        glued = bool(run) and word[0] in "@(" and run[-1].isidentifier()
        if quoted or glued or (word in _PROSE and not loops and not chooses):
            break
        run.append(word)
        announced = at > 0 and words[at - 1][0].endswith((":", ","))
        text = _without_full_stop(" ".join(run))
        if _is_code(text, announced=announced):
            best = (end + 1, text)
        if word[-1] in ";?" or (word.endswith(":") and len(run) > 1):
            break
    return best


def _without_full_stop(text: str) -> str:
    text = text.rstrip(",;:?")
    return text if text.endswith("...") else text.removesuffix(".")


def _is_code(text: str, *, announced: bool) -> bool:
    """Whether a run of words is code; an annotation is only after a colon or a comma."""
    forms = (_PROGRAM_TEXT, _SNAKE, _DECORATOR, _DEFINITION)
    if text in _MODULES:
        return False
    if text in _ALONE or any(form.fullmatch(text) for form in forms):
        return True
    if _HYPHENATED.fullmatch(text):
        return False
    if _KEYWORD.fullmatch(text):
        return _is_one_keyword(text)
    try:
        (statement,) = ast.parse(text + (": pass" * text.startswith(("for ", "class ")))).body
    except (SyntaxError, ValueError):
        return False
    match statement:
        case ast.AnnAssign(ast.Name(), ast.Attribute() | ast.Subscript()):
            return announced
        case ast.Expr(ast.Tuple(items)):
            return text.startswith("(") and all(isinstance(one, ast.Constant) for one in items)
        case ast.Expr(ast.Constant(value)):
            return isinstance(value, bytes)
        case ast.Expr(ast.Name() | ast.Await()):
            return False
        case ast.Expr():
            return any(isinstance(node, ast.Name) for node in ast.walk(statement))
        case ast.ClassDef(bases=bases):
            return bool(bases)
        case _:
            return isinstance(statement, ast.Assign | ast.AugAssign | ast.Assert | ast.For)


def _is_one_keyword(text: str) -> bool:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(call, ast.Call) and len(call.keywords) == 1 and not call.args
