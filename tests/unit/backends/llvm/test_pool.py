"""Properties of a whole process: each test runs one."""

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
# A shell that runs the tests in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from vyre.backends.llvm import pool
from tests.unit.backends.llvm.native_kernels import (
    INCREMENT, SPIN, WAITS_FOR_OTHERS, address, kernel
)

def check(groups=1000):
    data = np.zeros(groups, np.int32)
    assert kernel(INCREMENT).launch_raw([address(data)], (groups, 1, 1)) is None
    assert (data == 1).all()
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder for all tests, so that the runtime is compiled once."""
    return tmp_path_factory.mktemp("cache")


def run(script: str, tmp_path: Path, **environment: str) -> str:
    return run_bare(SETUP + textwrap.dedent(script), tmp_path, **environment)


def run_bare(script: str, tmp_path: Path, **environment: str) -> str:
    variables = dict(os.environ, VYRE_CACHE_DIR=str(tmp_path), PYTHONPATH=f"{ROOT}/src:{ROOT}")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=variables | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_workers_start_with_the_first_parallel_launch_and_stay(cache: Path) -> None:
    script = """
    def threads():
        return sorted(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else []

    print(pool.process_pool().workers, end=" ")
    check()
    print(pool.process_pool().workers, end=" ")
    import time

    time.sleep(0.2)  # the thread that compiled is about to end
    before = threads()
    for _ in range(50):
        check()
    print(pool.process_pool().workers, before == threads())
    """
    assert run(script, cache, VYRE_THREADS="5") == "0 4 4 True"


def test_one_thread_means_no_worker(cache: Path) -> None:
    script = """
    check()
    print(pool.process_pool().workers)
    """
    assert run(script, cache, VYRE_THREADS="1") == "0"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_affinity_limits_the_threads(cache: Path) -> None:
    script = """
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    check()
    print(pool.process_pool().threads)
    """
    assert run(script, cache, VYRE_THREADS="") == "1"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_workers_that_are_woken_make_room_for_the_launching_thread(cache: Path) -> None:
    script = """
    allowed = os.sched_getaffinity(0)
    check()
    known = {int(task) for task in os.listdir("/proc/self/task")} - {threading.get_native_id()}
    if len(allowed) < 2:
        print("free")
        sys.exit()
    for cpu in sorted(allowed)[:2] * 2:
        os.sched_setaffinity(0, {cpu})
        for attempt in range(100):
            time.sleep(0.01)
            check(5_000_000)
            away = [t for t in known if os.sched_getaffinity(t) == allowed - {cpu}]
            if away:
                break
        assert away, (cpu, [os.sched_getaffinity(t) for t in known])
        assert all(os.sched_getaffinity(t) <= allowed for t in known)
    print("free")
    """
    assert run(script, cache, VYRE_THREADS="2") == "free"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_has_its_own_pool(cache: Path) -> None:
    script = """
    check()
    child = os.fork()
    if child == 0:
        before = pool.process_pool().workers
        for _ in range(100):
            check()
        os._exit(0 if (before, pool.process_pool().workers) == (0, 3) else 1)
    check()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(script, cache, VYRE_THREADS="4") == "0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forking_during_a_launch_of_another_thread(cache: Path) -> None:
    script = """
    data = np.zeros(4, np.int32)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=0.5)
    thread = threading.Thread(target=spin)
    thread.start()
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        check()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    thread.join()
    check()
    """
    assert run(script, cache) == "0"


def test_a_spawned_child_launches(cache: Path) -> None:
    (cache / "child.py").write_text(
        "from tests.unit.backends.llvm import native_kernels as n\n"
        "def work(size):\n"
        "    data = n.np.zeros(size, n.np.int32)\n"
        "    n.kernel(n.INCREMENT).launch_raw([n.address(data)], (size, 1, 1))\n"
        "    return int(data.sum())\n"
    )
    script = f"""
    import multiprocessing
    sys.path.append({str(cache)!r})
    from child import work
    check()
    with multiprocessing.get_context("spawn").Pool(2) as children:
        print(children.map(work, [100, 200]))
    """
    assert run(script, cache) == "[100, 200]"


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent to the whole console there")
@pytest.mark.parametrize("after", [0.0, 0.15])
def test_ctrl_c_ends_a_launch_promptly(cache: Path, after: float) -> None:
    script = f"""
    data = np.zeros(4, np.int32)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=20)
    latencies = []
    for _ in range(3):
        sent = []
        def send():
            time.sleep({after})
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=send)
        try:
            thread.start()
            spin()
        except KeyboardInterrupt:
            latencies.append(time.perf_counter() - sent[0])
            thread.join()
        else:
            raise SystemExit("not interrupted")
    check()
    print("fine" if min(latencies) < 0.1 else latencies)
    """
    assert run(script, cache) == "fine"


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent to the whole console there")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_handler_that_does_not_raise_runs_and_the_launch_goes_on(
    cache: Path, threads: str
) -> None:
    script = """
    data = np.zeros(4, np.int32)
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(time.perf_counter() - begun))
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=0.5)
    for after in (0.1, 0.2):
        threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.perf_counter()
    print(spin().status.name, len(seen), seen[0] < 0.4)
    """
    assert run(script, cache, VYRE_THREADS=threads) == "DEADLINE 2 True"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_what_a_signal_handler_raises_ends_a_launch(cache: Path, threads: str) -> None:
    script = """
    class Enough(Exception):
        pass

    def enough(*_):
        raise Enough

    data = np.zeros(4, np.int32)
    signal.signal(signal.SIGALRM, enough)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=20)
    for _ in range(3):
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        begun = time.perf_counter()
        try:
            spin()
        except Enough:
            assert time.perf_counter() - begun < 5
        else:
            raise SystemExit("not interrupted")
        check()
    print("fine")
    """
    assert run(script, cache, VYRE_THREADS=threads) == "fine"


@pytest.mark.skipif(not hasattr(signal, "SIGURG"), reason="the system has no such signal")
def test_a_handler_of_the_signal_that_vyre_uses_still_gets_its_own(cache: Path) -> None:
    """The one that was there before, and one that is set later."""
    script = """
    seen = []
    signal.signal(signal.SIGURG, lambda *_: seen.append("before"))
    data = np.zeros(4, np.int32)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=0.3)
    assert spin().status.name == "DEADLINE"
    os.kill(os.getpid(), signal.SIGURG)
    signal.signal(signal.SIGURG, lambda *_: seen.append("later"))
    assert spin().status.name == "DEADLINE"
    os.kill(os.getpid(), signal.SIGURG)
    print(seen)
    """
    assert run(script, cache) == "['before', 'later']"


def test_more_launches_at_once_than_there_are_places(cache: Path) -> None:
    script = """
    data = np.zeros(4, np.int32)
    spin = kernel(SPIN, polls=True).bind([address(data)], (2, 1, 1), timeout=0.2)
    ended = []
    threads = [threading.Thread(target=lambda: ended.append(spin().status.name)) for _ in range(90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(ended), set(ended))
    """
    assert run(script, cache, VYRE_THREADS="2") == "90 {'DEADLINE'}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_handler_that_forks_during_a_launch(cache: Path) -> None:
    """The child has none of the threads that are at work, so it cannot complete the launch."""
    script = """
    children = []

    def fork(*_):
        children.append(os.fork())

    data = np.zeros(4, np.int32)
    signal.signal(signal.SIGALRM, fork)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=0.6)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    status = spin().status.name
    check()
    if children == [0]:
        os._exit(0 if status == "FORKED" else 1)
    print(status, os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))
    """
    assert run(script, cache, VYRE_THREADS="3") == "DEADLINE 0"


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent to the whole console there")
def test_an_ignored_ctrl_c_does_not_interrupt(cache: Path) -> None:
    script = """
    data = np.zeros(4, np.int32)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=0.3)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    print(spin().status.name)
    """
    assert run(script, cache) == "DEADLINE"


def test_other_threads_are_not_interrupted(cache: Path) -> None:
    script = """
    data = np.zeros(4, np.int32)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=0.4)
    ended = []
    thread = threading.Thread(target=lambda: ended.append(spin().status.name))
    thread.start()
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        time.sleep(5)
    except KeyboardInterrupt:
        pass
    thread.join()
    print(ended)
    """
    assert run(script, cache) == "['DEADLINE']"


def test_a_group_that_takes_long_does_not_hold_up_the_others(cache: Path) -> None:
    """The first of 1000 groups waits until 750 are done; its thread's half alone is 500."""
    script = """
    done = np.zeros(1, np.int32)
    waiting = kernel(WAITS_FOR_OTHERS, polls=True, divergent=True)
    for _ in range(20):
        done[0] = 0
        assert waiting.bind([address(done)], (1000, 1, 1), timeout=20)() is None
    print(done[0])
    """
    assert run(script, cache, VYRE_THREADS="2") == "999"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_a_launch_within_a_launch(cache: Path) -> None:
    """A signal handler runs in the thread that waits for the outer launch."""
    script = """
    inner = []

    def launch(*_):
        check()
        inner.append(is_running)

    check()
    data = np.zeros(4, np.int32)
    outer = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=0.5)
    signal.signal(signal.SIGALRM, launch)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    is_running = True
    outcome = outer()
    is_running = False
    check()
    print(outcome.status.name, inner)
    """
    assert run(script, cache, VYRE_THREADS="2") == "DEADLINE [True]"


def test_the_process_ends_while_workers_spin_or_sleep(cache: Path) -> None:
    assert run("check()", cache) == ""
    assert run("check(); time.sleep(0.3)", cache) == ""


def test_the_process_ends_while_a_daemon_thread_launches(cache: Path) -> None:
    script = """
    data = np.zeros(4, np.int32)
    spin = kernel(SPIN, polls=True).bind([address(data)], (100, 1, 1), timeout=20)
    threading.Thread(target=spin, daemon=True).start()
    time.sleep(0.1)
    """
    assert run(script, cache) == ""


def test_the_second_start_needs_no_llvmlite(tmp_path: Path) -> None:
    run("check()", tmp_path)
    script = """
    from vyre.backends.llvm import pool
    pool.process_pool()
    import sys
    print("llvmlite" in sys.modules)
    """
    assert run_bare(script, tmp_path) == "False"


def test_a_damaged_stored_runtime_is_compiled_again(tmp_path: Path) -> None:
    run("check()", tmp_path)
    # The kernel of the check comes from no cache, so the runtime is the largest entry by far.
    stored = max((tmp_path / "programs").iterdir(), key=lambda path: path.stat().st_size)
    good = stored.read_bytes()
    stored.write_bytes(good[:-1] + b"?")
    run("check()", tmp_path)
    assert stored.read_bytes() == good


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "programs").write_text("in the way")
    run("check()", tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads of a process")
def test_nobody_watches_a_launch_that_nothing_can_stop(cache: Path) -> None:
    printed = run(
        """
        def threads():
            return len(os.listdir("/proc/self/task"))

        data = np.zeros(1, np.int32)
        alone = kernel(INCREMENT, group_cost_ns=30_000)
        before = threads()
        alone.launch_raw([address(data)], (1, 1, 1))
        print(threads() - before)
        alone.launch_raw([address(data)], (1, 1, 1), timeout=10.0)
        print(threads() - before)
        """,
        cache,
    )
    assert printed.split() == ["0", "1"]
