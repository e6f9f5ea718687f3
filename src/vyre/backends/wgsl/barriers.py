"""Barriers of a workgroup in WGSL."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from vyre.backends.wgsl.memory import Buffer, Space
from vyre.emit import Writer


class Barriers:
    """Writes the barriers that order the memory a program has."""

    def __init__(self, workgroup_size: tuple[int, int, int], buffers: Iterable[Buffer]) -> None:
        self.alone = prod(workgroup_size) == 1
        self.kinds = ["workgroupBarrier"]
        if any(buffer.space is Space.STORAGE and buffer.written for buffer in buffers):
            self.kinds.insert(0, "storageBarrier")

    def write(self, out: Writer) -> None:
        """One barrier; a single invocation needs none."""
        if not self.alone:
            for kind in self.kinds:
                out.line(f"{kind}();")
