"""What few lanes do may be in functions of its own, compiled in another way than the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences, forget_loaded, launch, load
from vyre.backends.llvm import heuristics, host
from vyre.backends.llvm.compile import compile_program
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.emit.outline_cold_code import OutlinedRegion, with_outlined_regions
from vyre.backends.llvm.module_splitting import separated
from vyre.backends.llvm.outcome import Status
from vyre.driver.backend import EmitOptions
from vyre.ir import Program

TEXT = """
program workgroup(64, 1, 1)
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
region "r" {
    let i = gid.x
    if i < len(out) {
        BODY
    }
}"""
PLAIN = "out[i] = a[i] * 3 + 1"
LOOP = "let t = 0u32 for k in 0u32..a[i] { t = t + k * i } out[i] = t"
FOREVER = "let t = 1u32 while t != 0u32 { t = t | a[i] | 1u32 } out[i] = t"
TRAP = 'if a[i] == 7u32 { trap "seven" } out[i] = a[i]'


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels of any size, so that small ones show what happens in large ones."""
    forget_loaded()
    monkeypatch.setattr(heuristics, "MIN_OUTLINED_LINES", 0)
    yield
    forget_loaded()


def text_of(body: str, *, thorough: bool = False) -> str:
    program = Program.parse(TEXT.replace("BODY", body))
    return generate(program, host.native(), thorough=thorough).text


@pytest.mark.parametrize("body", [PLAIN, LOOP, TRAP.replace("7", "900")])
@pytest.mark.parametrize("length", [0, 1, 7, 64, 65, 300])
def test_lanes_aside_do_the_same(body: str, length: int) -> None:
    assert "call i32 @vyre.aside.0(" in text_of(body)
    a = np.arange(length, dtype=np.uint32) % 50
    given = {"a": a, "out": np.zeros(length, np.uint32)}
    program = Program.parse(TEXT.replace("BODY", body))
    assert differences(program, given, (5, 1, 1), tier="auto") == []
    shorter = {"a": a[: length // 2], "out": np.zeros(length, np.uint32)}
    assert differences(program, shorter, (5, 1, 1), tier="auto") == []


def test_traps_aside_name_their_lane() -> None:
    program = Program.parse(TEXT.replace("BODY", TRAP))
    a = np.zeros(67, np.uint32)
    a[66] = 7
    inputs = {"a": a, "out": np.zeros(67, np.uint32)}
    _, outcome = launch(load(program, tier="auto"), program, inputs, (2, 1, 1), {})
    assert outcome is not None
    assert (outcome.status, outcome.invocation) == (Status.TRAP, (66, 0, 0))


def test_deadlines_end_what_is_aside() -> None:
    program = Program.parse(TEXT.replace("BODY", FOREVER))
    kernel = load(program, tier="auto")
    a, out = np.zeros(3, np.uint32), np.zeros(3, np.uint32)
    outcome = kernel.launch_raw([(x.ctypes.data, 3) for x in (a, out)], (1, 1, 1), 0.05)
    assert outcome is not None
    assert outcome.status is Status.DEADLINE


def test_only_large_kernels_made_in_haste_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "vyre.aside" not in text_of(PLAIN, thorough=True)
    monkeypatch.setattr(heuristics, "MIN_OUTLINED_LINES", 10_000)
    assert "vyre.aside" not in text_of(PLAIN)


def test_what_runs_is_shown() -> None:
    program = Program.parse(TEXT.replace("BODY", PLAIN))
    sources = compile_program(program, "native", EmitOptions("auto")).sources
    for kind in ("llvm", "asm", "llvm-raw"):
        assert len(re.findall(r"^(?:define .*@)?vyre.aside.0[:(]", sources[kind], re.M)) == 1


def test_the_kernel_and_what_it_calls_are_two_modules() -> None:
    text = text_of(PLAIN)
    main, others = separated(text)
    assert others is not None
    assert re.search(
        r"^declare i32 @vyre.aside.0\(i32, .*ptr\) noinline cold nounwind$", main, re.M
    )
    assert "define i32 @vyre.aside.0(i32 %" in others
    assert "@vyre_kernel(" in main
    assert "@vyre_kernel(" not in others
    assert separated(main) == (main, None)


ENTRY = ["  %n = load i32, ptr %launch", "  %s = alloca i32", "  %x = alloca i32"]
ODD = "  %o = extractvalue {i32, i1} %p, 0"
REGION = ["  store i32 %n, ptr %x", "  %r = load i32, ptr %x"]


@pytest.mark.parametrize(
    ("entry", "around", "region"),
    [
        pytest.param(ENTRY, ["  store i32 0, ptr %s"], ["  store i32 1, ptr %s"], id="slot"),
        pytest.param(ENTRY, ["  ret i32 %v"], ["  %v = add i32 %n, 1"], id="value"),
        pytest.param(ENTRY, ["far:"], ["  br label %far", "near:"], id="label"),
        pytest.param(
            [*ENTRY, "  %o = extractvalue {i32, i1} %p, 0"],
            [],
            ["  store i32 %o, ptr %x"],
            id="type",
        ),
    ],
)
def test_what_cannot_move_stays(entry: list[str], around: list[str], region: list[str]) -> None:
    part = OutlinedRegion("aside.1", [*region, *REGION], "%r", ["  br label %done"])
    kept, lines, functions = with_outlined_regions(
        entry, ["; aside.1", *around], {"; aside.1": part}
    )
    assert kept == entry
    assert lines == ["aside.1:", *region, *REGION, "  br label %done", *around]
    assert functions == []


def test_what_can_move_takes_its_slots_along() -> None:
    part = OutlinedRegion("aside.1", ["  ret void", "on:", *REGION], "%r", ["  br label %done"])
    kept, lines, functions = with_outlined_regions(ENTRY, ["; aside.1"], {"; aside.1": part})
    assert kept == ENTRY[:2]
    assert lines[:2] == ["aside.1:", "  %r = call i32 @vyre.aside.0(i32 %n)"]
    assert "  ret void" in lines
    assert "  %x = alloca i32" in functions[0]
    assert "ret i32 -1" in functions[0]
