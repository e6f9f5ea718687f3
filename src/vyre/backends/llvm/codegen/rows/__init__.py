"""Rows of lanes: how vectors go along x, and what is asked once for a whole row."""
