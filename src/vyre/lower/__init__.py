"""From any program to one that a GPU's shading language accepts, and from any grid to one it takes."""

from __future__ import annotations

from vyre.lower.bindings import Binding, bindings
from vyre.lower.fold_grid import FoldedGrid, fold_grid
from vyre.lower.legalise import legalise

__all__ = ["Binding", "FoldedGrid", "bindings", "fold_grid", "legalise"]
