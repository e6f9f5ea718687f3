"""W###: program bytes that cannot be read, programs that cannot be stored, files that fail."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_READ = "from vyre.ir import Program\n"
_EMPTY = "from vyre.ir import Program\ndata = Program.wrapped([], (1, 1, 1), []).to_wire()\n"
_SEALED = "from vyre.ir import Program\nfrom vyre.wire.envelope import seal\n"

NOT_A_PROGRAM = Code(
    "W001",
    "not a stored program",
    "these bytes do not start like a stored program",
    "give bytes that Program.to_wire made; program text is read with Program.parse",
    example=_READ + "Program.from_wire(b'hello, world')",
)
UNKNOWN_VERSION = Code(
    "W002",
    "unknown version of the format",
    "this program is stored in version {version} with flags {flags:#x}; version {known} is known",
    "read it with a newer vyre, or store it again with this one",
    example=_EMPTY + "Program.from_wire(data[:8] + b'\\xff' + data[9:])",
)
WRONG_LENGTH = Code(
    "W003",
    "wrong length",
    "{stated} bytes should follow the head, but {found} do",
    "the file was cut or something was added: get it again",
    example=_EMPTY + "Program.from_wire(data + b'x')",
)
WRONG_DIGEST = Code(
    "W004",
    "damaged",
    "the contents do not match their digest",
    "the file was damaged: get it again",
    example=_EMPTY + "Program.from_wire(data[:-1] + b'\\xff')",
)
TRUNCATED = Code(
    "W005",
    "ends too early",
    "{what} ends in the middle of something",
    "store the program again with Program.to_wire",
    example=_SEALED + "Program.from_wire(seal(b'\\x01'))",
)
UNKNOWN_TAG = Code(
    "W006",
    "unknown tag",
    "nothing is known by the tag {tag} here",
    "read it with a newer vyre, or store the program again",
    example=_SEALED + "Program.from_wire(seal(b'\\x63\\x00'))",
)
NOT_CANONICAL = Code(
    "W007",
    "not in canonical form",
    "{problem}",
    "store the program again with Program.to_wire: it writes the one form that is accepted",
    example=_SEALED + "Program.from_wire(seal(b'\\x01\\x81\\x00\\x00'))",
)
BAD_STRUCTURE = Code(
    "W008",
    "does not fit together",
    "{problem}",
    "store the program again with Program.to_wire",
    example=_SEALED
    + "a = bytes.fromhex('010100 020400010101 030100')  # no strings, a head, no buffers\n"
    + "Program.from_wire(seal(a + bytes.fromhex('04010f')))  # a ballot of nothing",
)
REFUSED = Code(
    "W009",
    "value that no program can hold",
    "{problem}",
    "{fix}",
    example=_SEALED
    + "a = bytes.fromhex('010401023178 020400010101 030100')  # the string 1x\n"
    + "Program.from_wire(seal(a + bytes.fromhex('04020200')))  # as a variable's name",
)
NOT_BYTES = Code(
    "W010",
    "not bytes",
    "a stored program is bytes, not {found}",
    "read files in binary mode; program text is read with Program.parse",
    example=_READ + "Program.from_wire('program')",
)
CANNOT_STORE = Code(
    "W011",
    "cannot be stored",
    "this program cannot be stored: {problem}",
    "build nodes with the methods of Expr, Node and BufferDecl, which refuse such values",
    example=(
        "from vyre.ir import Node, Program, Var\n"
        "Program.wrapped([], (1, 1, 1), [Node.eval(Var('not a name'))]).to_wire()"
    ),
)
FILE_FAILED = Code(
    "W012",
    "file cannot be read or written",
    "{path} cannot be {done}: {reason}",
    "check the path, its permissions and the space left on the disk",
    example="from vyre.wire.files import load\nload('/nowhere/program.vyb')",
)
UNKNOWN_SUFFIX = Code(
    "W013",
    "unknown kind of file",
    "{path} ends neither in .vyb (bytes) nor in .vy (text)",
    "name the file so that its kind is clear",
    example="from vyre.wire.files import load\nload('program.txt')",
)

CODES = (
    NOT_A_PROGRAM,
    UNKNOWN_VERSION,
    WRONG_LENGTH,
    WRONG_DIGEST,
    TRUNCATED,
    UNKNOWN_TAG,
    NOT_CANONICAL,
    BAD_STRUCTURE,
    REFUSED,
    NOT_BYTES,
    CANNOT_STORE,
    FILE_FAILED,
    UNKNOWN_SUFFIX,
)
