"""Expressions over a set of lanes: operations, conversions, functions."""
