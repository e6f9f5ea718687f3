"""Wrong advice of typical kinds, each planted by itself.

A plant changes what a fix says, and the repairs of its case with it, as a person would who writes
a wrong fix and follows it. What is planted is a piece of code in place of the right one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from tests.fixes.cases import Case, all_cases, said_of
from tests.fixes.repairs import Repair, all_repairs
from vyre.diagnostics import Diagnostic
from vyre.diagnostics.codes import Code


@dataclass(frozen=True)
class Plant:
    """A wrong piece of code in the fix of a case, and the right one that it replaces."""

    name: str
    key: str
    right: str
    wrong: str

    @contextmanager
    def planted(self) -> Iterator[tuple[Case, list[Repair]]]:
        """The case and its repairs, as long as the wrong fix is given and followed."""
        given = Code.at

        def at(row: Code, *places: Any, **values: object) -> Diagnostic:
            found = given(row, *places, **values)
            return replace(found, fix=found.fix.replace(self.right, self.wrong))

        repairs = [self._followed(repair) for repair in all_repairs()[self.key]]
        said_of.cache_clear()
        with patch.object(Code, "at", at):
            yield all_cases()[self.key], repairs
        said_of.cache_clear()

    def _followed(self, repair: Repair) -> Repair:
        source = repair.source.replace(self.right, self.wrong)
        return replace(repair, source=source, proof=repair.proof.replace(self.right, self.wrong))


PLANTS = (
    Plant("a function that does not exist", "the distance of numpy", "math.sqrt(", "math.root("),
    Plant("a function of numpy that kernels lack", "math", "vy.math.arctan2", "vy.math.atan2"),
    Plant("another function than meant", "where in vy", "vy.select(", "vy.math.clip("),
    Plant("a sign lost by a conversion", "a float index", "vy.i32(x[0]", "vy.u32(x[0]"),
    Plant("a sign lost by counting", "a sign from truth values", "vy.i32(", "vy.u32("),
    Plant("precision lost by a conversion", "division of wide whole numbers", "vy.f64", "vy.f32"),
    Plant("digits lost by rounding", "round() to two digits", "100.0", "10.0"),
    Plant("a keyword that does not exist", "a grid of unknown size", "grid=(", "groups=("),
    Plant(
        "a copy that takes what is written",
        "a matrix for a vector",
        "x.reshape(-1)",
        "x.ravel('F')",
    ),
    Plant(
        "the length of another axis", "a negative index of the second axis", "x.shape[1]", "len(x)"
    ),
    Plant("an id of another kind", "local ids along two axes", "vy.lid(", "vy.gid("),
    Plant("a type that kernels lack", "F004", "vy.In[vy.f32]", "vy.In[float]"),
    Plant("a command that does not exist", "B001", "vyre cache clear", "vyre cache empty"),
    Plant("a word that program text lacks", "V010", "read_write", "read_and_write"),
)
