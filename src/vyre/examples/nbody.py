"""Bodies that attract each other: every body looks at every other, step by step."""

from __future__ import annotations

import numpy as np

import vyre as vy

SOFTENING = 0.01


@vy.func
def pull(dx, dy, dz, mass):
    """How one body accelerates another, divided by their distance along an axis."""
    squared = dx * dx + dy * dy + dz * dz + SOFTENING
    return mass / (squared * vy.math.sqrt(squared))


@vy.kernel(workgroup=64)
def step(
    dt: vy.f32,
    mass: vy.In[vy.f32],
    place: vy.In[vy.f32, 2],
    velocity: vy.InOut[vy.f32, 2],
    moved: vy.Out[vy.f32, 2],
):
    """Rows are x, y and z, so that neighbours in memory are neighbours in the grid."""
    i = vy.gid()
    if i < len(mass):
        x, y, z = place[0, i], place[1, i], place[2, i]
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(len(mass)):
            dx, dy, dz = place[0, j] - x, place[1, j] - y, place[2, j] - z
            force = pull(dx, dy, dz, mass[j])
            ax += force * dx
            ay += force * dy
            az += force * dz
        velocity[0, i] += ax * dt
        velocity[1, i] += ay * dt
        velocity[2, i] += az * dt
        moved[0, i] = x + velocity[0, i] * dt
        moved[1, i] = y + velocity[1, i] * dt
        moved[2, i] = z + velocity[2, i] * dt


def bodies(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A disc that turns: masses, places and velocities."""
    rng = np.random.default_rng(0)
    angle, radius = rng.random(n) * 2 * np.pi, 0.2 + rng.random(n)
    place = np.stack([np.cos(angle) * radius, np.sin(angle) * radius, rng.normal(0, 0.02, n)])
    speed = np.stack([-np.sin(angle), np.cos(angle), np.zeros(n)]) / np.sqrt(radius)
    return np.full(n, 1 / n, np.float32), place.astype(np.float32), speed.astype(np.float32)


def simulate(device: str | None, n: int, steps: int) -> np.ndarray:
    """Where the bodies are after these steps; they stay on the device in between."""
    mass, place, velocity = (vy.array(part, device) for part in bodies(n))
    moved = vy.zeros(place.shape, np.float32, device)
    for _ in range(steps):
        step(0.01, mass, place, velocity, moved, elements=n)
        place, moved = moved, place
    return place.numpy()


def expected(
    mass: np.ndarray, place: np.ndarray, velocity: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities after these steps."""
    for _ in range(steps):
        apart = place[:, None, :] - place[:, :, None]
        squared = (apart * apart).sum(0) + np.float32(SOFTENING)
        pulls = mass / (squared * np.sqrt(squared))
        velocity = velocity + np.float32(0.01) * (apart * pulls).sum(2)
        place = place + np.float32(0.01) * velocity
    return place, velocity


def main(device: str | None = None, n: int = 500) -> None:
    steps = 5
    places, _ = expected(*bodies(n), steps)
    np.testing.assert_allclose(simulate(device, n, steps), places, atol=1e-4)
    print(f"n-body: {n} bodies, {steps} steps")


if __name__ == "__main__":
    main()
