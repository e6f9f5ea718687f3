"""Loads, stores and atomics by access pattern: contiguous, interleaved, gathered, looked up."""
