"""The benchmark kernels, in the order they are reported."""

from benchmarks.kernel import Kernel
from benchmarks.kernels import (
    base64_decode,
    bfs,
    decode_scan,
    dfa,
    elementary,
    histogram,
    launch,
    mandelbrot,
    matmul,
    nbody,
    prefix_sum,
    radix_sort,
    reduction,
    sha256,
    stencil,
    triad,
)

KERNELS: tuple[Kernel, ...] = (
    *triad.KERNELS,
    *reduction.KERNELS,
    *prefix_sum.KERNELS,
    *stencil.KERNELS,
    *histogram.KERNELS,
    *mandelbrot.KERNELS,
    *nbody.KERNELS,
    *elementary.KERNELS,
    *matmul.KERNELS,
    *dfa.KERNELS,
    *base64_decode.KERNELS,
    *decode_scan.KERNELS,
    *bfs.KERNELS,
    *sha256.KERNELS,
    *radix_sort.KERNELS,
)


def kernel_named(name: str) -> Kernel:
    """The kernel of that name; KeyError for a stranger."""
    return {kernel.name: kernel for kernel in (*KERNELS, launch.LAUNCH)}[name]


def kernels_named(names: list[str]) -> tuple[Kernel, ...]:
    """The kernels whose name is one of `names` or begins with one of them and an underscore.

    KeyError names the first that matches nothing, so that a typing mistake measures nothing.
    """

    def matches(kernel: Kernel, name: str) -> bool:
        return kernel.name == name or kernel.name.startswith(f"{name}_")

    for name in names:
        if not any(matches(kernel, name) for kernel in KERNELS):
            raise KeyError(name)
    return tuple(k for k in KERNELS if any(matches(k, name) for name in names))
