"""A program as LLVM IR text: values over lanes, control flow with masks, barriers, memory.

`module` makes a whole kernel, `kernel` is what all of its code shares, `value` and `writer` are
what it is written with. Then, from the outside in:

- `groups`: whole workgroups: barriers, what their lanes share, loops around the lanes;
- `rows`: how vectors go along x, and what is asked once for a whole row;
- `statements`, `expressions`, `memory`: what a set of lanes does;
- `indices`: what is known of indices, so that tests of bounds go away;
- `choosing`: how many lanes run together, and along which axis.
"""
