from __future__ import annotations

import ctypes
import mmap
import random
import struct
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from vyre.backends.llvm import elf, host, jit
from vyre.backends.llvm.image import Linked
from vyre.backends.llvm.linked import link
from vyre.backends.llvm.loader import LinkedCode, NativeCode, OrcCode, load_object, ready_to_load
from vyre.diagnostics import BackendError

SOURCE = """
declare double @cos(double)
declare ptr @memcpy(ptr, ptr, i64)
@table = internal constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
@counter = internal global i32 5
@zeros = internal global [100 x i32] zeroinitializer
@pointer = internal global ptr @counter

define i32 @pick(i32 %i) {
  %p = getelementptr [4 x i32], ptr @table, i64 0, i32 %i
  %v = load volatile i32, ptr %p
  ret i32 %v
}
define i32 @count() {
  %p = load volatile ptr, ptr @pointer
  %old = load i32, ptr %p
  %new = add i32 %old, 1
  store i32 %new, ptr %p
  %z = load volatile i32, ptr @zeros
  %sum = add i32 %new, %z
  ret i32 %sum
}
define double @cosine(double %x) {
  %r = call double @cos(double %x)
  ret double %r
}
define void @copy(ptr %to, ptr %from, i64 %n) {
  %r = call ptr @memcpy(ptr %to, ptr %from, i64 %n)
  ret void
}
"""
EXPORTS = ("pick", "count", "cosine", "copy")
Loader = Callable[[bytes, Sequence[str], Mapping[str, int]], NativeCode]
PAIR = (jit.LEAN, jit.QUICK)
LOADERS: list[Loader] = [LinkedCode, OrcCode]


def compiled(pipeline: jit.Pipeline = jit.STANDARD, source: str = SOURCE) -> bytes:
    return jit.compile_text(source, host.native(), pipeline).object


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("pipeline", [jit.QUICK, jit.STANDARD, jit.FULL], ids=lambda p: p.name)
def test_code_constants_data_and_calls(loader: Loader, pipeline: jit.Pipeline) -> None:
    code = loader(compiled(pipeline), EXPORTS, {})
    pick = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(code.address("pick"))
    assert [pick(i) for i in range(4)] == [10, 20, 30, 40]
    count = ctypes.CFUNCTYPE(ctypes.c_int)(code.address("count"))
    assert [count(), count()] == [6, 7]
    cosine = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code.address("cosine"))
    assert cosine(0.0) == 1.0
    copy = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
        code.address("copy")
    )
    a, b = np.arange(8), np.zeros(8, int)
    copy(b.ctypes.data, a.ctypes.data, a.nbytes)
    assert (a == b).all()


def test_objects_find_what_others_define_and_keep_their_own() -> None:
    own = "define internal i32 @same() noinline { ret i32 NUMBER }"
    call = " %a = call i32 @same() %b = call i32 @OTHER(i32 %i) %r = add i32 %a, %b ret i32 %r }"
    first = own.replace("NUMBER", "100") + " declare i32 @second(i32) define i32 @first(i32 %i) {"
    second = own.replace("NUMBER", "20") + " declare i32 @abs(i32) define i32 @second(i32 %i) {"
    sources = (first + call.replace("OTHER", "second"), second + call.replace("OTHER", "abs"))
    parts = [compiled(pipeline, text) for pipeline, text in zip(PAIR, sources, strict=True)]
    code = load_object(ready_to_load(parts[0], ("first",), parts[1:]), ("first",))
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(code.address("first"))
    assert function(-3) == 123


def test_each_load_has_its_own_data() -> None:
    data = compiled()
    first, second = load_object(data, EXPORTS), load_object(data, EXPORTS)
    counts = [ctypes.CFUNCTYPE(ctypes.c_int)(c.address("count")) for c in (first, second)]
    assert [counts[0](), counts[0](), counts[1]()] == [6, 7, 6]


def test_no_page_is_writable_and_executable() -> None:
    code = LinkedCode(compiled(), EXPORTS, {})
    at = code.address("pick")
    with open("/proc/self/maps") as maps:
        ours = [line.split()[1] for line in maps if _holds(line, at)]
    assert ours == ["r-xp"]


def _holds(line: str, address: int) -> bool:
    low, high = (int(part, 16) for part in line.split()[0].split("-"))
    return low <= address < high


def test_given_symbols_come_first() -> None:
    double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x + 100.0)
    address = ctypes.cast(double, ctypes.c_void_p).value or 0
    for loader in LOADERS:
        code = loader(compiled(), EXPORTS, {"cos": address})
        cosine = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code.address("cosine"))
        assert cosine(1.0) == 101.0


def test_an_unknown_symbol_is_named() -> None:
    source = (
        "declare void @nowhere_at_all()\ndefine void @f() { call void @nowhere_at_all() ret void }"
    )
    with pytest.raises(BackendError, match="nowhere_at_all") as caught:
        load_object(compiled(source=source), ("f",))
    assert caught.value.code == "B104"


def test_a_missing_export_is_named() -> None:
    with pytest.raises(BackendError, match="absent") as caught:
        load_object(compiled(), ("pick", "absent"))
    assert caught.value.code == "B103"


@pytest.mark.parametrize(
    "data", [b"", b"not an object", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(58)]
)
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(BackendError) as caught:
        LinkedCode(data, (), {})
    assert caught.value.code == "B103"


def test_an_object_of_another_machine_is_refused() -> None:
    other = host.Host("aarch64-unknown-linux-gnu", "generic", "")
    data = jit.compile_text("define void @f() { ret void }", other).object
    with pytest.raises(BackendError, match="instruction set"):
        LinkedCode(data, ("f",), {})


def test_thread_local_data_is_refused() -> None:
    source = "@t = thread_local global i32 1\ndefine ptr @f() { ret ptr @t }"
    with pytest.raises(BackendError):
        LinkedCode(compiled(source=source), ("f",), {})


def test_torn_objects_are_errors_and_nothing_else() -> None:
    data = compiled()
    refused = 0
    for length in range(0, len(data), 7):
        try:
            link(data[:length], EXPORTS)
        except BackendError:
            refused += 1
    assert refused == len(range(0, len(data), 7))


def test_damaged_objects_never_escape_as_other_errors() -> None:
    data = compiled()
    rng = random.Random(7)
    for _ in range(1500):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(data))] = rng.randrange(256)
        try:
            if (
                sum(section.size for section in elf.read_elf(bytes(damaged)).sections.values())
                < 1 << 24
            ):
                link(bytes(damaged), ())
        except BackendError:
            continue


def test_an_image_is_placed_like_the_object_it_was_made_of() -> None:
    image = ready_to_load(compiled(), EXPORTS)
    assert Linked.from_bytes(image) == link(compiled(), EXPORTS)
    codes = [load_object(image, EXPORTS) for _ in range(2)]
    counts = [ctypes.CFUNCTYPE(ctypes.c_int)(code.address("count")) for code in codes]
    assert [counts[0](), counts[0](), counts[1]()] == [6, 7, 6]
    cosine = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(codes[0].address("cosine"))
    assert cosine(0.0) == 1.0


def test_torn_and_damaged_images_are_errors_and_nothing_else() -> None:
    image = ready_to_load(compiled(), EXPORTS)
    for length in range(len(image)):
        with pytest.raises(BackendError):
            load_object(image[:length], EXPORTS)
    head = len(image) - len(Linked.from_bytes(image).image)
    rng = random.Random(11)
    for _ in range(1500):
        damaged = bytearray(image)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(head)] = rng.randrange(256)
        try:
            linked = Linked.from_bytes(bytes(damaged))
        except BackendError:
            continue
        places = [at for at, *_ in (*linked.own, *linked.imports)]
        assert all(0 <= at <= linked.size - 8 for at in places)
        assert len(linked.image) <= linked.size
        assert all(0 <= at < linked.size for at in linked.exports.values())


def test_an_image_without_the_export_is_refused() -> None:
    with pytest.raises(BackendError, match="absent"):
        load_object(ready_to_load(compiled(), EXPORTS), ("pick", "absent"))


AARCH64 = """
declare void @far()
@table = internal constant [2 x i64] [i64 1, i64 2]
@pointer = global ptr @table
define ptr @f() {
  call void @far()
  ret ptr @table
}
"""


def test_aarch64_addresses_and_calls() -> None:
    target = host.Host("aarch64-unknown-linux-gnu", "generic", "")
    linked = link(jit.compile_text(AARCH64, target).object, ("f", "pointer"))
    far = 0x1234_5678_9ABC
    with mmap.mmap(-1, linked.size) as memory:
        base = 0x7F00_0000_0000
        linked.place(memory, base, {"far": far}.__getitem__)
        image = bytearray(memory)
    at = linked.exports["f"]
    (pointer,) = struct.unpack_from("<Q", image, linked.exports["pointer"])
    assert struct.unpack_from("<2Q", image, pointer - base) == (1, 2)
    words = struct.unpack_from("<8I", image, at)
    (branch_at,) = [i for i, word in enumerate(words) if word >> 26 == 0b100101]
    branch = _signed(words[branch_at] & 0x3FFFFFF, 26) * 4
    assert _address_of_load(image, base, at + branch_at * 4 + branch) == far
    (page_at,) = [i for i, word in enumerate(words) if word & 0x9F000000 == 0x90000000]
    page = _page(words[page_at], base + at + page_at * 4)
    offsets = [word >> 10 & 0xFFF for word in words if word & 0xFFC00000 == 0x91000000]
    assert pointer - page in offsets


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _page(word: int, at: int) -> int:
    pages = _signed((word >> 29 & 3) | (word >> 5 & 0x7FFFF) << 2, 21)
    return (at & ~0xFFF) + (pages << 12)


def _address_of_load(memory: bytearray, base: int, stub: int) -> int:
    """What the adrp, ldr, br of a jump stub ends up at."""
    adrp, load, branch, _ = struct.unpack_from("<4I", memory, stub)
    assert branch == 0xD61F0220
    slot = _page(adrp, base + stub) + (load >> 10 & 0xFFF) * 8
    (target,) = struct.unpack_from("<Q", memory, slot - base)
    return target
