"""What a case of the survey is: kernels as a user writes them, the same in C, and data for both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernel import Array, random
from benchmarks.peers.c import FLAGS, Argument, Compiler

SOURCES = Path(__file__).resolve().parent

SURVEY_FLAGS = (*FLAGS, "-ffp-contract=off")
"""vyre rounds a product before it is added, so C does, too: results agree bit for bit."""

Arguments = dict[str, Any]
"""The arguments of a call by name, in order: numpy arrays, and Python numbers."""


@dataclass(frozen=True)
class Case:
    """One problem, solved by vyre's kernels and by the C function `name` of <kind>.c.

    Both take the arguments that `data` makes for a size, in that order; C is given the shapes of
    the arrays in `lengths` after them, because its pointers have none. `kernels` is what is
    launched: the first one once, with the arguments as they are, unless `launch` says how.
    """

    name: str
    kind: str
    kernels: Sequence[Any]
    data: Callable[[int], Arguments]
    full: int
    tiny: int
    outputs: Sequence[str]
    lengths: Sequence[str]
    launch: Callable[..., object] | None = None
    tolerance: float = 0.0
    """The largest error relative to the largest magnitude; 0 means bit for bit."""
    libm: bool = False
    """Whether C spends most of its time in libm, which says little about generated code."""

    def run_vyre(self, arguments: Arguments) -> None:
        """One launch, or the launches of one solution."""
        (self.launch or self.kernels[0])(**arguments)

    def bind_c(self, compiler: Compiler, arguments: Arguments) -> Callable[[], int]:
        """A thunk that calls the C function on these arguments."""
        shapes = [length for name in self.lengths for length in arguments[name].shape]
        given: list[Argument] = [*arguments.values(), *shapes]
        return compiler.function(self.kind, self.name)(*given)

    def complaint(self, want: Arguments, got: Arguments) -> str | None:
        """The first disagreement between two sets of outputs, or None."""
        for name in self.outputs:
            said = difference(want[name], got[name], self.tolerance)
            if said is not None:
                return f"{name}: {said}"
        return None


def difference(want: Array, got: Array, tolerance: float) -> str | None:
    """What is different; a tolerance of 0 compares bit for bit."""
    if tolerance == 0.0:
        wrong = want.reshape(-1).view(np.uint8) != got.reshape(-1).view(np.uint8)
        count = int(np.count_nonzero(wrong.reshape(want.size, -1).any(axis=1)))
        return f"{count} of {want.size} elements differ" if count else None
    if not (np.isfinite(want).all() and np.isfinite(got).all()):
        return "not all elements are finite"
    error = float(np.max(np.abs(want.astype(np.float64) - got.astype(np.float64))))
    limit = tolerance * float(np.max(np.abs(want)))
    return None if error <= limit else f"error {error:.3g} exceeds {limit:.3g}"


def survey_compiler() -> Compiler:
    """gcc on the C files of this folder, with the survey's flags."""
    return Compiler(SOURCES, SURVEY_FLAGS)


def private_copy(arguments: Arguments) -> Arguments:
    """The same arguments in arrays of their own."""
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}


def floats(*shape: int, seed: int = 1, low: float = 0.0, high: float = 1.0) -> Array:
    """Evenly distributed f32."""
    values = random(seed).random(shape, dtype=np.float32)
    return (values * np.float32(high - low) + np.float32(low)).astype(np.float32)


def integers(
    dtype: type[np.integer[Any]], low: int, high: int, *shape: int, seed: int = 1
) -> Array:
    """Evenly distributed integers from `low` to below `high`."""
    return random(seed).integers(low, high, shape, dtype=dtype)


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    """An output."""
    return np.zeros(shape, dtype)
