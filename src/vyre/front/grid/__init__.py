"""The default grid of a kernel: how many invocations its effects need along each axis.

Effects are stores and atomics to parameters. What bounds the ids of the invocations that get to an
effect, guards, loops, early returns and the ends of the arrays themselves, is found in the
translated kernel (`effects`), kept as plain data (`plan`), and computed by the host at each call.
"""
