"""Diagnostics about the grid of a kernel, in terms of its Python source.

The analysis itself is of the translated program: `vyre.analysis.default_grid`.
"""
