"""Problems as values, the exception tree, and how both are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.diagnostics.codes.row import Code
from vyre.diagnostics.diagnostic import Diagnostic, Severity
from vyre.diagnostics.errors import (
    ArgumentError,
    BackendError,
    BuildError,
    CapabilityError,
    CheckError,
    DeadlineError,
    DeviceError,
    DispatchError,
    ExecutionError,
    FrontError,
    LowerError,
    OptimizerError,
    OutOfMemoryError,
    ParseError,
    PlanError,
    RegexError,
    SanitizerError,
    TrapError,
    VyreError,
    WireError,
)
from vyre.diagnostics.render import render, render_all
from vyre.diagnostics.span import Location, Span

if TYPE_CHECKING:
    from vyre.diagnostics.warning import VyreWarning, warn

__all__ = [
    "ArgumentError",
    "BackendError",
    "BuildError",
    "CapabilityError",
    "CheckError",
    "Code",
    "DeadlineError",
    "DeviceError",
    "Diagnostic",
    "DispatchError",
    "ExecutionError",
    "FrontError",
    "Location",
    "LowerError",
    "OptimizerError",
    "OutOfMemoryError",
    "ParseError",
    "PlanError",
    "RegexError",
    "SanitizerError",
    "Severity",
    "Span",
    "TrapError",
    "VyreError",
    "VyreWarning",
    "WireError",
    "render",
    "render_all",
    "warn",
]


def __getattr__(name: str) -> Any:
    # Nearly every process has nothing to warn of.
    if name not in ("VyreWarning", "warn"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vyre.diagnostics import warning

    return getattr(warning, name)
