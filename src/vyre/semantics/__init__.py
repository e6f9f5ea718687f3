"""What an opcode means, exactly, on numpy arrays: one entry per invocation.

This is the only definition of the arithmetic; the reference executes it and constants are folded
with it. How values look as arrays is told in `representation`.
"""

from __future__ import annotations

from vyre.semantics.atomics import atomic, atomic_function, reduce_function, reduce_identity
from vyre.semantics.casts import bitcast_function, cast_function
from vyre.semantics.fold import (
    fold_binary,
    fold_bitcast,
    fold_cast,
    fold_fma,
    fold_select,
    fold_unary,
)
from vyre.semantics.packed import decode, decode_function, encode, encode_function
from vyre.semantics.representation import (
    Array,
    from_bits,
    literal,
    storage_dtype,
    to_bits,
    value_dtype,
)
from vyre.semantics.table import (
    binary,
    binary_function,
    bitcast,
    cast,
    fma,
    select,
    unary,
    unary_function,
)

__all__ = [
    "Array",
    "atomic",
    "atomic_function",
    "binary",
    "binary_function",
    "bitcast",
    "bitcast_function",
    "cast",
    "cast_function",
    "decode",
    "decode_function",
    "encode",
    "encode_function",
    "fma",
    "fold_binary",
    "fold_bitcast",
    "fold_cast",
    "fold_fma",
    "fold_select",
    "fold_unary",
    "from_bits",
    "literal",
    "reduce_function",
    "reduce_identity",
    "select",
    "storage_dtype",
    "to_bits",
    "unary",
    "unary_function",
    "value_dtype",
]
