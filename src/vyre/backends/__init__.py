"""Ways to run programs, each a folder that knows nothing of the others."""
