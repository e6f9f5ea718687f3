"""Measurements of vyre against what one would use instead; run with `python -m benchmarks`."""
