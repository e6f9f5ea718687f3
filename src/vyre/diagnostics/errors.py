"""The exceptions of vyre, one tree:

    VyreError
    +-- BuildError            a value handed to a constructor is wrong         (I###)
    +-- CheckError            a program does not pass the checker              (V###)
    +-- ParseError            program text cannot be read                      (T###)
    +-- WireError             program bytes cannot be read                     (W###)
    +-- FrontError            a Python function cannot become a program        (F###)
    +-- OptimizerError        passes cannot be scheduled or do not converge    (O###)
    +-- LowerError            a program cannot be brought to a target          (L###)
    |   +-- CapabilityError   the target lacks a feature the program needs
    +-- PlanError             programs cannot be joined or split               (P###)
    +-- RegexError            a regular expression is refused                  (R###)
    +-- DispatchError         a launch was asked for wrongly                   (D###)
    |   +-- DeviceError       the device asked for is not there
    |   +-- ArgumentError     a buffer is missing, too short, of another type
    +-- BackendError          a backend failed in emit, load or launch         (B###)
    |   +-- OutOfMemoryError  the device has no room for an allocation
    +-- ExecutionError        the kernel itself ended badly                    (X###)
        +-- TrapError         the kernel trapped
        +-- DeadlineError     the kernel ran past its deadline (also TimeoutError)
        +-- SanitizerError    the sanitizer found a defect in the kernel

Every error carries at least one diagnostic; `code`, `fix` and `location` are those of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vyre.diagnostics.diagnostic import Diagnostic
from vyre.diagnostics.render import render_all
from vyre.diagnostics.span import Location


class VyreError(Exception):
    """Anything vyre has to say about a mistake or a failure; `diagnostics` holds every problem."""

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        if not found:
            raise ValueError("an error needs at least one diagnostic")
        self.diagnostics: tuple[Diagnostic, ...] = found
        super().__init__(render_all(found))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.diagnostics,))

    @property
    def code(self) -> str:
        """The stable code of the first problem."""
        return self.diagnostics[0].code

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all problems, in order."""
        return tuple(d.code for d in self.diagnostics)

    @property
    def fix(self) -> str:
        """What to do about the first problem."""
        return self.diagnostics[0].fix

    @property
    def location(self) -> Location:
        """Where the first problem stands."""
        return self.diagnostics[0].location


class BuildError(VyreError, ValueError):
    """A value handed to a constructor of the IR is wrong."""


class CheckError(VyreError):
    """A program does not pass the checker."""


class ParseError(VyreError):
    """Program text cannot be read."""


class WireError(VyreError):
    """Program bytes cannot be read; `offset` says where."""

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic], offset: int = 0) -> None:
        super().__init__(diagnostics)
        self.offset = offset


class FrontError(VyreError):
    """A Python function cannot become a program."""


class OptimizerError(VyreError):
    """Passes cannot be scheduled, or do not converge."""


class LowerError(VyreError):
    """A program cannot be brought to a target."""


class CapabilityError(LowerError):
    """The target lacks a feature or a limit that the program needs."""


class PlanError(VyreError):
    """Programs cannot be joined into one dispatch, or one cannot be split."""


class RegexError(VyreError, ValueError):
    """A regular expression is refused, or a compiled one cannot be read; `offset` says where."""

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic], offset: int = 0) -> None:
        super().__init__(diagnostics)
        self.offset = offset

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.diagnostics, self.offset))


class DispatchError(VyreError):
    """A launch was asked for in a way that cannot be carried out."""


class DeviceError(DispatchError):
    """The device asked for is not there."""


class ArgumentError(DispatchError, TypeError):
    """A buffer is missing, superfluous, too short or of the wrong type."""


class BackendError(VyreError):
    """A backend failed in emit, load or launch."""


class OutOfMemoryError(BackendError, MemoryError):
    """The device has no room for an allocation."""


class ExecutionError(VyreError):
    """A kernel ended badly; `printed` are the lines it had printed until then."""

    printed: tuple[str, ...] = ()


class TrapError(ExecutionError):
    """A kernel trapped; `tag` and `invocation` say which trap and who raised it."""

    def __init__(
        self,
        diagnostics: Diagnostic | Sequence[Diagnostic],
        tag: str = "",
        invocation: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        super().__init__(diagnostics)
        self.tag = tag
        self.invocation = invocation

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.diagnostics, self.tag, self.invocation))


class DeadlineError(ExecutionError, TimeoutError):
    """A kernel ran past its deadline and was stopped."""


class SanitizerError(ExecutionError):
    """The sanitizer found a defect in a kernel."""
