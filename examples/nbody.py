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
    dt: vy.f32, body: vy.In[vy.f32, 2], velocity: vy.InOut[vy.f32, 2], moved: vy.Out[vy.f32, 2]
):
    i = vy.gid()
    if i >= body.shape[0]:
        return
    x, y, z = body[i, 0], body[i, 1], body[i, 2]
    ax, ay, az = 0.0, 0.0, 0.0
    for j in range(body.shape[0]):
        dx, dy, dz = body[j, 0] - x, body[j, 1] - y, body[j, 2] - z
        force = pull(dx, dy, dz, body[j, 3])
        ax += force * dx
        ay += force * dy
        az += force * dz
    velocity[i, 0] += ax * dt
    velocity[i, 1] += ay * dt
    velocity[i, 2] += az * dt
    moved[i, 0] = x + velocity[i, 0] * dt
    moved[i, 1] = y + velocity[i, 1] * dt
    moved[i, 2] = z + velocity[i, 2] * dt
    moved[i, 3] = body[i, 3]


def bodies(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A disc that turns: positions with masses, and velocities."""
    rng = np.random.default_rng(0)
    angle, radius = rng.random(n) * 2 * np.pi, 0.2 + rng.random(n)
    flat = np.stack([np.cos(angle) * radius, np.sin(angle) * radius, rng.normal(0, 0.02, n)], 1)
    speed = np.stack([-np.sin(angle), np.cos(angle), np.zeros(n)], 1) / np.sqrt(radius)[:, None]
    return np.hstack([flat, np.full((n, 1), 1 / n)]).astype(np.float32), speed.astype(np.float32)


def simulate(device: str | None, n: int, steps: int) -> np.ndarray:
    """The bodies after so many steps; they stay on the device in between."""
    start, speed = bodies(n)
    here, velocity = vy.array(start, device), vy.array(speed, device)
    there = vy.zeros(start.shape, np.float32, device)
    for _ in range(steps):
        step(0.01, here, velocity, there)
        here, there = there, here
    return here.numpy()


def expected(n: int, steps: int) -> np.ndarray:
    body, velocity = (part.astype(np.float64) for part in bodies(n))
    for _ in range(steps):
        apart = body[None, :, :3] - body[:, None, :3]
        squared = (apart**2).sum(2) + SOFTENING
        velocity += 0.01 * (apart * (body[:, 3] / squared**1.5)[..., None]).sum(1)
        body[:, :3] += 0.01 * velocity
    return body


def main(device: str | None = None, n: int = 500) -> None:
    steps = 5
    np.testing.assert_allclose(simulate(device, n, steps), expected(n, steps), atol=1e-4)
    print(f"n-body: {n} bodies, {steps} steps")


if __name__ == "__main__":
    main()
