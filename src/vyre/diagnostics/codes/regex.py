"""R###: regular expressions that are refused, and compiled ones that cannot be read."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_PARSE = "from vyre.ops.match.regex import parse\n"
_COMPILED = (
    "from vyre.ops.match.regex import compile, decode, encode\ndata = encode(compile('ab'))\n"
)

PATTERN_TOO_LONG = Code(
    "R001",
    "pattern too long",
    "the pattern has {size} bytes; at most {limit} are taken",
    "split it into several patterns",
    example=_PARSE + "parse('a' * 100_000)",
)
NESTED_TOO_DEEP = Code(
    "R002",
    "nested too deep",
    "groups and repeats are nested more than {limit} deep",
    "remove parentheses that only hold another group",
    example=_PARSE + "parse('(' * 200 + 'a' + ')' * 200)",
)
REPEAT_TOO_LARGE = Code(
    "R003",
    "repeat count too large",
    "{found} repeats more often than {limit} times",
    "repeat at most {limit} times, or leave the upper bound open: {{{least},}}",
    example=_PARSE + "parse('a{10001}')",
)
PATTERN_TOO_LARGE = Code(
    "R004",
    "pattern too large once repeats are expanded",
    "with its repeats expanded the pattern has {size} {unit}; at most {limit} are taken",
    "lower the counts of repeats inside repeats",
    example=_PARSE + "parse('(?:a{1000}){1000}')",
)
MATCHES_EMPTY = Code(
    "R005",
    "pattern that matches the empty string",
    "the pattern can match the empty string, which is at every offset",
    "make some of it required, such as a literal outside of optional groups",
    example=_PARSE + "parse('a*')",
)
LOOK_AROUND = Code(
    "R006",
    "look-around",
    "{found} is a {name}, which automata do not have",
    "match the context as well, and put the wanted bytes into a capture group",
    example=_PARSE + "parse('(?<=key=)[a-z]+')",
)
BACK_REFERENCE = Code(
    "R007",
    "back-reference",
    "{found} is a back-reference, which automata do not have",
    "capture both texts and compare them afterwards{hint}",
    example=_PARSE + r"parse(r'(a|b)\1')",
)
UNICODE_CLASS = Code(
    "R008",
    "Unicode class",
    "{found} is a class of code points; patterns match bytes",
    "list the bytes in a class, such as [A-Za-z]",
    example=_PARSE + r"parse(r'\pL+')",
)
UNSAFE_BYTE = Code(
    "R009",
    "single byte \\C",
    "\\C is not taken",
    "write (?s:.), which is one byte here",
    example=_PARSE + r"parse(r'a\C')",
)
ATOMIC = Code(
    "R010",
    "atomic group or possessive repeat",
    "{found} is {name}, which drops matches by backtracking order",
    "{fix}",
    example=_PARSE + "parse('a++b', dialect='pcre')",
)
NOT_ASCII = Code(
    "R011",
    "character outside of ASCII",
    "{found} {problem}",
    "{fix}",
    example=_PARSE + "parse('[äö]')",
)
UNKNOWN_ESCAPE = Code(
    "R012",
    "unknown escape",
    "{found} {problem}",
    "{fix}",
    example=_PARSE + r"parse(r'\hab')",
)
UNKNOWN_GROUP = Code(
    "R013",
    "unknown kind of group",
    "{found} is {name}",
    "{fix}",
    example=_PARSE + "parse('(?|a|b)')",
)
UNKNOWN_FLAG = Code(
    "R014",
    "unknown flag",
    "the flag {found} is not taken in the {dialect} dialect{reason}",
    "use the flags {known}",
    example=_PARSE + "parse('(?x)a b')",
)
BAD_REPEAT = Code(
    "R015",
    "repeat that cannot stand here",
    "{found} {problem}",
    "{fix}",
    example=_PARSE + "parse('*a')",
)
BAD_CLASS = Code(
    "R016",
    "class that cannot be read",
    "{found} {problem}",
    "{fix}",
    example=_PARSE + "parse('[z-a]')",
)
UNBALANCED = Code(
    "R017",
    "parenthesis without its partner",
    "this {found} has no partner",
    "add the partner, or escape it with a backslash",
    example=_PARSE + "parse('(ab')",
)
BAD_GROUP_NAME = Code(
    "R018",
    "name of a group",
    "{found} {problem}",
    "{fix}",
    example=_PARSE + "parse('(?P<a>x)(?P<a>y)')",
)
ENDS_TOO_EARLY = Code(
    "R019",
    "pattern ends too early",
    "the pattern ends inside of {what}",
    "{fix}",
    example=_PARSE + "parse('ab\\\\')",
)
UNKNOWN_DIALECT = Code(
    "R020",
    "unknown dialect",
    "there is no dialect {found!r}",
    "use one of {known}",
    example=_PARSE + "parse('a', dialect='posix')",
)
NOT_A_PATTERN = Code(
    "R021",
    "not a pattern",
    "a pattern is str or bytes, not {found}",
    "give the text of the pattern",
    example=_PARSE + "parse(1)",
)
NOT_COMPILED = Code(
    "R022",
    "not a compiled pattern",
    "these bytes do not start like a compiled pattern",
    "give bytes that encode made",
    example=_COMPILED + "decode(b'hello, world')",
)
UNKNOWN_FORMAT = Code(
    "R023",
    "unknown version of the format",
    "this pattern is stored in version {version}; version {known} is known",
    "compile the pattern again",
    example=_COMPILED + "decode(data[:8] + b'\\xff' + data[9:])",
)
DAMAGED = Code(
    "R024",
    "damaged",
    "{problem}",
    "compile the pattern again",
    example=_COMPILED + "decode(data[:-1])",
)
BAD_CONTENTS = Code(
    "R025",
    "does not fit together",
    "{problem}",
    "compile the pattern again",
    example=_COMPILED
    + "from vyre.ops.match.regex.encoding import seal\n"
    + "decode(seal(b'\\x01'))",
)

CODES = (
    PATTERN_TOO_LONG,
    NESTED_TOO_DEEP,
    REPEAT_TOO_LARGE,
    PATTERN_TOO_LARGE,
    MATCHES_EMPTY,
    LOOK_AROUND,
    BACK_REFERENCE,
    UNICODE_CLASS,
    UNSAFE_BYTE,
    ATOMIC,
    NOT_ASCII,
    UNKNOWN_ESCAPE,
    UNKNOWN_GROUP,
    UNKNOWN_FLAG,
    BAD_REPEAT,
    BAD_CLASS,
    UNBALANCED,
    BAD_GROUP_NAME,
    ENDS_TOO_EARLY,
    UNKNOWN_DIALECT,
    NOT_A_PATTERN,
    NOT_COMPILED,
    UNKNOWN_FORMAT,
    DAMAGED,
    BAD_CONTENTS,
)
