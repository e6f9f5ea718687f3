"""Kernels whose programs are those of other kernels, changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vyre.front.kernels import KernelSource, Specialisation, Translated
from vyre.front.parameters import Parameter
from vyre.ir import Program
from vyre.runtime.kernel import Kernel


class RewrittenSource(KernelSource):
    """The source of a kernel, with a change of each of its programs and further parameters."""

    _original: KernelSource
    _change: Callable[[Program], Program]
    _changed: dict[object, Translated]

    def __init__(
        self,
        original: KernelSource,
        further: Mapping[str, Parameter],
        change: Callable[[Program], Program],
    ) -> None:
        super().__init__(
            original.source,
            {**original.parameters, **further},
            {},
            original.workgroup,
            original.fast_math,
            None,
            original.copies_whole,
        )
        object.__setattr__(self, "_original", original)
        object.__setattr__(self, "_change", change)
        object.__setattr__(self, "_changed", {})

    @property
    def keyword_only(self) -> frozenset[str]:
        """No parameter: it is called by position."""
        return frozenset()

    def translated(self, wanted: Specialisation) -> Translated:
        """The program for one specialisation, changed."""
        made = self._original.translated(wanted)
        found = self._changed.get(wanted.key)
        if found is None or found.outside is not made.outside:
            found = Translated(self._change(made.program), made.outside)
            self._changed[wanted.key] = found
        return found


def further_name(kernel: Kernel[...], wanted: str) -> str:
    """A name for a further parameter that the kernel does not have."""
    while wanted in kernel.source.parameters:
        wanted += "_"
    return wanted


def rewritten(
    kernel: Kernel[...],
    further: Mapping[str, Parameter],
    change: Callable[[Program], Program],
) -> Kernel[...]:
    """The kernel with changed programs, and with parameters after its own."""
    made: Any = RewrittenSource(kernel.source, further, change)
    return Kernel(made, kernel.__wrapped__)
