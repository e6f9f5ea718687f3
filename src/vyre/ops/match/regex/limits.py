"""Caps on what a pattern may cost: patterns are untrusted. Each cap is an error, never a wait."""

from __future__ import annotations

MAX_PATTERN_BYTES = 1 << 16
MAX_NESTING = 100
"""Groups inside groups, and repeats of repeats."""
MAX_REPEAT = 10_000
"""Count of one repeat, as written."""
MAX_POSITIONS = 50_000
"""Byte sets once repeats are expanded."""
MAX_INSTRUCTIONS = 200_000
"""Instructions once repeats are expanded: positions, splits, saves and assertions."""
MAX_GROUPS = 1_000
MAX_FOLLOW_EDGES = 1_000_000
"""Edges of a position automaton; beyond it there is a program but no automaton."""
MAX_STATES = 4_000
"""States of a DFA; beyond it the piece is run as an NFA."""
MAX_WHOLE_STATES = 500
"""States of the DFA of a whole pattern, which its pieces mostly do without."""
