"""Physics: lattices, waves, particles with neighbours, spins, cloth, implicit heat."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, floats, zeros

DIRECTIONS = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
WEIGHTS = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
NEIGHBOURS = 32


@vy.kernel(workgroup=(32, 8))
def lbm_d2q9(omega: vy.f32, before: vy.In[vy.f32, 3], after: vy.Out[vy.f32, 3]):
    """Stream from the neighbours of a torus, then collide."""
    y, x = vy.gid(1), vy.gid(0)
    h, w = before.shape[1], before.shape[2]
    f = vy.local(vy.f32, 9)
    if y < h and x < w:
        density, across, down = 0.0, 0.0, 0.0
        for k, (dx, dy) in enumerate(DIRECTIONS):
            f[k] = before[k, (y - dy) % h, (x - dx) % w]
            density += f[k]
            across += vy.f32(dx) * f[k]
            down += vy.f32(dy) * f[k]
        across /= density
        down /= density
        squared = 1.5 * (across * across + down * down)
        for k, (dx, dy) in enumerate(DIRECTIONS):
            along = 3.0 * (vy.f32(dx) * across + vy.f32(dy) * down)
            balance = WEIGHTS[k] * density * (1.0 + along + 0.5 * along * along - squared)
            after[k, y, x] = f[k] + omega * (balance - f[k])


def lbm_d2q9_data(n: int) -> Arguments:
    before = floats(9, n, n + 3, low=0.5, high=1.5)
    return {"omega": 1.2, "before": before, "after": zeros(*before.shape)}


@vy.kernel(workgroup=(64, 4))
def wave_step(
    c2: vy.f32, last: vy.In[vy.f32, 2], now: vy.In[vy.f32, 2], following: vy.Out[vy.f32, 2]
):
    y, x = vy.gid(1), vy.gid(0)
    if y < now.shape[0] and x < now.shape[1]:
        around = now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1]
        following[y, x] = 2.0 * now[y, x] - last[y, x] + c2 * (around - 4.0 * now[y, x])


def wave_2d(steps: int, a: Array, b: Array, c: Array) -> None:
    for _ in range(steps):
        wave_step(0.2, a, b, c)
        wave_step(0.2, b, c, a)
        wave_step(0.2, c, a, b)


def wave_2d_data(n: int) -> Arguments:
    a = floats(n, n + 3)
    return {"steps": 1, "a": a, "b": a.copy(), "c": zeros(*a.shape)}


@vy.kernel
def sph_density(
    radius: vy.f32,
    first: vy.In[vy.u32],
    place: vy.In[vy.f32, 2],
    cell: vy.In[vy.i32, 2],
    side: vy.i32,
    density: vy.Out[vy.f32],
):
    """Particles sorted by cells; cell c holds first[c] to first[c + 1] - 1."""
    i = vy.gid()
    if i < len(density):
        x, y = place[0, i], place[1, i]
        total = 0.0
        for cy in range(max(cell[1, i] - 1, 0), min(cell[1, i] + 2, side)):
            for cx in range(max(cell[0, i] - 1, 0), min(cell[0, i] + 2, side)):
                c = cy * side + cx
                for j in range(first[c], first[c + 1]):
                    dx, dy = place[0, j] - x, place[1, j] - y
                    left = radius * radius - dx * dx - dy * dy
                    if left > 0.0:
                        total += left * left * left
        density[i] = total


def sph_density_data(n: int) -> Arguments:
    side = max(int((n / 6) ** 0.5), 2)
    place = floats(2, n, high=float(side) - 0.001)
    cell = place.astype(np.int32)
    order = np.argsort(cell[1] * side + cell[0], kind="stable")
    place, cell = np.ascontiguousarray(place[:, order]), np.ascontiguousarray(cell[:, order])
    first = np.searchsorted(cell[1] * side + cell[0], np.arange(side * side + 1))
    return {
        "radius": 1.0,
        "first": first.astype(np.uint32),
        "place": place,
        "cell": cell,
        "side": side,
        "density": zeros(n),
    }


@vy.kernel
def lennard_jones(near: vy.In[vy.u32, 2], place: vy.In[vy.f32, 2], force: vy.Out[vy.f32, 2]):
    """Rows of x, y, z; row i of `near` lists the neighbours of particle i."""
    i = vy.gid()
    if i < place.shape[1]:
        x, y, z = place[0, i], place[1, i], place[2, i]
        fx, fy, fz = 0.0, 0.0, 0.0
        for k in range(near.shape[1]):
            j = near[i, k]
            dx, dy, dz = x - place[0, j], y - place[1, j], z - place[2, j]
            squared = dx * dx + dy * dy + dz * dz
            if squared < 6.25:
                inverse = 1.0 / squared
                sixth = inverse * inverse * inverse
                strength = 48.0 * inverse * sixth * (sixth - 0.5)
                fx += strength * dx
                fy += strength * dy
                fz += strength * dz
        force[0, i] = fx
        force[1, i] = fy
        force[2, i] = fz


def lennard_jones_data(n: int) -> Arguments:
    grid = np.stack(np.unravel_index(np.arange(n), (10, 10, n // 100 + 1))).astype(np.float32)
    place = (grid * 1.2 + floats(3, n, high=0.2)).astype(np.float32)
    apart = random().integers(1, min(300, n - 1), (n, NEIGHBOURS))
    near = ((np.arange(n)[:, None] + apart) % n).astype(np.uint32)
    return {"near": near, "place": place, "force": zeros(3, n)}


@vy.kernel(workgroup=(32, 8))
def ising(colour: vy.u32, chance: vy.In[vy.f32], luck: vy.In[vy.f32, 2], spin: vy.InOut[vy.i8, 2]):
    """Half a sweep over the squares of one colour; `chance` is by the neighbours that agree."""
    y, x = vy.gid(1), vy.gid(0)
    h, w = spin.shape[0], spin.shape[1]
    if y < h and x < w and (x + y) % 2 == colour:
        around = spin[(y - 1) % h, x] + spin[(y + 1) % h, x]
        around += spin[y, (x - 1) % w] + spin[y, (x + 1) % w]
        agree = (vy.i32(around * spin[y, x]) + 4) // 2
        if luck[y, x] < chance[agree]:
            spin[y, x] = -spin[y, x]


def ising_sweep(chance: Array, luck: Array, spin: Array) -> None:
    ising(0, chance, luck, spin)
    ising(1, chance, luck, spin)


def ising_data(n: int) -> Arguments:
    n += n % 2
    spin = (2 * random().integers(0, 2, (n, n + 4)) - 1).astype(np.int8)
    chance = np.exp(np.minimum(0.0, -0.8 * (np.arange(5) * 2 - 4))).astype(np.float32)
    return {"chance": chance, "luck": floats(*spin.shape, seed=2), "spin": spin}


@vy.kernel(workgroup=(32, 8))
def cloth(dt: vy.f32, place: vy.In[vy.f32, 3], last: vy.In[vy.f32, 3], moved: vy.Out[vy.f32, 3]):
    """Verlet step of a net of springs to four neighbours; planes of x, y and z."""
    r, c = vy.gid(1), vy.gid(0)
    if r < place.shape[1] and c < place.shape[2]:
        x, y, z = place[0, r, c], place[1, r, c], place[2, r, c]
        fx, fy, fz = 0.0, -9.81, 0.0
        for dr, dc in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= r + dr < place.shape[1] and 0 <= c + dc < place.shape[2]:
                dx = place[0, r + dr, c + dc] - x
                dy = place[1, r + dr, c + dc] - y
                dz = place[2, r + dr, c + dc] - z
                length = vy.math.sqrt(dx * dx + dy * dy + dz * dz)
                pull = 40.0 * (length - 1.0) / length
                fx += pull * dx
                fy += pull * dy
                fz += pull * dz
        moved[0, r, c] = 2.0 * x - last[0, r, c] + fx * dt * dt
        moved[1, r, c] = 2.0 * y - last[1, r, c] + fy * dt * dt
        moved[2, r, c] = 2.0 * z - last[2, r, c] + fz * dt * dt


def cloth_data(n: int) -> Arguments:
    rows, columns = np.mgrid[0:n, 0 : n + 3].astype(np.float32)
    flat = np.stack([columns, np.zeros_like(rows), rows])
    place = (flat + floats(*flat.shape, high=0.3)).astype(np.float32)
    return {"dt": 0.01, "place": place, "last": flat, "moved": zeros(*flat.shape)}


@vy.kernel
def implicit_heat(
    r: vy.f32, before: vy.In[vy.f32, 2], work: vy.Out[vy.f32, 2], after: vy.Out[vy.f32, 2]
):
    """A tridiagonal system for each column (Thomas), downwards and back up."""
    j = vy.gid()
    n = before.shape[0]
    if j < before.shape[1]:
        diagonal = 1.0 + 2.0 * r
        work[0, j] = -r / diagonal
        after[0, j] = before[0, j] / diagonal
        for i in range(1, n):
            pivot = diagonal + r * work[i - 1, j]
            work[i, j] = -r / pivot
            after[i, j] = (before[i, j] + r * after[i - 1, j]) / pivot
        for i in range(n - 2, -1, -1):
            after[i, j] -= work[i, j] * after[i + 1, j]


def implicit_heat_data(n: int) -> Arguments:
    before = floats(n, n + 3)
    return {"r": 0.4, "before": before, "work": zeros(*before.shape), "after": zeros(*before.shape)}


CASES = (
    Case("lbm_d2q9", "physics", [lbm_d2q9], lbm_d2q9_data, 300, 13, ["after"], ["before"]),
    Case("wave_2d", "physics", [wave_step], wave_2d_data, 700, 21, ["a", "b", "c"], ["a"], wave_2d),
    Case(
        "sph_density",
        "physics",
        [sph_density],
        sph_density_data,
        20_001,
        131,
        ["density"],
        ["density"],
    ),
    Case(
        "lennard_jones",
        "physics",
        [lennard_jones],
        lennard_jones_data,
        20_001,
        331,
        ["force"],
        ["near"],
    ),
    Case("ising", "physics", [ising], ising_data, 1000, 21, ["spin"], ["spin"], ising_sweep),
    Case("cloth", "physics", [cloth], cloth_data, 400, 13, ["moved"], ["place"]),
    Case(
        "implicit_heat",
        "physics",
        [implicit_heat],
        implicit_heat_data,
        700,
        19,
        ["work", "after"],
        ["before"],
    ),
)
