"""Emission of LLVM IR text: lane values, masked control flow, barriers, memory.

`module` emits a whole kernel, `context` is its code-generation context, `values` and `builder` are
the operands and the IR builder. Then, from the outside in: `workgroup` and its parallel regions,
`region` and the rows of lanes in it, `statements`, `expressions`, `memory`.
"""
