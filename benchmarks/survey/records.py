"""Records: arrays of structures, packed pixels, words and fields made of bytes."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

HEADER = 20
LINE = 30
WORDS = 8


def octets(n: int, seed: int = 1) -> Array:
    return integers(np.uint8, 0, 256, n, seed=seed)


@vy.kernel
def particle_steps(dt: vy.f32, gravity: vy.f32, p: vy.InOut[vy.f32]):
    """Each particle is x, y, z, vx, vy, vz; it bounces off the floor."""
    i = vy.gid()
    if i < len(p) // 6:
        vx, vy_, vz = p[6 * i + 3], p[6 * i + 4], p[6 * i + 5]
        vy_ -= gravity * dt
        x = p[6 * i] + vx * dt
        y = p[6 * i + 1] + vy_ * dt
        z = p[6 * i + 2] + vz * dt
        if y < 0.0:
            y = -y
            vy_ = -0.9 * vy_
        p[6 * i] = x
        p[6 * i + 1] = y
        p[6 * i + 2] = z
        p[6 * i + 4] = vy_


def particle_steps_data(n: int) -> Arguments:
    return {"dt": 0.01, "gravity": 9.81, "p": floats(6 * n, low=-1.0)}


@vy.kernel
def kinetic_energies(p: vy.In[vy.f32, 2], mass: vy.In[vy.f32], energy: vy.Out[vy.f32]):
    """The same records as an array with a second axis, of which half is read."""
    i = vy.gid()
    if i < p.shape[0]:
        vx, vy_, vz = p[i, 3], p[i, 4], p[i, 5]
        energy[i] = 0.5 * mass[i] * (vx * vx + vy_ * vy_ + vz * vz)


def kinetic_energies_data(n: int) -> Arguments:
    return {"p": floats(n, 6, low=-1.0), "mass": floats(n, seed=2), "energy": zeros(n)}


@vy.kernel
def rgba_to_grey(pixels: vy.In[vy.u8], grey: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(grey):
        r = vy.u32(pixels[4 * i])
        g = vy.u32(pixels[4 * i + 1])
        b = vy.u32(pixels[4 * i + 2])
        grey[i] = vy.u8((77 * r + 150 * g + 29 * b) >> 8)


def rgba_to_grey_data(n: int) -> Arguments:
    return {"pixels": octets(4 * n), "grey": zeros(n, dtype=np.uint8)}


@vy.kernel
def rgb_to_grey(pixels: vy.In[vy.u8], grey: vy.Out[vy.u8]):
    """With the weights as floats, as in most tutorials."""
    i = vy.gid()
    if i < len(grey):
        r, g, b = pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]
        grey[i] = vy.u8(0.299 * vy.f32(r) + 0.587 * vy.f32(g) + 0.114 * vy.f32(b))


def rgb_to_grey_data(n: int) -> Arguments:
    return {"pixels": octets(3 * n), "grey": zeros(n, dtype=np.uint8)}


@vy.kernel
def grey_to_rgba(grey: vy.In[vy.u8], pixels: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(grey):
        for c in range(3):
            pixels[4 * i + c] = grey[i]
        pixels[4 * i + 3] = 255


def grey_to_rgba_data(n: int) -> Arguments:
    return {"grey": octets(n), "pixels": zeros(4 * n, dtype=np.uint8)}


@vy.kernel
def tint_rgb(
    red: vy.u32, green: vy.u32, blue: vy.u32, grey: vy.In[vy.u8], pixels: vy.Out[vy.u8, 2]
):
    """Three bytes for each, the brightness of a colour."""
    i = vy.gid()
    if i < len(grey):
        value = vy.u32(grey[i])
        pixels[i, 0] = vy.u8(red * value // 255)
        pixels[i, 1] = vy.u8(green * value // 255)
        pixels[i, 2] = vy.u8(blue * value // 255)


def tint_rgb_data(n: int) -> Arguments:
    return {
        "red": 240,
        "green": 200,
        "blue": 145,
        "grey": octets(n),
        "pixels": zeros(n, 3, dtype=np.uint8),
    }


@vy.kernel
def brighten_words(percent: vy.u32, image: vy.InOut[vy.u32]):
    """Pixels in words, 0xAABBGGRR: taken apart, changed, put together."""
    i = vy.gid()
    if i < len(image):
        pixel = image[i]
        r = min((pixel & 0xFF) * percent // 100, 255)
        g = min(((pixel >> 8) & 0xFF) * percent // 100, 255)
        b = min(((pixel >> 16) & 0xFF) * percent // 100, 255)
        image[i] = (pixel & 0xFF000000) | (b << 16) | (g << 8) | r


def brighten_words_data(n: int) -> Arguments:
    return {"percent": 130, "image": integers(np.uint32, 0, 2**32 - 1, n)}


@vy.kernel
def complex_products(a: vy.In[vy.f32], b: vy.In[vy.f32], out: vy.Out[vy.f32]):
    """Real and imaginary parts take turns."""
    i = vy.gid()
    if i < len(out) // 2:
        ar, ai = a[2 * i], a[2 * i + 1]
        br, bi = b[2 * i], b[2 * i + 1]
        out[2 * i] = ar * br - ai * bi
        out[2 * i + 1] = ar * bi + ai * br


def complex_products_data(n: int) -> Arguments:
    return {
        "a": floats(2 * n, seed=1, low=-1.0),
        "b": floats(2 * n, seed=2, low=-1.0),
        "out": zeros(2 * n),
    }


@vy.func
def big_endian_16(data, at):
    return (vy.u16(data[at]) << 8) | vy.u16(data[at + 1])


@vy.func
def big_endian_32(data, at):
    return (
        (vy.u32(data[at]) << 24)
        | (vy.u32(data[at + 1]) << 16)
        | (vy.u32(data[at + 2]) << 8)
        | vy.u32(data[at + 3])
    )


@vy.kernel
def ip_headers(
    data: vy.In[vy.u8],
    length: vy.Out[vy.u16],
    protocol: vy.Out[vy.u8],
    source: vy.Out[vy.u32],
    target: vy.Out[vy.u32],
):
    """The fields of IPv4 headers, one after the other."""
    i = vy.gid()
    if i < len(length):
        at = HEADER * i
        length[i] = big_endian_16(data, at + 2)
        protocol[i] = data[at + 9]
        source[i] = big_endian_32(data, at + 12)
        target[i] = big_endian_32(data, at + 16)


def ip_headers_data(n: int) -> Arguments:
    return {
        "data": octets(HEADER * n),
        "length": zeros(n, dtype=np.uint16),
        "protocol": zeros(n, dtype=np.uint8),
        "source": zeros(n, dtype=np.uint32),
        "target": zeros(n, dtype=np.uint32),
    }


@vy.kernel
def ip_checksums(data: vy.In[vy.u8], checksum: vy.Out[vy.u16]):
    """The sum of ten big-endian words, with the carries added, of each header."""
    i = vy.gid()
    if i < len(checksum):
        total: vy.u32 = 0
        for k in range(0, HEADER, 2):
            if k != 10:
                total += vy.u32(data[HEADER * i + k]) << 8 | vy.u32(data[HEADER * i + k + 1])
        while total >> 16 != 0:
            total = (total & 0xFFFF) + (total >> 16)
        checksum[i] = vy.u16(~total & 0xFFFF)


def ip_checksums_data(n: int) -> Arguments:
    return {"data": octets(HEADER * n), "checksum": zeros(n, dtype=np.uint16)}


@vy.kernel
def fixed_fields(
    text: vy.In[vy.u8], number: vy.Out[vy.u32], cents: vy.Out[vy.i32], pieces: vy.Out[vy.u16]
):
    """Lines of 30 bytes, `00001234,  -123.45,    17,...`: digits with spaces in front of them."""
    i = vy.gid()
    if i < len(number):
        at = LINE * i
        n: vy.u32 = 0
        for k in range(8):
            n = n * 10 + vy.u32(text[at + k] - ord("0"))
        number[i] = n
        price, negative = 0, False
        for k in range(9, 18):
            c = text[at + k]
            if c == ord("-"):
                negative = True
            elif ord("0") <= c <= ord("9"):
                price = price * 10 + vy.i32(c - ord("0"))
        cents[i] = -price if negative else price
        count: vy.u16 = 0
        for k in range(19, 25):
            c = text[at + k]
            if c != ord(" "):
                count = count * 10 + vy.u16(c - ord("0"))
        pieces[i] = count


def fixed_fields_data(n: int) -> Arguments:
    rng = random()
    columns = zip(
        rng.integers(0, 10**8, n),
        rng.integers(-99999, 999999, n) / 100,
        rng.integers(0, 65536, n),
        strict=True,
    )
    lines = b"".join(b"%08d,%9.2f,%6d,...\n" % row for row in columns)
    return {
        "text": np.frombuffer(lines, np.uint8).copy(),
        "number": zeros(n, dtype=np.uint32),
        "cents": zeros(n, dtype=np.int32),
        "pieces": zeros(n, dtype=np.uint16),
    }


@vy.kernel
def rotations(q: vy.In[vy.f32, 2], v: vy.In[vy.f32, 2], out: vy.Out[vy.f32, 2]):
    """Vectors turned by quaternions w, x, y, z: v + 2w(u × v) + 2u × (u × v)."""
    i = vy.gid()
    if i < out.shape[0]:
        w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        a, b, c = v[i, 0], v[i, 1], v[i, 2]
        tx = 2.0 * (y * c - z * b)
        ty = 2.0 * (z * a - x * c)
        tz = 2.0 * (x * b - y * a)
        out[i, 0] = a + w * tx + (y * tz - z * ty)
        out[i, 1] = b + w * ty + (z * tx - x * tz)
        out[i, 2] = c + w * tz + (x * ty - y * tx)


def rotations_data(n: int) -> Arguments:
    q = floats(n, 4, seed=1, low=-1.0)
    q /= np.sqrt((q * q).sum(axis=1, keepdims=True))
    return {"q": q, "v": floats(n, 3, seed=2, low=-1.0), "out": zeros(n, 3)}


@vy.kernel
def triangle_boxes(corners: vy.In[vy.f32], box: vy.Out[vy.f32]):
    """Of nine numbers each, the least x, y, z and the greatest."""
    i = vy.gid()
    if i < len(corners) // 9:
        for axis in range(3):
            a = corners[9 * i + axis]
            b = corners[9 * i + 3 + axis]
            c = corners[9 * i + 6 + axis]
            box[6 * i + axis] = min(a, min(b, c))
            box[6 * i + 3 + axis] = max(a, max(b, c))


def triangle_boxes_data(n: int) -> Arguments:
    return {"corners": floats(9 * n, low=-1.0), "box": zeros(6 * n)}


@vy.kernel
def triangle_normals(corners: vy.In[vy.f32, 3], normal: vy.Out[vy.f32, 2]):
    """The same triangles as an array of three axes; not normalised."""
    i = vy.gid()
    if i < corners.shape[0]:
        ux = corners[i, 1, 0] - corners[i, 0, 0]
        uy = corners[i, 1, 1] - corners[i, 0, 1]
        uz = corners[i, 1, 2] - corners[i, 0, 2]
        wx = corners[i, 2, 0] - corners[i, 0, 0]
        wy = corners[i, 2, 1] - corners[i, 0, 1]
        wz = corners[i, 2, 2] - corners[i, 0, 2]
        normal[i, 0] = uy * wz - uz * wy
        normal[i, 1] = uz * wx - ux * wz
        normal[i, 2] = ux * wy - uy * wx


def triangle_normals_data(n: int) -> Arguments:
    return {"corners": floats(n, 3, 3, low=-1.0), "normal": zeros(n, 3)}


@vy.kernel
def little_endian_sums(data: vy.In[vy.u8], total: vy.Out[vy.u64]):
    """The sum of eight 64-bit words in each record of 64 bytes."""
    i = vy.gid()
    if i < len(total):
        result: vy.u64 = 0
        for word in range(WORDS):
            value: vy.u64 = 0
            for k in range(8):
                value |= vy.u64(data[(i * WORDS + word) * 8 + k]) << (8 * k)
            result += value
        total[i] = result


def little_endian_sums_data(n: int) -> Arguments:
    return {"data": octets(8 * WORDS * n), "total": zeros(n, dtype=np.uint64)}


@vy.kernel
def samples_24_bit(data: vy.In[vy.u8], left: vy.Out[vy.f32], right: vy.Out[vy.f32]):
    """Stereo sound in little-endian samples of three bytes, two for each time."""
    i = vy.gid()
    if i < len(left):
        at = 6 * i
        a = vy.i32(data[at]) | vy.i32(data[at + 1]) << 8 | vy.i32(data[at + 2]) << 16
        b = vy.i32(data[at + 3]) | vy.i32(data[at + 4]) << 8 | vy.i32(data[at + 5]) << 16
        if a >= 8388608:
            a -= 16777216
        if b >= 8388608:
            b -= 16777216
        left[i] = vy.f32(a) / 8388608.0
        right[i] = vy.f32(b) / 8388608.0


def samples_24_bit_data(n: int) -> Arguments:
    return {"data": octets(6 * n), "left": zeros(n), "right": zeros(n)}


@vy.kernel
def flat_row_norms(length: vy.u32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """Rows of one length in a flat array."""
    i = vy.gid()
    if i < len(y):
        total = 0.0
        for p in range(i * length, (i + 1) * length):
            total += x[p] * x[p]
        y[i] = total


def flat_row_norms_data(n: int) -> Arguments:
    return {"length": 8, "x": floats(8 * n), "y": zeros(n)}


CASES = (
    Case(
        "flat_row_norms",
        "records",
        [flat_row_norms],
        flat_row_norms_data,
        200_001,
        503,
        ["y"],
        ["y"],
    ),
    Case(
        "particle_steps",
        "records",
        [particle_steps],
        particle_steps_data,
        800_001,
        131,
        ["p"],
        ["p"],
    ),
    Case(
        "kinetic_energies",
        "records",
        [kinetic_energies],
        kinetic_energies_data,
        800_001,
        131,
        ["energy"],
        ["energy"],
    ),
    Case(
        "rgba_to_grey",
        "records",
        [rgba_to_grey],
        rgba_to_grey_data,
        4_000_001,
        131,
        ["grey"],
        ["grey"],
    ),
    Case(
        "rgb_to_grey",
        "records",
        [rgb_to_grey],
        rgb_to_grey_data,
        2_000_001,
        131,
        ["grey"],
        ["grey"],
    ),
    Case(
        "grey_to_rgba",
        "records",
        [grey_to_rgba],
        grey_to_rgba_data,
        2_000_001,
        131,
        ["pixels"],
        ["grey"],
    ),
    Case("tint_rgb", "records", [tint_rgb], tint_rgb_data, 2_000_001, 131, ["pixels"], ["grey"]),
    Case(
        "brighten_words",
        "records",
        [brighten_words],
        brighten_words_data,
        2_500_001,
        131,
        ["image"],
        ["image"],
    ),
    Case(
        "complex_products",
        "records",
        [complex_products],
        complex_products_data,
        2_000_001,
        131,
        ["out"],
        ["out"],
        tolerance=1e-6,  # gcc 12 makes this vfmaddsub, in spite of -ffp-contract=off
    ),
    Case(
        "ip_headers",
        "records",
        [ip_headers],
        ip_headers_data,
        500_001,
        131,
        ["length", "protocol", "source", "target"],
        ["length"],
    ),
    Case(
        "ip_checksums",
        "records",
        [ip_checksums],
        ip_checksums_data,
        300_001,
        131,
        ["checksum"],
        ["checksum"],
    ),
    Case(
        "fixed_fields",
        "records",
        [fixed_fields],
        fixed_fields_data,
        100_001,
        131,
        ["number", "cents", "pieces"],
        ["number"],
    ),
    Case("rotations", "records", [rotations], rotations_data, 600_001, 131, ["out"], ["out"]),
    Case(
        "triangle_boxes",
        "records",
        [triangle_boxes],
        triangle_boxes_data,
        600_001,
        131,
        ["box"],
        ["corners"],
    ),
    Case(
        "triangle_normals",
        "records",
        [triangle_normals],
        triangle_normals_data,
        500_001,
        131,
        ["normal"],
        ["normal"],
    ),
    Case(
        "little_endian_sums",
        "records",
        [little_endian_sums],
        little_endian_sums_data,
        100_001,
        131,
        ["total"],
        ["total"],
    ),
    Case(
        "samples_24_bit",
        "records",
        [samples_24_bit],
        samples_24_bit_data,
        500_001,
        131,
        ["left", "right"],
        ["left"],
    ),
)
