"""A dispatch like the one before is done again without looking at everything."""

import gc
import weakref

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError
from vyre.ir import Program
from vyre.runtime import compile, run

TEXT = """
program workgroup(4, 1, 1)
buffer x: read_only u32[] @0
buffer y: read_write u32[] @1
region "r" {
    if gid.x < len(y) { y[gid.x] = x[gid.x] + 1 }
}
"""


@pytest.fixture
def program() -> Program:
    return Program.parse(TEXT)


def arrays(n: int = 6) -> dict[str, np.ndarray]:
    return {"x": np.arange(n, dtype=np.uint32), "y": np.zeros(n, np.uint32)}


def again(program: Program, given: dict[str, np.ndarray], times: int = 3) -> None:
    for _ in range(times):
        run(program, given, device="cpu", in_place=True)


def test_arrays_of_the_host_are_prepared_for_when_they_come_twice(program: Program) -> None:
    given = arrays()
    again(program, given, 1)
    (known,) = compile(program, device="cpu").bound_launches
    assert known.launch is None
    again(program, given, 1)
    (known,) = compile(program, device="cpu").bound_launches
    assert known.launch is not None
    given["x"] += 10
    outputs = run(program, given, device="cpu", in_place=True)
    assert outputs["y"] is given["y"]
    assert given["y"].tolist() == [11, 12, 13, 14, 15, 16]


def test_other_arrays_and_other_grids_are_other_dispatches(program: Program) -> None:
    first, second = arrays(), arrays(9)
    again(program, first)
    again(program, second)
    assert second["y"].tolist() == list(range(1, 10))
    second["y"][:] = 0
    run(program, second, device="cpu", in_place=True, grid=(1,))
    assert second["y"].tolist() == [1, 2, 3, 4, 0, 0, 0, 0, 0]


def test_arrays_that_are_swapped_are_prepared_for(program: Program) -> None:
    one, two = np.arange(6, dtype=np.uint32), np.zeros(6, np.uint32)
    for _ in range(6):
        run(program, {"x": one, "y": two}, device="cpu", in_place=True)
        one, two = two, one
    assert one.tolist() == [6, 7, 8, 9, 10, 11]
    assert two.tolist() == [5, 6, 7, 8, 9, 10]
    known = compile(program, device="cpu").bound_launches
    assert [each.launch is not None for each in known] == [True]


def test_arrays_of_one_form_are_as_good_as_the_same(program: Program) -> None:
    for n in range(5):
        given = {"x": np.full(6, n, np.uint32), "y": np.zeros(6, np.uint32)}
        assert run(program, given, device="cpu", in_place=True)["y"] is given["y"]
        assert given["y"].tolist() == [n + 1] * 6
    assert len(compile(program, device="cpu").bound_launches) == 1


def test_arrays_that_share_memory_are_refused_whichever_came_before(program: Program) -> None:
    again(program, arrays())
    both = np.zeros(11, np.uint32)
    for first in (0, 5):
        with pytest.raises(ArgumentError, match="share memory"):
            run(program, {"x": both[first : 6 + first], "y": both[:6]}, device="cpu", in_place=True)
    assert not both.any()


def test_vectors_are_repeated_as_they_are() -> None:
    text = TEXT.replace("u32[] @", "vec2<u32>[] @").replace("x[gid.x] + 1", "x[gid.x]")
    program = Program.parse(text)
    x, y = np.arange(12, dtype=np.uint32).reshape(6, 2), np.zeros((6, 2), np.uint32)
    for _ in range(4):
        y[:] = 0
        run(program, {"x": x, "y": y}, device="cpu", in_place=True)
        assert (y == x).all()


def test_only_a_few_dispatches_are_remembered(program: Program) -> None:
    for n in range(1, 20):
        again(program, arrays(n), 2)
    assert len(compile(program, device="cpu").bound_launches) == 4


def test_the_numbers_of_a_kernel_are_part_of_what_was_asked() -> None:
    @vy.kernel
    def scaled(factor: vy.i32, x: vy.InOut[vy.i32]):
        i = vy.gid()
        if i < len(x):
            x[i] *= factor

    x = np.ones(5, np.int32)
    for factor in (2, 3, 2, 3, 2, 3, -1):
        scaled(factor, x, device="cpu")
    assert x.tolist() == [-216] * 5


def test_an_array_that_moved_is_looked_at_again(program: Program) -> None:
    given = arrays()
    again(program, given)
    for n in (4096, 3, 100_000):
        given["x"].resize(n, refcheck=False)
        given["x"][:] = 7
        given["y"].resize(n, refcheck=False)
        given["y"][:] = 0
        run(program, given, device="cpu", in_place=True)
        assert (given["y"] == 8).all()


def test_an_array_that_was_locked_is_refused(program: Program) -> None:
    given = arrays()
    again(program, given)
    given["y"].flags.writeable = False
    with pytest.raises(ArgumentError):
        run(program, given, device="cpu", in_place=True)


def test_nothing_is_kept_alive(program: Program) -> None:
    given = arrays()
    again(program, given)
    seen = weakref.ref(given["x"])
    del given
    gc.collect()
    assert seen() is None


def test_copies_are_never_repeated(program: Program) -> None:
    given = arrays()
    for _ in range(4):
        outputs = run(program, given, device="cpu")
        assert outputs["y"] is not given["y"]
        assert given["y"].sum() == 0
    wide = np.arange(12, dtype=np.uint32)
    strided = {"x": wide[::2], "y": np.zeros(6, np.uint32)}
    for _ in range(4):
        wide += 1
        run(program, strided, device="cpu", in_place=True)
        assert strided["y"].tolist() == (wide[::2] + 1).tolist()


def test_a_deadline_is_part_of_what_was_asked(program: Program) -> None:
    given = arrays()
    for deadline in (None, 5.0, 5.0, 5.0, None):
        run(program, given, device="cpu", in_place=True, deadline=deadline)
    assert given["y"].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_the_same_arrays_come_again_and_again(program: Program, device: str) -> None:
    given = arrays()
    for number in range(5):
        given["x"][0] = number
        run(program, given, device=device, in_place=True)
        assert given["y"].tolist() == [number + 1, 2, 3, 4, 5, 6]
