"""Decisions about one region: vector width, unrolling, prefetching, alignment.

`select_tile` chooses how many lanes run together, from the figures of `analysis.cost_model`.
"""
