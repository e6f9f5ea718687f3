"""T###: program text that cannot be read."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_HEAD = "program workgroup(64, 1, 1)\n\nbuffer out: read_write u32[] @0\n\n"

BAD_CHARACTER = Code(
    "T001",
    "character that starts nothing",
    "{found} cannot stand here",
    "remove it; text belongs in double quotes, comments start with //",
    example=_HEAD + "out[0] = 1u32 $ 2u32\n",
)
UNEXPECTED = Code(
    "T002",
    "something else was expected",
    "expected {expected}, found {found}",
    "write {expected} here",
    example=_HEAD + "let x 1u32\n",
)
UNCLOSED_TEXT = Code(
    "T003",
    "text without an end",
    "this {what} is not closed on its line",
    "close it with {closer}",
    example=_HEAD + 'trap "too large\n',
)
BAD_ESCAPE = Code(
    "T004",
    "unknown escape",
    "{found} is no escape",
    'use \\" and \\\\, or \\u{{...}} with the hexadecimal number of a character',
    example=_HEAD + 'trap "50\\%"\n',
)
UNTYPED_FLOAT = Code(
    "T005",
    "number without a type",
    "the number {found} has no type",
    "say which: {found}f32 or {found}f64",
    example=_HEAD + "let x = 1.5\n",
)
BAD_NUMBER = Code(
    "T006",
    "number that its type cannot hold",
    "{found} cannot be read as a number",
    "{hint}",
    example=_HEAD + "let x = 256u8\n",
)
UNKNOWN_TYPE = Code(
    "T007",
    "unknown type",
    "there is no type {found}",
    "write a type such as u32, f32, bool or vec4<f32>",
    example=_HEAD + "buffer b: read_only u33[] @1\n",
)
UNKNOWN_FUNCTION = Code(
    "T008",
    "unknown function",
    "there is no function {found}",
    "use an operation of the language{suggestion}",
    example=_HEAD + "let x = smaller(1u32, 2u32)\n",
)
OPERAND_COUNT = Code(
    "T009",
    "wrong number of operands",
    "{name} takes {expected} operands, not {found}",
    "give it exactly {expected}",
    example=_HEAD + "let x = min(1u32)\n",
)
RESERVED_WORD = Code(
    "T010",
    "reserved word as a name",
    "{found} is a word of the language and cannot stand for a name",
    "choose another name, or write `{found}` in backquotes",
    example=_HEAD + "let while = 1u32\n",
)
NEVER_CLOSED = Code(
    "T011",
    "bracket never closed",
    "this {opener} is never closed",
    "write {closer} where it ends",
    example=_HEAD + "if true {\n    return\n",
)
TOO_DEEP = Code(
    "T012",
    "statements nested too deeply",
    "these statements are nested more than {limit} levels deep",
    "split the program, or join conditions with &",
    example=_HEAD + "{" * 101 + "}" * 101 + "\n",
)
REFUSED = Code(
    "T013",
    "value that no program can hold",
    "{problem}",
    "{fix}",
    example=_HEAD + "let " + "x" * 300 + " = 1u32\n",
)
REPEATED = Code(
    "T014",
    "said twice",
    "{what} is said twice",
    "keep one of them",
    example="program workgroup(64, 1, 1) fast_math fast_math\n",
)
NOT_TEXT = Code(
    "T015",
    "not text",
    "program text must be str, not {found}",
    "decode bytes first; programs in binary form are read with Program.from_wire",
    example="from vyre.text import parse\nparse(b'program')",
)
UNKNOWN_STATEMENT = Code(
    "T016",
    "unknown statement",
    "no statement starts with {found}",
    "start with let, a variable, a buffer, if, for, while or another statement{suggestion}",
    example=_HEAD + "lett x = 1u32\n",
)

CODES = (
    BAD_CHARACTER,
    UNEXPECTED,
    UNCLOSED_TEXT,
    BAD_ESCAPE,
    UNTYPED_FLOAT,
    BAD_NUMBER,
    UNKNOWN_TYPE,
    UNKNOWN_FUNCTION,
    OPERAND_COUNT,
    RESERVED_WORD,
    NEVER_CLOSED,
    TOO_DEEP,
    REFUSED,
    REPEATED,
    NOT_TEXT,
    UNKNOWN_STATEMENT,
)
