"""The reference: executes programs exactly as the specification says, with numpy over lanes."""

from __future__ import annotations

from vyre.backends.reference.backend import backend
from vyre.backends.reference.execute import ReferenceResult, RunOptions, execute
from vyre.backends.reference.machine import Printed

__all__ = ["Printed", "ReferenceResult", "RunOptions", "backend", "execute"]
