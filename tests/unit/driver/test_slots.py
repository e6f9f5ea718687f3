"""Programs on bytes: slots in, slots out, split at grid barriers where a device has none."""

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from vyre.backends.reference import execute
from vyre.conform.fuzz.split_reference import SplitReference
from vyre.conform.generate import generate
from vyre.diagnostics import (
    ArgumentError,
    BackendError,
    CapabilityError,
    CheckError,
    DeadlineError,
    TrapError,
    VyreError,
)
from vyre.diagnostics.codes import driver as codes
from vyre.driver import registry
from vyre.driver.grid_sync import DispatchConfig, dispatch_with_grid_sync_split
from vyre.ir import Program
from vyre.runtime import run

BACKENDS = ("reference", "cpu", "split")
ROTATED = """
program workgroup(4, 1, 1)
buffer x: read_only u32[] @0
buffer t: scratch u32[64]
buffer y: read_write u32[] @1
buffer out: read_write u32[] @2 output live_out
let i = gid.x
let kept = x[i] * 3
t[i] = kept
y[i] = y[i] + 1
if i >= len(x) { return }
barrier grid_sync
out[i] = t[(i + 1) % len(x)] + kept
"""


def arrays(n: int = 13) -> list[np.ndarray]:
    return [np.arange(n, dtype=np.uint32) * 5, np.full(n, 7, np.uint32)]


@pytest.mark.parametrize("name", BACKENDS)
def test_slots_in_declaration_order_in_and_out(name: str) -> None:
    program = Program.parse(ROTATED)
    x, y = arrays()
    backend = registry.backend(name)
    out = dispatch_with_grid_sync_split(backend, program, [x, y.tobytes()], DispatchConfig(grid=4))
    assert [np.frombuffer(slot, np.uint32).tolist() for slot in out] == [
        [8] * 13,
        (np.roll(x, -1) * 3 + x * 3).tolist(),
    ]
    # What was given stays as it was.
    assert y.tolist() == [7] * 13
    # A device will do for a backend, and the grid covers what is written.
    assert dispatch_with_grid_sync_split(name, program, arrays()) == out


def test_a_program_without_grid_barriers_is_one_launch() -> None:
    for seed in range(20):
        case = generate(seed, "tiny")
        given = [case.inputs[d.name] for d in case.program.buffers if d.is_host_input]
        expected = execute(case.program, case.inputs, case.grid).outputs
        sizes = {name: len(array) for name, array in expected.items()}
        config = DispatchConfig(grid=case.grid, sizes=sizes)
        found = dispatch_with_grid_sync_split(
            registry.backend("reference"), case.program, given, config
        )
        assert found == [array.tobytes() for array in expected.values()]


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_split_give_what_the_unsplit_reference_gives(seed: int) -> None:
    case = generate(seed, "grid_sync")
    given = [case.inputs[d.name] for d in case.program.buffers if d.is_host_input]
    expected = execute(case.program, case.inputs, case.grid).outputs
    sizes = {name: len(array) for name, array in expected.items()}
    config = DispatchConfig(grid=case.grid, sizes=sizes)
    found = dispatch_with_grid_sync_split(SplitReference(), case.program, given, config)
    assert found == [array.tobytes() for array in expected.values()]


def test_what_is_given_wrongly_is_refused() -> None:
    program = Program.parse(ROTATED)
    x, y = arrays()
    for inputs, code in (
        ([x], codes.WRONG_SLOTS),
        ([x, y, y], codes.WRONG_SLOTS),
        ([x, 5], codes.NOT_AN_ARRAY),
        ([x, np.zeros((4, 4), np.uint32)[:, ::2]], codes.NOT_AN_ARRAY),
        ([x, b"123"], codes.NOT_AN_ARRAY),
    ):
        with pytest.raises(ArgumentError) as caught:
            dispatch_with_grid_sync_split("cpu", program, inputs)
        assert caught.value.code == code.code
    with pytest.raises(ArgumentError) as caught:
        dispatch_with_grid_sync_split(object(), program, [x, y])  # pyright: ignore[reportArgumentType]
    assert caught.value.code == codes.NOT_A_BACKEND.code
    wrong = Program.parse("program workgroup(1, 1, 1)\nbuffer x: read_only u32[] @0\nx[0] = 1")
    with pytest.raises(CheckError):
        dispatch_with_grid_sync_split("cpu", wrong, [x])


@pytest.mark.parametrize("name", BACKENDS)
def test_what_ends_badly_ends_as_ever(name: str) -> None:
    head = "program workgroup(1, 1, 1)\nbuffer x: read_write u32[4] @0\n"
    data = [np.zeros(4, np.uint32)]
    trap = Program.parse(head + 'x[0] = 1 barrier grid_sync trap "enough"')
    endless = Program.parse(head + "barrier grid_sync while true { x[0] = 1 }")
    with pytest.raises(TrapError, match="enough"):
        dispatch_with_grid_sync_split(name, trap, data, DispatchConfig(grid=1))
    with pytest.raises(DeadlineError):
        dispatch_with_grid_sync_split(name, endless, data, DispatchConfig(grid=1, deadline=0.2))


class Failing(SplitReference):
    """Fails where it is told to."""

    def __init__(self, where: str, error: type[Exception]) -> None:
        super().__init__()
        self.where, self.error, self.calls = where, error, 0

    def fail(self, where: str) -> None:
        if where == self.where:
            self.calls += 1
            if self.calls == 2:
                if issubclass(self.error, VyreError):
                    raise self.error(codes.BAD_DEADLINE.at(found="enough"))
                raise self.error("enough")

    def emit(self, program, target, options):
        self.fail("emit")
        return super().emit(program, target, options)

    def load(self, artifact, device):
        self.fail("load")
        inner = super().load(artifact, device)
        launch = inner.launch

        def failing(*arguments):
            self.fail("launch")
            return launch(*arguments)

        setattr(inner, "launch", failing)  # noqa: B010  a method of a protocol
        return inner


@pytest.mark.parametrize("error", [CapabilityError, RuntimeError])
@pytest.mark.parametrize("where", ["emit", "load", "launch"])
def test_an_error_of_a_segment_names_it(where: str, error: type[Exception]) -> None:
    program = Program.parse(ROTATED.replace("x[i] * 3", "x[i] / 3"))
    x, y = arrays()
    with pytest.raises(error) as caught:
        dispatch_with_grid_sync_split(Failing(where, error), program, [x, y])
    said = "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "enough" in said
    assert "segment 1 of 2 between grid barriers" in said


@pytest.mark.parametrize("error", [CapabilityError, RuntimeError])
@pytest.mark.parametrize("where", ["emit", "load", "launch"])
def test_so_does_an_error_of_run(where: str, error: type[Exception], monkeypatch) -> None:
    from vyre.driver import routing

    failing = Failing(where, error)
    route = routing.Route(failing, failing.probe()[0], "for this test")
    monkeypatch.setitem(routing.choose.cache, "failing", route)
    # A program of its own each: what another case has compiled is not emitted again.
    factor = 4 + 2 * ("emit", "load", "launch").index(where) + (error is CapabilityError)
    program = Program.parse(ROTATED.replace("x[i] * 3", f"x[i] * {factor}"))
    x, y = arrays()
    with pytest.raises(error if error is CapabilityError else BackendError) as caught:
        run(program, {"x": x, "y": y}, device="failing", sizes={"out": 13})
    assert "enough" in str(caught.value)
    assert "segment 1 of 2 between grid barriers" in str(caught.value)


@pytest.mark.parametrize("what", ["a kernel", None, ROTATED])
def test_what_is_no_program_is_refused(what: object) -> None:
    if what == "a kernel":
        what = vy.kernel(nothing)
    for ask in (
        lambda: dispatch_with_grid_sync_split("cpu", what, []),  # pyright: ignore[reportArgumentType]
        lambda: run(what, {}),  # pyright: ignore[reportCallIssue, reportArgumentType]
        lambda: vy.compile(what),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(ArgumentError) as caught:
            ask()
        assert caught.value.code == "D045"
        assert "method program" in caught.value.fix


def nothing(x: vy.InOut[vy.u32]):
    x[vy.gid()] = 0


def test_bytes_that_are_no_whole_elements_are_refused_with_how_many_would_be() -> None:
    x, _ = arrays()
    with pytest.raises(ArgumentError) as caught:
        dispatch_with_grid_sync_split("reference", Program.parse(ROTATED), [x, b"123"])
    assert "to 3 bytes, which are no whole elements" in str(caught.value)
    assert "a multiple of 4 bytes" in caught.value.fix
