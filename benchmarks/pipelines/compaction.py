"""Stable compaction in three stages: counts of blocks, their prefix sum, and positions in order.

The count stays on the device, in an array of one element. Positions beyond the capacity of the
result are not stored, and the count says how many there are.
"""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import vyre as vy

BLOCK = 32
"""Words of the mask in a block: 1024 positions."""


@vy.kernel
def count_bits(mask: vy.In[vy.u32], counts: vy.Out[vy.u32]):
    """How many bits of each block of words are set."""
    block = vy.gid()
    if block < len(counts):
        total = 0
        for k in range(BLOCK):
            total += vy.popcount(mask[block * BLOCK + k])
        counts[block] = total


@vy.kernel(workgroup=1)
def sum_before(counts: vy.InOut[vy.u32], total: vy.Out[vy.u32]):
    """Each element becomes the sum of those before it; the sum of all is the total."""
    if vy.gid() == 0:
        sum_ = 0
        for k in range(len(counts)):
            own = counts[k]
            counts[k] = sum_
            sum_ += own
        total[0] = sum_


@vy.kernel
def positions_of(mask: vy.In[vy.u32], before: vy.In[vy.u32], hits: vy.Out[vy.u32]):
    """The positions of set bits, in their order."""
    block = vy.gid()
    if block < len(before):
        at = before[block]
        for k in range(BLOCK):
            word = mask[block * BLOCK + k]
            while word != 0:
                hits[at] = (block * BLOCK + k) * 32 + vy.ctz(word)
                at += 1
                word = word & (word - 1)


@vy.pipeline
def compact(mask: vy.In[vy.u32], hits: vy.Out[vy.u32], count: vy.Out[vy.u32]):
    """Positions of the set bits of a mask, and their number."""
    before = vy.scratch(vy.u32, -(-len(mask) // 32))
    count_bits(mask, before)
    sum_before(before, count, grid=1)
    positions_of(mask, before, hits, elements=len(before))
