"""Stack use of a kernel, spills included, and stack probes.

Frame sizes are decided by LLVM and read from the prologue: a function with the attribute for stack
probes, and whose frame is not small, calls the probe with the frame's size before it allocates the
frame. So the sizes precede the calls, and the probe itself touches the frame page by page: a stack
that is too short ends at its guard page, never beyond.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.elf import ElfObject, Section, Symbol, read_elf
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.image import MACHINE_AARCH64, MACHINE_X86_64, bad_object

PROBE: Final = "vyre.probe"
"""The function that touches a frame: it gets the size in eax and changes no register."""
LIBRARY_BYTES: Final = 4096
"""Stack of the C library functions that kernels call."""

_PROBE_X86_64: Final = bytes.fromhex(
    "55 4889e5"  # push rbp; mov rbp, rsp
    "4153 4989c3"  # push r11; mov r11, rax
    "4981fb00100000 7614"  # pages: cmp r11, 4096; jbe rest
    "4881ec00100000 48852424"  # sub rsp, 4096; test [rsp], rsp
    "4981eb00100000 ebe3"  # sub r11, 4096; jmp pages
    "4c29dc 48852424"  # rest: sub rsp, r11; test [rsp], rsp
    "4c8b5df8 c9 c3"  # mov r11, [rbp - 8]; leave; ret
)

_DEFINITION: Final = re.compile(r"^define\b.*?\{$", re.MULTILINE | re.DOTALL)
_NAME: Final = re.compile(r'@([-\w$.]+|"[^"]+")\(')


def with_probes(text: str, host: Host) -> str:
    """The module with stack probes, where they can be read back."""
    how = {"x86_64": PROBE, "aarch64": "inline-asm"}.get(host.architecture)
    if how is None:
        return text
    attributes = f'"probe-stack"="{how}" "stack-probe-size"="{heuristics.MIN_PROBED_FRAME_BYTES}"'
    return _DEFINITION.sub(lambda found: f"{found[0][:-1]}{attributes} {{", text)


def probe_object(machine: int) -> ElfObject:
    """The probe, to be linked to code that calls it."""
    section = Section(".text.probe", _PROBE_X86_64, len(_PROBE_X86_64), 16, False, True)
    nothing = Symbol("", None, 0)
    return ElfObject(machine, {1: section}, [nothing, Symbol(PROBE, 1, 0)], [])


def needs_probe(elf: ElfObject) -> bool:
    """True if code calls the probe."""
    return any(symbol.name == PROBE and symbol.section is None for symbol in elf.symbols)


def stack_bytes(objects: Sequence[bytes], texts: Sequence[str], entry: str) -> int:
    """Upper bound of the stack of `entry`, from these modules' objects."""
    frames: dict[str, int] = {}
    for data in objects:
        for name, size in frame_sizes(read_elf(data)).items():
            frames[name] = max(frames.get(name, 0), size)
    calls = _calls(texts)

    @cache
    def deepest(name: str) -> int:
        if name not in calls:
            return LIBRARY_BYTES
        below = max(map(deepest, calls[name]), default=0)
        return max(frames.get(name, 0), heuristics.MIN_PROBED_FRAME_BYTES) + below

    return deepest(entry)


def frame_sizes(elf: ElfObject) -> dict[str, int]:
    """Frame sizes by function, without small frames."""
    sizes = _SIZES.get(elf.machine)
    return {} if sizes is None else sizes(elf)


def _frames_x86_64(elf: ElfObject) -> dict[str, int]:
    """The constants that are passed to the probe: `mov eax, size; call probe`."""
    found: dict[str, int] = {}
    for relocation in elf.relocations:
        if elf.symbols[relocation.symbol].name != PROBE:
            continue
        code, at = elf.sections[relocation.section].data or b"", relocation.offset
        if at < 6 or (code[at - 6], code[at - 1]) != (0xB8, 0xE8):
            raise bad_object("the size of a stack frame cannot be read from its code")
        (size,) = struct.unpack_from("<I", code, at - 5)
        name = _function_at(elf, relocation.section, at)
        found[name] = max(found.get(name, 0), size)
    return found


def _frames_aarch64(elf: ElfObject) -> dict[str, int]:
    """Upper bounds of what functions subtract from the stack pointer.

    LLVM takes large frames in several steps, partly by way of x9; what else x9 is used for adds a
    little.
    """
    found: dict[str, int] = {}
    for index, section in elf.sections.items():
        if not section.executable or section.data is None:
            continue
        starts = sorted((s.value, s.name) for s in elf.symbols if s.section == index and s.name)
        ends = [start for start, _ in starts[1:]] + [section.size]
        for (start, name), end in zip(starts, ends, strict=True):
            words = struct.unpack_from(f"<{(end - start) // 4}I", section.data, start)
            found[name] = sum(map(_taken_aarch64, words))
    return found


def _taken_aarch64(word: int) -> int:
    """Upper bound of the bytes that an instruction subtracts from sp."""
    target, source = word & 31, word >> 5 & 31
    if word >> 23 == 0b110100010 and (source == 31 or source == target == 9):  # sub
        return (word >> 10 & 0xFFF) << (12 if word >> 22 & 1 else 0)
    if source != 31:
        return 0
    if word >> 27 & 0b111 == 0b101 and word >> 22 & 0b1111 == 0b0110:  # stp with pre-index
        return max(128 - (word >> 15 & 127), 0) * 16 if word >> 21 & 1 else 0
    if word >> 21 == 0b11111000000 and word >> 10 & 3 == 3:
        return 512 - (word >> 12 & 511) if word >> 20 & 1 else 0  # str with pre-index
    return 0


_SIZES: Final = {MACHINE_X86_64: _frames_x86_64, MACHINE_AARCH64: _frames_aarch64}


def _function_at(elf: ElfObject, section: int, offset: int) -> str:
    before = [(s.value, s.name) for s in elf.symbols if s.section == section and s.name]
    return max((start, name) for start, name in before if start <= offset)[1]


def _calls(texts: Sequence[str]) -> Mapping[str, set[str]]:
    """Which functions each function calls."""
    calls: dict[str, set[str]] = {}
    for text in texts:
        for found in _DEFINITION.finditer(text):
            name = _NAME.search(found[0])
            assert name is not None
            body = text[found.end() : text.index("\n}", found.end())]
            calls.setdefault(name[1], set()).update(_NAME.findall(body))
    return calls
