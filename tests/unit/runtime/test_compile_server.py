"""Hot programs are compiled in a process of its own, which may fail, be killed or never start."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from vyre.cache import DiskCache
from vyre.driver import routing
from vyre.driver.compilation import CompileOptions
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt import HotPathHints
from vyre.runtime import compile, profile
from vyre.runtime.compile_server import can_compile_elsewhere, process
from vyre.runtime.compile_server.message import MADE, REFUSED, Request
from vyre.runtime.compile_server.server import answer
from vyre.runtime.compiling import finish_improvements
from vyre.runtime.run import dispatch

I = Expr.gid(0)  # noqa: E741
STOPS = "import sys, signal, os; os.kill(os.getpid(), signal.SIGSTOP)"
NOTHING = DiskCache(Path(os.devnull), 0)


def stepping(name: str, by: int = 1) -> Program:
    step = Node.store("x", I, Expr.load("x", I) + Expr.u32(by))
    body = [Node.if_(Expr.buf_len("x") > I, [step])]
    return Program.wrapped(
        [BufferDecl.read_write("x", 0, DataType.U32)], (64, 1, 1), body, entry_op_id=name
    )


class Hot:
    """A program that is hot for callers that pass its hints."""

    def __init__(self, name: str) -> None:
        self.program = stepping(name)
        self.hints = HotPathHints()
        self.name = name
        self.compiled()
        self.hints.record(name, 1_000_000, 4)

    def compiled(self):
        return compile(self.program, device="cpu", hints=self.hints, cache=NOTHING)

    def is_right(self) -> bool:
        x = np.arange(1000, dtype=np.uint32)
        return bool(np.array_equal(dispatch(self.compiled(), {"x": x})["x"], x + 1))


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch):
    """A process of this test alone, ended with it."""
    # What other tests have left to be compiled would be seen here.
    last = process.Task(lambda ask: None)
    process._elsewhere.submit(last)
    last.join()
    made = process._Elsewhere()
    monkeypatch.setattr(process, "_elsewhere", made)
    monkeypatch.setattr(process, "_PATIENCE", 0.3)
    yield made
    made.close()
    thread = made._thread
    if thread is not None:
        thread.join(10)
    assert made._process is None


def until(condition) -> None:
    for _ in range(2_000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("waited too long")


def test_better_code_comes_from_another_process_that_is_not_left_over(fresh):
    hot = Hot("elsewhere.made")
    started = []
    start = fresh._start
    fresh._start = lambda: started.append(start()) or started[-1]
    with profile() as seen:
        assert not hot.compiled().is_for_hot
        finish_improvements(hot.program)
    assert seen.count("recompile") == 1
    assert seen.count("emit") == 0
    assert hot.compiled().is_for_hot
    assert hot.is_right()
    until(lambda: fresh._thread is None)
    assert [child.returncode is not None for child in started] == [True]
    again = Hot("elsewhere.again")
    again.compiled()
    finish_improvements(again.program)
    assert again.compiled().is_for_hot


@pytest.mark.skipif(sys.platform == "win32", reason="has no signal that stops a process")
def test_nobody_waits_for_a_process_that_takes_long(monkeypatch, fresh):
    monkeypatch.setattr(process, "_START", STOPS)
    hot = Hot("elsewhere.slow")
    hot.compiled()
    until(lambda: fresh._process is not None)
    other = compile(stepping("elsewhere.other", 7), device="cpu", cache=NOTHING)
    x = np.arange(10, dtype=np.uint32)
    assert np.array_equal(dispatch(other, {"x": x})["x"], x + 7)
    assert not hot.compiled().is_for_hot
    assert hot.is_right()


def failing(name: str) -> tuple[Hot, str]:
    hot = Hot(name)
    with profile() as seen:
        hot.compiled()
        finish_improvements(hot.program)
    assert not hot.compiled().is_for_hot
    assert hot.is_right()
    return hot, "".join(e.what for e in seen.events if e.kind == "recompile failed")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os, signal; os.kill(os.getpid(), getattr(signal, 'SIGKILL', 9))", "ended with"),
        ("raise RuntimeError('broken')", "RuntimeError: broken"),
        ("print('not an answer', flush=True)", "ended with"),
    ],
)
def test_a_process_that_fails_leaves_the_code_there_is(monkeypatch, fresh, source, said):
    monkeypatch.setattr(process, "_START", source)
    assert said in failing("elsewhere.fails")[1]


def test_a_process_that_cannot_be_started_leaves_the_code_there_is(monkeypatch, fresh):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "could not be started" in failing("elsewhere.missing")[1]


def test_a_process_that_is_killed_is_started_anew_for_the_next_program(monkeypatch, fresh):
    with monkeypatch.context() as patch:
        patch.setattr(process, "_START", "raise SystemExit(3)")
        failing("elsewhere.killed")
    hot = Hot("elsewhere.next")
    hot.compiled()
    finish_improvements(hot.program)
    assert hot.compiled().is_for_hot


def test_without_an_interpreter_to_start_it_compiles_here(monkeypatch, fresh):
    backend = routing.choose("cpu").backend
    assert can_compile_elsewhere(backend)
    assert not can_compile_elsewhere(routing.choose("reference").backend)
    for executable in (None, "", "/usr/sbin/httpd"):
        monkeypatch.setattr(sys, "executable", executable)
        assert not can_compile_elsewhere(backend)
    hot = Hot("elsewhere.embedded")
    hot.compiled()
    finish_improvements(hot.program)
    assert fresh._process is None
    assert hot.compiled().is_for_hot


def test_an_answer_is_only_for_the_same_compiler():
    program = stepping("elsewhere.key")
    request = Request(program.to_wire(), "cpu", CompileOptions(), True, "key of another vyre")
    assert Request.from_bytes(request.to_bytes()) == request
    assert answer(request).startswith(REFUSED)
    assert MADE != REFUSED


SCRIPT = """
import os, sys, threading, time
import numpy as np
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.opt import HotPathHints
from vyre.runtime import compile
from vyre.cache import DiskCache
from vyre.runtime.compiling import finish_improvements
from vyre.runtime.compile_server import process

def stepping():
    step = Node.store("x", Expr.gid(0), Expr.u32(1))
    decl = BufferDecl.read_write("x", 0, DataType.U32)
    return Program.wrapped([decl], (64, 1, 1), [step], entry_op_id="p")

def heat(program):
    hints = HotPathHints()
    def compiled():
        return compile(program, device="cpu", hints=hints, cache=DiskCache("nowhere", 0))
    compiled()
    hints.record("p", 10**9, 1)
    compiled()
    return compiled

def started():
    while process._elsewhere._process is None:
        time.sleep(0.01)
    return process._elsewhere._process.pid
"""


def output_of(script: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT + script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="has no signal that stops a process")
def test_leaving_the_interpreter_waits_for_no_compilation():
    (pid,) = output_of(f"process._START = {STOPS!r}\nheat(stepping())\nprint(started())")
    assert not is_alive(int(pid))


@pytest.mark.skipif(sys.platform == "win32", reason="looks processes up by signals")
def test_the_process_ends_with_one_that_crashes():
    (pid,) = output_of("heat(stepping())\nprint(started(), flush=True)\nos._exit(0)")
    until(lambda: not is_alive(int(pid)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no fork")
def test_a_forked_process_has_one_of_its_own():
    said = output_of("""
first = stepping()
again = heat(first)
mine = started()
child = os.fork()
if not child:
    finish_improvements(first)
    program = stepping()
    compiled = heat(program)
    finish_improvements(program)
    print(compiled().is_for_hot, started() != mine, flush=True)
    process._elsewhere.close()
    os._exit(0)
os.waitpid(child, 0)
finish_improvements(first)
print(again().is_for_hot)
""")
    assert said == ["True"] * 3
