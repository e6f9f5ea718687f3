"""Examples of the API reference: `vy.math`."""

import numpy as np

import vyre as vy


# %% vy.math.sqrt vy.math.rsqrt vy.math.square vy.math.power
@vy.kernel(workgroup=1)
def powers(y: vy.Out[vy.f32]):
    y[0] = vy.math.sqrt(9.0)
    y[1] = vy.math.rsqrt(4.0)
    y[2] = vy.math.square(3.0)
    y[3] = vy.math.power(2.0, 10.0)


y = np.zeros(4, np.float32)
powers(y)
assert np.allclose(y, [3, 0.5, 9, 1024])


# %% vy.math.exp vy.math.exp2 vy.math.expm1
@vy.kernel(workgroup=1)
def exponentials(y: vy.Out[vy.f32]):
    y[0] = vy.math.exp(1.0)
    y[1] = vy.math.exp2(10.0)
    y[2] = vy.math.expm1(1e-6)  # exp(x) - 1 would lose most digits


y = np.zeros(3, np.float32)
exponentials(y)
assert np.allclose(y, [np.e, 1024, 1.0000005e-6], rtol=1e-6, atol=0)


# %% vy.math.log vy.math.log2 vy.math.log10 vy.math.log1p vy.math.e
@vy.kernel(workgroup=1)
def logarithms(y: vy.Out[vy.f32]):
    y[0] = vy.math.log(vy.math.e)
    y[1] = vy.math.log2(1024.0)
    y[2] = vy.math.log10(1000.0)
    y[3] = vy.math.log1p(1e-6)


y = np.zeros(4, np.float32)
logarithms(y)
assert np.allclose(y, [1, 10, 3, 9.999995e-7], rtol=1e-6, atol=0)


# %% vy.math.sin vy.math.cos vy.math.tan vy.math.pi
@vy.kernel(workgroup=1)
def angles(y: vy.Out[vy.f32]):
    y[0] = vy.math.sin(vy.math.pi / 2)
    y[1] = vy.math.cos(vy.math.pi)
    y[2] = vy.math.tan(vy.math.pi / 4)


y = np.zeros(3, np.float32)
angles(y)
assert np.allclose(y, [1, -1, 1])


# %% vy.math.arcsin vy.math.arccos vy.math.arctan vy.math.arctan2
@vy.kernel(workgroup=1)
def inverses(y: vy.Out[vy.f32]):
    y[0] = vy.math.arcsin(1.0)
    y[1] = vy.math.arccos(-1.0)
    y[2] = vy.math.arctan(1.0)
    y[3] = vy.math.arctan2(-1.0, -1.0)  # y first, then x


y = np.zeros(4, np.float32)
inverses(y)
assert np.allclose(y, [np.pi / 2, np.pi, np.pi / 4, -3 * np.pi / 4])


# %% vy.math.sinh vy.math.cosh vy.math.tanh
@vy.kernel(workgroup=1)
def hyperbolic(y: vy.Out[vy.f32]):
    y[0] = vy.math.sinh(1.0)
    y[1] = vy.math.cosh(1.0)
    y[2] = vy.math.tanh(1.0)


y = np.zeros(3, np.float32)
hyperbolic(y)
assert np.allclose(y, [np.sinh(1), np.cosh(1), np.tanh(1)])


# %% vy.math.floor vy.math.ceil vy.math.trunc vy.math.rint vy.math.round_away
@vy.kernel(workgroup=1)
def roundings(y: vy.Out[vy.f32]):
    y[0] = vy.math.floor(-2.5)
    y[1] = vy.math.ceil(-2.5)
    y[2] = vy.math.trunc(-2.7)
    y[3] = vy.math.rint(-2.5)
    y[4] = vy.math.round_away(-2.5)


y = np.zeros(5, np.float32)
roundings(y)
assert y.tolist() == [-3, -2, -2, -2, -3]


# %% vy.math.absolute vy.math.copysign vy.math.fma
@vy.kernel(workgroup=1)
def signs(y: vy.Out[vy.f32]):
    y[0] = vy.math.absolute(-3.0)
    y[1] = vy.math.copysign(3.0, -0.0)
    y[2] = vy.math.fma(2.0, 3.0, 4.0)


y = np.zeros(3, np.float32)
signs(y)
assert y.tolist() == [3, -3, 10]


# %% vy.math.minimum vy.math.maximum vy.math.fmin vy.math.fmax vy.math.clip
@vy.kernel(workgroup=1)
def bounded(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    y[0] = vy.math.minimum(x[0], x[1])  # NaN if one of them is
    y[1] = vy.math.maximum(x[0], 2.0)
    y[2] = vy.math.fmin(x[0], x[1])  # NaN is ignored
    y[3] = vy.math.fmax(x[0], 2.0)
    y[4] = vy.math.clip(x[0], 2.0, 3.0)


y = np.zeros(5, np.float32)
bounded(np.array([1, np.nan], np.float32), y)
assert np.isnan(y[0]) and y[1:].tolist() == [2, 1, 2, 2]


# %% vy.math.isnan vy.math.isinf vy.math.isfinite vy.math.inf vy.math.nan
@vy.kernel(workgroup=1)
def kinds(x: vy.In[vy.f32], y: vy.Out[vy.bool_], z: vy.Out[vy.f32]):
    y[0] = vy.math.isnan(x[0])
    y[1] = vy.math.isinf(x[0])
    y[2] = vy.math.isfinite(x[0])
    z[0] = vy.math.nan if x[0] < vy.math.inf else x[0]


y, z = np.zeros(3, np.bool_), np.zeros(1, np.float32)
kinds(np.array([np.inf], np.float32), y, z)
assert y.tolist() == [False, True, False] and np.isinf(z[0])


# %% vy.math.where
@vy.kernel
def halves(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x):
        y[i] = vy.math.where(x[i] % 2 == 0, x[i] // 2, x[i])


y = np.zeros(2, np.int32)
halves(np.array([8, 9], np.int32), y)
assert y.tolist() == [4, 9]
