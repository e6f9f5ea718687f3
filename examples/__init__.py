"""Short kernels, each with a `main()` that runs it and checks it: `python -m examples.saxpy`."""
