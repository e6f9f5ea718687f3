"""LLVM IR as text: values over lanes, control flow with masks, barriers, memory.

`module` emits a whole kernel, `context` is what all of its code shares, `values` and `builder` are
what it is written with. Then, from the outside in: `workgroup` and its parallel regions, `region`
and the rows of lanes in it, `statements`, `expressions`, `memory`.
"""
