"""The kernels of the demonstration, as anybody writes them in Python."""
# The types of parameters are read when a function is decorated, so they are no strings here.

from vyre.front import intrinsics as vy
from vyre.front import math
from vyre.front.parameters import In, InOut, Out
from vyre.front.scalars import f32, u8, u32
from vyre.runtime.kernel import kernel


@kernel(workgroup=256)
def saxpy(a: f32, x: In[f32], y: In[f32], out: Out[f32]):
    """a·x + y."""
    i = vy.gid()
    if i < len(out):
        out[i] = a * x[i] + y[i]


@kernel(workgroup=256)
def sum(x: In[u32], total: Out[u32]):
    """One partial sum per workgroup: a pass over its share, then a tree in shared memory."""
    tree = vy.shared(u32, 256)
    lane = vy.lid()
    threads = vy.num_groups() * 256
    share = (len(x) + threads - 1) // threads
    s = 0
    for k in range(share):
        i = (vy.wid() * share + k) * 256 + lane
        if i < len(x):
            s += x[i]
    tree[lane] = s
    vy.barrier()
    for step in range(8):
        reach = u32(128) >> step
        if lane < reach:
            tree[lane] += tree[lane + reach]
        vy.barrier()
    if lane == 0:
        total.atomic_add(0, tree[0])


@kernel(workgroup=256)
def histogram(x: In[u8], bins: Out[u32]):
    """A private histogram per workgroup, merged with atomics."""
    mine = vy.shared(u32, 256)
    lane = vy.lid()
    threads = vy.num_groups() * 256
    share = (len(x) + threads - 1) // threads
    for k in range(share):
        i = (vy.wid() * share + k) * 256 + lane
        if i < len(x):
            mine.atomic_add(u32(x[i]), 1)
    vy.barrier()
    bins.atomic_add(lane, mine[lane])


@kernel(workgroup=256)
def byte_scan(text: In[u8], needle: u32, found: InOut[u32]):
    """How often four bytes stand in a text, and where they stand first."""
    i = vy.gid()
    if i + 3 < len(text):
        same = True
        for k in (0, 1, 2, 3):
            same = same & (text[i + k] == u8(needle >> (8 * k)))
        if same:
            found.atomic_add(0, 1)
            found.atomic_min(1, i)


@kernel(workgroup=256)
def silu(x: In[f32], out: Out[f32]):
    """The activation function x / (1 + exp(-x))."""
    i = vy.gid()
    if i < len(out):
        v = x[i]
        out[i] = v / (1.0 + math.exp(-v))


@kernel(workgroup=(64, 4))
def life(size: u32, before: In[u8], after: Out[u8]):
    """One generation of the game of life; the board has a border of dead cells around it."""
    x, y = vy.gid(0), vy.gid(1)
    if x < size and y < size:
        here = (y + 1) * (size + 2) + x + 1
        above, below = here - size - 2, here + size + 2
        near = before[here - 1] + before[here + 1]
        for row in (above, below):
            near += before[row - 1] + before[row] + before[row + 1]
        after[y * size + x] = u8((near == 3) | ((near == 2) & (before[here] == 1)))


@kernel(workgroup=(16, 16))
def mandelbrot(size: u32, counts: Out[u32]):
    """How many rounds each point of the plane takes to escape."""
    column, row = vy.gid(0), vy.gid(1)
    if column < size and row < size:
        cx = -2.0 + 3.0 * f32(column) / f32(size)
        cy = -1.5 + 3.0 * f32(row) / f32(size)
        x = y = 0.0
        k = 0
        while k < 64 and x * x + y * y <= 4.0:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            k += 1
        counts[row * size + column] = k


@kernel(workgroup=64)
def nbody(px: In[f32], py: In[f32], mass: In[f32], ax: Out[f32], ay: Out[f32]):
    """The pull that every body feels from all others, in the plane."""
    i = vy.gid()
    if i < len(mass):
        x, y = px[i], py[i]
        fx = fy = 0.0
        for j in range(len(mass)):
            dx, dy = px[j] - x, py[j] - y
            r = 1.0 / math.sqrt(dx * dx + dy * dy + 0.01)
            w = mass[j] * r * r * r
            fx += w * dx
            fy += w * dy
        ax[i], ay[i] = fx, fy
