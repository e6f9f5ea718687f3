"""Buffers: which of them the host gives, and which it gets."""

from __future__ import annotations

import pytest

from vyre.diagnostics import BuildError
from vyre.ir import BufferDecl, BufferHints, CacheLocality, DataType

U32 = DataType.U32
RW = BufferDecl.read_write("b", 0, U32)
SLOTS = [
    # declaration, input slot, output slot, allocated by the device
    (BufferDecl.read("b", 0, U32), True, False, False),
    (BufferDecl.uniform("b", 0, U32), True, False, False),
    (RW, True, True, False),
    (BufferDecl.write("b", 0, U32), False, True, True),
    (BufferDecl.output("b", 0, U32), False, True, True),
    (RW.with_pipeline_live_out(), False, True, True),
    (RW.with_pipeline_live_out().with_initial_value(), True, True, False),
    (BufferDecl.workgroup("b", 4, U32), False, False, False),
    (BufferDecl.scratch("b", 4, U32), False, False, False),
    (BufferDecl.local("b", 4, U32), False, False, False),
]


@pytest.mark.parametrize(("decl", "given", "returned", "allocated"), SLOTS)
def test_slots(decl: BufferDecl, given: bool, returned: bool, allocated: bool) -> None:
    assert decl.is_host_input is given
    assert decl.is_host_output is returned
    assert decl.is_device_allocated is allocated


def test_access() -> None:
    assert not BufferDecl.write("b", 0, U32).is_readable
    assert not BufferDecl.read("b", 0, U32).is_writable
    assert not BufferDecl.uniform("b", 0, U32).is_writable
    for decl in (RW, BufferDecl.workgroup("b", 1, U32), BufferDecl.local("b", 1, U32)):
        assert decl.is_readable
        assert decl.is_writable


def test_changed_copies_keep_the_rest() -> None:
    hints = BufferHints(1, 16, CacheLocality.STREAMING)
    decl = RW.with_count(7).with_hints(hints).with_name("c").with_binding(3)
    assert (decl.name, decl.binding, decl.count, decl.hints) == ("c", 3, 7, hints)
    assert (RW.name, RW.binding, RW.count) == ("b", 0, 0)
    assert decl.size_bytes == 28
    assert BufferDecl.read("t", 0, DataType.TENSOR).size_bytes is None


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda: BufferDecl.read("1b", 0, U32), "I005"),
        (lambda: BufferDecl.read("b", -1, U32), "I008"),
        (lambda: BufferDecl.read("b", 1 << 32, U32), "I008"),
        (lambda: BufferDecl.read("b", True, U32), "I008"),
        (lambda: BufferDecl.read("b", 0, "u32"), "I008"),  # pyright: ignore[reportArgumentType]
        (lambda: RW.with_count(-1), "I008"),
        (lambda: RW.with_count(1 << 32), "I008"),
        (lambda: RW.with_count(1.0), "I008"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_wrong_declarations_are_refused(build, code: str) -> None:
    with pytest.raises(BuildError) as caught:
        build()
    assert caught.value.code == code
