"""The default grid of a kernel: how many invocations its effects need along each axis.

Effects are stores and atomics to parameters. An abstract interpretation of the program (`effects`,
over `abstract_values`, symbolic `integers` and `polynomials` in ids, counters and extents) finds
the guards, loop bounds and array ends that bound the ids of the invocations that reach an effect
(`bounds`). The result is plain data (`plan`), cached with the translation of the kernel; the host
evaluates it for the extents of each call.
"""
