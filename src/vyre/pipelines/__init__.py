"""Pipelines: several kernels as one call, with as few launches as are legal."""
