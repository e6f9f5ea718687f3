"""The idioms that passes wait for, each with variations that a pass must refuse.

Every function writes one fragment. What it computes ends up in a buffer of its own, so that a
wrong value is seen. A variation may leave the bounds of a buffer, alias an element, change a
variable in between or stand under a condition; some are races, which the
sanitizer must find before they are run.
"""

from __future__ import annotations

from vyre.conform.generate.idiom_insertion import Idiom
from vyre.conform.generate.idioms.byte_words import byte_words
from vyre.conform.generate.idioms.flow import branches, loops
from vyre.conform.generate.idioms.memory import counters, small_arrays, stored_and_loaded, tables
from vyre.conform.generate.idioms.stages import chains, handoffs, regions, syncs

IDIOMS: dict[str, tuple[Idiom, tuple[str, ...]]] = {
    "stored and loaded": (
        stored_and_loaded,
        ("forward_stores", "redundant_loads", "dead_stores", "dead_buffers"),
    ),
    "small arrays": (small_arrays, ("dissolve_arrays", "unroll", "propagate")),
    "branches": (branches, ("if_convert", "fold_branches", "propagate", "dce")),
    "loops": (loops, ("unroll", "trip_zero", "hoist_invariants")),
    "counters": (counters, ("aggregate_atomics", "downgrade_barriers")),
    "bytes": (byte_words, ("pack_bytes",)),
    "tables": (tables, ("promote_to_workgroup",)),
    "syncs": (syncs, ("downgrade_barriers", "coalesce_barriers")),
    "chains": (chains, ("fuse_elementwise", "coalesce_barriers")),
    "handoffs": (handoffs, ("decode_scan_fuse",)),
    "regions": (regions, ("merge_regions", "inline_regions")),
}
"""By name: what writes the idiom, and the passes that wait for it."""
