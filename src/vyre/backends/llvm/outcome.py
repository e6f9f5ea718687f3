"""How a launch ended, read from what the native runtime returned."""

from __future__ import annotations

import ctypes
import struct
from enum import IntEnum
from typing import Final

from vyre.backends.llvm import abi
from vyre.backends.llvm.kernel_info import KernelInfo, PrintFormat
from vyre.locks import make_lock
from vyre.record import dataclass

NativeResult = int | tuple[int, ...]
"""0, or a tuple; described in native/python.ll."""


class Status(IntEnum):
    """How a launch ended. Signals are not here: exceptions of their handlers propagate."""

    BAD_GRID = -2
    BAD_ARGUMENT = -1
    DONE = abi.STOP_NONE
    DEADLINE = abi.STOP_DEADLINE
    TRAP = abi.STOP_TRAP
    NO_MEMORY = abi.STOP_NO_MEMORY
    NO_STACK = abi.STOP_NO_STACK
    FORKED = abi.STOP_FORKED
    NO_WATCHDOG = abi.STOP_NO_WATCHDOG
    STEP = abi.STOP_STEP


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a launch that failed or printed."""

    status: Status
    tag: str = ""
    """The tag of the trap."""
    invocation: tuple[int, int, int] = (0, 0, 0)
    """The global id of the invocation that trapped."""
    argument: int = -1
    """Index of the argument that cannot be used as given."""
    printed: tuple[str, ...] = ()
    lost_prints: bool = False
    """The print ring was too small for all of them."""


class PrintRing:
    """Memory that kernels print into. One launch at a time may use it: hold `lock`.

    `thread` is the one whose launch that is, for a signal handler may launch the same in it.
    """

    words: Final = 1 << 16

    def __init__(self) -> None:
        self._memory = (ctypes.c_int64 * self.words)()
        self.lock = make_lock()
        self.thread = 0

    @property
    def address(self) -> int:
        """Where it is."""
        return ctypes.addressof(self._memory)

    def take(self, cursor: int, formats: tuple[PrintFormat, ...]) -> tuple[str, ...]:
        """The records below `cursor`, formatted; the ring is empty afterwards."""
        used = min(cursor, self.words) * 8
        data = ctypes.string_at(self._memory, used)
        ctypes.memset(self._memory, 0, used)
        lines: list[str] = []
        at = 0
        while at + abi.PRINT_HEADER_WORDS * 8 <= used:
            tag, words, x, y, z = struct.unpack_from("<5I", data, at)
            if tag == 0:
                break
            at += abi.PRINT_HEADER_WORDS * 8
            arguments = struct.unpack_from(f"<{words}Q", data, at)
            lines.append(f"({x}, {y}, {z}) {_line(formats[tag - 1], arguments)}")
            at += words * 8
        return tuple(lines)


_UNPACK: Final = {
    "bool": "<?",
    "u8": "<B",
    "i8": "<b",
    "u16": "<H",
    "i16": "<h",
    "u32": "<I",
    "i32": "<i",
    "u64": "<Q",
    "i64": "<q",
    "f16": "<e",
    "f32": "<f",
    "f64": "<d",
}


def _line(form: PrintFormat, words: tuple[int, ...]) -> str:
    values = [
        struct.unpack_from(_UNPACK[dtype], word.to_bytes(8, "little"))[0]
        for dtype, word in zip(form.arguments, words, strict=True)
    ]
    return form.text.format(*values)


def read_outcome(result: NativeResult, info: KernelInfo, ring: PrintRing | None) -> Outcome | None:
    """The outcome of a native launch; None for a plain success."""
    if isinstance(result, int):
        return None
    if len(result) == 2:
        return Outcome(Status(result[0]), argument=result[1])
    code, tag, x, y, z, cursor = result
    status = Status(code)
    printed: tuple[str, ...] = ()
    lost = False
    if ring is not None:
        printed = ring.take(cursor, info.prints)
        lost = cursor > ring.words
    if status is Status.DONE and not printed:
        return None
    if status is not Status.TRAP:
        return Outcome(status, printed=printed, lost_prints=lost)
    return Outcome(status, info.trap_tags[tag], (x, y, z), printed=printed, lost_prints=lost)
