"""Image processing: edges, blurs, resampling, morphology, blending, mosaics, sums over areas."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.survey.case import Arguments, Case, integers, zeros

WEIGHTS = (1, 4, 6, 4, 1)


def picture(*shape: int, seed: int = 1) -> Array:
    return integers(np.uint8, 0, 256, *shape, seed=seed)


@vy.kernel(workgroup=(32, 8))
def sobel(image: vy.In[vy.u8, 2], edges: vy.Out[vy.u8, 2]):
    y, x = vy.gid(1), vy.gid(0)
    if 0 < y < image.shape[0] - 1 and 0 < x < image.shape[1] - 1:
        across, down = 0, 0
        for d in range(-1, 2):
            weight = 2 - abs(d)
            across += weight * (vy.i32(image[y + d, x + 1]) - vy.i32(image[y + d, x - 1]))
            down += weight * (vy.i32(image[y + 1, x + d]) - vy.i32(image[y - 1, x + d]))
        edges[y, x] = vy.u8(min(abs(across) + abs(down), 255))


def sobel_data(n: int) -> Arguments:
    return {"image": picture(n, n + 9), "edges": zeros(n, n + 9, dtype=np.uint8)}


@vy.kernel(workgroup=(64, 4))
def blur_rows(image: vy.In[vy.u8, 2], out: vy.Out[vy.u16, 2]):
    y, x = vy.gid(1), vy.gid(0)
    w = image.shape[1]
    if y < image.shape[0] and x < w:
        total: vy.u32 = 0
        for k, weight in enumerate(WEIGHTS):
            total += weight * vy.u32(image[y, min(max(x + k - 2, 0), w - 1)])
        out[y, x] = vy.u16(total)


@vy.kernel(workgroup=(64, 4))
def blur_columns(between: vy.In[vy.u16, 2], out: vy.Out[vy.u8, 2]):
    y, x = vy.gid(1), vy.gid(0)
    h = between.shape[0]
    if y < h and x < between.shape[1]:
        total: vy.u32 = 128
        for k, weight in enumerate(WEIGHTS):
            total += weight * vy.u32(between[min(max(y + k - 2, 0), h - 1), x])
        out[y, x] = vy.u8(total >> 8)


def gaussian_blur(image: Array, between: Array, out: Array) -> None:
    blur_rows(image, between)
    blur_columns(between, out)


def gaussian_blur_data(n: int) -> Arguments:
    image = picture(n, n + 9)
    return {
        "image": image,
        "between": zeros(*image.shape, dtype=np.uint16),
        "out": zeros(*image.shape, dtype=np.uint8),
    }


@vy.kernel(workgroup=(32, 8))
def resize_bilinear(image: vy.In[vy.f32, 2], out: vy.Out[vy.f32, 2]):
    y, x = vy.gid(1), vy.gid(0)
    if y < out.shape[0] and x < out.shape[1]:
        sy = vy.f32(y) * vy.f32(image.shape[0] - 1) / vy.f32(out.shape[0] - 1)
        sx = vy.f32(x) * vy.f32(image.shape[1] - 1) / vy.f32(out.shape[1] - 1)
        top, left = vy.i32(sy), vy.i32(sx)
        fy, fx = sy - vy.f32(top), sx - vy.f32(left)
        bottom, right = min(top + 1, image.shape[0] - 1), min(left + 1, image.shape[1] - 1)
        upper = image[top, left] * (1.0 - fx) + image[top, right] * fx
        lower = image[bottom, left] * (1.0 - fx) + image[bottom, right] * fx
        out[y, x] = upper * (1.0 - fy) + lower * fy


def resize_bilinear_data(n: int) -> Arguments:
    image = picture(n // 2, n // 2 + 3).astype(np.float32)
    return {"image": image, "out": zeros(n, n + 1)}


@vy.kernel(workgroup=(32, 8))
def dilate(radius: vy.i32, image: vy.In[vy.u8, 2], out: vy.Out[vy.u8, 2]):
    y, x = vy.gid(1), vy.gid(0)
    h, w = image.shape[0], image.shape[1]
    if y < h and x < w:
        best: vy.u8 = 0
        for v in range(max(y - radius, 0), min(y + radius + 1, h)):
            for u in range(max(x - radius, 0), min(x + radius + 1, w)):
                best = max(best, image[v, u])
        out[y, x] = best


def dilate_data(n: int) -> Arguments:
    return {"radius": 2, "image": picture(n, n + 9), "out": zeros(n, n + 9, dtype=np.uint8)}


@vy.kernel(workgroup=(32, 8))
def alpha_blend(front: vy.In[vy.u8, 3], back: vy.In[vy.u8, 3], out: vy.Out[vy.u8, 3]):
    y, x = vy.gid(1), vy.gid(0)
    if y < out.shape[0] and x < out.shape[1]:
        alpha = vy.u32(front[y, x, 3])
        for c in range(3):
            mixed = vy.u32(front[y, x, c]) * alpha + vy.u32(back[y, x, c]) * (255 - alpha)
            out[y, x, c] = vy.u8((mixed + 127) // 255)


def alpha_blend_data(n: int) -> Arguments:
    front, back = picture(n, n + 3, 4, seed=1), picture(n, n + 3, 3, seed=2)
    return {"front": front, "back": back, "out": zeros(n, n + 3, 3, dtype=np.uint8)}


@vy.kernel(workgroup=(32, 8))
def bayer_green(raw: vy.In[vy.u16, 2], green: vy.Out[vy.u16, 2]):
    y, x = vy.gid(1), vy.gid(0)
    if 0 < y < raw.shape[0] - 1 and 0 < x < raw.shape[1] - 1:
        if (x + y) % 2 == 1:
            green[y, x] = raw[y, x]
        else:
            up, down = vy.i32(raw[y - 1, x]), vy.i32(raw[y + 1, x])
            left, right = vy.i32(raw[y, x - 1]), vy.i32(raw[y, x + 1])
            if abs(up - down) < abs(left - right):
                green[y, x] = vy.u16((up + down) // 2)
            else:
                green[y, x] = vy.u16((left + right) // 2)


def bayer_green_data(n: int) -> Arguments:
    raw = integers(np.uint16, 0, 4096, n, n + 7)
    return {"raw": raw, "green": zeros(*raw.shape, dtype=np.uint16)}


@vy.kernel
def sums_of_rows(image: vy.In[vy.u8, 2], out: vy.Out[vy.u32, 2]):
    y = vy.gid()
    if y < image.shape[0]:
        total: vy.u32 = 0
        for x in range(image.shape[1]):
            total += vy.u32(image[y, x])
            out[y, x] = total


@vy.kernel
def sums_of_columns(out: vy.InOut[vy.u32, 2]):
    x = vy.gid()
    if x < out.shape[1]:
        total: vy.u32 = 0
        for y in range(out.shape[0]):
            total += out[y, x]
            out[y, x] = total


def integral_image(image: Array, out: Array) -> None:
    sums_of_rows(image, out)
    sums_of_columns(out)


def integral_image_data(n: int) -> Arguments:
    return {"image": picture(n, n + 9), "out": zeros(n, n + 9, dtype=np.uint32)}


CASES = (
    Case("sobel", "image", [sobel], sobel_data, 1500, 21, ["edges"], ["image"]),
    Case(
        "gaussian_blur",
        "image",
        [blur_rows, blur_columns],
        gaussian_blur_data,
        1500,
        21,
        ["between", "out"],
        ["image"],
        gaussian_blur,
    ),
    Case(
        "resize_bilinear",
        "image",
        [resize_bilinear],
        resize_bilinear_data,
        1200,
        23,
        ["out"],
        ["image", "out"],
    ),
    Case("dilate", "image", [dilate], dilate_data, 700, 21, ["out"], ["image"]),
    Case("alpha_blend", "image", [alpha_blend], alpha_blend_data, 1200, 21, ["out"], ["out"]),
    Case("bayer_green", "image", [bayer_green], bayer_green_data, 1500, 21, ["green"], ["raw"]),
    Case(
        "integral_image",
        "image",
        [sums_of_rows, sums_of_columns],
        integral_image_data,
        1500,
        21,
        ["out"],
        ["image"],
        integral_image,
    ),
)
