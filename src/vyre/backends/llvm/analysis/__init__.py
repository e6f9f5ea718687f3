"""Analyses of programs and regions for the CPU backend.

They compute the facts by which the backend decides; none of them emits the region itself.

- uniform values: `divergence`, `workgroup_uniform`
- affine indices and recurrences: `affine_forms`, `add_recurrences`, `delinearise`
- legality of inner-loop vectorisation: `loop_vectorization`
- parallel regions between barriers: `parallel_regions`, `live_across_barriers`
- costs: `cost_model`
"""
