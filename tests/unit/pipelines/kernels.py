"""Kernels that the pipelines of these tests are made of."""

from __future__ import annotations

from typing import Literal

import vyre as vy


@vy.kernel
def scale(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i]


@vy.kernel
def clip(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = min(max(x[i], 0.25), 0.75)


@vy.kernel
def add(x: vy.In[vy.f32], y: vy.In[vy.f32], z: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(z):
        z[i] = x[i] + y[i]


@vy.kernel
def increase(x: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        x[i] += 1.0


@vy.kernel
def blur(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        left = x[max(i, 1) - 1]
        y[i] = (left + x[i] + x[min(i + 1, len(x) - 1)]) * vy.f32(0.25)


@vy.kernel
def to_bytes(x: vy.In[vy.u32], y: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(y):
        y[i] = vy.u8(x[i] * vy.u32(3))


@vy.kernel
def widen(x: vy.In[vy.u8], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = vy.u32(x[i]) + vy.u32(1000)


@vy.kernel
def every_third(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i % 3 == 0:
        y[i] = x[i]


@vy.kernel
def hex_digits(text: vy.In[vy.u8], plain: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(plain):
        value = vy.u32(0)
        for k in range(2):
            c = vy.u32(text[2 * i + k])
            digit = c - vy.u32(48) if c < vy.u32(58) else c - vy.u32(87)
            value = value * vy.u32(16) + digit
        plain[i] = vy.u8(value)


@vy.kernel
def count_bytes(plain: vy.In[vy.u8], counts: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(plain):
        counts.atomic_add(plain[i], 1)


@vy.kernel
def halve(x: vy.InOut[vy.u32], moved: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] > 1:
        x[i] = x[i] // 2
        moved.atomic_max(0, 1)


@vy.kernel
def count(counter: vy.InOut[vy.u32]):
    if vy.gid() == 0:
        counter[0] += vy.u32(1)


@vy.kernel
def is_large(x: vy.In[vy.f32], flag: vy.Out[vy.u32]):
    if vy.gid() == 0 and x[0] > 10.0:
        flag[0] = vy.u32(1)


@vy.kernel
def trap_at(x: vy.InOut[vy.u32], at: vy.u32):
    i = vy.gid()
    if i < len(x):
        assert x[i] != at, "found it"
        x[i] += vy.u32(1)


@vy.kernel
def digit_of(keys: vy.In[vy.u32], shift: vy.u32, out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(out):
        out[i] = (keys[i] >> shift) & vy.u32(1)


@vy.kernel(workgroup=1)
def split_by_bit(keys: vy.In[vy.u32], bits: vy.In[vy.u32], out: vy.Out[vy.u32]):
    if vy.gid() == 0:
        at = vy.u32(0)
        for i in range(len(keys)):
            if bits[i] == vy.u32(0):
                out[at] = keys[i]
                at += vy.u32(1)
        for i in range(len(keys)):
            if bits[i] == vy.u32(1):
                out[at] = keys[i]
                at += vy.u32(1)


@vy.kernel
def blur_rows(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = x[i, j] + x[i, max(j, 1) - 1]


@vy.kernel
def blur_columns(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = x[i, j] + x[max(i, 1) - 1, j]


@vy.kernel
def decode(text: vy.In[vy.u8], plain: vy.Out[vy.u8]):
    """Four characters to three bytes; a character that is no digit counts too."""
    i = vy.gid()
    word = vy.u32(0)
    for k in range(4):
        word = word << 6 | (vy.u32(text[4 * i + k]) + vy.u32(7)) & vy.u32(63)
    for k in range(3):
        plain[3 * i + k] = vy.u8(word >> (vy.u32(16) - vy.u32(8) * k))


@vy.kernel
def four_bytes(plain: vy.In[vy.u8], hits: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(hits):
        first = vy.u32(plain[i]) | vy.u32(plain[i + 1]) << 8
        hits[i] = first | vy.u32(plain[i + 2]) << 16 | vy.u32(plain[i + 3]) << 24


@vy.kernel
def pairs(plain: vy.In[vy.u8], units: vy.Out[vy.u16]):
    i = vy.gid()
    if i < len(units):
        units[i] = vy.u16(vy.u32(plain[2 * i]) | vy.u32(plain[2 * i + 1]) << 8)


@vy.kernel
def count_units(units: vy.In[vy.u16], counts: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(units):
        counts.atomic_add(units[i] % 256, 1)


@vy.kernel
def before_and_after(x: vy.In[vy.u8], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = vy.u32(x[i - 1]) * vy.u32(3) + vy.u32(x[i]) + vy.u32(x[i + 1]) * vy.u32(5)


@vy.kernel
def raise_all(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """Without a guard: elements beyond the end are not stored."""
    i = vy.gid()
    y[i] = x[i] + 1.0


@vy.kernel
def counted_double(x: vy.In[vy.f32], y: vy.Out[vy.f32], counter: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] * 2.0
        counter.atomic_add(0, 1)


@vy.kernel
def neighbours(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """Loads beyond both ends give zero."""
    i = vy.gid()
    if i < len(y):
        y[i] = x[i - 1] + 2.0 * x[i] + 4.0 * x[i + 1]


@vy.kernel
def twice(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[2 * i] = x[i]
        y[2 * i + 1] = x[i + 1] + 1.0
