"""Facts about programs and regions that the CPU backend decides by: nothing is emitted here.

What lanes share (`divergence`, `workgroup_uniform`), how indices move (`affine_forms`,
`add_recurrences`, `delinearise`), what loops may become vectors (`loop_vectorization`), where a
workgroup is cut at barriers (`parallel_regions`, `live_across_barriers`), and what it all costs
(`cost_model`).
"""
