"""Keys of the on-disk cache of translated kernels.

There are two kinds of entries. A note, keyed by the source of a function, says that nothing in it
has to be refused, and for a kernel which captured state its translations read. A program is keyed
by all that a translation depends on: source, parameters, specialisation, and every value that was
read (see `captured_state`). The store (`vyre.runtime.translation_store`) adds the compiler
fingerprint to the keys.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from vyre.ir import Program
from vyre.ir import late_binding as late

if TYPE_CHECKING:
    from vyre.front.captured_state import Path, Read, Reads
    from vyre.front.device_functions import AnyFunction
    from vyre.front.kernels import KernelSource, Specialisation
    from vyre.front.source import Source

_MANY_READS = 1000


def is_sound(source: Source) -> bool:
    """Whether the text of a device function is known to be fit for kernels."""
    return late.cached_note(*_function_key(source)) is not None


def copies_whole(source: Source) -> bool | None:
    """Whether a kernel copies stretches of memory; None if its text is not known to be fit."""
    note = late.cached_note(*_kernel_key(source))
    return None if note is None else _read_note(note)[0]


def find(kernel: KernelSource, wanted: Specialisation) -> tuple[Program, list[Read]] | None:
    """The program that a kernel was translated to before, by this process or another one.

    With it comes what of all that was read is there now.
    """
    from vyre.front.captured_state import at_paths, defaults_of
    from vyre.front.device_functions import DeviceFunction

    note = late.cached_note(*_kernel_key(kernel.source))
    if note is None:
        return None
    reads = at_paths(kernel.source, _read_note(note)[1])
    key = None if reads is None else _program_key(kernel, wanted, reads)
    if reads is None or key is None:
        return None

    def translated() -> Program:
        from vyre.front.captured_state import Reads
        from vyre.front.lower import translate

        return translate(kernel, wanted, Reads(kernel.source))

    found = late.cached_program(translated, *key)
    if found is None:
        return None
    every = list(reads.values())
    for read in reads.values():
        if isinstance(read.value, DeviceFunction):
            every += defaults_of(cast("AnyFunction", read.value))
    return found, every


def keep(kernel: KernelSource, wanted: Specialisation, program: Program, reads: Reads) -> None:
    """Remember what a kernel was translated to, if all that it depends on can be written down."""
    from vyre.front.captured_state import at_paths

    if not reads.are_all or len(reads.at) > _MANY_READS:
        return
    name = _kernel_key(kernel.source)
    note = late.cached_note(*name)
    paths = set(reads.at)
    if note is not None:
        paths |= _read_note(note)[1]
    # Others may have changed what there is since it was read.
    found = at_paths(kernel.source, paths, reads.at)
    key = None if found is None else _program_key(kernel, wanted, found)
    if key is None and paths != set(reads.at):
        # What other translations read cannot be written down any more.
        paths = set(reads.at)
        key = _program_key(kernel, wanted, dict(sorted(reads.at.items())))
    if key is None:
        return
    late.store_program(program, *key)
    new = {"copies": kernel.copies_whole, "reads": sorted(paths)}
    if note is None or _read_note(note) != (kernel.copies_whole, paths):
        late.store_note(new, *name)
    for source in reads.functions():
        if not is_sound(source):
            late.store_note({}, *_function_key(source))


def _read_note(note: dict[str, Any]) -> tuple[bool, set[Path]]:
    """What the note of a kernel says; a note that says nonsense says that nothing was read."""
    rows: object = note.get("reads")
    listed = cast("list[object]", rows) if isinstance(rows, list) else []
    paths = {
        tuple(cast("list[str]", row))
        for row in listed
        if isinstance(row, list)
        if row and all(isinstance(step, str) for step in cast("list[object]", row))
    }
    return note.get("copies") is True, paths


def _function_key(source: Source) -> tuple[str, ...]:
    return "function", sys.version, source.name, "\n".join(source.lines)


def _kernel_key(source: Source) -> tuple[str, ...]:
    return "kernel", sys.version, source.name, "\n".join(source.lines)


def _program_key(
    kernel: KernelSource, wanted: Specialisation, reads: Mapping[Path, Read]
) -> tuple[str, ...] | None:
    from vyre.front.captured_state import mark_of_number, mark_of_parameter, marks

    read = marks(reads)
    statics = [(name, mark_of_number(value)) for name, value in wanted.statics]
    if read is None or any(mark is None for _, mark in statics):
        return None
    parameters = [(name, mark_of_parameter(one)) for name, one in kernel.parameters.items()]
    types = [(name, dtype.spelling) for name, dtype in wanted.types]
    layouts = [(name, layout.value) for name, layout in wanted.layouts]
    asked = (kernel.entry_op_id, kernel.workgroup, kernel.fast_math, types, statics, layouts)
    return "program", *_kernel_key(kernel.source), repr(parameters), repr(asked), *read
