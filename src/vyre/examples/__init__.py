"""Short kernels, each with a `main()` that runs and checks it: `python -m vyre.examples.saxpy`.

`vyre demo` runs them all on every device. They use the public interface only: `import vyre as vy`.
"""
