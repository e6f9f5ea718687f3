"""Kernels as people write them, to be fused in any order.

Each gives one result in every order of its invocations, whatever its arrays hold and however long
they are. Together they have everything that could get into another's way: outputs that count on
zeros, shared and private memory that does, barriers before early returns, grid barriers in loops,
atomics, variables that are named like other kernels' parameters.
"""

from __future__ import annotations

import vyre as vy
from vyre.ir import Program

GROUP = 16
"""Invocations of a workgroup."""


@vy.kernel(workgroup=GROUP)
def squares(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    """Each invocation its own element."""
    i = vy.gid()
    if i < len(x):
        y[i] = x[i] * x[i] + 1


@vy.kernel(workgroup=GROUP)
def every_third(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    """Leaves most of its output as it was: zero."""
    i = vy.gid()
    if i < len(x) and x[i] % 3 == 0:
        y[i] += x[i] + 1


@vy.kernel(workgroup=GROUP)
def backwards(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    """Reads what another workgroup may have written."""
    i = vy.gid()
    if i >= len(y):
        return
    y[i] = x[len(x) - 1 - i]


@vy.kernel(workgroup=GROUP)
def in_place(x: vy.InOut[vy.u32]):
    """Changes what it is given."""
    i = vy.gid()
    if i < len(x):
        x[i] = (x[i] ^ 0x5A5A) + i


@vy.kernel(workgroup=GROUP)
def tile_backwards(x: vy.In[vy.u32], y: vy.InOut[vy.u32], n: vy.u32):
    """A barrier, and then a return that some take."""
    tile = vy.shared(vy.u32, GROUP)
    i, lane = vy.gid(), vy.lid()
    tile[lane] = x[i]
    vy.barrier()
    if i >= n:
        return
    y[i] = tile[GROUP - 1 - lane] + i


@vy.kernel(workgroup=GROUP)
def tallied(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    """Counts in memory that begins as zeros, of the workgroup and of the invocation."""
    counts = vy.shared(vy.u32, 8)
    mine = vy.local(vy.u32, 3)
    i = vy.gid()
    counts.atomic_add(x[i] % 8, 1)
    mine[i % 3] += 5
    vy.barrier()
    if i >= len(y):
        return
    y[i] += counts[i % 8] * 10 + mine[i % 3] + mine[(i + 1) % 3]


@vy.kernel(workgroup=GROUP)
def histogram(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    """Atomics of all invocations on few elements."""
    i = vy.gid()
    if i < len(x):
        y.atomic_add(x[i] % 7, 1)


@vy.kernel(workgroup=GROUP)
def highest(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    """Atomics on an output that begins as zeros."""
    i = vy.gid()
    if i < len(x):
        y.atomic_max(i // 4, x[i] + 1)


@vy.kernel(workgroup=GROUP)
def own_tickets(x: vy.In[vy.u32], y: vy.InOut[vy.u32], z: vy.Out[vy.u32]):
    """Uses what an atomic gives, on elements that nothing else touches."""
    i = vy.gid()
    if i < len(x):
        before = y.atomic_add(i, x[i])
        z[i] = before * 3 + y.atomic_xor(i, 0xFF)


@vy.kernel(workgroup=GROUP)
def running_sum(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    """Of each workgroup by itself."""
    sums = vy.shared(vy.u32, GROUP)
    lane, i = vy.lid(), vy.gid()
    sums[lane] = x[i]
    vy.barrier()
    reach = 1
    for _ in range(4):
        before = sums[lane - reach] if lane >= reach else 0
        vy.barrier()
        sums[lane] += before
        vy.barrier()
        reach *= 2
    if i < len(y):
        y[i] = sums[lane]


@vy.kernel(workgroup=GROUP)
def whole_running_sum(x: vy.In[vy.u32], blocks: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    """Of the whole grid: workgroups tell each other their totals."""
    own = vy.shared(vy.u32, GROUP)
    i, lane, group = vy.gid(), vy.lid(), vy.wid()
    own[lane] = x[i]
    vy.barrier()
    total = 0
    for k in range(lane + 1):
        total += own[k]
    if lane == GROUP - 1:
        blocks[group] = total
    vy.grid_sync()
    for k in range(group):
        total += blocks[k]
    if i < len(y):
        y[i] = total


@vy.kernel(workgroup=GROUP)
def sorted_window(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    """The middle of five neighbours, sorted in a private array."""
    near = vy.local(vy.u32, 5)
    i = vy.gid()
    for k in range(5):
        value = x[i + k]
        place = k
        while place > 0 and near[place - 1] > value:
            near[place] = near[place - 1]
            place -= 1
        near[place] = value
    if i < len(y):
        y[i] = near[2]


@vy.kernel(workgroup=GROUP)
def spreading(x: vy.InOut[vy.u32], y: vy.InOut[vy.u32], n: vy.u32):
    """Rounds over the grid, with a private array that lives through all of them."""
    seen = vy.local(vy.u32, 2)
    i = vy.gid()
    for k in range(n % 4):
        vy.grid_sync()
        if i < len(y):
            y[i] = x[(i + 1) % len(x)] + k
        vy.grid_sync()
        if i < len(x):
            seen[k % 2] += x[i] + 1
            x[i] = y[i] + seen[0] * 2 + seen[1]


@vy.kernel(workgroup=GROUP)
def handed_on(x: vy.In[vy.u32], y: vy.InOut[vy.u32], z: vy.Out[vy.u32]):
    """Some return before a grid barrier; it can be fused as the last one."""
    i = vy.gid()
    if i >= len(y):
        return
    y[i] = x[i] + 3
    vy.grid_sync()
    z[i] = y[len(y) - 1 - i]


@vy.kernel(workgroup=GROUP)
def steps_to_one(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    """Returns from a loop."""
    i = vy.gid()
    if i >= len(x):
        return
    value = x[i] % 50 + 1
    for step in range(20):
        if value == 1:
            y[i] = step + 1
            return
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
    y[i] = 99


@vy.kernel(workgroup=GROUP)
def many_ways_out(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    """Returns from branches within branches."""
    i = vy.gid()
    if i >= len(x):
        return
    y[i] += 1
    if x[i] % 2 == 0:
        if x[i] % 4 == 0:
            return
        y[i] += 10
    else:
        y[i] += 100
        if x[i] % 3 == 0:
            return
    y[i] += 1000


@vy.kernel(workgroup=GROUP)
def same_names(source: vy.In[vy.u32], target: vy.InOut[vy.u32]):
    """Its variables have the names of what others bind."""
    a = vy.gid()
    b = source[a] * 2
    n = vy.u32(0)
    for c in range(3):
        n += b + c
    for d in range(2):
        n ^= d
    if a < len(target):
        target[a] = n


@vy.kernel(workgroup=GROUP)
def from_bytes(raw: vy.In[vy.u8], y: vy.Out[vy.u32]):
    """Elements of one byte to whole words."""
    i = vy.gid()
    if i < len(raw):
        y[i] = vy.u32(raw[i]) * 257


@vy.kernel(workgroup=GROUP)
def to_bytes(x: vy.In[vy.u32], raw: vy.Out[vy.u8]):
    """Every other byte; the others stay zero."""
    i = vy.gid()
    if i < len(raw) and i % 2 == 1:
        raw[i] = vy.u8(x[i] % 251)


@vy.kernel(workgroup=GROUP)
def halves(f: vy.In[vy.f32], g: vy.Out[vy.f32]):
    """Floats, exactly."""
    i = vy.gid()
    if i < len(f):
        g[i] = f[i] * 0.5 + 1.0


@vy.kernel(workgroup=GROUP)
def smoothed(f: vy.InOut[vy.f32], y: vy.In[vy.u32]):
    """Through workgroup memory that is only written where there is something to write."""
    tile = vy.shared(vy.f32, GROUP)
    i, lane = vy.gid(), vy.lid()
    if i < len(y) and y[i] % 2 == 0:
        tile[lane] = vy.f32(y[i] % 1024)
    vy.barrier()
    if i < len(f):
        f[i] = f[i] + tile[(lane + 1) % GROUP] * 0.25


@vy.kernel(workgroup=GROUP)
def neighbours(f: vy.In[vy.f32], g: vy.Out[vy.f32]):
    """Sums and products of floats that a contraction would round otherwise."""
    i = vy.gid()
    if i < len(g):
        left, right = f[max(i, 1) - 1], f[i + 1]
        g[i] = left * 0.3 + f[i] * 0.4 + right * 0.3


@vy.kernel(workgroup=GROUP)
def roots(f: vy.InOut[vy.f32], n: vy.u32):
    """Newton's iteration, as often as it is given: divisions in a loop that ends early."""
    i = vy.gid()
    if i >= len(f):
        return
    value = abs(f[i]) + 1.0
    guess = value
    for _ in range(n % 6):
        after = 0.5 * (guess + value / guess)
        if after == guess:
            break
        guess = after
    f[i] = guess


@vy.kernel(workgroup=GROUP)
def float_tree(f: vy.In[vy.f32], g: vy.InOut[vy.f32]):
    """The sum of a workgroup's floats, in the order of a tree."""
    sums = vy.shared(vy.f32, GROUP)
    i, lane = vy.gid(), vy.lid()
    sums[lane] = f[i]
    reach = GROUP // 2
    while reach > 0:
        vy.barrier()
        if lane < reach:
            sums[lane] += sums[lane + reach]
        reach = reach // 2
    vy.barrier()
    if i < len(g):
        g[i] = g[i] * 0.125 + sums[0]


@vy.kernel(workgroup=GROUP)
def compacted(x: vy.In[vy.u32], y: vy.Out[vy.u32], z: vy.InOut[vy.u32]):
    """Positions of odd elements in their order, and how many there are: a count by one."""
    if vy.gid() == 0:
        found = vy.u32(0)
        for k in range(len(x)):
            if x[k] % 2 == 1:
                y[found] = k
                found += 1
        z[0] = found


@vy.kernel(workgroup=GROUP)
def up_to_the_count(x: vy.In[vy.u32], y: vy.In[vy.u32], z: vy.InOut[vy.u32]):
    """As many elements as a count in memory says, whatever it holds."""
    i = vy.gid()
    count = min(x[0], len(z))
    if i < count:
        z[i] = y[i] + count


def programs() -> dict[str, Program]:
    """All of them, by name."""
    found = (
        *(squares, every_third, backwards, in_place, tile_backwards, tallied, histogram, highest),
        *(own_tickets, running_sum, whole_running_sum, sorted_window, spreading, handed_on),
        *(steps_to_one, many_ways_out, same_names, from_bytes, to_bytes, halves, smoothed),
        *(neighbours, roots, float_tree, compacted, up_to_the_count),
    )
    return {kernel.__name__: kernel.program() for kernel in found}
