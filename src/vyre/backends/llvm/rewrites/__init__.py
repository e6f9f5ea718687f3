"""Rewrites of the body of one region, made for the lanes that run it.

Unlike the passes they depend on what surrounds the region: on values that are live across its
barriers, and on the versions of the region that are emitted.
"""
