"""Rewrites of the body of one parallel region.

Unlike the passes they depend on the context of the region: on the values that are live across its
barriers, and on the versions of the region that are emitted.
"""
