"""Accelerations of n gravitating bodies, all pairs: bound by arithmetic and square roots."""
# pyright: standard, reportInvalidTypeForm=false

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.compare import close
from benchmarks.kernel import Array, Arrays, Implementation, Kernel, Run, random
from benchmarks.programs import groups, program_of

if TYPE_CHECKING:
    from vyre.ir import Program

SOFTENING = np.float32(1e-2)
INPUTS = ("px", "py", "pz", "mass")
OUTPUTS = ("ax", "ay", "az")


def data(n: int) -> Arrays:
    source = random()
    return {name: source.random(n, dtype=np.float32) for name in INPUTS}


def define(data: Arrays) -> Arrays:
    wide = {name: array.astype(np.float64) for name, array in data.items()}
    return {name: a.astype(np.float32) for name, a in accelerations(wide, 256).items()}


def accelerations(bodies: Arrays, block: int) -> Arrays:
    """All pairs in blocks of rows, in the precision of the input."""
    mass = bodies["mass"]
    places = [bodies[name] for name in INPUTS[:3]]
    out = [np.zeros_like(mass) for _ in OUTPUTS]
    for start in range(0, mass.size, block):
        rows = slice(start, start + block)
        dx, dy, dz = (p[None, :] - p[rows, None] for p in places)
        r = 1 / np.sqrt(dx * dx + dy * dy + dz * dz + mass.dtype.type(SOFTENING))
        w = mass * r * r * r
        for target, d in zip(out, (dx, dy, dz), strict=True):
            target[rows] = (w * d).sum(axis=1)
    return dict(zip(OUTPUTS, out, strict=True))


def results(data: Arrays) -> Arrays:
    return {name: np.zeros_like(data["mass"]) for name in OUTPUTS}


def c(gcc: Any, data: Arrays) -> Run:
    out = results(data)
    bodies = [data[name] for name in INPUTS]
    nbody = gcc.function("nbody", "nbody")
    return Run(nbody(*bodies, *out.values(), SOFTENING, data["mass"].size), out)


def vyre(launcher: Any, data: Arrays) -> Run:
    return vyre_run(launcher, data, program_of("nbody"))


def vyre_fast_math(launcher: Any, data: Arrays) -> Run:
    return vyre_run(launcher, data, program_of("nbody").with_fast_math())


def vyre_run(launcher: Any, data: Arrays, program: "Program") -> Run:
    out = results(data)
    grid = (groups(data["mass"].size, 64),)
    return Run(launcher.bind(program, {**data, **out}, grid), out)


def numpy(np_: Any, data: Arrays) -> Run:
    out = results(data)

    def launch() -> None:
        for name, array in accelerations(data, 64).items():
            np_.copyto(out[name], array)

    return Run(launch, out)


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def nbody(
        px: Array, py: Array, pz: Array, mass: Array, ax: Array, ay: Array, az: Array, soft: Any
    ) -> None:
        one = np.float32(1)
        for i in nb.prange(px.size):
            fx = np.float32(0)
            fy = np.float32(0)
            fz = np.float32(0)
            for j in range(px.size):
                dx = px[j] - px[i]
                dy = py[j] - py[i]
                dz = pz[j] - pz[i]
                r = one / np.sqrt(dx * dx + dy * dy + dz * dz + soft)
                w = mass[j] * r * r * r
                fx += w * dx
                fy += w * dy
                fz += w * dz
            ax[i] = fx
            ay[i] = fy
            az[i] = fz

    out = results(data)
    arrays = [*(data[name] for name in INPUTS), *out.values()]
    return Run(lambda: nbody(*arrays, SOFTENING), out)


def taichi(ti: Any, data: Arrays) -> Run:
    floats = ti.types.ndarray(dtype=ti.f32, ndim=1)

    @ti.kernel
    def nbody(
        px: floats,
        py: floats,
        pz: floats,
        mass: floats,
        ax: floats,
        ay: floats,
        az: floats,
        soft: ti.f32,
    ):
        for i in range(px.shape[0]):
            fx, fy, fz = 0.0, 0.0, 0.0
            for j in range(px.shape[0]):
                dx = px[j] - px[i]
                dy = py[j] - py[i]
                dz = pz[j] - pz[i]
                r = 1.0 / ti.sqrt(dx * dx + dy * dy + dz * dz + soft)
                w = mass[j] * r * r * r
                fx += w * dx
                fy += w * dy
                fz += w * dz
            ax[i] = fx
            ay[i] = fy
            az[i] = fz

    out = results(data)
    arrays = [*(data[name] for name in INPUTS), *out.values()]
    return Run(lambda: nbody(*arrays, SOFTENING), out)


def pyopencl(device: Any, data: Arrays) -> Run:
    out = results(data)
    n = data["mass"].size
    bodies = [device.buffer(data[name]) for name in INPUTS]
    targets = [device.buffer(array) for array in out.values()]
    kernel = device.kernel("nbody", "nbody", (n,), None)
    nbody = kernel(*bodies, *targets, SOFTENING, np.uint32(n))

    def launch() -> None:
        nbody()
        device.read(*zip(targets, out.values(), strict=True))

    return Run(launch, out)


def kernel(name: str, title: str, bound: float, peers: dict[str, Implementation]) -> Kernel:
    return Kernel(
        name=name,
        title=title,
        sizes={"full": 8192, "quick": 2048, "tiny": 128},
        data=data,
        define=define,
        compare=close(1e-4),
        peers=peers,
        work=lambda n: 20.0 * n * n,
        unit="op/s",
        bound=bound,
    )


KERNELS = (
    kernel(
        "nbody",
        "n-body accelerations, f32",
        1.3,
        {
            "c": c,
            "vyre": vyre,
            "numpy": numpy,
            "numba": numba,
            "taichi": taichi,
            "pyopencl": pyopencl,
        },
    ),
    kernel(
        "nbody_fast_math", "n-body, vyre under fast-math", 1.05, {"c": c, "vyre": vyre_fast_math}
    ),
)
