"""Statements over a set of lanes: branches and masks, loops in all their forms, messages."""
