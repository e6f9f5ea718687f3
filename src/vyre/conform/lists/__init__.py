"""Random lists of real kernels: fused, they give what they give one after the other."""

from __future__ import annotations

from vyre.conform.lists.case import ListCase, list_case
from vyre.conform.lists.run import fused, one_after_the_other

__all__ = ["ListCase", "fused", "list_case", "one_after_the_other"]
