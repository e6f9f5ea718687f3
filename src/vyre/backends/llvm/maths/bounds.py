"""How far results may be from the exact ones, in units in the last place; data for docs and tests.

The comments give the largest errors measured, f32 then f64, against longer arithmetic. Each is the
larger of two runs. With fused multiply-add: for the functions of one argument, 70 million bit
patterns in single precision and about a million points, in both precisions, of the intervals where
the function changes; for atan2 and pow, 1.5 million random pairs. Without it: the same points and
pairs, and a quarter of the bit patterns.
"""

from __future__ import annotations

from typing import Final

ULP_BOUNDS: Final[dict[str, tuple[float, float]]] = {
    # function: (f32, f64)
    "exp": (1.5, 1.5),  # 1.00, 0.97
    "exp2": (1.5, 1.5),  # 1.19, 1.14
    "expm1": (2.0, 2.5),  # 1.42, 1.88
    "log": (1.0, 1.0),  # 0.81, 0.80
    "log2": (1.0, 1.0),  # 0.50, 0.80
    "log10": (1.0, 1.0),  # 0.50, 0.68
    "log1p": (1.0, 1.0),  # 0.50, 0.81
    "sin": (2.0, 1.0),  # 1.57, 0.76
    "cos": (2.0, 1.0),  # 1.57, 0.75
    "tan": (1.0, 2.5),  # 0.50, 2.13
    "asin": (1.0, 2.5),  # 0.50, 2.11
    "acos": (1.0, 1.5),  # 0.50, 1.10
    "atan": (1.0, 2.0),  # 0.50, 1.77
    "atan2": (1.0, 3.0),  # 0.50, 2.28
    "sinh": (1.0, 3.0),  # 0.50, 2.24
    "cosh": (1.0, 2.0),  # 0.50, 1.39
    "tanh": (1.0, 3.0),  # 0.50, 2.50
    "pow": (1.0, 2.0),  # 0.50, 1.25
    "rsqrt": (2.0, 2.0),  # 1.49, 1.48
}

HALF_BOUND: Final = 1.0
"""For every function of half precision, which is computed in single and rounded."""
