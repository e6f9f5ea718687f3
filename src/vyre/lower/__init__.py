"""From any program to one that a shading language accepts, from any grid to one it launches."""

from __future__ import annotations

from vyre.lower.bindings import Binding, bindings
from vyre.lower.fold_grid import FoldedGrid, fold_grid
from vyre.lower.legalise import legalise

__all__ = ["Binding", "FoldedGrid", "bindings", "fold_grid", "legalise"]
