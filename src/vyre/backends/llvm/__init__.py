"""The CPU backend: programs become vectorised machine code through LLVM."""

from __future__ import annotations

from vyre.backends.llvm.backend import CpuBackend, backend

__all__ = ["CpuBackend", "backend"]
