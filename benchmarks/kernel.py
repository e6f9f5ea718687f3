"""What a benchmark kernel is: data, a definition to check against, and one function per peer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = dict[str, Array]
Scale = Literal["full", "quick", "tiny"]

Compare = Callable[[Array, Array], str | None]
"""Expected and actual array in, the complaint out; None when they agree."""


def nothing() -> None:
    """The preparation of a run that needs none."""


@dataclass(frozen=True)
class Run:
    """A peer's implementation bound to its data: `launch` is timed, `prepare` before it is not.

    `outputs` are the host arrays that hold the result once `launch` has returned.
    """

    launch: Callable[[], object]
    outputs: Arrays
    prepare: Callable[[], object] = nothing


Implementation = Callable[[Any, Arrays], Run]
"""The peer's tool (its module, or a small driver around it) and the data in, a run out."""


@dataclass(frozen=True)
class Kernel:
    """One problem, solved by every peer on the same data.

    `sizes` gives the problem size per scale, `work` the bytes or operations of one run of size n.
    `bound` is the most that vyre's time may be relative to C; None where no promise is made.
    """

    name: str
    title: str
    sizes: Mapping[Scale, int]
    data: Callable[[int], Arrays]
    define: Callable[[Arrays], Arrays]
    compare: Compare
    peers: Mapping[str, Implementation]
    work: Callable[[int], float]
    unit: Literal["B/s", "op/s"]
    bound: float | None = None
    notes: Mapping[str, str] = field(default_factory=dict[str, str])

    def check(self, expected: Arrays, actual: Arrays) -> str | None:
        """The first disagreement between a peer's outputs and the definition's, or None."""
        for name, want in expected.items():
            got = actual.get(name)
            if got is None:
                return f"{name} is missing"
            if got.shape != want.shape or got.dtype != want.dtype:
                return f"{name} is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
            complaint = self.compare(want, got)
            if complaint is not None:
                return f"{name}: {complaint}"
        return None


def random(seed: int = 1) -> np.random.Generator:
    """The generator all data comes from, so that every run measures the same problem."""
    return np.random.Generator(np.random.PCG64(seed))
