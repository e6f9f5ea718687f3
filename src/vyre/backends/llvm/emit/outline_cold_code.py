"""Outlines cold regions into functions that LLVM spends little time on.

Beside the vectors in which nearly all lanes run, every row has scalar lanes, and there may be
vectors that test conditions which nearly always hold. That is as much code again as the hot code of
a launch, and LLVM takes as long to compile it. A kernel that is large enough for this to matter
calls it instead; the pipelines recognise such functions by their name.

A region can be outlined if control enters only at its beginning and leaves only at its end or at
the end of the kernel, if no value defined in it is used elsewhere, and if it shares no variable of
the kernel's stack but large arrays: others would have to live in memory from then on. This is
decided from the complete text; where it is not allowed, the region stays in place.
"""

from __future__ import annotations

import re
from collections import Counter

from vyre.backends.llvm import heuristics
from vyre.record import dataclass

PREFIX = "vyre.aside."
"""Prefix of the names of such functions."""
_STOPPED = "-1"
"""Returned instead of an index when the kernel is to return: no row is nearly as long."""

_NAME = re.compile(r"%[-\w$.]+", re.ASCII)
_LABEL = re.compile(r"label (%[-\w$.]+)", re.ASCII)
_INCOMING = re.compile(r", (%[-\w$.]+) \](?=,|$)", re.ASCII | re.MULTILINE)
_BLOCK = re.compile(r"^([-\w$.]+):$", re.ASCII | re.MULTILINE)
_RESULT = re.compile(r"^  (%[-\w$.]+) = (.*)$", re.ASCII | re.MULTILINE)
_WORDS = re.compile(
    r"^(?:(?:nuw|nsw|exact|disjoint|nneg|samesign|atomic|volatile|inbounds|tail|fast|nnan|ninf|nsz|"
    r"arcp|contract|afn|reassoc) )*"
)
_BYTES = re.compile(r"alloca \[(\d+) x i8\]")
_TYPE = re.compile(r"<[^>]*>|ptr|i\d+|half|float|double")
_LEADING = frozenset(
    {
        *("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "urem", "udiv", "srem"),
        *("sdiv", "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "load", "phi", "freeze", "call"),
        "insertelement",
    }
)
"""Instructions whose result has the type that they name first."""
_CASTS = frozenset(
    {
        *("zext", "sext", "trunc", "bitcast", "fpext", "fptrunc", "uitofp", "sitofp", "fptoui"),
        *("fptosi", "ptrtoint", "inttoptr"),
    }
)


@dataclass(frozen=True, slots=True)
class OutlinedRegion:
    """A region that advances along a row, and the code after it."""

    label: str
    lines: list[str]
    """Its instructions, after the label."""
    reached: str
    """The index along the row that it reaches: its last value."""
    after: list[str]
    """The instructions that follow it, in place or outlined."""


def with_outlined_regions(
    entry: list[str], lines: list[str], asides: dict[str, OutlinedRegion]
) -> tuple[list[str], list[str], list[str]]:
    """The entry block, the lines and further functions: each region in place or outlined."""
    if not asides:
        return entry, lines, []
    parts = [entry, lines, *(aside.lines for aside in asides.values())]
    if sum(map(len, parts)) < heuristics.MIN_OUTLINED_LINES:
        return entry, _in_place(lines, asides), []
    return _Moving(entry, lines, asides).moved()


def _in_place(lines: list[str], asides: dict[str, OutlinedRegion]) -> list[str]:
    placed: list[str] = []
    for line in lines:
        aside = asides.get(line)
        placed += [line] if aside is None else [f"{aside.label}:", *aside.lines, *aside.after]
    return placed


class _Moving:
    """Moves the regions of one kernel into functions."""

    def __init__(
        self, entry: list[str], lines: list[str], asides: dict[str, OutlinedRegion]
    ) -> None:
        self._entry, self._lines, self._asides = entry, lines, asides
        self._texts = {mark: "\n".join(aside.lines) for mark, aside in asides.items()}
        self._uses = {mark: Counter(_NAME.findall(text)) for mark, text in self._texts.items()}
        after = (line for aside in asides.values() for line in aside.after)
        around = "\n".join([*entry, *lines, *after])
        self._all = Counter(_NAME.findall(around))
        for uses in self._uses.values():
            self._all.update(uses)
        self._made = dict(_RESULT.findall(around))
        """The instruction that defines each value of the kernel."""
        self._slots = {line[2 : line.index(" =")]: line for line in entry if " = alloca " in line}

    def moved(self) -> tuple[list[str], list[str], list[str]]:
        """The entry block, the lines and the functions; all legal regions are outlined."""
        functions: list[str] = []
        gone: set[str] = set()
        kept: dict[str, OutlinedRegion] = {}
        for mark, aside in self._asides.items():
            inputs = self._inputs(mark, aside)
            if inputs is None:
                kept[mark] = aside
                continue
            own = [name for name in inputs if self._is_own(mark, name)]
            given = [(self._type(name) or "", name) for name in inputs if name not in own]
            gone.update(own)
            name = f"@{PREFIX}{len(functions)}"
            functions.append(_function(name, given, [self._slots[n] for n in own], aside))
            kept[mark] = _called(name, given, aside)
        entry = [line for line in self._entry if not _is_result(line, gone)]
        return entry, _in_place(self._lines, kept), functions

    def _inputs(self, mark: str, aside: OutlinedRegion) -> list[str] | None:
        """The kernel's values that a region uses, in order; None if it cannot be outlined."""
        text, uses = self._texts[mark], self._uses[mark]
        defined = {name for name, _ in _RESULT.findall(text)}
        if any(self._all[name] > uses[name] for name in defined - {aside.reached}):
            return None
        labels = {f"%{label}" for label in (aside.label, *_BLOCK.findall(text))}
        if not labels.issuperset([*_LABEL.findall(text), *_INCOMING.findall(text)]):
            return None
        inputs = [name for name in uses if name not in defined and name not in labels]
        for name in inputs:
            shared = name in self._slots and not self._is_own(mark, name)
            if (shared and not self._is_array(name)) or self._type(name) is None:
                return None
        return inputs

    def _type(self, name: str) -> str | None:
        """The type of a value, if its instruction shows it."""
        definition = self._made.get(name)
        if definition is None:
            return "ptr" if name in ("%launch", "%scratch") else None
        return _type(*definition.split(" ", 1))

    def _is_array(self, name: str) -> bool:
        """True if a slot stays in memory wherever it is used."""
        size = _BYTES.search(self._slots[name])
        return size is not None and int(size[1]) > heuristics.MAX_REGISTER_ARRAY_BYTES

    def _is_own(self, mark: str, name: str) -> bool:
        """True if a name is a stack slot of this region alone; its definition counts once."""
        return name in self._slots and self._all[name] == self._uses[mark][name] + 1


def _function(
    name: str, given: list[tuple[str, str]], slots: list[str], aside: OutlinedRegion
) -> str:
    parameters = ", ".join(f"{type_} {value}" for type_, value in given)
    lines = [f"  ret i32 {_STOPPED}" if line == "  ret void" else line for line in aside.lines]
    head = f"define internal i32 {name}({parameters}) noinline cold nounwind {{"
    begin = ["entry:", *slots, f"  br label %{aside.label}", f"{aside.label}:"]
    return "\n".join([head, *begin, *lines, f"  ret i32 {aside.reached}", "}"])


def _called(name: str, given: list[tuple[str, str]], aside: OutlinedRegion) -> OutlinedRegion:
    arguments = ", ".join(f"{type_} {value}" for type_, value in given)
    call = f"  {aside.reached} = call i32 {name}({arguments})"
    if "  ret void" not in aside.lines:
        return OutlinedRegion(aside.label, [call], aside.reached, aside.after)
    left, on = f"{aside.label}.left", f"{aside.label}.on"
    test = f"%{aside.label}.stopped"
    lines = [
        call,
        f"  {test} = icmp eq i32 {aside.reached}, {_STOPPED}",
        f"  br i1 {test}, label %{left}, label %{on}",
        f"{left}:",
        "  ret void",
        f"{on}:",
    ]
    return OutlinedRegion(aside.label, lines, aside.reached, aside.after)


def _is_result(line: str, names: set[str]) -> bool:
    return line[2 : line.find(" ", 2)] in names


def _type(operation: str, rest: str) -> str | None:
    rest = _WORDS.sub("", rest, count=1)
    if operation in _LEADING:
        match = _TYPE.match(rest)
    elif operation in _CASTS:
        match = _TYPE.match(rest, rest.rindex(" to ") + 4)
    elif operation in ("alloca", "getelementptr"):
        return None if "<" in rest and operation == "getelementptr" else "ptr"
    elif operation == "select":
        match = _TYPE.match(rest, rest.index(", ") + 2)
    elif operation in ("icmp", "fcmp"):
        match = _TYPE.match(rest, rest.index(" ") + 1)
        return None if match is None or match[0].startswith("<") else "i1"
    else:
        return None
    return None if match is None else match[0]


__all__ = ["PREFIX", "OutlinedRegion", "with_outlined_regions"]
