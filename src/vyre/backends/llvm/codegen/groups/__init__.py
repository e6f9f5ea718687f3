"""Whole workgroups: barriers, what their lanes share, loops around the lanes."""
