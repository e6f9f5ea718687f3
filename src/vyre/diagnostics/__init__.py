"""Problems as values, the exception tree, and how both are shown."""

from __future__ import annotations

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
    SanitizerError,
    TrapError,
    VyreError,
    WireError,
)
from vyre.diagnostics.render import render, render_all
from vyre.diagnostics.span import Location, Span

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
    "SanitizerError",
    "Severity",
    "Span",
    "TrapError",
    "VyreError",
    "WireError",
    "render",
    "render_all",
]
