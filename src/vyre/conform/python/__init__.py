"""Kernels are Python functions: CPython says what they mean, and a device must agree."""
