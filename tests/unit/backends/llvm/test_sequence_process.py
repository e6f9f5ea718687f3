"""Sequences beside signals, forks, small stacks and many threads; planted mistakes are found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]

SETUP = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from tests.unit.backends.llvm.native_kernels import *
from vyre.backends.llvm import jit, host, native_object, pool
from vyre.backends.llvm.backend import CpuBackend
from vyre.backends.llvm.executable import CpuExecutable
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.sequence import native_sequence
from vyre.diagnostics import DeadlineError, DispatchError, TrapError
from vyre.driver.backend import Argument
from vyre.driver.sequence import *

DEVICE = CpuBackend().device
planted = None

def use(replacements):
    global planted
    text = native_object.source(sys.platform, native_object.architecture())
    for old, new in replacements:
        assert text.count(old) == 1, (text.count(old), old)
        text = text.replace(old, new)
    planted = pool.Pool(jit.compile_text(text, host.generic()).object, threads=4)

def memory(count):
    made = DEVICE.allocate(4 * count)
    return made, np.frombuffer(made.host_view(), np.int32)

def launch(source, grid, *memories, **facts):
    facts.setdefault("buffers", COUNTERS)
    made = NativeKernel(compiled(source), KernelInfo(workgroup_size=(1, 1, 1), trap_tags=("a", "b"),
        **facts), planted or pool.process_pool())
    bound = tuple(Argument(each, each.nbytes // 4) for each in memories)
    return Launch(CpuExecutable(made), bound, (grid, 1, 1))

def native(*steps, counters=0):
    return native_sequence(Sequence(steps, counters), planted)

def passing(count=3000, phases=20, **facts):
    one, first = memory(count)
    other, second = memory(count)
    ends = [(one, other), (other, one)] * (phases // 2)
    steps = [launch(PASS_ON, count, *each, buffers=PAIR, **facts) for each in ends]
    return native(*steps), first, phases

def check(repeats=30, **facts):
    prepared, found, phases = passing(**facts)
    for repeat in range(repeats):
        prepared.run()
        assert (found == phases * (repeat + 1)).all(), "a phase began too early"

word = memory(1)[0]
ENDLESS = {
    "launch": lambda: native(
        launch(INCREMENT, 3000, memory(3000)[0]), launch(SPIN, 100, word, polls=True)
    ),
    "loop": lambda: native(launch(INCREMENT, 1, word, group_cost_ns=1), Jump(0)),
    "large loop": lambda: native(launch(SLOW, 500, word), launch(INCREMENT, 1, word), Jump(0)),
    "steps": lambda: native(Jump(0)),
}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder for all tests, so that the runtime is compiled once."""
    return tmp_path_factory.mktemp("cache")


def started(script: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = dict(os.environ, VYRE_CACHE_DIR=str(cache), PYTHONPATH=f"{ROOT}/src:{ROOT}")
    return subprocess.run(
        [sys.executable, "-c", SETUP + textwrap.dedent(script)],
        env=variables | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def run(script: str, cache: Path, **environment: str) -> str:
    done = started(script, cache, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent to the whole console there")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_ctrl_c_ends_a_sequence_promptly(cache: Path, threads: str) -> None:
    script = """
    late = []
    for name, make in ENDLESS.items():
        endless, sent = make(), []
        def send():
            time.sleep(0.1)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=send)
        try:
            thread.start()
            endless.run(deadline=20)
        except KeyboardInterrupt:
            late.append(time.perf_counter() - sent[0])
            thread.join()
        check(3)
    print(len(late), min(late) < 0.5)
    """
    assert run(script, cache, VYRE_THREADS=threads) == "4 True"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_handlers_run_raise_and_launch_within_a_sequence(cache: Path, threads: str) -> None:
    script = """
    class Enough(Exception):
        pass

    seen = []

    def handler(*_):
        check(2)
        seen.append(1)
        if len(seen) % 2 == 0:
            raise Enough

    check(2)
    signal.signal(signal.SIGALRM, handler)
    for name, make in ENDLESS.items():
        endless = make()
        signal.setitimer(signal.ITIMER_REAL, 0.15, 0.15)
        try:
            endless.run(deadline=20)
        except Enough:
            signal.setitimer(signal.ITIMER_REAL, 0)
        check(2)
    print(len(seen))
    """
    assert run(script, cache, VYRE_THREADS=threads) == "8"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forks_while_sequences_run(cache: Path) -> None:
    """By another thread, and by a handler: that child cannot complete the sequence."""
    script = """
    check(3)
    running = [threading.Thread(target=check, args=(400,)) for _ in range(3)]
    for thread in running:
        thread.start()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            check(5)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for thread in running:
        thread.join()

    children = []
    signal.signal(signal.SIGALRM, lambda *_: children.append(os.fork()))
    for make in (ENDLESS["launch"], ENDLESS["large loop"]):
        children.clear()
        endless = make()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            endless.run(deadline=0.6)
        except (DeadlineError, DispatchError) as ended:
            status = type(ended).__name__
        check(5)
        if children == [0]:
            os._exit(0 if status == "DispatchError" else 1)
        print(status, os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))
    """
    assert run(script, cache, VYRE_THREADS="3").split("\n") == ["DeadlineError 0"] * 2


def test_more_sequences_at_once_than_there_are_places(cache: Path) -> None:
    script = """
    failed = []
    def work():
        try:
            check(6)
        except BaseException as problem:
            failed.append(problem)
    threads = [threading.Thread(target=work) for _ in range(90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(failed)
    """
    assert run(script, cache, VYRE_THREADS="3") == "[]"


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_with_little_stack_leave_the_launches_to_workers(cache: Path, threads: str) -> None:
    script = """
    threading.stack_size(256 << 10)
    failed = []
    def work():
        try:
            check(20, stack_bytes=1 << 20)
            prepared = native(launch(TRAP, 100, word, stack_bytes=1 << 20))
            try:
                prepared.run()
            except TrapError as trap:
                assert (trap.tag, prepared.position) == ("b", 0)
            for name in ("launch", "loop", "steps"):
                try:
                    ENDLESS[name]().run(deadline=0.1)
                except DeadlineError:
                    continue
                failed.append(name)
        except BaseException as problem:
            failed.append(problem)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(failed)
    """
    assert run(script, cache, VYRE_THREADS=threads) == "[]"


KEPT = """
total, view = memory(1)
keeps = [launch(KEEPS, 30_000, total, keeps=True, scratch_bytes=64) for _ in range(4)]
prepared = native(*keeps)
for repeat in range(10):
    prepared.run()
    assert view[0] == 120_000 * (repeat + 1), "totals of another phase"
"""
TRAPS = """
trapping = native(launch(INCREMENT, 3000, memory(3000)[0]), launch(TRAP, 3000, word))
try:
    trapping.run()
except TrapError:
    assert trapping.position == 1, "another step"
"""
FORKS = """
children = []
signal.signal(signal.SIGALRM, lambda *_: children.append(os.fork()))
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    ENDLESS["launch"]().run(deadline=0.6)
except (DeadlineError, DispatchError):
    pass
if children == [0]:
    os._exit(0)
time.sleep(1.5)
ended, _ = os.waitpid(children[0], os.WNOHANG)
if not ended:
    os.kill(children[0], signal.SIGKILL)
assert ended, "the child hangs"
"""
LAST_OUT = (
    ("%was.last = icmp eq i64 %inside, 1\n", "%was.last = icmp ne i64 %inside, 0\n"),
    ("br i1 %closes, label %lead, label %look\n", "br i1 true, label %lead, label %look\n"),
)
NOT_BEGUN = (
    (
        "begin:\n  store i32 0, ptr %memory\n  br label %done\ndone:\n  ret void",
        "begin:\n  br label %done\ndone:\n  ret void",
    ),
)
NO_STOP = (
    (
        "%stopped = icmp ne i32 %stop, 0\n  br i1 %stopped, label %done, label %note",
        "%stopped = icmp ne i32 %stop, 0\n  br label %note",
    ),
)
NOT_FORKED = (("%is = icmp eq i32 %stop, 6\n", "%is = icmp eq i32 %stop, 99\n"),)


@pytest.mark.skipif(sys.platform == "win32", reason="the scenarios fork")
@pytest.mark.parametrize(
    ("mistake", "scenario", "said"),
    [
        (LAST_OUT, "check(200, phases=40)", "Error"),
        (NOT_BEGUN, KEPT, "totals of another phase"),
        (NO_STOP, TRAPS, "Error"),
        (NOT_FORKED, FORKS, "the child hangs"),
    ],
)
def test_a_planted_mistake_is_found(
    cache: Path, mistake: tuple[tuple[str, str], ...], scenario: str, said: str
) -> None:
    sound = started(f"use(())\n{scenario}", cache)
    assert sound.returncode == 0, sound.stderr
    try:
        found = started(f"use({mistake!r})\n{scenario}", cache)
    except subprocess.TimeoutExpired:
        return
    assert found.returncode != 0
    assert said in found.stderr or found.returncode < 0
