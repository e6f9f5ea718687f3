"""Prefix sums and sorting: stages that need all of the stage before, and counts on the device."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.pipelines.case import Arguments, PipelineCase
from benchmarks.pipelines.compaction import compact, sum_before

GROUP = 64
KEYS = 64
"""Keys that one invocation counts and moves, one after the other."""
RADIX = 16


@vy.kernel(workgroup=GROUP)
def sum_in_groups(x: vy.In[vy.u32], y: vy.Out[vy.u32], sums: vy.Out[vy.u32]):
    """Running sums of each workgroup by itself, and its total."""
    own = vy.shared(vy.u32, GROUP)
    i, lane = vy.gid(), vy.lid()
    own[lane] = x[i]
    vy.barrier()
    reach = 1
    for _ in range(6):
        before = own[lane - reach] if lane >= reach else 0
        vy.barrier()
        own[lane] += before
        vy.barrier()
        reach *= 2
    if i < len(y):
        y[i] = own[lane]
    if lane == GROUP - 1:
        sums[vy.wid()] = own[lane]


@vy.kernel(workgroup=GROUP)
def add_sums(y: vy.InOut[vy.u32], sums: vy.In[vy.u32]):
    """What the workgroups before have summed, added."""
    i = vy.gid()
    if i < len(y):
        y[i] += sums[vy.wid()]


@vy.kernel
def gather(y: vy.In[vy.u32], index: vy.In[vy.u32], z: vy.Out[vy.u32]):
    """Elements by their indices."""
    i = vy.gid()
    if i < len(z):
        z[i] = y[index[i]]


@vy.kernel
def total(z: vy.In[vy.u32], sum_: vy.InOut[vy.u32]):
    """The sum of all elements, modulo 2^32."""
    i = vy.gid()
    if i < len(z):
        sum_.atomic_add(0, z[i])


@vy.pipeline
def gathered_sums(x: vy.In[vy.u32], index: vy.In[vy.u32]) -> vy.Array[vy.u32]:
    """A prefix sum in three stages, elements of it, and their sum."""
    y, z = vy.scratch_like(x), vy.scratch_like(index)
    sums = vy.scratch(vy.u32, -(-len(x) // 64))
    all_, found = vy.scratch(vy.u32, 1), vy.scratch(vy.u32, 1)
    sum_in_groups(x, y, sums, elements=len(x))
    sum_before(sums, all_, grid=1)
    add_sums(y, sums, elements=len(y))
    gather(y, index, z)
    total(z, found)
    return found


def define_gathered(x: Array, index: Array) -> list[Array]:
    sums = np.cumsum(x, dtype=np.uint32)
    return [np.array([sums[index].sum(dtype=np.uint32)], np.uint32)]


def gathered_data(n: int) -> Arguments:
    random = np.random.default_rng(n)
    index = random.integers(0, max(n, 1), n, dtype=np.uint32)
    return random.integers(0, 1 << 32, n, dtype=np.uint32), index


@vy.kernel
def count_keys(keys: vy.In[vy.u32], length: vy.In[vy.u32], shift: vy.u32, counts: vy.Out[vy.u32]):
    """How many keys of a block have each digit; all blocks of a digit stand side by side."""
    own = vy.local(vy.u32, RADIX)
    block = vy.gid()
    blocks = len(counts) // RADIX
    if block < blocks:
        for k in range(KEYS):
            i = block * KEYS + k
            if i < length[0] and i < len(keys):
                own[keys[i] >> shift & 15] += 1
        for digit in range(RADIX):
            counts[vy.u32(digit) * blocks + block] = own[digit]


@vy.kernel
def move_keys(
    keys: vy.In[vy.u32],
    length: vy.In[vy.u32],
    shift: vy.u32,
    before: vy.In[vy.u32],
    out: vy.Out[vy.u32],
):
    """Keys in the order of a digit; those of one digit stay in their order."""
    at = vy.local(vy.u32, RADIX)
    block = vy.gid()
    blocks = len(before) // RADIX
    if block < blocks:
        for digit in range(RADIX):
            at[digit] = before[vy.u32(digit) * blocks + block]
        for k in range(KEYS):
            i = block * KEYS + k
            if i < length[0] and i < len(keys):
                digit = keys[i] >> shift & 15
                out[at[digit]] = keys[i]
                at[digit] += 1


@vy.kernel
def set_length(x: vy.In[vy.u32], length: vy.Out[vy.u32]):
    """The length of an array, on the device."""
    if vy.gid() == 0:
        length[0] = len(x)


@vy.pipeline
def sort_counted(keys: vy.InOut[vy.u32], length: vy.In[vy.u32]):
    """The first keys, as many as a count on the device says, in order; zeros behind them."""
    other = vy.scratch_like(keys)
    a, b = keys, other
    for digit in range(8):
        counts = vy.scratch(vy.u32, 16 * -(-len(keys) // 64))
        all_ = vy.scratch(vy.u32, 1)
        count_keys(a, length, 4 * digit, counts, elements=len(counts) // 16)
        sum_before(counts, all_, grid=1)
        move_keys(a, length, 4 * digit, counts, b, elements=len(counts) // 16)
        a, b = b, a
    vy.copy(a, keys)


@vy.pipeline
def radix_sort(keys: vy.InOut[vy.u32]):
    """All keys, in order."""
    length = vy.scratch(vy.u32, 1)
    set_length(keys, length, elements=1)
    sort_counted(keys, length)


def some_keys(n: int) -> Array:
    """Keys of which many occur several times."""
    random = np.random.default_rng(n)
    return random.integers(0, 1 << 32, n, dtype=np.uint32) >> random.integers(
        0, 32, n, dtype=np.uint32
    )


@vy.kernel
def is_multiple(x: vy.In[vy.u32], of: vy.u32, mask: vy.Out[vy.u32]):
    """A bit for each element that is a multiple of a number."""
    word = vy.gid()
    if word < len(mask):
        found = 0
        for k in range(32):
            i = word * 32 + k
            if i < len(x) and x[i] % of == 0:
                found = found | 1 << k
        mask[word] = found


@vy.kernel
def take(x: vy.In[vy.u32], hits: vy.In[vy.u32], count: vy.In[vy.u32], out: vy.Out[vy.u32]):
    """Elements at positions, as many as a count says."""
    i = vy.gid()
    if i < count[0] and i < len(out):
        out[i] = x[hits[i]]


@vy.kernel
def is_first(x: vy.In[vy.u32], count: vy.In[vy.u32], mask: vy.Out[vy.u32]):
    """A bit for each element that is unlike the one before it."""
    word = vy.gid()
    if word < len(mask):
        found = 0
        for k in range(32):
            i = word * 32 + k
            if i < count[0] and (i == 0 or x[i] != x[max(i, 1) - 1]):
                found = found | 1 << k
        mask[word] = found


@vy.kernel
def count_low_digits(x: vy.In[vy.u32], count: vy.In[vy.u32], counts: vy.InOut[vy.u32]):
    """How often each value of the four lowest bits occurs."""
    i = vy.gid()
    if i < count[0] and i < len(x):
        counts.atomic_add(x[i] & 15, 1)


@vy.pipeline
def distinct_multiples(
    x: vy.In[vy.u32], of: vy.u32
) -> tuple[vy.Array[vy.u32], vy.Array[vy.u32], vy.Array[vy.u32]]:
    """Select, sort, keep one of each, and count: a count of a count, all on the device."""
    mask = vy.scratch(vy.u32, -(-len(x) // 32))
    hits, kept, single = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    count, distinct = vy.scratch(vy.u32, 1), vy.scratch(vy.u32, 1)
    counts = vy.scratch(vy.u32, 16)
    is_multiple(x, of, mask)
    compact(mask, hits, count)
    take(x, hits, count, kept)
    sort_counted(kept, count)
    firsts, places = vy.scratch_like(mask), vy.scratch_like(x)
    is_first(kept, count, firsts)
    compact(firsts, places, distinct)
    take(kept, places, distinct, single)
    count_low_digits(single, distinct, counts)
    return single, distinct, counts


def define_distinct(x: Array, of: int) -> list[Array]:
    found = np.unique(x[x % of == 0])
    single = np.zeros_like(x)
    single[: found.size] = found
    counts = np.bincount(found & 15, minlength=16).astype(np.uint32)
    return [single, np.array([found.size], np.uint32), counts]


CASES = (
    PipelineCase(9, "prefix sum, gather, reduce", gathered_sums, gathered_data, define_gathered),
    PipelineCase(
        10,
        "radix sort",
        radix_sort,
        lambda n: (some_keys(n),),
        lambda keys: [np.sort(keys)],
        (0,),
    ),
    PipelineCase(
        14,
        "select, sort, unique, histogram",
        distinct_multiples,
        lambda n: (some_keys(n), 3),
        define_distinct,
    ),
    PipelineCase(
        14,
        "select none, sort, unique, histogram",
        distinct_multiples,
        lambda n: (some_keys(n) | np.uint32(1), 1 << 31),
        define_distinct,
    ),
)
