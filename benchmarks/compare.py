"""How a peer's result is compared with the definition before anything is timed."""

import numpy as np

from benchmarks.kernel import Array, Compare


def exact(want: Array, got: Array) -> str | None:
    """Every element equal: the rule for integers."""
    wrong = int(np.count_nonzero(want != got))
    return f"{wrong} of {want.size} elements differ" if wrong else None


def close(relative: float) -> Compare:
    """Errors at most `relative` times the largest expected magnitude.

    Sums taken in another order, or contracted to fused multiply-adds, differ in their last bits;
    an element that happens to cancel to nearly zero must not fail for that.
    """

    def compare(want: Array, got: Array) -> str | None:
        error = float(np.max(np.abs(want.astype(np.float64) - got.astype(np.float64))))
        limit = relative * float(np.max(np.abs(want)))
        return None if error <= limit else f"error {error:.3g} exceeds {limit:.3g}"

    return compare


def within_ulps(bound: float) -> Compare:
    """Errors at most `bound` units in the last place of the expected value's own precision.

    The expected array has the precision of the result, so the bound includes its half ULP.
    """

    def compare(want: Array, got: Array) -> str | None:
        # Taken in double precision: a peer may have set its process to flush small singles to zero.
        exponents = np.frexp(want.astype(np.float64))[1]
        ulp = np.ldexp(1.0, exponents - np.finfo(want.dtype).nmant - 1)
        error = np.abs(want.astype(np.float64) - got.astype(np.float64)) / ulp
        worst = float(np.max(error))
        return None if worst <= bound else f"worst error {worst:.3g} ULP exceeds {bound:g}"

    return compare


def mostly(share: float) -> Compare:
    """At most `share` of the elements differ: for iteration counts of chaotic orbits, where one
    fused multiply-add in a peer moves single pixels on the boundary.
    """

    def compare(want: Array, got: Array) -> str | None:
        wrong = np.count_nonzero(want != got) / want.size
        return None if wrong <= share else f"{wrong:.2%} of the elements differ"

    return compare
