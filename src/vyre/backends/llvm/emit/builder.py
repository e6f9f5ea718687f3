"""Builder of LLVM IR text: instructions, blocks, fresh names, declarations."""

from __future__ import annotations

import struct

from vyre.backends.llvm import heuristics
from vyre.ir import DataType
from vyre.ir import literal as literals

_SCALAR = {
    DataType.BOOL: "i1",
    DataType.U8: "i8",
    DataType.I8: "i8",
    DataType.U16: "i16",
    DataType.I16: "i16",
    DataType.U32: "i32",
    DataType.I32: "i32",
    DataType.U64: "i64",
    DataType.I64: "i64",
    DataType.F16: "half",
    DataType.BF16: "i16",
    DataType.F32: "float",
    DataType.F64: "double",
}
"""Register types of values; `bf16` is held as its bits."""

_PURE = frozenset(
    {
        *("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "icmp", "fcmp", "select"),
        *("zext", "sext", "trunc", "bitcast", "getelementptr", "fadd", "fsub", "fmul", "fdiv"),
        *("insertelement", "extractelement", "shufflevector", "urem", "udiv", "srem", "sdiv"),
    }
)
"""Pure instructions: equal operands give equal results."""

_BITS = {"float": "i32", "double": "i64"}
_MANGLED = {"half": "f16", "float": "f32", "double": "f64"}


def register_type(dtype: DataType, lanes: int = 0) -> str:
    """The LLVM type of a value, scalar or one element per lane."""
    return widened(_SCALAR[dtype], lanes)


def widened(scalar: str, lanes: int) -> str:
    """A scalar LLVM type, or its vector with one element per lane."""
    return f"<{lanes} x {scalar}>" if lanes else scalar


def mangled(type_: str) -> str:
    """A type as it appears in the names of intrinsics."""
    if type_.startswith("<"):
        count, _, element = type_[1:-1].partition(" x ")
        return f"v{count}{_MANGLED.get(element, element)}"
    return _MANGLED.get(type_, type_)


def constant(scalar: str, value: float | str, lanes: int = 0) -> str:
    """A constant operand: the value itself, or a splat of it."""
    text = value if isinstance(value, str) else _number(scalar, value)
    return f"splat ({scalar} {text})" if lanes else text


def known_integer(operand: str) -> int | None:
    """The value of a constant integer operand, scalar or splat; else None."""
    if operand[0] == "%":
        return None
    text = operand[operand.rindex(" ") + 1 : -1] if operand.startswith("splat (") else operand
    return int(text) if text.removeprefix("-").isdigit() else None


def literal(dtype: DataType, bits: int, lanes: int = 0) -> str:
    """A literal of the program as an operand."""
    scalar = _SCALAR[dtype]
    if dtype.is_bool:
        text = "true" if bits else "false"
    elif dtype.is_float and dtype is not DataType.BF16:
        text = _float_bits(dtype, bits)
    else:
        text = str(bits)
    return constant(scalar, text, lanes)


def _number(scalar: str, value: float) -> str:
    if scalar == "i1":
        return "true" if value else "false"
    if scalar in ("float", "double", "half"):
        dtype = {"float": DataType.F32, "double": DataType.F64, "half": DataType.F16}[scalar]
        return _float_bits(dtype, literals.encode_float(float(value), dtype))
    return str(int(value))


def _float_bits(dtype: DataType, bits: int) -> str:
    if dtype is DataType.F16:
        return f"0xH{bits:04X}"
    # LLVM writes a float as the bits of the double of the same value.
    value = literals.decode(bits, dtype)
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Builder:
    """The body of one function, with the declarations it needs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        """Instructions of the entry block: stack slots, and values that are read once."""
        self.declarations: dict[str, str] = {}
        self.globals: dict[str, str] = {}
        self.label = "entry"
        self.open = True
        """True while the current block lacks its terminator."""
        self._next = 0
        self._begun = 0
        self._made: dict[str, str] = {}
        """Results of the pure instructions of the current block."""
        self._held: dict[str, str] = {}
        """Contents of the stack slots that the current block has used."""
        self.sums: dict[str, tuple[str, str, str]] = {}
        """Sums and differences of 32 bits that the current block has computed, by result."""
        self.streams: dict[object, list[tuple[int, str, int]]] = {}
        """Vectors that it has loaded: their constant offset, and how much was written before."""
        self.writes = 0
        """Instructions that may have written to memory."""

    def fresh(self, hint: str = "v") -> str:
        """A unique name."""
        self._next += 1
        return f"{hint}.{self._next}"

    def emit(self, instruction: str, hint: str = "v", *, once: bool = False) -> str:
        """Append an instruction with a result; returns the result's operand.

        An instruction that this block already has is not appended again: LLVM would eliminate it at
        the cost of parsing it, and in its fast pipelines it would not. `once` marks a load that
        gives the same value whenever it is executed.
        """
        name = self._made.get(instruction)
        if name is None:
            name = f"%{self.fresh(hint)}"
            self.lines.append(f"  {name} = {instruction}")
            op = instruction[: instruction.index(" ")]
            if once or op in _PURE:
                self._made[instruction] = name
                self._note_sum(op, instruction, name)
            elif op != "load":
                self.writes += 1
        return name

    def _note_sum(self, op: str, instruction: str, name: str) -> None:
        if op in ("add", "sub"):
            head, _, right = instruction.rpartition(", ")
            words = head.split()
            if words[-2] == "i32":
                self.sums[name] = op, words[-1], right

    def load(self, type_: str, pointer: str, rest: str) -> str:
        """Emit a load from memory other than the function's own.

        Floats are loaded as their bits: LLVM's quick instruction selection folds a load of a float
        into an instruction that reads a whole register, and so reaches beyond the end of a buffer.
        """
        bits = _BITS.get(type_)
        if bits is None:
            return self.emit(f"load {type_}, ptr {pointer}{rest}")
        raw = self.emit(f"load {bits}, ptr {pointer}{rest}")
        return self.emit(f"bitcast {bits} {raw} to {type_}")

    def do(self, instruction: str) -> None:
        """Append an instruction without a result."""
        self.writes += 1
        self.lines.append(f"  {instruction}")

    def at_entry(self, instruction: str, hint: str = "v") -> str:
        """Append an instruction to the entry block; returns the result's operand."""
        name = f"%{self.fresh(hint)}"
        self.entry.append(f"  {name} = {instruction}")
        return name

    def slot(self, type_: str, hint: str) -> str:
        """Append a stack slot; returns its pointer."""
        return self.at_entry(f"alloca {type_}", hint)

    def put(self, type_: str, value: str, slot: str) -> None:
        """Emit a store to a slot that only `put` and `get` access."""
        self.lines.append(f"  store {type_} {value}, ptr {slot}")
        self._held[slot] = value

    def get(self, type_: str, slot: str) -> str:
        """Emit a load of a slot that only `put` and `get` access."""
        value = self._held.get(slot)
        if value is None:
            value = self._held[slot] = self.emit(f"load {type_}, ptr {slot}")
        return value

    def breathe(self) -> None:
        """Begin a new block if this one is long; for positions between two statements.

        LLVM's quick instruction selection gives up for the rest of a block at an instruction it
        does not support, and the thorough one takes long over long blocks. Where code is optimised
        the blocks are merged again first. The new block has no other predecessor, so that all facts
        of the old one hold in it.
        """
        if self.open and len(self.lines) - self._begun > heuristics.LONG_BLOCK_LINES:
            made, held, sums, streams = self._made, self._held, self.sums, self.streams
            self._made, self._held, self.sums, self.streams = {}, {}, {}, {}
            self.block(self.fresh("on"))
            self._made, self._held, self.sums, self.streams = made, held, sums, streams

    def block(self, label: str) -> None:
        """Begin a block; the one before falls through to it if it is still open."""
        if self.open:
            self.do(f"br label %{label}")
        self.lines.append(f"{label}:")
        self.label = label
        self.open = True
        self._begun = len(self.lines)
        self._made.clear()
        self._held.clear()
        self.sums.clear()
        self.streams.clear()

    def jump(self, label: str) -> None:
        """End the block with an unconditional branch."""
        if self.open:
            self.do(f"br label %{label}")
        self.open = False

    def branch(self, condition: str, if_true: str, if_false: str, *, likely: bool = False) -> None:
        """End the block with a conditional branch; `likely` if the first target is."""
        weights = ", !prof !1" if likely else ""
        self.do(f"br i1 {condition}, label %{if_true}, label %{if_false}{weights}")
        self.open = False

    def repeat(self, condition: str, head: str, done: str) -> None:
        """End the block with a loop's conditional back edge; LLVM must not unroll it."""
        self.do(f"br i1 {condition}, label %{head}, label %{done}, !llvm.loop !3")
        self.open = False

    def jump_back(self, head: str) -> None:
        """End the block with a loop's back edge; LLVM must not unroll it."""
        if self.open:
            self.do(f"br label %{head}, !llvm.loop !3")
        self.open = False

    def leave(self) -> None:
        """End the function."""
        if self.open:
            self.do("ret void")
        self.open = False

    def call(self, name: str, result: str, *arguments: tuple[str, str]) -> str:
        """Emit a call of an intrinsic by its full name, declaring it."""
        types = ", ".join(type_ for type_, _ in arguments)
        self.declarations[name] = f"declare {result} @{name}({types})"
        passed = ", ".join(f"{type_} {value}" for type_, value in arguments)
        if result == "void":
            self.do(f"call void @{name}({passed})")
            return ""
        return self.emit(f"call {result} @{name}({passed})")

    def intrinsic(self, name: str, type_: str, *operands: str, extra: str = "") -> str:
        """Emit a call of an intrinsic; operands and result have one type."""
        arguments = [(type_, operand) for operand in operands]
        if extra:
            kind, _, value = extra.partition(" ")
            arguments.append((kind, value))
        return self.call(f"llvm.{name}.{mangled(type_)}", type_, *arguments)
