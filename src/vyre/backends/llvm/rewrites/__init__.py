"""Rewrites of the body of one parallel region, which cannot be passes.

A pass gives back a program, for which a row of lanes and a vector width do not exist yet:

- `simplify_indices` and `partition_rows` hold for the lanes of a row between bounds that are
  computed when the row begins; outside of them, and where the tests of the row fail, the original
  body runs. A program has no expression for "all lanes of this row".
- `rebase_loops` is legal where a sum does not wrap for any lane of a row: one test per row, over
  the row's exact range of ids. The same test per lane would diverge, and gain nothing.
- `unroll_struct_loops` is kept for a region only where its strides equal the speculated ones; the
  version for all other strides has the loops. Which strides are speculated follows from the
  unrolled and simplified body.
- `narrow_integers` pays from a number of lanes on, so it follows the choice of the vector width.

`full_unrolling` is used here and by the pass `specialise_trip_counts`.
"""
