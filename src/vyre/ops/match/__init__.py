"""Matching: sets of literals and of regular expressions in bytes."""
