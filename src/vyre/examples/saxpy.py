"""a * x + y: the first kernel, on host arrays and on arrays that stay on the device."""

from __future__ import annotations

import numpy as np

import vyre as vy


@vy.kernel(workgroup=256)
def saxpy(a: vy.f32, x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i] + y[i]


def main(device: str | None = None, n: int = 1_000_000) -> None:
    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, np.float32)
    expected = np.float32(2) * x + y

    saxpy(2.0, x, y, device=device)  # numpy in, numpy changed in place
    np.testing.assert_array_equal(y, expected)

    there_x, there_y = vy.array(x, device), vy.zeros(n, np.float32, device)
    for _ in range(3):
        saxpy(1.0, there_x, there_y)  # nothing is copied between these
    np.testing.assert_array_equal(there_y.numpy(), x + x + x)
    print(f"saxpy: {n:,} elements")


if __name__ == "__main__":
    main()
