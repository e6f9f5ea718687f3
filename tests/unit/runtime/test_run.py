"""`vyre.run`: binding by name and by position, what is refused, what is left alone."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest

import vyre as vy
from vyre.config import config
from vyre.diagnostics import ArgumentError, DeadlineError, DispatchError, TrapError, VyreError
from vyre.ir import BufferDecl, DataType, Expr, MemoryOrdering, Node, Program
from vyre.plan import fuse
from vyre.runtime import run

U32, F32 = DataType.U32, DataType.F32
I = Expr.gid(0)  # noqa: E741
DEVICES = ["reference", "cpu"]


def guarded(buffer, *body):
    return [Node.if_(Expr.buf_len(buffer) > I, body)]


ADD = Program.wrapped(
    [BufferDecl.read("a", 0, U32), BufferDecl.read_write("x", 1, U32)],
    (64, 1, 1),
    guarded("x", Node.store("x", I, Expr.load("x", I) + Expr.load("a", I))),
)
SQUARES = Program.wrapped(
    [BufferDecl.read("a", 0, U32), BufferDecl.output("out", 1, U32)],
    (64, 1, 1),
    guarded("out", Node.store("out", I, Expr.load("a", I) * Expr.load("a", I))),
)


def numbers(n=100):
    return np.arange(n, dtype=np.uint32)


@pytest.mark.parametrize("device", DEVICES)
def test_by_name_and_by_position(device):
    a, x = numbers(), numbers() * 2
    assert np.array_equal(run(ADD, {"a": a, "x": x}, device=device)["x"], a * 3)
    (by_position,) = run(ADD, [a, x], device=device)
    assert np.array_equal(by_position, a * 3)


@pytest.mark.parametrize("device", DEVICES)
def test_the_callers_arrays_are_left_alone_unless_asked(device):
    a, x = numbers(), numbers()
    run(ADD, {"a": a, "x": x}, device=device)
    assert np.array_equal(x, numbers())
    outputs = run(ADD, {"a": a, "x": x}, device=device, in_place=True)
    assert np.array_equal(x, numbers() * 2)
    assert np.array_equal(a, numbers())
    assert outputs["x"] is x


@pytest.mark.parametrize("device", DEVICES)
def test_outputs_begin_as_zeros_and_take_their_size_from_the_inputs_or_from_sizes(device):
    assert np.array_equal(run(SQUARES, {"a": numbers()}, device=device)["out"], numbers() ** 2)
    longer = run(SQUARES, {"a": numbers(10)}, sizes={"out": 20}, device=device)["out"]
    assert longer.tolist() == [*(n * n for n in range(10)), *[0] * 10]


class Interface:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


class Capsule:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def mapped(array):
    made = mmap.mmap(-1, array.nbytes)
    made.write(array.tobytes())
    return made


@pytest.mark.parametrize(
    "wrap",
    [
        lambda a: a.tobytes(),
        lambda a: bytearray(a.tobytes()),
        lambda a: memoryview(a.tobytes()),
        lambda a: (ctypes.c_uint32 * len(a))(*a.tolist()),
        mapped,
        Interface,
        Capsule,
        lambda a: a.reshape(10, 10),
        lambda a: np.repeat(a, 2)[::2],
        lambda a: np.asfortranarray(a.reshape(10, 10)).T.reshape(-1, order="F").copy(),
    ],
    ids=[
        "bytes",
        "bytearray",
        "memoryview",
        "ctypes",
        "mmap",
        "interface",
        "dlpack",
        "2d",
        "strided",
        "copied",
    ],
)
def test_whatever_holds_memory_is_an_array(wrap):
    a = numbers()
    outputs = run(ADD, {"a": wrap(a), "x": numbers()}, device="cpu")
    assert np.array_equal(np.asarray(outputs["x"]).reshape(-1), a * 2)


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"a": numbers()}, "D003"),
        ({"a": numbers(), "x": numbers(), "z": numbers()}, "D004"),
        ({"a": numbers().astype(np.float32), "x": numbers()}, "D005"),
        ({"a": numbers().astype(np.int64), "x": numbers()}, "D005"),
        ({"a": object(), "x": numbers()}, "D012"),
        ({"a": b"123", "x": numbers()}, "D031"),
        ([numbers()], "D007"),
    ],
)
def test_what_is_wrong_with_an_argument_is_said(inputs, code):
    with pytest.raises(ArgumentError) as caught:
        run(ADD, inputs, device="reference")
    assert caught.value.code == code
    assert caught.value.fix


def test_all_missing_names_are_reported_at_once():
    with pytest.raises(ArgumentError) as caught:
        run(ADD, {"b": numbers()}, device="reference")
    assert caught.value.codes == ("D004", "D003", "D003")


def test_a_declared_length_is_kept():
    fixed = ADD.with_rewritten_buffers([ADD.buffers[0].with_count(8), ADD.buffers[1]])
    with pytest.raises(ArgumentError) as caught:
        run(fixed, {"a": numbers(7), "x": numbers()}, device="reference")
    assert caught.value.code == "D006"


def test_one_array_under_two_names():
    x = numbers()
    assert np.array_equal(run(ADD, {"a": x, "x": x}, device="cpu")["x"], numbers() * 2)
    with pytest.raises(ArgumentError) as caught:
        run(ADD, {"a": x, "x": x}, device="cpu", in_place=True)
    assert caught.value.code == "D011"


def test_overlapping_views_under_two_names():
    x = numbers(200)
    with pytest.raises(ArgumentError) as caught:
        run(ADD, {"a": x[50:150], "x": x[:100]}, device="cpu", in_place=True)
    assert caught.value.code == "D011"
    run(ADD, {"a": x[100:], "x": x[:100]}, device="cpu", in_place=True)
    assert x[1] == 102


def test_a_read_only_array_cannot_be_changed_in_place():
    x = numbers()
    x.flags.writeable = False
    with pytest.raises(ArgumentError) as caught:
        run(ADD, {"a": numbers(), "x": x}, device="cpu", in_place=True)
    assert caught.value.code == "D014"


@pytest.mark.parametrize("deadline", [0, -1, float("nan"), float("inf")])
def test_impossible_deadlines(deadline):
    with pytest.raises(DispatchError) as caught:
        run(ADD, {"a": numbers(), "x": numbers()}, device="cpu", deadline=deadline)
    assert caught.value.code == "D013"


ENDLESS = Program.wrapped(
    [BufferDecl.read_write("x", 0, U32)], (1, 1, 1), [Node.while_(Expr.bool_(True), [])]
)


@pytest.mark.parametrize("device", DEVICES)
def test_a_program_that_never_ends_is_stopped_and_the_process_goes_on(device):
    with pytest.raises(DeadlineError):
        run(ENDLESS, {"x": numbers()}, device=device, deadline=0.2, grid=1)
    assert np.array_equal(
        run(ADD, {"a": numbers(), "x": numbers()}, device=device)["x"], numbers() * 2
    )


@pytest.mark.parametrize("device", DEVICES)
def test_a_trap_names_its_tag_and_the_invocation(device):
    asserting = Program.wrapped(
        [BufferDecl.read_write("x", 0, U32)],
        (8, 1, 1),
        [Node.if_(Expr.load("x", I).eq(Expr.u32(13)), [Node.trap("unlucky")])],
    )
    with pytest.raises(TrapError) as caught:
        run(asserting, {"x": numbers(32)}, grid=4, device=device)
    assert caught.value.tag == "unlucky"
    assert caught.value.invocation == (13, 0, 0)


@pytest.mark.parametrize("device", DEVICES)
def test_the_grid_may_come_from_a_buffer(device):
    counting = Program.wrapped(
        [BufferDecl.read("n", 0, U32), BufferDecl.read_write("x", 1, U32)],
        (4, 1, 1),
        [Node.indirect_dispatch("n", 1), Node.eval(Expr.atomic_add("x", 0, Expr.u32(1)))],
    )
    n = np.array([99, 3, 2, 1], np.uint32)
    outputs = run(counting, {"n": n, "x": np.zeros(1, np.uint32)}, device=device)
    assert outputs["x"][0] == 4 * 6


@pytest.mark.parametrize("device", DEVICES)
def test_empty_arrays_run_nothing(device):
    empty = np.zeros(0, np.uint32)
    assert run(ADD, {"a": empty, "x": empty}, device=device)["x"].size == 0


def test_printing_shows_on_standard_output(capsys):
    talking = Program.wrapped(
        [BufferDecl.read_write("x", 0, F32)],
        (2, 1, 1),
        [Node.print_("value", Expr.load("x", I), I)],
    )
    run(talking, {"x": np.array([1.5, 2.5], np.float32)}, grid=1, device="cpu")
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "(0, 0, 0) value: 1.5, 0",
        "(1, 0, 0) value: 2.5, 1",
    ]


def talks_then_traps(*between):
    """Says what its element is, and traps unless that is 0."""
    return Program.wrapped(
        [BufferDecl.read_write("x", 0, F32)],
        (1, 1, 1),
        [
            Node.print_("value", Expr.load("x", I)),
            *between,
            Node.if_(Expr.load("x", I) > Expr.f32(0), [Node.trap("bad")], []),
        ],
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("between", [(), (Node.barrier(MemoryOrdering.GRID_SYNC),)])
def test_what_was_printed_before_a_trap_is_shown(device, between, capsys):
    program = talks_then_traps(*between)
    array = np.zeros(1, np.float32)
    # The later launches take the shorter ways of a dispatch that was seen before.
    for value in (0.0, 1.5, 1.5, 1.5):
        array[0] = value
        if value:
            with pytest.raises(TrapError) as caught:
                run(program, {"x": array}, grid=1, device=device, in_place=True)
            assert caught.value.printed == ("(0, 0, 0) value: 1.5",)
        else:
            run(program, {"x": array}, grid=1, device=device, in_place=True)
        assert capsys.readouterr().out.splitlines() == [f"(0, 0, 0) value: {value}"]


@pytest.mark.parametrize("device", DEVICES)
def test_what_was_printed_before_the_deadline_is_shown(device, capsys):
    endless = Program.wrapped(
        [BufferDecl.read_write("x", 0, F32)],
        (1, 1, 1),
        [
            Node.print_("value", Expr.load("x", I)),
            Node.while_(Expr.load("x", I) > Expr.f32(0), [Node.store("x", I, Expr.f32(1))]),
        ],
    )
    with pytest.raises(DeadlineError):
        run(endless, {"x": np.ones(1, np.float32)}, grid=1, device=device, deadline=0.2)
    assert capsys.readouterr().out.splitlines() == ["(0, 0, 0) value: 1.0"]


EVERYWHERE = [info.id for info in vy.devices() if info.available]


@vy.kernel(workgroup=64)
def evens(y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y) and i % 2 == 0:
        y.atomic_add(i, 1)


@pytest.fixture
def _own_config():
    yield
    config.cache_clear()


OUTPUTS = {
    "of a kernel": evens.program(),
    "of a fused program": fuse([evens.program(), evens.program()], names=["one", "two"]).program,
    "written by hand": Program.wrapped(
        [BufferDecl.output("y", 0, DataType.U32)],
        (64, 1, 1),
        [Node.if_(I.eq(Expr.u32(0)) | I.eq(Expr.u32(2)), [Node.store("y", I, Expr.u32(1))])],
    ),
}


@pytest.mark.parametrize("device", EVERYWHERE)
@pytest.mark.parametrize("program", OUTPUTS.values(), ids=OUTPUTS.keys())
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.usefixtures("_own_config")
def test_an_output_begins_as_zeros_in_an_array_of_the_callers(device, program, check, monkeypatch):
    monkeypatch.setenv("VYRE_CHECK", str(int(check)))
    config.cache_clear()
    own = np.full(4, 77, np.uint32)
    for _ in range(4):
        assert run(program, {"y": own}, device=device)["y"].tolist() == [1, 0, 1, 0]
        assert own.tolist() == [77] * 4
        spread = np.full(8, 77, np.uint32)
        run(program, {"y": spread[::2]}, device=device, in_place=True)
        assert spread.tolist() == [1, 77, 0, 77] * 2
        raw = bytearray(b"M" * 16)
        run(program, {"y": raw}, device=device, in_place=True)
        assert np.frombuffer(raw, np.uint32).tolist() == [1, 0, 1, 0]
    resident = vy.array(own, device=device)
    for _ in range(4):
        own[:] = 77
        run(program, {"y": own}, device=device, in_place=True)
        assert own.tolist() == [1, 0, 1, 0]
        resident.write(np.full(4, 77, np.uint32))
        run(program, {"y": resident}, device=device)
        assert resident.numpy().tolist() == [1, 0, 1, 0]


def test_a_call_that_is_refused_leaves_an_output_as_it_was():
    own = np.full(4, 77, np.uint32)
    with pytest.raises(VyreError):
        run(OUTPUTS["of a kernel"], {"y": own, "z": own}, device="cpu", in_place=True)
    assert own.tolist() == [77] * 4
